// Package dag implements directed acyclic graphs over integers. A graph is built once and immutable
// afterwards, and the order of all results depends only on the graph.
//
//	var b dag.Builder
//	fetch, sum := b.Node(), b.Node()
//	b.Edge(fetch, sum)
//	g, loop := b.Build()
//	if loop != nil {
//		// loop is a cycle: loop[0] → loop[1] → … → loop[0]
//	}
//	for _, n := range g.Order() { … }
//
// Some nodes are virtual. They are junctions that keep the number of edges linear: n writers and m
// readers of one thing need n+m edges through a junction instead of n·m. Virtual nodes are parts of
// paths, but don't occur in results: orders, levels, loops and lengths concern real nodes only.
//
// The package knows nothing of calls or messages. Graphs are safe for concurrent use.
package dag
