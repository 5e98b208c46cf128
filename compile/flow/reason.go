package flow

import (
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/label"
)

// A Reason is something that a plan, or a call of a run, breaks.
type Reason struct {
	Policy  string // its name
	Rule    string // as Requirement.Rule
	Code    diag.Code
	Verdict Verdict
	Loc     diag.Loc // of the param or the call
	Message string
	Way     []diag.Related // on which the value comes there; nil if there is none
}

// A Requirement is something that a policy requires of plans.
type Requirement struct {
	// Rule is the text of a rule; "pay.iban" for a bound of a param, with the tool and the param as
	// the policy has them; "pay leaves" for an entry that says that others see the params; or
	// "output".
	Rule string
	Code diag.Code // of what breaks it: a bound has one for trust and one for secrecy
	Loc  diag.Loc
}

// namesIn returns the names of the requirements on params and on the output.
func namesIn(said *label.Policy) map[*label.Want]string {
	names := map[*label.Want]string{}
	for i := range said.Tools {
		t := &said.Tools[i]
		for j := range t.Takes {
			names[&t.Takes[j]] = t.Text + "." + t.Takes[j].Param
		}
	}
	for i := range said.Output {
		names[&said.Output[i]] = "output"
	}
	return names
}

// rule returns the name of a requirement on the sink.
func (s *Sink) rule(w *label.Want) string {
	if name, ok := s.report.Policy.names[w]; ok {
		return name
	}
	return s.rules.leavesBy + leaves
}

// leaves stands behind the name of an entry, or of a tool, whose params others see.
const leaves = " leaves"

// codeOf returns the code of what breaks a rule.
func codeOf(k label.RuleKind) diag.Code {
	switch k {
	case label.Never, label.Before:
		return diag.WrongOrder
	case label.OnlyIf:
		return diag.AgainstRule
	}
	return diag.BeyondLimit
}

// Requirements returns everything that the policy requires, in its order.
func (p *Policy) Requirements() (all []Requirement) {
	bound := func(w *label.Want) {
		if w.HasTrust || w.In != nil {
			all = append(all, Requirement{p.names[w], diag.NotTrusted, w.Loc})
		}
		if w.HasSecrecy {
			all = append(all, Requirement{p.names[w], diag.TooSecret, w.Loc})
		}
	}
	for i := range p.said.Tools {
		t := &p.said.Tools[i]
		if t.Leaves != nil && *t.Leaves {
			all = append(all, Requirement{t.Text + leaves, diag.TooSecret, t.Loc})
		}
		for j := range t.Takes {
			bound(&t.Takes[j])
		}
	}
	for i := range p.said.Output {
		bound(&p.said.Output[i])
	}
	for i := range p.said.Rules {
		r := &p.said.Rules[i]
		all = append(all, Requirement{r.Text, codeOf(r.Kind), r.Loc})
	}
	return all
}

// Reasons returns everything that the plan breaks whatever its tools give, or may break by what
// they give.
func (r *Report) Reasons() (all []*Reason) {
	for _, s := range r.Sinks() {
		for _, f := range r.Policy.faults(s) {
			all = append(all, &Reason{
				Policy: r.Policy.Name(), Rule: s.rule(f.want), Code: f.code, Verdict: s.verdictOf(&f),
				Loc: s.Loc, Message: s.message(&f), Way: related(s.way(&f), nil),
			})
		}
	}
	for _, d := range r.Duties {
		for _, f := range d.findings() {
			all = append(all, &Reason{
				Policy: r.Policy.Name(), Rule: d.Rule.Text, Code: f.Code, Verdict: d.Verdict,
				Loc: f.Loc, Message: f.Message, Way: f.Related,
			})
		}
	}
	return all
}

// Depends reports whether a Guard has to check something while the plan runs.
func (r *Report) Depends() bool {
	return slices.ContainsFunc(r.Sinks(), (*Sink).depends) ||
		slices.ContainsFunc(r.Duties, func(d *Duty) bool { return d.Verdict == Depends })
}
