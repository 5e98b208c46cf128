package flow_test

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/compile"
)

// The oracle is a naive interpreter of generated plans. It makes one call after the other, in the
// order of the list. Each part of a value carries the set of its origins, which are called atoms.
// The caller chooses the results of tools.

// atoms is a set of origins: for each way in which tools have changed the label since, a set of
// bits.
type atoms [4]uint32

const (
	endorsed = 1 << iota
	declassified
)

type atom int

// The atoms: sources, and the parts of their results that policies label.
const (
	ofPlan atom = iota
	ofInput
	ofUser // †input.user
	ofWrap
	ofPicky
	ofPick
	ofRedact
	ofVouch
	ofSink
	ofOut
	ofAct
	ofState
	ofDefault // of what the policy says nothing about
	ofSource  // and four more of each source: its parts a, b, list and list.id
)

const partsOfSource = 5

var sourceParts = [partsOfSource]string{"", "a", "b", "list", "list.id"}

func one(a atom) atoms { return atoms{1 << a} }

func (a atoms) or(b atoms) atoms {
	for i := range a {
		a[i] |= b[i]
	}
	return a
}

// changed returns the atoms with a part of their labels dropped.
func (a atoms) changed(how int) (b atoms) {
	for i := range a {
		b[i|how] |= a[i]
	}
	return b
}

// node is a part of a value.
type node struct {
	kind  byte // 'o' object, 'l' list, 's' text, number, true, false or null
	at    atoms
	names []string
	kids  []*node
	text  string // as JSON
}

func text(s string, at atoms) *node { return &node{kind: 's', text: strconv.Quote(s), at: at} }

func object(at atoms, names []string, kids ...*node) *node {
	return &node{kind: 'o', at: at, names: names, kids: kids}
}

func list(at atoms, kids ...*node) *node { return &node{kind: 'l', at: at, kids: kids} }

// all returns the atoms of a value as a whole.
func (n *node) all() atoms {
	at := n.at
	for _, k := range n.kids {
		at = at.or(k.all())
	}
	return at
}

// json returns the value without its atoms, with members in the order of their names.
func (n *node) json() string {
	var parts []string
	switch n.kind {
	case 'l':
		for _, k := range n.kids {
			parts = append(parts, k.json())
		}
		return "[" + strings.Join(parts, ",") + "]"
	case 'o':
		for i, k := range n.kids {
			parts = append(parts, strconv.Quote(n.names[i])+":"+k.json())
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	}
	return n.text
}

// carrying returns the value with atoms added to each part.
func (n *node) carrying(at atoms) *node {
	m := *n
	m.at = n.at.or(at)
	m.kids = make([]*node, len(n.kids))
	for i, k := range n.kids {
		m.kids[i] = k.carrying(at)
	}
	return &m
}

func (n *node) member(name string) *node {
	if n.kind == 'o' {
		if i := slices.Index(n.names, name); i >= 0 {
			return n.kids[i]
		}
	}
	return nil
}

// with returns an object with another member.
func (n *node) with(name string, k *node) *node {
	m := *n
	m.names, m.kids = slices.Clone(n.names), slices.Clone(n.kids)
	if i := slices.Index(m.names, name); i >= 0 {
		m.kids[i] = k
	} else {
		m.names, m.kids = append(m.names, name), append(m.kids, k)
	}
	return &m
}

// at returns the part at a path, nil if there is none, and the atoms of the values that contain it.
func (n *node) find(path gpath) (found *node, in atoms) {
	for i, s := range path {
		in = in.or(n.at)
		switch s := s.(type) {
		case int:
			if n.kind != 'l' || s >= len(n.kids) {
				return nil, in
			}
			n = n.kids[s]
		case string:
			if s == "[*]" {
				return n.each(path[i+1:], in)
			}
			if n = n.member(s); n == nil {
				return nil, in
			}
		}
	}
	return n, in
}

// each maps a path over the elements of a list.
func (n *node) each(path gpath, in atoms) (*node, atoms) {
	if n.kind != 'l' {
		return nil, in
	}
	all := list(n.at)
	for _, k := range n.kids {
		e, around := k.find(path)
		in = in.or(around)
		if e == nil {
			return nil, in
		}
		all.kids = append(all.kids, e)
	}
	return all, in
}

// write is an applied write.
type write struct {
	place  int // of its call, from 1
	path   gpath
	method string
	value  *node
	why    atoms // what decided that it happened
}

// apply returns the root of a kind after a write at a path; false if the write is not possible.
func (w *write) apply(n *node, path gpath) (*node, bool) {
	if len(path) > 0 {
		name := path[0].(string)
		switch {
		case n == nil:
			n = object(atoms{}, nil)
		case n.kind != 'o':
			return nil, false
		}
		k, ok := w.apply(n.member(name), path[1:])
		if !ok {
			return nil, false
		}
		return n.with(name, k), true
	}
	switch w.method {
	case "merge":
		return merged(n, w.value), true
	case "assign":
		if n == nil || n.kind != 'o' || w.value.kind != 'o' {
			return w.value, true
		}
		for i, name := range w.value.names {
			n = n.with(name, w.value.kids[i])
		}
		m := *n
		m.at = m.at.or(w.value.at)
		return &m, true
	case "push":
		if n == nil {
			return list(atoms{}, w.value), true
		}
		if n.kind != 'l' {
			return nil, false
		}
		return list(n.at, append(slices.Clone(n.kids), w.value)...), true
	}
	return w.value, true
}

func merged(n, v *node) *node {
	if n == nil || n.kind != 'o' || v.kind != 'o' {
		return v
	}
	for i, name := range v.names {
		n = n.with(name, merged(n.member(name), v.kids[i]))
	}
	m := *n
	m.at = m.at.or(v.at)
	return &m
}

// event is a value that reached a sink.
type event struct {
	call     *gcall
	fallback bool
	param    string // "" is the call itself
	data     atoms
	why      atoms  // what decided that the call is made, and with what
	params   string // of a call
	instance string // of a plan that runs once for each
	undo     *gundo // it is given to what takes the call back
}

// interpreter runs one plan.
type interpreter struct {
	// choose returns a number below n: which of its results a tool gives for params. own are the
	// atoms of what it decides about, besides those of the params.
	choose func(tool, params string, own atoms, n int) int
	// say returns a text with these atoms that a tool returns, or that is given.
	say      func(text string, own atoms) string
	strategy string // "abort", "skip" or "continue"
	bound    bindings
	events   []event
	calls    int
	instance string             // of a plan that runs once for each
	depth    int                // how many documents run
	quotes   bool               // a text has an object or a part of an error object, which package exec may word in another way
	writes   map[string][]noted // those of the plan, by instance
	undone   []undone           // that are still to be taken back
}

// undone is a call that is taken back when the run is undone.
type undone struct {
	event
	params, result *node // the result is nil if nobody knows whether the call did its work
}

// noted is a write of a call of the plan.
type noted struct {
	call   *gcall
	path   gpath
	failed bool // it is an error object
	value  *node
	why    atoms
}

// document is a run of a document.
type document struct {
	*interpreter
	doc     *gdoc
	initial map[string]*node
	log     []write
	calls   []callState
	why     atoms // what decided that it runs
}

type callState struct {
	failed, byFailure bool // unhandled; skipped because something failed
	wrote             bool
	why               atoms // what decided whether it writes, and where
	lost              atoms // what decided whether it fails with nothing to handle that, in a run that goes on
}

// outcome is the result of a run or of a call.
type outcome struct {
	value *node // nil: it failed
	why   atoms // what decided about the value being there
	fault atoms // what the message of the failure may tell
	ended bool  // of a run: a failure ended it before its last call

	which     int  // the alternative that was chosen
	condition bool // it failed since a condition could not be evaluated
}

// run runs the plan. It reports whether a failure ended it.
func (in *interpreter) run(p *gplan) (ended bool) {
	global := map[string]*node{"input": in.input(), "state": object(atoms{}, nil)}
	own := map[string]map[string]*node{}
	for i := range p.root.messages {
		m := &p.root.messages[i]
		if m.instance == "" {
			global[m.kind] = merged(m.value, global[m.kind])
			continue
		}
		if own[m.instance] == nil {
			own[m.instance] = map[string]*node{}
		}
		own[m.instance][m.kind] = m.value
	}
	if !p.template {
		for _, name := range p.instances {
			for _, kind := range []string{"input", "state"} {
				if global[layer(kind, name)] = own[name][kind]; own[name][kind] == nil {
					global[layer(kind, name)] = object(atoms{}, nil)
				}
			}
		}
		o := in.document(p.root, global, atoms{})
		in.takeBack(o.fault)
		return o.ended
	}
	for _, name := range p.instances {
		in.instance = name
		initial := maps.Clone(global)
		for kind, v := range own[name] {
			initial[kind] = merged(initial[kind], v)
		}
		o := in.document(p.root, initial, atoms{})
		in.takeBack(o.fault)
		ended = o.ended || ended
	}
	return ended
}

// takeBack takes back what the run did, which any run may be asked for. fault has what its failure
// may tell.
func (in *interpreter) takeBack(fault atoms) {
	for _, u := range in.undone {
		kinds := map[string]*node{
			"params": u.params, "result": u.result,
			"failure": object(fault, []string{"code", "message"}, text("code", fault), text("message", fault)),
		}
		given, ok := object(atoms{}, nil), true
		for _, p := range u.undo.params {
			v, known := u.undo.value(p.value, kinds)
			given, ok = given.with(p.name, v), ok && known
		}
		if !ok { // it reads what is not there, so the call stands
			continue
		}
		for i, name := range given.names {
			e := u.event
			e.param, e.data = name, given.kids[i].all()
			in.events = append(in.events, e)
		}
		e := u.event
		e.params = u.undo.tool + given.json()
		in.events = append(in.events, e)
	}
	in.undone = nil
}

// value evaluates a value of an undo; false if it reads what is not there.
func (u *gundo) value(v *gvalue, kinds map[string]*node) (*node, bool) {
	own := one(ofPlan)
	if u.defined {
		own = atoms{}
	}
	read := func(x *gexpr) (*node, bool) {
		root := kinds[x.path[0].(string)]
		if root == nil {
			return text("", atoms{}), false
		}
		n, in := root.find(x.path[1:])
		if n == nil {
			return text("", atoms{}), false
		}
		m := *n
		m.at = n.at.or(in)
		return &m, true
	}
	switch {
	case v.expr != nil:
		return read(v.expr)
	case v.text != nil:
		n, ok := read(v.text[1].(*gexpr))
		return text(v.text[0].(string)+n.json(), own.or(n.all())), ok
	case v.members != nil:
		o, all := object(own, nil), true
		for _, m := range v.members {
			k, ok := u.value(m.value, kinds)
			o, all = o.with(m.name, k), all && ok
		}
		return o, all
	}
	if s, ok := v.literal.(string); ok {
		return text(s, own), true
	}
	return &node{kind: 's', text: fmt.Sprint(v.literal), at: own}, true
}

// input returns the input that the run is given.
func (in *interpreter) input() *node {
	at, user := one(ofInput), one(ofUser)
	item := object(user, []string{"id", "title"}, text(in.say("i", user), user), text(in.say("t", user), user))
	return object(at, []string{"text", "user"}, text(in.say("t", at), at), object(user, []string{"name", "list"}, text(in.say("n", user), user), list(user, item)))
}

// layer returns the name of a kind of an instance on the whiteboard.
func layer(kind, instance string) string { return compile.Layer(kind, instance) }

// in returns a path on the layer of an instance.
func (p gpath) in(instance string) gpath {
	if instance == "" || p == nil {
		return p
	}
	return append(gpath{layer(p[0].(string), instance)}, p[1:]...)
}

func (in *interpreter) document(doc *gdoc, initial map[string]*node, why atoms) outcome {
	in.depth++
	defer func() { in.depth-- }()
	d := &document{interpreter: in, doc: doc, initial: initial, calls: make([]callState, len(doc.calls)), why: why}
	var fault atoms
	failed := false
	for _, c := range doc.calls {
		f, stop := d.call(c)
		if fault = fault.or(f); stop {
			return outcome{fault: fault, ended: true}
		}
		failed = failed || d.calls[c.index].failed
	}
	if failed {
		return outcome{fault: fault}
	}
	end := len(doc.calls) + 1
	if doc.out == nil {
		v, _, _, _ := d.read(gpath{"state"}, "", end)
		return outcome{value: v}
	}
	e := &evaluator{document: d, place: end}
	v := e.value(doc.out)
	if e.worst != present {
		return outcome{fault: fault.or(e.shape)}
	}
	return outcome{value: v, why: e.wrote}
}

type presence int

const (
	present presence = iota
	missing
	gone
)

func overlaps(w, path gpath) bool {
	n := min(len(w), len(path))
	return slices.Equal(w[:n], path[:n])
}

// writes returns the paths that a call may write.
func (c *gcall) writes() (all []gpath) {
	for _, p := range c.paths {
		all = append(all, p.in(c.instance))
	}
	if c.errorPath != nil {
		all = append(all, c.errorPath.in(c.instance))
	}
	return all
}

// bindings are, by document, the places of the writes that end the bindings of references.
type bindings map[*gdoc]map[string]int

// bindingsOf takes the bindings from the compiler; package law tests these.
func bindingsOf(prog *compile.Program, doc *gdoc) bindings {
	all := bindings{}
	all.add(prog, doc)
	return all
}

func (b bindings) add(prog *compile.Program, doc *gdoc) {
	since := map[string]int{}
	b[doc] = since
	read := func(id string, all iter.Seq[*compile.Expr]) {
		for x := range all {
			for r := range reads(x) {
				since[id+r.Path.String()] = int(r.Since)
				if r.Under != nil {
					since["under "+id+r.Path.String()] = int(r.Under.Since)
				}
			}
		}
	}
	for i := range prog.Calls {
		c, g := &prog.Calls[i], doc.calls[i]
		if c.ID != g.id {
			panic("plan order is not that of the list, as the oracle assumes")
		}
		read(c.ID, c.Params.Exprs())
		if c.When != nil {
			read(c.ID, slices.Values([]*compile.Expr{c.When}))
		}
		if c.Rare == nil {
			continue
		}
		read(c.ID, slices.Values(c.Scopes))
		if c.Fallback != nil && c.Fallback.Params != nil {
			read(c.ID, c.Fallback.Params.Exprs())
		}
		if g.delegate != nil {
			b.add(c.Delegate.Program, g.delegate)
		}
	}
	if prog.Output != nil {
		read("", prog.Output.Exprs())
	}
}

// reads returns the references of an expression.
func reads(x *compile.Expr) iter.Seq[*compile.Read] {
	return func(yield func(*compile.Read) bool) {
		if r, _ := x.Ref(); r != nil && !yield(r) {
			return
		}
		for _, arg := range x.Args() {
			for r := range reads(arg) {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// since returns the place of the write that ends the binding of a reference of the call at a place;
// 0 is none. under reports that the reference is of a call of an instance, and looks at the global
// layer.
func (d *document) since(path gpath, place int, under bool) int {
	id := ""
	if place <= len(d.doc.calls) {
		id = d.doc.calls[place-1].id
	}
	if under {
		id = "under " + id
	}
	return d.bound[d.doc][id+"†"+path.String()]
}

// held reports whether the initial whiteboard holds a path.
func (d *document) held(path gpath) bool {
	root := d.initial[path[0].(string)]
	v, _ := root.find(path[1:])
	return v != nil
}

// layers returns a path on the layer of an instance, if any, and on the global one.
func layers(path gpath, instance string) []gpath {
	if instance == "" {
		return []gpath{path}
	}
	return []gpath{path.in(instance), path}
}

// read returns the value at a path, as a call of an instance sees it from a place: what the
// instance has is merged over what all have. wrote has the atoms that decided about the writes, and
// shape those of the values that contain it.
func (d *document) read(path gpath, instance string, place int) (v *node, p presence, wrote, shape atoms) {
	since := d.since(path, place, false)
	v, p, wrote, shape = d.look(path.in(instance), since, place)
	if instance == "" {
		return v, p, wrote, shape
	}
	under := d.since(path, place, true)
	if p == present && v.kind != 'o' {
		return v, p, wrote, shape
	}
	for n := len(path) - 1; n > 1; n-- {
		above, q, _, _ := d.look(path[:n].in(instance), since, place)
		if q != present || slices.Contains(path[:n], any("[*]")) {
			continue
		}
		if below, q, _, _ := d.look(path[:n], under, place); above.kind != 'o' || q == present && below.kind != 'o' {
			return v, p, wrote, shape
		}
	}
	u, q, w, s := d.look(path, under, place)
	wrote, shape = wrote.or(w), shape.or(s)
	switch {
	case p == present && q == present && u.kind == 'o':
		return merged(u, v), present, wrote, shape
	case p == present:
		return v, present, wrote, shape
	case q == present:
		return u, present, wrote, shape
	}
	return nil, min(p, q), wrote, shape
}

// look returns the value at a path of one layer. since is the place of the last certain write that
// covers the path of the reference.
func (d *document) look(path gpath, since, place int) (v *node, p presence, wrote, shape atoms) {
	root := object(atoms{}, nil)
	if since == 0 {
		root = d.initial[path[0].(string)]
	}
	any := false
	for i := range d.log {
		w := &d.log[i]
		if w.place < since || w.place >= place || !overlaps(w.path, path) {
			continue
		}
		next, ok := w.apply(root, w.path[1:])
		if !ok {
			panic("a write that was applied can't be")
		}
		root, any, wrote = next, true, wrote.or(w.why)
	}
	for i := max(since, 1) - 1; i < min(place-1, len(d.doc.calls)); i++ { // what was not written tells something, too
		if slices.ContainsFunc(d.doc.calls[i].writes(), func(w gpath) bool { return overlaps(w, path) }) {
			wrote = wrote.or(d.calls[i].why)
		}
	}
	v, shape = root.find(path[1:])
	switch {
	case v != nil:
		return v, present, wrote, shape
	case any || since == 0 && d.held(path):
		return nil, missing, wrote, shape
	}
	return nil, gone, wrote, shape
}

// evaluator evaluates the values of one call.
type evaluator struct {
	*document
	place        int
	instance     string
	wrote, shape atoms // what decided what was there
	worst        presence
	blamed       bool // what is gone is so because something failed
}

// expr evaluates an expression.
func (e *evaluator) expr(x *gexpr) (v *node, p presence, wrote, shape atoms) {
	switch {
	case x.path != nil:
		v, p, wrote, shape = e.read(x.path, e.instance, e.place)
		if p == gone {
			e.blame(x.path)
		}
		return v, p, wrote, shape
	case x.or != nil:
		worst := gone
		for _, a := range x.or {
			v, p, w, s := e.expr(a)
			wrote = wrote.or(w).or(s)
			if p == present {
				return v, present, wrote, shape
			}
			worst = min(worst, p)
		}
		return nil, worst, wrote, shape
	case x.and != nil:
		for _, a := range x.and {
			var q presence
			var w, s atoms
			v, q, w, s = e.expr(a)
			p, wrote, shape = max(p, q), wrote.or(w), shape.or(s)
		}
		return v, p, wrote, shape
	}
	return text(x.literal, one(ofPlan)), present, atoms{}, atoms{}
}

// blame records the failed calls because of which a path has no value.
func (e *evaluator) blame(path gpath) {
	for i, p := range layers(path, e.instance) {
		e.blameLayer(p, e.since(path, e.place, i > 0))
	}
}

func (e *evaluator) blameLayer(path gpath, since int) {
	for i, c := range e.doc.calls[:min(e.place-1, len(e.doc.calls))] {
		if i+1 < since || !slices.ContainsFunc(c.writes(), func(w gpath) bool { return overlaps(w, path) }) {
			continue
		}
		e.blamed = e.blamed || e.calls[i].failed || e.calls[i].byFailure
	}
}

// value evaluates a value of the plan.
func (e *evaluator) value(v *gvalue) *node {
	put := func(x *gexpr) *node {
		n, p, w, s := e.expr(x)
		e.worst, e.wrote, e.shape = max(e.worst, p), e.wrote.or(w), e.shape.or(s)
		if n == nil {
			return text("", atoms{})
		}
		return n
	}
	switch {
	case v.expr != nil:
		return put(v.expr)
	case v.text != nil:
		s, at := "", one(ofPlan)
		for _, part := range v.text {
			x, ok := part.(*gexpr)
			if !ok {
				s += part.(string)
				continue
			}
			n := put(x)
			at = at.or(n.all())
			if n.kind == 's' && n.text[0] == '"' {
				plain, _ := strconv.Unquote(n.text)
				s += plain
			} else {
				s += n.json()
				e.quotes = e.quotes || n.kind != 's'
			}
		}
		return text(s, at)
	case v.members != nil:
		o := object(one(ofPlan), nil)
		for _, m := range v.members {
			o = o.with(m.name, e.value(m.value))
		}
		return o
	case v.list != nil:
		l := list(one(ofPlan))
		for _, m := range v.list {
			l.kids = append(l.kids, e.value(m))
		}
		return l
	}
	if s, ok := v.literal.(string); ok {
		return text(s, one(ofPlan))
	}
	return &node{kind: 's', text: fmt.Sprint(v.literal), at: one(ofPlan)}
}

// call makes a call. It returns the atoms that its failure reveals, and whether it ends the
// document.
func (d *document) call(c *gcall) (fault atoms, stop bool) {
	st := &d.calls[c.index]
	e := &evaluator{document: d, place: c.index + 1, instance: c.instance}
	st.why = d.why
	for _, id := range c.depends {
		i := slices.IndexFunc(d.doc.calls, func(c *gcall) bool { return c.id == id })
		st.why = st.why.or(d.calls[i].lost)
		if d.calls[i].failed || d.calls[i].byFailure {
			st.byFailure = true
			return atoms{}, false
		}
	}
	if c.when != nil {
		v, p, w, s := e.expr(c.when)
		st.why = st.why.or(w).or(s)
		e.blamed = false
		if p == present {
			st.why = st.why.or(v.at)
		}
		if p != present || v.text == "null" || v.text == "false" {
			return atoms{}, false
		}
	}
	params := object(atoms{}, nil) // the plan says its literals, not that there are params
	for _, p := range c.params {
		params = params.with(p.name, e.value(p.value))
	}
	st.why = st.why.or(e.wrote)
	if d.survives(c) {
		st.why = st.why.or(e.shape)
	}
	st.lost = st.why
	switch e.worst {
	case gone:
		st.byFailure = e.blamed
		return atoms{}, false
	case missing:
		return d.fails(c, st.why.or(e.shape), e.shape)
	}
	scopes := d.scopes(c, e)
	why := st.why
	var o outcome
	for try := 0; try <= c.retry && o.value == nil; try++ {
		switch {
		case c.delegate != nil:
			o = d.delegate(c, params, scopes, why)
		case c.cases != nil:
			o = d.chosen(c, params)
		default:
			o = d.tool(c, c, params, scopes, why, try)
		}
	}
	why = why.or(o.why)
	if o.value == nil && c.fallback != nil {
		f := d.fallBack(c, why.or(o.fault))
		if f.value != nil {
			o.value, why = f.value, why.or(f.why)
		}
		o.fault = o.fault.or(f.fault)
	}
	if st.why = why; o.value == nil {
		if c.cases == nil { // of a choose only what its conditions read decides
			why = why.or(o.fault)
		}
		if o.condition && c.errorPath == nil { // which no alternative takes
			return d.unhandled(c, why, o.fault)
		}
		return d.fails(c, why, o.fault)
	}
	return d.succeeds(c, why, o)
}

// decided notes what decided about the outcome of a call; fault has what decided whether it fails. If
// a failure ends the run, or the plan handles it, it decides nothing about the calls that depend on
// the call.
func (d *document) decided(c *gcall, why, fault atoms) {
	st := &d.calls[c.index]
	if st.why = why; d.strategyOf(c) != "abort" && c.errorPath == nil && (len(c.paths) < 2 || c.cases != nil) {
		st.lost = st.lost.or(fault)
	}
}

// strategyOf returns what becomes of the run when a call fails and nothing handles that.
func (d *document) strategyOf(c *gcall) string {
	if c.onFailure != "" {
		return c.onFailure
	}
	return d.strategy
}

// survives reports whether the run goes on when a call fails.
func (d *document) survives(c *gcall) bool {
	return d.strategyOf(c) != "abort" || c.errorPath != nil || c.takesFailure()
}

// takesFailure reports whether the last outcome of a call is its failure: unless a choose has a
// condition for that outcome.
func (c *gcall) takesFailure() bool {
	return len(c.paths) > 1 && !slices.ContainsFunc(c.cases, func(k gcase) bool { return k.outcome == len(c.paths)-1 })
}

// chosen returns the outcome of a choose. What decides is what the conditions read.
func (in *interpreter) chosen(c *gcall, params *node) (o outcome) {
	value := params.member("value")
	o.fault = params.all()
	for _, k := range c.cases {
		v, reads := value, atoms{}
		for i, name := range k.path {
			o.why = o.why.or(v.at)
			next := v.member(name.(string))
			if v.kind == 'l' || next == nil && (k.op != "has" || i < len(k.path)-1) {
				o.condition = true
				return o
			}
			v = next
		}
		holds := k.op == "true"
		switch k.op {
		case "has":
			holds = v != nil
		case "is":
			reads, holds = v.all(), v.text == strconv.Quote(k.text)
		case "any":
			reads, holds = v.all(), in.choose(fmt.Sprint("any", k.outcome, k.text), v.json(), atoms{}, 2) > 0
		}
		if o.why = o.why.or(reads); holds {
			o.value, o.which = value, k.outcome
			return o
		}
	}
	return o
}

// scopes returns the scopes of a call, by path.
func (d *document) scopes(c *gcall, e *evaluator) (all []write) {
	for _, path := range c.scopes {
		if v, p, _, _ := e.read(path, e.instance, e.place); p == present {
			all = append(all, write{path: path, value: v})
		}
	}
	return all
}

// fallBack makes the fallback of a call.
func (d *document) fallBack(c *gcall, why atoms) outcome {
	e := &evaluator{document: d, place: c.index + 1, instance: c.instance}
	params := object(atoms{}, nil) // the plan says its literals, not that there are params
	for _, p := range c.fallback.params {
		params = params.with(p.name, e.value(p.value))
	}
	why = why.or(e.wrote)
	if e.worst != present {
		return outcome{fault: e.wrote.or(e.shape)}
	}
	o := d.tool(c, c.fallback, params, d.scopes(c, e), why, 0)
	o.why, o.fault = why, o.fault.or(e.wrote).or(e.shape)
	return o
}

// succeeds writes the result of a call.
func (d *document) succeeds(c *gcall, why atoms, o outcome) (atoms, bool) {
	v, which := o.value, o.which
	if len(c.paths) > 1 && c.cases == nil {
		which = slices.IndexFunc(c.paths, func(p gpath) bool { return strconv.Quote(p[len(p)-1].(string)) == v.member("_outcome").text })
		why = why.or(v.all())
		v = v.member("_value")
	}
	if c.cases == nil && d.survives(c) { // that it did not fail tells something
		why = why.or(o.fault)
	}
	if c.cases == nil && len(c.paths) > 1 { // and so does where it is written
		why = why.or(v.all())
	}
	fault := o.fault
	if c.cases != nil {
		fault = o.why
	}
	d.decided(c, why, fault)
	if c.paths == nil {
		return atoms{}, false
	}
	if !d.write(c, c.paths[which], c.method, v, why, false) {
		return d.fails(c, why.or(v.all()), v.all())
	}
	return atoms{}, false
}

func (d *document) write(c *gcall, path gpath, method string, v *node, why atoms, failed bool) bool {
	note := noted{c, path, failed, v, why}
	path = path.in(c.instance)
	w := write{c.index + 1, path, method, v, why}
	root := d.initial[path[0].(string)]
	for _, before := range append(d.log, w) {
		if before.path[0] != path[0] {
			continue
		}
		next, ok := before.apply(root, before.path[1:])
		if !ok {
			return false
		}
		root = next
	}
	d.log = append(d.log, w)
	d.calls[c.index].wrote = true
	if d.depth == 1 {
		if d.writes == nil {
			d.writes = map[string][]noted{}
		}
		d.writes[d.interpreter.instance] = append(d.writes[d.interpreter.instance], note)
	}
	return true
}

// fails handles the failure of a call.
func (d *document) fails(c *gcall, why, fault atoms) (atoms, bool) {
	d.decided(c, why, fault)
	path := c.errorPath
	if path == nil && c.takesFailure() {
		path = c.paths[len(c.paths)-1]
	}
	if path != nil {
		o := object(fault, []string{"code", "message"}, text("code", fault), text("message", fault))
		if d.write(c, path, "", o, why, true) {
			return atoms{}, false
		}
	}
	return d.unhandled(c, why, fault)
}

// unhandled ends a call that failed with nothing to handle that.
func (d *document) unhandled(c *gcall, why, fault atoms) (atoms, bool) {
	st := &d.calls[c.index]
	d.decided(c, why, fault)
	switch d.strategyOf(c) {
	case "skip":
		st.byFailure = true
		return fault, false
	case "continue":
		st.failed = true
		return fault, false
	}
	st.failed = true
	return fault, true
}

// tool makes a call of a tool, which is c or its fallback by. What a tool is given by another try is
// what it was given before, so only the first is an event.
func (d *document) tool(c, by *gcall, params *node, scopes []write, why atoms, try int) outcome {
	d.interpreter.calls++
	text := params.json()
	d.quotes = d.quotes || strings.Contains(text, "message") || strings.Contains(text, "code")
	given := params.all()
	if by.isSink() && try == 0 {
		add := func(e event) {
			e.call, e.fallback, e.instance = c, by != c, d.instance
			d.events = append(d.events, e)
		}
		for i, name := range params.names {
			add(event{param: name, data: params.kids[i].all(), why: why})
		}
		var seen atoms
		for _, s := range scopes {
			seen = seen.or(s.value.all())
		}
		if len(scopes) > 0 {
			add(event{param: "*", data: seen, why: why})
		}
		add(event{params: by.tool + text})
	}
	for _, s := range scopes {
		given = given.or(s.value.all())
	}
	o := d.resultOf(by.runs(), params, given, try, by.picked())
	if u := by.undoOf(); u != nil && (o.value != nil || u.whenUncertain) {
		if u.whenUncertain && try > 0 { // the tries have one key, so they are taken back once
			d.undone = d.undone[:len(d.undone)-1]
		}
		e := event{call: c, fallback: by != c, why: why, instance: d.instance, undo: u}
		if o.value != nil && (d.survives(c) || by == c && c.fallback != nil) { // that it did not fail tells something
			e.why = e.why.or(o.fault)
		}
		d.undone = append(d.undone, undone{e, params, o.value})
	}
	if by.picked() { // all that is said of either tool holds, and what is said of unknown ones
		o.fault = o.fault.or(ownOf(by.tool)).or(one(ofDefault))
		if o.value != nil {
			o.value = o.value.labelled(by.tool, 0).carrying(one(ofDefault))
		}
	}
	return o
}

// owns are the atoms of the tools whose results have one label.
var owns = map[string]atom{"wrap": ofWrap, "picky": ofPicky, "pick": ofPick, "redact": ofRedact, "vouch": ofVouch, "sink": ofSink, "out": ofOut, "act": ofAct}

// source returns the number of a tool that is a source.
func source(tool string) (n int, ok bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(tool, "src"))
	return n, err == nil
}

func partOf(source, i int) atoms { return one(ofSource + atom(source*partsOfSource+i)) }

// ownOf returns the atoms of all that a tool may return.
func ownOf(tool string) (all atoms) {
	if n, ok := source(tool); ok {
		for i := range partsOfSource {
			all = all.or(partOf(n, i))
		}
	} else if own, ok := owns[tool]; ok {
		all = one(own)
	}
	return all
}

// labelled returns a result with the atoms that its parts have as the result of another tool. part
// is the number of the part in sourceParts.
func (n *node) labelled(tool string, part int) *node {
	own := ownOf(tool)
	number, ok := source(tool)
	if ok {
		own = partOf(number, part)
	}
	m := *n
	m.at = n.at.or(own)
	m.kids = make([]*node, len(n.kids))
	for i, k := range n.kids {
		next := part
		if n.kind == 'o' && ok {
			name := n.names[i]
			if part == 3 {
				name = "list." + name
			}
			if i := slices.Index(sourceParts[:], name); i > 0 && (part == 0 || part == 3) {
				next = i
			}
		}
		m.kids[i] = k.labelled(tool, next)
	}
	return &m
}

// resultOf returns the result of a tool. If it was picked, it endorses and declassifies nothing.
// Another try may only differ in whether it fails: a tool that tells by its result how often it was
// tried is out of scope (docs/flow.md).
func (in *interpreter) resultOf(tool string, params *node, given atoms, try int, picked bool) outcome {
	key := params.json()
	own := ownOf(tool)
	pick := func(what string, own atoms, n int) int { return in.choose(tool+what, key, own, n) }
	at, fault := given.or(own), given.or(own)
	changed := func(how int) atoms {
		if picked {
			return at
		}
		return given.changed(how).or(own)
	}
	switch tool {
	case "echo":
		return outcome{value: params.carrying(given)}
	case "pick":
		n := pick("", own, 4)
		if n == 3 {
			return outcome{fault: fault}
		}
		return outcome{value: object(at, []string{"_outcome", "_value"}, text([]string{"one", "two", "three"}[n], at), text(in.say("chosen", own), at)), fault: fault}
	}
	if pick(" fails"+strings.Repeat(" again", try), own, 2) == 0 {
		return outcome{fault: fault}
	}
	switch tool {
	case "wrap":
		return outcome{value: object(at, []string{"in", "out"}, params.carrying(at), list(at, text(in.say("x", own), at), params.carrying(at))), fault: fault}
	case "picky", "act":
		return outcome{value: params.carrying(at), fault: fault}
	case "redact":
		return outcome{value: text(in.say("clean", own), changed(declassified)), fault: fault}
	case "vouch":
		return outcome{value: stripped(params).carrying(changed(endorsed)), fault: fault}
	case "sink", "out":
		return outcome{value: text(in.say("sunk", own), at), fault: fault}
	}
	n, _ := source(tool)
	part := func(i int) atoms { return given.or(partOf(n, i)) }
	word := func(s string, i int) *node { return text(in.say(s, partOf(n, i)), part(i)) }
	item := func(i int) *node {
		return object(part(3), []string{"id", "title"}, word(fmt.Sprintf("%s-id%d", tool, i), 4), word("title", 3))
	}
	choice := pick(" whole", partOf(n, 0), 3)
	v := object(part(0), []string{"b", "list", "flag"}, object(part(2), []string{"c"}, word(tool+"-c", 2)), list(part(3)),
		&node{kind: 's', text: strconv.FormatBool(choice == 1), at: part(0)})
	if choice != 2 {
		v = v.with("a", word(tool+"-a", 1))
	}
	if pick(" list", partOf(n, 3), 2) > 0 {
		v.kids[1].kids = []*node{item(0), item(1)}
	}
	return outcome{value: v, fault: fault}
}

// stripped returns a value without its atoms.
func stripped(n *node) *node {
	m := *n
	m.at, m.kids = atoms{}, nil
	for _, k := range n.kids {
		m.kids = append(m.kids, stripped(k))
	}
	return &m
}

// delegate runs the document of a call.
func (d *document) delegate(c *gcall, params *node, scopes []write, why atoms) outcome {
	initial := func(input *node) map[string]*node {
		kinds := map[string]*node{"input": object(atoms{}, nil), "state": object(atoms{}, nil)}
		for i := range c.delegate.messages {
			kinds[c.delegate.messages[i].kind] = c.delegate.messages[i].value
		}
		for _, s := range scopes {
			w := write{path: s.path, value: s.value, method: "merge"}
			kind := s.path[0].(string)
			kinds[kind], _ = w.apply(kinds[kind], s.path[1:])
		}
		kinds["input"] = merged(kinds["input"], input)
		return kinds
	}
	asInput := func(v *node) *node {
		if v.kind == 'o' {
			return v
		}
		return object(v.at, []string{"item"}, v)
	}
	items := params.member("items")
	if items != nil && items.kind != 'l' {
		return outcome{fault: params.all()}
	}
	if items != nil {
		why = why.or(items.at)
	}
	switch c.tool {
	case "forEach":
		results := list(items.at)
		var fault, reasons atoms
		for _, item := range items.kids {
			o := d.document(c.delegate, initial(asInput(item)), why)
			reasons = reasons.or(o.why)
			switch {
			case o.value != nil:
				results.kids = append(results.kids, o.value)
			case c.collect == "skip":
				fault = fault.or(o.fault)
			case c.collect == "collect":
				fault = fault.or(o.fault)
				results.kids = append(results.kids, object(o.fault, []string{"error"}, object(o.fault, []string{"message"}, text("message", o.fault))))
			default:
				return outcome{fault: o.fault}
			}
		}
		results.at = results.at.or(fault)
		return outcome{value: results, why: reasons, fault: fault}
	case "reduce":
		result := params.member("initial")
		var reasons atoms
		for _, item := range items.kids {
			o := d.document(c.delegate, initial(object(one(ofPlan), []string{"item", "result"}, item, result)), why)
			if o.value == nil {
				return o
			}
			result, reasons = o.value, reasons.or(o.why)
		}
		return outcome{value: result, why: reasons}
	case "repeat":
		input := asInput(params.member("initial"))
		var o outcome
		for range 2 {
			next := o.why
			if o = d.document(c.delegate, initial(input), why); o.value == nil {
				return o
			}
			o.why = o.why.or(next)
			w := write{method: "assign", value: asInput(o.value)}
			input, _ = w.apply(asInput(params.member("initial")), nil)
		}
		return o
	}
	return d.document(c.delegate, initial(params), why)
}
