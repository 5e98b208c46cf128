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

// BenchmarkTypes compares the check of flows with compiling, which checks types: of plans whose
// tools have schemas. A profile shows what of it the types take: compile.checkTypes.
func BenchmarkTypes(b *testing.B) {
	text := typed(1000)
	cat := catalogue(true)
	compiled := func() *compile.Program {
		doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(text)), nil)
		prog, found := compile.Compile(doc, &compile.Options{Catalogue: cat})
		if found.HasErrors() {
			b.Fatal(found.Err())
		}
		return prog
	}
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			compiled()
		}
	})
	b.Run("flow", func(b *testing.B) {
		prog, policy := compiled(), benchPolicy()
		for b.Loop() {
			flow.Check(prog, policy, nil)
		}
	})
}

// typed returns a plan of n calls, each of which reads parts of what others gave.
func typed(n int) string {
	var b strings.Builder
	b.WriteString(`[{"_tool": "src0", "_outputPath": "†state.x0"}`)
	for i := 1; i < n; i++ {
		switch i % 3 {
		case 0:
			fmt.Fprintf(&b, `, {"_tool": "src0", "x": "†state.x%d", "_outputPath": "†state.x%d"}`, i-1, i)
		case 1:
			fmt.Fprintf(&b, `, {"_tool": "echo", "x": {"c": "†state.x%d.b.c", "ids": "†state.x%d.list[*].id"}, "_outputPath": "†state.x%d"}`, i-1, i-1, i)
		default:
			fmt.Fprintf(&b, `, {"_tool": "sink", "p": "see †{state.x%d.x.c} and †{state.x%d.b.c}", "_outputPath": "†state.x%d"}`, i-1, i-2, i)
		}
	}
	b.WriteString(`]`)
	return b.String()
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
