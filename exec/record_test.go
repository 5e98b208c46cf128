package exec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/exectest"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// tape is a record in memory. Past knows the events that were there at first.
type tape struct {
	mu     sync.Mutex
	events []*exec.Event
	before int
	synced int64
	full   func(e *exec.Event) bool // the disk is, from this event on
	broken error
}

func (r *tape) Append(e *exec.Event) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.full != nil && r.full(e) {
		r.broken = errors.New("no space left on device")
	}
	line, err := jsonscan.Marshal(e) // values stay as they were written
	kept := &exec.Event{}
	if err := errors.Join(err, json.Unmarshal(line, kept)); err != nil {
		r.broken = err
	}
	r.events = append(r.events, kept)
	return int64(len(r.events))
}

func (r *tape) Sync(seq int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.broken == nil {
		r.synced = max(r.synced, seq)
	}
	return r.broken
}

// onDisk returns the number of the last event that is.
func (r *tape) onDisk() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.synced
}

func (r *tape) Past(instance string) (map[string]*exec.Past, error) {
	return exectest.Past(r.events[:r.before], instance), nil
}

// after is what the next process finds when this one was killed after the last event of a
// type, "" when it was not.
func (r *tape) after(last exec.EventType) *tape {
	n := len(r.events)
	for last != "" && r.events[n-1].Type != last {
		n--
	}
	return &tape{events: slices.Clone(r.events[:n]), before: n}
}

func (r *tape) types() string {
	var all []string
	for _, e := range r.events {
		all = append(all, strings.TrimSuffix(string(e.Type)+" "+e.Call, " "))
	}
	return strings.Join(all, ", ")
}

// counted counts how often a tool is called, and with which keys.
type counted struct {
	mu   sync.Mutex
	keys []string
}

func (c *counted) tool(f act) act {
	return func(ctx context.Context, req *tool.Request) (tool.Result, error) {
		c.mu.Lock()
		c.keys = append(c.keys, req.Key)
		c.mu.Unlock()
		return f(ctx, req)
	}
}

func TestWhatIsRecorded(t *testing.T) {
	prog := program(t, `[{"_tool":"pay","amount":5,"_retry":{"max":1,"delay":"1ms"},"_outputPath":"†state.x"},{"_tool":"backed","_fallback":"spare","amount":1}]`,
		tools{"pay": failsFirst(1, `"paid"`), "backed": fails("down"), "spare": echo})
	r := &tape{}
	res := run(t, prog, &exec.Options{Schedule: exec.Sequential, Record: r})
	want := "runStarted, callStarted pay, callRetrying pay, callStarted pay, callReturned pay, write pay, callCompleted pay, " +
		"callStarted backed, callRetrying backed, callStarted backed, callReturned backed, callCompleted backed, runFinished"
	if got := r.types(); got != want {
		t.Errorf("recorded\n%s\nwant\n%s", got, want)
	}
	first, last := r.events[1], r.events[len(r.events)-1]
	if first.Key == "" || first.Key != r.events[3].Key || first.Content == "" {
		t.Errorf("attempts without a key of their own: %+v %+v", first, r.events[3])
	}
	if got := r.events[9]; !got.Fallback || got.Tool != "spare" {
		t.Errorf("the fallback: %+v", got)
	}
	if last.Digest == "" || last.Digest != res.Digest || r.synced != int64(len(r.events)) {
		t.Errorf("the end: %+v, %d of %d on disk", last, r.synced, len(r.events))
	}
}

// failsFirst is a tool of which so many attempts fail.
func failsFirst(n int, then string) act {
	return func(_ context.Context, req *tool.Request) (tool.Result, error) {
		if req.Attempt <= n {
			return tool.Result{}, &tool.Error{Code: "busy", Message: "later"}
		}
		return tool.Result{Value: json.RawMessage(then)}, nil
	}
}

func TestARecordThatCanNotBeWritten(t *testing.T) {
	const plan = `[{"_tool":"look","_outputPath":"†state.a"},{"_tool":"pay","v":"†state.a"},{"_tool":"look","_dependsOn":["pay"]}]`
	for _, c := range []struct {
		name  string
		full  func(*exec.Event) bool
		calls string
		pays  int
	}{
		{"from the start", func(*exec.Event) bool { return true }, "look:completed pay:cancelled look-2:cancelled", 0},
		{"at the intent", func(e *exec.Event) bool { return e.Type == exec.CallStarted && e.Call == "pay" }, "look:completed pay:cancelled look-2:cancelled", 0},
		{"at the result", func(e *exec.Event) bool { return e.Type == exec.CallReturned && e.Call == "pay" }, "look:completed pay:completed look-2:completed", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n counted
			prog := program(t, plan, tools{`look "effects":{"readOnly":true}`: gives("1"), "pay": n.tool(gives("2"))})
			res := run(t, prog, &exec.Options{Record: &tape{full: c.full}})
			var broken *exec.RecordError
			if res.Status != exec.Failed || !errors.As(res.Err, &broken) || !strings.Contains(res.Reason, "no space left") {
				t.Errorf("%s %q %v", res.Status, res.Reason, res.Err)
			}
			if got := statuses(res); got != c.calls || len(n.keys) != c.pays {
				t.Errorf("%s, %d payments", got, len(n.keys))
			}
		})
	}
}

type unreadable struct{ tape }

func (*unreadable) Past(string) (map[string]*exec.Past, error) { return nil, errors.New("bad sector") }

func TestARecordThatCanNotBeRead(t *testing.T) {
	prog := program(t, `[{"_tool":"e"}]`, tools{"e": echo})
	if _, err := exec.Run(t.Context(), prog, &exec.Options{Record: &unreadable{}}); err == nil || !strings.Contains(err.Error(), "bad sector") {
		t.Error(err)
	}
}

// TestALostFallback tries a call again whose fallback got lost: it goes on with the fallback,
// since the call itself had failed for good.
func TestALostFallback(t *testing.T) {
	main, spare, n := counted{}, counted{}, 0
	ts := tools{"pay": main.tool(fails("down")), "spare": spare.tool(func(context.Context, *tool.Request) (tool.Result, error) {
		if n++; n == 1 {
			return tool.Result{}, &tool.Error{Code: "reset", Message: "lost", Uncertain: true}
		}
		return tool.Result{Value: json.RawMessage(`"paid"`)}, nil
	})}
	prog := program(t, `[{"_tool":"pay","amount":5,"_retry":0,"_fallback":"spare","_outputPath":"†state.x"}]`, ts)
	r := &tape{}
	if res := run(t, prog, &exec.Options{ID: "r", Record: r}); res.Status != exec.Failed || len(spare.keys) != 1 {
		t.Fatalf("%s, called %d times", res.Status, len(spare.keys))
	}
	res := run(t, prog, &exec.Options{ID: "r", Record: r.after(""), RetryFailed: true, OnUncertain: exec.RetryUncertain})
	if res.Status != exec.Completed || len(main.keys) != 1 || len(spare.keys) != 2 || spare.keys[0] != spare.keys[1] {
		t.Errorf("%s, the call itself %d times, its fallback with the keys %q", res.Status, len(main.keys), spare.keys)
	}
}

// A call whose answer was lost waits for somebody who says later how it ended.
func TestALostAnswerWaits(t *testing.T) {
	var n counted
	prog := program(t, `[{"_tool":"pay","amount":5,"_outputPath":"†state.x"}]`, tools{`pay "effects":{}`: n.tool(gives("1"))})
	r := &tape{}
	run(t, prog, &exec.Options{ID: "r", Record: r})
	before := r.after(exec.CallStarted)
	res := run(t, prog, &exec.Options{ID: "r", Record: before, OnUncertain: exec.WaitUncertain})
	if res.Status != exec.Paused || len(res.Questions) != 1 || res.Questions[0].Kind != exec.UncertainQuestion || len(n.keys) != 1 {
		t.Fatalf("%s, questions %+v, called %d times", res.Status, res.Questions, len(n.keys))
	}
	answer := func(context.Context, *exec.Question) (exec.Answer, error) {
		return exec.Answer{Result: []byte(`7`)}, nil
	}
	res = run(t, prog, &exec.Options{ID: "r", Record: before.after(exec.ApprovalAsked), OnUncertain: exec.WaitUncertain, Approver: answer})
	if res.Status != exec.Completed || string(res.State) != `{"x":7}` || len(n.keys) != 1 {
		t.Errorf("%s %s, called %d times", res.Status, res.State, len(n.keys))
	}
}

// Why an answer was lost is still said when the run is resumed, and so is what a person answered.
func TestWhyAnAnswerWasLost(t *testing.T) {
	var n counted
	prog := program(t, `[{"_tool":"pay","amount":5}]`, tools{`pay "effects":{}`: n.tool(func(context.Context, *tool.Request) (tool.Result, error) {
		return tool.Result{}, &tool.Error{Code: "bad-output", Message: "half a page", Uncertain: true}
	})})
	r := &tape{}
	first := run(t, prog, &exec.Options{ID: "r", Record: r, OnUncertain: exec.WaitUncertain})
	if len(first.Questions) != 1 {
		t.Fatalf("%s: %+v", first.Status, first.Questions)
	}
	q := first.Questions[0]
	wants := func(name string, f *exec.Failure, texts ...string) {
		t.Helper()
		if f == nil || f.Code != "uncertain" {
			t.Fatalf("%s: %+v", name, f)
		}
		for _, text := range texts {
			if !strings.Contains(f.Message, text) {
				t.Errorf("%s does not say %q: %s", name, text, f.Message)
			}
		}
	}
	wants("the question", q.Failure, "bad-output: half a page")

	r = r.after("")
	again := run(t, prog, &exec.Options{ID: "r", Record: r, OnUncertain: exec.WaitUncertain})
	if len(again.Questions) != 1 || again.Questions[0].Reason != q.Reason || *again.Questions[0].Failure != *q.Failure {
		t.Errorf("asked again: %+v, was %+v", again.Questions, q)
	}

	no := func(context.Context, *exec.Question) (exec.Answer, error) {
		return exec.Answer{Reason: "I saw it in the ledger"}, nil
	}
	r = r.after("")
	refused := run(t, prog, &exec.Options{ID: "r", Record: r, Approver: no})
	wants("the refused call", refused.Calls[0].Error, "bad-output: half a page", "may have done its work", "I saw it in the ledger")
	if strings.Contains(refused.Calls[0].Error.Message, "so it is not called again") {
		t.Errorf("it gives two reasons: %s", refused.Calls[0].Error.Message)
	}

	later := run(t, prog, &exec.Options{ID: "r", Record: r.after(""), RetryFailed: true, OnUncertain: exec.WaitUncertain})
	if len(later.Questions) != 1 || *later.Questions[0].Failure != *q.Failure {
		t.Errorf("asked after it was refused: %+v", later.Questions)
	}
	if len(n.keys) != 1 {
		t.Errorf("it was called %d times", len(n.keys))
	}
}

// TestALostAnswer kills a run while a tool is called, and resumes it.
func TestALostAnswer(t *testing.T) {
	yes := func(a exec.Answer) func(context.Context, *exec.Question) (exec.Answer, error) {
		return func(_ context.Context, q *exec.Question) (exec.Answer, error) {
			if q.Kind != exec.UncertainQuestion || q.Failure.Code != "uncertain" {
				t.Errorf("asked %+v", q)
			}
			return a, nil
		}
	}
	for _, c := range []struct {
		name    string
		effects string
		opts    exec.Options
		call    string
		state   string
		calls   int
	}{
		{"it may be repeated", `"idempotent":true`, exec.Options{}, "pay:completed", `{"x":1}`, 2},
		{"nobody to ask", ``, exec.Options{}, "pay:failed", `{}`, 1},
		{"fail", ``, exec.Options{OnUncertain: exec.FailUncertain}, "pay:failed", `{}`, 1},
		{"retry", ``, exec.Options{OnUncertain: exec.RetryUncertain}, "pay:completed", `{"x":1}`, 2},
		{"skip", ``, exec.Options{OnUncertain: exec.SkipUncertain}, "pay:skipped", `{}`, 1},
		{"asked: again", ``, exec.Options{Approver: yes(exec.Answer{Approved: true})}, "pay:completed", `{"x":1}`, 2},
		{"asked: no", ``, exec.Options{Approver: yes(exec.Answer{})}, "pay:failed", `{}`, 1},
		{"asked: it gave", ``, exec.Options{Approver: yes(exec.Answer{Result: []byte(`7`)})}, "pay:completed", `{"x":7}`, 1},
		{"asked: never mind", ``, exec.Options{Approver: yes(exec.Answer{Skip: true})}, "pay:skipped", `{}`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n counted
			prog := program(t, `[{"_tool":"pay","amount":5,"_outputPath":"†state.x"}]`, tools{`pay "effects":{` + c.effects + `}`: n.tool(gives("1"))})
			r := &tape{}
			run(t, prog, &exec.Options{ID: "r", Record: r})
			c.opts.ID, c.opts.Record = "r", r.after(exec.CallStarted)
			res := run(t, prog, &c.opts)
			if got := statuses(res); got != c.call || string(res.State) != c.state || len(n.keys) != c.calls {
				t.Errorf("%s %s, called %d times", got, res.State, len(n.keys))
			}
			if len(n.keys) == 2 && n.keys[0] != n.keys[1] {
				t.Errorf("another key: %v", n.keys)
			}
			replays(t, prog, c.opts, res)
			nothingMore(t, prog, c.opts, &n, res)
		})
	}
}

// replays checks that the record of a run gives its whiteboard without a tool.
func replays(t *testing.T, prog *compile.Program, opts exec.Options, want *exec.Result) {
	t.Helper()
	opts.Record, opts.Replay, opts.Approver = opts.Record.(*tape).after(""), true, nil
	opts.Middleware = append(opts.Middleware, func(tool.Activity) tool.Activity {
		t.Error("a tool was called by a replay")
		return tool.ActivityFunc(echo)
	})
	if res := run(t, prog, &opts); res.Digest != want.Digest {
		t.Errorf("replay: %s %s %s\nrun: %s %s %s", statuses(res), res.State, essentials(res), statuses(want), want.State, essentials(want))
	}
}

// nothingMore checks that a run that has ended does nothing when it is resumed.
func nothingMore(t *testing.T, prog *compile.Program, opts exec.Options, n *counted, want *exec.Result) {
	t.Helper()
	before := len(n.keys)
	opts.Record = opts.Record.(*tape).after("")
	opts.Approver = func(_ context.Context, q *exec.Question) (exec.Answer, error) {
		t.Errorf("asked again: %+v", q)
		return exec.Answer{}, nil
	}
	if res := run(t, prog, &opts); statuses(res) != statuses(want) || string(res.State) != string(want.State) || len(n.keys) != before {
		t.Errorf("resumed: %s %s, called %d times more", statuses(res), res.State, len(n.keys)-before)
	}
}

func TestAFailurePutToAPerson(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer exec.Answer
		status exec.Status
		calls  string
		state  string
		called int
	}{
		{"again", exec.Answer{Approved: true}, exec.Completed, "bad:completed after:completed other:completed", `{"x":1,"y":1}`, 2},
		{"again with other params", exec.Answer{Approved: true, Params: []byte(`{"v":2}`)}, exec.Completed, "bad:completed after:completed other:completed", `{"x":1,"y":1}`, 2},
		{"it gave", exec.Answer{Result: []byte("7")}, exec.Completed, "bad:completed after:completed other:completed", `{"x":7,"y":1}`, 1},
		{"skipped", exec.Answer{Skip: true, Reason: "not needed"}, exec.Completed, "bad:skipped after:skipped other:completed", `{"y":1}`, 1},
		{"aborted", exec.Answer{}, exec.Failed, "bad:failed after:blocked other:completed", `{"y":1}`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var n counted
			prog := program(t, `[{"_tool":"bad","v":1,"_outputPath":"†state.x","_onFailure":"ask"},{"_tool":"after","v":"†state.x"},{"_tool":"other","_outputPath":"†state.y"}]`,
				tools{"bad": n.tool(failsFirst(1, "1")), "after": gives("1"), "other": gives("1")})
			opts := exec.Options{ID: "r", Record: &tape{}, MaxParallel: 1, Approver: func(_ context.Context, q *exec.Question) (exec.Answer, error) {
				if q.Kind != exec.FailureQuestion || q.Failure.Code != "busy" || q.Path != "bad" {
					t.Errorf("asked %+v", q)
				}
				return c.answer, nil
			}}
			res := run(t, prog, &opts)
			if res.Status == exec.Failed { // whether the other call was begun before the answer, nobody says
				res.Calls[2].Status, res.State = exec.Completed, []byte(c.state)
			}
			if got := statuses(res); res.Status != c.status || got != c.calls || string(res.State) != c.state || len(n.keys) != c.called {
				t.Errorf("%s: %s %s, called %d times", res.Status, got, res.State, len(n.keys))
			}
			if c.status == exec.Completed {
				replays(t, prog, opts, res)
				nothingMore(t, prog, opts, &n, res)
			}
		})
	}
}

func TestAFailureWithNobodyToAskPausesTheRun(t *testing.T) {
	var n counted
	prog := program(t, `[{"_tool":"bad","_outputPath":"†state.x","_onFailure":"ask"},{"_tool":"e","v":"†state.x"}]`, tools{"bad": n.tool(failsFirst(1, "1")), "e": echo})
	r := &tape{}
	res := run(t, prog, &exec.Options{ID: "r", Record: r})
	if res.Status != exec.Paused || statuses(res) != "bad:awaiting e:pending" || len(res.Questions) != 1 || res.Questions[0].Kind != exec.FailureQuestion {
		t.Fatalf("%s: %s, %v", res.Status, statuses(res), res.Questions)
	}
	asked := 0
	opts := &exec.Options{ID: "r", Record: r.after(""), Approver: func(context.Context, *exec.Question) (exec.Answer, error) {
		asked++
		return exec.Answer{Approved: true}, nil
	}}
	if res := run(t, prog, opts); res.Status != exec.Completed || asked != 1 || len(n.keys) != 2 {
		t.Errorf("%s, asked %d times, called %d times", res.Status, asked, len(n.keys))
	}
}

func TestAFailureBeforeTheCallCanBeMended(t *testing.T) {
	var n counted
	prog := program(t, `[{"_tool":"first","_outputPath":"†state.a"},{"_tool":"pay","amount":"†state.a.b","_outputPath":"†state.x","_onFailure":"ask"}]`,
		tools{"first": gives(`{}`), "pay": n.tool(echo)})
	opts := exec.Options{ID: "r", Record: &tape{}, Approver: func(_ context.Context, q *exec.Question) (exec.Answer, error) {
		return exec.Answer{Approved: true, Params: []byte(`{"amount":3}`), Digest: q.Digest}, nil
	}}
	res := run(t, prog, &opts)
	if res.Status != exec.Completed || string(res.State) != `{"a":{},"x":{"amount":3}}` {
		t.Fatalf("%s %s %s", res.Status, res.Reason, res.State)
	}
	replays(t, prog, opts, res)
	nothingMore(t, prog, opts, &n, res)
}

// waiting starts a run whose calls a and b wait for approval.
func waiting(t *testing.T, r exec.Record) *exec.Handle {
	t.Helper()
	prog := program(t, `[{"_tool":"pay","_id":"a","_approve":true,"amount":1,"_outputPath":"†state.a"},{"_tool":"pay","_id":"b","_approve":true,"amount":2,"_outputPath":"†state.b"}]`,
		tools{`pay "properties":{"amount":{"type":"number"}}`: echo})
	run, err := exec.Start(t.Context(), prog, &exec.Options{Record: r, OnFailure: exec.Skip, Approver: func(ctx context.Context, _ *exec.Question) (exec.Answer, error) {
		<-ctx.Done()
		return exec.Answer{}, ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestAnswersFromElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &tape{}
		run := waiting(t, r)
		synctest.Wait()
		digest := ""
		for _, e := range r.events {
			if e.Type == exec.ApprovalAsked && e.Call == "a" {
				digest = e.Digest
			}
		}
		for name, try := range map[string]error{
			"no such question": run.Answer("c", "", exec.Answer{Approved: true}),
			"another instance": run.Answer("a", "eu", exec.Answer{Approved: true}),
			"another digest":   run.Answer("a", "", exec.Answer{Approved: true, Digest: strings.Repeat("0", 64)}),
			"bad params":       run.Answer("a", "", exec.Answer{Approved: true, Params: []byte(`{"amount":"1"}`)}),
			"params: a number": run.Answer("a", "", exec.Answer{Approved: true, Params: []byte(`5`)}),
			"params: null":     run.Answer("a", "", exec.Answer{Approved: true, Params: []byte(` null`)}),
			"params: a list":   run.Answer("a", "", exec.Answer{Approved: true, Params: []byte(`[1]`)}),
			"bad result":       run.Answer("a", "", exec.Answer{Result: []byte(`{"x"`)}),
		} {
			if try == nil {
				t.Errorf("%s: taken", name)
			}
		}
		if err := run.Answer("b", "", exec.Answer{Approved: true, Params: []byte(`{"amount":9}`)}); err != nil || r.onDisk() < 4 {
			t.Error(err, r.onDisk())
		}
		if err := run.Answer("a", "", exec.Answer{Reason: "no money", Digest: digest}); err != nil {
			t.Error(err)
		}
		if err := run.Answer("a", "", exec.Answer{Approved: true}); err == nil {
			t.Error("answered twice")
		}
		if res := run.Wait(); statuses(res) != "a:skipped b:completed" || string(res.State) != `{"b":{"amount":9}}` {
			t.Errorf("%s %s", statuses(res), res.State)
		}
		if err := run.Answer("a", "", exec.Answer{Approved: true}); err == nil {
			t.Error("answered after the end")
		}
	})
}

func TestAnAnswerThatCanNotBeRecordedIsNotTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := waiting(t, &tape{full: func(e *exec.Event) bool { return e.Type == exec.ApprovalGiven }})
		synctest.Wait()
		if err := run.Answer("a", "", exec.Answer{Approved: true}); !errors.As(err, new(*exec.RecordError)) {
			t.Error(err)
		}
		_ = run.Answer("b", "", exec.Answer{})
		if res := run.Wait(); res.Status != exec.Failed || res.Err == nil || string(res.State) != "{}" {
			t.Errorf("%s %s %s", res.Status, res.Reason, res.State)
		}
	})
}

func TestNobodyAnswersInTime(t *testing.T) {
	for _, c := range []struct {
		given exec.Answer
		want  string
	}{{exec.Answer{}, "pay:skipped"}, {exec.Answer{Approved: true}, "pay:completed"}} {
		synctest.Test(t, func(t *testing.T) {
			prog := program(t, `[{"_tool":"pay","amount":1}]`, tools{`pay "effects":{"destructive":true}`: echo})
			start := time.Now()
			res := run(t, prog, &exec.Options{OnFailure: exec.Skip, AnswerTimeout: time.Hour, OnAnswerTimeout: c.given,
				Approver: func(ctx context.Context, _ *exec.Question) (exec.Answer, error) {
					<-ctx.Done()
					return exec.Answer{}, ctx.Err()
				}})
			if statuses(res) != c.want || time.Since(start) != time.Hour {
				t.Errorf("%s after %s", statuses(res), time.Since(start))
			}
		})
	}
}

// TestAnAnswerIsNotAskedForTwice kills a run after a person has answered.
func TestAnAnswerIsNotAskedForTwice(t *testing.T) {
	for _, c := range []struct {
		answer exec.Answer
		state  string
	}{
		{exec.Answer{Approved: true}, `{"x":{"amount":1}}`},
		{exec.Answer{Approved: true, Params: []byte(`{"amount":2}`)}, `{"x":{"amount":2}}`},
		{exec.Answer{Result: []byte(`3`)}, `{"x":3}`},
		{exec.Answer{Reason: "no"}, `{}`},
		{exec.Answer{Skip: true}, `{}`},
	} {
		for _, killed := range []exec.EventType{exec.ApprovalGiven, exec.CallStarted, exec.CallReturned} {
			t.Run(fmt.Sprintf("%+v %s", c.answer, killed), func(t *testing.T) {
				prog := program(t, `[{"_tool":"pay","amount":1,"_outputPath":"†state.x"}]`, tools{`pay "effects":{"destructive":true,"idempotent":true}`: echo})
				asked := 0
				opts := exec.Options{ID: "r", OnFailure: exec.Skip, Record: &tape{}, Approver: func(context.Context, *exec.Question) (exec.Answer, error) {
					asked++
					return c.answer, nil
				}}
				r := opts.Record.(*tape)
				first := run(t, prog, &opts)
				if !strings.Contains(r.types(), string(killed)) {
					t.Skip("it is not called")
				}
				opts.Record = r.after(killed)
				res := run(t, prog, &opts)
				if asked != 1 || string(res.State) != c.state || statuses(res) != statuses(first) {
					t.Errorf("asked %d times, %s %s", asked, statuses(res), res.State)
				}
				replays(t, prog, opts, res)
			})
		}
	}
}

func TestWhatFailedIsTriedAgain(t *testing.T) {
	var good, bad counted
	ts := tools{"good": good.tool(gives("1")), "bad": bad.tool(failsFirst(1, "2"))}
	for _, c := range []struct {
		rest  string
		again string
		n     int
	}{
		{``, "good:completed bad:completed", 2},
		{`,"_onFailure":"continue"`, "good:completed bad:completed", 2},
		{`,"_onFailure":"skip"`, "good:completed bad:skipped", 1},
		{`,"_errorPath":"†state.e"`, "good:completed bad:failed+", 1},
	} {
		good.keys, bad.keys = nil, nil
		prog := program(t, `[{"_tool":"good","_outputPath":"†state.g"},{"_tool":"bad","v":"†state.g"`+c.rest+`}]`, ts)
		r := &tape{}
		run(t, prog, &exec.Options{ID: "r", Record: r})
		if res := run(t, prog, &exec.Options{ID: "r", Record: r.after(""), RetryFailed: true}); !sameCalls(statuses(res), c.again) || len(good.keys) != 1 || len(bad.keys) != c.n {
			t.Errorf("%s: %s, called %d and %d times", c.rest, statuses(res), len(good.keys), len(bad.keys))
		}
	}
}

// sameCalls compares statuses, whatever the mark of handled failures is.
func sameCalls(got, want string) bool {
	return strings.TrimRight(got, "+!*") == strings.TrimRight(want, "+!*") || strings.HasPrefix(got, strings.TrimSuffix(want, "+"))
}

func TestAnUncertainFailureIsNotTriedAgainUnasked(t *testing.T) {
	var n counted
	prog := program(t, `[{"_tool":"pay","amount":5}]`, tools{"pay": n.tool(func(context.Context, *tool.Request) (tool.Result, error) {
		return tool.Result{}, &tool.Error{Code: "reset", Message: "lost", Uncertain: true}
	})})
	r := &tape{}
	run(t, prog, &exec.Options{ID: "r", Record: r})
	if res := run(t, prog, &exec.Options{ID: "r", Record: r.after(""), RetryFailed: true}); res.Calls[0].Error == nil || res.Calls[0].Error.Code != "uncertain" || len(n.keys) != 1 {
		t.Errorf("%+v, called %d times", res.Calls[0], len(n.keys))
	}
}

// Each call whose answer was lost is uncertain, also one that the run did not come back to.
func TestAllLostCallsAreUncertain(t *testing.T) {
	var both sync.WaitGroup
	both.Add(2)
	prog := program(t, `[{"type":"input","_instance":"i"},{"type":"plan","plan":[{"_tool":"pay","_id":"a"},{"_tool":"pay","_id":"b"}]}]`,
		tools{"pay": func(context.Context, *tool.Request) (tool.Result, error) {
			both.Done()
			both.Wait()
			return tool.Result{}, nil
		}})
	r := &tape{}
	run(t, prog, &exec.Options{ID: "r", Record: r, MaxParallel: 2})
	res := run(t, prog, &exec.Options{ID: "r", Record: r.after(exec.CallStarted), MaxParallel: 1})
	for _, c := range res.Instances[0].Calls {
		if c.Status != exec.Failed || c.Error == nil || c.Error.Code != "uncertain" {
			t.Errorf("%s: %s %+v %s", c.ID, c.Status, c.Error, c.Reason)
		}
	}
}

func TestAnotherPlan(t *testing.T) {
	var look, pay counted
	ts := tools{"look": look.tool(gives(`{"n":1}`)), "pay": pay.tool(echo), "bad": fails("x"), "good": gives("1")}
	r := &tape{}
	res := run(t, program(t, `[{"_tool":"look","a":1,"b":2,"_outputPath":"†state.l"},{"_tool":"pay","_id":"one","n":"†state.l.n","_outputPath":"†state.p"},
		{"_tool":"bad","p":"†state.p","_onFailure":"replan"}]`, ts), &exec.Options{ID: "r", Record: r})
	if res.Status != exec.Paused || !res.Replan {
		t.Fatalf("%s %s", res.Status, res.Reason)
	}
	revised := program(t, `[{"_tool":"look","_id":"seen","b":2,"a":1,"_outputPath":"†state.l"},{"_tool":"pay","_id":"two","n":"†state.l.n","_outputPath":"†state.q"},
		{"_tool":"pay","_id":"one","n":2,"_outputPath":"†state.p"},{"_tool":"good","p":"†state.p"}]`, ts)
	told := 0
	opts := exec.Options{ID: "r", Record: r.after(""), Revision: 1, OnRevision: func(_ *compile.Program, n int) error { told = n; return nil }}
	res = run(t, revised, &opts)
	// "one" is another call now, and what it did is not what "two" does: that is asked for by the
	// name.
	if res.Status != exec.Completed || string(res.State) != `{"l":{"n":1},"q":{"n":1},"p":{"n":2}}` || told != 1 {
		t.Errorf("%s %s %s", res.Status, res.Reason, res.State)
	}
	if len(look.keys) != 1 {
		t.Errorf("look was called %d times", len(look.keys))
	}
	if !strings.Contains(opts.Record.(*tape).types(), "planRevised") {
		t.Error(opts.Record.(*tape).types())
	}
	replays(t, revised, opts, res)
}

// A call of another name takes what one of its content gave on its own instance, and on no other.
func TestAnotherPlanOfInstances(t *testing.T) {
	var look counted
	ts := tools{"look": look.tool(echo), "bad": fails("x")}
	plan := func(calls string) *compile.Program {
		return program(t, `[{"type":"state","_instance":"A","state":{"n":1}},{"type":"state","_instance":"B","state":{"n":1}},{"type":"plan","plan":`+calls+`}]`, ts)
	}
	r := &tape{}
	first := run(t, plan(`[{"_tool":"look","_id":"a","_instance":"A","n":"†state.n","_outputPath":"†state.l"},{"_tool":"bad","_onFailure":"replan"}]`), &exec.Options{ID: "r", Record: r})
	if !first.Replan {
		t.Fatalf("%s %s", first.Status, first.Reason)
	}
	revised := plan(`[{"_tool":"look","_id":"again","_instance":"A","n":"†state.n","_outputPath":"†state.l"},{"_tool":"look","_id":"b","_instance":"B","n":"†state.n","_outputPath":"†state.l"}]`)
	res := run(t, revised, &exec.Options{ID: "r", Record: r.after(""), Revision: 1})
	if res.Status != exec.Completed || len(look.keys) != 2 {
		t.Errorf("%s %s, look was called %d times", res.Status, res.Reason, len(look.keys))
	}
}

func TestRevisions(t *testing.T) {
	prog := program(t, `[{"_tool":"a"},{"_tool":"b","_dependsOn":["a"]},{"_tool":"bad","_dependsOn":["b"]}]`, tools{"a": echo, "b": echo, "bad": fails("x")})
	refused := errors.New("no more")
	for _, c := range []struct {
		name   string
		opts   exec.Options
		status exec.Status
	}{
		{"the strategy", exec.Options{OnFailure: exec.Replan}, exec.Paused},
		{"the last one allowed", exec.Options{OnFailure: exec.Replan, Revision: 2}, exec.Paused},
		{"too many", exec.Options{OnFailure: exec.Replan, Revision: 3}, exec.Failed},
		{"too many, as given", exec.Options{OnFailure: exec.Replan, Revision: 1, MaxRevisions: 1}, exec.Failed},
		{"a share that is reached", exec.Options{OnFailure: exec.Skip, ReviseAt: 0.33}, exec.Paused},
		{"a share that is not", exec.Options{OnFailure: exec.Skip, ReviseAt: 0.34}, exec.Completed},
	} {
		if res := run(t, prog, &c.opts); res.Status != c.status || res.Replan != (c.status == exec.Paused) {
			t.Errorf("%s: %s %s", c.name, res.Status, res.Reason)
		}
	}
	_, err := exec.Run(t.Context(), prog, &exec.Options{Revision: 1, OnRevision: func(*compile.Program, int) error { return refused }})
	if !errors.Is(err, refused) {
		t.Error(err)
	}
}

func TestHooksAreNotCalledForWhatIsRecorded(t *testing.T) {
	prog := program(t, `[{"_tool":"e","v":1,"_outputPath":"†state.x"},{"_tool":"e","_id":"no","v":2}]`, tools{"e": echo})
	hooks := 0
	opts := exec.Options{ID: "r", OnFailure: exec.Skip, MaxParallel: 1, Record: &tape{},
		OnCallStart: func(_ context.Context, c *compile.Call, _ json.RawMessage) (json.RawMessage, error) {
			hooks++
			if c.ID == "no" {
				return nil, errors.New("not today")
			}
			return json.RawMessage(`{"v":3}`), nil
		},
		OnCallDone: func(_ context.Context, _ *compile.Call, result json.RawMessage) (json.RawMessage, error) {
			hooks++
			return json.RawMessage(`[` + string(result) + `]`), nil
		}}
	res := run(t, prog, &opts)
	if string(res.State) != `{"x":[{"v":3}]}` || hooks != 3 {
		t.Fatalf("%s, %d hooks", res.State, hooks)
	}
	replays(t, prog, opts, res)
	nothingMore(t, prog, opts, &counted{}, res)
	if hooks != 3 {
		t.Errorf("%d hooks", hooks)
	}
}

// TestDelegatesGoOn kills a run with a loop after every event, and wants that no call of
// the loop that returned is made again.
func TestDelegatesGoOn(t *testing.T) {
	var n counted
	ts := tools{"one": gives("1"), "busy": n.tool(func(_ context.Context, req *tool.Request) (tool.Result, error) {
		return numeral(2 * number(req, "n"))
	}), `safe "effects":{"idempotent":true}`: failsFirst(1, "5"), "odd": double}
	doubles := document(t, `{"calls":[{"_tool":"safe","_retry":{"max":3,"delay":"1ms"},"_outputPath":"†state.s"},{"_tool":"busy","n":"†input.item","s":"†state.s","_outputPath":"†state.r"}],"output":"†state.r"}`, ts)
	breaks := document(t, `[{"_tool":"busy","n":7,"_outputPath":"†state.a"},{"_tool":"odd","n":3,"a":"†state.a"}]`, ts)
	prog := nest(program(t, `[{"_tool":"one","_id":"all","items":[1,2,3],"concurrency":2,"_outputPath":"†state.all"},{"_tool":"one","_id":"bad","_retry":{"max":1,"delay":"1ms"},"_fallback":"one","_outputPath":"†state.b"},{"_tool":"busy","n":"†state.all[1]"}]`, ts),
		map[string]*compile.Delegate{"all": {Program: doubles, Loop: compile.ForEach}, "bad": {Program: breaks}})
	opts := exec.Options{ID: "r", OnUncertain: exec.RetryUncertain, Record: &tape{}}
	whole := opts.Record.(*tape)
	want := run(t, prog, &opts)
	if want.Status != exec.Completed || string(want.State) != `{"all":[2,4,6],"b":1}` {
		t.Fatalf("%s %s %s", want.Status, want.Reason, want.State)
	}
	replays(t, prog, opts, want)
	for cut := range whole.events {
		r := &tape{events: slices.Clone(whole.events[:cut]), before: cut}
		past, _ := r.Past("")
		opts.Record = r
		res := run(t, prog, &opts)
		if statuses(res) != statuses(want) || string(res.State) != string(want.State) {
			t.Fatalf("killed after event %d: %s %s %s", cut, statuses(res), res.State, res.Reason)
		}
		for _, e := range r.events[cut:] {
			if e.Type == exec.CallStarted && past[e.Call] != nil && past[e.Call].Returned != nil {
				t.Errorf("killed after event %d: %s is called again", cut, e.Call)
			}
		}
		replays(t, prog, opts, res)
	}
}

// TestFallbacksOfRecords resumes a run whose call has the result of its fallback: it counts for the
// same fallback, also with params that a person changed, and for no other.
func TestFallbacksOfRecords(t *testing.T) {
	const same = `[{"_tool":"bad","_approve":true,"n":1,"_fallback":"pay","_outputPath":"†state.x"},{"_tool":"last","_dependsOn":["bad"]}]`
	other := strings.Replace(same, `"pay"`, `{"_tool":"pay","n":2}`, 1)
	for _, c := range []struct {
		about, first, plan string
		edited             string
		paid               []string
		state              string
	}{
		{"nothing", same, same, "", []string{"1"}, `{"x":1}`},
		{"nothing, with other params", same, same, `{"n":5}`, []string{"5"}, `{"x":5}`},
		{"the params of the fallback", same, other, "", []string{"1", "2"}, `{"x":2}`},
		{"the params of the fallback are the call's", other, same, "", []string{"2", "1"}, `{"x":1}`},
		{"the fallback is gone", other, strings.Replace(same, `"_fallback":"pay",`, "", 1), "", []string{"2"}, `{}`},
	} {
		var paid []string
		keys := map[string]string{}
		ts := tools{`bad "effects":{"idempotent":true}`: func(_ context.Context, req *tool.Request) (tool.Result, error) {
			if n := fmt.Sprint(number(req, "n")); keys[req.Key] != "" && keys[req.Key] != n {
				t.Errorf("%s: the key of a call with %s has %s", c.about, keys[req.Key], n)
			}
			return tool.Result{}, &tool.Error{Code: "no", Message: "not now"}
		}, "last": fails("x"), "pay": func(_ context.Context, req *tool.Request) (tool.Result, error) {
			paid = append(paid, fmt.Sprint(number(req, "n")))
			keys[req.Key] = fmt.Sprint(number(req, "n"))
			return numeral(number(req, "n"))
		}}
		r := &tape{}
		opts := exec.Options{ID: "r", Record: r, MaxParallel: 1, Approver: func(context.Context, *exec.Question) (exec.Answer, error) {
			a := exec.Answer{Approved: true}
			if c.edited != "" && len(paid) == 0 {
				a.Params = []byte(c.edited)
			}
			return a, nil
		}}
		if res := run(t, program(t, c.first, ts), &opts); res.Status != exec.Failed {
			t.Fatal(res.Status)
		}
		r.before = len(r.events)
		opts.RetryFailed = true
		if c.plan != c.first {
			opts.Revision = 1
		}
		res := run(t, program(t, c.plan, ts), &opts)
		if !slices.Equal(paid, c.paid) || string(res.State) != c.state {
			t.Errorf("%s: paid %v, %s", c.about, paid, res.State)
		}
		replays(t, program(t, c.plan, ts), opts, res)
	}
}

// TestRevisedDocuments revises the plan of a run with a loop over a document: its result counts only
// if the document, and what its calls run, is the same, and calls of the document that returned are
// not made again, whatever the call is named that runs it.
func TestRevisedDocuments(t *testing.T) {
	const one, two = `{"calls":[{"_tool":"pay","n":"†input.item","_outputPath":"†state.r"},{"_tool":"look","n":1,"_outputPath":"†state.l"}],"output":"†state.r"}`,
		`{"calls":[{"_tool":"pay","n":"†input.item","_outputPath":"†state.r"},{"_tool":"look","n":1,"_outputPath":"†state.l"}],"output":["†state.r"]}`
	for _, c := range []struct {
		about, id, document, runs string
		old                       bool // the record is of a build whose contents had no documents
		state                     string
		paid, failed              int
	}{
		{"nothing", "all", one, "look", false, `{"all":[1,2,3]}`, 3, 0},
		{"its name", "each", one, "look", false, `{"all":[1,2,3]}`, 3, 0},
		{"its document", "all", two, "look", false, `{"all":[[1],[2],[3]]}`, 3, 0},
		{"both", "each", two, "look", false, `{"all":[[1],[2],[3]]}`, 3, 0},
		{"what runs a call of the document", "all", one, "peek", false, `{"all":[1,2,3]}`, 3, 0},
		{"nothing, in an old record", "all", one, "look", true, `{"all":[1,2,3]}`, 3, 0},
		{"its name, in an old record", "each", one, "look", true, `{"all":[1,2,3]}`, 3, 0},
		{"its name, after it failed", "each", one, "look", false, `{"all":[1,2,3]}`, 4, 3},
		{"its name and document, after it failed", "each", two, "look", false, `{"all":[[1],[2],[3]]}`, 4, 3},
	} {
		paid := 0
		looks := map[string]int{}
		see := func(name string) tool.ActivityFunc {
			return func(context.Context, *tool.Request) (tool.Result, error) {
				looks[name]++
				return tool.Result{Value: []byte("1")}, nil
			}
		}
		ts := tools{"one": gives("1"), "last": fails("x"), "look": see("look"), "peek": see("peek"), "pay": func(_ context.Context, req *tool.Request) (tool.Result, error) {
			if paid++; paid == c.failed {
				return tool.Result{}, &tool.Error{Code: "no", Message: "not now"}
			}
			return numeral(number(req, "n"))
		}}
		plan := func(id, text, runs string) *compile.Program {
			doc := document(t, text, ts)
			target := *doc.Calls[1].Target
			target.Name = runs
			doc.Calls[1].Target = &target
			return nest(program(t, fmt.Sprintf(`[{"_tool":"one","_id":%q,"items":[1,2,3],"_outputPath":"†state.all"},{"_tool":"last","_dependsOn":[%[1]q]}]`, id), ts),
				map[string]*compile.Delegate{id: {Program: doc, Loop: compile.ForEach}})
		}
		r := &tape{}
		if res := run(t, plan("all", one, "look"), &exec.Options{ID: "r", Record: r, MaxParallel: 1}); res.Status != exec.Failed {
			t.Fatal(res.Status)
		}
		if c.old {
			for _, e := range r.events {
				e.Content = e.Content[:min(len(e.Content), 64)]
			}
		}
		r.before = len(r.events)
		res := run(t, plan(c.id, c.document, c.runs), &exec.Options{ID: "r", Record: r, Revision: 1, RetryFailed: true, MaxParallel: 1})
		if string(res.State) != c.state || paid != c.paid {
			t.Errorf("%s: %s, paid %d times", c.about, res.State, paid)
		}
		replays(t, plan(c.id, c.document, c.runs), exec.Options{ID: "r", Record: r, Revision: 1}, res)
	}
}

// TestAnswersGivenWhileNobodyRan are taken when the run goes on, and recorded then.
func TestAnswersGivenWhileNobodyRan(t *testing.T) {
	prog := program(t, `[{"_tool":"pay","_approve":true,"amount":1,"_outputPath":"†state.x"}]`, tools{`pay "properties":{"amount":{"type":"number"}}`: echo})
	for _, c := range []struct {
		answer exec.Answer
		status exec.Status
		given  bool
	}{
		{exec.Answer{Approved: true}, exec.Completed, true},
		{exec.Answer{}, exec.Failed, true},
		{exec.Answer{Approved: true, Params: []byte(`{"amount":[]}`)}, exec.Paused, false},
		{exec.Answer{Approved: true, Digest: "0"}, exec.Paused, false},
	} {
		r := &answering{answer: c.answer}
		if res := run(t, prog, &exec.Options{ID: "r", Record: &r.tape}); res.Status != exec.Paused {
			t.Fatal(res.Status)
		}
		r.before = len(r.events)
		res := run(t, prog, &exec.Options{ID: "r", Record: r})
		if res.Status != c.status || strings.Contains(r.types(), "approvalAnswered pay") != c.given {
			t.Errorf("%+v: %s, %s", c.answer, res.Status, r.types())
		}
	}
}

// TestAnswersCountWithoutTheirQuestions checks that an answer in the record counts, also if the run
// goes on with options under which nobody would be asked.
func TestAnswersCountWithoutTheirQuestions(t *testing.T) {
	prog := program(t, `[{"_tool":"pay","amount":1,"_outputPath":"†state.x"}]`, tools{`pay "properties":{"amount":{"type":"number"}},"effects":{"destructive":true}`: echo})
	for _, c := range []struct {
		answer exec.Answer
		status exec.Status
		state  string
	}{
		{exec.Answer{Approved: true}, exec.Completed, `{"x":{"amount":1}}`},
		{exec.Answer{Approved: true, Params: []byte(`{"amount":5}`)}, exec.Completed, `{"x":{"amount":5}}`},
		{exec.Answer{Result: []byte(`7`)}, exec.Completed, `{"x":7}`},
		{exec.Answer{Skip: true}, exec.Completed, `{}`},
		{exec.Answer{}, exec.Failed, `{}`},
	} {
		r := &answering{answer: c.answer}
		if res := run(t, prog, &exec.Options{ID: "r", Record: &r.tape}); res.Status != exec.Paused {
			t.Fatal(res.Status)
		}
		r.before = len(r.events)
		for _, opts := range []exec.Options{{Approve: exec.ApproveNone}, {Covered: covers(prog)}} {
			before := &answering{tape: tape{events: slices.Clone(r.events), before: r.before}, answer: c.answer}
			opts.ID, opts.Record = "r", before
			if res := run(t, prog, &opts); res.Status != c.status || string(res.State) != c.state {
				t.Errorf("%+v: %s, %s, %s", c.answer, res.Status, res.State, before.types())
			}
		}

		lost := &answering{answer: c.answer}
		for _, e := range r.events[:1] {
			lost.Append(e)
		}
		lost.Append(&exec.Event{Type: exec.CallStarted, Call: "pay", Tool: "pay", Attempt: 1, Key: "k", Content: contentOf(r.events)})
		if res := run(t, prog, &exec.Options{ID: "r", Record: &lost.tape, OnUncertain: exec.WaitUncertain}); res.Status != exec.Paused {
			t.Fatal(res.Status)
		}
		lost.before = len(lost.events)
		want := c.status
		res := run(t, prog, &exec.Options{ID: "r", Record: lost, OnUncertain: exec.RetryUncertain, Approve: exec.ApproveNone})
		if res.Status != want || string(res.State) != c.state {
			t.Errorf("lost, %+v: %s, %s, %s", c.answer, res.Status, res.State, lost.types())
		}
	}
}

// covers returns what covers the only call of a program as its plan has it.
func covers(prog *compile.Program) map[string]bool {
	params, _ := prog.Calls[0].Params.Literal()
	terms := (&exec.Options{}).Terms(&prog.Calls[0], params, nil)
	return map[string]bool{terms.Cover("", exec.PathOf(prog.Calls[0].ID)): true}
}

// contentOf returns the content of the call that events are about.
func contentOf(events []*exec.Event) string {
	for _, e := range events {
		if e.Content != "" {
			return e.Content
		}
	}
	return ""
}

// answering is a record with an answer to what was asked last of "pay".
type answering struct {
	tape
	answer exec.Answer
}

func (r *answering) Past(instance string) (map[string]*exec.Past, error) {
	past, err := r.tape.Past(instance)
	if past["pay"] != nil {
		past["pay"].Answer = &r.answer
	}
	return past, err
}

// TestInstancesGoOn kills a run of a template after every event.
func TestInstancesGoOn(t *testing.T) {
	ts := tools{"busy": func(_ context.Context, req *tool.Request) (tool.Result, error) {
		return numeral(2 * number(req, "n"))
	}, "odd": double}
	prog := program(t, `[{"_tool":"busy","n":"†input.n","_outputPath":"†state.r"},{"_tool":"odd","n":"†input.n","m":"†state.r","_outputPath":"†state.s"}]`, ts,
		func(o *compile.Options) { o.Instances = true })
	for _, failFast := range []bool{false, true} {
		opts := exec.Options{ID: "r", MaxParallel: 2, FailFast: failFast, OnUncertain: exec.RetryUncertain, Record: &tape{}}
		opts.Instances = func(yield func(*compile.Instance, error) bool) {
			for i := range 6 {
				if !yield(&compile.Instance{Name: fmt.Sprint("i", i), Own: map[string]json.RawMessage{"input": []byte(fmt.Sprintf(`{"n":%d}`, i))}}, nil) {
					return
				}
			}
		}
		whole := opts.Record.(*tape)
		want := run(t, prog, &opts)
		if want.Status != exec.Failed {
			t.Fatal(want.Status)
		}
		replays(t, prog, opts, want)
		for cut := range whole.events {
			r := &tape{events: slices.Clone(whole.events[:cut]), before: cut}
			opts.Record = r
			res := run(t, prog, &opts)
			if !failFast && essentials(res) != essentials(want) {
				t.Fatalf("killed after event %d: %s\n%s", cut, essentials(res), essentials(want))
			}
			again := map[string]int{}
			for _, e := range r.events {
				if e.Type == exec.CallReturned {
					again[e.Instance+" "+e.Call]++
				}
			}
			for call, n := range again {
				if n > 1 {
					t.Errorf("killed after event %d: %s returned %d times", cut, call, n)
				}
			}
			replays(t, prog, opts, res)
		}
	}
}

func essentials(res *exec.Result) string {
	s := string(res.Status)
	for _, in := range res.Instances {
		s += fmt.Sprintf("\n%s %s %s", in.Name, in.Status, in.State)
	}
	return s
}

// A call takes what another run did for one of the same content, and goes on where that was
// left; a call of other params does not.
func TestKnownCalls(t *testing.T) {
	var pay counted
	ts := tools{"pay": pay.tool(echo)}
	known := map[string]*exec.Past{}
	opts := exec.Options{Known: func(_ *compile.Call, _, _, content string) *exec.Past {
		past := known[content]
		delete(known, content)
		return past
	}}
	first := opts
	first.OnEvent = func(e *exec.Event) {
		if e.Content != "" && known[e.Content] == nil {
			known[e.Content] = &exec.Past{}
		}
		if e.Content != "" {
			known[e.Content].Take(e)
		}
	}
	run(t, program(t, `[{"_tool":"pay","n":1,"_outputPath":"†state.a"}]`, ts), &first)
	var key, content string
	for c, past := range known {
		key, content = past.Key, c
	}
	res := run(t, program(t, `[{"_tool":"pay","_id":"b","n":1,"_outputPath":"†state.b"},{"_tool":"pay","_id":"c","n":1},{"_tool":"pay","_id":"d","n":2}]`, ts), &opts)
	if string(res.State) != `{"b":{"n":1}}` || len(pay.keys) != 3 {
		t.Errorf("%s, called %d times", res.State, len(pay.keys))
	}

	opts.OnUncertain = exec.FailUncertain
	known[content] = &exec.Past{Content: content, Key: key, Lost: true, Attempts: 1}
	res = run(t, program(t, `[{"_tool":"pay","n":1}]`, ts), &opts)
	if res.Calls[0].Error == nil || res.Calls[0].Error.Code != "uncertain" || len(pay.keys) != 3 {
		t.Errorf("a lost attempt of another run: %+v, called %d times", res.Calls[0], len(pay.keys))
	}
}

// What a call gave in another run, of which the whiteboard is the initial one of this run, is written
// again, but is not appended again to a list that has it; in a replay as well.
func TestKnownCallsWriteAgain(t *testing.T) {
	var n counted
	ts := tools{"pay": n.tool(echo), "other": echo}
	r := &tape{}
	opts := exec.Options{ID: "r", Record: r, Known: func(c *compile.Call, _, _, content string) *exec.Past {
		if c.Source.Tool != "pay" {
			return nil
		}
		return &exec.Past{Content: content, Attempts: 1, Applied: true, Returned: &exec.Returned{Value: json.RawMessage(`{"n":1}`)}}
	}}
	prog := program(t, `[{"type":"state","state":{"paid":{"n":1,"by":"her"},"list":[{"n":1},2]}},{"type":"plan","plan":[
		{"_tool":"pay","n":1,"_outputPath":"†state.paid"},{"_tool":"pay","n":1,"_outputPath":"†state.list","_outputMethod":"push"},
		{"_tool":"pay","n":1,"_outputPath":"†state.more"},{"_tool":"pay","n":1,"_outputPath":"†state.more","_outputMethod":"merge"},
		{"_tool":"other","n":[3],"_outputPath":"†state.new"},{"_tool":"pay","n":1,"_outputPath":"†state.new.n","_outputMethod":"push"},
		{"_tool":"other","n":2,"_outputPath":"†state.set"},{"_tool":"pay","n":1,"_outputPath":"†state.set"}]}]`, ts)
	res := run(t, prog, &opts)
	want := `{"paid":{"n":1},"list":[{"n":1},2],"more":{"n":1},"new":{"n":[3,{"n":1}]},"set":{"n":1}}`
	if string(res.State) != want || len(n.keys) != 0 {
		t.Errorf("%s, called %d times", res.State, len(n.keys))
	}
	opts.Known = nil
	replays(t, prog, opts, res)
}

func TestOnCallEnd(t *testing.T) {
	for _, c := range []struct {
		name, why string // the call after which the run is to pause
		on        exec.Strategy
		status    exec.Status
		calls     string
	}{
		{"goes on", "", exec.Continue, exec.Failed, "a completed, bad failed, c completed"},
		{"after a result", "a", exec.Continue, exec.Paused, "a completed, bad pending, c pending"},
		{"after a failure", "bad", exec.Continue, exec.Paused, "a completed, bad failed, c pending"},
		{"the strategy to abort wins", "bad", exec.Abort, exec.Failed, "a completed, bad failed, c cancelled"},
	} {
		prog := program(t, `[{"_tool":"a","_outputPath":"†state.a"},{"_tool":"bad","x":"†state.a"},{"_tool":"c","x":"†state.a","_outputPath":"†state.c"}]`,
			tools{"a": gives("1"), "bad": fails("x"), "c": echo})
		res := run(t, prog, &exec.Options{Schedule: exec.Sequential, OnFailure: c.on,
			OnCallEnd: func(_ context.Context, call *compile.Call, result json.RawMessage, f *exec.Failure) string {
				if (f != nil) != (call.ID == "bad") || call.ID == "a" && string(result) != "1" {
					t.Errorf("%s: %s gave %s, %v", c.name, call.ID, result, f)
				}
				if call.ID == c.why {
					return "enough"
				}
				return ""
			}})
		var calls []string
		for _, r := range res.Calls {
			calls = append(calls, r.ID+" "+string(r.Status))
		}
		if got := strings.Join(calls, ", "); res.Status != c.status || got != c.calls || res.Replan != (c.status == exec.Paused) {
			t.Errorf("%s: %s %s: %s", c.name, res.Status, res.Reason, got)
		}
	}
}

func TestRetryOfAll(t *testing.T) {
	prog := program(t, `[{"_tool":"bad","_onFailure":"continue"},{"_tool":"bad","_id":"own","_retry":0,"_onFailure":"continue"}]`, tools{"bad": fails("x")})
	res := run(t, prog, &exec.Options{Schedule: exec.Sequential, Retry: &lang.Retry{Max: 2, Delay: -1}})
	if res.Calls[0].Attempts != 3 || res.Calls[1].Attempts != 1 {
		t.Errorf("%d and %d attempts", res.Calls[0].Attempts, res.Calls[1].Attempts)
	}
}
