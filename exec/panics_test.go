package exec_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// brokenLimiter panics when a slot is taken, or given back.
type brokenLimiter struct{ late bool }

func (l brokenLimiter) Acquire() (exec.Slot, bool) {
	if !l.late {
		panic("boom")
	}
	return l, true
}

func (l brokenLimiter) Release(bool) { panic("boom") }

// brokenRecord panics where it is told to.
type brokenRecord struct{ in string }

func (r brokenRecord) at(in string) {
	if r.in == in {
		panic("boom")
	}
}

func (r brokenRecord) Append(*exec.Event) int64 { r.at("Append"); return 1 }
func (r brokenRecord) Sync(int64) error         { r.at("Sync"); return nil }
func (r brokenRecord) Past(string) (map[string]*exec.Past, error) {
	r.at("Past")
	return nil, nil
}

const twoCalls = `[{"_tool":"one","_outputPath":"†state.a"},{"_tool":"e","v":"†state.a"}]`

// brokenRuns are options with a hook that panics, and what the reason of the run must say.
var brokenRuns = []struct {
	name, says string
	opts       exec.Options
}{
	{"OnEvent", "OnEvent panicked: boom", exec.Options{OnEvent: func(*exec.Event) { panic("boom") }}},
	{"OnCallStart", "OnCallStart panicked: boom", exec.Options{OnCallStart: func(context.Context, *compile.Call, json.RawMessage) (json.RawMessage, error) { panic("boom") }}},
	{"OnCallDone", "OnCallDone panicked: boom", exec.Options{OnCallDone: func(context.Context, *compile.Call, json.RawMessage) (json.RawMessage, error) { panic("boom") }}},
	{"OnCallEnd", "OnCallEnd panicked: boom", exec.Options{OnCallEnd: func(context.Context, *compile.Call, json.RawMessage, *exec.Failure) string { panic("boom") }}},
	{"Known", "Known panicked: boom", exec.Options{Known: func(*compile.Call, string, string, string) *exec.Past { panic("boom") }}},
	{"Duration", "Duration panicked: boom", exec.Options{Duration: func(*compile.Call) float64 { panic("boom") }}},
	{"Dry", "boom", exec.Options{Dry: func(context.Context, *exec.Trial) (tool.Result, error) { panic("boom") }}},
	{"Middleware", "boom", exec.Options{Middleware: []tool.Middleware{func(tool.Activity) tool.Activity { panic("boom") }}}},
	{"Limiter", "Limiter.Acquire panicked: boom", exec.Options{Limiter: brokenLimiter{}}},
	{"Slot", "Slot.Release panicked: boom", exec.Options{Limiter: brokenLimiter{late: true}}},
	{"Record.Append", "Record.Append panicked: boom", exec.Options{Record: brokenRecord{"Append"}}},
	{"Record.Sync", "Record.Sync panicked: boom", exec.Options{Record: brokenRecord{"Sync"}}},
	{"Approver", "Approver panicked: boom", exec.Options{Approve: exec.ApproveAll, Approver: func(context.Context, *exec.Question) (exec.Answer, error) { panic("boom") }}},
}

func TestPanicsOfHooksFailTheirRunAlone(t *testing.T) {
	ts := tools{"one": gives("1"), "e": echo}
	healthy, prog := program(t, twoCalls, ts), program(t, twoCalls, ts)
	var wg sync.WaitGroup
	for _, c := range brokenRuns {
		for range 4 {
			wg.Go(func() {
				opts := c.opts
				res, err := exec.Run(t.Context(), prog, &opts)
				if err != nil || res.Status != exec.Failed || !strings.Contains(res.Reason, c.says) {
					t.Errorf("%s: %+v, %v", c.name, res, err)
				}
			})
		}
		wg.Go(func() {
			if res, err := exec.Run(t.Context(), healthy, nil); err != nil || res.Status != exec.Completed {
				t.Errorf("a run beside that with %s: %+v, %v", c.name, res, err)
			}
		})
	}
	wg.Wait()
}

func TestPanicsBeforeARunRefuseIt(t *testing.T) {
	prog := program(t, twoCalls, tools{"one": gives("1"), "e": echo})
	for name, opts := range map[string]*exec.Options{
		"OnPlan":      {OnPlan: func(*compile.Program) error { panic("boom") }},
		"OnRevision":  {Revision: 1, OnRevision: func(*compile.Program, int) error { panic("boom") }},
		"Record.Past": {Record: brokenRecord{"Past"}},
	} {
		if _, err := exec.Run(t.Context(), prog, opts); err == nil || !strings.Contains(err.Error(), name+" panicked: boom") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A panic of exec itself, here because a program is broken, ends its run alone, with the call that
// still ran marked as uncertain.
func TestPanicInAWorkerFailsItsRunAlone(t *testing.T) {
	started, release := make(chan struct{}), make(chan struct{})
	slow := func(ctx context.Context, _ *tool.Request) (tool.Result, error) {
		close(started)
		<-release
		return tool.Result{}, nil
	}
	prog := program(t, `[{"_tool":"slow"},{"_tool":"one"},{"_tool":"e","v":1,"_dependsOn":["one"]}]`,
		tools{"slow": slow, "one": func(context.Context, *tool.Request) (tool.Result, error) { <-started; return tool.Result{}, nil }, "e": echo})
	broken := *prog.Calls[2].Target
	broken.Definitions = []*tool.Definition{nil}
	prog.Calls[2].Target = &broken
	healthy := program(t, twoCalls, tools{"one": gives("1"), "e": echo})
	var wg sync.WaitGroup
	wg.Go(func() {
		res, err := exec.Run(t.Context(), prog, nil)
		var broke *exec.PanicError
		switch {
		case err != nil || res.Status != exec.Failed || !errors.As(res.Err, &broke) || len(broke.Stack) == 0 || !strings.HasPrefix(res.Reason, "internal error: "):
			t.Errorf("%+v, %v", res, err)
		case res.Calls[0].Error == nil || res.Calls[0].Error.Code != "uncertain" || res.Calls[1].Status != exec.Completed:
			t.Errorf("calls %+v", res.Calls)
		}
		close(release)
	})
	for range 20 {
		wg.Go(func() {
			if res, err := exec.Run(t.Context(), healthy, nil); err != nil || res.Status != exec.Completed {
				t.Errorf("a run beside it: %+v, %v", res, err)
			}
		})
	}
	wg.Wait()
}

func TestPanicOfAToolIsUncertain(t *testing.T) {
	bad := func(context.Context, *tool.Request) (tool.Result, error) { panic("boom") }
	res := run(t, program(t, `[{"_tool":"bad"}]`, tools{"bad": bad}), &exec.Options{OnUncertain: exec.FailUncertain})
	if f := res.Calls[0].Error; res.Status != exec.Failed || f == nil || f.Code != "uncertain" || !strings.Contains(f.Message, "panic: boom") {
		t.Errorf("%s, %+v", res.Status, f)
	}
}
