// Package planstep reads and writes plans of the planning pattern's requirements: steps with an
// action, which is a tool, and results of other steps as {{step.path}}.
//
//	{"goal": "A report", "steps": [
//	  {"id": "1", "description": "Look it up", "action": "search", "parameters": {"q": "gdp"},
//	   "dependencies": [], "expected_output": "a number", "fallback_action": "archive"},
//	  {"id": "2", "description": "Sum up", "action": "write", "parameters": {"text": "{{1.text}}"},
//	   "dependencies": ["1"], "expected_output": "a page"}],
//	 "success_criteria": ["one page"]}
//
// A step with a condition, "{{step.member}}", is skipped unless that value exists and is neither
// null nor false: it is the _when of its call. A condition of another form is an error.
//
// A step without an action calls the tool step. A step with a plan of its own, a sub_plan, calls
// nothing: its result has the results of the steps of that plan by their ids, and steps that depend
// on it depend on all of them. The state of an execution, with the plan and the results of steps,
// is read as well: completed steps have their results. As in that system, a reference that finds
// nothing is an empty string.
package planstep

import (
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Notation returns the notation of the planning pattern.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "planstep", What: "a plan of steps", Read: read, Write: write}
}

// maxSteps is the maximum number of steps of a plan, unless the options set another.
const maxSteps = 20

type reader struct {
	tree.Tokens
	max              int
	steps            []*leaf
	inside           map[string][]string // by step, the steps of its plan, in which steps with plans are replaced by their steps
	whole            []tree.Value        // the steps with a plan
	statuses, result tree.Value          // in the state of an execution
}

// leaf is a step that calls something.
type leaf struct {
	tree.Value
	needs []tree.Member // the dependencies of the steps around it
	when  tree.Member   // the condition: its own, or that of a step around it; zero if none
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
	b.Profile = lang.Profile{LenientRefs: true, ResultsStand: true}
	r := &reader{Tokens: tree.Tokens{Builder: b, AnyOrder: true, Labels: tree.Labels{Spell: tree.SpellToken}, Below: map[string][]string{}},
		max: maxSteps, inside: map[string][]string{}}
	if b.Options.MaxCalls > 0 {
		r.max = b.Options.MaxCalls
	}
	r.statuses, r.result = root.First("step_statuses").Value, root.First("step_results").Value
	r.plan(plan, list, &leaf{})
	conditions := map[lang.Node]bool{}
	for i, s := range r.steps {
		if s == nil {
			continue
		}
		r.Find(s.Get("parameters"), i)
		if when := s.when.Value; !when.IsZero() && !conditions[when.Node] {
			conditions[when.Node] = true
			r.condition(when, i)
		}
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

// plan checks a plan, and returns the ids of the steps that call something. of has what all of its
// steps inherit.
func (r *reader) plan(plan, list tree.Value, of *leaf, around ...string) (ids []string) {
	tree.Known(r.Builder, plan, "a plan", "goal", "steps", "success_criteria", "created_at", "estimated_total_tokens")
	switch n := list.Len(); {
	case n == 0:
		r.Errorf(list.At(), diag.BadNotation, "the plan has no steps")
	case n > r.max:
		r.Errorf(list.At(), diag.OverLimit, "a plan of steps has at most %d, and this one %d", r.max, n)
	}
	for _, v := range list.Elements() {
		ids = append(ids, r.step(v, of, around)...)
	}
	return ids
}

// step checks a step, and returns the ids of the steps that call something: itself, or the steps of
// its plan.
func (r *reader) step(v tree.Value, of *leaf, around []string) []string {
	id := v.Get("id").Word()
	if !v.Is(lang.Object) || id == "" {
		r.Errorf(v.At(), diag.BadNotation, "the step has no id; it is written {\"id\": …, \"description\": …, \"action\": …, \"parameters\": {…}, \"dependencies\": […]}")
		return nil
	}
	tree.Known(r.Builder, v, "a step", "id", "description", "action", "parameters", "dependencies", "expected_output",
		"fallback_action", "estimated_tokens", "status", "result", "error", "sub_plan", "condition")
	if p := v.First("parameters").Value; !p.IsZero() && !p.Is(lang.Object) {
		r.Errorf(p.At(), diag.BadNotation, "the parameters are an object, not %s", p.Describe())
	}
	sub := v.Get("sub_plan").Is(lang.Object)
	if _, whole := r.inside[id]; whole || sub && r.Labels.Has(id) {
		r.Errorf(v.Get("id").At(), diag.DuplicateID, "two steps have the id %q", id)
	}
	r.Labels.Step(id)
	r.Below[id] = around
	own := &leaf{v, of.needs, of.when}
	switch c := v.Member("condition"); {
	case !tree.IsCondition(c.Value):
	case !of.when.Value.IsZero():
		r.Errorf(c.Value.At(), diag.BadNotation, "step %q has a condition, and so has a step around it; they can't be translated into one", id)
	default:
		own.when = c
	}
	if !sub {
		r.steps = append(r.steps, own)
		return []string{id}
	}
	r.steps = append(r.steps, nil) // it has a place among the labels
	r.whole = append(r.whole, v)
	r.inside[id] = nil
	r.inside[id] = r.subPlan(own, id, around)
	return r.inside[id]
}

// subPlan checks the plan of a step.
func (r *reader) subPlan(v *leaf, id string, around []string) []string {
	list, plan, ok := tree.Steps(r.Builder, v.Get("sub_plan"), "the plan of a step", "steps")
	if !ok {
		return nil
	}
	if m := v.First("fallback_action"); m.Value.Str() != "" {
		r.Errorf(m.Value.At(), diag.BadNotation, "the step has a plan of its own, so that no action can stand in for it; its steps may have a fallback_action each")
	}
	if m := v.Member("dependencies"); tree.IsNames(r.Builder, m) && m.Value.Len() > 0 {
		v.needs = append(slices.Clip(v.needs), m)
	}
	return r.plan(plan, list, v, append(slices.Clip(around), id)...)
}

// aCondition matches a condition that is one reference.
var aCondition = lazyregexp.New(`^\s*\{\{\s*([^{}]*?)\s*\}\}\s*$`)

// condition checks a condition, which means the same as _when, and finds its reference.
func (r *reader) condition(v tree.Value, user int) {
	m := aCondition.FindStringSubmatch(v.Str())
	if !v.Is(lang.String) || m == nil {
		r.Errorf(v.At(), diag.BadNotation, "the condition %s can't be translated; it has to be {{step.member}} alone, which holds if that is there and neither null nor false: let a step say true or false", v.AppendJSON(nil))
		return
	}
	for id := m[1]; ; {
		if r.Labels.Has(id) {
			break
		}
		end := strings.LastIndexByte(id, '.')
		if end < 0 {
			r.Errorf(v.At(), diag.BadNotation, "the condition {{%s}} is the result of no step", m[1])
			return
		}
		id = id[:end]
	}
	r.Find(v, user)
}

// meta writes the members about the plan as a whole.
func (r *reader) meta(plan tree.Value) {
	if len(r.whole) == 0 && (!plan.Is(lang.Object) || plan.Len() < 2) {
		return
	}
	r.Member("meta", plan.At())
	r.Object(plan.At())
	r.words(plan, "goal", "success_criteria", "created_at", "estimated_total_tokens")
	if len(r.whole) > 0 {
		r.Member("sub_plans", plan.At())
		r.List(plan.At())
		for _, v := range r.whole {
			r.Object(v.At())
			r.words(v, "id", "description", "action", "parameters", "expected_output", "estimated_tokens")
			r.words(v.Get("sub_plan"), "goal", "success_criteria", "created_at", "estimated_total_tokens")
			r.Close()
		}
		r.Close()
	}
	r.Close()
}

// words writes those of these members that are not empty.
func (r *reader) words(v tree.Value, names ...string) {
	for m := range v.Members() {
		if slices.Contains(names, m.Name) && m.Value.Kind() != lang.Null {
			r.Member(m.Name, m.Key)
			tree.Words(r.Builder, m.Value)
		}
	}
}

func (r *reader) call(s *leaf) {
	if s == nil {
		return
	}
	v := s.Value
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
	if found := r.In(s.when.Value); len(found) > 0 {
		r.Member("_when", s.when.Key)
		r.Parts(s.when.Value.At(), tree.Parts(s.when.Value, found)...)
	}
	r.dependsOn(s)
	r.forecasts(v)
	r.output(v)
	r.Member("_outputPath", id.Key)
	r.String(r.Result(id.Value.Word()).String(), id.Value.All())
	r.Close()
}

// dependsOn writes the steps that a step waits for: its own dependencies and those of the steps
// around it; a dependency that has a plan of its own is replaced by the steps of that plan.
func (r *reader) dependsOn(s *leaf) {
	own := s.Member("dependencies")
	needs := slices.Clip(s.needs)
	if tree.IsNames(r.Builder, own) && own.Value.Len() > 0 {
		needs = append(needs, own)
	}
	if len(needs) == 0 {
		return
	}
	last := needs[len(needs)-1]
	r.Member("_dependsOn", last.Key)
	r.List(last.Value.At())
	seen := map[string]bool{}
	for _, m := range needs {
		for _, d := range m.Value.Elements() {
			r.need(d, seen)
		}
	}
	r.Close()
}

func (r *reader) need(d tree.Value, seen map[string]bool) {
	ids, sub := r.inside[d.Word()]
	if !sub {
		ids = []string{d.Word()}
	}
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			r.String(id, d.All())
		}
	}
}

// forecasts writes the expected output and the fallback.
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

// output writes the result that a step already has.
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
