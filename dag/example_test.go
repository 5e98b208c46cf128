package dag_test

import (
	"fmt"

	"github.com/plc-lang/plc/dag"
)

func Example() {
	var b dag.Builder
	boil, grind, brew := b.Node(), b.Node(), b.Node()
	b.Edge(boil, brew)
	b.Edge(grind, brew)
	g, loop := b.Build()
	fmt.Println(loop, g.Order(), g.Levels())

	way, length := g.CriticalPath(func(n int32) float64 { return []float64{3, 1, 4}[n] })
	fmt.Println(way, length)
	// Output:
	// [] [0 1 2] [0 0 1]
	// [0 2] 7
}
