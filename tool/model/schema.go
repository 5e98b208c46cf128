package model

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// The answer of a model is always an object, whatever the result of the tool is, since providers
// accept only that: {"_value": …}, and {"_outcome": …, "_value": …} if the model chooses an
// outcome. The schema of the answer contains the tool's schema as it is written. If that has
// references, it contains the whole document, and the references are changed to lead into it.

// object is the schema of an answer.
type object struct {
	Type       string                     `json:"type"`
	Properties properties                 `json:"properties"`
	Required   []string                   `json:"required"`
	Closed     bool                       `json:"additionalProperties"`
	Defs       map[string]json.RawMessage `json:"$defs,omitempty"`

	bundle schemas.Bundle
}

type properties struct {
	Outcome *choice         `json:"_outcome,omitempty"`
	Value   json.RawMessage `json:"_value"`
}

type choice struct {
	Type string   `json:"type"`
	Enum []string `json:"enum"`
}

// answerSchema returns the schema of the answer to a call, and whether it is strict.
func answerSchema(req *tool.Request) (schema json.RawMessage, isStrict bool) {
	o := object{Type: "object", Required: []string{"_value"}}
	list := outcomes(req)
	if len(list) == 0 {
		s := output(req)
		if s == nil && req.Brief != nil {
			s = req.Brief.Expect
		}
		o.Properties.Value = o.bundle.Add(s)
	} else {
		names := make([]string, len(list))
		values := make([]string, len(list))
		for i, out := range list {
			names[i], values[i] = out.Name, string(o.bundle.Add(out.Schema))
		}
		o.Properties.Outcome = &choice{Type: "string", Enum: names}
		o.Required = []string{"_outcome", "_value"}
		o.Properties.Value = anyOf(values)
	}
	o.Defs = o.bundle.Defs()
	schema = jsonscan.Encode(o)
	return schema, Strict(schema)
}

// anyOf returns a schema for values that meet one of these schemas.
func anyOf(list []string) json.RawMessage {
	slices.Sort(list)
	list = slices.Compact(list)
	switch {
	case slices.Contains(list, "{}") || slices.Contains(list, "true"):
		return json.RawMessage("{}")
	case len(list) == 1:
		return json.RawMessage(list[0])
	}
	return json.RawMessage(`{"anyOf":[` + strings.Join(list, ",") + `]}`)
}

// Strict reports whether providers can enforce a schema exactly: every object lists and requires
// all of its members and allows no others, and every value has a type.
func Strict(schema json.RawMessage) bool { return strict(gjson.ParseBytes(schema)) }

func strict(s gjson.Result) bool {
	if !s.IsObject() {
		return false
	}
	sound, typed, closed := true, false, false
	named, required := 0, 0
	s.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "type":
			typed = v.Type == gjson.String
		case "enum", "const", "$ref":
			typed = true
		case "properties", "$defs":
			v.ForEach(func(_, p gjson.Result) bool {
				sound = sound && strict(p)
				if k.Str == "properties" {
					named++
				}
				return true
			})
		case "anyOf":
			typed = true
			v.ForEach(func(_, p gjson.Result) bool { sound = sound && strict(p); return true })
		case "items":
			sound = sound && strict(v)
		case "required":
			required = len(v.Array())
		case "additionalProperties":
			closed = v.Type == gjson.False
		case "title", "description":
		default:
			sound = false
		}
		return sound
	})
	kind := s.Get("type").Str
	return sound && typed && (kind != "object" || closed && named == required) && (kind != "array" || s.Get("items").Exists())
}
