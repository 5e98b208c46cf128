package dag

// Levels returns the level of each node: the number of real nodes on the longest path that ends
// before it. Nodes on or behind cycles get -1. Levels takes time linear in nodes and edges.
func (g *Graph) Levels() []int32 {
	levels := make([]int32, g.Len())
	for n := range levels {
		levels[n] = -1
	}
	for _, n := range g.topo {
		levels[n] = 0
		for _, p := range g.Pred(n) {
			levels[n] = max(levels[n], levels[p]+g.length(p))
		}
	}
	return levels
}

// length returns what a node adds to a path: 1, or 0 if it is virtual.
func (g *Graph) length(n int32) int32 {
	if g.virtual[n] {
		return 0
	}
	return 1
}

// Below returns, for each node, the greatest sum of weights on a path that starts at it and
// includes it. If weight is nil, real nodes weigh 1. Virtual nodes weigh nothing. Nodes on or
// behind cycles are on no path and get 0. Weights must not be NaN. Below takes time linear in nodes
// and edges, and calls weight once per real node.
func (g *Graph) Below(weight func(int32) float64) []float64 {
	below, _ := g.heaviest(weight)
	return below
}

// CriticalPath returns the real nodes of a path with the greatest weight, and that weight. Of
// several such paths it returns the lexicographically smallest, which ends where nothing more adds
// weight. Without nodes it returns nil and 0. It takes linear time like Below.
func (g *Graph) CriticalPath(weight func(int32) float64) ([]int32, float64) {
	below, next := g.heaviest(weight)
	start := int32(-1)
	for n := range int32(g.Len()) {
		ordered := next[n] != unordered && !g.virtual[n]
		if ordered && (start < 0 || below[n] > below[start]) {
			start = n
		}
	}
	if start < 0 {
		return nil, 0
	}
	var path []int32
	for n := start; n >= 0; n = next[n] {
		path = append(path, n)
	}
	return path, below[start]
}

const unordered = -2

// heaviest returns the result of Below and, for each node, the next real node of its heaviest path:
// the smallest if there are several, -1 at the end of the path, and unordered on or behind a cycle.
func (g *Graph) heaviest(weight func(int32) float64) (below []float64, next []int32) {
	below, next = make([]float64, g.Len()), make([]int32, g.Len())
	for n := range next {
		next[n] = unordered
	}
	for i := len(g.topo) - 1; i >= 0; i-- {
		n := g.topo[i]
		below[n], next[n] = g.heaviestBehind(n, below, next)
		switch {
		case g.virtual[n]:
		case weight == nil:
			below[n]++
		default:
			below[n] += weight(n)
		}
	}
	return below, next
}

// heaviestBehind returns the weight of the heaviest path after n, or 0 if none adds weight, and its
// first real node, skipping virtual nodes.
func (g *Graph) heaviestBehind(n int32, below []float64, next []int32) (float64, int32) {
	best, to := 0.0, int32(-1)
	for _, s := range g.Succ(n) {
		first := s
		if g.virtual[s] {
			first = next[s]
		}
		switch {
		case next[s] == unordered || below[s] <= 0 || below[s] < best:
		case below[s] > best || first < to:
			best, to = below[s], first
		}
	}
	return best, to
}

// Reachable reports for each node whether it can be reached from a node in one step or more, where
// next returns the nodes that one step leads to. Nodes are numbered from 0.
func Reachable(nodes int, from int32, next func(int32) []int32) []bool {
	seen := make([]bool, nodes)
	for todo := []int32{from}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, m := range next(n) {
			if !seen[m] {
				seen[m] = true
				todo = append(todo, m)
			}
		}
	}
	return seen
}
