package dag

import "math/bits"

// Order returns the real nodes in topological order, always taking the smallest possible node next.
// The slice belongs to the graph.
func (g *Graph) Order() []int32 { return g.order }

// sort computes topo and order by counting down the predecessors of each node.
func (g *Graph) sort() {
	s := sorter{g: g, waits: make([]int32, g.Len()), ready: newMinSet(g.Len())}
	g.topo = make([]int32, 0, g.Len())
	for n := range int32(g.Len()) {
		s.waits[n] = int32(len(g.Pred(n)))
	}
	for n := range int32(g.Len()) {
		switch {
		case len(g.Pred(n)) > 0:
		case g.virtual[n]:
			s.place(n)
		default:
			s.ready.add(n)
		}
	}
	for s.ready.len > 0 {
		s.place(s.ready.takeMin())
	}
	g.order = g.real(g.topo)
}

// real returns the real nodes of a list, in its order.
func (g *Graph) real(nodes []int32) []int32 {
	count := 0
	for _, n := range nodes {
		if !g.virtual[n] {
			count++
		}
	}
	if count == len(nodes) {
		return nodes
	}
	kept := make([]int32, 0, count)
	for _, n := range nodes {
		if !g.virtual[n] {
			kept = append(kept, n)
		}
	}
	return kept
}

type sorter struct {
	g     *Graph
	waits []int32 // number of predecessors not placed yet
	ready *minSet // real nodes that can come next
	pass  []int32 // virtual nodes that can come next
}

// place places a node and all virtual nodes that become ready, so that a real node behind junctions
// is ready as early as one without.
func (s *sorter) place(n int32) {
	s.put(n)
	for len(s.pass) > 0 {
		last := len(s.pass) - 1
		n, s.pass = s.pass[last], s.pass[:last]
		s.put(n)
	}
}

// put appends a node to the order and updates the counts of its successors.
func (s *sorter) put(n int32) {
	s.g.topo = append(s.g.topo, n)
	succ := s.g.Succ(n)
	s.g.work += 1 + len(succ)
	for _, to := range succ {
		if s.waits[to]--; s.waits[to] > 0 {
			continue
		}
		if s.g.virtual[to] {
			s.pass = append(s.pass, to)
		} else {
			s.ready.add(to)
		}
	}
}

// minSet is a set of numbers below a bound, stored as a tree of bitmaps with 64 children per node.
// Each bit of a level says whether a word of the level below is nonzero. Adding a number and
// removing the smallest take one step per level, of which there are at most six. This keeps the
// order linear, unlike a binary heap.
type minSet struct {
	levels [][]uint64
	len    int
}

func newMinSet(bound int) *minSet {
	s := &minSet{}
	for {
		bound = (bound + 63) / 64
		s.levels = append(s.levels, make([]uint64, bound))
		if bound <= 1 {
			return s
		}
	}
}

// add adds a number that is not in the set.
func (s *minSet) add(n int32) {
	s.len++
	for _, level := range s.levels {
		was := level[n>>6]
		level[n>>6] = was | 1<<(n&63)
		if was != 0 {
			return
		}
		n >>= 6
	}
}

// takeMin removes the smallest number of a set that is not empty.
func (s *minSet) takeMin() int32 {
	var n int32
	for i := len(s.levels) - 1; i >= 0; i-- {
		n = n<<6 | int32(bits.TrailingZeros64(s.levels[i][n]))
	}
	s.len--
	for i, at := 0, n; i < len(s.levels); i, at = i+1, at>>6 {
		s.levels[i][at>>6] &^= 1 << (at & 63)
		if s.levels[i][at>>6] != 0 {
			break
		}
	}
	return n
}
