package flow_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// chain returns a program of n calls, each of which reads what all before it have pushed.
func chain(n int) *compile.Program {
	var b strings.Builder
	b.WriteString(`[{"_tool": "src0", "_outputPath": "†state.x"}`)
	for range n {
		b.WriteString(`, {"_tool": "wrap", "x": "†state.x || †state.all", "_outputPath": "†state.all", "_outputMethod": "push"}`)
	}
	b.WriteString(`, {"_tool": "sink", "p": "†state.all"}]`)
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(b.String())), nil)
	prog, found := compile.Compile(doc, &compile.Options{Catalogue: catalogue(false)})
	if found.HasErrors() {
		panic(found.Err())
	}
	return prog
}

// benchPolicy returns a policy for benchmarks.
func benchPolicy() *flow.Policy { return newTestPolicy(rand.New(rand.NewPCG(1, 1)), false).ready }

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			prog, policy := chain(n), benchPolicy()
			b.ReportAllocs()
			for b.Loop() {
				flow.Check(prog, policy, nil)
			}
		})
	}
}

// Ten times the calls cost ten times the memory and ten times the work, though each reads what all
// before it wrote.
func TestGrowth(t *testing.T) {
	cost := func(n int) (allocs float64, work int) {
		prog, policy := chain(n), benchPolicy()
		allocs = testing.AllocsPerRun(1, func() {
			r, _ := flow.Check(prog, policy, nil)
			work = r.Work()
		})
		return allocs, work
	}
	few, little := cost(300)
	many, much := cost(3000)
	if many > 12*few || much > 12*little || little == 0 {
		t.Errorf("300 calls cost %.0f allocations and %d steps, 3,000 cost %.0f and %d", few, little, many, much)
	}
}
