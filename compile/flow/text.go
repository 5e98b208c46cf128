package flow

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/tool/label"
)

// Text writes a report for people: for each sink its worst label, its sources, what the policy
// requires and, if that is broken, the path of the value; then what tools endorse and declassify,
// and the rules.
func (r *Report) Text(w io.Writer) error {
	var b display.Builder
	switch {
	case r.Policy.said.Labels && len(r.Sinks()) == 0:
		b.Line("%s has no bound for a param of this plan", r.Policy.Name())
	case r.Policy.said.Name != "":
		b.Line("by %s:", r.Policy.Name())
	}
	for _, s := range r.Sinks() {
		b.Line("%s: %s", s.Name(), s.Verdict())
		b.Line("  may be %s; the policy wants %s", r.Policy.said.Words(s.Worst()), s.Bounds())
		if from := s.from(); from != "" {
			b.Line("  from %s", from)
		}
		for _, way := range s.ways() {
			for _, step := range way {
				b.Line("    %s %s", place(step.Loc), step.Message)
			}
		}
	}
	for _, u := range r.Uses {
		b.Line("%s", u.Words())
	}
	for _, d := range r.Duties {
		b.Line("%s: %s", d.Rule.Text, d.Verdict)
		b.Line("  %s", d.Words())
	}
	return display.Fprint(w, b.Text())
}

// Bounds returns the requirements on the sink in words.
func (s *Sink) Bounds() string {
	var all []string
	for _, w := range s.Wants {
		if !w.Bound.IsZero() {
			all = append(all, s.report.Policy.said.BoundWords(w.Bound))
		}
		if w.In != nil {
			all = append(all, "an element of "+w.In.Text)
		}
		if w.Or != nil {
			all = append(all, "or this: "+w.Or.Text)
		}
	}
	if len(all) == 0 {
		return "anything"
	}
	return strings.Join(slices.Compact(all), ", ")
}

// Worst returns the label that the verdict is about: Decides if the verdict is Decided, and else
// Label.
func (s *Sink) Worst() label.Label {
	if s.Verdict() == Decided {
		return s.Decides()
	}
	return s.Label()
}

// from returns the sources that the verdict is about, in words.
func (s *Sink) from() string {
	sources := s.Sources()
	if s.Verdict() == Decided {
		sources = s.Deciding()
	}
	var all []string
	for i, src := range sources {
		if i == maxShown && len(sources)-i > 1 {
			all = append(all, fmt.Sprintf("%d others", len(sources)-i))
			break
		}
		all = append(all, src.Words(s.report.Policy.said))
	}
	return strings.Join(all, "; ")
}

// maxShown is the maximum number of sources of a sink that are shown to people.
const maxShown = 10

// Words returns the source with its label.
func (src *Source) Words(p *label.Policy) string {
	as := ""
	if src.As != "" {
		as = fmt.Sprintf(", as %q", src.As)
	}
	return fmt.Sprintf("%s (%s%s)", src.Name, p.Words(src.Label), as)
}

// Words returns the use in words.
func (u *Use) Words() string {
	var all []string
	if u.Endorses != "" {
		all = append(all, fmt.Sprintf("endorses what it is given, as %q", u.Endorses))
	}
	if u.Declassifies != "" {
		all = append(all, fmt.Sprintf("declassifies what it is given, as %q", u.Declassifies))
	}
	return fmt.Sprintf("%q %s", u.Tool, strings.Join(all, " and "))
}

// Words returns the calls that the rule is about, and when it is checked.
func (d *Duty) Words() string {
	var ids []string
	for i, c := range d.Calls {
		if i == maxShown && len(d.Calls)-i > 1 {
			ids = append(ids, fmt.Sprintf("%d others", len(d.Calls)-i))
			break
		}
		ids = append(ids, fmt.Sprintf("%q", c.ID))
	}
	calls := strings.Join(ids, ", ")
	switch d.Verdict {
	case Allowed:
		return "holds whatever happens, for " + calls
	case Depends:
		return fmt.Sprintf("checked before %s; a violation: %s", calls, consequence(d.Rule.Violation))
	}
	return "does not hold for " + calls
}

// consequence returns what happens to a call that breaks a rule, in words.
func consequence(v label.Violation) string {
	return [...]string{label.Reject: "the call fails", label.Approve: "a person has to approve the call", label.Warn: "a warning"}[v]
}

// ways returns the path of each fault.
func (s *Sink) ways() (all [][]diag.Related) {
	for _, f := range s.report.Policy.faults(s) {
		all = append(all, related(s.way(&f), nil))
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

// Flows returns one line for each pair of source and sink, each use and each rule, sorted. An
// approval of the plan covers these lines.
func (r *Report) Flows() []string {
	all := []string{}
	for _, s := range r.Sinks() {
		for _, src := range s.Sources() {
			all = append(all, fmt.Sprintf("%s -> %s: %s", src.Words(s.report.Policy.said), s.Name(), s.Verdict()))
		}
	}
	for _, u := range r.Uses {
		all = append(all, u.Words())
	}
	for _, d := range r.Duties {
		all = append(all, fmt.Sprintf("%s: %s", d.Rule.Text, d.Verdict))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// labelJSON is a label for programs.
type labelJSON struct {
	Trust      string   `json:"trust"`
	Secrecy    string   `json:"secrecy"`
	Categories []string `json:"categories,omitempty"`
}

type stepJSON struct {
	Place string `json:"place,omitempty"`
	Text  string `json:"text"`
}

type sourceJSON struct {
	Name  string    `json:"name"`
	As    string    `json:"as,omitempty"`
	Label labelJSON `json:"label"`
}

type sinkJSON struct {
	Call     string       `json:"call,omitempty"`
	Tool     string       `json:"tool,omitempty"`
	Fallback bool         `json:"fallback,omitempty"`
	Undoes   bool         `json:"undoes,omitempty"`
	Param    string       `json:"param"`
	Verdict  Verdict      `json:"verdict"`
	Label    labelJSON    `json:"label"`
	Decides  labelJSON    `json:"decides"`
	Wants    string       `json:"wants"`
	Sources  []sourceJSON `json:"sources,omitempty"`
	Deciding []sourceJSON `json:"deciding,omitempty"`
	Ways     [][]stepJSON `json:"ways,omitempty"`
}

type useJSON struct {
	Tool         string `json:"tool"`
	Endorses     string `json:"endorses,omitempty"`
	Declassifies string `json:"declassifies,omitempty"`
}

type dutyJSON struct {
	Rule      string   `json:"rule"`
	Verdict   Verdict  `json:"verdict"`
	Violation string   `json:"violation"`
	Calls     []string `json:"calls"`
}

type writeJSON struct {
	Call    string       `json:"call"`
	Path    string       `json:"path"`
	Failure bool         `json:"failure,omitempty"`
	Label   labelJSON    `json:"label"`
	Decides labelJSON    `json:"decides"`
	Sources []sourceJSON `json:"sources,omitempty"`
}

// MarshalJSON writes the report for programs.
func (r *Report) MarshalJSON() ([]byte, error) {
	all := struct {
		Policy string      `json:"policy,omitempty"`
		Sinks  []sinkJSON  `json:"sinks"`
		Uses   []useJSON   `json:"uses,omitempty"`
		Rules  []dutyJSON  `json:"rules,omitempty"`
		Writes []writeJSON `json:"writes,omitempty"`
	}{Policy: r.Policy.said.Name, Sinks: []sinkJSON{}}
	for _, s := range r.Sinks() {
		all.Sinks = append(all.Sinks, s.json())
	}
	for _, u := range r.Uses {
		all.Uses = append(all.Uses, useJSON{u.Tool, u.Endorses, u.Declassifies})
	}
	for _, d := range r.Duties {
		x := dutyJSON{Rule: d.Rule.Text, Verdict: d.Verdict, Violation: d.Rule.Violation.String(), Calls: []string{}}
		for _, c := range d.Calls {
			x.Calls = append(x.Calls, c.ID)
		}
		all.Rules = append(all.Rules, x)
	}
	p := r.Policy
	for _, w := range r.Writes {
		all.Writes = append(all.Writes, writeJSON{w.Call.ID, w.Path.String(), w.Failure, p.json(w.Label), p.json(w.Decides), p.sources(w.Sources)})
	}
	return json.Marshal(all)
}

// json returns a label for programs.
func (p *Policy) json(l label.Label) labelJSON {
	return labelJSON{p.said.Trust.Name(l.Trust), p.said.Secrecy.Name(l.Secrecy), l.Categories}
}

// sources returns sources for programs.
func (p *Policy) sources(list []*Source) (all []sourceJSON) {
	for _, src := range list {
		all = append(all, sourceJSON{src.Name, src.As, p.json(src.Label)})
	}
	return all
}

func (s *Sink) json() sinkJSON {
	p := s.report.Policy
	x := sinkJSON{
		Call: idOf(s.Call), Tool: s.Tool, Fallback: s.Fallback, Undoes: s.Undoes, Param: s.Param, Verdict: s.Verdict(), Label: p.json(s.Label()), Decides: p.json(s.Decides()),
		Wants: s.Bounds(), Sources: p.sources(s.Sources()), Deciding: p.sources(s.Deciding()),
	}
	for _, way := range s.ways() {
		steps := []stepJSON{}
		for _, r := range way {
			steps = append(steps, stepJSON{place(r.Loc), r.Message})
		}
		x.Ways = append(x.Ways, steps)
	}
	return x
}
