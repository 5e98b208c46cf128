package exec_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// A plan that writes all of the state into itself many times over comes to an end early: no value
// is put together beyond the bound, in memory neither.
func TestStateInItself(t *testing.T) {
	members := make([]string, 40)
	for i := range members {
		members[i] = fmt.Sprintf(`"m%d":"†state"`, i)
	}
	inObject := "{" + strings.Join(members, ",") + "}"
	inText := `"` + strings.Repeat("†{state} ", 40) + `"`
	for name, value := range map[string]string{"object": inObject, "text": inText} {
		for _, most := range []int64{1 << 20, 8 << 20} {
			var calls []string
			for i := range 9 {
				calls = append(calls, fmt.Sprintf(`{"_tool":"e","v":%s,"_outputPath":"†state.o%d"}`, value, i))
			}
			plan := `[{"type":"state","x":"` + strings.Repeat("y", 100) + `"},{"type":"plan","plan":[` + strings.Join(calls, ",") + `]}]`
			prog := program(t, plan, tools{"e": echo})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res := run(t, prog, &exec.Options{MaxBytes: most})
			runtime.ReadMemStats(&after)
			if res.Status != exec.Failed || !strings.Contains(res.Reason, "bytes") {
				t.Errorf("%s: %s, %q", name, res.Status, res.Reason)
			}
			if got := int64(after.TotalAlloc - before.TotalAlloc); got > 128*most && !raceDetector {
				t.Errorf("%s: %d MiB were allocated in a run of %d", name, got>>20, most>>20)
			} else {
				t.Logf("%s: %.1f times the bound", name, float64(got)/float64(most))
			}
		}
	}
}

// The params of the calls that run at once, and results that are written nowhere, are bounded like
// what is written: more calls start when others have ended.
func TestMuchUnderWay(t *testing.T) {
	var calls []string
	for range 20 {
		calls = append(calls, `{"_tool":"e","v":["†state.x","†state.x"]}`)
	}
	plan := `[{"type":"state","x":"` + strings.Repeat("y", 1000) + `"},{"type":"plan","plan":[` + strings.Join(calls, ",") + `]}]`
	for result, status := range map[string]exec.Status{"1": exec.Completed, `"` + strings.Repeat("z", 600) + `"`: exec.Failed} {
		var now, most atomic.Int32
		wait := tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) {
			for n := now.Add(1); ; {
				if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
					break
				}
			}
			time.Sleep(5 * time.Millisecond)
			now.Add(-1)
			return tool.Result{Value: json.RawMessage(result)}, nil
		})
		res := run(t, program(t, plan, tools{"e": wait}), &exec.Options{MaxBytes: 10_000, OnFailure: exec.Continue})
		if res.Status != status || status == exec.Failed && !strings.Contains(res.Reason, "bytes in all") {
			t.Errorf("%s, %q", res.Status, res.Reason)
		}
		if n := most.Load(); n < 2 || n > 8 { // five of 2,006 bytes, and those that two workers took meanwhile
			t.Errorf("%d calls at once", n)
		}
	}
}

// The output of a plan is bounded like the params of its calls.
func TestOutputTooLarge(t *testing.T) {
	plan := `{"context":[{"type":"state","x":"` + strings.Repeat("y", 1000) + `"}],"calls":[{"_tool":"e"}],"output":["†state","†state","†state"]}`
	res := run(t, program(t, plan, tools{"e": echo}), &exec.Options{MaxBytes: 2000})
	if res.Status != exec.Failed || res.Output != nil || !strings.Contains(res.Reason, "the output can't be made: what the references come to has more than 2000 bytes") {
		t.Errorf("%s, %q, %s", res.Status, res.Reason, res.Output)
	}
}

// A value is not judged any more when the run was called off: the call was stopped with it, and
// did not fail.
func TestValidationStopsWithTheRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	prog := program(t, `[{"_tool":"one","_outputPath":"†state.a"},{"_tool":"e","v":"†state.a"}]`,
		tools{"one": gives("[1,2]"), `e "properties":{"v":{"type":"array","uniqueItems":true,"maxItems":1}}`: echo})
	res, err := exec.Run(ctx, prog, &exec.Options{OnEvent: func(e *exec.Event) {
		if e.Type == exec.CallReady && e.Call == "e" {
			cancel()
		}
	}})
	if err != nil || res.Status != exec.Cancelled || res.Calls[1].Status != exec.Cancelled {
		t.Errorf("%+v, %v", res, err)
	}
}

// A check of a long value looks at the context: a run whose time is over meanwhile has not
// completed, and what was not checked is not written.
func TestChecksEndWithTheTime(t *testing.T) {
	slow := `{"type":"array","items":{"allOf":[` + strings.Repeat(`{"not":{"const":7}},`, 500) + `{}]}}`
	long := "[" + strings.Repeat("1,", 100_000) + "1]"
	ends := func(t *testing.T, prog *compile.Program, instances iter.Seq2[*compile.Instance, error]) *exec.Result {
		t.Helper()
		res := run(t, prog, &exec.Options{MaxTime: 50 * time.Millisecond, Instances: instances})
		if res.Status != exec.Failed || len(res.Findings) == 0 || res.Findings[0].Code != diag.OverBudget {
			t.Errorf("%s (%s) with findings %v", res.Status, res.Reason, res.Findings)
		}
		return res
	}
	over := func(t *testing.T, plan string) *exec.Result {
		t.Helper()
		return ends(t, program(t, plan, tools{"one": gives(long)}), nil)
	}
	t.Run("a write", func(t *testing.T) {
		res := over(t, `[{"type":"state","schema":{"properties":{"v":`+slow+`}},"state":{}},{"type":"plan","plan":[{"_tool":"one","_outputPath":"†state.v"}]}]`)
		if res.Calls[0].Status != exec.Cancelled || string(res.State) != "{}" {
			t.Errorf("the call is %s, and %d bytes were written", res.Calls[0].Status, len(res.State))
		}
	})
	t.Run("the output", func(t *testing.T) {
		over(t, `{"context":[],"schema":`+slow+`,"solution":{"calls":[{"_tool":"one","_outputPath":"†state.x"}],"output":"†state.x"}}`)
	})
	t.Run("the state at the end", func(t *testing.T) {
		res := over(t, `[{"type":"state","schema":{"if":{"properties":{"v":`+slow+`}},"then":{"required":["v"]}},"state":{}},{"type":"plan","plan":[{"_tool":"one","_outputPath":"†state.v"}]}]`)
		if res.Calls[0].Status != exec.Completed {
			t.Errorf("the call is %s", res.Calls[0].Status)
		}
	})
	t.Run("the input of a delegate", func(t *testing.T) {
		ts := tools{"one": gives(long), "e": echo}
		sub := document(t, `[{"type":"input","schema":{"properties":{"v":`+slow+`}}},{"type":"plan","plan":[{"_tool":"e"}]}]`, ts)
		prog := nest(program(t, `[{"_tool":"one","_outputPath":"†state.v"},{"_id":"c","_tool":"e","v":"†state.v"}]`, ts), map[string]*compile.Delegate{"c": {Name: "sub", Program: sub}})
		if res := ends(t, prog, nil); res.Calls[1].Status != exec.Cancelled || len(res.Calls[1].Runs) > 0 {
			t.Errorf("the call is %s, with %d runs inside", res.Calls[1].Status, len(res.Calls[1].Runs))
		}
	})
	t.Run("the input of an instance", func(t *testing.T) {
		prog := template(program(t, `[{"type":"input","schema":{"properties":{"v":`+slow+`}}},{"type":"plan","plan":[{"_tool":"e"}]}]`, tools{"e": echo}, openInput))
		res := ends(t, prog, func(yield func(*compile.Instance, error) bool) {
			yield(&compile.Instance{Name: "i", Own: map[string]json.RawMessage{"input": json.RawMessage(`{"v":` + long + `}`)}}, nil)
		})
		if len(res.Instances) > 0 {
			t.Errorf("the instance is %s (%s)", res.Instances[0].Status, res.Instances[0].Reason)
		}
	})
}

// What takes long to check is judged within the time of the run: a pattern of 2 KB on a text of 400
// KB, and an object without the hundred thousand members that it must have.
func TestLongChecksAreMade(t *testing.T) {
	names := make([]string, 100_000)
	for i := range names {
		names[i] = fmt.Sprintf("%q", fmt.Sprint("n", i))
	}
	most := 3 * time.Second
	if raceDetector {
		most = time.Minute
	}
	for name, c := range map[string]struct{ schema, value, want string }{
		"a pattern": {`{"pattern":"` + strings.Repeat("(x+x+)+", 286) + `y"}`, `"` + strings.Repeat("x", 400_000) + `"`, "expected a match of"},
		"names":     {`{"required":[` + strings.Join(names, ",") + `]}`, `{"a":1}`, `missing required member "n0"`},
	} {
		t.Run(name, func(t *testing.T) {
			prog := program(t, `[{"_tool":"one","_outputPath":"†state.a"},{"_tool":"e","v":"†state.a"}]`,
				tools{"one": gives(c.value), `e "properties":{"v":` + c.schema + `}`: echo})
			res := run(t, prog, &exec.Options{MaxTime: most})
			if res.Status != exec.Failed || res.Calls[1].Status != exec.Failed || !strings.Contains(res.Reason, c.want) {
				t.Errorf("%s (%.200s), and the call is %s", res.Status, res.Reason, res.Calls[1].Status)
			}
		})
	}
}
