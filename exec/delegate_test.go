package exec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/tool"
)

// nest makes calls of a program delegate, by their ids.
func nest(prog *compile.Program, to map[string]*compile.Delegate) *compile.Program {
	for i := range prog.Calls {
		if d := to[prog.Calls[i].ID]; d != nil {
			r := *prog.Calls[i].Rare
			r.Delegate = d
			prog.Calls[i].Rare, prog.Calls[i].Activity = &r, nil
		}
	}
	return prog
}

// document is a plan that is delegated to: its input is open.
func document(t testing.TB, plan string, ts tools) *compile.Program {
	return program(t, plan, ts, func(o *compile.Options) { o.Run = false })
}

// predicate is a condition in Go.
type predicate func(vars map[string]json.RawMessage) (bool, error)

func (p predicate) Holds(_ context.Context, vars map[string]json.RawMessage) (bool, error) {
	return p(vars)
}

// log is what tools were called, in order.
type log struct {
	mu    sync.Mutex
	calls []string
}

func (l *log) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, fmt.Sprintf(format, args...))
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.calls, " ")
}

// number is a number in params.
func number(req *tool.Request, name string) (n int) {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(req.Params, &all)
	_ = json.Unmarshal(all[name], &n)
	return n
}

func numeral(n int) (tool.Result, error) {
	return tool.Result{Value: json.RawMessage(fmt.Sprint(n))}, nil
}

// double fails for 3 and for what is above 100, and doubles the rest.
func double(_ context.Context, req *tool.Request) (tool.Result, error) {
	n := number(req, "n")
	if n == 3 || n > 100 {
		return tool.Result{}, &tool.Error{Code: "odd", Message: fmt.Sprint("not ", n), Permanent: true}
	}
	return numeral(2 * n)
}

func TestDelegates(t *testing.T) {
	ts := tools{"d": double, "e": echo, "one": gives("1")}
	doubles := document(t, `{"calls":[{"_tool":"d","_id":"twice","n":"†input.item","_outputPath":"†state.r"}],"output":"†state.r"}`, ts)
	adds := document(t, `{"calls":[{"_tool":"e","_id":"add","v":"†input.item","w":"†input.result","_outputPath":"†state.r"}],"output":"†state.r"}`, ts)
	halves := document(t, `{"calls":[{"_tool":"d","n":"†input.n","_outputPath":"†state.r"}],"output":{"n":"†state.r","kept":"†input.kept"}}`, ts)
	final := document(t, `[{"_tool":"e","v":"†input.a","_outputPath":"†state.r"}]`, ts)
	over20 := predicate(func(vars map[string]json.RawMessage) (bool, error) {
		var r struct{ N int }
		err := json.Unmarshal(vars["result"], &r)
		return r.N > 20, err
	})
	for _, c := range []struct {
		name, plan string
		to         compile.Delegate
		state      string
		calls      string
	}{
		{
			name:  "the output of the document is the result, the params its input",
			plan:  `[{"_tool":"one","_id":"x","item":21,"_outputPath":"†state.x"}]`,
			to:    compile.Delegate{Program: doubles},
			state: `{"x":42}`, calls: "x:completed",
		},
		{
			name:  "without an output its final state is",
			plan:  `[{"_tool":"one","_id":"x","a":1.50,"_outputPath":"†state.x"}]`,
			to:    compile.Delegate{Program: final},
			state: `{"x":{"r":{"v":1.50}}}`, calls: "x:completed",
		},
		{
			name:  "a failure inside is that of the call, and names the document and the call",
			plan:  `[{"_tool":"one","_id":"x","item":3,"_errorPath":"†state.err"}]`,
			to:    compile.Delegate{Program: doubles},
			state: `{"err":{"code":"delegate","message":"\"sub.json\": \"twice\" failed: odd: not 3","tool":"one","call":"x","attempts":1}}`, calls: "x:failed!",
		},
		{
			name:  "forEach gives the results in order",
			plan:  `[{"_tool":"one","_id":"x","items":[1,2,4,{"item":5}],"_outputPath":"†state.x"}]`,
			to:    compile.Delegate{Program: doubles, Loop: compile.ForEach},
			state: `{"x":[2,4,8,10]}`, calls: "x:completed",
		},
		{
			name:  "forEach of nothing",
			plan:  `[{"_tool":"one","_id":"x","items":[],"_outputPath":"†state.x"}]`,
			to:    compile.Delegate{Program: doubles, Loop: compile.ForEach},
			state: `{"x":[]}`, calls: "x:completed",
		},
		{
			name:  "forEach fails with its first item that fails",
			plan:  `[{"_tool":"one","_id":"x","items":[1,101,3,200,4],"_errorPath":"†state.err"}]`,
			to:    compile.Delegate{Program: doubles, Loop: compile.ForEach},
			state: `{"err":{"code":"delegate","message":"item 1: \"sub.json\": \"twice\" failed: odd: not 101","tool":"one","call":"x","attempts":1}}`, calls: "x:failed!",
		},
		{
			name:  "forEach skips",
			plan:  `[{"_tool":"one","_id":"x","items":[1,3,3,5,3],"onItemFailure":"skip","_outputPath":"†state.x"}]`,
			to:    compile.Delegate{Program: doubles, Loop: compile.ForEach},
			state: `{"x":[2,10]}`, calls: "x:completed",
		},
		{
			name:  "forEach collects",
			plan:  `[{"_tool":"one","_id":"x","items":[1,3,null],"onItemFailure":"collect","_outputPath":"†state.x"}]`,
			to:    compile.Delegate{Program: doubles, Loop: compile.ForEach},
			state: `{"x":[2,{"error":{"code":"odd","message":"not 3","tool":"d","call":"twice","attempts":1}},0]}`, calls: "x:completed",
		},
		{
			name:  "reduce hands the result on",
			plan:  `[{"_tool":"one","_id":"x","items":["a","b"],"initial":0,"_outputPath":"†state.x"}]`,
			to:    compile.Delegate{Program: adds, Loop: compile.Reduce},
			state: `{"x":{"v":"b","w":{"v":"a","w":0}}}`, calls: "x:completed",
		},
		{
			name:  "reduce of nothing is the initial value, or null",
			plan:  `[{"_tool":"one","_id":"x","items":[],"_outputPath":"†state.x"}]`,
			to:    compile.Delegate{Program: adds, Loop: compile.Reduce},
			state: `{"x":null}`, calls: "x:completed",
		},
		{
			name:  "repeat until a condition holds",
			plan:  `[{"_tool":"one","_id":"x","max":10,"initial":{"n":2,"kept":"k"},"_outputPath":"†state.x"}]`,
			to:    compile.Delegate{Program: halves, Loop: compile.Repeat, Until: over20},
			state: `{"x":{"n":32,"kept":"k"}}`, calls: "x:completed",
		},
		{
			name:  "repeat gives up",
			plan:  `[{"_tool":"one","_id":"x","max":2,"initial":{"n":2,"kept":"k"},"_retry":3,"_errorPath":"†state.err"}]`,
			to:    compile.Delegate{Program: halves, Loop: compile.Repeat, Until: over20},
			state: `{"err":{"code":"exhausted","message":"until did not hold within 2 rounds, the most that max allows","tool":"one","call":"x","attempts":1}}`, calls: "x:failed!",
		},
		{
			name:  "repeat without a condition goes to the end",
			plan:  `[{"_tool":"one","_id":"x","max":3,"initial":{"n":2,"kept":"k"},"_outputPath":"†state.x"}]`,
			to:    compile.Delegate{Program: halves, Loop: compile.Repeat},
			state: `{"x":{"n":16,"kept":"k"}}`, calls: "x:completed",
		},
		{
			name: "a condition that fails",
			plan: `[{"_tool":"one","_id":"x","max":3,"initial":{"n":2,"kept":"k"},"_errorPath":"†state.err"}]`,
			to: compile.Delegate{Program: halves, Loop: compile.Repeat, Until: predicate(func(map[string]json.RawMessage) (bool, error) {
				return false, errors.New("no such field")
			})},
			state: `{"err":{"code":"condition","message":"round 1: until: no such field","tool":"one","call":"x","attempts":1}}`, calls: "x:failed!",
		},
	} {
		for _, schedule := range []exec.Schedule{exec.Parallel, exec.Sequential} {
			t.Run(fmt.Sprint(c.name, "/", schedule), func(t *testing.T) {
				to := c.to
				to.Name = "sub.json"
				prog := nest(program(t, c.plan, ts), map[string]*compile.Delegate{"x": &to})
				res := run(t, prog, &exec.Options{Schedule: schedule})
				if res.Status != exec.Completed || string(res.State) != c.state || statuses(res) != c.calls {
					t.Errorf("%s %s\n%s\nstate %s\nwant  %s", res.Status, res.Reason, statuses(res), res.State, c.state)
				}
				if got := res.Calls[0]; got.Delegate != "sub.json" {
					t.Errorf("delegate %q", got.Delegate)
				}
			})
		}
	}
}

func TestWhatADocumentSees(t *testing.T) {
	ts := tools{"e": echo, "one": gives("1")}
	sub := document(t, `[{"type":"state","state":{"own":1,"user":{"role":"x"}}},
		{"type":"plan","plan":[{"_tool":"e","v":"†state","i":"†input","d":"†data","_outputPath":"†state.saw"}]}]`, ts)
	prog := nest(program(t, `[{"_tool":"one","_id":"w","_outputPath":"†state.user.age"},
		{"_tool":"one","_id":"x","a":1,"_scopes":["†state.user"],"_outputPath":"†state.x"},
		{"_tool":"one","_id":"later","_outputPath":"†state.user.late"}]`, ts, withState(`{"secret":1,"user":{"name":"ada"}}`), withInput(`{"hidden":1}`)),
		map[string]*compile.Delegate{"x": {Name: "sub.json", Program: sub}})
	res := run(t, prog, nil)
	var state struct {
		X struct{ Saw json.RawMessage }
	}
	if err := json.Unmarshal(res.State, &state); err != nil {
		t.Fatal(err)
	}
	want := `{"v":{"own":1,"user":{"role":"x","name":"ada","age":1}},"i":{"a":1},"d":{}}`
	if got := string(state.X.Saw); got != want {
		t.Errorf("saw  %s\nwant %s", got, want)
	}
}

func TestPathsKeysAndRetriesOfInnerCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := map[string][]string{}
		n := 0
		ts := tools{"one": gives("1"), "flaky": func(_ context.Context, req *tool.Request) (tool.Result, error) {
			keys[req.Call] = append(keys[req.Call], req.Key)
			if n++; n == 1 {
				return tool.Result{}, &tool.Error{Code: "x", Message: "no"}
			}
			return numeral(n)
		}}
		inner := document(t, `[{"_tool":"flaky","_id":"a/b"}]`, ts)
		outer := nest(document(t, `[{"_tool":"one","_id":"each","items":[1,2]}]`, ts), map[string]*compile.Delegate{
			"each": {Name: "inner.json", Program: inner, Loop: compile.ForEach},
		})
		prog := nest(program(t, `[{"_tool":"one","_id":"x","_retry":{"max":1,"jitter":false}}]`, ts), map[string]*compile.Delegate{"x": {Name: "outer.json", Program: outer}})
		var events []string
		res := run(t, prog, &exec.Options{Schedule: exec.Sequential, OnEvent: func(e *exec.Event) {
			if e.Type == exec.CallStarted || e.Type == exec.CallCompleted || e.Type == exec.CallRetrying {
				events = append(events, string(e.Type[4:])+" "+e.Call)
			}
		}})
		want := []string{
			"Started x", "Started x/each", "Started x/each[0]/a~1b", "Retrying x",
			"Started x", "Started x#2/each", "Started x#2/each[0]/a~1b", "Completed x#2/each[0]/a~1b", "Started x#2/each[1]/a~1b", "Completed x#2/each[1]/a~1b",
			"Completed x#2/each", "Completed x",
		}
		if res.Status != exec.Completed || !slices.Equal(events, want) {
			t.Errorf("%s %s\n%q\n%q", res.Status, res.Reason, events, want)
		}
		k := keys["a/b"]
		if len(k) != 3 || k[0] != k[1] || k[1] == k[2] {
			t.Errorf("keys %q: those of the two attempts must be the same, that of the other item another", k)
		}
		runs := res.Calls[0].Runs
		if len(runs) != 1 || len(runs[0].Calls) != 1 || len(runs[0].Calls[0].Runs) != 2 || runs[0].Calls[0].Runs[1].Item != 1 {
			t.Errorf("runs %+v", runs)
		}
	})
}

// What fails a forEach, and a plan inside a plan, must not depend on the clock.
func TestFailuresInsideAreThoseOfPlanOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done log
		ts := tools{"one": gives("1"), "work": func(ctx context.Context, req *tool.Request) (tool.Result, error) {
			n := number(req, "n")
			select {
			case <-time.After(time.Duration(10-n) * time.Second):
			case <-ctx.Done():
				done.add("cancelled:%d", n)
				return tool.Result{}, ctx.Err()
			}
			done.add("%d", n)
			if n == 2 || n == 4 || n == 7 {
				return tool.Result{}, &tool.Error{Code: "x", Message: fmt.Sprint("no ", n), Permanent: true}
			}
			return numeral(n)
		}}
		sub := document(t, `{"calls":[{"_tool":"work","n":"†input.item","_outputPath":"†state.r"}],"output":"†state.r"}`, ts)
		prog := nest(program(t, `[{"_tool":"one","_id":"x","items":[0,1,2,3,4,5,6,7,8,9],"concurrency":8,"_errorPath":"†state.err"}]`, ts),
			map[string]*compile.Delegate{"x": {Name: "sub.json", Program: sub, Loop: compile.ForEach}})
		res := run(t, prog, nil)
		if want := `"item 2: `; !strings.Contains(string(res.State), want) {
			t.Errorf("state %s: want %s", res.State, want)
		}
		// 7 fails first: 8 and 9 never start. 4 fails next: 5 and 6 have ended. 2: 3 has ended.
		if got := done.String(); got != "7 6 5 4 3 2 1 0" {
			t.Errorf("done %s", got)
		}

		// The same with calls of one document instead of items.
		plan := "["
		for i := range 10 {
			plan += fmt.Sprintf(`{"_tool":"work","_id":"w%d","n":%d},`, i, i)
		}
		sub = document(t, strings.TrimSuffix(plan, ",")+"]", ts)
		for range 3 {
			prog = nest(program(t, `[{"_tool":"one","_id":"x","_errorPath":"†state.err"}]`, ts), map[string]*compile.Delegate{"x": {Name: "sub.json", Program: sub}})
			for _, o := range []exec.Options{{}, {MaxParallel: 3}, {Schedule: exec.Sequential}} {
				if res := run(t, prog, &o); !strings.Contains(string(res.State), `\"w2\" failed: x: no 2`) {
					t.Errorf("state %s", res.State)
				}
			}
		}
	})
}

func TestItemsBehindAFailureAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var done log
		begun := time.Now()
		ts := tools{"one": gives("1"), "work": func(ctx context.Context, req *tool.Request) (tool.Result, error) {
			n := number(req, "n")
			if n == 1 {
				time.Sleep(time.Second)
				return tool.Result{}, &tool.Error{Code: "x", Message: "no", Permanent: true}
			}
			if n == 2 { // ignores its context
				time.Sleep(time.Hour)
			}
			select {
			case <-time.After(time.Minute):
				done.add("%d", n)
			case <-ctx.Done():
				done.add("cancelled:%d", n)
				return tool.Result{}, ctx.Err()
			}
			return numeral(n)
		}}
		sub := document(t, `[{"_tool":"work","n":"†input.item"}]`, ts)
		prog := nest(program(t, `[{"_tool":"one","_id":"x","items":[0,1,2,3],"_errorPath":"†state.err"}]`, ts),
			map[string]*compile.Delegate{"x": {Name: "sub.json", Program: sub, Loop: compile.ForEach}})
		res := run(t, prog, &exec.Options{Grace: 5 * time.Second, Timeout: 10 * time.Minute})
		if got := done.String(); got != "cancelled:3 0" || res.Status != exec.Completed || time.Since(begun) != time.Minute {
			t.Errorf("%s %s; done %q after %s", res.Status, res.Reason, got, time.Since(begun))
		}
		var seen []string
		for _, r := range res.Calls[0].Runs {
			seen = append(seen, fmt.Sprint(r.Item, r.Status, r.Calls[0].Status))
		}
		if got := strings.Join(seen, " "); got != "0completedcompleted 1failedfailed 2cancelledcancelled 3cancelledcancelled" {
			t.Errorf("runs %s", got)
		}
		time.Sleep(2 * time.Hour) // what was abandoned ends
	})
}

func TestTimeOfADelegate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := tools{"one": gives("1"), "slow": takes(time.Minute), "stubborn": func(context.Context, *tool.Request) (tool.Result, error) {
			time.Sleep(time.Hour)
			return tool.Result{}, nil
		}, "late": func(context.Context, *tool.Request) (tool.Result, error) {
			time.Sleep(93 * time.Second)
			return tool.Result{}, nil
		}}
		for _, c := range []struct {
			inner string
			after time.Duration
		}{
			{`[{"_tool":"slow"},{"_tool":"slow","_dependsOn":["slow"]}]`, 90 * time.Second},
			{`[{"_tool":"stubborn"}]`, 90*time.Second + 10*time.Second},
			{`[{"_tool":"late"}]`, 93 * time.Second}, // it has come to its end all the same, and too late
		} {
			begun := time.Now()
			sub := document(t, c.inner, ts)
			prog := nest(program(t, `[{"_tool":"one","_id":"x","_timeout":90,"_errorPath":"†state.err"},{"_tool":"one","_dependsOn":["x"]}]`, ts),
				map[string]*compile.Delegate{"x": {Name: "sub.json", Program: sub}})
			res := run(t, prog, &exec.Options{Timeout: time.Hour, OnUncertain: exec.RetryUncertain})
			if !strings.Contains(string(res.State), `{"code":"timeout","message":"\"sub.json\": no result within 1m30s"`) || statuses(res) != "x:failed! one-2:completed" {
				t.Errorf("%s: %s", statuses(res), res.State)
			}
			if took := time.Since(begun); took != c.after {
				t.Errorf("took %s, want %s", took, c.after)
			}
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestPauseInside(t *testing.T) {
	ts := tools{"one": gives("1"), "e": echo}
	sub := document(t, `{"calls":[{"_tool":"e","_id":"pay","_approve":"costs money","n":"†input.item"},{"_tool":"one","_id":"free"}],"output":1}`, ts)
	prog := nest(program(t, `[{"_tool":"one","_id":"each","items":[1,2,3],"concurrency":2,"_outputPath":"†state.x"},{"_tool":"e","_id":"after","v":"†state.x"},{"_tool":"one","_id":"beside"}]`, ts),
		map[string]*compile.Delegate{"each": {Name: "sub.json", Program: sub, Loop: compile.ForEach}})
	res := run(t, prog, nil)
	if res.Status != exec.Paused || statuses(res) != "each:awaiting after:pending beside:completed" || !strings.Contains(res.Reason, `"each[0]/pay" waits for approval: the plan asks: "costs money"`) {
		t.Errorf("%s: %s; %s", res.Status, res.Reason, statuses(res))
	}
	if runs := res.Calls[0].Runs; len(runs) != 2 || runs[0].Status != exec.Paused || runs[1].Calls[0].Status != exec.Awaiting || runs[1].Calls[1].Status != exec.Completed {
		t.Errorf("runs %+v", runs)
	}
	var asked log
	res = run(t, prog, &exec.Options{Approver: func(_ context.Context, q *exec.Question) (exec.Answer, error) {
		asked.add("%s", q.Path)
		return exec.Answer{Approved: true}, nil
	}})
	if res.Status != exec.Completed || strings.Count(asked.String(), "/pay") != 3 {
		t.Errorf("%s %s: asked %s", res.Status, res.Reason, asked.String())
	}
}

func TestPolicyIsForTheCallsInside(t *testing.T) {
	ts := tools{"one": gives("1"), `kill "effects":{"destructive":true}`: gives("1")}
	sub := document(t, `[{"_tool":"one","_id":"in"}]`, ts)
	for _, c := range []struct {
		plan  string
		asked string
	}{
		{`[{"_tool":"kill","_id":"x"}]`, "x/in"},
		{`[{"_tool":"kill","_id":"x","_approve":true}]`, "x x/in"},
	} {
		var asked log
		prog := nest(program(t, c.plan, ts), map[string]*compile.Delegate{"x": {Name: "sub.json", Program: sub}})
		run(t, prog, &exec.Options{Approve: exec.ApproveAll, Approver: func(_ context.Context, q *exec.Question) (exec.Answer, error) {
			asked.add("%s", q.Path)
			return exec.Answer{Approved: true}, nil
		}})
		if asked.String() != c.asked {
			t.Errorf("asked %q, want %q", asked.String(), c.asked)
		}
	}
}

func TestCancelInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := tools{"one": gives("1"), "slow": takes(time.Hour)}
		deep := document(t, `[{"_tool":"slow","_id":"s"},{"_tool":"one","_id":"after","_dependsOn":["s"]}]`, ts)
		sub := nest(document(t, `[{"_tool":"one","_id":"each","items":[1,2,3],"concurrency":2}]`, ts), map[string]*compile.Delegate{"each": {Name: "deep.json", Program: deep, Loop: compile.ForEach}})
		prog := nest(program(t, `[{"_tool":"one","_id":"x","_retry":5,"_errorPath":"†state.err"}]`, ts), map[string]*compile.Delegate{"x": {Name: "sub.json", Program: sub}})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		res, err := exec.Run(ctx, prog, &exec.Options{Timeout: 2 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != exec.Cancelled || statuses(res) != "x:cancelled" || string(res.State) != "{}" {
			t.Errorf("%s %s: %s", res.Status, statuses(res), res.State)
		}
		each := res.Calls[0].Runs[0].Calls[0]
		if each.Status != exec.Cancelled || len(each.Runs) != 2 || each.Runs[0].Calls[0].Status != exec.Cancelled || each.Runs[0].Calls[1].Status != exec.Cancelled {
			t.Errorf("%+v", each)
		}
	})
}

func TestBudgetsAreOfTheWholeRun(t *testing.T) {
	var calls atomic.Int64
	ts := tools{"one": func(context.Context, *tool.Request) (tool.Result, error) {
		calls.Add(1)
		return numeral(1)
	}}
	sub := document(t, `[{"_tool":"one"}]`, ts)
	prog := nest(program(t, `[{"_tool":"one","_id":"x","items":[1,2,3,4,5,6,7,8,9]}]`, ts), map[string]*compile.Delegate{"x": {Name: "sub.json", Program: sub, Loop: compile.ForEach}})
	res := run(t, prog, &exec.Options{MaxSteps: 5})
	if res.Status != exec.Failed || !strings.Contains(res.Reason, "more than 5 calls") || calls.Load() != 4 {
		t.Errorf("%s %s after %d", res.Status, res.Reason, calls.Load())
	}
	if len(res.Findings) != 1 {
		t.Errorf("findings %v", res.Findings)
	}
}

// Calls that delegate hold no slot, and what was begun is finished first.
func TestSlots(t *testing.T) {
	ts := tools{"one": gives("1")}
	p := document(t, `[{"_tool":"one"}]`, ts)
	for depth := range 20 {
		p = nest(document(t, `[{"_tool":"one","_id":"x"},{"_tool":"one","_id":"y"}]`, ts), map[string]*compile.Delegate{"x": {Name: fmt.Sprint(depth), Program: p}})
	}
	var order []string
	for _, o := range []exec.Options{{MaxParallel: 1}, {Schedule: exec.Sequential}} {
		order = nil
		o.OnEvent = func(e *exec.Event) {
			if e.Type == exec.CallCompleted {
				order = append(order, e.Call[strings.LastIndexByte(e.Call, '/')+1:])
			}
		}
		if res := run(t, p, &o); res.Status != exec.Completed {
			t.Fatal(res.Reason)
		}
		if got, want := strings.Join(order, ""), "one"+strings.Repeat("xy", 20); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A long list makes no quadratic work: this would not end.
func TestManyItems(t *testing.T) {
	n := effort.Of(20_000, 100_000)
	ts := tools{"one": gives("1")}
	sub := document(t, `{"calls":[],"output":"†input.item"}`, ts)
	prog := nest(program(t, `[{"_tool":"one","_id":"x","items":"†input.items","_outputPath":"†state.x"}]`, ts, withInput(`{"items":[`+strings.TrimSuffix(strings.Repeat("7,", n), ",")+`]}`)),
		map[string]*compile.Delegate{"x": {Name: "sub.json", Program: sub, Loop: compile.ForEach}})
	res := run(t, prog, nil)
	if res.Status != exec.Completed || len(res.State) != len(`{"x":[]}`)+2*n-1 || len(res.Calls[0].Runs) != 1000 || res.Calls[0].MoreRuns != n-1000 {
		t.Errorf("%s %s: %d bytes, %d runs", res.Status, res.Reason, len(res.State), len(res.Calls[0].Runs))
	}
}
