package flow

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/label"
)

// Options say how a program runs, as far as others can learn something from it. The zero value is
// the default.
type Options struct {
	// GoesOn reports that a failing call does not end the run, unless the plan says otherwise.
	// Calls that need it are skipped, which reveals that it failed.
	GoesOn bool
	// Retries reports that calls without a _retry of their own are tried again when they fail.
	Retries bool
	// Values makes the report include Report.Values.
	Values bool
	// Writes makes the report include Report.Writes.
	Writes bool
	// Ran, if not nil, returns the outcome of each call of a run. Then only what was written
	// counts: the labels are those of that run, and never worse than without Ran.
	Ran Ran
	// Earlier holds what earlier programs of a loop have left on the initial whiteboard.
	Earlier *Earlier
	// Undo returns the undo of the calls of a target; own is the undo that the plan gives, or nil.
	// If Undo is nil, the program decides.
	Undo func(t *compile.Target, own *tool.Undo) *compile.Undoing
	// Undoes reports that the program undoes another one, whose check has decided what its calls
	// may be given: only the rules are checked.
	Undoes bool

	all bool // the report has the params that have no bound, too
}

// A Report shows where information goes in a plan, under one policy.
type Report struct {
	Policy *Policy
	Uses   []*Use  // the tools that endorse or declassify
	Duties []*Duty // the rules that are about calls of the plan

	// Values are the values of the plan's references, by the places of those in the file of the
	// program, and the results of its calls, by the places of the names of their tools; nil unless
	// Options.Values asks for them. The documents that the plan delegates to have none.
	Values map[diag.Span]*Value

	// Writes has what the calls of the plan write, in plan order; nil unless Options.Writes asks
	// for it. The documents that the plan delegates to have none.
	Writes []*Write

	rows   []*row
	every  bool  // params without bounds are sinks, too
	output *Sink // nil if the policy has no bound for it
	sinks  struct {
		sync.Once
		all []*Sink
	}

	vouched map[vouch]*mark      // the lists that calls return
	trusted map[*label.Want]bool // the lists that are trusted enough to endorse their elements
	sources *sources
	longest int  // how many steps the path of a sink may have
	undoes  bool // see Options
	work    int
}

// A Value is a value with the worst label that it may have.
type Value struct {
	Label   label.Label
	Sources []*Source
}

// A Sink is a param of a call that the policy has a bound for, or the output.
type Sink struct {
	Call     *compile.Call // nil: the output
	Tool     string        // the tool that gets the param
	Param    string        // "*" for the scopes of the tool
	Fallback bool          // the tool is the call's fallback
	Undoes   bool          // the tool takes the call, or its fallback, back
	Loc      diag.Loc
	Wants    []*label.Want // the requirements of the policy; all have to hold

	report         *Report
	rules          *toolRules // of the tool; nil for the output
	value, decides *mark
}

// Label returns the worst label that the value may have.
func (s *Sink) Label() label.Label { return s.report.label(s.value) }

// Decides returns the worst label of the values that decide whether the call is made, and which of
// several values it gets.
func (s *Sink) Decides() label.Label { return s.report.label(s.decides) }

// Sources returns the sources of the value.
func (s *Sink) Sources() []*Source { return s.report.sourcesOf(s.value) }

// Deciding returns the sources of the values that Decides is about.
func (s *Sink) Deciding() []*Source { return s.report.sourcesOf(s.decides) }

// A Use is a tool that endorses or declassifies: its results do not take over all of the labels of
// its params.
type Use struct {
	Tool         string
	Endorses     string        // the name under which it endorses; "" if it does not
	Declassifies string        // the name under which it declassifies; "" if it does not
	Call         *compile.Call // the first that calls it
}

// Check follows the labels of a policy through a program and the documents that it delegates to. It
// returns a finding for each violation, with the path from the source to the sink. It takes time
// linear in the program; a document is checked again, up to a bound, if it gets other labels.
func Check(prog *compile.Program, p *Policy, o *Options) (*Report, diag.List) {
	if o == nil {
		o = &Options{}
	}
	a := newAnalysis(prog, p, o)
	r := a.report
	if (p.said.Labels || o.all) && !o.Undoes {
		if o.Values {
			a.values = map[diag.Span]*mark{}
		}
		w := a.root(prog, o.Ran)
		r.rows = a.flows.rows
		a.sources.finish(p)
		r.Values = a.notedValues()
		if o.Writes {
			r.Writes = w.writes()
		}
		r.Uses = a.uses()
		r.trust()
		r.longest = max(minSteps, maxSteps/max(1, a.flows.params))
	}
	r.Duties = a.duties(prog)
	r.work = a.work
	found := &few{count: map[kind]int{}, over: map[kind]int{}, words: map[*step]string{}}
	r.eachSink(func(s *Sink) {
		for _, f := range p.faults(s) {
			found.add(s, &f)
		}
	})
	for _, d := range r.Duties {
		found.list = append(found.list, d.findings()...)
	}
	return r, found.all()
}

func newAnalysis(prog *compile.Program, p *Policy, o *Options) *analysis {
	a := &analysis{
		policy: p, goesOn: o.GoesOn, every: o.all, undoBy: o.Undo, undos: map[*tool.Undo][]lang.Member{}, retries: o.Retries, rules: map[*compile.Target]*toolRules{}, docs: map[*compile.Program]*contexts{},
		sources: &sources{byKey: map[string]int{}}, origins: map[*tree]*origin{}, wholes: map[*tree]*origin{}, joins: map[[2]*origin]*origin{}, flows: sinks{byKey: map[sinkKey]*row{}},
		vouched: map[vouch]*mark{}, earlier: o.Earlier,
	}
	a.report = &Report{Policy: p, vouched: a.vouched, sources: a.sources, every: o.all, undoes: o.Undoes}
	a.plan = p.worst(p.plan, p.seenBy(prog))
	return a
}

// root follows the labels through the plan itself.
func (a *analysis) root(prog *compile.Program, ran Ran) *walk {
	w := a.walk(prog, board{})
	w.ran = ran
	w.board.given, w.whole = w.givenTo, true
	if !prog.Template { // an instance may have something else there
		w.board.always = w.isInitial
	}
	out := w.run()
	if len(a.policy.said.Output) > 0 {
		s := &Sink{Param: "output", Loc: diag.Loc{File: prog.File()}, report: a.report, value: out.val.all, decides: a.join(out.wrote, out.shaped)}
		for i := range a.policy.said.Output {
			s.Wants = append(s.Wants, &a.policy.said.Output[i])
		}
		if prog.Output != nil && !prog.Document.Output.IsZero() {
			s.Loc = prog.Document.Output.Loc()
		}
		a.report.output = s
	}
	return w
}

// givenTo returns the value that the whiteboard holds at a path at the start, and the mark of the
// values that decide whether it is there.
func (w *walk) givenTo(path state.Path) (*val, *mark) {
	holds := w.prog.Holds(path)
	if given := w.prog.Initial[path[0].Name]; !holds && (given == nil || string(given) == "{}") {
		return nothing, nil
	}
	kind, _, _ := compile.CutLayer(path[0].Name)
	v := w.labelled(w.policy.given.member(kind), "†"+kind, &step{loc: diag.Loc{File: w.prog.File()}, verb: isGiven, what: path}, nil)
	v, shape := w.at(v, path[1:])
	if saysKind(w.prog, kind) && w.prog.Seen == compile.SeenNothing { // else the author was given the messages
		shape = w.join(shape, w.says) // the plan says what contains it, too
		if saysInitial(w.prog, path) {
			v = w.either(v, w.leaf(w.says))
		}
	}
	was, decided := w.writtenEarlier(path)
	v, shape = w.either(v, was), w.join(shape, decided)
	if !holds { // nothing is there, which what is around it decides
		v = nothing
	}
	return v, shape
}

// isInitial reports whether the whiteboard of the plan holds a path of names at the start.
func (w *walk) isInitial(path state.Path) bool {
	v := w.prog.Initial[path[0].Name]
	for _, s := range path[1:] {
		var ok bool
		if v, ok = memberAt(v, []string{s.Name}); !ok || s.Kind != state.Name {
			return false
		}
	}
	return v != nil
}

// saysKind reports whether a message of the document is of a kind.
func saysKind(prog *compile.Program, kind string) bool {
	return slices.ContainsFunc(prog.Document.Messages, func(m lang.Message) bool { return m.Kind == kind })
}

// saysInitial reports whether a message of the document sets the value that the whiteboard has at a
// path at the start, or a part of it.
func saysInitial(prog *compile.Program, path state.Path) bool {
	kind, _, _ := compile.CutLayer(path[0].Name)
	for i := range prog.Document.Messages {
		m := &prog.Document.Messages[i]
		if m.Kind != kind {
			continue
		}
		at, steps := m.Payload, path[1:]
		if at.IsZero() && len(steps) > 0 && steps[0].Kind == state.Name {
			for _, member := range m.Members {
				if member.Name == steps[0].Name {
					at, steps = member.Value, steps[1:]
					break
				}
			}
			if at.IsZero() {
				continue
			}
		}
		if holdsAt(at, steps) {
			return true
		}
	}
	return false
}

// holdsAt reports whether a value has something at a path, or on the way to it.
func holdsAt(at lang.Node, path state.Path) bool {
	for _, step := range path {
		if at.Kind() != lang.Object || step.Kind != state.Name {
			return true
		}
		member, ok := at.Member(step.Name)
		if !ok {
			return false
		}
		at = member.Value
	}
	return true
}

// inputOf returns what rules, lists and conditions read as the input: what was given to the run
// and, if the policy trusts plans as much as that, what the plan says of its input itself.
func (p *Policy) inputOf(prog *compile.Program) json.RawMessage {
	if prog.Seen != compile.SeenNothing { // its author has not written the messages
		return prog.Initial["input"]
	}
	given := p.label(p.given.member("input").worst(p))
	if p.said.AdmitsTrust(label.Bound{HasTrust: true, Trust: given.Trust}, p.label(p.plan)) {
		return prog.Initial["input"]
	}
	return prog.Given("input")
}

// seenBy returns the label of everything that the author of a program has seen.
func (p *Policy) seenBy(prog *compile.Program) lab {
	seen := p.best
	if prog.Seen >= compile.SeenBoard {
		for name, value := range prog.Initial {
			if string(value) != "{}" {
				kind, _, _ := compile.CutLayer(name)
				seen = p.worst(seen, p.given.member(kind).worst(p))
			}
		}
	}
	if prog.Seen >= compile.SeenResults {
		seen = p.worst(seen, p.lab(p.said.OfUnknown()))
		for i := range p.said.Tools {
			if g := p.said.Tools[i].Gives; g != nil {
				seen = p.worst(seen, p.lab(*g))
			}
			for _, part := range p.said.Tools[i].Parts {
				seen = p.worst(seen, p.lab(part.Label))
			}
		}
	}
	return seen
}

// worst returns the join of all labels of a tree.
func (t *tree) worst(p *Policy) lab {
	l := t.own
	for _, b := range t.members {
		l = p.worst(l, b.tree.worst(p))
	}
	return l
}

// sinks collects the params of calls that may have bounds.
type sinks struct {
	byKey  map[sinkKey]*row // of calls in documents, by keys without a param
	rows   []*row
	params int // of all rows
	made   block[row]
	uses   map[*toolRules]*compile.Call
}

// row holds what one call gives to a tool.
type row struct {
	key     sinkKey // without a param
	rules   *toolRules
	params  []param
	decides *mark
}

type sinkKey struct {
	call     *compile.Call
	param    string
	fallback bool
	undo     *compile.Target // of what takes the call back; nil for the call itself
}

// flow records the sinks of a call and of its fallback.
func (w *walk) flow(t *taken) {
	c := t.call
	if c.Target == nil || c.Rare != nil && c.Result != nil {
		return
	}
	w.sink(sinkKey{call: c}, c.Target, t.params, t.occurs)
	if c.Rare != nil && c.Fallback != nil && c.Fallback.Target != nil {
		w.sink(sinkKey{call: c, fallback: true}, c.Fallback.Target, t.fallback.params, w.fallsBack(t))
	}
}

// fallsBack returns the mark of the values that decide whether the fallback of a call is made.
func (w *walk) fallsBack(t *taken) *mark {
	occurs := w.join(w.join(t.occurs, w.failing(t, t.first)), t.fallback.wrote)
	if t.survives {
		occurs = w.join(occurs, t.fallback.shaped)
	}
	return occurs
}

// sink records the params of a call of a target, if any may have requirements. The key is that of
// the sinks, without the name of a param.
func (w *walk) sink(key sinkKey, t *compile.Target, params []param, decides *mark) {
	r := w.rulesOf(t)
	if r.endorses != "" || r.declassifies != "" {
		w.flows.use(r, key.call)
	}
	if !r.bounds && !w.every {
		return
	}
	if !w.whole { // a document may get other labels in each of its runs
		if x := w.flows.byKey[key]; x != nil {
			x.params = slices.Clone(x.params)
			for i := range x.params {
				x.params[i].val = w.leaf(w.join(x.params[i].val.all, params[i].val.all))
			}
			x.decides = w.join(x.decides, decides)
			return
		}
	}
	x := w.flows.made.next()
	*x = row{key, r, params, decides}
	w.flows.rows, w.flows.params = append(w.flows.rows, x), w.flows.params+len(params)
	if !w.whole {
		w.flows.byKey[key] = x
	}
}

// eachSink calls f with each sink, in the order of Sinks. f must not keep it.
func (r *Report) eachSink(f func(s *Sink)) {
	s := &Sink{}
	for _, x := range r.rows {
		for i := range x.params {
			p := &x.params[i]
			wants := x.rules.wantsOf(r.Policy.said, p.name)
			if len(wants) == 0 && !r.every {
				continue
			}
			*s = Sink{
				Call: x.key.call, Tool: x.rules.name, Param: p.name, Fallback: x.key.fallback, Undoes: x.key.undo != nil, Loc: p.loc,
				Wants: wants, report: r, rules: x.rules, value: p.val.all, decides: x.decides,
			}
			f(s)
		}
	}
	if r.output != nil {
		f(r.output)
	}
}

// Sinks returns the params with bounds, in plan order, then the output.
func (r *Report) Sinks() []*Sink {
	r.sinks.Do(func() {
		r.eachSink(func(s *Sink) {
			kept := *s
			r.sinks.all = append(r.sinks.all, &kept)
		})
	})
	return r.sinks.all
}

// use records that a call uses a tool that endorses or declassifies.
func (s *sinks) use(r *toolRules, c *compile.Call) {
	if s.uses == nil {
		s.uses = map[*toolRules]*compile.Call{}
	}
	if s.uses[r] == nil {
		s.uses[r] = c
	}
}

// label returns the label of a mark.
func (r *Report) label(m *mark) label.Label { return r.Policy.label(r.Policy.labelOf(m)) }

// sourcesOf returns the sources of a mark, by name.
func (r *Report) sourcesOf(m *mark) []*Source {
	if m == nil {
		return nil
	}
	return r.sources.of(m.from)
}

// notedValues returns the values that were noted; nil if none are asked for.
func (a *analysis) notedValues() map[diag.Span]*Value {
	if a.values == nil {
		return nil
	}
	all := map[diag.Span]*Value{}
	for at, m := range a.values {
		all[at] = &Value{a.report.label(m), a.report.sourcesOf(m)}
	}
	return all
}

// trust finds the lists that are trusted enough to endorse their elements.
func (r *Report) trust() {
	r.trusted = map[*label.Want]bool{}
	for _, l := range r.Policy.lists {
		r.trusted[l.want] = l.ofInput
	}
	for key := range r.vouched {
		if r.vouches(key.list, key.call) {
			r.trusted[key.list.want] = true
		}
	}
}

// vouches reports whether a list that a call returns is trusted enough to endorse its elements.
func (r *Report) vouches(l *list, c *compile.Call) bool {
	m, ok := r.vouched[vouch{l, c}]
	return ok && !r.Policy.distrusts(l.want, r.Policy.labelOf(m))
}

// uses returns the tools that endorse or declassify, by name.
func (a *analysis) uses() (all []*Use) {
	for r, c := range a.flows.uses {
		all = append(all, &Use{r.name, r.endorses, r.declassifies, c})
	}
	slices.SortFunc(all, func(a, b *Use) int {
		return cmp.Or(strings.Compare(a.Tool, b.Tool), strings.Compare(a.Endorses, b.Endorses), strings.Compare(a.Declassifies, b.Declassifies))
	})
	return all
}

func compareNames(a, b *Source) int {
	return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.As, b.As))
}
