package forecast

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// Loops in loops can't keep a dry run going for ever, and a long plan is shown whatever its length.
func TestDryRunEnds(t *testing.T) {
	def, findings := tool.ParseDefinition([]byte(`{"effects": {"readOnly": true}}`), "look", diag.Loc{})
	o := &compile.Options{Catalogue: tool.NewCatalogue(&tool.Tool{Definition: def, Activity: tool.ActivityFunc(nil)})}
	nested := fstest.MapFS{"d3.json": {Data: []byte(`[{"_tool": "look"}]`)}}
	for i := range 3 {
		nested[fmt.Sprintf("d%d.json", i)] = &fstest.MapFile{Data: fmt.Appendf(nil,
			`[{"_tool": "forEach", "_delegate": "d%d.json", "items": [0,1,2,3,4,5,6,7,8,9]}]`, i+1)}
	}
	o.Delegates = nested
	const most = 500
	for plan, calls := range map[string]int{
		`[{"_tool": "forEach", "_delegate": "d0.json", "items": [0,1,2,3,4,5,6,7,8,9]}]`: 0, // it makes 10,000
		`[{"_tool": "forEach", "_delegate": "d2.json", "items": [0,1,2,3,4,5,6,7,8,9]}]`: 111,
		"[" + strings.Repeat(`{"_tool": "look"},`, 2*most-1) + `{"_tool": "look"}]`:      2 * most,
	} {
		doc, more := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
		prog, found := compile.Compile(doc, o)
		if err := append(append(findings, more...), found...).Err(); err != nil {
			t.Fatal(err)
		}
		w, err := newWalk(prog, nil)
		if err != nil {
			t.Fatal(err)
		}
		w.repeated = most
		switch d, err := w.run(t.Context()); {
		case calls == 0 && (err == nil || !strings.Contains(err.Error(), "the plan's loops make more")):
			t.Errorf("%.80s: %v", plan, err)
		case calls > 0 && (err != nil || len(d.Calls) != calls):
			t.Errorf("%.80s: %v, %v", plan, d, err)
		}
	}
}

// A dry run has one budget for all that it puts together, whichever way, and allocates no more than
// a small multiple of it.
func TestBudgetOfBytes(t *testing.T) {
	docs := fstest.MapFS{
		"same.json":  {Data: []byte(`{"calls": [], "output": 1}`)},
		"twice.json": {Data: []byte(`{"calls": [], "output": ["†input.v", "†input.v"]}`)},
		"use.json":   {Data: []byte(`{"calls": [{"_tool": "look", "v": "†state.big"}], "output": 1}`)},
		"state.json": {Data: []byte(`[{"_tool": "look"}]`)},
	}
	def, findings := tool.ParseDefinition([]byte(`{"effects": {"readOnly": true}}`), "look", diag.Loc{})
	o := &compile.Options{Catalogue: tool.NewCatalogue(&tool.Tool{Definition: def, Activity: tool.ActivityFunc(nil)}), Delegates: docs}
	o.Values = map[string]compile.Given{"state": {JSON: json.RawMessage(`{"big": "` + strings.Repeat("x", 1<<20) + `"}`)}}
	const most = 32 << 20
	items := func(n int) string { return "[" + strings.Repeat("1,", n-1) + "1]" }
	for name, plan := range map[string]string{
		"params":          `[` + strings.Repeat(`{"_tool": "look", "v": ["†state.big", "†state.big"]}, `, 20) + `{"_tool": "look"}]`,
		"an output":       `{"calls": [], "output": [` + strings.Repeat(`"†state.big", `, 40) + `1]}`,
		"params in loops": `[{"_tool": "forEach", "items": ` + items(100) + `, "_scopes": ["†state.big"], "_delegate": "use.json"}]`,
		"scopes":          `[` + strings.Repeat(`{"_tool": "look", "_scopes": ["†state.big"]}, `, 100) + `{"_tool": "look"}]`,
		"inputs":          `[{"_tool": "repeat", "initial": {"big": "†state.big"}, "max": 100, "_delegate": "same.json"}]`,
		"results":         `[{"_tool": "forEach", "items": ` + items(100) + `, "_scopes": ["†state.big"], "_delegate": "state.json"}]`,
		"fallbacks":       `[` + strings.Repeat(`{"_tool": "look", "_approve": true, "_fallback": {"_tool": "look", "v": "†state.big"}}, `, 100) + `{"_tool": "look"}]`,
		"conditions":      `[` + strings.Repeat(`{"_tool": "look", "_when": "†state.big"}, `, 100) + `{"_tool": "look"}]`,
		"runs of nothing": `[{"_tool": "forEach", "items": ` + items(40_000) + `, "_delegate": "same.json"}]`,
		"instances":       forInstances(400, `[{"_tool": "look", "v": ["†state.big", "†state.big"]}]`),
	} {
		t.Run(name, func(t *testing.T) {
			doc, more := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
			prog, found := compile.Compile(doc, o)
			if err := append(append(findings, more...), found...).Err(); err != nil {
				t.Fatal(err)
			}
			w, err := newWalk(prog, nil)
			if err != nil {
				t.Fatal(err)
			}
			w.bytes.Store(most)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err = w.run(t.Context())
			runtime.ReadMemStats(&after)
			if err != errTooLarge {
				t.Errorf("%v", err)
			}
			spent := after.TotalAlloc - before.TotalAlloc
			if spent > 16*most {
				t.Errorf("it allocates %d MiB", spent>>20)
			}
		})
	}
}

// forInstances returns a document with a plan for so many instances.
func forInstances(n int, plan string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type": "state", "_instance": "i%d", "n": %d}, `, i, i)
	}
	return "[" + b.String() + `{"type": "plan", "plan": ` + plan + "}]"
}
