package lang

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
)

// planOf is a plan of n calls, each but the first reading what the one before it wrote.
func planOf(n int) []byte {
	var b strings.Builder
	b.WriteString("[\n")
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `  {"_tool": "step", "profile": "†state.r%d", "count": %d, "_outputPath": "†state.r%d"}`, i, i, i+1)
	}
	b.WriteString("\n]\n")
	return []byte(b.String())
}

func BenchmarkParse(b *testing.B) {
	for n := 10; n <= 1_000_000; n *= 10 {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			text := planOf(n)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, list := Parse(diag.NewFile("plan.json", text), &Options{MaxBytes: 1 << 30}); len(list) > 0 {
					b.Fatal(list[0].String())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
			b.ReportMetric(retained(text)/float64(n), "retained-B/call")
		})
	}
}

// retained is how many bytes a document keeps besides its text.
func retained(text []byte) float64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	doc, _ := Parse(diag.NewFile("plan.json", text), &Options{MaxBytes: 1 << 30})
	runtime.GC()
	runtime.ReadMemStats(&after)
	runtime.KeepAlive(doc)
	return float64(after.HeapAlloc) - float64(before.HeapAlloc)
}

func BenchmarkFormat(b *testing.B) {
	for n := 10; n <= 100_000; n *= 100 {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			doc, _ := Parse(diag.NewFile("plan.json", planOf(n)), nil)
			b.SetBytes(int64(len(doc.File.Text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Format(doc); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
