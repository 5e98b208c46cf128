package plc_test

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/dag/draw"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
)

// grown returns plans of n calls, by how the calls depend on each other.
func grown(n int) map[string]string {
	calls := map[string][]string{}
	for i := range n {
		calls["wide"] = append(calls["wide"], fmt.Sprintf(`{"_tool": "words", "text": "a b", "_outputPath": "†state.w%d"}`, i))
		before := `"a b"`
		if i > 0 {
			before = fmt.Sprintf(`"†{state.w%d[0]}"`, i-1)
		}
		calls["chain"] = append(calls["chain"], fmt.Sprintf(`{"_tool": "words", "text": %s, "_outputPath": "†state.w%d"}`, before, i))
	}
	plans := map[string]string{}
	for name, list := range calls {
		plans[name] = `{"calls": [` + strings.Join(list, ",\n") + `], "output": null}`
	}
	return plans
}

// What plc does with a plan costs little more than ten times as much for ten times as many calls.
// It is measured in memory that is allocated, since time depends on the machine; how buffers double
// may add half of it.
func TestGrowth(t *testing.T) {
	const n = 150 // ten times as many can still be drawn
	small, large := grown(n), grown(10*n)
	for name := range small {
		for what, do := range growing {
			t.Run(name+"/"+what, func(t *testing.T) {
				few, many := allocated(t, small[name], do), allocated(t, large[name], do)
				if many > 15*few {
					t.Errorf("%d bytes for %d calls, %d for ten times as many", few, n, many)
				}
			})
		}
	}
}

// growing are the operations that are measured.
var growing = map[string]func(ctx context.Context, p *plc.Plan) error{
	"plan": func(ctx context.Context, p *plc.Plan) error { _, err := p.Preview(ctx); return err },
	"run": func(ctx context.Context, p *plc.Plan) error {
		r, err := p.Begin(ctx)
		if err != nil {
			return err
		}
		res, err := r.Do(ctx)
		if err == nil && res.Status != exec.Completed {
			err = fmt.Errorf("the run is %s: %s", res.Status, res.Reason)
		}
		return err
	},
	"diff":     func(_ context.Context, p *plc.Plan) error { report.Compare(p.Program, p.Program); return nil },
	"manifest": func(_ context.Context, p *plc.Plan) error { p.Manifest(); return nil },
	"text":     func(_ context.Context, p *plc.Plan) error { return draw.Text(io.Discard, plc.Draw(p.Program, 1)) },
	"svg":      func(_ context.Context, p *plc.Plan) error { return draw.SVG(io.Discard, plc.Draw(p.Program, 1)) },
	"mermaid":  func(_ context.Context, p *plc.Plan) error { return draw.Mermaid(io.Discard, plc.Draw(p.Program, 1)) },
	"json":     func(_ context.Context, p *plc.Plan) error { return draw.JSON(io.Discard, plc.Draw(p.Program, 1)) },
}

// allocated returns how many bytes are allocated to do something with a plan that was checked.
func allocated(t *testing.T, plan string, do func(context.Context, *plc.Plan) error) uint64 {
	t.Helper()
	store := memory.New()
	defer store.Close()
	eng := plc.New(plc.Config{Store: store, Tools: []*tool.Tool{tool.Func("words", "The words of a text.", words)}})
	defer eng.Close()
	p, err := eng.Prepare(t.Context(), plc.Spec{Plan: plc.Text(plan)})
	if err != nil {
		t.Fatal(err)
	}
	// Buffers that an earlier test left in a pool would make one of the two cheaper: two collections
	// empty the pools, and none may come in between.
	runtime.GC()
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = do(t.Context(), p)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	return after.TotalAlloc - before.TotalAlloc
}
