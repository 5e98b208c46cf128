package flow

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/tool/label"
)

// Verdict says whether a flow is allowed.
type Verdict string

// The verdicts.
const (
	Allowed   Verdict = "allowed"
	Decided   Verdict = "decided" // the value is allowed, but not what decides about it
	Forbidden Verdict = "forbidden"
)

// Verdict returns whether the policy allows a sink.
func (s *Sink) Verdict() Verdict {
	switch {
	case !s.Bound.AdmitsTrust(s.Label) || !s.Bound.AdmitsSecrecy(s.Label):
		return Forbidden
	case !s.Bound.AdmitsTrust(s.Decides) || !s.Bound.AdmitsSecrecy(s.Decides):
		return Decided
	}
	return Allowed
}

// Name returns what the sink is called in a list.
func (s *Sink) Name() string {
	switch {
	case s.Call == nil:
		return "output"
	case s.Param == "*":
		return fmt.Sprintf("%q, other params", s.Call.ID)
	}
	return fmt.Sprintf("%q, param %q", s.Call.ID, s.Param)
}

// Text writes a report for people: each sink with what it may be given and what it wants, and for
// those that are not allowed the way.
func (r *Report) Text(w io.Writer) error {
	var b display.Builder
	if len(r.Sinks) == 0 {
		b.Line("the policy has no bound for a param of this plan")
	}
	for _, s := range r.Sinks {
		b.Line("%s: %s", s.Name(), s.Verdict())
		b.Line("  may be %s; the policy wants %s", r.Policy.Words(s.Worst()), r.Policy.BoundWords(s.Bound))
		for _, way := range s.ways() {
			for _, step := range way {
				b.Line("    %s %s", place(step.Loc), step.Message)
			}
		}
	}
	for _, d := range r.Drops {
		b.Line("by the policy, what %q gives does not carry the labels of its params", d.Tool)
	}
	return display.Fprint(w, b.Text())
}

// Worst returns the label that the verdict is about: that of the value or, when only what decides
// about it is not allowed, the label of that.
func (s *Sink) Worst() label.Label {
	if s.Verdict() == Decided {
		return s.Decides
	}
	return s.Label
}

// ways returns the ways of what is not allowed.
func (s *Sink) ways() (all [][]diag.Related) {
	m, l := s.value, s.Worst()
	switch s.Verdict() {
	case Allowed:
		return nil
	case Decided:
		m = s.decides
	}
	if !s.Bound.AdmitsTrust(l) {
		all = append(all, m.distrusted.related())
	}
	if !s.Bound.AdmitsSecrecy(l) {
		all = append(all, m.leak(s.Bound).related())
	}
	return all
}

func place(l diag.Loc) string {
	if l.File == nil {
		return ""
	}
	at := l.File.Position(int(l.Span.Start))
	return fmt.Sprintf("%s:%d:%d", l.File.Name, at.Line, at.Column)
}

// MarshalJSON writes the report for programs.
func (r *Report) MarshalJSON() ([]byte, error) {
	type labels struct {
		Trust      string   `json:"trust"`
		Secrecy    string   `json:"secrecy"`
		Categories []string `json:"categories,omitempty"`
	}
	type step struct {
		Place string `json:"place,omitempty"`
		Text  string `json:"text"`
	}
	type sink struct {
		Call    string   `json:"call,omitempty"`
		Tool    string   `json:"tool,omitempty"`
		Param   string   `json:"param"`
		Verdict Verdict  `json:"verdict"`
		Label   labels   `json:"label"`
		Decides labels   `json:"decides"`
		Wants   string   `json:"wants"`
		Ways    [][]step `json:"ways,omitempty"`
	}
	of := func(l label.Label) labels {
		return labels{r.Policy.Trust[l.Trust], r.Policy.Secrecy[l.Secrecy], l.Categories}
	}
	all := struct {
		Sinks []sink   `json:"sinks"`
		Drops []string `json:"drops,omitempty"`
	}{Sinks: []sink{}}
	for _, s := range r.Sinks {
		x := sink{Tool: s.Tool, Param: s.Param, Verdict: s.Verdict(), Label: of(s.Label), Decides: of(s.Decides), Wants: r.Policy.BoundWords(s.Bound)}
		if s.Call != nil {
			x.Call = s.Call.ID
		}
		for _, way := range s.ways() {
			steps := []step{}
			for _, r := range way {
				steps = append(steps, step{place(r.Loc), r.Message})
			}
			x.Ways = append(x.Ways, steps)
		}
		all.Sinks = append(all.Sinks, x)
	}
	for _, d := range r.Drops {
		all.Drops = append(all.Drops, d.Tool)
	}
	return json.Marshal(all)
}
