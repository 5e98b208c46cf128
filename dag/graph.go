package dag

import (
	"math"
	"slices"
)

// Builder collects the nodes and edges of a graph. The zero Builder is empty. More may be added
// after Build. A Builder must not be used concurrently.
type Builder struct {
	virtual []bool
	edges   []edge
}

type edge struct{ from, to int32 }

// Grow reserves space for the given numbers of additional nodes and edges.
func (b *Builder) Grow(nodes, edges int) {
	b.virtual, b.edges = slices.Grow(b.virtual, nodes), slices.Grow(b.edges, edges)
}

// Node adds a node and returns its number: 0, 1, 2, …. Virtual nodes are numbered too.
func (b *Builder) Node() int32 { return b.add(false) }

// Virtual adds a virtual node.
func (b *Builder) Virtual() int32 { return b.add(true) }

func (b *Builder) add(virtual bool) int32 {
	if len(b.virtual) == math.MaxInt32 {
		panic("dag: more than 2³¹-1 nodes")
	}
	b.virtual = append(b.virtual, virtual)
	return int32(len(b.virtual) - 1)
}

// Edge adds an edge. Parallel edges count once; an edge from a node to itself is a cycle. Edge
// panics if a node wasn't made by this Builder.
func (b *Builder) Edge(from, to int32) {
	n := int32(len(b.virtual))
	if from < 0 || from >= n || to < 0 || to >= n {
		panic("dag: an edge to a node that was not made")
	}
	if len(b.edges) == math.MaxInt32 {
		panic("dag: more than 2³¹-1 edges")
	}
	b.edges = append(b.edges, edge{from, to})
}

// Build makes the graph. If there is a cycle, Build also returns the real nodes of one: a shortest
// cycle through the smallest node that is on any. The Order of the graph then lacks the nodes on or
// behind cycles. Build takes time linear in nodes and edges.
//
// The cycle is nil if there is none. If all cycles consist only of virtual nodes, which results
// never contain, it is empty but not nil; the code that added the virtual nodes is then wrong.
func (b *Builder) Build() (*Graph, []int32) {
	g := &Graph{virtual: append([]bool(nil), b.virtual...)}
	g.succ, g.pred = b.tables()
	g.work = len(g.virtual) + 2*len(b.edges)
	g.sort()
	if len(g.topo) == g.Len() {
		return g, nil
	}
	return g, g.loop()
}

// tables makes both adjacency tables with three passes of counting sort: the first groups edges by
// target, with the sources in any order. Transposing that sorts the targets of each source and
// makes parallel edges adjacent, so that they can be dropped. Transposing again gives the other
// table.
func (b *Builder) tables() (succ, pred table) {
	n := len(b.virtual)
	rough := newTable(n, len(b.edges))
	for _, e := range b.edges {
		rough.start[e.to+1]++
	}
	rough.sum()
	for _, e := range b.edges {
		rough.put(e.to, e.from)
	}
	rough.rewind()
	succ = rough.transpose()
	succ.compact()
	return succ, succ.transpose()
}

// Graph is an immutable graph, stored as two compressed adjacency tables with 8 bytes per edge and
// 13 bytes per node, or 17 if there are virtual nodes. The zero Graph is empty. A Graph is safe for
// concurrent use. Callers must not modify slices whose documentation says that they belong to the
// graph.
type Graph struct {
	virtual    []bool
	succ, pred table
	topo       []int32 // all nodes not on or behind a cycle, predecessors first
	order      []int32 // topo without the virtual nodes
	work       int     // nodes and edges touched by Build, for the tests of its growth
}

// Len returns the number of nodes, virtual ones included.
func (g *Graph) Len() int { return len(g.virtual) }

// IsVirtual reports whether a node is virtual.
func (g *Graph) IsVirtual(n int32) bool { return g.virtual[n] }

// Succ returns the nodes that n has edges to, ascending. The slice belongs to the graph.
func (g *Graph) Succ(n int32) []int32 { return g.succ.row(n) }

// Pred returns the nodes that have edges to n, ascending. The slice belongs to the graph.
func (g *Graph) Pred(n int32) []int32 { return g.pred.row(n) }

// table is an adjacency table in compressed rows: the neighbours of n are
// to[start[n]:start[n+1]].
type table struct {
	start []int32
	to    []int32
}

func newTable(nodes, edges int) table {
	return table{make([]int32, nodes+1), make([]int32, edges)}
}

func (t table) row(n int32) []int32 {
	lo, hi := t.start[n], t.start[n+1]
	return t.to[lo:hi:hi]
}

// sum turns counts, which are stored one index up, into start indices.
func (t table) sum() {
	for n := 1; n < len(t.start); n++ {
		t.start[n] += t.start[n-1]
	}
}

// put appends to a row by advancing its start; rewind moves the starts back.
func (t table) put(row, to int32) {
	t.to[t.start[row]] = to
	t.start[row]++
}

func (t table) rewind() {
	copy(t.start[1:], t.start)
	t.start[0] = 0
}

// transpose returns the table of the reversed edges, with ascending rows.
func (t table) transpose() table {
	n := len(t.start) - 1
	turned := newTable(n, len(t.to))
	for _, to := range t.to {
		turned.start[to+1]++
	}
	turned.sum()
	for row := range int32(n) {
		for _, to := range t.row(row) {
			turned.put(to, row)
		}
	}
	turned.rewind()
	return turned
}

// compact drops repeated neighbours from rows that are sorted.
func (t *table) compact() {
	var kept, lo int32
	for n := range len(t.start) - 1 {
		hi := t.start[n+1]
		t.start[n] = kept
		for i := lo; i < hi; i++ {
			if i == lo || t.to[i] != t.to[i-1] {
				t.to[kept] = t.to[i]
				kept++
			}
		}
		lo = hi
	}
	t.start[len(t.start)-1] = kept
	t.to = t.to[:kept]
}
