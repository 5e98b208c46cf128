package compile

import (
	"slices"

	"github.com/plc-lang/plc/dag"
	"github.com/plc-lang/plc/state"
)

// binder walks the calls in plan order and gives each read its binding: the writes it can see
// (plan-language §5). A certain write that covers a path ends the binding of the reads after it, so
// the chains of a path start again there.
type binder struct {
	*unit
	*lowered
	starts  dag.Builder // what calls wait for before they start
	commits dag.Builder // what writes wait for before they are applied
	links   []link      // by node of the path index
	writers []pathChains
	effects effectChains
	queues  queues // the queues of chains
	waits   bool   // some write must wait

	up    []int32 // scratch: the nodes from a path up to the root
	nodes []int32 // scratch: the nodes of the paths of a call
	front frontier
}

// link holds what the binder knows about a node of the path index. In most plans there are as many
// nodes as writes, so a link holds no pointers and is 64 bytes.
type link struct {
	at, sub span
	cover   state.Place // place of the last certain write that sets exactly this path; 0 means none
	readAt  state.Place // place of the last call that reads exactly this path
	readSub state.Place // place of the last call that reads this path or one below it
	unread  queue       // the places of writes that nobody has read
	below   queue       // the children that are dirty
	dirty   bool        // unread writes are at or below it
}

// span is the chain of the writers since the last cover, and their places.
type span struct {
	chain
	first, last state.Place
}

// bindings holds the edges between calls, and what was read and covered at each path.
type bindings struct {
	starts, commits *dag.Graph
	links           []link  // by node of the path index
	effectOrdered   []int32 // calls that wait because of effects
}

// bind puts the calls into plan order and binds their reads.
func bind(u *unit, low *lowered, order *planOrder) *bindings {
	low.permute(order)
	b := &binder{unit: u, lowered: low, links: make([]link, low.index.nodes.n)}
	if slices.ContainsFunc(b.calls, dependent) {
		b.writers = make([]pathChains, b.index.nodes.n)
	}
	b.effects.reset()
	b.starts.Grow(len(b.calls), low.countRefs())
	for range b.calls {
		if b.starts.Node(); b.writers != nil {
			b.commits.Node()
		}
	}
	for i := range b.calls {
		b.call(int32(i), &b.calls[i])
	}
	b.end.Place = state.Place(len(b.calls) + 1)
	for i := range b.end.refs {
		b.read(-1, &b.end, &b.end.refs[i])
	}
	starts, loop := b.starts.Build()
	if loop != nil {
		panic("compile: an edge against plan order")
	}
	bound := &bindings{starts: starts, links: b.links, effectOrdered: b.effects.ordered}
	if b.waits {
		bound.commits, _ = b.commits.Build()
	}
	return bound
}

// countRefs returns the number of references: a plan has about as many edges.
func (c *lowered) countRefs() (n int) {
	for i := range c.calls {
		n += len(c.calls[i].refs)
	}
	return n
}

// permute puts the calls into plan order.
func (c *lowered) permute(order *planOrder) {
	at := make([]int32, len(order.list)) // list index → plan order
	moved := false
	for i, n := range order.list {
		at[n] = int32(i)
		moved = moved || int(n) != i
	}
	if moved {
		calls, made := make([]draft, len(at)), make([]Call, len(at))
		for i, n := range order.list {
			calls[i], made[i] = c.calls[n], c.made[n]
			calls[i].Call = &made[i]
		}
		c.calls, c.made = calls, made
	}
	for i, e := range order.loops {
		order.loops[i].from, order.loops[i].to = at[e.from], at[e.to]
	}
	for i := range c.calls {
		d := &c.calls[i]
		d.Place = state.Place(i + 1)
		for j, dep := range d.DependsOn {
			d.DependsOn[j] = at[dep]
		}
	}
}

// call binds one call: what it reads, what it waits for, what it writes.
func (b *binder) call(i int32, d *draft) {
	certain := d.When == nil && len(d.Alternatives) == 1
	for j := range d.refs {
		r := &d.refs[j]
		b.read(i, d, r)
		certain = certain && (r.soft || r.held || r.expr.read.ends())
	}
	d.certain = certain
	for _, dep := range d.DependsOn {
		if dep < i { // else it is on a cycle that was reported
			b.starts.Edge(dep, i)
		}
	}
	b.order(i, d)
	for w := range d.writes() {
		if b.writers != nil && !independent(w, d.Method) && b.index.waitFor(&b.queues, &b.commits, b.writers, &Read{spot: w.commit}, i) {
			b.waits = true
		}
	}
	b.addCommitter(i, d)
	b.nodes = d.appendNodes(b.nodes[:0])
	for _, node := range b.nodes {
		b.write(i, node)
		b.index.addWriter(node, d.Place)
	}
	if certain && d.Method == state.Set {
		for _, w := range d.Alternatives[0].Writes {
			if !fromEnd(w.Path) {
				b.cover(d, w.node)
			}
		}
	}
}

// fromEnd reports whether a path has an index from the end. Which element that is changes with the
// list, so a write there covers nothing.
func fromEnd(p state.Path) bool {
	return slices.ContainsFunc(p, func(s state.Segment) bool { return s.Kind != state.Name && s.Index < 0 })
}

// independent reports whether a write can't fail, whatever other calls write, so that it may be
// applied in any order: it sets a member of a kind.
func independent(w *Write, m state.Method) bool {
	return m == state.Set && len(w.Path) == 2 && w.Path[1].Kind == state.Name
}

// dependent reports whether some write of a call is not independent.
func dependent(d draft) bool {
	for w := range d.writes() {
		if !independent(w, d.Method) {
			return true
		}
	}
	return false
}

// named returns the part of a path before the first index. Writes to elements of one list affect
// each other even if their paths do not overlap: [1] can be written only when [0] is there, and
// [-1] is the element that was appended last (state.Path.Conflicts). So writes are put in order by
// the list that they go to.
func named(p state.Path) state.Path {
	for i, s := range p {
		if s.Kind != state.Name {
			return p[:i]
		}
	}
	return p
}

// addCommitter adds call i to the chains of the paths that it writes, as named returns them.
func (b *binder) addCommitter(i int32, d *draft) {
	if b.writers == nil {
		return // no write waits
	}
	nodes := b.up[:0]
	for w := range d.writes() {
		if n := w.commit; !slices.Contains(nodes, n) {
			nodes = append(nodes, n)
		}
	}
	for _, node := range nodes {
		b.writers[node].at.add(&b.queues, i)
		for n := node; n > 0; n = b.index.up(n) {
			b.writers[n].sub.add(&b.queues, i)
		}
	}
	b.up = nodes[:0]
}

// read binds a read: it waits for the writes since the last certain write that covers it. For the
// output, i is -1; it waits for everything.
func (b *binder) read(i int32, d *draft, r *ref) {
	if r.void { // plan order may put a later call of the list before this one
		written := false
		for l := range r.expr.read.layers() {
			written = written || b.written(b.index.around(l, &b.index.front))
		}
		if r.void = !written; r.void {
			return
		}
	}
	for l := range r.expr.read.layers() {
		b.readLayer(i, d, l)
	}
}

// readLayer binds a read of one layer of the whiteboard.
func (b *binder) readLayer(i int32, d *draft, read *Read) {
	above, at := b.index.around(read, &b.index.front)
	read.Since = b.cutoff(read, above, at)
	for _, n := range above {
		b.links[n].readAt = d.Place
		b.bindTo(i, d, &b.links[n].at, read)
	}
	for _, n := range at {
		b.links[n].readSub = d.Place
		if len(at) <= maxElements {
			b.bindTo(i, d, &b.links[n].sub, read)
		}
	}
	if len(at) > maxElements || read.spot == 0 && b.coveredSince(read.Since, above, at) {
		b.bindToList(i, d, read)
	}
}

// ends reports whether a certain write ends the binding.
func (r *Read) ends() bool { return r.Since > 0 || r.Under != nil && r.Under.Since > 0 }

// coveredSince reports whether one of these nodes, or one above it, was covered after a place. A
// reference that may mean several nodes is then bound to writes that are no longer in their chains,
// since a write that covers one element does not cover the list.
func (b *binder) coveredSince(since state.Place, lists ...[]int32) bool {
	for _, nodes := range lists {
		for _, n := range nodes {
			for ; n > 0; n = b.index.up(n) {
				if b.links[n].cover > since {
					return true
				}
			}
		}
	}
	return false
}

// bindToList makes call i wait for each of the writers that a read is bound to, if they are few,
// and otherwise for all writers of the list. Waiting for more than it reads changes no value, and
// needs only one edge.
func (b *binder) bindToList(i int32, d *draft, read *Read) {
	writers, ok := b.index.few(read, d.Place, maxElements, &b.front)
	if !ok {
		list, _ := b.index.exact(named(read.Path))
		b.bindTo(i, d, &b.links[list].sub, read)
	}
	for _, w := range writers {
		if i >= 0 {
			b.starts.Edge(int32(w)-1, i)
		}
	}
}

// maxElements is the number of elements of a list up to which a reference with a wildcard waits for
// each of them. If more are written, it waits for the list. It also limits the writers after a
// cover.
const maxElements = 32

// written reports whether an earlier call writes a path that overlaps this one.
func (b *binder) written(above, at []int32) bool {
	return slices.ContainsFunc(above, func(n int32) bool { return !b.links[n].at.empty() }) ||
		slices.ContainsFunc(at, func(n int32) bool { return !b.links[n].sub.empty() })
}

// bindTo makes call i wait for the writers of a chain that a read is bound to. A chain may reach
// back beyond the cover of the read, if the cover is below the chain's path; then call i waits for
// each writer after the cover, if they are few.
func (b *binder) bindTo(i int32, d *draft, s *span, read *Read) {
	switch {
	case i < 0 || s.empty() || s.last < read.Since:
	case s.first >= read.Since:
		s.wait(&b.queues, &b.starts, i)
	default:
		writers, ok := b.index.few(read, d.Place, maxElements, &b.front)
		if !ok {
			s.wait(&b.queues, &b.starts, i)
		}
		for _, w := range writers {
			b.starts.Edge(int32(w)-1, i)
		}
	}
}

// cutoff returns the place of the last certain write that covers a path, that is, sets it or a path
// above it (state.Path.Covers).
func (b *binder) cutoff(r *Read, above, at []int32) (cut state.Place) {
	if r.spot != 0 { // every overlapping path that is not below it covers it
		for _, nodes := range [...][]int32{above, at} {
			for _, n := range nodes {
				cut = max(cut, b.links[n].cover)
			}
		}
		return cut
	}
	at = append(b.up[:0], 0)
	for _, s := range r.Path {
		first := len(at)
		for _, n := range at {
			at = b.index.covering(at, n, s)
		}
		if at = append(at[:0], at[first:]...); len(at) == 0 {
			break
		}
		for _, n := range at {
			cut = max(cut, b.links[n].cover)
		}
	}
	b.up = at
	return cut
}

// write adds call i to the chains of the path it writes and of those above.
func (b *binder) write(i int32, node int32) {
	b.up = b.up[:0]
	for n := node; n > 0; n = b.index.up(n) {
		b.up = append(b.up, n)
	}
	place, cut := state.Place(i+1), state.Place(0)
	for _, n := range slices.Backward(b.up) {
		cut = max(cut, b.links[n].cover)
		b.links[n].sub.put(&b.queues, i, place, cut)
	}
	b.links[node].at.put(&b.queues, i, place, cut)
	b.queues.push(&b.links[node].unread, int32(place))
	b.markDirty(node)
}

// markDirty marks a node and those above it as having unread writes.
func (b *binder) markDirty(n int32) {
	for n > 0 && !b.links[n].dirty {
		b.links[n].dirty = true
		up := b.index.up(n)
		b.queues.push(&b.links[up].below, n)
		n = up
	}
}

// put adds a writer. It leaves out writers before cut, which are covered.
func (s *span) put(q *queues, i int32, place, cut state.Place) {
	if s.last < cut || s.empty() {
		q.take(&s.rest)
		s.chain = chain{}
		s.first = place
	}
	s.add(q, i)
	s.last = place
}

// cover notes that a call certainly sets the path of a node. That ends the bindings of later reads
// of it; writes that nobody has read by then are dead.
func (b *binder) cover(d *draft, node int32) {
	l := &b.links[node]
	for _, s := range []*span{&l.at, &l.sub} {
		b.queues.take(&s.rest)
		*s = span{chain: chain{first: int32(d.Place)}, first: d.Place, last: d.Place}
	}
	b.deadWrites(d, node)
	l.cover = d.Place
}
