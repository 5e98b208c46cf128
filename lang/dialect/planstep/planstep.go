// Package planstep reads and writes plans as the requirements of the planning pattern have
// them: steps with an action, which is a tool, and results of others as {{step.path}}.
//
//	{"goal": "A report", "steps": [
//	  {"id": "1", "description": "Look it up", "action": "search", "parameters": {"q": "gdp"},
//	   "dependencies": [], "expected_output": "a number", "fallback_action": "archive"},
//	  {"id": "2", "description": "Sum up", "action": "write", "parameters": {"text": "{{1.text}}"},
//	   "dependencies": ["1"], "expected_output": "a page"}],
//	 "success_criteria": ["one page"]}
//
// A step without an action calls the tool step. The state of an execution, with the plan
// and the results of steps, is read as well: steps that are completed have their results.
package planstep

import (
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Notation is the notation of the planning pattern.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "planstep", What: "a plan of steps", Read: read, Write: write}
}

// maxSteps is the most steps that a plan has.
const maxSteps = 20

type reader struct {
	tree.Tokens
	steps            []tree.Value
	statuses, result tree.Value // of an execution
}

func read(b *dialect.Builder) {
	root, ok := tree.Read(b)
	if !ok {
		return
	}
	list, plan, ok := tree.Steps(b, root, "a plan of steps", "steps", "plan")
	if !ok {
		return
	}
	tree.Known(b, plan, "a plan", "goal", "steps", "success_criteria", "created_at", "estimated_total_tokens")
	r := &reader{Tokens: tree.Tokens{Builder: b, AnyOrder: true, Labels: tree.Labels{Spell: tree.SpellToken}}}
	r.statuses, r.result = root.First("step_statuses").Value, root.First("step_results").Value
	switch n := list.Len(); {
	case n == 0:
		b.Errorf(list.At(), diag.BadNotation, "the plan has no steps")
	case n > maxSteps:
		b.Errorf(list.At(), diag.OverLimit, "a plan of steps has at most %d, and this one %d", maxSteps, n)
	}
	for _, s := range list.Elements() {
		r.step(s)
	}
	for i, s := range r.steps {
		r.Find(s.Get("parameters"), i)
	}
	r.Labels.Judge(b)
	b.Object(root.At())
	r.meta(plan)
	b.Member("calls", list.At())
	b.List(list.At())
	for _, s := range r.steps {
		r.call(s)
	}
	b.Close()
	b.Close()
}

// step checks a step.
func (r *reader) step(v tree.Value) {
	if !v.Is(lang.Object) || v.Get("id").Word() == "" {
		r.Errorf(v.At(), diag.BadNotation, "the step has no id; it is written {\"id\": …, \"description\": …, \"action\": …, \"parameters\": {…}, \"dependencies\": […]}")
		return
	}
	tree.Known(r.Builder, v, "a step", "id", "description", "action", "parameters", "dependencies", "expected_output",
		"fallback_action", "estimated_tokens", "status", "result", "error", "sub_plan")
	if sub := v.Get("sub_plan"); sub.Is(lang.Object) {
		r.Errorf(v.Member("sub_plan").Key, diag.BadNotation, "a plan inside a step is not read")
	}
	if p := v.First("parameters").Value; !p.IsZero() && !p.Is(lang.Object) {
		r.Errorf(p.At(), diag.BadNotation, "the parameters are an object, not %s", p.Describe())
	}
	r.Labels.Step(v.Get("id").Word())
	r.steps = append(r.steps, v)
}

// meta writes what is said of the plan as a whole.
func (r *reader) meta(plan tree.Value) {
	if !plan.Is(lang.Object) || plan.Len() < 2 {
		return
	}
	r.Member("meta", plan.At())
	r.Object(plan.At())
	for m := range plan.Members() {
		switch m.Name {
		case "goal", "success_criteria", "created_at", "estimated_total_tokens":
			r.Member(m.Name, m.Key)
			tree.Words(r.Builder, m.Value)
		}
	}
	r.Close()
}

func (r *reader) call(v tree.Value) {
	id, action := v.Member("id"), v.First("action")
	r.Object(v.At())
	if action.Value.Is(lang.String) && action.Value.Str() != "" {
		r.Member("_tool", action.Key)
		r.String(action.Value.Str(), action.Value.All())
	} else {
		r.Member("_tool", v.At())
		r.String(dialect.StepTool, v.At())
	}
	r.Member("_id", id.Key)
	r.String(id.Value.Word(), id.Value.All())
	if action.Value.Str() == "" && !v.Get("parameters").Has("description") {
		tree.Description(r.Builder, v.Get("description"), v.At())
	} else {
		tree.Prose(r.Builder, "_description", v.Member("description"))
	}
	if p := v.Get("parameters"); p.Is(lang.Object) {
		tree.Params(r.Builder, p, r.In)
	}
	if m := v.Member("dependencies"); tree.IsNames(r.Builder, m) {
		tree.DependsOn(r.Builder, m)
	}
	r.forecasts(v)
	r.output(v)
	r.Member("_outputPath", id.Key)
	r.Path(id.Value.Word(), id.Value.All())
	r.Close()
}

// forecasts writes what is expected, and what to do instead.
func (r *reader) forecasts(v tree.Value) {
	if m := v.First("expected_output"); !m.Value.IsZero() && !(m.Value.Is(lang.String) && m.Value.Str() == "") {
		r.Member("_expect", m.Key)
		tree.Words(r.Builder, m.Value)
	}
	tree.Prose(r.Builder, "_fallback", v.Member("fallback_action"))
	if m := v.First("estimated_tokens"); m.Value.Is(lang.NumberValue) {
		r.Member("_estimatedTokens", m.Key)
		tree.Scalar(r.Builder, m.Value)
	}
}

// output writes the result that a step has already.
func (r *reader) output(v tree.Value) {
	id := v.Get("id").Word()
	status, result := v.First("status").Value, v.Get("result")
	if s := r.statuses.Get(id); !s.IsZero() {
		status = s
	}
	if s := r.result.Get(id); !s.IsZero() {
		if result = s; s.Has("output") {
			result = s.Get("output")
		}
	}
	if tree.Status(r.Builder, status, "pending", "running", "completed", "failed", "skipped", "blocked", "revised") == "completed" {
		tree.Output(r.Builder, status, result)
	}
}
