package dag

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/plc-lang/plc/internal/effort"
)

// shapes are the graphs whose cost is watched. Each has about n real nodes.
var shapes = []struct {
	name  string
	build func(n int32) *Builder
}{
	{"chain", func(n int32) *Builder {
		return edgesOf(n, func(i int32, edge func(from, to int32)) { edge(i-1, i) })
	}},
	{"wide", func(n int32) *Builder {
		return edgesOf(n, func(i int32, edge func(from, to int32)) { edge(0, i) })
	}},
	{"ladder", func(n int32) *Builder {
		return edgesOf(n, func(i int32, edge func(from, to int32)) {
			edge(i-1, i)
			edge(max(0, i-2), i)
			edge(i/2, i)
			edge(i*3/4, i)
		})
	}},
	{"junctions", junctions},
	{"ring", func(n int32) *Builder {
		b := edgesOf(n, func(i int32, edge func(from, to int32)) { edge(i-1, i) })
		b.Edge(n-1, 0)
		return b
	}},
}

func edgesOf(n int32, each func(i int32, edge func(from, to int32))) *Builder {
	var b Builder
	for i := range n {
		b.Node()
		if i > 0 {
			each(i, b.Edge)
		}
	}
	return &b
}

// junctions returns rows of a hundred, each node of which waits for all of the row above.
func junctions(n int32) *Builder {
	var b Builder
	above := b.Virtual()
	for range n / 100 {
		below := b.Virtual()
		for range 100 {
			i := b.Node()
			b.Edge(above, i)
			b.Edge(i, below)
		}
		above = below
	}
	return &b
}

// The work to build a graph grows as the graph does, counted in nodes and edges touched.
func TestBuildIsLinear(t *testing.T) {
	for _, shape := range shapes {
		t.Run(shape.name, func(t *testing.T) {
			for n := int32(100); n <= int32(effort.Of(10_000, 100_000)); n *= 10 {
				small, _ := shape.build(n).Build()
				large, _ := shape.build(10 * n).Build()
				if large.work > 11*small.work {
					t.Errorf("%d steps for %d nodes, %d for ten times as many", small.work, n, large.work)
				}
			}
		})
	}
}

// Pairs through junctions are made one at a time: a row of pairs is looked at, not all.
func TestDirectIsLazy(t *testing.T) {
	g, _ := junctions(100_000).Build()
	calls := 0
	for range g.Direct {
		if calls++; calls == 250 {
			break
		}
	}
	w := g.walk()
	w.direct(1)
	if w.followed > 300 {
		t.Errorf("%d edges followed for the 100 pairs of one node", w.followed)
	}
}

// Reduce of a chain with shortcuts looks at few pairs, of a dense graph it gives up in time.
func TestReduceCounts(t *testing.T) {
	g, _ := edgesOf(10_000, func(i int32, edge func(from, to int32)) {
		edge(i-1, i)
		edge(max(0, i-3), i)
	}).Build()
	edges, ok := g.Reduce(200_000)
	if !ok || len(edges) != 9_999 {
		t.Errorf("%d edges, %v: a chain with shortcuts is a chain", len(edges), ok)
	}
	r := reducer{walk: g.walk(), behind: g.walk(), place: g.places(), limit: 100}
	for n := int32(0); ; n++ {
		if _, ok := r.reduce(n); !ok {
			break
		}
	}
	if looks := r.walk.followed + r.behind.followed; looks > 110 {
		t.Errorf("%d looks with a limit of 100", looks)
	}
}

func TestBytes(t *testing.T) {
	const n = 1_000_000
	b := shapes[2].build(n)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	g, _ := b.Build()
	runtime.GC()
	runtime.ReadMemStats(&after)
	size := float64(after.HeapAlloc) - float64(before.HeapAlloc)
	if each := size / float64(g.Len()+len(g.succ.to)); each > 20 {
		t.Errorf("%.1f bytes for each node and edge", each)
	}
	runtime.KeepAlive(b)
	runtime.KeepAlive(g)
}

func BenchmarkBuild(b *testing.B) {
	for _, shape := range shapes {
		for n := int32(1_000); n <= 1_000_000; n *= 1000 {
			builder := shape.build(n)
			b.Run(fmt.Sprintf("%s/%d", shape.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					builder.Build()
				}
			})
		}
	}
}

func BenchmarkQueries(b *testing.B) {
	g, _ := shapes[2].build(1_000_000).Build()
	b.Run("Levels", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			g.Levels()
		}
	})
	b.Run("CriticalPath", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			g.CriticalPath(nil)
		}
	})
	b.Run("Direct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for range g.Direct {
			}
		}
	})
}
