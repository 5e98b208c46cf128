package exec_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
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
	long := "[" + strings.Repeat("1,", 10_000) + "1]"
	over := func(t *testing.T, plan string) *exec.Result {
		res := run(t, program(t, plan, tools{"one": gives(long)}), &exec.Options{MaxTime: 50 * time.Millisecond})
		if res.Status != exec.Failed || len(res.Findings) == 0 || res.Findings[0].Code != diag.OverBudget {
			t.Errorf("%s (%s) with findings %v", res.Status, res.Reason, res.Findings)
		}
		return res
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
}
