package notations_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/notations"
)

// What reading a text allocates grows with its size, and not with its square, whatever is
// wrong with it.
func TestGrowth(t *testing.T) {
	pieces := map[string][]string{
		"llmcompiler": {"1. a() ", "1. a(\n", "1. a(\"$1\")\n", "1. a(\"", "1. a([", "1. a(x ", "1. a(\"x\" y)\n", "2. join()\n", "Thought: a\n", "- x\n", "x\n", "```\n", "1. a(1,", "1. a($9)\n", "<END_OF_PLAN>"},
		"rewoo":       {"#E1 = A[x]\n", "#E1 = A[x] ", "#E1 = A[", "#E1 = A[\n", "Plan: a\n", "#E1 = A[#E2 E1]\n", "#E1 = \n", "]\n", "#E1"},
		"mathqa":      {"add(n0,n1)|", "|", "a(", "a(#7)|", "add(", "x|", "1"},
		"qdmr":        {"return a ;", "return #9 ;", "A['x'] ;", "A['", "A['x' ", ";", "x ;", "return", "A['#1'\n"},
	}
	for name, list := range pieces {
		n, _ := notations.Lookup(name)
		for _, piece := range list {
			read := func(count int) uint64 {
				text := []byte(strings.Repeat(piece, count))
				return allocated(func() { n.Parse(diag.NewFile("p", text), nil) })
			}
			read(10)
			const some = 1000
			if small, large := read(some), read(4*some); large > 8*small+1<<20 {
				t.Errorf("%s: %d × %q allocate %d bytes, and 4 times as many %d", name, some, piece, small, large)
			}
		}
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
