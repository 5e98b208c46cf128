package dag

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// drawn is a graph as a test writes it down: real nodes are '•', virtual ones '◦'.
type drawn struct {
	nodes string
	edges []edge
}

func (d drawn) builder() *Builder {
	var b Builder
	for _, r := range d.nodes {
		if r == '◦' {
			b.Virtual()
		} else {
			b.Node()
		}
	}
	for _, e := range d.edges {
		b.Edge(e.from, e.to)
	}
	return &b
}

func (d drawn) build() (*Graph, []int32) { return d.builder().Build() }

var graphs = []struct {
	name  string
	graph drawn
	order []int32
	loop  []int32
	level []int32
	path  []int32
	pairs [][2]int32
}{
	{name: "empty"},
	{
		name: "one", graph: drawn{"•", nil},
		order: []int32{0}, level: []int32{0}, path: []int32{0},
	},
	{
		name: "a chain written backwards", graph: drawn{"•••", []edge{{2, 1}, {1, 0}}},
		order: []int32{2, 1, 0}, level: []int32{2, 1, 0}, path: []int32{2, 1, 0},
		pairs: [][2]int32{{1, 0}, {2, 1}},
	},
	{
		name: "parallel edges count once", graph: drawn{"••", []edge{{0, 1}, {0, 1}, {0, 1}}},
		order: []int32{0, 1}, level: []int32{0, 1}, path: []int32{0, 1},
		pairs: [][2]int32{{0, 1}},
	},
	{
		name: "a diamond", graph: drawn{"••••", []edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}}},
		order: []int32{0, 1, 2, 3}, level: []int32{0, 1, 1, 2}, path: []int32{0, 1, 3},
		pairs: [][2]int32{{0, 1}, {0, 2}, {1, 3}, {2, 3}},
	},
	{
		name:  "the smallest that can come next, not the next level",
		graph: drawn{"••••", []edge{{3, 0}, {0, 1}}},
		order: []int32{2, 3, 0, 1}, level: []int32{1, 2, 0, 0}, path: []int32{3, 0, 1},
		pairs: [][2]int32{{0, 1}, {3, 0}},
	},
	{
		name:  "two writers and two readers through a junction",
		graph: drawn{"••◦••", []edge{{0, 2}, {1, 2}, {2, 3}, {2, 4}}},
		order: []int32{0, 1, 3, 4}, level: []int32{0, 0, 1, 1, 1}, path: []int32{0, 3},
		pairs: [][2]int32{{0, 3}, {0, 4}, {1, 3}, {1, 4}},
	},
	{
		name:  "a pair once through a diamond of junctions",
		graph: drawn{"•◦◦•", []edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 3}}},
		order: []int32{0, 3}, level: []int32{0, 1, 1, 1}, path: []int32{0, 3},
		pairs: [][2]int32{{0, 3}},
	},
	{
		name:  "a junction without predecessors holds nothing up",
		graph: drawn{"◦••", []edge{{0, 1}, {2, 0}}},
		order: []int32{2, 1}, level: []int32{1, 1, 0}, path: []int32{2, 1},
		pairs: [][2]int32{{2, 1}},
	},
	{
		name:  "a junction placed first releases its reader once",
		graph: drawn{"◦•", []edge{{0, 1}}},
		order: []int32{1}, level: []int32{0, 0}, path: []int32{1},
	},
	{
		name: "an edge to itself", graph: drawn{"••", []edge{{1, 1}}},
		order: []int32{0}, loop: []int32{1}, level: []int32{0, -1}, path: []int32{0},
		pairs: [][2]int32{{1, 1}},
	},
	{
		name:  "what is behind a cycle is not in it",
		graph: drawn{"••••", []edge{{2, 3}, {3, 2}, {2, 0}, {1, 2}}},
		order: []int32{1}, loop: []int32{2, 3}, level: []int32{-1, 0, -1, -1}, path: []int32{1},
		pairs: [][2]int32{{1, 2}, {2, 0}, {2, 3}, {3, 2}},
	},
	{
		name:  "the shortest loop through the smallest node",
		graph: drawn{"•••••", []edge{{0, 1}, {1, 2}, {2, 0}, {1, 3}, {3, 4}, {4, 0}, {3, 4}, {4, 3}}},
		loop:  []int32{0, 1, 2}, level: []int32{-1, -1, -1, -1, -1},
		pairs: [][2]int32{{0, 1}, {1, 2}, {1, 3}, {2, 0}, {3, 4}, {4, 0}, {4, 3}},
	},
	{
		name:  "junctions add nothing to the length of a loop",
		graph: drawn{"••◦◦•", []edge{{0, 2}, {2, 3}, {3, 1}, {1, 0}, {0, 4}, {4, 1}}},
		loop:  []int32{0, 1}, level: []int32{-1, -1, -1, -1, -1},
		pairs: [][2]int32{{0, 1}, {0, 4}, {1, 0}, {4, 1}},
	},
	{
		name:  "a loop of one real node through a junction",
		graph: drawn{"•◦", []edge{{0, 1}, {1, 0}}},
		loop:  []int32{0}, level: []int32{-1, -1},
		pairs: [][2]int32{{0, 0}},
	},
	{
		name:  "a cycle of junctions alone has no nodes to name",
		graph: drawn{"•◦◦•", []edge{{0, 1}, {1, 2}, {2, 1}, {2, 3}}},
		order: []int32{0}, loop: []int32{}, level: []int32{0, -1, -1, -1}, path: []int32{0},
		pairs: [][2]int32{{0, 3}},
	},
}

func TestGraphs(t *testing.T) {
	for _, test := range graphs {
		t.Run(test.name, func(t *testing.T) {
			g, loop := test.graph.build()
			if !slices.Equal(loop, test.loop) || (loop == nil) != (test.loop == nil) {
				t.Errorf("loop %#v, want %#v", loop, test.loop)
			}
			if !slices.Equal(g.Order(), test.order) {
				t.Errorf("order %v, want %v", g.Order(), test.order)
			}
			if !slices.Equal(g.Levels(), test.level) {
				t.Errorf("levels %v, want %v", g.Levels(), test.level)
			}
			path, weight := g.CriticalPath(nil)
			if !slices.Equal(path, test.path) || weight != float64(len(test.path)) {
				t.Errorf("critical path %v of %v, want %v", path, weight, test.path)
			}
			if pairs := pairsOf(g); !slices.Equal(pairs, test.pairs) {
				t.Errorf("pairs %v, want %v", pairs, test.pairs)
			}
		})
	}
}

func pairsOf(g *Graph) [][2]int32 {
	var pairs [][2]int32
	for from, to := range g.Direct {
		pairs = append(pairs, [2]int32{from, to})
	}
	return pairs
}

func TestZeroGraph(t *testing.T) {
	var g Graph
	path, weight := g.CriticalPath(nil)
	edges, ok := g.Reduce(0)
	if g.Len() != 0 || len(g.Order())+len(g.Levels())+len(path)+len(edges)+len(pairsOf(&g)) != 0 || weight != 0 || !ok {
		t.Error("the zero graph is not empty")
	}
}

func TestBuilderGoesOn(t *testing.T) {
	b := drawn{"••", []edge{{0, 1}}}.builder()
	before, _ := b.Build()
	b.Edge(1, b.Node())
	after, _ := b.Build()
	if before.Len() != 2 || len(before.Succ(1)) != 0 {
		t.Error("a graph changed after it was built")
	}
	if !slices.Equal(after.Order(), []int32{0, 1, 2}) {
		t.Errorf("order %v after one more node", after.Order())
	}
}

func TestEdgeToUnmadeNode(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("an edge to a node that was not made was taken")
		}
	}()
	drawn{"•", []edge{{0, 1}}}.builder()
}

func TestDirectStops(t *testing.T) {
	g, _ := drawn{"••••", []edge{{0, 1}, {0, 2}, {1, 3}}}.build()
	var calls int
	g.Direct(func(from, to int32) bool {
		calls++
		return calls < 2
	})
	if calls != 2 {
		t.Errorf("%d calls after false at the second", calls)
	}
}

func TestCriticalPath(t *testing.T) {
	diamond := drawn{"••••", []edge{{0, 1}, {0, 2}, {1, 3}, {2, 3}}}
	tests := []struct {
		name    string
		graph   drawn
		weights []float64
		path    []int32
		total   float64
	}{
		{"the heavier branch", diamond, []float64{1, 2, 3, 1}, []int32{0, 2, 3}, 5},
		{"equal branches", diamond, []float64{1, 2, 2, 1}, []int32{0, 1, 3}, 4},
		{"ends where nothing adds", diamond, []float64{1, 2, 2, 0}, []int32{0, 1}, 3},
		{"starts at the smallest of equals", drawn{"••", []edge{{0, 1}}}, []float64{0, 1}, []int32{0, 1}, 1},
		{"less than nothing", drawn{"••", []edge{{0, 1}}}, []float64{-2, -1}, []int32{1}, -1},
		{"the smallest behind junctions", drawn{"•◦◦••", []edge{{0, 2}, {0, 1}, {2, 3}, {1, 4}}}, []float64{1, 9, 9, 2, 2}, []int32{0, 3}, 3},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g, _ := test.graph.build()
			path, total := g.CriticalPath(func(n int32) float64 { return test.weights[n] })
			if !slices.Equal(path, test.path) || total != test.total {
				t.Errorf("%v of %v, want %v of %v", path, total, test.path, test.total)
			}
		})
	}
}

func TestReduce(t *testing.T) {
	full := drawn{"••••", []edge{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}}
	g, _ := full.build()
	edges, ok := g.Reduce(1000)
	if want := [][2]int32{{0, 1}, {1, 2}, {2, 3}}; !ok || !slices.Equal(edges, want) {
		t.Errorf("reduced to %v, %v", edges, ok)
	}
	if edges, ok := g.Reduce(3); ok || edges != nil {
		t.Errorf("reduced to %v within 3 looks", edges)
	}
}

// small returns a random graph of up to nine nodes, with cycles if so wanted.
func small(t *rapid.T, cycles bool) drawn {
	nodes := rapid.StringOfN(rapid.SampledFrom([]rune("••◦")), 0, 9, -1).Draw(t, "nodes")
	n := int32(len([]rune(nodes)))
	d := drawn{nodes: nodes}
	if n == 0 {
		return d
	}
	rank := rapid.Permutation(ascending(n)).Draw(t, "rank")
	for range rapid.IntRange(0, 20).Draw(t, "edges") {
		e := edge{rapid.Int32Range(0, n-1).Draw(t, "from"), rapid.Int32Range(0, n-1).Draw(t, "to")}
		if !cycles && rank[e.from] == rank[e.to] {
			continue
		}
		if !cycles && rank[e.from] > rank[e.to] {
			e.from, e.to = e.to, e.from
		}
		d.edges = append(d.edges, e)
	}
	return d
}

func ascending(n int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

func TestAgainstBruteForce(t *testing.T) {
	t.Run("acyclic", rapid.MakeCheck(func(t *rapid.T) { againstBruteForce(t, small(t, false)) }))
	t.Run("cyclic", rapid.MakeCheck(func(t *rapid.T) { againstBruteForce(t, small(t, true)) }))
}

func FuzzGraph(f *testing.F) {
	f.Add("•◦•", []byte{0, 1, 1, 2})
	for _, test := range graphs {
		var edges []byte
		for _, e := range test.graph.edges {
			edges = append(edges, byte(e.from), byte(e.to))
		}
		f.Add(test.graph.nodes, edges)
	}
	f.Fuzz(func(t *testing.T, nodes string, edges []byte) {
		d := drawn{nodes: nodes}
		n := len([]rune(nodes))
		if n == 0 || n > 9 {
			return
		}
		for ; len(edges) > 1; edges = edges[2:] {
			d.edges = append(d.edges, edge{int32(edges[0]) % int32(n), int32(edges[1]) % int32(n)})
		}
		againstBruteForce(t, d)
	})
}

func againstBruteForce(t rapid.TB, d drawn) {
	g, loop := d.build()
	want := solve(d)
	checkAdjacency(t, d, g)
	if !slices.Equal(g.Order(), want.order) {
		t.Errorf("%v: order %v, want %v", d, g.Order(), want.order)
	}
	if (loop == nil) != want.acyclic || len(loop) != want.loopLen {
		t.Errorf("%v: loop %v, want one of length %d", d, loop, want.loopLen)
	}
	if want.loopLen > 0 && (loop[0] != want.loopStart || !want.holds(loop)) {
		t.Errorf("%v: loop %v, want one that begins with %d", d, loop, want.loopStart)
	}
	if !slices.Equal(g.Levels(), want.levels) {
		t.Errorf("%v: levels %v, want %v", d, g.Levels(), want.levels)
	}
	if !slices.Equal(pairsOf(g), want.pairs) {
		t.Errorf("%v: pairs %v, want %v", d, pairsOf(g), want.pairs)
	}
	path, total := g.CriticalPath(func(n int32) float64 { return testWeight(n) })
	if !slices.Equal(path, want.path) || total != want.total {
		t.Errorf("%v: critical path %v of %v, want %v of %v", d, path, total, want.path, want.total)
	}
	if below := g.Below(testWeight); !slices.Equal(below, want.below) {
		t.Errorf("%v: below %v, want %v", d, below, want.below)
	}
	if edges, ok := g.Reduce(1 << 20); !ok || !slices.Equal(edges, want.reduced) {
		t.Errorf("%v: reduced to %v, want %v", d, edges, want.reduced)
	}
}

func checkAdjacency(t rapid.TB, d drawn, g *Graph) {
	for n := range int32(g.Len()) {
		var succ, pred []int32
		for _, e := range d.edges {
			if e.from == n {
				succ = append(succ, e.to)
			}
			if e.to == n {
				pred = append(pred, e.from)
			}
		}
		slices.Sort(succ)
		slices.Sort(pred)
		if !slices.Equal(g.Succ(n), slices.Compact(succ)) || !slices.Equal(g.Pred(n), slices.Compact(pred)) {
			t.Errorf("%v: node %d has successors %v, predecessors %v", d, n, g.Succ(n), g.Pred(n))
		}
	}
}
