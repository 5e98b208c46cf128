package exec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// act is what a tool does.
type act = func(ctx context.Context, req *tool.Request) (tool.Result, error)

// tools are tools by name: what each does and, behind a space in the name, the
// rest of its definition as JSON members: `pay "effects":{"destructive":true}`.
type tools map[string]act

func program(t testing.TB, plan string, ts tools, change ...func(*compile.Options)) *compile.Program {
	t.Helper()
	var all []*tool.Tool
	for key, f := range ts {
		name, rest, _ := strings.Cut(key, " ")
		if rest == "" {
			rest = `"type":"object"`
		}
		def, findings := tool.ParseDefinition([]byte("{"+rest+"}"), name, diag.Loc{})
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		all = append(all, &tool.Tool{Definition: def, Activity: tool.ActivityFunc(f)})
	}
	opts := &compile.Options{Catalogue: tool.NewCatalogue(all...), Run: true, Values: map[string]compile.Given{}}
	for _, f := range change {
		f(opts)
	}
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	prog, more := compile.Compile(doc, opts)
	if err := append(findings, more...).Err(); err != nil {
		t.Fatal(err)
	}
	return prog
}

func withInput(v string) func(*compile.Options) {
	return func(o *compile.Options) { o.Values["input"] = compile.Given{JSON: json.RawMessage(v)} }
}

func withState(v string) func(*compile.Options) {
	return func(o *compile.Options) { o.Values["state"] = compile.Given{JSON: json.RawMessage(v)} }
}

// run runs a program and, when it has come to an end, replays it from its record: with no
// tool called, the whiteboard has to be the same.
func run(t testing.TB, prog *compile.Program, opts *exec.Options) *exec.Result {
	t.Helper()
	var o exec.Options
	if opts != nil {
		o = *opts
	}
	_, timed := t.(*testing.B)
	replays := !timed && o.Record == nil && o.Dry == nil && !o.Open && o.Instances == nil && o.MaxTime == 0
	r := &tape{}
	if replays {
		o.Record = r
	}
	res, err := exec.Run(t.Context(), prog, &o)
	if err != nil {
		t.Fatal(err)
	}
	if replays && (res.Status == exec.Completed || res.Status == exec.Failed) {
		o.ID, o.Record, o.Replay, o.OnEvent = res.Run, r.after(""), true, nil
		again, err := exec.Run(t.Context(), prog, &o)
		if err != nil {
			t.Fatal(err)
		}
		if again.Digest != res.Digest || !bytes.Equal(again.State, res.State) {
			t.Errorf("replayed, the state is %s, and was %s", again.State, res.State)
		}
	}
	return res
}

// gives is a tool that gives a value.
func gives(v string) act {
	return func(context.Context, *tool.Request) (tool.Result, error) {
		return tool.Result{Value: json.RawMessage(v)}, nil
	}
}

func echo(_ context.Context, req *tool.Request) (tool.Result, error) {
	return tool.Result{Value: req.Params}, nil
}

// fails is a tool that fails.
func fails(code string) act {
	return func(context.Context, *tool.Request) (tool.Result, error) {
		return tool.Result{}, &tool.Error{Code: code, Message: "no"}
	}
}

// takes is a tool that gives 1 after some time, or ends with its context.
func takes(d time.Duration) act {
	return func(ctx context.Context, _ *tool.Request) (tool.Result, error) {
		select {
		case <-time.After(d):
			return tool.Result{Value: json.RawMessage("1")}, nil
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	}
}

func statuses(res *exec.Result) string {
	var s []string
	for _, c := range res.Calls {
		mark := ""
		if c.Handled {
			mark = "!"
		}
		s = append(s, fmt.Sprintf("%s:%s%s", c.ID, c.Status, mark))
	}
	return strings.Join(s, " ")
}

func TestStatusesAndState(t *testing.T) {
	for _, c := range []struct {
		name, plan string
		tools      tools
		opts       exec.Options
		status     exec.Status
		calls      string
		state      string
	}{
		{
			name:   "a failure aborts the run",
			plan:   `[{"_tool":"bad","_outputPath":"†state.x"},{"_tool":"e","v":"†state.x"},{"_tool":"one","_dependsOn":["e"]}]`,
			tools:  tools{"bad": fails("x"), "e": echo, "one": gives("1")},
			status: exec.Failed, calls: "bad:failed e:blocked one:blocked", state: `{}`,
		},
		{
			name:   "skip: the call counts as skipped, and what needed it, by data or by name",
			plan:   `[{"_tool":"bad","_outputPath":"†state.x"},{"_tool":"e","v":"†state.x"},{"_tool":"one","_dependsOn":["bad"]},{"_tool":"one","_dependsOn":["e"]},{"_tool":"one","_outputPath":"†state.y"}]`,
			tools:  tools{"bad": fails("x"), "e": echo, "one": gives("1")},
			opts:   exec.Options{OnFailure: exec.Skip},
			status: exec.Completed, calls: "bad:skipped e:skipped one:skipped one-2:skipped one-3:completed", state: `{"y":1}`,
		},
		{
			name:   "continue: the call stays failed and the run ends failed",
			plan:   `[{"_tool":"bad","_outputPath":"†state.x"},{"_tool":"e","v":"†state.x"},{"_tool":"one","_outputPath":"†state.y"}]`,
			tools:  tools{"bad": fails("x"), "e": echo, "one": gives("1")},
			opts:   exec.Options{OnFailure: exec.Continue},
			status: exec.Failed, calls: "bad:failed e:skipped one:completed", state: `{"y":1}`,
		},
		{
			name:   "a call's own strategy wins",
			plan:   `[{"_tool":"bad","_onFailure":"skip"},{"_tool":"one","_outputPath":"†state.y"}]`,
			tools:  tools{"bad": fails("x"), "one": gives("1")},
			status: exec.Completed, calls: "bad:skipped one:completed", state: `{"y":1}`,
		},
		{
			name:   "ask and replan pause the run",
			plan:   `[{"_tool":"bad"},{"_tool":"one","_dependsOn":["bad"]}]`,
			tools:  tools{"bad": fails("x"), "one": gives("1")},
			opts:   exec.Options{OnFailure: exec.Ask},
			status: exec.Paused, calls: "bad:awaiting one:pending", state: `{}`,
		},
		{
			name:   "a failure takes the last alternative and is handled; dependents of a handled failure run",
			plan:   `[{"_tool":"bad","_outputPath":"†state.ok || †state.err"},{"_tool":"e","v":"†state.ok"},{"_tool":"e","v":"†state.err.code","_outputPath":"†state.told"},{"_tool":"one","_dependsOn":["bad"]}]`,
			tools:  tools{"bad": fails("x"), "e": echo, "one": gives("1")},
			status: exec.Completed, calls: "bad:failed! e:skipped e-2:completed one:completed",
			state: `{"err":{"code":"x","message":"no","tool":"bad","call":"bad","attempts":1},"told":{"v":"x"}}`,
		},
		{
			name:   "an error path takes the failure, and wins over the last alternative",
			plan:   `[{"_tool":"bad","_outputPath":"†state.a || †state.b","_errorPath":"†state.err"},{"_tool":"e","v":"†state.b"}]`,
			tools:  tools{"bad": fails("x"), "e": echo},
			status: exec.Completed, calls: "bad:failed! e:skipped",
			state: `{"err":{"code":"x","message":"no","tool":"bad","call":"bad","attempts":1}}`,
		},
		{
			name:   "a tool that lists its outcomes has no last alternative for failures",
			plan:   `[{"_tool":"bad","_outputPath":"†state.a || †state.b"},{"_tool":"e","v":"†state.b"},{"_tool":"e","v":"†state.a"}]`,
			tools:  tools{`bad "_outcomes":["a","b"]`: fails("x"), "e": echo},
			opts:   exec.Options{OnFailure: exec.Skip},
			status: exec.Completed, calls: "bad:skipped e:skipped e-2:skipped", state: `{}`,
		},
		{
			name:   "a write that fails is a failure like any other: the error object is set over it",
			plan:   `[{"_tool":"one","_outputPath":"†state.n.deep || †state.err"},{"_tool":"e","v":"†state.err.code"}]`,
			tools:  tools{"one": gives("1"), "e": echo},
			status: exec.Completed, calls: "one:failed! e:completed",
			state: `{"n":5,"err":{"code":"write","message":"†state.n: a number has no members, so nothing can be written to \"deep\" in it","tool":"one","call":"one","attempts":1}}`,
		},
		{
			name:   "an error that can't be written is unhandled",
			plan:   `[{"_tool":"bad","_outputPath":"†state.ok","_errorPath":"†state.n.deep"}]`,
			tools:  tools{"bad": fails("x")},
			status: exec.Failed, calls: "bad:failed", state: `{"n":5}`,
		},
		{
			name:   "fan-out writes to all paths or to none",
			plan:   `[{"_tool":"one","_outputPath":"†state.a && †state.n.deep","_onFailure":"skip"}]`,
			tools:  tools{"one": gives("1")},
			status: exec.Completed, calls: "one:skipped", state: `{"n":5}`,
		},
		{
			name:   "skip wins over missing",
			plan:   `[{"_tool":"one","_outputPath":"†state.o"},{"_tool":"one","_when":"†input.no","_outputPath":"†state.x"},{"_tool":"e","a":"†state.o.missing","b":"†state.x"}]`,
			tools:  tools{"one": gives("{}"), "e": echo},
			status: exec.Completed, calls: "one:completed one-2:skipped e:skipped", state: `{"o":{}}`,
		},
		{
			name:   "what its writer did not write is missing, and fails the call without calling the tool",
			plan:   `[{"_tool":"one","_outputPath":"†state.o"},{"_tool":"e","a":"†state.o.missing","_errorPath":"†state.err"}]`,
			tools:  tools{"one": gives("{}"), "e": echo},
			status: exec.Completed, calls: "one:completed e:failed!",
			state: `{"o":{},"err":{"code":"missing","message":"nothing is at †state.o.missing","tool":"e","call":"e","attempts":0}}`,
		},
		{
			name:   "a when that is null or false skips, 0 and \"\" do not",
			plan:   `[{"_tool":"one","_when":"†input.null"},{"_tool":"one","_when":"†input.false"},{"_tool":"one","_when":"†input.zero"},{"_tool":"one","_when":"†input.empty"},{"_tool":"one","_when":"†input.none"}]`,
			tools:  tools{"one": gives("1")},
			status: exec.Completed, calls: "one:skipped one-2:skipped one-3:completed one-4:completed one-5:skipped", state: `{}`,
		},
		{
			name:   "the last operand of a gate is its value; one that can't come skips",
			plan:   `[{"_tool":"one","_outputPath":"†state.a"},{"_tool":"one","_when":"†input.no","_outputPath":"†state.b"},{"_tool":"e","v":"†state.a && †input.zero","_outputPath":"†state.r"},{"_tool":"e","v":"†state.a && †state.b"}]`,
			tools:  tools{"one": gives("1"), "e": echo},
			status: exec.Completed, calls: "one:completed one-2:skipped e:completed e-2:skipped", state: `{"a":1,"r":{"v":0}}`,
		},
		{
			name:   "a result that is not JSON fails the call",
			plan:   `[{"_tool":"bad","_outputPath":"†state.x","_onFailure":"skip"}]`,
			tools:  tools{"bad": gives(`{"a":1,"a":2}`)},
			status: exec.Completed, calls: "bad:skipped", state: `{}`,
		},
		{
			name:   "a panic of a tool is its failure",
			plan:   `[{"_tool":"bad","_onFailure":"skip"},{"_tool":"one"}]`,
			tools:  tools{"bad": func(context.Context, *tool.Request) (tool.Result, error) { panic("boom") }, "one": gives("1")},
			status: exec.Completed, calls: "bad:skipped one:completed", state: `{}`,
		},
		{
			name:   "a result with the name of an outcome only chooses where there are alternatives",
			plan:   `[{"_tool":"w","_outputPath":"†state.x"}]`,
			tools:  tools{"w": gives(`{"_outcome":"a","_value":1}`)},
			status: exec.Completed, calls: "w:completed", state: `{"x":{"_outcome":"a","_value":1}}`,
		},
		{
			name:   "a data message chooses the alternative that it holds a value at",
			plan:   `[{"_tool":"w","_outputPath":"†state.a || †state.b"},{"_tool":"e","v":"†state.b"}]`,
			tools:  tools{"w": gives(`{"type":"state","state":{"b":7}}`), "e": echo},
			status: exec.Completed, calls: "w:completed e:completed", state: `{"b":7}`,
		},
		{
			name:   "an outcome by index, and by the whole path",
			plan:   `[{"_tool":"w","_outputPath":"†state.a || †state.b"},{"_tool":"v","_outputPath":"†state.c || †state.d"},{"_tool":"e","v":"†state.b","w":"†state.d"}]`,
			tools:  tools{"w": gives(`{"_outcome":1,"_value":7}`), "v": gives(`{"_outcome":"†state.d","_value":8}`), "e": echo},
			status: exec.Completed, calls: "w:completed v:completed e:completed", state: `{"b":7,"d":8}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := `{}`
			if strings.Contains(c.plan, "state.n") {
				start = `{"n":5}`
			}
			prog := program(t, c.plan, c.tools, withInput(`{"no":false,"null":null,"false":false,"zero":0,"empty":""}`), withState(start))
			res := run(t, prog, &c.opts)
			if res.Status != c.status || statuses(res) != c.calls || string(res.State) != c.state {
				t.Errorf("%s (%s)\ncalls %s\nwant  %s\nstate %s\nwant  %s", res.Status, res.Reason, statuses(res), c.calls, res.State, c.state)
			}
		})
	}
}

func TestAProgramWithErrorsNeverRuns(t *testing.T) {
	ran := false
	def, _ := tool.ParseDefinition([]byte(`{}`), "one", diag.Loc{})
	cat := tool.NewCatalogue(&tool.Tool{Definition: def, Activity: tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) {
		ran = true
		return tool.Result{}, nil
	})})
	for _, plan := range []string{
		`[{"_tool":"one"},{"_tool":"nope"}]`,                        // the compiler's error
		`[{"_tool":"one"},{"_tool":"one","_tool":"one"}]`,           // the reader's
		`[{"_tool":"one"},{"_tool":"one","_activity":""}]`,          // nothing runs it
		`[{"_tool":"one","v":"†state.x","_outputPath":"†state.x"}]`, // a cycle
	} {
		doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
		prog, _ := compile.Compile(doc, &compile.Options{Catalogue: cat})
		if _, err := exec.Run(t.Context(), prog, nil); err == nil {
			t.Errorf("%s ran", plan)
		}
	}
	if ran {
		t.Error("a tool was called")
	}
}

func TestRetries(t *testing.T) {
	flaky := func(failures int, err *tool.Error) (act, *[]time.Time) {
		var times []time.Time
		return func(_ context.Context, req *tool.Request) (tool.Result, error) {
			times = append(times, time.Now())
			if req.Attempt <= failures {
				return tool.Result{}, err
			}
			return tool.Result{Value: json.RawMessage("1")}, nil
		}, &times
	}
	for _, c := range []struct {
		name, retry string
		err         tool.Error
		attempts    int
		status      exec.Status
		gaps        [][2]time.Duration // least and most
	}{
		{"until it works", `{"max":3,"delay":"1s","jitter":false}`, tool.Error{Code: "busy"}, 3, exec.Completed, [][2]time.Duration{{1e9, 1e9}, {2e9, 2e9}}},
		{"at most max", `{"max":1,"delay":"1s","jitter":false}`, tool.Error{Code: "busy"}, 2, exec.Failed, [][2]time.Duration{{1e9, 1e9}}},
		{"a number is a max", `1`, tool.Error{Code: "busy"}, 2, exec.Failed, [][2]time.Duration{{0, 100e6}}},
		{"full jitter", `{"max":2,"delay":"10s"}`, tool.Error{Code: "busy"}, 3, exec.Completed, [][2]time.Duration{{0, 10e9}, {0, 20e9}}},
		{"never more than maxDelay", `{"max":2,"delay":"10s","maxDelay":"11s","jitter":false}`, tool.Error{Code: "busy"}, 3, exec.Completed, [][2]time.Duration{{10e9, 10e9}, {11e9, 11e9}}},
		{"no sooner than the tool says", `{"max":2,"delay":"1s","jitter":false}`, tool.Error{Code: "busy", RetryAfter: time.Minute}, 3, exec.Completed, [][2]time.Duration{{60e9, 60e9}, {60e9, 60e9}}},
		{"not when the tool asks for ages", `{"max":2,"delay":"1s"}`, tool.Error{Code: "busy", RetryAfter: time.Hour}, 1, exec.Failed, nil},
		{"not what is permanent", `3`, tool.Error{Code: "busy", Permanent: true}, 1, exec.Failed, nil},
		{"only these codes", `{"max":3,"on":["other"]}`, tool.Error{Code: "busy"}, 1, exec.Failed, nil},
		{"these codes", `{"max":3,"on":["busy"]}`, tool.Error{Code: "busy"}, 3, exec.Completed, [][2]time.Duration{{0, 1e9}, {0, 1e9}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, times := flaky(2, &c.err)
				prog := program(t, `[{"_tool":"f","_retry":`+c.retry+`}]`, tools{"f": f})
				res := run(t, prog, &exec.Options{Seed: 7})
				if res.Status != c.status || res.Calls[0].Attempts != c.attempts {
					t.Fatalf("%s after %d attempts, want %s after %d", res.Status, res.Calls[0].Attempts, c.status, c.attempts)
				}
				for i, g := range c.gaps {
					if gap := (*times)[i+1].Sub((*times)[i]); gap < g[0] || gap > g[1] {
						t.Errorf("gap %d is %s, want from %s to %s", i, gap, g[0], g[1])
					}
				}
			})
		})
	}
}

func TestTimeouts(t *testing.T) {
	slow := takes(time.Hour)
	deaf := func(context.Context, *tool.Request) (tool.Result, error) {
		time.Sleep(time.Hour)
		return tool.Result{Value: json.RawMessage(`"late"`)}, nil
	}
	late := func(context.Context, *tool.Request) (tool.Result, error) {
		time.Sleep(1500 * time.Millisecond)
		return tool.Result{Value: json.RawMessage(`"late"`)}, nil
	}
	for _, c := range []struct {
		name, plan, def string
		act             act
		opts            exec.Options
		code            string
		attempts        int
		took            time.Duration
	}{
		{"of the call", `"_timeout":"2s"`, `"effects":{"readOnly":true}`, slow, exec.Options{}, "timeout", 1, 2 * time.Second},
		{"of the run", `"x":1`, `"effects":{"readOnly":true}`, slow, exec.Options{Timeout: 3 * time.Second}, "timeout", 1, 3 * time.Second},
		{"60 s unless said", `"x":1`, `"effects":{"readOnly":true}`, slow, exec.Options{}, "timeout", 1, time.Minute},
		{"what may be repeated is retried", `"_timeout":"1s","_retry":{"max":1,"delay":"1s","jitter":false}`, `"effects":{"readOnly":true}`, slow, exec.Options{}, "timeout", 2, 3 * time.Second},
		{"what may not is uncertain and is not", `"_timeout":"1s","_retry":1`, `"title":"t"`, slow, exec.Options{}, "uncertain", 1, time.Second},
		{"unless the run says so", `"_timeout":"1s","_retry":{"max":1,"delay":"1s","jitter":false}`, `"title":"t"`, slow, exec.Options{OnUncertain: exec.RetryUncertain}, "timeout", 2, 3 * time.Second},
		{"what comes after it is dropped", `"_timeout":"100ms"`, `"effects":{"readOnly":true}`, late, exec.Options{}, "timeout", 1, 1500 * time.Millisecond},
		{"and is tried again where that does no harm", `"_timeout":"100ms","_retry":{"max":1,"delay":"1s","jitter":false}`, `"effects":{"idempotent":true}`, late, exec.Options{}, "timeout", 2, 4 * time.Second},
		{"and is uncertain where it may have done its work", `"_timeout":"100ms","_retry":1`, `"effects":{"readOnly":false}`, late, exec.Options{}, "uncertain", 1, 1500 * time.Millisecond},
		{"a tool that ignores it is abandoned", `"_timeout":"1s"`, `"effects":{"readOnly":true}`, deaf, exec.Options{Grace: 2 * time.Second}, "timeout", 1, 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				prog := program(t, `[{"_tool":"t",`+c.plan+`,"_outputPath":"†state.x"}]`, tools{"t " + c.def: c.act})
				begun := time.Now()
				res := run(t, prog, &c.opts)
				if took := time.Since(begun); took != c.took {
					t.Errorf("the run took %s, want %s", took, c.took)
				}
				call := res.Calls[0]
				if call.Error == nil || call.Error.Code != c.code || call.Attempts != c.attempts {
					t.Errorf("%+v after %d attempts, want %s after %d", call.Error, call.Attempts, c.code, c.attempts)
				}
				if string(res.State) != `{}` {
					t.Errorf("the state is %s", res.State)
				}
				time.Sleep(2 * time.Hour) // what was abandoned ends, and changes nothing
			})
		})
	}
}

// A run waits neither for a tool that ignores the end of its time nor for its fallback that does.
func TestFallbackIsAbandoned(t *testing.T) {
	deaf := func(context.Context, *tool.Request) (tool.Result, error) {
		time.Sleep(time.Hour)
		return tool.Result{Value: json.RawMessage(`1`)}, nil
	}
	synctest.Test(t, func(t *testing.T) {
		prog := program(t, `[{"_tool":"t","_timeout":"1s","_fallback":{"_tool":"b","_timeout":"1s"},"_outputPath":"†state.x"}]`,
			tools{`t "effects":{"readOnly":true}`: deaf, `b "effects":{"readOnly":true}`: deaf})
		begun := time.Now()
		res, err := exec.Run(t.Context(), prog, &exec.Options{Grace: 2 * time.Second})
		if took := time.Since(begun); err != nil || took != 6*time.Second || res.Calls[0].Error == nil || res.Calls[0].Error.Code != "timeout" {
			t.Errorf("after %s: %+v, %v", took, res.Calls[0].Error, err)
		}
		time.Sleep(3 * time.Hour) // what was abandoned ends
	})
}

// A slot is given back when a late answer was dropped, what it cost counts, and a fallback or a
// delegate takes no late answer either.
func TestLateAnswers(t *testing.T) {
	late := func(context.Context, *tool.Request) (tool.Result, error) {
		time.Sleep(time.Second)
		return tool.Result{Value: json.RawMessage(`1`), Usage: tool.Usage{Tokens: 3}}, nil
	}
	synctest.Test(t, func(t *testing.T) {
		prog := program(t, `[{"_id":"a","_tool":"late","_timeout":"100ms","_onFailure":"continue"},
			{"_id":"b","_tool":"f","_fallback":{"_tool":"late","_timeout":"100ms"},"_outputPath":"†state.b","_onFailure":"continue"},
			{"_id":"c","_tool":"t","_outputPath":"†state.c"}]`,
			tools{`late "effects":{"readOnly":true}`: late, "f": fails("down"), "t": gives("1")})
		begun := time.Now()
		res := run(t, prog, &exec.Options{MaxParallel: 1})
		if took := time.Since(begun); took != 2*time.Second || string(res.State) != `{"c":1}` || res.Usage.Tokens != 6 {
			t.Errorf("after %s: %s, %+v", took, res.State, res.Usage)
		}
		if a, b := res.Calls[0], res.Calls[1]; a.Error == nil || a.Error.Code != "timeout" || b.Error == nil || b.Error.Code != "down" {
			t.Errorf("%+v, %+v", a, b)
		}
	})
}

func TestUncertainCallHasNoFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prog := program(t, `[{"_tool":"t","_timeout":"1s","_fallback":"b","_outputPath":"†state.x"}]`,
			tools{"t": takes(time.Hour), "b": gives("1")})
		if res := run(t, prog, nil); res.Calls[0].Error == nil || res.Calls[0].Error.Code != "uncertain" {
			t.Errorf("%+v", res.Calls[0])
		}
	})
}

func TestFallback(t *testing.T) {
	for _, c := range []struct{ name, fallback, state string }{
		{"of the same params", `"b"`, `{"x":{"p":"q"}}`},
		{"with params of its own", `{"_tool":"b","r":"†{input.s}!"}`, `{"x":{"r":"t!"}}`},
		{"that fails, the call fails as it had", `"bad"`, `{}`},
		{"whose own params can't come", `{"_tool":"b","r":"†state.x || †input.none"}`, `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			prog := program(t, `[{"_tool":"f","p":"q","_fallback":`+c.fallback+`,"_outputPath":"†state.x","_onFailure":"skip"}]`,
				tools{"f": fails("down"), "b": echo, "bad": fails("worse")}, withInput(`{"s":"t"}`))
			res := run(t, prog, nil)
			if string(res.State) != c.state {
				t.Errorf("state %s, want %s", res.State, c.state)
			}
			if c.state == `{}` && res.Calls[0].Error.Code != "down" {
				t.Errorf("failed with %+v", res.Calls[0].Error)
			}
		})
	}
}

// TestStartsWhenTheLastThingItWaitsForSettles shows that there are no waves: with
// steps of 1 and 5 seconds, the run takes as long as its longest chain.
func TestStartsWhenTheLastThingItWaitsForSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prog := program(t, `[
			{"_tool":"s","_outputPath":"†state.a"},{"_tool":"l","_outputPath":"†state.b"},
			{"_tool":"l","v":"†state.a","_outputPath":"†state.c"},{"_tool":"s","v":"†state.b","_outputPath":"†state.d"}]`,
			tools{"s": takes(time.Second), "l": takes(5 * time.Second)})
		begun := time.Now()
		run(t, prog, nil)
		if took := time.Since(begun); took != 6*time.Second {
			t.Errorf("took %s, want the 6 s of each chain", took)
		}
	})
}

func TestLongestWayBelowGoesFirst(t *testing.T) {
	plan := `[{"_tool":"s","_id":"a"},{"_tool":"s","_id":"b"},{"_tool":"s","_id":"head","_outputPath":"†state.x"},{"_tool":"s","_id":"tail","v":"†state.x"}]`
	for _, c := range []struct {
		schedule exec.Schedule
		want     string
	}{{exec.Parallel, "head tail a b"}, {exec.Sequential, "a b head tail"}} {
		var order []string
		prog := program(t, plan, tools{"s": func(_ context.Context, req *tool.Request) (tool.Result, error) {
			order = append(order, req.Call) // one at a time
			return tool.Result{}, nil
		}})
		run(t, prog, &exec.Options{MaxParallel: 1, Schedule: c.schedule})
		got := strings.Join(order, " ")
		if c.schedule == exec.Parallel && got == "head a b tail" {
			continue // when head has settled, its tail is no longer than the others
		}
		if got != c.want {
			t.Errorf("schedule %d ran %s, want %s", c.schedule, got, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	most := func(plan string, opts *exec.Options, limits tool.Limits) (int32, time.Duration) {
		var now, peak atomic.Int32
		var took time.Duration
		synctest.Test(t, func(t *testing.T) {
			prog := program(t, plan, tools{"s": func(ctx context.Context, req *tool.Request) (tool.Result, error) {
				n := now.Add(1)
				defer now.Add(-1)
				for p := peak.Load(); n > p && !peak.CompareAndSwap(p, n); p = peak.Load() {
				}
				return takes(time.Second)(ctx, req)
			}})
			for i := range prog.Calls {
				prog.Calls[i].Target.Limits = limits
			}
			begun := time.Now()
			if res := run(t, prog, opts); res.Status != exec.Completed {
				t.Errorf("%s: %s", res.Status, res.Reason)
			}
			took = time.Since(begun)
		})
		return peak.Load(), took
	}
	plan := "[" + strings.TrimSuffix(strings.Repeat(`{"_tool":"s"},`, 12), ",") + "]"
	for _, c := range []struct {
		name   string
		opts   exec.Options
		limits tool.Limits
		peak   int32
		took   time.Duration
	}{
		{"none", exec.Options{}, tool.Limits{}, 12, time.Second},
		{"slots", exec.Options{MaxParallel: 4}, tool.Limits{}, 4, 3 * time.Second},
		{"sequential", exec.Options{Schedule: exec.Sequential}, tool.Limits{}, 1, 12 * time.Second},
		{"of the tool", exec.Options{}, tool.Limits{Parallel: 3}, 3, 4 * time.Second},
		{"rate", exec.Options{}, tool.Limits{PerSecond: 2}, 4, 6 * time.Second},
	} {
		if peak, took := most(plan, &c.opts, c.limits); peak > c.peak || took != c.took {
			t.Errorf("%s: %d at once, %s; want %d at most and %s", c.name, peak, took, c.peak, c.took)
		}
	}
}

func TestBudgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prog := program(t, `[{"_tool":"s","_outputPath":"†state.x"},{"_tool":"s","v":"†state.x","_outputPath":"†state.y"},{"_tool":"s","v":"†state.y","_outputPath":"†state.z"}]`,
			tools{"s": takes(time.Second)})
		res := run(t, prog, &exec.Options{MaxSteps: 2})
		if res.Status != exec.Failed || string(res.State) != `{"x":1,"y":1}` || len(res.Findings) != 1 || res.Findings[0].Code != diag.OverBudget {
			t.Errorf("steps: %s, state %s, findings %v", res.Status, res.State, res.Findings)
		}
		res = run(t, prog, &exec.Options{MaxTime: 1500 * time.Millisecond})
		if res.Status != exec.Failed || string(res.State) != `{"x":1}` || len(res.Findings) != 1 || res.Findings[0].Code != diag.OverBudget {
			t.Errorf("time: %s, state %s, findings %v", res.Status, res.State, res.Findings)
		}
	})
}

func TestWhiteboardIsBounded(t *testing.T) {
	var plan strings.Builder
	plan.WriteString(`[{"_tool":"e","v":"0123456789","_outputPath":"†state.x0"}`)
	for i := 1; i < 60; i++ { // each doubles what there is
		fmt.Fprintf(&plan, `,{"_tool":"e","v":["†state.x%d","†state.x%d"],"_outputPath":"†state.x%d"}`, i-1, i-1, i)
	}
	res := run(t, program(t, plan.String()+"]", tools{"e": echo}), &exec.Options{MaxBytes: 1 << 20})
	if res.Status != exec.Failed || !strings.Contains(res.Reason, "more than 1048576 bytes") || len(res.State) > 1<<20 {
		t.Errorf("%s (%s) with %d bytes", res.Status, res.Reason, len(res.State))
	}
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prog := program(t, `[{"_tool":"q","_outputPath":"†state.q"},{"_tool":"l","_outputPath":"†state.x"},{"_tool":"l","v":"†state.x"},{"_tool":"bad","_retry":{"max":9,"delay":"1h","jitter":false}}]`,
			tools{"q": gives("1"), "l": takes(time.Hour), "bad": fails("x")})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute/2, cancel)
		begun := time.Now()
		res, err := exec.Run(ctx, prog, nil)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took != time.Minute/2 {
			t.Errorf("it ended after %s", took)
		}
		if res.Status != exec.Cancelled || string(res.State) != `{"q":1}` {
			t.Errorf("%s, state %s", res.Status, res.State)
		}
		if got, want := statuses(res), "q:completed l:cancelled l-2:cancelled bad:cancelled"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

func TestCancelledToolThatGoesOnIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prog := program(t, `[{"_tool":"deaf","_timeout":"9h"}]`, tools{"deaf": func(context.Context, *tool.Request) (tool.Result, error) {
			time.Sleep(time.Hour)
			return tool.Result{}, nil
		}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		res, _ := exec.Run(ctx, prog, nil)
		if took := time.Since(begun); took != time.Minute+exec.DefaultGrace {
			t.Errorf("it ended after %s", took)
		}
		if c := res.Calls[0]; c.Status != exec.Cancelled || !strings.Contains(c.Reason, "abandoned") {
			t.Errorf("%+v", c)
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestApprovals(t *testing.T) {
	plan := `[{"_tool":"pay","amount":5,"_outputPath":"†state.x"},{"_tool":"look","_outputPath":"†state.y"}]`
	ts := tools{
		`pay "effects":{"destructive":true,"domain":"money"},"properties":{"amount":{"type":"integer"}}`: echo,
		`look "effects":{"pure":true}`: gives("1"),
	}
	answer := func(a exec.Answer) func(context.Context, *exec.Question) (exec.Answer, error) {
		return func(context.Context, *exec.Question) (exec.Answer, error) { return a, nil }
	}
	for _, c := range []struct {
		name   string
		opts   exec.Options
		status exec.Status
		calls  string
		state  string
	}{
		{"nobody to ask: the rest goes on and the run pauses", exec.Options{}, exec.Paused, "pay:awaiting look:completed", `{"y":1}`},
		{"approved", exec.Options{Approver: answer(exec.Answer{Approved: true})}, exec.Completed, "pay:completed look:completed", `{"x":{"amount":5},"y":1}`},
		{"edited", exec.Options{Approver: answer(exec.Answer{Approved: true, Params: []byte(`{"amount":3}`)})}, exec.Completed, "pay:completed look:completed", `{"x":{"amount":3},"y":1}`},
		{"edited wrongly", exec.Options{OnFailure: exec.Skip, Approver: answer(exec.Answer{Approved: true, Params: []byte(`{"amount":"3"}`)})}, exec.Completed, "pay:skipped look:completed", `{"y":1}`},
		{"a result instead", exec.Options{Approver: answer(exec.Answer{Approved: true, Result: []byte(`"paid"`)})}, exec.Completed, "pay:completed look:completed", `{"x":"paid","y":1}`},
		{"rejected", exec.Options{OnFailure: exec.Skip, Approver: answer(exec.Answer{Reason: "too much"})}, exec.Completed, "pay:skipped look:completed", `{"y":1}`},
		{"asking failed: rejected", exec.Options{OnFailure: exec.Skip, Approver: func(context.Context, *exec.Question) (exec.Answer, error) {
			return exec.Answer{Approved: true}, errors.New("the line went dead")
		}}, exec.Completed, "pay:skipped look:completed", `{"y":1}`},
		{"none", exec.Options{Approve: exec.ApproveNone}, exec.Completed, "pay:completed look:completed", `{"x":{"amount":5},"y":1}`},
		{"all", exec.Options{Approve: exec.ApproveAll}, exec.Paused, "pay:awaiting look:awaiting", `{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := run(t, program(t, plan, ts), &c.opts)
			got := canonical(t, res.State)
			if res.Status != c.status || statuses(res) != c.calls || got != c.state {
				t.Errorf("%s, %s, %s; want %s, %s, %s", res.Status, statuses(res), got, c.status, c.calls, c.state)
			}
		})
	}
}

func canonical(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// TestWhatIsDestructive names in a question what destroys.
func TestWhatIsDestructive(t *testing.T) {
	prog := program(t, `[{"_tool":"read","_fallback":"wipe"},{"_tool":"wipe"},{"_tool":"read","_id":"other","_activity":"wipe"}]`,
		tools{`wipe "effects":{"destructive":true}`: gives("1"), `read "effects":{"readOnly":true}`: gives("1")})
	asked := map[string]string{}
	run(t, prog, &exec.Options{Schedule: exec.Sequential, Approver: func(_ context.Context, q *exec.Question) (exec.Answer, error) {
		asked[q.Path] = q.Reason
		return exec.Answer{Approved: true}, nil
	}})
	want := map[string]string{
		"read": `its fallback "wipe" is destructive`, "wipe": `the tool "wipe" is destructive`, "other": `what the tool "read" runs is destructive`,
	}
	if !maps.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
}

func TestAPlanCanNotWaiveApproval(t *testing.T) {
	prog := program(t, `[{"_tool":"pay","_approve":false}]`, tools{`pay "effects":{"destructive":true}`: gives("1")})
	if res := run(t, prog, nil); res.Status != exec.Paused {
		t.Errorf("the run is %s", res.Status)
	}
	prog = program(t, `[{"_tool":"one","_approve":"it is dear"}]`, tools{"one": gives("1")})
	if res := run(t, prog, &exec.Options{Approve: exec.ApproveNone}); res.Status != exec.Paused || !strings.Contains(res.Reason, "it is dear") {
		t.Errorf("the run is %s: %s", res.Status, res.Reason)
	}
}

func TestCancelledQuestionIsNoRejection(t *testing.T) {
	prog := program(t, `[{"_tool":"pay","_outputPath":"†state.paid || †state.declined"}]`, tools{`pay "effects":{"destructive":true}`: gives("1")})
	ctx, cancel := context.WithCancel(t.Context())
	res, err := exec.Run(ctx, prog, &exec.Options{Approver: func(ctx context.Context, _ *exec.Question) (exec.Answer, error) {
		cancel()
		<-ctx.Done()
		return exec.Answer{}, ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != exec.Cancelled || statuses(res) != "pay:cancelled" || string(res.State) != `{}` {
		t.Errorf("%s, %s, state %s", res.Status, statuses(res), res.State)
	}
}

func TestHooks(t *testing.T) {
	prog := program(t, `[{"_tool":"e","v":1,"_outputPath":"†state.x"},{"_tool":"e","v":2,"_outputPath":"†state.y"}]`,
		tools{`e "properties":{"v":{"type":"integer"}}`: echo})
	if _, err := exec.Run(t.Context(), prog, &exec.Options{OnPlan: func(*compile.Program) error { return errors.New("not today") }}); err == nil {
		t.Error("a refused plan ran")
	}
	res := run(t, prog, &exec.Options{
		OnFailure: exec.Skip,
		OnCallStart: func(_ context.Context, c *compile.Call, params json.RawMessage) (json.RawMessage, error) {
			if c.ID == "e-2" {
				return nil, errors.New("not this one")
			}
			return json.RawMessage(`{"v":10}`), nil
		},
		OnCallDone: func(_ context.Context, _ *compile.Call, result json.RawMessage) (json.RawMessage, error) {
			return json.RawMessage(strings.ReplaceAll(string(result), "10", "11")), nil
		},
	})
	if string(res.State) != `{"x":{"v":11}}` || res.Calls[1].Error.Code != "refused" {
		t.Errorf("state %s, second call %+v", res.State, res.Calls[1].Error)
	}
	res = run(t, prog, &exec.Options{OnFailure: exec.Skip, OnCallStart: func(context.Context, *compile.Call, json.RawMessage) (json.RawMessage, error) {
		return json.RawMessage(`{"v":"ten"}`), nil
	}})
	if res.Calls[0].Error == nil || res.Calls[0].Error.Code != "params" || res.Calls[0].Attempts != 0 {
		t.Errorf("params that a hook broke reached the tool: %+v", res.Calls[0])
	}
}

func TestMiddlewareWrapsInOrder(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	wrap := func(name string) tool.Middleware {
		return func(next tool.Activity) tool.Activity {
			return tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
				mu.Lock()
				seen = append(seen, name)
				mu.Unlock()
				return next.Call(ctx, req)
			})
		}
	}
	run(t, program(t, `[{"_tool":"one"}]`, tools{"one": gives("1")}), &exec.Options{Middleware: []tool.Middleware{wrap("outer"), wrap("inner")}})
	if !slices.Equal(seen, []string{"outer", "inner"}) {
		t.Errorf("called in order %v", seen)
	}
}

func TestRequest(t *testing.T) {
	var reqs []*tool.Request
	prog := program(t, `[{"_tool":"f","_id":"me","v":"†input.v","_retry":{"max":1,"delay":"1ms"},"_scopes":["†input.v","state"],"_outputPath":"†state.x"},{"_tool":"f","_id":"other","v":1}]`,
		tools{"f": func(_ context.Context, req *tool.Request) (tool.Result, error) {
			reqs = append(reqs, req)
			if req.Call == "me" && req.Attempt == 1 {
				return tool.Result{}, errors.New("once")
			}
			return tool.Result{}, nil
		}}, withInput(`{"v":1,"w":2}`), withState(`{"s":3}`))
	run(t, prog, &exec.Options{ID: "R", MaxParallel: 1, Schedule: exec.Sequential})
	first := reqs[0]
	if first.Run != "R" || first.Call != "me" || first.Tool != "f" || string(first.Params) != `{"v":1}` || first.Attempt != 1 {
		t.Errorf("%+v", first)
	}
	if got := canonical(t, first.Scopes); got != `{"input":{"v":1},"state":{"s":3}}` {
		t.Errorf("it sees %s", got)
	}
	keys := map[string]string{}
	for _, r := range reqs {
		if k, ok := keys[r.Call]; ok && k != r.Key {
			t.Errorf("the key of %s changed between attempts", r.Call)
		}
		keys[r.Call] = r.Key
	}
	if keys["me"] == keys["other"] || keys["me"] == "" {
		t.Errorf("keys %v", keys)
	}
}

// TestScopesOfElements copies elements of lists: to their places, and nothing before them.
func TestScopesOfElements(t *testing.T) {
	for scopes, want := range map[string]string{
		`["†state.l[2].id"]`:                  `{"state":{"l":[null,null,{"id":3}]}}`,
		`["†state.l[1]","†state.l[0].id"]`:    `{"state":{"l":[{"id":1},{"id":2,"s":0}]}}`,
		`["†state.l","†state.l[2].id"]`:       `{"state":{"l":[{"id":1,"s":0},{"id":2,"s":0},{"id":3,"s":0}]}}`,
		`["†state.l[9]","†state.n[1][1]"]`:    `{"state":{"n":[null,[null,4]]}}`,
		`["†state.l[1].id","†state.n[0][0]"]`: `{"state":{"l":[null,{"id":2}],"n":[[1]]}}`,
	} {
		var saw json.RawMessage
		prog := program(t, `[{"_tool":"f","_scopes":`+scopes+`}]`, tools{"f": func(_ context.Context, req *tool.Request) (tool.Result, error) {
			saw = req.Scopes
			return tool.Result{}, nil
		}}, withState(`{"l":[{"id":1,"s":0},{"id":2,"s":0},{"id":3,"s":0}],"n":[[1,2],[3,4]]}`))
		run(t, prog, nil)
		if got := canonical(t, saw); got != want {
			t.Errorf("%s sees %s, want %s", scopes, got, want)
		}
	}
}

func TestEvents(t *testing.T) {
	prog := program(t, `[{"_tool":"e","v":1,"_outputPath":"†state.x"},{"_tool":"bad","v":"†state.x","_onFailure":"skip"},{"_tool":"e","v":"†state.nope || †state.x","_when":"†input.no"}]`,
		tools{"e": echo, "bad": fails("x")}, withInput(`{"no":false}`))
	var got []string
	for e, err := range exec.Events(t.Context(), prog, &exec.Options{Schedule: exec.Sequential}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimSuffix(string(e.Type)+" "+e.Call, " "))
	}
	want := []string{
		"runStarted", "callReady e", "callStarted e", "callReturned e", "write e", "callCompleted e",
		"callReady bad", "callReady e-2", "callStarted bad", "callReturned bad", "callSkipped bad", "callSkipped e-2", "runFinished",
	}
	if !slices.Equal(got, want) {
		t.Errorf("events\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// How far a call is, is told while it goes on, not too often, and never recorded.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late func(tool.Progress)
		prog := program(t, `[{"_tool":"slow"}]`, tools{"slow": func(_ context.Context, req *tool.Request) (tool.Result, error) {
			req.Progress(tool.Progress{Done: 1, Total: 9, Message: "begun"})
			req.Progress(tool.Progress{Done: 2})
			time.Sleep(time.Second)
			req.Progress(tool.Progress{Done: 3})
			late = req.Progress
			return tool.Result{}, nil
		}})
		var told []string
		record := &tape{}
		run(t, prog, &exec.Options{Record: record, OnEvent: func(e *exec.Event) {
			if e.Type == exec.CallProgress {
				text, _ := json.Marshal(e.Progress)
				told = append(told, fmt.Sprint(e.Call, " ", e.Attempt, " ", string(text)))
			}
		}})
		late(tool.Progress{Done: 4})
		want := []string{`slow 1 {"done":1,"total":9,"message":"begun"}`, `slow 1 {"done":3}`}
		if !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		for _, e := range record.events {
			if e.Type == exec.CallProgress {
				t.Error("it is recorded")
			}
		}
	})
}

func TestStoppingTheIteratorCancelsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		prog := program(t, `[{"_tool":"l"}]`, tools{"l": takes(time.Hour)})
		begun := time.Now()
		for e := range exec.Events(t.Context(), prog, nil) {
			if e.Type == exec.CallStarted {
				break
			}
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("it took %s to stop", took)
		}
	})
}

func TestOutput(t *testing.T) {
	for _, c := range []struct {
		name, doc string
		status    exec.Status
		output    string
	}{
		{"null is none", `{"calls":[{"_tool":"one"}],"output":null}`, exec.Completed, ""},
		{"expressions are resolved", `{"calls":[{"_tool":"one","_outputPath":"†state.x"}],"output":{"a":"†state.x","b":["†{state.x}!"]}}`, exec.Completed, `{"a":1,"b":["1!"]}`},
		{"what can't come fails the run", `{"calls":[{"_tool":"one","_when":"†input.no","_outputPath":"†state.x"}],"output":"†state.x"}`, exec.Failed, ""},
		{"a schema that it breaks fails the run", `{"context":[],"schema":{"type":"string"},"solution":{"calls":[{"_tool":"one","_outputPath":"†state.x"}],"output":"†state.x"}}`, exec.Failed, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := run(t, program(t, c.doc, tools{"one": gives("1")}, withInput(`{"no":false}`)), nil)
			if res.Status != c.status || string(res.Output) != c.output {
				t.Errorf("%s with %s, want %s with %s", res.Status, res.Output, c.status, c.output)
			}
		})
	}
}

func TestFinalStateMustMeetItsSchema(t *testing.T) {
	schema := func(o *compile.Options) {
		o.Schemas = map[string]compile.Given{"state": {JSON: []byte(`{"type":"object","required":["x","y"],"properties":{"x":{"type":"integer"},"l":{"type":"array","items":{"type":"string"}}}}`)}}
	}
	res := run(t, program(t, `[{"_tool":"one","_outputPath":"†state.x"}]`, tools{"one": gives("1")}, schema), nil)
	if res.Status != exec.Failed || len(res.Findings) != 1 || res.Findings[0].Code != diag.BadResult {
		t.Errorf("%s %v", res.Status, res.Findings)
	}
	res = run(t, program(t, `[{"_tool":"one","_outputPath":"†state.l","_outputMethod":"push","_onFailure":"skip"},{"_tool":"text","_outputPath":"†state.l","_outputMethod":"push"},{"_tool":"text","_outputPath":"†state.x","_onFailure":"skip"}]`,
		tools{"one": gives("1"), "text": gives(`"t"`)}, schema), nil)
	if string(res.State) != `{"l":["t"]}` || statuses(res) != "one:skipped text:completed text-2:skipped" {
		t.Errorf("state %s, %s", res.State, statuses(res))
	}
}

func TestLenientReferences(t *testing.T) {
	prog := program(t, `[{"_tool":"o","_outputPath":"†state.o"},{"_tool":"e","a":"†state.o.x","b":"<†{state.o.x}>","_outputPath":"†state.r"}]`,
		tools{"o": gives("{}"), "e": echo}, func(o *compile.Options) { o.Refs = compile.LenientRefs })
	res := run(t, prog, nil)
	if canonical(t, res.State) != `{"o":{},"r":{"a":"","b":"\u003c\u003e"}}` || res.Findings.Count(diag.Warning) != 2 {
		t.Errorf("state %s, findings %v", res.State, res.Findings)
	}
}

func TestAProgramRunsManyTimesAtOnce(t *testing.T) {
	prog := program(t, `[{"_tool":"e","v":"†input.v","_outputPath":"†state.x"},{"_tool":"e","v":"†state.x","_outputPath":"†state.l","_outputMethod":"push"}]`,
		tools{"e": echo}, withInput(`{"v":1}`))
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if res := run(t, prog, nil); string(res.State) != `{"x":{"v":1},"l":[{"v":{"v":1}}]}` {
				t.Errorf("state %s", res.State)
			}
		})
	}
	wg.Wait()
}
