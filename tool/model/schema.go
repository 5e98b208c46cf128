package model

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// What a model answers is always an object, whatever the tool gives, since that is all that
// providers take: {"_value": …}, and {"_outcome": …, "_value": …} where it chooses. A
// schema stands in it as it was written. One with references stands in it with its whole document,
// to which they are led.

// object is the schema of an answer.
type object struct {
	Type       string                     `json:"type"`
	Properties properties                 `json:"properties"`
	Required   []string                   `json:"required"`
	Closed     bool                       `json:"additionalProperties"`
	Defs       map[string]json.RawMessage `json:"$defs,omitempty"`

	docs []json.RawMessage // those of Defs, as they were written
}

type properties struct {
	Outcome *choice         `json:"_outcome,omitempty"`
	Value   json.RawMessage `json:"_value"`
}

type choice struct {
	Type string   `json:"type"`
	Enum []string `json:"enum"`
}

// answerSchema is the schema of the answer to a call, and whether it is strict.
func answerSchema(req *tool.Request) (schema json.RawMessage, isStrict bool) {
	o := object{Type: "object", Required: []string{"_value"}, Defs: map[string]json.RawMessage{}}
	list := outcomes(req)
	if len(list) == 0 {
		s := output(req)
		if s == nil && req.Brief != nil {
			s = req.Brief.Expect
		}
		o.Properties.Value = o.embed(s)
	} else {
		names := make([]string, len(list))
		values := make([]string, len(list))
		for i, out := range list {
			names[i], values[i] = out.Name, string(o.embed(out.Schema))
		}
		o.Properties.Outcome = &choice{Type: "string", Enum: names}
		o.Required = []string{"_outcome", "_value"}
		o.Properties.Value = anyOf(values)
	}
	schema = encode(o)
	return schema, strict(gjson.ParseBytes(schema))
}

// anyOf is the schema of what meets one of these.
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

// embed is a schema as part of another one; nil is the schema of anything.
func (o *object) embed(s *schemas.Schema) json.RawMessage {
	if s == nil {
		return json.RawMessage("{}")
	}
	own := self(s)
	doc, pointer := s.JSON()
	switch {
	case holds(own, "$id", "$anchor", "$dynamicRef", "$recursiveRef") || holds(own, "$ref") && holds(doc, "$id", "$anchor"):
		return json.RawMessage("{}") // it is checked all the same
	case !holds(own, "$ref"):
		return own
	}
	i := slices.IndexFunc(o.docs, func(other json.RawMessage) bool { return bytes.Equal(other, doc) })
	if i < 0 {
		i = len(o.docs)
		o.docs = append(o.docs, doc)
	}
	name := "schema" + strconv.Itoa(i+1)
	o.Defs[name] = appendLed(nil, gjson.ParseBytes(doc), "#/$defs/"+name)
	return encode(map[string]string{"$ref": "#/$defs/" + name + pointer})
}

// holds reports whether a schema has one of these words.
func holds(schema json.RawMessage, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(schema, []byte(strconv.Quote(w))) })
}

// self is a schema as it is written, in its document.
func self(s *schemas.Schema) json.RawMessage {
	doc, pointer := s.JSON()
	v := gjson.ParseBytes(doc)
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		v = child(v, token)
	}
	if !v.Exists() {
		return json.RawMessage("{}")
	}
	return json.RawMessage(v.Raw)
}

// child is the member or element of this name.
func child(v gjson.Result, name string) (found gjson.Result) {
	n := 0
	v.ForEach(func(k, e gjson.Result) bool {
		if v.IsObject() && k.Str == name || v.IsArray() && strconv.Itoa(n) == name {
			found = e
			return false
		}
		n++
		return true
	})
	return found
}

// appendLed appends a schema whose references lead to where its document stands in another.
func appendLed(dst []byte, v gjson.Result, root string) []byte {
	if !v.IsObject() && !v.IsArray() {
		return append(dst, v.Raw...)
	}
	open, end := byte('['), byte(']')
	if v.IsObject() {
		open, end = '{', '}'
	}
	dst = append(dst, open)
	v.ForEach(func(k, e gjson.Result) bool {
		if dst[len(dst)-1] != open {
			dst = append(dst, ',')
		}
		if v.IsObject() {
			dst = append(append(dst, k.Raw...), ':')
		}
		if k.Str == "$ref" && strings.HasPrefix(e.Str, "#") {
			dst = append(dst, encode(root+e.Str[1:])...)
		} else {
			dst = appendLed(dst, e, root)
		}
		return true
	})
	return append(dst, end)
}

// strict reports whether a schema keeps within what providers enforce to the letter: every
// object says all of its members and that there are no others, and nothing is left open.
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
