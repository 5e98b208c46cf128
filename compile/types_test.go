package compile_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool/file"
)

// typedTools are tools with schemas, and labels for all of them.
const typedTools = `
tools:
  get: {properties: {at: {type: string}}, outputSchema: {type: object, required: [b, list], properties: {b: {type: object, required: [c], properties: {c: {type: string}}}, list: {type: array, items: {type: object, required: [id], properties: {id: {type: string}, title: {type: string}}}}}}, effects: {readOnly: true, openWorld: false}}
  mix: {properties: {x: {type: object, properties: {c: {type: string}, ids: {type: array, items: {type: string}}}}}, outputSchema: {type: object, required: [c, b, list], properties: {c: {type: string}, b: {type: object, required: [c], properties: {c: {type: string}}}, list: {type: array, items: {type: object, required: [id], properties: {id: {type: string}}}}}}, effects: {readOnly: true, openWorld: false}}
  put: {properties: {text: {type: string}, to: {type: string}, n: {type: number}}, outputSchema: {type: object, required: [b, list], properties: {b: {type: object, required: [c], properties: {c: {type: string}}}, list: {type: array, items: {type: object, required: [id], properties: {id: {type: string}}}}}}, effects: {readOnly: false, openWorld: false}}
flow:
  given: {input: {trust: user, secrecy: internal}}
  tools:
    get: {gives: {trust: untrusted, secrecy: internal}, parts: {b.c: {trust: operator}}}
    mix: {gives: {trust: operator, secrecy: public}}
    put: {gives: {trust: operator, secrecy: public}, takes: {to: {trust: user}, "*": {secrecy: internal}}}
  rules:
`

// typedRules are the rules that policies of benchmarks have in turn.
var typedRules = []string{
	"sum(put.n) <= 1000000", "count(put) <= 1000000", "distinct(put.to) <= 1000000", "put only if size(params.text) < 1000", "get before put",
}

// typedPlans have n calls of tools with schemas.
var typedPlans = map[string]func(n int) string{
	"chain": func(n int) string {
		return typedCalls(n, `{"_tool": "get", "_outputPath": "†state.x0"}`, func(i int) string {
			switch i % 3 {
			case 0:
				return fmt.Sprintf(`{"_tool": "get", "at": "†state.x%d.b.c", "_outputPath": "†state.x%d"}`, i-1, i)
			case 1:
				return fmt.Sprintf(`{"_tool": "mix", "x": {"c": "†state.x%d.b.c", "ids": "†state.x%d.list[*].id"}, "_outputPath": "†state.x%d"}`, i-1, i-1, i)
			}
			return fmt.Sprintf(`{"_tool": "put", "to": "†state.x%d.b.c", "text": "†state.x%d.c", "n": 1, "_outputPath": "†state.x%d"}`, i-2, i-1, i)
		})
	},
	"fan": func(n int) string {
		return typedCalls(n, `{"_tool": "get", "_outputPath": "†state.x"}`, func(int) string {
			return `{"_tool": "put", "to": "†state.x.b.c", "text": "†state.x.list[0].id", "n": 1}`
		})
	},
	"templates": func(n int) string {
		return typedCalls(n, `{"_tool": "get", "_outputPath": "†state.x0"}`, func(i int) string {
			return fmt.Sprintf(`{"_tool": "put", "to": "for †{state.x%d.b.c}", "text": "see †{state.x%d.list[0].id} and †{state.x%d.b.c}", "n": 1, "_outputPath": "†state.x%d"}`, i-1, i-1, i-1, i)
		})
	},
	"choose": func(n int) string {
		return typedCalls(n, `{"_tool": "get", "_outputPath": "†state.x0"}`, func(i int) string {
			if i%2 == 1 {
				return fmt.Sprintf(`{"_tool": "choose", "when": {"m%d": "size(value) > 3", "f%d": "true"}, "value": "†state.x%d.list", "_outputPath": "†state.m%d || †state.f%d"}`, i, i, i-1, i, i)
			}
			return fmt.Sprintf(`{"_tool": "mix", "x": {"ids": "†state.m%d[*].id || †state.f%d[*].id"}, "_outputPath": "†state.x%d"}`, i-1, i-1, i)
		})
	},
	"forEach": func(n int) string {
		return typedCalls(n, `{"_tool": "get", "_outputPath": "†state.x0"}`, func(i int) string {
			if i%2 == 1 {
				return fmt.Sprintf(`{"_tool": "forEach", "items": "†state.x%d.list", "_delegate": "each.json", "_outputPath": "†state.y%d"}`, i-1, i)
			}
			return fmt.Sprintf(`{"_tool": "mix", "x": {"ids": "†state.y%d[*].id"}, "_outputPath": "†state.x%d"}`, i-1, i)
		})
	},
}

// typedCalls returns a plan of a first call and n-1 others.
func typedCalls(n int, first string, next func(i int) string) string {
	var b strings.Builder
	b.WriteString("[" + first)
	for i := 1; i < n; i++ {
		b.WriteString(", " + next(i))
	}
	return b.String() + "]"
}

// typedPlan is a plan against its tools, with a policy.
type typedPlan struct {
	doc    *lang.Document
	opts   *compile.Options
	prog   *compile.Program
	policy *flow.Policy
}

func newTyped(t testing.TB, text string, rules int) *typedPlan {
	tools := typedTools
	for i := range rules {
		tools += "    - " + typedRules[i%len(typedRules)] + "\n"
	}
	f, found := file.Read(diag.NewFile("tools.yaml", []byte(tools)))
	cat, _, more := file.Catalogue(f)
	said, faults := file.Flow([]*file.File{f})
	policy, findings := flow.Prepare(said[0], cat, cel.New())
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(text)), nil)
	opts := &compile.Options{Catalogue: cat, Predicates: cel.New(), Delegates: fstest.MapFS{
		"each.json": &fstest.MapFile{Data: []byte(`{"solution": {"calls": [{"_tool": "get", "at": "†input.id", "_outputPath": "†state.x"}], "output": {"id": "†state.x.b.c"}}}`)},
	}}
	prog, invalid := compile.Compile(doc, opts)
	for _, found := range []diag.List{found, more, faults, findings, invalid} {
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return &typedPlan{doc, opts, prog, policy}
}

// Checking flows takes no more allocations than checking types where types are looked at: in the
// other plan, all calls read the same two values, whose types are known after the first.
func TestFlowsCostNoMoreThanTypes(t *testing.T) {
	for _, shape := range []string{"chain", "templates", "choose", "forEach"} {
		plan := newTyped(t, typedPlans[shape](1000), 5)
		check := compile.Types(plan.doc, plan.opts)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		check()
		runtime.ReadMemStats(&after)
		types := after.Mallocs - before.Mallocs
		if flows := testing.AllocsPerRun(1, func() { flow.Check(plan.prog, plan.policy, nil) }); flows > float64(types) {
			t.Errorf("%s: %.0f allocations for flows, %d for types", shape, flows, types)
		}
	}
}

// BenchmarkTypes compares the check of flows with that of types: the least time of each, by call, and
// their ratio.
//
//	go test ./compile -run XXX -bench Types -benchtime 150x
func BenchmarkTypes(b *testing.B) {
	for _, shape := range []string{"chain", "choose", "forEach", "templates", "fan"} {
		for _, n := range []int{10, 100, 1000} {
			for _, rules := range []int{5, 50} {
				b.Run(fmt.Sprintf("%s/%d/rules=%d", shape, n, rules), func(b *testing.B) {
					plan := newTyped(b, typedPlans[shape](n), rules)
					types, flows := time.Hour, time.Hour
					for b.Loop() {
						check := compile.Types(plan.doc, plan.opts)
						begun := time.Now()
						check()
						checked := time.Now()
						flow.Check(plan.prog, plan.policy, nil)
						types, flows = min(types, checked.Sub(begun)), min(flows, time.Since(checked))
					}
					b.ReportMetric(float64(types)/float64(n), "ns-types/call")
					b.ReportMetric(float64(flows)/float64(n), "ns-flows/call")
					b.ReportMetric(float64(flows)/float64(types), "flows/types")
				})
			}
		}
	}
}
