package flow

import (
	"fmt"
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/label"
)

// Verdict says whether a policy allows a flow, or a call.
type Verdict string

// The verdicts, from the best.
const (
	Allowed   Verdict = "allowed"
	Depends   Verdict = "depends"   // on values: it is checked before the call is made
	Decided   Verdict = "decided"   // the value is allowed, but not what decides about it
	Warned    Verdict = "warned"    // it is not allowed, and the policy only warns
	Asks      Verdict = "asks"      // it is not allowed unless a person approves the call
	Forbidden Verdict = "forbidden" // the plan does not run
)

var verdicts = []Verdict{Allowed, Depends, Decided, Warned, Asks, Forbidden}

// worse returns the worse of two verdicts.
func (v Verdict) worse(w Verdict) Verdict {
	return verdicts[max(slices.Index(verdicts, v), slices.Index(verdicts, w))]
}

// violated returns the verdict of what is not allowed.
func violated(v label.Violation) Verdict {
	return [...]Verdict{label.Reject: Forbidden, label.Approve: Asks, label.Warn: Warned}[v]
}

// A fault is something that a want does not admit.
type fault struct {
	want    *label.Want
	code    diag.Code
	decides bool // not the value, but what decides about it
	way     []step
}

// verdictOf returns the verdict of a fault. There is no call of the output that a person could
// approve.
func (s *Sink) verdictOf(f *fault) Verdict {
	if f.decides && !s.policy.said.Strict {
		return Decided
	}
	v := violated(f.want.Violation)
	if v == Asks && s.Call == nil {
		return Forbidden
	}
	return v
}

// faults returns what is not admitted of a value and of what decides about it. A bound on trust
// that a list or a condition may stand in for is none.
func (p *Policy) faults(s *Sink) (all []*fault) {
	add := func(w *label.Want, code diag.Code, m *mark, decides bool, wrong func(lab) bool) {
		if wrong(p.labelOf(m)) {
			all = append(all, &fault{w, code, decides, m.way(wrong)})
		}
	}
	for _, w := range s.Wants {
		distrusted := func(l lab) bool { return !p.said.AdmitsTrust(w.Bound, p.label(l)) }
		leaks := func(l lab) bool { return !p.said.AdmitsSecrecy(w.Bound, p.label(l)) }
		if !s.standsIn(w) {
			add(w, diag.NotTrusted, s.value, false, distrusted)
		}
		add(w, diag.TooSecret, s.value, false, leaks)
		if s.standsIn(w) || !distrusted(p.labelOf(s.value)) {
			add(w, diag.NotTrusted, s.decides, true, distrusted)
		}
		if !leaks(p.labelOf(s.value)) {
			add(w, diag.TooSecret, s.decides, true, leaks)
		}
	}
	return all
}

// standsIn reports whether something may stand in for the trust of the value: a condition, or a
// list that may be trusted itself. What a tool sees besides its params is not checked when it is
// called.
func (s *Sink) standsIn(w *label.Want) bool {
	return s.Param != "*" && s.Call != nil && (w.Or != nil || w.In != nil && s.vouched[w])
}

// Verdict returns whether the policy allows a sink.
func (s *Sink) Verdict() Verdict {
	v := Allowed
	for _, w := range s.Wants {
		if w.In != nil || w.Or != nil && !s.policy.said.AdmitsTrust(w.Bound, s.Label) {
			v = Depends
		}
	}
	for _, f := range s.policy.faults(s) {
		v = v.worse(s.verdictOf(f))
	}
	return v
}

// Name returns what the sink is called in a list.
func (s *Sink) Name() string {
	switch {
	case s.Call == nil:
		return "output"
	case s.Param == "*":
		return fmt.Sprintf("%q, what it sees besides its params", s.Call.ID)
	case s.Fallback:
		return fmt.Sprintf("%q, fallback %q, param %q", s.Call.ID, s.Tool, s.Param)
	}
	return fmt.Sprintf("%q, param %q", s.Call.ID, s.Param)
}

// what names the sink in a message.
func (s *Sink) what() string {
	switch {
	case s.Call == nil:
		return "the output"
	case s.Param == "*":
		return fmt.Sprintf("what %q sees besides its params", s.Tool)
	}
	return fmt.Sprintf("the param %q of %q", s.Param, s.Tool)
}

// findings returns what the policy has to say of a sink.
func (s *Sink) findings() (found diag.List) {
	for _, f := range s.policy.faults(s) {
		message, sev := s.message(f), diag.Warning
		switch s.verdictOf(f) {
		case Forbidden:
			sev = diag.Error
		case Asks:
			message += ": a person has to approve the call"
		}
		found = append(found, diag.Finding{
			Code: f.code, Severity: sev, Loc: s.Loc, Call: idOf(s.Call), Message: message, Related: related(f.way), Way: len(f.way) > 0,
		})
	}
	return found
}

// message says what is wrong.
func (s *Sink) message(f *fault) string {
	p, bound := s.policy.said, f.want.Bound
	if f.code == diag.NotTrusted {
		bound.HasSecrecy = false
	} else {
		bound.HasTrust = false
	}
	switch {
	case f.decides && f.code == diag.NotTrusted:
		return fmt.Sprintf("what is %s decides about %s, and the policy wants %s", p.Words(s.Decides), s.what(), p.BoundWords(bound))
	case f.decides:
		return fmt.Sprintf("what is %s decides about %s, which tells others of it; the policy wants %s", p.Words(s.Decides), s.what(), p.BoundWords(bound))
	}
	return fmt.Sprintf("%s may be %s, and the policy wants %s", s.what(), p.Words(s.Label), p.BoundWords(bound))
}

func idOf(c *compile.Call) string {
	if c == nil {
		return ""
	}
	return c.ID
}

// related returns a way as notes, from the source on: all of it, unless it is very long.
func related(way []step) (all []diag.Related) {
	const most = 100
	for i, s := range way {
		if cut := len(way) - most; cut > 0 && i >= most/2 && i < most/2+cut {
			continue
		}
		all = append(all, diag.Related{Loc: s.loc, Message: s.String()})
	}
	return all
}

// String says what happened at the step.
func (s step) String() string {
	switch s.verb {
	case gives:
		return fmt.Sprintf("%q gives this", s.who)
	case says:
		return "the plan says this"
	case isGiven:
		return s.what + " is given"
	case asks:
		return fmt.Sprintf("%q is made only if %s is so", s.who, s.what)
	}
	if s.who == "" {
		return "the output takes " + s.what
	}
	return fmt.Sprintf("%q takes %s", s.who, s.what)
}
