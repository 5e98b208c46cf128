package driver

import (
	"encoding/json"
	"iter"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Params are the params of a request, in their order. The zero Params has none.
type Params struct {
	members []member
}

type member struct {
	name  string
	value gjson.Result
}

// ReadParams reads the params of a request, which are valid JSON.
func ReadParams(raw json.RawMessage) Params {
	var p Params
	gjson.ParseBytes(raw).ForEach(func(name, value gjson.Result) bool {
		p.members = append(p.members, member{name.Str, value})
		return true
	})
	return p
}

// Raw returns the value of a param as it was given.
func (p Params) Raw(name string) (string, bool) {
	for _, m := range p.members {
		if m.name == name {
			return m.value.Raw, true
		}
	}
	return "", false
}

// Text returns the value of a param as text: a string as it is, anything else as compact JSON. A
// param that is null counts as not given.
func (p Params) Text(name string) (string, bool) {
	for _, m := range p.members {
		if m.name == name {
			return text(m.value)
		}
	}
	return "", false
}

// All returns the params, by name.
func (p Params) All() iter.Seq2[string, string] {
	return func(yield func(name, raw string) bool) {
		for _, m := range p.members {
			if !yield(m.name, m.value.Raw) {
				return
			}
		}
	}
}

func text(v gjson.Result) (string, bool) {
	switch v.Type {
	case gjson.Null:
		return "", false
	case gjson.String:
		return v.Str, true
	case gjson.JSON:
		return string(jsonscan.Compact(nil, []byte(v.Raw))), true
	default:
		return v.Raw, true
	}
}
