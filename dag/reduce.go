package dag

import "slices"

// Direct calls f once for each pair of real nodes joined by an edge, or by a path of virtual nodes
// only, until f returns false. There may be many more pairs than edges.
//
// Pairs are ordered by from, then by to, and include nodes on cycles. Direct can be used in a range
// clause:
//
//	for from, to := range g.Direct { … }
//
// The time is proportional to the number of pairs plus, for each from, the edges on the way to
// them. It stores only one mark per node.
func (g *Graph) Direct(f func(from, to int32) bool) {
	w := g.walk()
	for from := range int32(g.Len()) {
		if g.virtual[from] {
			continue
		}
		for _, to := range w.direct(from) {
			if !f(from, to) {
				return
			}
		}
	}
}

// walk visits nodes, each at most once per round, and counts the edges it follows.
type walk struct {
	g        *Graph
	seen     []int32 // the last round that visited each node
	round    int32
	stack    []int32
	found    []int32
	followed int
}

func (g *Graph) walk() *walk { return &walk{g: g, seen: make([]int32, g.Len())} }

// direct returns the real nodes that follow from with only virtual nodes between, ascending. The
// slice is valid until the next call.
func (w *walk) direct(from int32) []int32 {
	w.round++
	w.found, w.stack = w.found[:0], append(w.stack[:0], from)
	through := false
	for len(w.stack) > 0 {
		n := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		for _, to := range w.g.Succ(n) {
			w.followed++
			if w.seen[to] == w.round {
				continue
			}
			w.seen[to] = w.round
			if w.g.virtual[to] {
				w.stack = append(w.stack, to)
				through = true
			} else {
				w.found = append(w.found, to)
			}
		}
	}
	if through {
		slices.Sort(w.found)
	}
	return w.found
}

// Reduce returns the transitive reduction over the real nodes, that is, the fewest edges with the
// same paths, ordered by from and then by to. It takes time up to nodes times edges. If it would
// look at more than limit pairs, including edges it follows on the way, it gives up and ok is
// false. Nodes on or behind cycles have no edges in the reduction.
func (g *Graph) Reduce(limit int) (edges [][2]int32, ok bool) {
	r := reducer{walk: g.walk(), behind: g.walk(), place: g.places(), limit: limit}
	for from := range int32(g.Len()) {
		if g.virtual[from] || r.place[from] < 0 {
			continue
		}
		kept, ok := r.reduce(from)
		if !ok {
			return nil, false
		}
		for _, to := range kept {
			edges = append(edges, [2]int32{from, to})
		}
	}
	return edges, true
}

// places returns the place of each node in topo, -1 on or behind cycles.
func (g *Graph) places() []int32 {
	place := make([]int32, g.Len())
	for n := range place {
		place[n] = -1
	}
	for i, n := range g.topo {
		place[n] = int32(i)
	}
	return place
}

type reducer struct {
	walk, behind *walk
	place        []int32
	limit        int
	kept         []int32
}

// reduce returns the successors of a node that no other successor leads to. It processes them in
// topological order, so that any node leading to a successor was kept before it, and nodes after
// the last successor can be ignored.
func (r *reducer) reduce(from int32) ([]int32, bool) {
	to := r.walk.direct(from)
	to = slices.DeleteFunc(to, func(n int32) bool { return r.place[n] < 0 })
	slices.SortFunc(to, func(a, b int32) int { return int(r.place[a]) - int(r.place[b]) })
	r.kept = r.kept[:0]
	r.behind.round++
	for i, n := range to {
		if r.behind.seen[n] == r.behind.round {
			continue
		}
		r.kept = append(r.kept, n)
		if i < len(to)-1 && !r.mark(n, r.place[to[len(to)-1]]) {
			return nil, false
		}
	}
	slices.Sort(r.kept)
	return r.kept, r.walk.followed+r.behind.followed <= r.limit
}

// mark marks the nodes reachable from n, up to a position in the order and within the limit.
func (r *reducer) mark(n, last int32) bool {
	w := r.behind
	w.stack = append(w.stack[:0], n)
	for len(w.stack) > 0 {
		n := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		for _, to := range w.g.Succ(n) {
			if w.followed++; w.followed+r.walk.followed > r.limit {
				return false
			}
			if w.seen[to] != w.round && r.place[to] >= 0 && r.place[to] <= last {
				w.seen[to] = w.round
				w.stack = append(w.stack, to)
			}
		}
	}
	return true
}
