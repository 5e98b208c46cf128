package law

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
)

// A reading is what a plan means by the reference. It reads like plan-language §5
// and §6, in their order, and knows nothing of how compile and exec do the same.
type reading struct {
	*world
	list    []*step
	order   []*step // plan order; where there is a cycle, as far as it goes
	output  lang.Node
	since   map[diag.Span]state.Place // by where the reference stands
	nothing []string                  // the calls with a reference to nothing (PLC302)
	log     []state.Entry

	fromNothing bool // there was a reader who starts from nothing
}

// A world is what is given to a plan.
type world struct {
	initial  map[string]json.RawMessage
	strategy string // skip or continue; in a run inside the run also abort
	inner    string // the strategy of those
	asking   *asking
	// documents are those that are delegated to, by name.
	documents map[string]*document
	lenient   bool
	// attempt calls a tool for the nth time.
	attempt func(call, tool string, params, scopes json.RawMessage, n int) (value json.RawMessage, outcome string, err *failure)
	// outcomes reports whether the definition of a tool lists its outcomes.
	outcomes func(tool string) bool
	// allows reports whether the schema of a kind allows a value for it.
	allows func(kind string, value json.RawMessage) bool
	// meets reports whether a value meets a schema.
	meets func(schema, value json.RawMessage) bool
}

type failure struct {
	object    json.RawMessage // of a run inside the run, for onItemFailure
	final     bool            // of one: it is not tried again
	code      string
	permanent bool // not retried
	uncertain bool // its answer was lost: not retried, no fallback
}

// newReading does what comes before a run: needs, plan order, bindings.
func newReading(doc *lang.Document, w *world) *reading {
	r := &reading{world: w, since: map[diag.Span]state.Place{}, output: doc.Output}
	for i := range doc.Calls {
		r.list = append(r.list, newStep(&doc.Calls[i]))
	}
	for _, s := range r.list {
		r.need(s)
	}
	for next := r.next(); next != nil; next = r.next() {
		r.order = append(r.order, next)
		next.place = state.Place(len(r.order))
		r.bind(next.reads, next.place)
		next.certain = r.isCertain(next)
	}
	end := &step{index: len(r.list), reads: readsOf(doc.Output), Call: &lang.Call{ID: "output"}}
	r.need(end)
	r.bind(end.reads, r.end())
	return r
}

// end is the place behind every call.
func (r *reading) end() state.Place { return state.Place(len(r.order) + 1) }

// need is §5, rule 1.
func (r *reading) need(s *step) {
	for _, rd := range s.reads {
		var earlier, later []*step
		for _, o := range r.list {
			switch {
			case o.index < s.index && o.mayWrite(rd.path()):
				earlier = append(earlier, o)
			case o.index > s.index && o.mayWrite(rd.path()):
				later = append(later, o)
			}
		}
		switch {
		case rd.or != nil && r.looksForward(s, rd.or):
			s.needs = append(s.needs, later...)
		case rd.or != nil || len(earlier) > 0 || r.held(rd.path()):
			s.needs = append(s.needs, earlier...)
		case len(later) > 0:
			s.needs = append(s.needs, later...)
		case s.mayWrite(rd.path()):
			s.needs = append(s.needs, s)
		case !rd.optional:
			r.nothing = append(r.nothing, s.ID)
		}
	}
}

// looksForward reports that nothing in an || has an earlier writer, is held or is a
// literal.
func (r *reading) looksForward(s *step, or *lang.Expr) bool {
	switch or.Op {
	case lang.OpLiteral:
		return false
	case lang.OpRef:
		p := pathOf(or)
		return !r.held(p) && !slices.ContainsFunc(r.list[:s.index], func(o *step) bool { return o.mayWrite(p) })
	}
	return !slices.ContainsFunc(or.Args, func(a *lang.Expr) bool { return !r.looksForward(s, a) })
}

// held reports whether the initial whiteboard holds a path.
func (r *reading) held(p state.Path) bool {
	_, ok := at(r.initial[p[0].Name], p[1:])
	return ok
}

// next is §5, rule 2: the earliest call of the list that can come next.
func (r *reading) next() *step {
	waits := func(o *step) bool { return o.place == 0 }
	for _, s := range r.list {
		if s.place == 0 && !slices.ContainsFunc(s.needs, waits) && !slices.ContainsFunc(r.dependencies(s), waits) {
			return s
		}
	}
	return nil
}

// dependencies are the calls that _dependsOn names.
func (r *reading) dependencies(s *step) (on []*step) {
	for _, name := range s.rest.DependsOn {
		on = append(on, r.list[slices.IndexFunc(r.list, func(o *step) bool { return o.ID == name.Name })])
	}
	return on
}

// bind is §5, rule 3: a binding goes back to the last write that is certain, covers
// the path and sets it, or to the initial whiteboard, 0.
func (r *reading) bind(reads []read, before state.Place) {
	for _, rd := range reads {
		for _, o := range r.order[:before-1] {
			covers := func(w state.Path) bool { return w.Covers(rd.path()) }
			if o.certain && o.method == state.Set && slices.ContainsFunc(slices.Concat(o.alternatives...), covers) {
				r.since[rd.ref.Span] = o.place
			}
		}
	}
}

func (r *reading) isCertain(s *step) bool {
	open := func(rd read) bool {
		return rd.or == nil && !rd.aside && !r.held(rd.path()) && r.since[rd.ref.Span] == 0
	}
	return s.rest.When == nil && len(s.alternatives) == 1 && !slices.ContainsFunc(s.reads, open)
}

// run runs the calls one at a time in plan order.
func (r *reading) run() {
	for _, s := range r.order {
		s.status, s.byFailure = r.step(s)
		if r.strategy == "abort" && s.status == "failed" && s.byFailure && s.rest.OnFailure == "" {
			r.asking.aside++ // what stands behind it may have been on its way
			r.strategy = "skip"
		}
	}
}

// step runs a call. byFailure reports that it failed unhandled, or was skipped
// because of a failure.
func (r *reading) step(s *step) (status string, byFailure bool) {
	if skip, byFailure := r.skips(s); skip {
		return "skipped", byFailure
	}
	value, outcome, attempts, err := r.call(s)
	if err == nil {
		err = r.write(s, value, outcome)
	}
	if err == nil {
		return "completed", false
	}
	s.err, s.attempts = err, attempts
	if s.handled = r.writeError(s, attempts, err); s.handled {
		return "failed", false
	}
	return map[string]string{"skip": "skipped", "continue": "failed", "abort": "failed"}[cmp.Or(s.rest.OnFailure, r.strategy)], true
}

// skips reports whether a call is skipped: by _dependsOn, by _when, or because a
// read that it needs can't come (§2; §5, Branches).
func (r *reading) skips(s *step) (skip, byFailure bool) {
	if slices.ContainsFunc(r.dependencies(s), func(o *step) bool { return o.byFailure }) {
		return true, true
	}
	if s.rest.When != nil {
		v := r.eval(s.rest.When, s.place)
		if !v.present() || string(v.json) == "null" || string(v.json) == "false" {
			return true, false
		}
	}
	params := r.params(s.Params, s.place)
	return params.gone, params.byFailure
}

// call is execution §2: attempts, retries, fallback.
func (r *reading) call(s *step) (value json.RawMessage, outcome string, attempts int, err *failure) {
	params := r.params(s.Params, s.place)
	if params.missing {
		return nil, "", 0, &failure{code: "missing"}
	}
	if s.rest.HasOutput {
		return s.rest.Output.AppendJSON(nil), "", 0, nil
	}
	retry := cmp.Or(s.rest.Retry, &lang.Retry{})
	for again := true; again; {
		attempts++
		value, outcome, err = r.perform(s, params.json, attempts)
		again = err != nil && !err.permanent && !err.uncertain && attempts <= retry.Max &&
			(len(retry.On) == 0 || slices.Contains(retry.On, err.code))
	}
	if f := s.rest.Fallback; err != nil && !err.uncertain && f != nil {
		if f.Own {
			params = r.params(f.Params, s.place)
		}
		if params.present() {
			if v, o, failed := r.attempt(s.ID, f.Tool, params.json, r.scopes(s), 1); failed == nil {
				return v, o, attempts, nil
			}
		}
	}
	return value, outcome, attempts, err
}

// write is §4, rules 1 and 2: the outcome that the tool chose, else the first.
func (r *reading) write(s *step, value json.RawMessage, outcome string) *failure {
	chosen, value := s.chosen(value, outcome)
	if chosen < 0 {
		return &failure{code: "outcome"}
	}
	if s.Tool == "forEach" && chosen == 0 && value[0] != '[' { // its fallback's
		return &failure{code: "result"}
	}
	if !s.rest.Expect.IsZero() && !r.meets(s.rest.Expect.AppendJSON(nil), value) {
		return &failure{code: "unexpected"}
	}
	if len(s.alternatives) == 0 {
		return nil
	}
	if !r.append(s.place, s.alternatives[chosen], s.method, value) {
		return &failure{code: "write"}
	}
	s.outcome = s.spelled[chosen]
	return nil
}

// alternative is the one that a name means: the whole path, its last name or the
// index.
func (s *step) alternative(name string) int {
	found := -1
	for i, paths := range s.alternatives {
		last := func(p state.Path) bool { return p[len(p)-1].Name == name }
		if s.spelled[i] != name && strconv.Itoa(i) != name && !slices.ContainsFunc(paths, last) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}

// writeError is §4, rule 3. It reports whether the failure is handled.
func (r *reading) writeError(s *step, attempts int, err *failure) bool {
	to, spelled := []state.Path{s.errorPath}, ""
	if s.errorPath == nil {
		last := len(s.alternatives) - 1
		if last < 1 || r.outcomes(s.Tool) || s.casesLast() || err.code == "condition" {
			return false
		}
		to, spelled = s.alternatives[last], s.spelled[last]
	}
	object := fmt.Sprintf(`{"code":%q,"message":"","tool":%q,"call":%q,"attempts":%d}`, err.code, s.Tool, s.ID, attempts)
	if !r.append(s.place, to, state.Set, json.RawMessage(object)) {
		return false
	}
	s.outcome = spelled
	return true
}

// append adds a write to the log, of all the paths or, if one does not take it, of
// none.
func (r *reading) append(place state.Place, to []state.Path, method state.Method, value json.RawMessage) bool {
	n := len(r.log)
	for _, p := range to {
		doc, err := state.Apply(r.fold(p[0].Name, r.end()), p[1:], method, value)
		if err != nil || !r.allows(p[0].Name, doc) {
			r.log = r.log[:n]
			return false
		}
		r.log = append(r.log, state.Entry{Place: place, Path: p, Method: method, Value: value})
	}
	return true
}

// fold is a kind as a place sees it: the writes before it, in order (§6).
func (r *reading) fold(kind string, before state.Place) json.RawMessage {
	doc := r.initial[kind]
	for _, e := range r.log {
		if e.Path[0].Name == kind && e.Place < before {
			doc, _ = state.Apply(doc, e.Path[1:], e.Method, e.Value) // append has tried it
		}
	}
	return doc
}

// A value is what an expression gives. What is gone can't come; what is missing
// could, and did not.
type value struct {
	json          json.RawMessage
	missing, gone bool
	byFailure     bool // it is gone because of a failure
}

func (v value) present() bool { return !v.missing && !v.gone }

// and is b where a is present, and what keeps both from being present.
func (a value) and(b value) value {
	return value{b.json, a.missing || b.missing, a.gone || b.gone, a.byFailure || b.byFailure}
}

// eval is §3.
func (r *reading) eval(e *lang.Expr, place state.Place) (v value) {
	switch e.Op {
	case lang.OpLiteral:
		return value{json: e.Value}
	case lang.OpRef:
		return r.resolve(e, place)
	case lang.OpAnd:
		for _, a := range e.Args {
			v = v.and(r.eval(a, place))
		}
		return v
	}
	v.gone = true
	for _, a := range e.Args {
		o := r.eval(a, place)
		if o.present() {
			return o
		}
		v = value{gone: v.gone && o.gone, missing: v.missing || !o.gone, byFailure: v.byFailure || o.byFailure}
	}
	return v
}

// resolve is what a reference finds (§5, Branches; §6).
func (r *reading) resolve(ref *lang.Expr, place state.Place) value {
	p, since := pathOf(ref), r.since[ref.Span]
	wrote := func(e state.Entry) bool { return e.Place >= since && e.Place < place && e.Path.Overlaps(p) }
	if !slices.ContainsFunc(r.log, wrote) && (since > 0 || !r.held(p)) {
		failed := func(o *step) bool { return o.place >= since && o.byFailure && o.mayWrite(p) }
		return value{gone: true, byFailure: slices.ContainsFunc(r.order[:place-1], failed)}
	}
	ended := func(e state.Entry) bool { return e.Place == since && e.Path.Covers(p) && e.Method == state.Set }
	if since > 0 && !slices.ContainsFunc(r.log, ended) {
		r.fromNothing = true
		v, ok := r.board().Read(p, since, place)
		return value{json: v, missing: !ok}
	}
	v, ok := at(r.fold(p[0].Name, place), p[1:])
	return value{json: v, missing: !ok}
}

// board is the log as a whiteboard. Its doc alone says what of a list is seen by a
// reader who starts from nothing, since the write that ends its binding failed.
func (r *reading) board() *state.Whiteboard {
	board, err := state.New(r.initial)
	for _, e := range r.log {
		err = cmp.Or(err, board.Write(e.Place, e.Path, e.Method, e.Value))
	}
	if err != nil {
		panic(err) // append has tried it
	}
	return board
}
