package dag_test

import (
	"slices"
	"testing"

	"github.com/plc-lang/plc/dag"
)

func TestCycle(t *testing.T) {
	deep := make([][]int32, 100_000)
	for i := range deep[1:] {
		deep[i] = []int32{int32(i + 1)}
	}
	for name, c := range map[string]struct {
		edges [][]int32
		want  []int32
	}{
		"nothing":                     {nil, nil},
		"a chain":                     {[][]int32{{1}, {2}, {}}, nil},
		"two ways to one node":        {[][]int32{{1, 2}, {3}, {3}, {}}, nil},
		"a node on itself":            {[][]int32{{}, {1}}, []int32{1}},
		"behind a chain":              {[][]int32{{1}, {2}, {1}}, []int32{1, 2}},
		"the first that is met":       {[][]int32{{3}, {2}, {1}, {4}, {3}}, []int32{3, 4}},
		"not a shortest":              {[][]int32{{1, 0}, {2}, {0}}, []int32{0, 1, 2}},
		"an edge that stands twice":   {[][]int32{{1, 1}, {}}, nil},
		"behind what was done":        {[][]int32{{}, {0, 2}, {0, 1}}, []int32{1, 2}},
		"a path as long as the graph": {deep, nil},
	} {
		if got := dag.Cycle(len(c.edges), func(n int32) []int32 { return c.edges[n] }); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
