package flow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/label"
)

// Verdict says whether a policy allows a flow, or a call.
type Verdict string

// The verdicts, from the best.
const (
	Allowed   Verdict = "allowed"
	Depends   Verdict = "depends"   // on values; the guard checks it before the call is made
	Decided   Verdict = "decided"   // the value is allowed, but a value that decides about it is not
	Warned    Verdict = "warned"    // it is not allowed, and the policy only warns
	Asks      Verdict = "asks"      // it is not allowed unless a person approves the call
	Forbidden Verdict = "forbidden" // the plan does not run
)

var verdicts = []Verdict{Allowed, Depends, Decided, Warned, Asks, Forbidden}

// worse returns the worse of two verdicts.
func (v Verdict) worse(w Verdict) Verdict {
	return verdicts[max(slices.Index(verdicts, v), slices.Index(verdicts, w))]
}

// violated returns the verdict for a violation.
func violated(v label.Violation) Verdict {
	return [...]Verdict{label.Reject: Forbidden, label.Approve: Asks, label.Warn: Warned}[v]
}

// A fault is a requirement that a sink breaks.
type fault struct {
	want    *label.Want
	code    diag.Code
	decides bool // a value that decides about the sink breaks it, not the value itself
	at      *mark
}

// way returns the path of the value that breaks the requirement.
func (s *Sink) way(f *fault) []*step {
	wrong := s.report.Policy.leaks
	if f.code == diag.NotTrusted {
		wrong = s.report.Policy.distrusts
	}
	return f.at.way(func(l lab) bool { return wrong(f.want, l) }, s.report.longest)
}

// maxSteps bounds the steps of the paths of all sinks together, and minSteps is how long each may
// be in any case. So finding them costs no more than following the labels.
const (
	maxSteps = 3_000
	minSteps = 30
)

// verdictOf returns the verdict of a fault. The output has no call that a person could approve, and
// the run that undoes calls does not ask for this reason, so both are forbidden instead.
func (s *Sink) verdictOf(f *fault) Verdict {
	if f.decides && !s.report.Policy.said.Strict {
		return Decided
	}
	v := violated(f.want.Violation)
	if v == Asks && (s.Call == nil || s.Undoes) {
		return Forbidden
	}
	return v
}

// faults returns the requirements that a sink breaks. A bound on trust is not broken if a list or a
// condition may stand in for it: the guard checks that.
func (p *Policy) faults(s *Sink) (all []fault) {
	value, decides := p.labelOf(s.value), p.labelOf(s.decides)
	for _, w := range s.Wants {
		if s.Undoes && w.In != nil {
			all = append(all, fault{want: w, code: diag.NotTrusted})
			continue
		}
		stands, distrusted, leaks := s.standsIn(w), p.distrusts(w, value), p.leaks(w, value)
		if distrusted && !stands {
			all = append(all, fault{w, diag.NotTrusted, false, s.value})
		}
		if leaks {
			all = append(all, fault{w, diag.TooSecret, false, s.value})
		}
		if (stands || !distrusted) && p.distrusts(w, decides) {
			all = append(all, fault{w, diag.NotTrusted, true, s.decides})
		}
		if !leaks && p.leaks(w, decides) {
			all = append(all, fault{w, diag.TooSecret, true, s.decides})
		}
	}
	return all
}

// distrusts reports whether a requirement wants more trust than a label has.
func (p *Policy) distrusts(w *label.Want, l lab) bool {
	return w.HasTrust && !p.said.Trust.AtMost(w.Trust, l.trust)
}

// leaks reports whether a requirement wants less secrecy than a label has.
func (p *Policy) leaks(w *label.Want, l lab) bool {
	return w.HasSecrecy && !p.said.Secrecy.AtMost(l.secrecy, w.Secrecy) || len(l.cats) > 0 && !p.said.AdmitsSecrecy(w.Bound, p.label(l))
}

// standsIn reports whether a condition, or a list that is trusted enough itself, may stand in for
// the trust of the value. Scopes are not checked when a tool is called, and params of what takes
// calls back are not when the run is undone, so nothing stands in for theirs.
func (s *Sink) standsIn(w *label.Want) bool {
	return s.Param != "*" && s.Call != nil && !s.Undoes && (w.Or != nil || w.In != nil && s.report.trusted[w])
}

// Verdict returns whether the policy allows a sink.
func (s *Sink) Verdict() Verdict {
	v := Allowed
	if s.depends() {
		v = Depends
	}
	for _, f := range s.report.Policy.faults(s) {
		v = v.worse(s.verdictOf(&f))
	}
	return v
}

// depends reports whether a list or a condition has to be looked at before the call is made.
func (s *Sink) depends() bool {
	return !s.Undoes && slices.ContainsFunc(s.Wants, func(w *label.Want) bool {
		return w.In != nil || w.Or != nil && s.report.Policy.distrusts(w, s.report.Policy.labelOf(s.value))
	})
}

// Name returns the name of the sink in a list.
func (s *Sink) Name() string {
	switch {
	case s.Call == nil:
		return "output"
	case s.Param == "*":
		return fmt.Sprintf("%q, its scopes", s.Call.ID)
	case s.Undoes:
		return fmt.Sprintf("%q, undo %q, param %q", s.Call.ID, s.Tool, s.Param)
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
		return fmt.Sprintf("the scopes of %q", s.Tool)
	case s.Undoes:
		return fmt.Sprintf("the param %q of %q, which undoes %q,", s.Param, s.Tool, s.Call.ID)
	}
	return "the param " + strconv.Quote(s.Param) + " of " + strconv.Quote(s.Tool)
}

// Findings returns a finding for each requirement that the sink breaks.
func (s *Sink) Findings() (found diag.List) {
	for _, f := range s.report.Policy.faults(s) {
		found = append(found, s.finding(&f, nil))
	}
	return found
}

// severityOf returns the severity of the finding of a fault.
func (s *Sink) severityOf(f *fault) diag.Severity {
	if s.verdictOf(f) == Forbidden {
		return diag.Error
	}
	return diag.Warning
}

// finding returns the finding of a fault. words has the steps of other paths in words, as related
// wants them.
func (s *Sink) finding(f *fault, words map[*step]string) diag.Finding {
	message := s.message(f)
	if s.verdictOf(f) == Asks {
		message += ": a person has to approve the call"
	}
	way := related(s.way(f), words)
	return diag.Finding{
		Code: f.code, Severity: s.severityOf(f), Loc: s.Loc, Call: idOf(s.Call), Message: message, Related: way, Way: len(way) > 0,
	}
}

// few collects findings, at most maxPerKind of each kind: the paths of very many would cost more
// than following the labels.
type few struct {
	list  diag.List
	count map[kind]int
	over  map[kind]int // the indexes of the findings that tell how many more there are
	words map[*step]string
}

// A kind identifies the findings of one code and severity.
type kind struct {
	code     diag.Code
	severity diag.Severity
}

const maxPerKind = 100

// add adds the finding of a fault, if there are not too many of its kind.
func (x *few) add(s *Sink, f *fault) {
	k := kind{f.code, s.severityOf(f)}
	x.count[k]++
	switch n := x.count[k] - maxPerKind; {
	case n <= 0:
		x.list = append(x.list, s.finding(f, x.words))
	case n == 1:
		x.over[k] = len(x.list)
		x.list = append(x.list, diag.Finding{Code: k.code, Severity: k.severity, Loc: s.Loc})
	}
}

// all returns the findings.
func (x *few) all() diag.List {
	for k, i := range x.over {
		s := "s"
		if x.count[k] == maxPerKind+1 {
			s = ""
		}
		x.list[i].Message = fmt.Sprintf("%d more finding%s like those before", x.count[k]-maxPerKind, s)
	}
	return x.list
}

// message returns the message of a fault.
func (s *Sink) message(f *fault) string {
	p, bound := s.report.Policy.said, f.want.Bound
	if f.code == diag.NotTrusted {
		bound.HasSecrecy = false
	} else {
		bound.HasTrust = false
	}
	switch {
	case s.Undoes && f.want.In != nil:
		return fmt.Sprintf("%s would have to be an element of %s, which is not looked at when the run is undone", s.what(), f.want.In.Text)
	case f.decides && f.code == diag.NotTrusted:
		return fmt.Sprintf("values that may be %s decide whether, or with which value, %s is given; the policy wants %s", p.Words(s.Decides()), s.what(), p.BoundWords(bound))
	case f.decides:
		return fmt.Sprintf("%[2]s may reveal values that are %[1]s, since they decide whether, or with which value, it is given; the policy wants %[3]s", p.Words(s.Decides()), s.what(), p.BoundWords(bound))
	}
	text := fmt.Sprintf("%s may be %s, and the policy wants %s", s.what(), p.Words(s.Label()), p.BoundWords(bound))
	if strings.HasSuffix(s.rule(f.want), leaves) {
		text += fmt.Sprintf(", since %q may show it to others: bound its secrecy, or say leaves: false", s.Tool)
	}
	return text
}

func idOf(c *compile.Call) string {
	if c == nil {
		return ""
	}
	return c.ID
}

// related returns a path as notes, from the source on. Of a very long one it leaves out the middle.
// Steps that are in words are not put into words again; nil keeps none.
func related(way []*step, words map[*step]string) (all []diag.Related) {
	const most = 100
	if len(way) == 0 {
		return nil
	}
	all = make([]diag.Related, 0, min(len(way), most))
	for i, s := range way {
		if cut := len(way) - most; cut > 0 && i >= most/2 && i < most/2+cut {
			continue
		}
		text, ok := words[s]
		if !ok {
			text = s.String()
			if words != nil {
				words[s] = text
			}
		}
		all = append(all, diag.Related{Loc: s.loc, Message: text})
	}
	return all
}

// String returns the step in words.
func (s *step) String() string {
	who := strconv.Quote(idOf(s.call))
	switch s.verb {
	case gives:
		return who + " gives this"
	case says:
		return "the plan says this"
	case isGiven:
		return s.what.String() + " is given"
	case fails:
		return "this decides whether " + who + " fails"
	case asks:
		return who + " is made only if " + s.what.String() + " is so"
	case undoTakes:
		return "the undo of " + who + " takes " + s.what.String()
	}
	if s.call == nil {
		return "the output takes " + s.what.String()
	}
	return who + " takes " + s.what.String()
}

// MayAsk reports whether a person may have to approve the call because of the sink.
func (s *Sink) MayAsk() bool {
	v := s.Verdict()
	return v == Asks || v == Depends && slices.ContainsFunc(s.Wants, func(w *label.Want) bool { return w.Violation == label.Approve })
}

// MayAsk reports whether a person may have to approve calls because of the rule.
func (d *Duty) MayAsk() bool {
	return d.Verdict == Asks || d.Verdict == Depends && d.Rule.Violation == label.Approve
}
