package compile

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/plc-lang/plc/dag"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/state"
)

// Plan order (plan-language §5) is made in two passes over the list. The first,
// forward, finds for each read whether an earlier call writes what it reads or
// the initial whiteboard holds it; the second, backward, finds the later writers of the
// reads that are left. Most plans have none, and plan order is the order of the list.
//
// A read needs every writer of an overlapping path, and there may be as many as calls. To avoid n²
// edges between n readers and n writers, the writers of a path are kept in a chain. The writers
// since the last reader are pending. The next reader waits for one junction (a virtual node), which
// waits for the junction before it and for the pending writers; after that, none are pending. Each
// writer is pending once on each level of its path, and each reader adds one junction on each level
// of its own, so the number of edges is linear in the text of the plan.

// chain holds the writers of a path, or of a path and all below it, since some point. The zero
// chain is empty. There is one for each path that is written, so it holds no pointers.
type chain struct {
	head  int32 // the junction of the earlier writers, plus 1; 0 means none
	first int32 // the first pending writer, plus 1; 0 means none
	rest  queue // the other pending writers
}

// add adds a writer.
func (l *chain) add(q *queues, n int32) {
	if l.first == 0 {
		l.first = n + 1
		return
	}
	q.push(&l.rest, n)
}

// empty reports whether there are no writers in the chain.
func (l *chain) empty() bool { return l.head == 0 && l.first == 0 }

// wait makes n wait for all writers in the chain.
func (l *chain) wait(q *queues, b *dag.Builder, n int32) {
	switch {
	case l.empty():
		return
	case l.head == 0 && l.rest == 0:
		b.Edge(l.first-1, n)
		return
	case l.first > 0:
		j := b.Virtual()
		if l.head > 0 {
			b.Edge(l.head-1, j)
		}
		b.Edge(l.first-1, j)
		for _, p := range q.take(&l.rest) {
			b.Edge(p, j)
		}
		l.head, l.first = j+1, 0
	}
	b.Edge(l.head-1, n)
}

// pathChains holds the chains of a node of the path index: the writers of exactly its path, and the
// writers at or below it.
type pathChains struct{ at, sub chain }

// planOrder is plan order: each call comes after those that it waits for.
type planOrder struct {
	list   []int32    // indexes into the list of calls; in Program.loops, places minus 1
	cyclic bool       // there is no plan order, and this is the order of the list
	loops  []loopEdge // edges of the reported cycles
}

// sorter finds plan order. On the way it decides which reads look forward.
type sorter struct {
	*unit
	*lowered
	board  *board
	queues queues  // of chains
	nodes  []int32 // scratch: see appendNodes
	found  planOrder
}

func newSorter(b *board, low *lowered) *sorter { return &sorter{unit: b.unit, lowered: low, board: b} }

// findOrder finds plan order, and reports cycles.
func findOrder(b *board, low *lowered) *planOrder {
	c := newSorter(b, low)
	if c.lookBack() {
		c.found.list = c.sorted()
	} else {
		c.found.list = c.listOrder()
	}
	return &c.found
}

// lookBack finds, for each read, whether something earlier in the list writes or holds its path. It
// reports whether any read has to look forward.
func (c *sorter) lookBack() (forward bool) {
	written := make([]struct{ at, sub bool }, c.index.nodes.n)
	earlier := func(r *Read) bool {
		above, at := c.index.around(r, &c.index.front)
		return slices.ContainsFunc(above, func(n int32) bool { return written[n].at }) ||
			slices.ContainsFunc(at, func(n int32) bool { return written[n].sub })
	}
	for i := range c.calls {
		d := &c.calls[i]
		if c.classify(d, earlier) {
			forward = true
		}
		if c.index.front.matched > maxMatched {
			c.tooWild(d)
			return false
		}
		for _, n := range c.nodesOf(d) {
			written[n].at = true
			for a := n; a > 0 && !written[a].sub; a = c.index.up(a) {
				written[a].sub = true
			}
		}
		for _, dep := range d.DependsOn {
			forward = forward || int(dep) >= i
		}
	}
	c.classify(&c.end, earlier)
	for i := range c.end.refs {
		r := &c.end.refs[i]
		r.void, r.after = r.void || r.after, false
	}
	return forward
}

// maxMatched bounds how often [*] and indexes from the end are matched with an element that is
// written, since each match is an edge.
const maxMatched = 4_000_000

// tooWild reports a call whose reads have too many matches. Its reads count as reads of nothing, so
// that the plan can be compiled at all.
func (c *sorter) tooWild(d *draft) {
	c.errorf(diag.OverLimit, d.Source.Node.Loc(), "references with [*], or with indexes from the end, meet more than %d elements that calls write one by one; read the list as a whole", maxMatched).
		in(d, "")
	c.found.cyclic, c.blind = true, true
	for j := range c.end.refs {
		c.end.refs[j].void = true
	}
	for i := range c.calls {
		for j := range c.calls[i].refs {
			c.calls[i].refs[j].void = true
		}
	}
}

// classify decides for each read of a call whether it looks forward.
func (c *sorter) classify(d *draft, earlier func(*Read) bool) (forward bool) {
	var settled map[int32]bool // groups with an operand that is always there
	for i := range d.refs {
		r := &d.refs[i]
		r.held = c.board.heldRead(&r.expr.read)
		r.after = !r.held
		for l := range r.expr.read.layers() {
			c.index.place(l)
			r.after = r.after && !earlier(l)
		}
		if r.group > 0 && (!r.after || c.literalGroups[r.group]) {
			if settled == nil {
				settled = map[int32]bool{}
			}
			settled[r.group] = true
		}
	}
	for i := range d.refs {
		r := &d.refs[i]
		if r.after && r.group > 0 && settled[r.group] {
			r.after, r.void = false, true // looks backward only, and nothing is there
		}
		forward = forward || r.after
	}
	return forward
}

// maxLoops is the maximum number of cycles of one plan that are reported. The other cycles are only
// counted by their calls.
const maxLoops = 20

// sorted returns plan order if a call must come after a later one in the list. Calls on a reported
// cycle wait for nothing, so that the next cycle is found.
func (c *sorter) sorted() []int32 {
	for told := 0; ; told++ {
		var b dag.Builder
		for range c.calls {
			b.Node()
		}
		c.needBefore(&b)
		c.needAfter(&b)
		for i := range c.calls {
			if c.calls[i].loop {
				continue
			}
			for _, dep := range c.calls[i].DependsOn {
				b.Edge(dep, int32(i))
			}
		}
		g, loop := b.Build()
		if loop == nil {
			return g.Order()
		}
		c.found.cyclic = true
		if told == maxLoops {
			first := &c.calls[loop[0]]
			c.errorf(diag.Cycle, first.Source.Node.Loc(), "%d more calls are on cycles", g.Cyclic()).in(first, "")
			return c.listOrder()
		}
		c.cycle(loop)
		for _, i := range loop {
			c.calls[i].loop = true
		}
	}
}

func (c *sorter) listOrder() []int32 {
	order := make([]int32, len(c.calls))
	for i := range order {
		order[i] = int32(i)
	}
	return order
}

// needBefore makes each read wait for the earlier writers of its path.
func (c *sorter) needBefore(b *dag.Builder) {
	chains := make([]pathChains, c.index.nodes.n)
	for i := range c.calls {
		d := &c.calls[i]
		for j := range d.refs {
			if !d.refs[j].after && !d.loop {
				c.waitForAll(b, chains, &d.refs[j].expr.read, int32(i))
			}
		}
		c.addWriter(chains, d, int32(i))
	}
}

// needAfter makes each read that looks forward wait for the later writers of its path. It walks the
// list backward, so that the chains hold later writers.
func (c *sorter) needAfter(b *dag.Builder) {
	chains := make([]pathChains, c.index.nodes.n)
	for i := len(c.calls) - 1; i >= 0; i-- {
		d := &c.calls[i]
		for j := range d.refs {
			r := &d.refs[j]
			if !r.after || d.loop || c.waitForAll(b, chains, &r.expr.read, int32(i)) {
				continue
			}
			if r.group == 0 && d.mayWrite(r.expr.read.Path) {
				b.Edge(int32(i), int32(i))
				continue
			}
			r.after, r.void = false, true
		}
		c.addWriter(chains, d, int32(i))
	}
}

// waitForAll does what waitFor does, in all layers of a read.
func (c *sorter) waitForAll(b *dag.Builder, chains []pathChains, r *Read, n int32) bool {
	found := false
	for l := range r.layers() {
		found = c.index.waitFor(&c.queues, b, chains, l, n) || found
	}
	return found
}

// waitFor makes call n wait for the writers in the chains that overlap a path,
// and reports whether there are any.
func (t *pathIndex) waitFor(q *queues, b *dag.Builder, chains []pathChains, r *Read, n int32) bool {
	above, at := t.around(r, &t.front)
	found := false
	for _, a := range above {
		found = found || !chains[a].at.empty()
		chains[a].at.wait(q, b, n)
	}
	for _, a := range at {
		found = found || !chains[a].sub.empty()
		chains[a].sub.wait(q, b, n)
	}
	return found
}

func (c *sorter) addWriter(chains []pathChains, d *draft, n int32) {
	for _, node := range c.nodesOf(d) {
		chains[node].at.add(&c.queues, n)
		for a := node; a > 0; a = c.index.up(a) {
			chains[a].sub.add(&c.queues, n)
		}
	}
}

// nodesOf returns the nodes of the paths that a call may write, each once. The slice is valid until
// the next call.
func (c *sorter) nodesOf(d *draft) []int32 {
	c.nodes = d.appendNodes(c.nodes[:0])
	return c.nodes
}

// appendNodes appends the nodes of the paths that a call may write, each once.
func (c *Call) appendNodes(dst []int32) []int32 {
	for w := range c.writes() {
		if !slices.Contains(dst, w.node) {
			dst = append(dst, w.node)
		}
	}
	return dst
}

// mayWrite reports whether a call may write a path that overlaps p.
func (d *draft) mayWrite(p state.Path) bool {
	for w := range d.writes() {
		if w.Path.Overlaps(p) {
			return true
		}
	}
	return false
}

// writes returns the paths that a call may write.
func (c *Call) writes() iter.Seq[*Write] {
	return func(yield func(*Write) bool) {
		for i := range c.Alternatives {
			for j := range c.Alternatives[i].Writes {
				if !yield(&c.Alternatives[i].Writes[j]) {
					return
				}
			}
		}
		if c.ErrorPath != nil {
			yield(c.ErrorPath)
		}
	}
}

// cycle reports a loop of calls, each of which waits for the one before it.
func (c *sorter) cycle(loop []int32) {
	ids := make([]string, 0, len(loop)+1)
	for _, i := range append(slices.Clone(loop), loop[0]) {
		ids = append(ids, quote(c.calls[i].ID))
	}
	if len(ids) > 16 {
		ids = append(ids[:12], fmt.Sprintf("… (%d more)", len(ids)-14), ids[len(ids)-2], ids[len(ids)-1])
	}
	msg := "a cycle: " + strings.Join(ids, " → ")
	if len(loop) == 1 {
		msg = fmt.Sprintf("a cycle: %s waits for itself", ids[0])
	}
	first := &c.calls[loop[0]]
	var f finding
	for i, n := range loop {
		next := &c.calls[loop[(i+1)%len(loop)]]
		loc, how, read := c.need(next, &c.calls[n], n)
		if read != nil {
			c.found.loops = append(c.found.loops, loopEdge{n, loop[(i+1)%len(loop)], read})
		}
		if i == 0 {
			// The finding is at the reference of the first call in the list.
			last := loop[len(loop)-1]
			at, _, _ := c.need(first, &c.calls[last], last)
			f = c.errorf(diag.Cycle, at, "%s", msg).in(first, "")
		}
		if i < 100 {
			f.related(loc, "%q %s", next.ID, how)
		}
	}
}

// loopEdge is an edge of a cycle: to reads a path that from writes.
type loopEdge struct {
	from, to int32 // indexes into the calls
	path     state.Path
}

// need returns where and how a call waits for another, and the path that it reads, if that is the
// reason.
func (c *sorter) need(d, on *draft, index int32) (loc diag.Loc, how string, read state.Path) {
	for i := range d.refs {
		r := &d.refs[i].expr.read
		if on.mayWrite(r.Path) || r.Under != nil && on.mayWrite(r.Under.Path) {
			return c.at(r.Span), fmt.Sprintf("reads %s, which %q writes", r.Path, on.ID), r.Path
		}
	}
	if slices.Contains(d.DependsOn, index) {
		for _, n := range d.Source.Rest.DependsOn {
			if n.Name == on.ID {
				return n.Node.Loc(), fmt.Sprintf("depends on %q", on.ID), nil
			}
		}
	}
	return d.Source.Node.Loc(), fmt.Sprintf("waits for %q", on.ID), nil
}
