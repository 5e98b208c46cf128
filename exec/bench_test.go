package exec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/exec"
)

// shapes are plans of n calls, in the manner of the graphs that workflow engines
// are measured on.
var shapes = []struct {
	name string
	call func(i int) string
}{
	{"chain", func(i int) string { return fmt.Sprintf(`"v":"†state.x%d.v","_outputPath":"†state.x%d"`, i-1, i) }},
	{"fan", func(i int) string { return fmt.Sprintf(`"v":"†state.x0.v","_outputPath":"†state.x%d"`, i) }},
	{"push", func(i int) string { return `"v":"†state.x0.v","_outputPath":"†state.l","_outputMethod":"push"` }},
	{"members", func(i int) string { return fmt.Sprintf(`"v":"†state.x0.v","_outputPath":"†state.m.x%d"`, i) }},
}

func shaped(n int, call func(i int) string) string {
	var b strings.Builder
	b.WriteString(`[{"_tool":"e","v":{"city":"Rome","zip":"00100"},"_outputPath":"†state.x0"}`)
	for i := 1; i < n; i++ {
		b.WriteString(`,{"_tool":"e",` + call(i) + `}`)
	}
	return b.String() + "]"
}

func BenchmarkRun(b *testing.B) {
	for _, s := range shapes {
		for _, n := range []int{1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", s.name, n), func(b *testing.B) {
				prog := program(b, shaped(n, s.call), tools{`e "properties":{"v":{"type":"object"}},"required":["v"]`: echo})
				b.ReportAllocs()
				for b.Loop() {
					if res := run(b, prog, nil); res.Status != exec.Completed {
						b.Fatal(res.Reason)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/call")
			})
		}
	}
}
