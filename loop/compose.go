package loop

import (
	"encoding/json"
	"slices"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// composed is the schema of a solution: a call of each tool with its params, any of which
// may be a reference, and the output. A latent tool has its result, which the model makes
// itself; a tool that something runs does not, and neither has any in a lazy plan.
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
		items = writeObject(member{"anyOf", jsonscan.Encode(calls)})
	}
	out := json.RawMessage(`{}`)
	if output != nil {
		out = writeObject(member{"anyOf", jsonscan.Encode([]json.RawMessage{s.embed(output), json.RawMessage(`{"type":"null"}`), reference})})
	}
	defs := s.bundle.Defs()
	if defs == nil {
		defs = map[string]json.RawMessage{}
	}
	defs["reference"] = json.RawMessage(`{"type":"string","pattern":"^†","description":"a reference to a value: †state.x, †input.x"}`)
	list := writeObject(member{"type", json.RawMessage(`"array"`)}, member{"items", items})
	var properties []member
	required := json.RawMessage(`["calls","output"]`)
	if len(s.advisors) > 0 {
		properties = append(properties, member{"advisors", s.views()})
		required = json.RawMessage(`["advisors","calls","output"]`)
	}
	if s.progress {
		properties = append(properties, member{"progress", json.RawMessage(progressSchema)})
	}
	if s.decisions {
		properties = append(properties, member{"decision", json.RawMessage(`{"enum":["continue","amend","final"]}`)},
			member{"add", list}, member{"remove", json.RawMessage(`{"type":"array","items":{"type":"string"}}`)})
		required = json.RawMessage(`[]`)
	}
	return writeObject(
		member{"type", json.RawMessage(`"object"`)},
		member{"properties", writeObject(append(properties, member{"calls", list}, member{"output", out})...)},
		member{"required", required},
		member{"additionalProperties", json.RawMessage(`false`)},
		member{"$defs", jsonscan.Encode(defs)},
	)
}

var reference = json.RawMessage(`{"$ref":"#/$defs/reference"}`)

type composer struct {
	bundle     schemas.Bundle
	lazy       bool
	instances  bool
	delegates  bool // there are documents that calls may delegate to
	progress   bool // an answer says how the work stands
	decisions  bool // an answer may be a decision about the plan
	predicates bool // there is who checks conditions
	advisors   []advisor
}

// views is the schema of what the advisors say, by their ids.
func (s *composer) views() json.RawMessage {
	var all []member
	ids := []string{}
	for _, a := range s.advisors {
		view := json.RawMessage(`{"type":"string"}`)
		if a.schema != nil {
			view = s.embed(a.schema)
		}
		if !slices.Contains(ids, a.id) {
			all, ids = append(all, member{a.id, view}), append(ids, a.id)
		}
	}
	return writeObject(member{"type", json.RawMessage(`"object"`)}, member{"properties", writeObject(all...)},
		member{"required", jsonscan.Encode(ids)}, member{"additionalProperties", json.RawMessage(`false`)})
}

// makesSense reports whether there is what a tool of the language needs.
func (s *composer) makesSense(builtIn string) bool {
	switch builtIn {
	case "choose":
		return s.predicates
	case "repeat":
		return s.predicates && s.delegates
	}
	return s.delegates
}

// embed is a schema of its own document as part of the composed one; one that is no schema
// is that of anything: it is reported elsewhere.
func (s *composer) embed(raw json.RawMessage) json.RawMessage {
	compiled, err := schemas.Compile(raw, nil)
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return s.bundle.Add(compiled)
}

// call is the schema of a call of a tool.
func (s *composer) call(c *tool.Catalogue, t *tool.Tool) json.RawMessage {
	d := t.Definition
	properties := []member{{"_tool", writeObject(member{"const", jsonscan.Encode(d.Name)})}}
	text := json.RawMessage(`{"type":"string"}`)
	for _, name := range []string{"_id", "_reasoningForCall"} {
		properties = append(properties, s.meta(d, name, text))
	}
	for _, name := range paramNames(d) {
		properties = append(properties, member{name, writeObject(member{"anyOf", jsonscan.Encode([]json.RawMessage{s.bundle.Add(d.Param[name]), reference})})})
	}
	if _, status := c.Resolve(t, "", false); status == tool.Latent && t.Source != tool.BuiltIn && !s.lazy {
		properties = append(properties, member{"_output", s.bundle.Add(d.Output)})
	}
	properties = append(properties, s.meta(d, "_outputPath", reference), s.meta(d, "_errorPath", reference),
		s.meta(d, "_when", reference), s.meta(d, "_dependsOn", json.RawMessage(`{"type":"array","items":{"type":"string"}}`)))
	for _, name := range []string{"_outputMethod", "_scopes", "_delegate"} {
		if f := d.Fixed[name]; f != nil {
			properties = append(properties, s.meta(d, name, text))
		}
	}
	if s.instances {
		properties = append(properties, s.meta(d, "_instance", text))
	}
	properties = slices.DeleteFunc(properties, func(m member) bool { return m.value == nil })
	required := append([]string{"_tool"}, d.Required...)
	for _, name := range sortedKeys(d.Fixed) {
		if f := d.Fixed[name]; f.Required && f.Const == nil && name[0] == '_' && name != "_tool" {
			required = append(required, name)
		}
	}
	call := []member{{"type", json.RawMessage(`"object"`)}}
	if d.Description != "" {
		call = append(call, member{"description", jsonscan.Encode(d.Description)})
	}
	return writeObject(append(call, member{"properties", writeObject(properties...)},
		member{"required", jsonscan.Encode(required)}, member{"additionalProperties", jsonscan.Encode(!d.Closed)})...)
}

// meta is an underscore member as the tool allows it: nil when the tool fixes it.
func (s *composer) meta(d *tool.Definition, name string, usual json.RawMessage) member {
	switch f := d.Fixed[name]; {
	case f == nil:
		return member{name, usual}
	case f.Const != nil:
		return member{name, nil}
	case f.Schema != nil:
		return member{name, s.bundle.Add(f.Schema)}
	}
	return member{name, usual}
}

// paramNames are the params of a tool: those that are required, then the others by name.
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
