// Package agentframework reads plans of agent_framework (submit_plan): steps by id, which
// call tools, subagents or skills, or ask the caller, with {{step.path}} for the result of
// an earlier step and {{name}} for a param of the run.
//
//	{"plan": [
//	  {"id": "who", "kind": "call_tool", "tool_name": "get_player", "parameters": {"id": "{{player_id}}"}},
//	  {"id": "move", "kind": "call_tool", "tool_name": "go", "parameters": {"name": "{{who.name}}"}, "depends_on": ["who"]}]}
//
// A subagent and a skill are tools with their names; a callback calls the tool step. The result of
// a subagent is {"message", "response", "status"}: {{who.response.name}} is a member of its answer.
// A reference is a dependency as well. A reference that finds nothing is an empty string, and the
// result of a failed step is an error object, with which the other steps continue.
package agentframework

import (
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Notation returns the notation of agent_framework.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "agentframework", What: "a plan of agent_framework", Read: read}
}

type reader struct {
	tree.Tokens
	steps []tree.Value
}

func read(b *dialect.Builder) {
	b.Profile = lang.Profile{LenientRefs: true, ErrorsAreResults: true}
	root, ok := tree.Read(b)
	if !ok {
		return
	}
	list, _, ok := tree.Steps(b, root, "a plan of agent_framework", "plan", "steps", "decision", "parameters")
	if !ok {
		return
	}
	if list.Len() == 0 {
		b.Errorf(list.At(), diag.BadNotation, "the plan has no steps")
	}
	r := &reader{Tokens: tree.Tokens{Builder: b, Labels: tree.Labels{Spell: tree.SpellToken}}}
	for _, s := range list.Elements() {
		r.step(s)
	}
	for i, s := range r.steps {
		r.Find(s.Get("parameters"), i)
		r.dependencies(s, i)
	}
	r.Labels.Judge(b)
	b.List(list.At())
	for _, s := range r.steps {
		r.call(s)
	}
	b.Close()
}

var pattern = lazyregexp.New(`^[a-zA-Z][a-zA-Z0-9_]*$`)

// targets returns, by the kind of a step, the member that names what it calls.
func targets() map[string]string {
	return map[string]string{"call_tool": "tool_name", "call_subagent": "subagent_id", "invoke_skill": "skill_name", "callback": "callback_intent"}
}

// step checks a step.
func (r *reader) step(v tree.Value) {
	id := v.Get("id")
	switch {
	case !v.Is(lang.Object) || !id.Is(lang.String):
		r.Errorf(v.At(), diag.BadNotation, "the step has no id; it is written {\"id\": …, \"kind\": \"call_tool\", \"tool_name\": …, \"parameters\": {…}, \"depends_on\": […]}")
		return
	case !pattern.MatchString(id.Str()):
		r.Errorf(id.All(), diag.BadNotation, "the step id %q does not begin with a letter, or has other signs than letters, digits and _", id.Str())
	}
	tree.Known(r.Builder, v, "a step", "id", "kind", "tool_name", "subagent_id", "skill_name", "callback_intent", "parameters", "depends_on", "message")
	if p := v.First("parameters").Value; !p.IsZero() && !p.Is(lang.Object) {
		r.Errorf(p.At(), diag.BadNotation, "the parameters are an object, not %s", p.Describe())
	}
	r.target(v)
	r.Labels.Step(id.Str())
	r.steps = append(r.steps, v)
}

// target returns the name of what a step calls. If it is missing, target reports that and returns
// the zero Value.
func (r *reader) target(v tree.Value) tree.Value {
	kind := v.Get("kind")
	name, ok := targets()[kind.Str()]
	switch {
	case kind.IsZero():
		r.Errorf(v.At(), diag.BadNotation, "the step has no kind; it is one of call_tool, call_subagent, invoke_skill, callback")
		return tree.Value{}
	case !ok:
		r.Errorf(kind.At(), diag.BadNotation, "%s is no kind of step; it is one of call_tool, call_subagent, invoke_skill, callback", kind.AppendJSON(nil))
		return tree.Value{}
	case v.First("tool_name").Value.Str() != "" && v.First("subagent_id").Value.Str() != "":
		r.Errorf(v.Member("subagent_id").Key, diag.BadNotation, "the step has both tool_name and subagent_id")
	}
	target := v.First(name).Value
	if target.IsZero() && name == "subagent_id" {
		target = v.Get("parameters").Get(name)
	}
	if target.Str() == "" {
		r.Errorf(v.At(), diag.BadNotation, "the step is a %s, and has no %s", kind.Str(), name)
		return tree.Value{}
	}
	return target
}

// dependencies checks the steps that a step waits for, which must be earlier ones.
func (r *reader) dependencies(v tree.Value, user int) {
	if m := v.Member("depends_on"); tree.IsNames(r.Builder, m) {
		for _, d := range m.Value.Elements() {
			r.Labels.Ref(&tree.LabelRef{At: d.All(), Name: d.All(), Label: d.Word(), User: user})
		}
	}
}

func (r *reader) call(v tree.Value) {
	id, kind := v.Member("id"), v.Get("kind").Str()
	target := v.First(targets()[kind]).Value
	if target.IsZero() {
		target = v.Get("parameters").Get(targets()[kind])
	}
	if kind == "call_subagent" {
		if r.Envelopes == nil {
			r.Envelopes = map[string]bool{}
		}
		r.Envelopes[id.Value.Str()] = true
	}
	r.Object(v.At())
	r.Member("_tool", v.Member("kind").Key)
	if kind == "callback" || target.Str() == "" {
		r.String(dialect.StepTool, v.At())
	} else {
		r.String(target.Str(), target.All())
	}
	r.Member("_id", id.Key)
	r.String(id.Value.Str(), id.Value.All())
	if kind == "callback" {
		r.callback(v, target)
	} else {
		tree.Prose(r.Builder, "_description", v.Member("message"))
	}
	r.params(v, kind)
	r.dependsOn(v)
	r.Member("_outputPath", id.Key)
	r.Path(id.Value.Str(), id.Value.All())
	r.Close()
}

// callback writes the question to the caller.
func (r *reader) callback(v, intent tree.Value) {
	about := v.Get("message")
	if about.Str() == "" {
		about = intent
	}
	if p := v.Get("parameters"); !p.Has("description") {
		tree.Description(r.Builder, about, v.At())
	}
	if p := v.Get("parameters"); !p.Has("intent") {
		r.Member("intent", intent.At())
		r.String(intent.Str(), intent.All())
	}
}

func (r *reader) params(v tree.Value, kind string) {
	p := v.Get("parameters")
	if !p.Is(lang.Object) {
		return
	}
	for m := range p.Members() {
		if m.Name == targets()[kind] && v.First(m.Name).Value.IsZero() {
			continue // the subagent may be among the params
		}
		if tree.Param(r.Builder, m.Name, m.Key) {
			tree.Write(r.Builder, m.Value, r.In)
		}
	}
}

// dependsOn writes the earlier steps that a step waits for.
func (r *reader) dependsOn(v tree.Value) {
	m := v.Member("depends_on")
	user := r.Labels.Of(v.Get("id").Str())
	var earlier []tree.Value
	for _, d := range m.Value.Elements() {
		if d.Is(lang.String) && r.Labels.Reaches(d.Str(), user) {
			earlier = append(earlier, d)
		}
	}
	if len(earlier) > 0 {
		r.Member("_dependsOn", m.Key)
		tree.Names(r.Builder, earlier)
	}
}
