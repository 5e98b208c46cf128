package dag

import "slices"

// loop finds the cycle that Build returns. The graph must have one. It looks only at nodes that
// could not be ordered.
func (g *Graph) loop() []int32 {
	start, part := g.smallestOnCycle()
	if start < 0 {
		return []int32{}
	}
	return g.shortest(start, part)
}

// smallestOnCycle returns the smallest real node on a cycle, or -1, and the strongly connected
// components. A node is on a cycle if it has an edge to itself or shares its component with another
// node.
func (g *Graph) smallestOnCycle() (int32, []int32) {
	part, size := g.components()
	for n := range int32(g.Len()) {
		if part[n] < 0 || g.virtual[n] {
			continue
		}
		if size[part[n]] > 1 || g.hasEdge(n, n) {
			return n, part
		}
	}
	return -1, part
}

// Cyclic returns the number of real nodes on cycles, in time linear in nodes and edges.
func (g *Graph) Cyclic() (n int) {
	part, size := g.components()
	for i := range int32(g.Len()) {
		if part[i] >= 0 && !g.virtual[i] && (size[part[i]] > 1 || g.hasEdge(i, i)) {
			n++
		}
	}
	return n
}

func (g *Graph) hasEdge(from, to int32) bool {
	_, ok := slices.BinarySearch(g.Succ(from), to)
	return ok
}

// components numbers the strongly connected components of the nodes that could not be ordered;
// other nodes get -1. It is Tarjan's algorithm with an explicit stack, since a long chain would
// exhaust a recursive one.
func (g *Graph) components() (part, size []int32) {
	t := tarjan{g: g, part: make([]int32, g.Len()), low: make([]int32, g.Len())}
	for n := range t.part {
		t.part[n] = unseen
	}
	for _, n := range g.topo {
		t.part[n] = -1
	}
	for n := range int32(g.Len()) {
		if t.part[n] == unseen {
			t.explore(n)
		}
	}
	return t.part, t.size
}

// A node of Tarjan's search is unseen, then open (on the stack of nodes whose
// component is not complete), then in its component.
const (
	unseen = -2
	open   = -3
)

type tarjan struct {
	g     *Graph
	part  []int32 // unseen, open, -1 or the component
	low   []int32 // position of the earliest open node known to be reachable
	size  []int32
	open  []int32
	seen  int32
	calls []visit
}

// visit is a node on the path of the search, its position in the order of discovery, and its edges
// that are still to be followed.
type visit struct {
	node, place int32
	rest        []int32
}

func (t *tarjan) enter(n int32) {
	t.part[n], t.low[n] = open, t.seen
	t.open = append(t.open, n)
	t.calls = append(t.calls, visit{n, t.seen, t.g.Succ(n)})
	t.seen++
}

func (t *tarjan) explore(root int32) {
	t.enter(root)
	for len(t.calls) > 0 {
		v := &t.calls[len(t.calls)-1]
		t.g.work++
		if len(v.rest) == 0 {
			t.leave(*v)
			continue
		}
		next := v.rest[0]
		v.rest = v.rest[1:]
		switch t.part[next] {
		case unseen:
			t.enter(next)
		case open:
			t.low[v.node] = min(t.low[v.node], t.low[next])
		}
	}
}

// leave ends a visit, closes the component if v began it, and updates the node above.
func (t *tarjan) leave(v visit) {
	t.calls = t.calls[:len(t.calls)-1]
	if t.low[v.node] == v.place {
		t.close(v.node)
	}
	if len(t.calls) > 0 && t.part[v.node] == open {
		above := t.calls[len(t.calls)-1].node
		t.low[above] = min(t.low[above], t.low[v.node])
	}
}

// close makes a component of the open nodes down to first.
func (t *tarjan) close(first int32) {
	component := int32(len(t.size))
	t.size = append(t.size, 0)
	for {
		last := len(t.open) - 1
		n := t.open[last]
		t.open = t.open[:last]
		t.part[n] = component
		t.size[component]++
		if n == first {
			return
		}
	}
}

// shortest returns the real nodes of a shortest cycle through start, found by breadth-first search
// inside its component. Virtual nodes add no length: they are processed in the layer in which they
// are found.
func (g *Graph) shortest(start int32, part []int32) []int32 {
	from := make([]int32, g.Len()) // the preceding node plus one
	layer, next := []int32{start}, []int32(nil)
	for {
		for i := 0; i < len(layer); i++ {
			n := layer[i]
			g.work += 1 + len(g.Succ(n))
			for _, to := range g.Succ(n) {
				switch {
				case to == start:
					return g.trace(from, start, n)
				case part[to] != part[start] || from[to] != 0:
					continue
				case g.virtual[to]:
					layer = append(layer, to)
				default:
					next = append(next, to)
				}
				from[to] = n + 1
			}
		}
		layer, next = next, layer[:0]
	}
}

// trace walks back from the last node of a cycle to its first.
func (g *Graph) trace(from []int32, first, last int32) []int32 {
	var loop []int32
	for n := last; n != first; n = from[n] - 1 {
		if !g.virtual[n] {
			loop = append(loop, n)
		}
	}
	loop = append(loop, first)
	slices.Reverse(loop)
	return loop
}
