package dag

// Builder collects the nodes and edges of a graph. The zero Builder is empty.
type Builder struct{}

// Node adds a node and returns its number: 0, 1, 2, …, virtual nodes included.
func (b *Builder) Node() int32 { panic("todo") }

// Virtual adds a virtual node.
func (b *Builder) Virtual() int32 { panic("todo") }

// Edge adds an edge. Parallel edges count once; an edge from a node to itself is a cycle.
func (b *Builder) Edge(from, to int32) { panic("todo") }

// Build makes the graph. When the edges hold a cycle it returns the real nodes
// of one, a shortest through the smallest node that is on any, and a graph whose Order
// lacks the nodes that are on or behind cycles. Linear in nodes and edges.
func (b *Builder) Build() (*Graph, []int32) { panic("todo") }

// Graph is an immutable graph: two compressed adjacency tables.
type Graph struct{}

// Len is the number of nodes, virtual ones included.
func (g *Graph) Len() int { panic("todo") }

// IsVirtual reports whether a node is virtual.
func (g *Graph) IsVirtual(n int32) bool { panic("todo") }

// Succ are the nodes that n has edges to, ascending. The slice is the graph's own.
func (g *Graph) Succ(n int32) []int32 { panic("todo") }

// Pred are the nodes that have edges to n, ascending. The slice is the graph's own.
func (g *Graph) Pred(n int32) []int32 { panic("todo") }

// Order is the topological order of the real nodes that stays closest to their
// numbers: always the smallest node that can come next. The slice is the graph's own.
func (g *Graph) Order() []int32 { panic("todo") }

// Levels is the level of each node: the number of real nodes on the longest path
// that ends before it.
func (g *Graph) Levels() []int32 { panic("todo") }

// Below is, for each node, the greatest sum of weights of a path that starts at
// it, itself included. A nil weight counts real nodes as 1. Virtual nodes weigh nothing.
func (g *Graph) Below(weight func(int32) float64) []float64 { panic("todo") }

// CriticalPath is the real nodes of a path of the greatest weight, and that
// weight; among equal ones the one with the smallest numbers.
func (g *Graph) CriticalPath(weight func(int32) float64) ([]int32, float64) { panic("todo") }

// Direct calls f for each pair of real nodes that an edge, or a path through
// virtual nodes only, joins, in order, each pair once, until f returns false.
// Pairs may be many more than edges.
func (g *Graph) Direct(f func(from, to int32) bool) { panic("todo") }

// Reduce is the transitive reduction over the real nodes: the fewest edges with
// the same paths. It costs up to nodes times edges; limit is the most pairs it may
// look at before it gives up (ok false).
func (g *Graph) Reduce(limit int) (edges [][2]int32, ok bool) { panic("todo") }
