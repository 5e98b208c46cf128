package law

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
)

// A reading is what a plan means by the reference: the calls in the order of the
// list, the same in plan order, and the log of writes that were made.
type reading struct {
	world   world
	initial map[string]json.RawMessage
	list    []*step
	order   []*step // plan order; of a cycle as far as it goes
	log     []state.Entry
	since   map[*lang.Expr]state.Place // where the binding of a reference ends, 0 at the initial whiteboard
	nothing []string                   // calls with a reference to nothing (PLC302)
}

// The world is what a reading needs to know of tools.
type world interface {
	// Attempt is one attempt of a call. An attempt whose answer was lost is uncertain.
	Attempt(call, tool string, params, scopes json.RawMessage, n int) (value json.RawMessage, outcome string, err *failure)
	HasOutcomes(tool string) bool
}

type failure struct {
	code                 string
	permanent, uncertain bool
}

// A step is a call, what it reads and writes, and what became of it.
type step struct {
	*lang.Call
	rest      lang.Rest
	index     int
	place     state.Place
	needs     []*step // for data
	reads     []read
	alts      [][]state.Path
	spelled   []string // the alternatives
	errorPath state.Path
	method    state.Method
	certain   bool

	ran       bool // the tool was called
	status    string
	handled   bool
	outcome   string
	byFailure bool // failed unhandled, or skipped because of a failure
}

// A read is a reference of a call. or is the outermost || that it stands in. A soft
// one may be to nothing.
type read struct {
	ref, or *lang.Expr
	soft    bool
}

func path(kind string, below []lang.Segment) state.Path {
	p := state.Path{{Name: kind}}
	for _, s := range below {
		kind := map[lang.SegmentKind]state.SegmentKind{lang.Named: state.Name, lang.Number: state.Either, lang.Index: state.Index, lang.Star: state.Star}[s.Kind]
		p = append(p, state.Segment{Kind: kind, Name: s.Name, Index: s.Index})
	}
	return p
}

func pathOf(e *lang.Expr) state.Path { return path(e.Kind, e.Path) }

// references are those at and below e; or is the || around e.
func references(e, or *lang.Expr, soft bool) []read {
	if e.Op == lang.OpRef {
		return []read{{e, or, soft || or != nil}}
	}
	if e.Op == lang.OpOr && or == nil {
		or = e
	}
	var rs []read
	for _, a := range e.Args {
		rs = append(rs, references(a, or, soft)...)
	}
	return rs
}

func readsOf(n lang.Node) (rs []read) {
	for _, text := range n.Texts() {
		for _, part := range text.Parts {
			if part.Expr != nil {
				rs = append(rs, references(part.Expr, nil, false)...)
			}
		}
	}
	return rs
}

// newReading does §5 as far as it goes before anything runs: needs, plan order,
// bindings.
func newReading(doc *lang.Document, initial map[string]json.RawMessage, w world) *reading {
	r := &reading{world: w, initial: initial, since: map[*lang.Expr]state.Place{}}
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
	return r
}

func newStep(c *lang.Call) *step {
	s := &step{Call: c, index: c.Index}
	if c.Rest != nil {
		s.rest = *c.Rest
	}
	for _, m := range c.Params {
		s.reads = append(s.reads, readsOf(m.Value)...)
	}
	if s.rest.When != nil {
		s.reads = append(s.reads, references(s.rest.When, nil, true)...)
	}
	for _, scope := range s.rest.Scopes {
		s.reads = append(s.reads, references(scope.Ref, nil, true)...)
	}
	if c.OutputPath != nil {
		for _, a := range c.OutputPath.Alternatives {
			var ps []state.Path
			var names []string
			for _, e := range a.Paths {
				ps, names = append(ps, pathOf(e)), append(names, e.String())
			}
			s.alts, s.spelled = append(s.alts, ps), append(s.spelled, strings.Join(names, " && "))
		}
	}
	if s.rest.ErrorPath != nil {
		s.errorPath = pathOf(s.rest.ErrorPath.Alternatives[0].Paths[0])
	}
	s.method = state.Method(max(0, slices.Index([]string{"set", "merge", "assign", "push", "concat"}, c.Method)))
	return s
}

// writes are the paths that a call may write.
func (s *step) writes() []state.Path {
	ps := slices.Concat(s.alts...)
	if s.errorPath != nil {
		ps = append(ps, s.errorPath)
	}
	return ps
}

func (s *step) mayWrite(p state.Path) bool { return slices.ContainsFunc(s.writes(), p.Overlaps) }

func (r *reading) held(p state.Path) bool {
	_, ok := at(r.initial[p[0].Name], p[1:])
	return ok
}

// need is §5, rule 1.
func (r *reading) need(s *step) {
	for _, rd := range s.reads {
		p := pathOf(rd.ref)
		var earlier, later []*step
		for _, o := range r.list {
			switch {
			case o.index < s.index && o.mayWrite(p):
				earlier = append(earlier, o)
			case o.index > s.index && o.mayWrite(p):
				later = append(later, o)
			}
		}
		switch {
		case rd.or != nil && r.looksForward(s, rd.or):
			s.needs = append(s.needs, later...)
		case rd.or != nil || len(earlier) > 0 || r.held(p):
			s.needs = append(s.needs, earlier...)
		case len(later) > 0:
			s.needs = append(s.needs, later...)
		case s.mayWrite(p):
			s.needs = append(s.needs, s)
		case !rd.soft:
			r.nothing = append(r.nothing, s.ID)
		}
	}
}

// looksForward reports that nothing of an || has an earlier writer, is held or is
// a literal.
func (r *reading) looksForward(s *step, or *lang.Expr) bool {
	if or.Op == lang.OpLiteral {
		return false
	}
	if or.Op == lang.OpRef {
		p := pathOf(or)
		return !r.held(p) && !slices.ContainsFunc(r.list[:s.index], func(o *step) bool { return o.mayWrite(p) })
	}
	return !slices.ContainsFunc(or.Args, func(a *lang.Expr) bool { return !r.looksForward(s, a) })
}

// next is §5, rule 2: the earliest call of the list that can come next.
func (r *reading) next() *step {
	for _, s := range r.list {
		waits := slices.ContainsFunc(s.needs, func(o *step) bool { return o.place == 0 }) ||
			slices.ContainsFunc(s.dependencies(r), func(o *step) bool { return o.place == 0 })
		if s.place == 0 && !waits {
			return s
		}
	}
	return nil
}

func (s *step) dependencies(r *reading) (on []*step) {
	for _, name := range s.rest.DependsOn {
		on = append(on, r.list[slices.IndexFunc(r.list, func(o *step) bool { return o.ID == name.Name })])
	}
	return on
}

// bind is §5, rule 3: it finds the last certain write that covers each path.
func (r *reading) bind(reads []read, before state.Place) {
	for _, rd := range reads {
		for _, o := range r.order[:before-1] {
			covers := slices.ContainsFunc(slices.Concat(o.alts...), func(w state.Path) bool { return w.Covers(pathOf(rd.ref)) })
			if o.certain && o.method == state.Set && covers {
				r.since[rd.ref] = o.place
			}
		}
	}
}

func (r *reading) isCertain(s *step) bool {
	return s.rest.When == nil && len(s.alts) == 1 && !slices.ContainsFunc(s.reads, func(rd read) bool {
		return rd.or == nil && !r.held(pathOf(rd.ref)) && r.since[rd.ref] == 0
	})
}

// run runs the calls one at a time in plan order.
func (r *reading) run(strategy string) {
	for _, s := range r.order {
		if cause, byFailure := r.skips(s); cause {
			s.status, s.byFailure = "skipped", byFailure
			continue
		}
		value, outcome, attempts, err := r.call(s)
		if err == nil {
			err = r.write(s, value, outcome)
		}
		if err == nil {
			s.status = "completed"
			continue
		}
		if s.handled = r.writeError(s, attempts, err); s.handled {
			s.status = "failed"
			continue
		}
		s.byFailure = true
		s.status = map[string]string{"skip": "skipped", "continue": "failed"}[cmp.Or(s.rest.OnFailure, strategy)]
	}
}

// skips reports whether a call is skipped: by _dependsOn, by _when, or because a
// read that it needs can't come.
func (r *reading) skips(s *step) (skip, byFailure bool) {
	for _, o := range s.dependencies(r) {
		if o.byFailure {
			return true, true
		}
	}
	if s.rest.When != nil {
		v := r.eval(s.rest.When, s.place)
		if !v.present() || string(v.json) == "null" || string(v.json) == "false" {
			return true, v.byFailure
		}
	}
	_, gone := r.params(s)
	return gone.gone, gone.byFailure
}

// call runs a call's tool, with retries and fallback (execution §2).
func (r *reading) call(s *step) (value json.RawMessage, outcome string, attempts int, err *failure) {
	if s.rest.HasOutput {
		return s.rest.Output.AppendJSON(nil), "", 0, nil
	}
	params, found := r.params(s)
	if found.missing {
		return nil, "", 0, &failure{code: "missing"}
	}
	scopes := r.scopes(s)
	retry := lang.Retry{}
	if s.rest.Retry != nil {
		retry = *s.rest.Retry
	}
	s.ran = true
	for n := 1; ; n++ {
		value, outcome, err = r.world.Attempt(s.ID, s.Tool, params, scopes, n)
		again := err != nil && !err.permanent && !err.uncertain && (len(retry.On) == 0 || slices.Contains(retry.On, err.code))
		if !again || n > retry.Max {
			attempts = n
			break
		}
	}
	if f := s.rest.Fallback; err != nil && !err.uncertain && f != nil {
		value, outcome, err = r.world.Attempt(s.ID, f.Tool, params, scopes, attempts+1)
	}
	return value, outcome, attempts, err
}

// write is §4: the outcome that the tool chose, else the first.
func (r *reading) write(s *step, value json.RawMessage, outcome string) *failure {
	if len(s.alts) == 0 {
		return nil
	}
	chosen := 0
	if len(s.alts) > 1 {
		var said struct {
			Outcome *string         `json:"_outcome"`
			Value   json.RawMessage `json:"_value"`
		}
		if outcome == "" && json.Unmarshal(value, &said) == nil && said.Outcome != nil {
			outcome, value = *said.Outcome, said.Value
		}
		if outcome != "" {
			if chosen = s.alternative(outcome); chosen < 0 {
				return &failure{code: "outcome"}
			}
		}
	}
	s.outcome = s.spelled[chosen]
	if !r.append(s.place, s.alts[chosen], s.method, value) {
		s.outcome = ""
		return &failure{code: "write"}
	}
	return nil
}

// alternative is the one that a name means: the whole path, its last name or the
// index.
func (s *step) alternative(name string) int {
	var is []int
	for i, ps := range s.alts {
		last := func(p state.Path) bool { return p[len(p)-1].Name == name }
		if s.spelled[i] == name || strconv.Itoa(i) == name || slices.ContainsFunc(ps, last) {
			is = append(is, i)
		}
	}
	if len(is) != 1 {
		return -1
	}
	return is[0]
}

// writeError is §4, rule 3. It reports whether the failure is handled.
func (r *reading) writeError(s *step, attempts int, err *failure) bool {
	to, outcome := []state.Path{s.errorPath}, ""
	switch {
	case s.errorPath != nil:
	case len(s.alts) > 1 && !r.world.HasOutcomes(s.Tool):
		to, outcome = s.alts[len(s.alts)-1], s.spelled[len(s.alts)-1]
	default:
		return false
	}
	object := fmt.Sprintf(`{"code":%q,"message":"","tool":%q,"call":%q,"attempts":%d}`, err.code, s.Tool, s.ID, attempts)
	if !r.append(s.place, to, state.Set, json.RawMessage(object)) {
		return false
	}
	s.outcome = outcome
	return true
}

// append adds a write to the log, of all the paths or, if one does not take it, of
// none.
func (r *reading) append(at state.Place, to []state.Path, method state.Method, value json.RawMessage) bool {
	n := len(r.log)
	for _, p := range to {
		if _, err := state.Apply(r.fold(p[0].Name, 0, state.End), p[1:], method, value); err != nil {
			r.log = r.log[:n]
			return false
		}
		r.log = append(r.log, state.Entry{Place: at, Path: p, Method: method, Value: value})
	}
	return true
}

// fold is a kind as the writes in [since, before) make it, from nothing if since is
// not 0. A write that finds nothing to work on is none.
func (r *reading) fold(kind string, since, before state.Place) json.RawMessage {
	doc := r.initial[kind]
	if since > 0 {
		doc = nil
	}
	for _, e := range r.log {
		if e.Path[0].Name != kind || e.Place < since || e.Place >= before {
			continue
		}
		if next, err := state.Apply(doc, e.Path[1:], e.Method, e.Value); err == nil {
			doc = next
		}
	}
	return doc
}

// A value is what an expression gives. One that is gone can't come, because of a
// failure or not.
type value struct {
	json          json.RawMessage
	missing, gone bool
	byFailure     bool
}

func (v value) present() bool { return !v.missing && !v.gone }

// and is the value of b where a is present, and what keeps both from being
// present: gone wins over missing.
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
	v = value{gone: true}
	for _, a := range e.Args {
		o := r.eval(a, place)
		if o.present() {
			return o
		}
		v = value{missing: v.missing || o.missing && !o.gone, gone: v.gone && o.gone, byFailure: v.byFailure || o.byFailure}
	}
	return v
}

// resolve is a reference as of a place: §5, "Branches", and §6.
func (r *reading) resolve(ref *lang.Expr, place state.Place) value {
	p, since := pathOf(ref), r.since[ref]
	wrote := slices.ContainsFunc(r.log, func(e state.Entry) bool {
		return e.Place >= since && e.Place < place && e.Path.Overlaps(p)
	})
	if !wrote && (since > 0 || !r.held(p)) {
		byFailure := slices.ContainsFunc(r.order[:place-1], func(o *step) bool { return o.place >= since && o.byFailure && o.mayWrite(p) })
		return value{gone: true, byFailure: byFailure}
	}
	if r.covered(p, since) {
		since = 0 // what it sees was all written since, and where it stands on what is there
	}
	v, ok := at(r.fold(p[0].Name, since, place), p[1:])
	return value{json: v, missing: !ok}
}

// covered reports whether the write that ends a binding happened.
func (r *reading) covered(p state.Path, since state.Place) bool {
	return slices.ContainsFunc(r.log, func(e state.Entry) bool {
		return e.Place == since && e.Method == state.Set && e.Path.Covers(p)
	})
}

// params are a call's params with the values of its references.
func (r *reading) params(s *step) (json.RawMessage, value) {
	var all value
	out := "{"
	for i, m := range s.Params {
		v := r.template(m.Value, s.place)
		all = all.and(v)
		out += comma(i) + quote(m.Name) + ":" + string(v.json)
	}
	return json.RawMessage(out + "}"), all
}

func (r *reading) template(n lang.Node, place state.Place) (v value) {
	switch n.Kind() {
	case lang.Array:
		out := "["
		for i, e := range n.Elements() {
			v = v.and(r.template(e, place))
			out += comma(i) + string(v.json)
		}
		v.json = json.RawMessage(out + "]")
	case lang.Object:
		out, i := "{", 0
		for m := range n.Members() {
			v = v.and(r.template(m.Value, place))
			out += comma(i) + quote(m.Name) + ":" + string(v.json)
			i++
		}
		v.json = json.RawMessage(out + "}")
	case lang.String:
		if n.Text() != nil {
			return r.text(n.Text(), place)
		}
		v.json = n.AppendJSON(nil)
	default:
		v.json = n.AppendJSON(nil)
	}
	return v
}

// text is a string with the values of its expressions: strings as they are,
// others as compact JSON.
func (r *reading) text(t *lang.Text, place state.Place) (v value) {
	if t.Whole {
		return r.eval(t.Parts[0].Expr, place)
	}
	out := ""
	for _, part := range t.Parts {
		if part.Expr == nil {
			out += part.Literal
			continue
		}
		v = v.and(r.eval(part.Expr, place))
		s := string(v.json)
		_ = json.Unmarshal(v.json, &s)
		out += s
	}
	v.json = json.RawMessage(quote(out))
	return v
}

// scopes are what of the whiteboard a call may see; nil without _scopes.
func (r *reading) scopes(s *step) json.RawMessage {
	if s.rest.ScopesNode.IsZero() {
		return nil
	}
	seen := map[string]json.RawMessage{}
	for _, scope := range s.rest.Scopes {
		if v := r.resolve(scope.Ref, s.place); v.present() {
			p := pathOf(scope.Ref)
			next, err := state.Apply(seen[p[0].Name], p[1:], state.Set, v.json)
			if err == nil {
				seen[p[0].Name] = next
			}
		}
	}
	out, _ := json.Marshal(seen)
	return out
}

// at is the value at a path below doc.
func at(doc json.RawMessage, below state.Path) (json.RawMessage, bool) {
	if len(below) == 0 || doc == nil {
		return doc, doc != nil
	}
	seg := below[0]
	var object map[string]json.RawMessage
	if json.Unmarshal(doc, &object) == nil && object != nil {
		child, ok := object[seg.Name]
		if !ok || seg.Kind != state.Name && seg.Kind != state.Either {
			return nil, false
		}
		return at(child, below[1:])
	}
	var list []json.RawMessage
	if json.Unmarshal(doc, &list) != nil || list == nil || seg.Kind == state.Name {
		return nil, false
	}
	if seg.Kind == state.Star {
		return each(list, below[1:])
	}
	i := seg.Index
	if i < 0 {
		i += len(list)
	}
	if i < 0 || i >= len(list) {
		return nil, false
	}
	return at(list[i], below[1:])
}

func each(list []json.RawMessage, below state.Path) (json.RawMessage, bool) {
	out := "["
	for i, e := range list {
		v, ok := at(e, below)
		if !ok {
			return nil, false
		}
		out += comma(i) + string(v)
	}
	return json.RawMessage(out + "]"), true
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}

// kinds are the kinds at the end, by name.
func (r *reading) kinds() iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		for kind := range r.initial {
			if !yield(kind, r.fold(kind, 0, state.End)) {
				return
			}
		}
	}
}
