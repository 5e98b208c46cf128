// Package dag is directed acyclic graphs over integers: built once, immutable
// after, every answer in an order that depends on the graph alone.
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
// Some nodes are virtual: junctions that stand for no work, made to keep the
// number of edges linear (n writers and m readers of one thing are n+m edges
// through a junction, not n·m). They take part in paths and orders and in no
// answer: orders, levels, loops and lengths speak of real nodes only.
//
// The package knows no calls and builds no messages. Graphs may be shared by goroutines.
package dag
