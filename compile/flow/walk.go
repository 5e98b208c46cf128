package flow

import (
	"encoding/binary"
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// analysis follows the labels of one policy through a program and the documents that it delegates
// to.
type analysis struct {
	policy          *Policy
	plan            lab      // the label of literals in the plan
	goesOn, retries bool     // see Options
	every           bool     // params without bounds are sinks, too
	earlier         *Earlier // see Options

	rules   map[*compile.Target]*toolRules
	undoBy  func(t *compile.Target, own *tool.Undo) *compile.Undoing // see Options.Undo
	undos   map[*tool.Undo][]lang.Member                             // their params
	docs    map[*compile.Program]*contexts
	sources *sources
	origins map[*tree]*origin      // of trees, without their members
	wholes  map[*tree]*origin      // of trees with all their members
	joins   map[[2]*origin]*origin // the joins so far
	flows   sinks

	memory
	report  *Report
	vouched map[vouch]*mark // the lists that calls return and that params have to be elements of
	work    int             // how often marks were joined or passed on

	values map[diag.Span]*mark // of the plan's references and results; nil if nobody asks
}

// A walk goes through the calls of one program, in order.
type walk struct {
	*analysis
	prog    *compile.Program
	whole   bool // it is the plan, and no document of it
	board   board
	says    *mark // of literals in the document
	ran     Ran   // see Options; nil if any outcome is possible
	results []result
	seen    map[seenKey]*seen
	newest  state.Place    // the last call so far that may write
	taken   taken          // the call that is followed
	slots   []compile.Slot // of the template that is evaluated
	slot    int            // the next of them
	key     []byte         // scratch
	fails   *mark          // of the values that decide whether a call so far failed with nothing to handle it
	broken  *mark          // of what the error objects of calls hold
}

// board describes the whiteboard of a program at the start.
type board struct {
	decides *mark // of the values that decide whether the program runs
	// survives reports that the caller of the document continues if the document fails.
	survives bool
	// given returns the value at a path, and the mark of the values that decide whether it is
	// there.
	given func(path state.Path) (v *val, shape *mark)
	// always, if not nil, reports whether the whiteboard holds a path for certain.
	always func(path state.Path) bool
	// foreign reports that the document was fetched from a host, so its literals are untrusted.
	foreign bool
}

// result describes the outcome of a call. Its marks are those of the values that decide something.
type result struct {
	known   bool     // the walk has reached the call
	occurs  *mark    // whether the call is made
	value   *val     // its result
	failure *mark    // of its error object
	wrote   *mark    // whether it writes, and where
	lost    *mark    // whether it fails unhandled in a run that continues
	ran     *Outcome // nil: any
}

// seenKey is a path with the start of its binding: reads of equal keys see the same writes, up to
// the place of the reader.
type seenKey struct {
	path  string
	since state.Place
}

// seen holds what a reader of a path sees.
type seen struct {
	before state.Place // the place up to which writers are included
	last   state.Place // the place of the last writer; 0 if there is none
	view
}

// view describes a value that is read. Its marks are those of the values that decide something.
type view struct {
	val    *val
	wrote  *mark // whether anything was written; if nothing was, the reader is skipped
	shaped *mark // whether what was written has the path; if not, the reader fails
}

// walk returns a walk through a program that begins with a board.
func (a *analysis) walk(prog *compile.Program, b board) *walk {
	w := &walk{analysis: a, prog: prog, board: b, seen: map[seenKey]*seen{}}
	l := a.plan
	src := "the plan"
	if b.foreign { // only its host vouches for it
		l.trust, src = a.policy.said.Trust.Bottom(), "a document from elsewhere"
	}
	w.says = a.marked(&origin{l, a.source(src, l)}, &step{verb: says, loc: diag.Loc{File: prog.File()}}, nil)
	return w
}

// run follows the labels through the whole program, and returns the result of the program.
func (w *walk) run() view {
	w.grow()
	var undone []*taken
	for i := range w.prog.Calls {
		if t := w.call(&w.prog.Calls[i]); t.call.Undoing != nil || w.undoBy != nil || t.call.Rare != nil && t.call.Fallback != nil {
			kept := *t
			undone = append(undone, &kept)
		}
	}
	for _, t := range undone {
		w.undo(t)
	}
	if w.whole && w.values == nil && len(w.policy.said.Output) == 0 {
		return view{} // nobody asks
	}
	return w.output()
}

// grow makes room for the results of all calls.
func (w *walk) grow() {
	if n := len(w.prog.Calls) - len(w.results); n > 0 {
		w.results = append(w.results, make([]result, n)...)
	}
}

// call follows the labels through one call, whatever its outcome.
func (w *walk) call(c *compile.Call) *taken {
	t := w.begin(c)
	w.end(t)
	w.flow(t)
	return t
}

// taken is a call with its params. Its marks but all are those of the values that decide something.
type taken struct {
	call     *compile.Call
	params   []param
	scopes   []scope
	all      *mark // of all params and scopes
	occurs   *mark // whether the call is made
	shaped   *mark // whether its references find something
	breaks   *mark // whether it fails
	first    *mark // whether it fails, apart from its fallback
	survives bool  // the run continues if the call fails
	fallback fallback
}

// fallback holds the params of the fallback of a call.
type fallback struct {
	params []param
	wrote  *mark // of the values that decide whether what they refer to was written
	shaped *mark // of the values that decide whether their references find something
}

// allOf returns the join of the marks of all params.
func (w *walk) allOf(params []param) (all *mark) {
	for i := range params {
		all = w.join(all, params[i].val.all)
	}
	return all
}

// scope is a part of the whiteboard that a call sees.
type scope struct {
	path state.Path // on the global whiteboard
	val  *val
}

// param is a param of a call with its value.
type param struct {
	name string // "*" for the scopes
	loc  diag.Loc
	val  *val
}

// begin evaluates the params, scopes and conditions of a call.
func (w *walk) begin(c *compile.Call) *taken {
	t := &w.taken
	*t = taken{call: c, survives: w.survives(c)}
	e := &evaluation{walk: w, at: c.Place, call: c}
	t.occurs = w.board.decides
	if w.board.survives {
		t.occurs = w.join(t.occurs, w.fails)
	}
	if c.When != nil {
		v := e.expr(c.When, asks)
		for _, m := range []*mark{v.val.own, v.wrote, v.shaped} {
			t.occurs = w.join(t.occurs, m)
		}
	}
	if c.Rare != nil {
		for _, i := range c.DependsOn {
			r := &w.results[i]
			t.occurs = w.join(w.join(t.occurs, r.occurs), r.lost)
		}
	}
	t.params = e.params(c.Source.Params, &c.Params)
	t.scopes = e.scopes(c)
	t.occurs, t.shaped = w.join(t.occurs, e.wrote), e.shaped
	t.fallback = fallback{params: t.params}
	if c.Rare != nil && c.Fallback != nil && c.Fallback.Params != nil && c.Source.Rest.Fallback != nil {
		f := &evaluation{walk: w, at: c.Place, call: c}
		t.fallback.params = f.params(c.Source.Rest.Fallback.Params, c.Fallback.Params)
		t.fallback.wrote, t.fallback.shaped = f.wrote, f.shaped
	}
	if len(t.scopes) > 0 {
		seen := w.besides(c, t.scopes)
		t.fallback.params = append(slices.Clip(t.fallback.params), seen)
		if c.Delegate == nil || c.Delegate.Program == nil {
			t.params = append(slices.Clip(t.params), seen)
		}
	}
	t.all = w.allOf(t.params)
	for _, s := range t.scopes { // the scopes of a document are not among its params
		t.all = w.join(t.all, s.val.all)
	}
	if w.prog.Refs == compile.LenientRefs { // an empty text reveals that nothing was there
		t.occurs = w.join(t.occurs, t.shaped)
	}
	if t.survives {
		t.occurs = w.join(t.occurs, t.shaped)
		if w.policy.said.Strict { // a value that its schema forbids keeps the call from being made
			t.occurs = w.join(t.occurs, t.all)
		}
	}
	return t
}

// besides returns the scopes of a call as one param.
func (w *walk) besides(c *compile.Call, scopes []scope) param {
	p := param{name: "*", loc: w.prog.Loc(c.Source.ToolNode.Span()), val: nothing}
	for _, s := range scopes {
		p.val = w.leaf(w.join(p.val.all, s.val.all))
	}
	return p
}

// note notes a value of the plan that stands, or comes from, a place.
func (w *walk) note(at diag.Span, v *val) {
	if w.whole && w.values != nil {
		w.values[at] = w.join(w.values[at], v.all)
	}
}

// survives reports whether the run continues if a call fails.
func (w *walk) survives(c *compile.Call) bool {
	if w.handles(c) {
		return true
	}
	if c.Rare != nil && c.OnFailure != "" {
		return c.OnFailure == "skip" || c.OnFailure == "continue"
	}
	return w.goesOn
}

// handles reports whether the plan says where the failure of a call goes.
func (w *walk) handles(c *compile.Call) bool {
	return c.ErrorPath != nil || c.TakesFailure() || w.errorIsResult(c)
}

// errorIsResult reports whether the error object of a failed call is its result, as in some other
// notations.
func (w *walk) errorIsResult(c *compile.Call) bool {
	return w.prog.Document.Profile.ErrorsAreResults && len(c.Alternatives) == 1
}

// end records the outcome of a call.
func (w *walk) end(t *taken) {
	c := t.call
	r := result{known: true, occurs: t.occurs, wrote: t.occurs, value: nothing}
	at := w.steps.next()
	at.loc, at.verb, at.call = w.prog.Loc(c.Source.ToolNode.Span()), gives, c
	var breaks *mark // of the values that decide whether the call fails
	switch {
	case c.Target == nil: // a finding of the compiler
		r.value = w.leaf(w.marked(&origin{lab: w.policy.lab(w.policy.said.OfAnything())}, at, nil))
	case c.Rare != nil && c.Result != nil: // _output, which came from the tool or the plan
		r.value = w.leaf(w.join(w.result(w.rulesOf(c.Target), at, t.all).all, w.says))
	case c.Rare != nil && c.Choose != nil:
		r.value = valueOf(t.params, "value")
		breaks = t.all
	case c.Rare != nil && c.Delegate != nil && c.Delegate.Program != nil:
		d := w.delegate(t)
		r.value, r.wrote, breaks = d.val, w.join(r.wrote, d.wrote), d.shaped
	default:
		rules := w.rulesOf(c.Target)
		r.value = w.result(rules, at, t.all)
		w.lists(rules, c, r.value)
		if breaks = r.value.all; rules.drops() { // an error carries all of what the call is given
			breaks = w.join(w.result(rules, at, nil).all, t.all)
		}
	}
	breaks = w.join(breaks, t.shaped)
	if t.survives || w.board.survives {
		breaks = w.join(breaks, w.writable(c))
	}
	t.breaks, t.first = breaks, breaks
	r.failure = w.join(breaks, t.all)
	if c.Rare != nil && c.Fallback != nil && c.Fallback.Target != nil {
		w.fallBack(t, &r, at)
	}
	w.outcome(t, &r)
	if w.ran != nil {
		r.ran = w.ran(c)
	}
	w.note(c.Source.ToolNode.Span(), r.value)
	w.results[c.Place-1] = r
	if len(c.Alternatives) > 0 || c.ErrorPath != nil {
		w.newest = max(w.newest, c.Place)
	}
}

// lists records the lists in the result of a call.
func (w *walk) lists(r *toolRules, c *compile.Call, v *val) {
	for _, l := range r.lists {
		v := v
		for _, name := range l.names {
			v = w.member(v, name)
		}
		w.vouched[vouch{l, c}] = w.join(w.vouched[vouch{l, c}], v.all)
	}
}

// fallBack merges the outcome of the fallback of a call.
func (w *walk) fallBack(t *taken, r *result, at *step) {
	all := w.allOf(t.fallback.params)
	rules := w.rulesOf(t.call.Fallback.Target)
	r.value = w.either(r.value, w.result(rules, at, all))
	r.wrote = w.join(w.join(r.wrote, t.breaks), t.fallback.wrote) // they decide which of the two results is written
	breaks := w.join(w.join(all, w.result(rules, at, nil).all), w.join(t.fallback.wrote, t.fallback.shaped))
	t.breaks = w.join(t.breaks, breaks)
	r.failure = w.join(r.failure, breaks)
}

// outcome adds what can be learned from where a call writes, and from whether it fails.
func (w *walk) outcome(t *taken, r *result) {
	c := t.call
	if w.handles(c) {
		r.wrote = w.join(r.wrote, t.breaks)
	}
	switch {
	case w.handlesAll(c):
	case t.survives:
		r.wrote, r.lost = w.join(r.wrote, t.breaks), t.breaks
	default:
		w.fails = w.join(w.fails, t.breaks)
	}
	if !w.handlesAll(c) {
		w.broken = w.join(w.broken, r.failure)
	}
	if len(c.Alternatives) > 1 {
		r.wrote = w.join(r.wrote, r.value.all)
		if c.Rare == nil || c.Choose == nil { // the tool chooses which part of the result is the value
			r.value = w.leaf(r.value.all)
		}
	}
	if c.Rare != nil && c.Envelope {
		r.value = w.leaf(w.join(r.value.all, r.failure))
	}
}

// handlesAll reports whether the plan handles each failure of a call, including that of a
// condition, which no alternative takes, and that of writing the error object.
func (w *walk) handlesAll(c *compile.Call) bool {
	conditional := c.Rare != nil && (c.Choose != nil || c.Delegate != nil && c.Delegate.Loop == compile.Repeat)
	if !w.handles(c) || conditional && c.ErrorPath == nil {
		return false
	}
	writes := []compile.Write{}
	if c.ErrorPath != nil {
		writes = append(writes, *c.ErrorPath)
	} else {
		writes = append(writes, c.Alternatives[len(c.Alternatives)-1].Writes...)
	}
	return !slices.ContainsFunc(writes, func(write compile.Write) bool { return len(write.Path) > 2 || len(write.Schemas) > 0 })
}

// writable returns the mark of the values that decide whether the writes of a call can be applied:
// those that stand at the paths before.
func (w *walk) writable(c *compile.Call) (m *mark) {
	see := func(write *compile.Write) {
		if c.Method == state.Set && len(write.Path) <= 2 && len(write.Schemas) == 0 {
			return
		}
		v := w.layer(write.Path, 0, c.Place)
		m = w.join(w.join(m, v.val.own), w.join(v.wrote, v.shaped))
		if c.Method != state.Set && len(write.Schemas) > 0 {
			m = w.join(m, v.val.all)
		}
	}
	for i := range c.Alternatives {
		for j := range c.Alternatives[i].Writes {
			see(&c.Alternatives[i].Writes[j])
		}
	}
	return m
}

// valueOf returns the value of a param.
func valueOf(params []param, name string) *val {
	for i := range params {
		if params[i].name == name {
			return params[i].val
		}
	}
	return nothing
}

// evaluation evaluates the expressions of one call, or of the output. Its view collects the marks
// of the values that decide about them.
type evaluation struct {
	*walk
	at   state.Place
	call *compile.Call // nil is the output
	view
}

// params evaluates the params of a call.
func (e *evaluation) params(members []lang.Member, t *compile.Template) []param {
	e.pull(t)
	all := e.given.list(len(members))
	for i, m := range members {
		loc := e.prog.Loc(m.Value.Span())
		p := &all[i]
		p.name, p.loc = m.Name, loc
		if m.Value.IsReference() {
			p.val = e.put(e.next().Expr)
		} else {
			p.val = e.value(m.Value, e.literal(loc))
		}
	}
	return all
}

// literal returns the mark of a literal at a place.
func (e *evaluation) literal(loc diag.Loc) *mark {
	s := e.steps.next()
	s.loc, s.verb = loc, says
	return e.marked(e.says.origin, s, nil)
}

// pull sets the expressions that next returns: those of a template.
func (w *walk) pull(t *compile.Template) {
	w.slots = slices.AppendSeq(w.slots[:0], t.Slots())
	w.slot = 0
}

// next returns the next expression of the template that is evaluated.
func (w *walk) next() *compile.Slot {
	w.slot++
	return &w.slots[w.slot-1]
}

// value evaluates a value of the plan.
func (e *evaluation) value(n lang.Node, literal *mark) *val {
	if n.IsReference() {
		return e.put(e.next().Expr)
	}
	has := false
	for range n.TextNodes() {
		has = true
		break
	}
	if !has {
		return e.leaf(literal)
	}
	v := &val{own: literal, content: &content{}}
	switch n.Kind() {
	case lang.Object:
		for m := range n.Members() {
			v.named = append(v.named, part{m.Name, e.value(m.Value, literal)})
		}
	case lang.Array:
		v.list = make([]*val, 0, n.Len())
		for _, m := range n.Elements() {
			v.list = append(v.list, e.value(m, literal))
		}
	default:
		return e.text(n, literal)
	}
	return e.sealed(v)
}

// text evaluates a string that holds expressions.
func (e *evaluation) text(n lang.Node, literal *mark) *val {
	if !n.HasExprs() { // it has escaped daggers
		return e.leaf(literal)
	}
	x := e.next()
	if x.Whole {
		return e.put(x.Expr)
	}
	m := e.join(literal, e.put(x.Expr).all)
	for !x.Last {
		x = e.next()
		m = e.join(m, e.put(x.Expr).all)
	}
	return e.leaf(m)
}

// put evaluates an expression of a param, and collects the marks of the values that decide about
// it.
func (e *evaluation) put(x *compile.Expr) *val {
	v := e.expr(x, takes)
	e.wrote, e.shaped = e.join(e.wrote, v.wrote), e.join(e.shaped, v.shaped)
	return v.val
}

// expr evaluates an expression.
func (e *evaluation) expr(x *compile.Expr, how verb) view {
	switch x.Op() {
	case lang.OpLiteral:
		return view{val: e.leaf(e.says)}
	case lang.OpOr:
		return e.first(x, how)
	case lang.OpAnd:
		v := view{val: nothing}
		for _, arg := range x.Args() {
			w := e.expr(arg, how)
			v = view{w.val, e.join(v.wrote, w.wrote), e.join(v.shaped, w.shaped)}
		}
		return v
	}
	r, void := x.Ref()
	switch {
	case r == nil:
		return view{val: nothing}
	case void:
		return view{val: nothing, shaped: e.lacks(r)}
	}
	v := e.read(r, e.at)
	e.note(r.Span, v.val)
	if v.val != nothing {
		s := e.steps.next()
		s.loc, s.verb, s.call, s.what = e.prog.Loc(r.Span), how, e.call, &r.Path
		v.val = e.moved(v.val, s)
	}
	return v
}

// lacks returns the mark of the values that decide that a reference finds nothing: those that the
// whiteboard holds at the start.
func (w *walk) lacks(r *compile.Read) *mark {
	_, shape := w.board.given(r.Path)
	if r.Under != nil {
		_, under := w.board.given(r.Under.Path)
		shape = w.join(shape, under)
	}
	return shape
}

// first evaluates an ||: it may have the value of any operand up to one that is always there.
// Whether an operand is there decides about the value.
func (e *evaluation) first(x *compile.Expr, how verb) view {
	v := view{val: nothing}
	for _, arg := range x.Args() {
		w := e.expr(arg, how)
		v.wrote = e.join(e.join(v.wrote, w.wrote), w.shaped)
		v.val = e.either(v.val, w.val)
		if arg.Op() == lang.OpLiteral || e.isThere(arg) {
			break
		}
	}
	return v
}

// isThere reports whether a reference always finds what the whiteboard holds at the start, since no
// call writes there.
func (e *evaluation) isThere(x *compile.Expr) bool {
	r, void := x.Ref()
	if r == nil || void {
		return false
	}
	for layer := r; layer != nil; layer = layer.Under {
		for range e.prog.Writers(layer.Path, 0, e.at) {
			return false
		}
	}
	return e.board.always != nil && (e.board.always(r.Path) || r.Under != nil && len(r.Path) == 2 && e.board.always(r.Under.Path))
}

// moved returns a value after a step.
func (a *analysis) moved(v *val, s *step) *val {
	if v == nothing {
		return v
	}
	if v.isLeaf() {
		return a.leaf(a.passes(v.own, s))
	}
	return a.move(v, s, map[*mark]*mark{nil: nil})
}

// move does what moved does. It makes each mark once: moved holds the new ones.
func (a *analysis) move(v *val, s *step, moved map[*mark]*mark) *val {
	if v == nothing {
		return v
	}
	pass := func(m *mark) *mark {
		n, ok := moved[m]
		if !ok {
			n = a.passes(m, s)
			moved[m] = n
		}
		return n
	}
	u := a.vals.next()
	u.own, u.all, u.content, u.flat, u.size = pass(v.own), pass(v.all), &content{}, v.flat, v.size
	u.named = a.parts.list(len(v.named))
	for i, p := range v.named {
		u.named[i].name, u.named[i].val = p.name, a.move(p.val, s, moved)
	}
	for _, w := range v.list {
		u.list = append(u.list, a.move(w, s, moved))
	}
	if v.elem != nil {
		u.elem = a.move(v.elem, s, moved)
	}
	return u
}

// scopes evaluates the scopes of a call.
func (e *evaluation) scopes(c *compile.Call) (all []scope) {
	if c.Rare == nil {
		return nil
	}
	for _, x := range c.Scopes {
		v := e.expr(x, takes)
		e.wrote = e.join(e.wrote, v.wrote)
		if !e.isThere(x) { // a scope that is not there is left out
			e.wrote = e.join(e.wrote, v.shaped)
		}
		r, void := x.Ref()
		if r == nil || void {
			continue
		}
		path := r.Path
		if r.Under != nil {
			path = r.Under.Path
		}
		all = append(all, scope{path, v.val})
	}
	return all
}

// read evaluates a reference, as seen from a place.
func (w *walk) read(r *compile.Read, at state.Place) view {
	v := w.layer(r.Path, r.Since, at)
	if r.Under != nil {
		u := w.layer(r.Under.Path, r.Under.Since, at)
		v = view{w.either(v.val, u.val), w.join(v.wrote, u.wrote), w.join(v.shaped, u.shaped)}
	}
	return v
}

// layer returns the value at a path of one layer of the whiteboard, as seen from a place. since is
// the place of the last write that surely covers the path.
func (w *walk) layer(path state.Path, since, at state.Place) view {
	w.key = appendKey(w.key[:0], path)
	s, ok := w.seen[seenKey{string(w.key), since}]
	if !ok || at <= s.last {
		s = w.reads.next()
		s.before, s.val = since, nothing
		if since == 0 {
			s.val, s.shaped = w.board.given(path)
		}
		w.seen[seenKey{string(w.key), since}] = s
	}
	if w.newest >= s.before { // else nothing was written since
		for c := range w.prog.Writers(path, s.before, at) {
			if w.results[c.Place-1].known {
				w.written(s, c, path)
				s.last = c.Place
			}
		}
	}
	s.before = max(s.before, at)
	return s.view
}

// appendKey appends bytes that identify a path.
func appendKey(key []byte, path state.Path) []byte {
	for _, s := range path {
		key = binary.AppendVarint(append(key, byte(s.Kind)), int64(s.Index))
		key = append(binary.AppendUvarint(key, uint64(len(s.Name))), s.Name...)
	}
	return key
}

// written merges the writes of a call at, above or below a path.
func (w *walk) written(s *seen, c *compile.Call, path state.Path) {
	r := &w.results[c.Place-1]
	add := func(write *compile.Write, m state.Method, v *val, happens bool) {
		if !write.Path.Overlaps(path) {
			return
		}
		s.wrote = w.join(s.wrote, r.wrote) // also if it does not happen
		if happens {
			sub, shape := w.below(write, m, v, path)
			s.val, s.shaped = w.either(s.val, sub), w.join(s.shaped, shape)
		}
	}
	for i := range c.Alternatives {
		takes, fails := r.takes(c, i), r.takesFailure(w, c, i)
		for j := range c.Alternatives[i].Writes {
			write := &c.Alternatives[i].Writes[j]
			add(write, c.Method, r.value, takes)
			if fails {
				failure := w.leaf(r.failure)
				add(write, c.Method, failure, true)
				add(write, state.Set, failure, true)
			}
		}
	}
	if c.ErrorPath != nil { // which is always set
		add(c.ErrorPath, state.Set, w.leaf(r.failure), r.ran == nil || r.ran.Failed)
	}
}

// takes reports whether an alternative of a call may get its result.
func (r *result) takes(c *compile.Call, alternative int) bool {
	if r.ran != nil && (r.ran.Failed || r.ran.Alternative != alternative) {
		return false
	}
	picks := func(k compile.Case) bool { return k.Outcome == alternative }
	return c.Rare == nil || c.Choose == nil || slices.ContainsFunc(c.Choose.Cases, picks)
}

// takesFailure reports whether an alternative of a call may get its error object.
func (r *result) takesFailure(w *walk, c *compile.Call, alternative int) bool {
	return alternative == len(c.Alternatives)-1 && (c.TakesFailure() || w.errorIsResult(c)) && (r.ran == nil || r.ran.Failed)
}

// below returns the value at a path after a write, and the mark of the values that decide whether
// it is there.
func (w *walk) below(write *compile.Write, m state.Method, v *val, path state.Path) (*val, *mark) {
	if len(write.Path) > len(path) { // a part of what is read
		return w.leaf(v.all), nil
	}
	rest := path[len(write.Path):]
	switch m {
	case state.Push:
		v = w.listOf(nil, v)
	case state.Concat: // the new places of the elements are not known
		v = w.listOf(v.own, w.element(v, nil))
	}
	return w.at(v, rest)
}

// output returns the result of the program: its output or, if it has none, its state.
func (w *walk) output() view {
	end := state.Place(len(w.prog.Calls) + 1)
	e := &evaluation{walk: w, at: end}
	if w.prog.Output == nil {
		return w.finalState(end)
	}
	e.pull(w.prog.Output)
	n := w.prog.Document.Output
	v := e.value(n, e.literal(n.Loc()))
	return view{v, e.wrote, e.shaped}
}

// finalState returns the state at the end, member by member unless they are many.
func (w *walk) finalState(end state.Place) view {
	root := state.Path{{Kind: state.Name, Name: "state"}}
	var names []string
	for i := range w.prog.Calls {
		for _, path := range pathsOf(&w.prog.Calls[i]) {
			switch {
			case path[0].Name != "state":
			case len(path) == 1 || path[1].Kind != state.Name || len(names) > maxParts:
				return w.layer(root, 0, end)
			case !slices.Contains(names, path[1].Name):
				names = append(names, path[1].Name)
			}
		}
	}
	given, _ := w.board.given(root)
	all := view{val: &val{own: given.own, content: &content{}}}
	for _, name := range names {
		v := w.layer(append(root[:1:1], state.Segment{Kind: state.Name, Name: name}), 0, end)
		all.val.named = append(all.val.named, part{name, v.val})
		all.wrote = w.join(all.wrote, v.wrote)
	}
	for _, p := range given.named {
		if !slices.Contains(names, p.name) {
			all.val.named = append(all.val.named, p)
		}
	}
	all.val = w.sealed(all.val)
	return all
}

// pathsOf returns the paths that a call may write.
func pathsOf(c *compile.Call) (all []state.Path) {
	for i := range c.Alternatives {
		for j := range c.Alternatives[i].Writes {
			all = append(all, c.Alternatives[i].Writes[j].Path)
		}
	}
	if c.ErrorPath != nil {
		all = append(all, c.ErrorPath.Path)
	}
	return all
}
