package loop

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// composed returns the schema of a solution: calls of each tool with its params, which may be
// references, and the output. A call of a latent tool includes the result, since the model itself
// makes it. Calls of other tools, and all calls in a lazy plan, have no result.
func composed(c *tool.Catalogue, output json.RawMessage, s *composer) json.RawMessage {
	var calls []json.RawMessage
	for t := range c.Tools() {
		if t.Source == tool.BuiltIn && !s.makesSense(t.Definition.Name) {
			continue
		}
		calls = append(calls, s.call(c, t))
	}
	items := json.RawMessage(`false`)
	if len(calls) > 0 {
		items = writeObject(Member{"anyOf", jsonscan.Encode(calls)})
	}
	out := json.RawMessage(`{}`)
	if output != nil {
		out = writeObject(Member{"anyOf", jsonscan.Encode([]json.RawMessage{s.embed(referring(output)), json.RawMessage(`{"type":"null"}`), reference})})
	}
	defs := s.bundle.Defs()
	if defs == nil {
		defs = map[string]json.RawMessage{}
	}
	defs["reference"] = json.RawMessage(`{"type":"string","pattern":"^†","description":"a reference to a value: †state.x, †input.x"}`)
	list := writeObject(Member{"type", json.RawMessage(`"array"`)}, Member{"items", items})
	var properties []Member
	required := json.RawMessage(`["calls","output"]`)
	if len(s.advisors) > 0 {
		properties = append(properties, Member{"advisors", s.views()})
		required = json.RawMessage(`["advisors","calls","output"]`)
	}
	if s.progress {
		properties = append(properties, Member{"progress", json.RawMessage(progressSchema)})
	}
	if s.decisions {
		properties = append(properties, Member{"decision", json.RawMessage(`{"enum":["continue","amend","final"]}`)},
			Member{"add", list}, Member{"remove", json.RawMessage(`{"type":"array","items":{"type":"string"}}`)})
		required = json.RawMessage(`[]`)
	}
	return writeObject(
		Member{"type", json.RawMessage(`"object"`)},
		Member{"properties", writeObject(append(properties, Member{"calls", list}, Member{"output", out})...)},
		Member{"required", required},
		Member{"additionalProperties", json.RawMessage(`false`)},
		Member{"$defs", jsonscan.Encode(defs)},
	)
}

var reference = json.RawMessage(`{"$ref":"#/$defs/reference"}`)

type composer struct {
	bundle     schemas.Bundle
	lazy       bool
	instances  bool
	delegates  bool // there are documents to delegate to
	progress   bool // an answer describes the progress
	decisions  bool // an answer may be a decision about the plan
	predicates bool // something checks conditions
	advisors   []advisor
}

// views returns the schema of the advisors' views, by advisor ID.
func (s *composer) views() json.RawMessage {
	var all []Member
	ids := []string{}
	for _, a := range s.advisors {
		view := json.RawMessage(`{"type":"string"}`)
		if a.schema != nil {
			view = s.embed(a.schema)
		}
		if !slices.Contains(ids, a.id) {
			all, ids = append(all, Member{a.id, view}), append(ids, a.id)
		}
	}
	return writeObject(Member{"type", json.RawMessage(`"object"`)}, Member{"properties", writeObject(all...)},
		Member{"required", jsonscan.Encode(ids)}, Member{"additionalProperties", json.RawMessage(`false`)})
}

// referring returns a schema that also allows a reference in place of each value below the top
// level, so that an output or a param can be assembled: {"total": "†state.total"}. Referenced
// definitions stay unchanged.
func referring(schema json.RawMessage) json.RawMessage {
	return json.RawMessage(referringIn(gjson.ParseBytes(schema), false))
}

// referringIn does the work of referring for a subschema. below says that a reference may replace
// the whole value.
func referringIn(v gjson.Result, below bool) string {
	text := v.Raw
	if v.IsObject() {
		var members []string
		v.ForEach(func(key, m gjson.Result) bool {
			value := m.Raw
			switch key.Str {
			case "properties", "patternProperties":
				value = each(m, true)
			case "$defs", "definitions":
				value = each(m, false)
			case "anyOf", "allOf":
				value = each(m, false)
			case "oneOf": // a reference would match several of them
				if !v.Get("anyOf").Exists() {
					key.Raw, value = `"anyOf"`, each(m, false)
				}
			case "items", "prefixItems", "additionalProperties":
				if m.IsArray() {
					value = each(m, true)
				} else {
					value = referringIn(m, true)
				}
			}
			members = append(members, key.Raw+":"+value)
			return true
		})
		text = "{" + strings.Join(members, ",") + "}"
	}
	if !below || v.Type == gjson.False || v.Type == gjson.True {
		return text
	}
	return `{"anyOf":[` + text + `,{"type":"string","pattern":"^†"}]}`
}

// each applies referringIn to each schema of an object or a list.
func each(v gjson.Result, below bool) string {
	var all []string
	v.ForEach(func(key, m gjson.Result) bool {
		text := referringIn(m, below)
		if v.IsObject() {
			text = key.Raw + ":" + text
		}
		all = append(all, text)
		return true
	})
	if v.IsArray() {
		return "[" + strings.Join(all, ",") + "]"
	}
	return "{" + strings.Join(all, ",") + "}"
}

// makesSense reports whether the prerequisites of a built-in tool exist.
func (s *composer) makesSense(builtIn string) bool {
	switch builtIn {
	case "choose":
		return s.predicates
	case "repeat":
		return s.predicates && s.delegates
	}
	return s.delegates
}

// embed returns a schema prepared for embedding in the composed one. An invalid schema, which is
// reported elsewhere, becomes a schema that allows anything.
func (s *composer) embed(raw json.RawMessage) json.RawMessage {
	compiled, err := schemas.Compile(raw, nil)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return s.bundle.Add(compiled)
}

// thought reports whether the model itself does the work of a tool.
func thought(c *tool.Catalogue, t *tool.Tool) bool {
	x, _ := compile.NewTarget(c, t, nil)
	return x.Latent() && t.Source != tool.BuiltIn
}

// call returns the schema for calls of a tool.
func (s *composer) call(c *tool.Catalogue, t *tool.Tool) json.RawMessage {
	d := t.Definition
	properties := []Member{{"_tool", writeObject(Member{"const", jsonscan.Encode(d.Name)})}}
	text := json.RawMessage(`{"type":"string"}`)
	for _, name := range []string{"_id", "_reasoningForCall"} {
		properties = append(properties, s.meta(d, name, text))
	}
	for _, name := range paramNames(d) {
		properties = append(properties, Member{name, writeObject(Member{"anyOf", jsonscan.Encode([]json.RawMessage{referring(s.bundle.Add(d.Param[name])), reference})})})
	}
	if thought(c, t) && !s.lazy {
		properties = append(properties, Member{"_output", s.bundle.Add(d.Output)})
	}
	properties = append(properties, s.meta(d, "_outputPath", reference), s.meta(d, "_errorPath", reference),
		s.meta(d, "_when", reference), s.meta(d, "_dependsOn", json.RawMessage(`{"type":"array","items":{"type":"string"}}`)))
	properties = append(properties, s.meta(d, "_outputMethod", json.RawMessage(`{"enum":["set","merge","assign","push","concat"]}`)))
	for _, name := range []string{"_scopes", "_delegate"} {
		if f := d.Fixed[name]; f != nil {
			properties = append(properties, s.meta(d, name, text))
		}
	}
	if s.instances {
		properties = append(properties, s.meta(d, "_instance", text))
	}
	properties = slices.DeleteFunc(properties, func(m Member) bool { return m.Value == nil })
	required := append([]string{"_tool"}, d.Required...)
	for _, name := range sortedKeys(d.Fixed) {
		if f := d.Fixed[name]; f.Required && f.Const == nil && name[0] == '_' && name != "_tool" {
			required = append(required, name)
		}
	}
	call := []Member{{"type", json.RawMessage(`"object"`)}}
	if d.Description != "" {
		call = append(call, Member{"description", jsonscan.Encode(d.Description)})
	}
	return writeObject(append(call, Member{"properties", writeObject(properties...)},
		Member{"required", jsonscan.Encode(required)}, Member{"additionalProperties", jsonscan.Encode(!d.Closed)})...)
}

// meta returns the schema of an underscore member as the tool allows it. It is empty if the tool
// fixes the value.
func (s *composer) meta(d *tool.Definition, name string, usual json.RawMessage) Member {
	switch f := d.Fixed[name]; {
	case f == nil:
		return Member{name, usual}
	case f.Const != nil:
		return Member{name, nil}
	case f.Schema != nil:
		return Member{name, s.bundle.Add(f.Schema)}
	}
	return Member{name, usual}
}

// paramNames returns the params of a tool: first the required ones, then the others by name.
func paramNames(d *tool.Definition) []string {
	names := slices.Clone(d.Required)
	names = slices.DeleteFunc(names, func(n string) bool { return d.Param[n] == nil })
	for _, n := range sortedKeys(d.Param) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}
