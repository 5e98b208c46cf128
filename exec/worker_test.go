package exec_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// Whatever a worker waits for that is not ours, others take what is ready meanwhile: here each of
// 40 calls goes on only when all have come as far, whatever the number of processors.
func TestWaitingWorkersHoldNobodyUp(t *testing.T) {
	const n = 40
	var all *sync.WaitGroup
	meet := func() {
		all.Done()
		all.Wait()
	}
	meets := func(context.Context, *tool.Request) (tool.Result, error) {
		meet()
		return tool.Result{Value: json.RawMessage("1")}, nil
	}
	wide := func(call string) string {
		plan := "["
		for i := range n {
			if i > 0 {
				plan += ","
			}
			plan += fmt.Sprintf(call, i)
		}
		return plan + "]"
	}
	slow := &slowTape{wait: meet}
	slow.left.Store(n)
	plain := wide(`{"_tool":"e","n":%d}`)
	for _, tt := range []struct {
		name, plan string
		tools      tools
		opts       exec.Options
	}{
		{name: "a tool", plan: plain, tools: tools{"e": meets}},
		{name: "a fallback", plan: wide(`{"_tool":"no","n":%d,"_fallback":"e"}`), tools: tools{"no": fails("no"), "e": meets}},
		{name: "OnCallStart", plan: plain, tools: tools{"e": echo}, opts: exec.Options{
			OnCallStart: func(context.Context, *compile.Call, json.RawMessage) (json.RawMessage, error) {
				meet()
				return nil, nil
			}}},
		{name: "OnCallDone", plan: plain, tools: tools{"e": echo}, opts: exec.Options{
			OnCallDone: func(context.Context, *compile.Call, json.RawMessage) (json.RawMessage, error) {
				meet()
				return nil, nil
			}}},
		{name: "OnCallEnd", plan: plain, tools: tools{"e": fails("no")}, opts: exec.Options{OnFailure: exec.Continue,
			OnCallEnd: func(context.Context, *compile.Call, json.RawMessage, *exec.Failure) string {
				meet()
				return ""
			}}},
		{name: "the record", plan: plain, tools: tools{`e "effects":{"readOnly":false,"independent":true}`: echo}, opts: exec.Options{Record: slow}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all = new(sync.WaitGroup)
			all.Add(n)
			h, err := exec.Start(t.Context(), program(t, tt.plan, tt.tools), &tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			h.Wait()
			empty(h)
		})
	}
}

// empty returns when no worker of a run that has ended is here: one that was started when there
// was nothing more to do may still come.
func empty(h *exec.Handle) {
	for h.Here() != 0 {
		runtime.Gosched()
	}
}

// slowTape is a record that takes its time with the start of each call.
type slowTape struct {
	tape
	left atomic.Int32 // starts that have not come
	wait func()
}

func (r *slowTape) Sync(seq int64) error {
	if r.left.Add(-1) >= 0 {
		r.wait()
	}
	return nil
}

// Calls whose tools take no time make hardly any goroutines, however many are ready at once.
func TestFewWorkers(t *testing.T) {
	const n = 5000
	prog := program(t, shaped(n, shapes[1].call), tools{"e": echo})
	made := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	metrics.Read(made)
	before := made[0].Value.Uint64()
	h, err := exec.Start(t.Context(), prog, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res := h.Wait(); res.Status != exec.Completed {
		t.Fatalf("%s: %s", res.Status, res.Reason)
	}
	empty(h)
	metrics.Read(made)
	if count := made[0].Value.Uint64() - before; count > n/4 {
		t.Errorf("%d goroutines for %d calls", count, n)
	}
}

// Workers whose calls take their time go on to the next calls, and are not made anew.
func TestWorkersAreKept(t *testing.T) {
	const chains, length = 50, 20
	plan := "["
	for c := range chains {
		plan += fmt.Sprintf(`{"_tool":"wait","_outputPath":"†state.c%d"},`, c)
	}
	for range length - 1 {
		for c := range chains {
			plan += fmt.Sprintf(`{"_tool":"wait","n":"†state.c%d","_outputPath":"†state.c%[1]d"},`, c)
		}
	}
	plan = plan[:len(plan)-1]
	synctest.Test(t, func(t *testing.T) {
		prog := program(t, plan+"]", tools{"wait": takes(10 * time.Millisecond)})
		made := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
		metrics.Read(made)
		before := made[0].Value.Uint64()
		begun := time.Now()
		if res, err := exec.Run(t.Context(), prog, nil); err != nil || res.Status != exec.Completed {
			t.Fatal(res.Reason, err)
		}
		if took := time.Since(begun); took != length*10*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		metrics.Read(made)
		if count := made[0].Value.Uint64() - before; count > 4*chains {
			t.Errorf("%d goroutines for %d calls, %d at once", count, length*chains, chains)
		}
	})
}

// An attempt that is abandoned takes its worker with it, and nobody waits for another.
func TestAbandonedWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		deaf := func(context.Context, *tool.Request) (tool.Result, error) {
			calls.Add(1)
			time.Sleep(time.Hour)
			return tool.Result{}, nil
		}
		plan := `[{"_tool":"deaf","_timeout":1,"_onFailure":"continue"}`
		for range 4 * runtime.GOMAXPROCS(0) {
			plan += `,{"_tool":"deaf","_timeout":1,"_onFailure":"continue"}`
		}
		h, err := exec.Start(t.Context(), program(t, plan+"]", tools{`deaf "effects":{"readOnly":true}`: deaf}), &exec.Options{MaxParallel: 2})
		if err != nil {
			t.Fatal(err)
		}
		res := h.Wait()
		if n := int(calls.Load()); n != len(res.Calls) {
			t.Errorf("%d of %d calls were made", n, len(res.Calls))
		}
		time.Sleep(2 * time.Hour)
		if h.Here() != 0 {
			t.Errorf("%d workers are here when all answers have come", h.Here())
		}
	})
}

// A call costs so many allocations, of a plan that has many: the attempt, its params, its key, the
// node on the whiteboard, what events and results say of the path, and now and then of what
// grows. The tool here makes none.
func TestAllocationsOfACall(t *testing.T) {
	const n = 1000
	prog := program(t, shaped(n, shapes[0].call), tools{`e "properties":{"v":{"type":"object"}},"required":["v"]`: gives(`{"v":{"v":1}}`)})
	var events atomic.Int64
	for _, tt := range []struct {
		name string
		opts exec.Options
		most float64
	}{
		{"without events", exec.Options{}, 6.5},
		{"events that nobody keeps", exec.Options{ReuseEvents: true, OnEvent: func(*exec.Event) { events.Add(1) }}, 8.5},
		{"events", exec.Options{OnEvent: func(*exec.Event) { events.Add(1) }}, 8.6},
	} {
		got := testing.AllocsPerRun(5, func() {
			if res, err := exec.Run(t.Context(), prog, &tt.opts); err != nil || res.Status != exec.Completed {
				t.Fatal(res.Reason, err)
			}
		}) / n
		if got > tt.most {
			t.Errorf("%s: %.2f allocations a call, want at most %.1f", tt.name, got, tt.most)
		}
		t.Logf("%s: %.2f", tt.name, got)
	}
	if events.Load() < 2*6*5*n {
		t.Errorf("%d events", events.Load())
	}
}

// A run of one call costs so many allocations.
func TestAllocationsOfARun(t *testing.T) {
	prog := program(t, shaped(1, nil), tools{"e": gives(`1`)})
	got := testing.AllocsPerRun(20, func() {
		if res, err := exec.Run(t.Context(), prog, nil); err != nil || res.Status != exec.Completed {
			t.Fatal(res.Reason, err)
		}
	})
	if got > 50 {
		t.Errorf("%v allocations", got)
	}
	t.Log(got)
}
