package flow

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool/label"
)

// A Report says where information goes in a plan.
type Report struct {
	Policy *label.Policy
	Sinks  []*Sink // the params with bounds, in plan order, then the output
	Drops  []*Drop // the tools whose results do not carry the labels of their params
}

// A Sink is a param of a call that the policy has a bound for, or the output.
type Sink struct {
	Call  *compile.Call // nil: the output
	Tool  string        // as the plan names it
	Param string        // "*" for those that the plan does not name
	Loc   diag.Loc
	Bound label.Bound
	Label label.Label // the worst that the value may have
	// Decides is the worst label of what decides whether the call is made, and with what.
	Decides label.Label

	value, decides mark
}

// A Drop is a tool whose result is said not to carry the labels of its params.
type Drop struct {
	Tool string
	Call *compile.Call // the first that calls it
}

// Check follows the labels of a policy through a program and the documents that it delegates to.
// The findings are its forbidden flows, each with the way from the source to the sink. It costs
// time linear in the program, and again for each document that is given other labels.
func Check(prog *compile.Program, p *label.Policy) (*Report, diag.List) {
	p = asWritten(p, prog)
	a := &analysis{
		policy: p, rules: map[*compile.Target]*rules{}, done: map[string]mark{}, sinks: map[sinkKey]*Sink{}, drops: map[string]*Drop{},
	}
	out := a.run(prog, board{decides: a.best(), given: a.given(prog)})
	if p.Output.HasTrust || p.Output.HasSecrecy {
		loc := diag.Loc{File: prog.File()}
		if prog.Output != nil && !prog.Document.Output.IsZero() {
			loc = prog.Document.Output.Loc()
		}
		a.order = append(a.order, &Sink{Param: "output", Loc: loc, Bound: p.Output, Label: out.label(), Decides: a.policy.Best(), value: out, decides: a.best()})
	}
	r := &Report{Policy: p, Sinks: a.order}
	for _, d := range a.drops {
		r.Drops = append(r.Drops, d)
	}
	slices.SortFunc(r.Drops, func(x, y *Drop) int { return cmp.Compare(x.Tool, y.Tool) })
	var found diag.List
	for _, s := range a.order {
		found = append(found, a.findings(s)...)
	}
	return r, found
}

// asWritten returns a policy with the label of a plan whose author has seen what the program holds:
// what such a plan says is as bad as the worst of that.
func asWritten(p *label.Policy, prog *compile.Program) *label.Policy {
	if prog.Seen == compile.SeenNothing {
		return p
	}
	plan := p.OfPlan()
	if prog.Seen == compile.SeenResults {
		plan = plan.Join(p.OfUnknown())
		for i := range p.Tools {
			if g := p.Tools[i].Gives; g != nil {
				plan = plan.Join(*g)
			}
			for _, part := range p.Tools[i].Parts {
				plan = plan.Join(part.Label)
			}
		}
	}
	for name, value := range prog.Initial {
		if string(value) != "{}" {
			kind, _, _ := compile.CutLayer(name)
			plan = plan.Join(labelAt(p.OfUnknown(), p.Given, []string{kind}))
		}
	}
	q := *p
	q.Plan = &plan
	return &q
}

// given returns the marks of what the whiteboard holds at the start.
func (a *analysis) given(prog *compile.Program) func(state.Path) mark {
	return func(path state.Path) mark {
		names, exact := members(path)
		if kind, _, ok := compile.CutLayer(names[0]); ok {
			names[0] = kind
		}
		l := labelAt(a.policy.OfUnknown(), a.policy.Given, names)
		if !exact {
			l = l.Join(a.policy.OfUnknown())
		}
		return a.from(l, diag.Loc{File: prog.File()}, path.String()+" is given")
	}
}

type sinkKey struct {
	call  *compile.Call
	tool  string
	param string
}

// sink notes what the params of a call are given.
func (w *walk) sink(c *compile.Call, t *compile.Target, params []param, decides mark) {
	r := w.rulesOf(t)
	if len(r.takes) == 0 {
		return
	}
	name := t.Tool.Definition.Name
	for _, p := range params {
		b, ok := r.bound(p.name)
		if !ok || p.name == "*" && p.data.label().Equal(w.policy.Best()) {
			continue
		}
		key := sinkKey{c, name, p.name}
		s, ok := w.sinks[key]
		if !ok {
			s = &Sink{Call: c, Tool: name, Param: p.name, Loc: p.loc, Bound: b, value: w.best(), decides: w.best()}
			w.sinks[key] = s
			w.order = append(w.order, s)
		}
		s.value, s.decides = s.value.join(p.data), s.decides.join(decides)
		s.Label, s.Decides = s.value.label(), s.decides.label()
	}
}

func (w *walk) drop(c *compile.Call, t *compile.Target) {
	name := t.Tool.Definition.Name
	if w.drops[name] == nil {
		w.drops[name] = &Drop{Tool: name, Call: c}
	}
}

func (s *Sink) words() string {
	if s.Call == nil {
		return "the output"
	}
	if s.Param == "*" {
		return fmt.Sprintf("%q", s.Tool)
	}
	return fmt.Sprintf("the param %q of %q", s.Param, s.Tool)
}

// findings returns what is wrong with a sink.
func (a *analysis) findings(s *Sink) (found diag.List) {
	p := a.policy
	add := func(code diag.Code, sev diag.Severity, way *step, format string, args ...any) {
		if p.Warn {
			sev = diag.Warning
		}
		found = append(found, diag.Finding{Code: code, Severity: sev, Loc: s.Loc, Message: fmt.Sprintf(format, args...), Related: way.related()})
	}
	wants := func(b label.Bound) string { return p.BoundWords(b) }
	trust := label.Bound{HasTrust: true, Trust: s.Bound.Trust}
	secrecy := label.Bound{HasSecrecy: true, Secrecy: s.Bound.Secrecy, Categories: s.Bound.Categories}
	if !s.Bound.AdmitsTrust(s.Label) {
		add(diag.NotTrusted, diag.Error, s.value.distrusted, "%s may be %s, and the policy wants %s", s.words(), p.Words(s.Label), wants(trust))
	}
	if !s.Bound.AdmitsSecrecy(s.Label) {
		add(diag.TooSecret, diag.Error, s.value.leak(s.Bound), "%s may be %s, and the policy wants %s", s.words(), p.Words(s.Label), wants(secrecy))
	}
	sev := diag.Warning
	if p.Strict {
		sev = diag.Error
	}
	if s.Bound.AdmitsTrust(s.Label) && !s.Bound.AdmitsTrust(s.Decides) {
		add(diag.NotTrusted, sev, s.decides.distrusted, "what is %s decides about %s, and the policy wants %s", p.Words(s.Decides), s.words(), wants(trust))
	}
	if s.Bound.AdmitsSecrecy(s.Label) && !s.Bound.AdmitsSecrecy(s.Decides) {
		add(diag.TooSecret, sev, s.decides.leak(s.Bound), "what is %s decides about %s, which tells others of it; the policy wants %s", p.Words(s.Decides), s.words(), wants(secrecy))
	}
	return found
}
