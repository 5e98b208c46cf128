package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// shapes are plans of n calls that grow in different ways.
var shapes = map[string]func(n int) string{
	"chain": plan(func(i int) string { return fmt.Sprintf(`"v":"†state.x%d","_outputPath":"†state.x%d"`, i-1, i) }),
	"wide":  plan(func(i int) string { return fmt.Sprintf(`"v":"†state.x0","_outputPath":"†state.x%d"`, i) }),
	"ladder": plan(func(i int) string {
		return fmt.Sprintf(`"v":["†state.x%d","†state.x%d"],"_outputPath":"†state.x%d"`, max(0, i-2), i-1, i)
	}),
	"push":       plan(func(i int) string { return `"v":"†state.x0","_outputPath":"†state.l","_outputMethod":"push"` }),
	"one path":   plan(func(i int) string { return `"v":"†state.x || 1","_outputPath":"†state.x"` }),
	"all to one": plan(func(i int) string { return fmt.Sprintf(`"v":"†state.all","_outputPath":"†state.all.k%d"`, i) }),
	"elements":   plan(func(i int) string { return fmt.Sprintf(`"v":"†state.x0","_outputPath":"†state.x0[%d]"`, i) }),
	"deep": plan(func(i int) string {
		return fmt.Sprintf(`"v":"†state.x0","_outputPath":"†state.a.b.c.d.e.f.g.h.k%d"`, i)
	}),
	"literal": plan(func(i int) string {
		return fmt.Sprintf(`"v":{"text":%q},"_outputPath":"†state.x%d"`, strings.Repeat("lorem ipsum ", 50), i)
	}),
}

func plan(call func(i int) string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(`[{"_tool":"e","v":0,"_outputPath":"†state.x0 && †state.all && †state.x"}`)
		for i := 1; i < n; i++ {
			b.WriteString(`,{"_tool":"e",` + call(i) + `}`)
		}
		return b.String() + "]"
	}
}

func catalogue(t testing.TB) *tool.Catalogue {
	def, findings := tool.ParseDefinition([]byte(`{"properties":{"v":{}},"required":["v"]}`), "e", diag.Loc{})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	return tool.NewCatalogue(&tool.Tool{Definition: def})
}

func BenchmarkCompile(b *testing.B) {
	for _, shape := range []string{"chain", "wide", "ladder", "push", "one path", "all to one", "elements", "deep", "literal"} {
		for _, n := range []int{1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				cat, text := catalogue(b), []byte(shapes[shape](n))
				doc, findings := lang.Parse(diag.NewFile("plan.json", text), nil)
				if err := findings.Err(); err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if _, findings := compile.Compile(doc, &compile.Options{Catalogue: cat}); findings.HasErrors() {
						b.Fatal(findings.Err())
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/call")
			})
		}
	}
}
