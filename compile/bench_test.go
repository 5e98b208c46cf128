package compile_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// catalogue is the tool e, and send, which changes the world.
func catalogue(t testing.TB) *tool.Catalogue {
	var tools []*tool.Tool
	for name, text := range map[string]string{
		"e":    `{"properties":{"v":{}},"required":["v"]}`,
		"send": `{"effects":{"readOnly":false}}`,
	} {
		def, findings := tool.ParseDefinition([]byte(text), name, diag.Loc{})
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		tools = append(tools, &tool.Tool{Definition: def, Activity: none{}})
	}
	return tool.NewCatalogue(tools...)
}

// none is an activity that is never called.
type none struct{}

func (none) Call(context.Context, *tool.Request) (tool.Result, error) { return tool.Result{}, nil }

func BenchmarkCompile(b *testing.B) {
	for _, shape := range slices.Sorted(maps.Keys(sound)) {
		for _, n := range []int{1000, 10_000, 100_000} {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				cat, text := catalogue(b), []byte(sound[shape](n))
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

func BenchmarkDigest(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(sound["ladder"](n))), nil)
			prog, findings := compile.Compile(doc, &compile.Options{Catalogue: catalogue(b)})
			if err := findings.Err(); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				report.Digest(prog, nil)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/call")
		})
	}
}
