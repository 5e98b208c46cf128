package forecast

import (
	"fmt"
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
