package exec_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
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

// BenchmarkForEach runs a document of one call for each of n items, which is to be
// compared with n calls.
func BenchmarkForEach(b *testing.B) {
	ts := tools{"e": echo, "f": echo}
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			sub := document(b, `{"calls":[{"_tool":"e","v":"†input.item","_outputPath":"†state.r"}],"output":"†state.r"}`, ts)
			plan := `[{"_tool":"f","_id":"x","items":[` + strings.TrimSuffix(strings.Repeat("1,", n), ",") + `]}]`
			prog := nest(program(b, plan, ts), map[string]*compile.Delegate{"x": {Name: "sub.json", Program: sub, Loop: compile.ForEach}})
			b.ReportAllocs()
			for b.Loop() {
				if res := run(b, prog, nil); res.Status != exec.Completed {
					b.Fatal(res.Reason)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/item")
		})
	}
}

// BenchmarkInstances runs a template of five calls for each of n instances, and says how
// much memory it took at most.
func BenchmarkInstances(b *testing.B) {
	const n = 100_000
	prog := template(program(b, shaped(5, shapes[0].call), tools{"e": echo}, withInput(`{"n":0}`)))
	b.ReportAllocs()
	var most uint64
	for b.Loop() {
		done := 0
		res := run(b, prog, &exec.Options{Instances: many(n), OnInstance: func(*exec.InstanceResult) {
			if done++; done%(n/20) == 0 {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapInuse)
			}
		}})
		if res.Status != exec.Completed || done != n {
			b.Fatal(res.Reason)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/instance")
	b.ReportMetric(float64(most)/(1<<20), "MB-heap")
}
