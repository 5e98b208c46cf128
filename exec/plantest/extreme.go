package plantest

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
)

// extreme returns the smallest or the largest value that can be made for a schema: with only the
// required members or with all of them, with lists and strings as short or as long as they may be,
// and with numbers at their bounds. If the value does not meet the schema, since keywords depend on
// one another, extreme returns the shortest or the longest of a few samples; nil if there is none.
func extreme(s *schemas.Schema, large bool, seed uint64) json.RawMessage {
	if v, ok := (&maker{large: large, left: maxMade}).value(s.Text(), 0); ok && s.Validate(v) == nil {
		return v
	}
	var best json.RawMessage
	for k := range uint64(samples) {
		v, err := schemas.Sample(s, seed+k)
		if err == nil && (best == nil || large == (len(v) > len(best)) && len(v) != len(best)) {
			best = v
		}
	}
	return best
}

// other returns a value of a schema that differs from than; nil if none was found.
func other(s *schemas.Schema, than json.RawMessage, seed uint64) json.RawMessage {
	for k := range uint64(samples) {
		v, err := schemas.Sample(s, seed+1+k)
		if err == nil && !bytes.Equal(v, than) {
			return v
		}
	}
	return nil
}

// The bounds of values that are made up.
const (
	samples  = 16
	maxMade  = 10_000 // values in one value
	maxItems = 16     // of a list that may be longer
	maxChars = 1_000  // of a string that may be longer
)

// maker makes a value from the keywords of a schema.
type maker struct {
	large bool
	left  int
}

// keywords holds the keywords that a maker reads.
type keywords struct {
	Type       json.RawMessage            `json:"type"`
	Const      json.RawMessage            `json:"const"`
	Enum       []json.RawMessage          `json:"enum"`
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	Items      json.RawMessage            `json:"items"`
	MinItems   int                        `json:"minItems"`
	MaxItems   *int                       `json:"maxItems"`
	MinLength  int                        `json:"minLength"`
	MaxLength  *int                       `json:"maxLength"`
	Minimum    json.Number                `json:"minimum"`
	Maximum    json.Number                `json:"maximum"`
}

// value makes a value. It returns false if the schema has keywords that it does not read.
func (m *maker) value(schema json.RawMessage, depth int) (v json.RawMessage, ok bool) {
	if m.left--; m.left < 0 || depth > 32 {
		return nil, false
	}
	var k keywords
	if json.Unmarshal(schema, &k) != nil { // true, or a keyword of another form
		return json.RawMessage("null"), string(schema) == "true"
	}
	if k.Const != nil {
		return k.Const, true
	}
	if len(k.Enum) > 0 {
		return m.pick(k.Enum), true
	}
	switch m.kind(&k) {
	case "object":
		return m.object(&k, depth)
	case "array":
		return m.array(&k, depth)
	case "string":
		n := k.MinLength
		if m.large {
			n = max(n, atMost(k.MaxLength, maxChars))
		}
		return jsonscan.Encode(strings.Repeat("x", min(n, 1<<16))), true
	case "integer", "number":
		return m.number(&k), true
	case "boolean":
		return json.RawMessage(map[bool]string{false: "false", true: "true"}[m.large]), true
	case "null":
		return json.RawMessage("null"), true
	}
	return nil, false
}

// kind returns the type to make. Of several types it is the first, or null if that is one of them
// and the value should be small.
func (m *maker) kind(k *keywords) string {
	var one string
	if json.Unmarshal(k.Type, &one) == nil {
		return one
	}
	var several []string
	if json.Unmarshal(k.Type, &several) != nil || len(several) == 0 {
		if k.Properties != nil {
			return "object"
		}
		return ""
	}
	if i := slices.Index(several, "null"); i >= 0 && (!m.large || len(several) == 1) {
		return "null"
	} else if i == 0 {
		return several[1]
	}
	return several[0]
}

func (m *maker) pick(values []json.RawMessage) json.RawMessage {
	best := values[0]
	for _, v := range values[1:] {
		if len(v) != len(best) && m.large == (len(v) > len(best)) {
			best = v
		}
	}
	return best
}

func (m *maker) object(k *keywords, depth int) (json.RawMessage, bool) {
	names := slices.Clone(k.Required)
	if m.large {
		for _, name := range slices.Sorted(maps.Keys(k.Properties)) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	out := []byte{'{'}
	for i, name := range names {
		schema := k.Properties[name]
		if schema == nil {
			schema = json.RawMessage("true")
		}
		v, ok := m.value(schema, depth+1)
		if !ok {
			return nil, false
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, jsonscan.Encode(name)...), ':'), v...)
	}
	return append(out, '}'), true
}

func (m *maker) array(k *keywords, depth int) (json.RawMessage, bool) {
	n := k.MinItems
	if m.large {
		n = max(n, atMost(k.MaxItems, maxItems))
	}
	items := k.Items
	if items == nil {
		items = json.RawMessage("true")
	}
	out := []byte{'['}
	for i := range n {
		v, ok := m.value(items, depth+1)
		if !ok {
			return nil, false
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']'), true
}

// number returns the bound of a number or, if there is none, a very large or very small number.
func (m *maker) number(k *keywords) json.RawMessage {
	switch {
	case m.large && k.Maximum != "":
		return json.RawMessage(k.Maximum)
	case m.large:
		return json.RawMessage("9007199254740991")
	case k.Minimum != "":
		return json.RawMessage(k.Minimum)
	}
	return json.RawMessage("-9007199254740991")
}

// atMost returns the bound that a schema has, but at most ours.
func atMost(bound *int, ours int) int {
	if bound == nil {
		return ours
	}
	return min(*bound, ours)
}
