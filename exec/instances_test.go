package exec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// template makes a program one that runs for each instance.
func template(prog *compile.Program, names ...string) *compile.Program {
	prog.Template = true
	for i, name := range names {
		prog.Instances = append(prog.Instances, *instance(name, i))
	}
	return prog
}

// instance is an instance whose input has a number.
func instance(name string, n int) *compile.Instance {
	return &compile.Instance{Name: name, Own: map[string]json.RawMessage{"input": fmt.Appendf(nil, `{"n":%d}`, n)}}
}

// many are instances that come one by one.
func many(n int) iter.Seq2[*compile.Instance, error] {
	return func(yield func(*compile.Instance, error) bool) {
		for i := range n {
			if !yield(instance(fmt.Sprint("i", i), i), nil) {
				return
			}
		}
	}
}

func openInput(o *compile.Options) { o.Run = false }

func told(all []exec.InstanceResult) string {
	var s []string
	for _, r := range all {
		s = append(s, fmt.Sprintf("%s:%s:%s", r.Name, r.Status, r.State))
	}
	return strings.Join(s, " ")
}

func TestInstancesOfATemplate(t *testing.T) {
	ts := tools{"d": double, "e": echo}
	plan := `[{"type":"input","input":{"base":{"a":1},"n":0}},{"type":"state","state":{"l":[0]}},
		{"type":"plan","plan":[{"_tool":"d","n":"†input.n","_outputPath":"†state.l","_outputMethod":"push"}]}]`
	for _, schedule := range []exec.Schedule{exec.Parallel, exec.Sequential} {
		prog := template(program(t, plan, ts, openInput), "a", "b", "c", "d")
		prog.Instances[1].Own["state"] = json.RawMessage(`{"l":[9],"x":1}`)
		var events []string
		res := run(t, prog, &exec.Options{Schedule: schedule, Instances: many(2), OnEvent: func(e *exec.Event) {
			if e.Type == exec.InstanceFinished || e.Type == exec.CallFailed {
				events = append(events, e.Instance+e.Call)
			}
		}})
		want := `a:completed:{"l":[0,0]} b:completed:{"l":[9,2],"x":1} c:completed:{"l":[0,4]} d:failed:{"l":[0]} i0:completed:{"l":[0,0]} i1:completed:{"l":[0,2]}`
		if got := told(res.Instances); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if res.Status != exec.Failed || res.Reason != "1 of 6 instances failed" || len(res.Calls) != 0 || string(res.State) != `{"l":[0]}` {
			t.Errorf("%s %s: %s", res.Status, res.Reason, res.State)
		}
		if r := res.Instances[3].Reason; r != `"d" failed: odd: not 3` {
			t.Errorf("reason %s", r)
		}
		slices.Sort(events)
		if got := strings.Join(events, " "); got != "a b c d dd i0 i1" {
			t.Errorf("events %s", got)
		}
	}
}

func TestInstancesThatAreWrong(t *testing.T) {
	ts := tools{"e": echo}
	plan := `[{"type":"input","schema":{"properties":{"n":{"type":"integer"}},"required":["n"]},"input":{"n":1}},
		{"type":"state","schema":{"properties":{"v":{"type":"string"},"late":{}},"required":["late"],"additionalProperties":false},"state":{}},
		{"type":"plan","plan":[{"_tool":"e","v":"†input.n"},{"_tool":"e","_outputPath":"†state.late"}]}]`
	own := func(kind, v string) *compile.Instance {
		return &compile.Instance{Name: kind + v, Own: map[string]json.RawMessage{kind: json.RawMessage(v)}}
	}
	all := []*compile.Instance{
		own("input", `{"n":"x"}`), own("state", `{"v":"ok"}`), own("state", `{"v":1}`), own("state", `{"w":1}`),
		own("other", `{}`), own("input", `[]`), own("input", `{`), {}, own("state", `{"v":"ok"}`), own("input", `{"n":2}`),
	}
	seq := func(yield func(*compile.Instance, error) bool) {
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
		yield(nil, errors.New("line 11: not JSON"))
	}
	res := run(t, template(program(t, plan, ts)), &exec.Options{Instances: seq})
	var got []string
	for _, r := range res.Instances {
		got = append(got, string(r.Status))
	}
	if want := "failed completed failed failed failed failed failed failed failed completed"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for i, want := range map[int]string{
		0: "the input breaks its schema", 2: "the state breaks its schema at", 3: `does not allow "w"`, 4: `there is no kind "other"`,
		5: "must be an object", 6: "is not JSON", 7: "it has no name", 8: "names must be unique",
	} {
		if r := res.Instances[i]; !strings.Contains(r.Reason, want) || len(r.Findings) != 1 || r.Findings[0].Code != diag.BadInput {
			t.Errorf("%s: %s %v, want %s", r.Name, r.Reason, r.Findings, want)
		}
	}
	if res.Status != exec.Failed || res.Reason != "the instances can't be read: line 11: not JSON" {
		t.Errorf("%s %s", res.Status, res.Reason)
	}
}

// An instance that comes with an error has failed, for that reason; the others go on, also one
// of the same name, and the run knows of it.
func TestInstancesThatComeWithAnError(t *testing.T) {
	ts := tools{"d": double}
	prog := template(program(t, `[{"_tool":"d","n":"†input.n"}]`, ts, withInput(`{"n":0}`)))
	seq := func(yield func(*compile.Instance, error) bool) {
		_ = yield(instance("a", 0), nil) &&
			yield(instance("a", 1), errors.New("line 2: the name of line 1")) &&
			yield(&compile.Instance{Name: "3"}, errors.New("line 3: not JSON")) &&
			yield(instance("b", 2), nil)
	}
	var ended []string
	res := run(t, prog, &exec.Options{Instances: seq, OnEvent: func(e *exec.Event) {
		if e.Type == exec.InstanceFinished {
			ended = append(ended, e.Instance+" "+string(e.Status))
		}
	}})
	var got []string
	for _, r := range res.Instances {
		got = append(got, fmt.Sprintf("%s %s %s", r.Name, r.Status, r.Reason))
	}
	if want := "a completed |a failed line 2: the name of line 1|3 failed line 3: not JSON|b completed "; strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	if res.Status != exec.Failed || res.Reason != "2 of 4 instances failed" {
		t.Errorf("%s %s", res.Status, res.Reason)
	}
	slices.Sort(ended) // of two by one name, the event is that of the first
	if got := strings.Join(ended, ", "); got != "3 failed, a completed, b completed" {
		t.Errorf("events: %s", got)
	}
	res = run(t, prog, &exec.Options{Instances: seq, FailFast: true, Schedule: exec.Sequential})
	if res.Reason != `instance "a": line 2: the name of line 1` || len(res.Instances) != 2 {
		t.Errorf("%s: %d", res.Reason, len(res.Instances))
	}
}

// However many come, few are there at once, and slots stay full.
func TestManyInstances(t *testing.T) {
	const n, slots = 5000, 4
	var taken, ended, most, running, mostRunning atomic.Int64
	ts := tools{"e": func(ctx context.Context, req *tool.Request) (tool.Result, error) {
		if now := running.Add(1); now > mostRunning.Load() {
			mostRunning.Store(now)
		}
		runtime.Gosched()
		running.Add(-1)
		return echo(ctx, req)
	}}
	prog := template(program(t, `[{"_tool":"e","v":"†input.n","_outputPath":"†state.a"},{"_tool":"e","v":"†state.a"},{"_tool":"e","v":"†state.a"}]`, ts, withInput(`{"n":0}`)))
	seq := func(yield func(*compile.Instance, error) bool) {
		for one := range many(n) {
			if now := taken.Add(1) - ended.Load(); now > most.Load() {
				most.Store(now)
			}
			if !yield(one, nil) {
				return
			}
		}
	}
	at := 0
	res := run(t, prog, &exec.Options{MaxParallel: slots, MaxBytes: 1 << 12, Instances: seq, OnInstance: func(r *exec.InstanceResult) {
		at++
		if r.Status != exec.Completed {
			t.Errorf("%s %s", r.Status, r.Reason)
		}
		ended.Add(1)
	}})
	if res.Status != exec.Completed || at != n || res.Instances == nil || len(res.Instances) != 0 {
		t.Errorf("%s %s: %d", res.Status, res.Reason, at)
	}
	if most.Load() > 2*slots+2 || mostRunning.Load() > slots {
		t.Errorf("%d instances at once, %d calls", most.Load(), mostRunning.Load())
	}
}

func TestFailFast(t *testing.T) {
	ts := tools{"d": double}
	prog := template(program(t, `[{"_tool":"d","n":"†input.n"}]`, ts, withInput(`{"n":0}`)), "a")
	res := run(t, prog, &exec.Options{Schedule: exec.Sequential, FailFast: true, Instances: many(1000)})
	if res.Status != exec.Failed || res.Reason != `instance "i3": "d" failed: odd: not 3` || len(res.Instances) != 5 {
		t.Errorf("%s %s: %d", res.Status, res.Reason, len(res.Instances))
	}
}

func TestInstancesThatWaitForAPerson(t *testing.T) {
	ts := tools{"d": double}
	prog := template(program(t, `[{"_tool":"d","n":"†input.n","_approve":true}]`, ts, withInput(`{"n":0}`)), "a", "b", "c", "d", "e")
	res := run(t, prog, &exec.Options{MaxParallel: 2, Instances: many(100)})
	if res.Status != exec.Paused || res.Reason != `instance "a": "d" waits for approval: the plan asks for approval` {
		t.Errorf("%s %s", res.Status, res.Reason)
	}
	if got := told(res.Instances); got != `a:paused:{} b:paused:{} c:paused:{} d:paused:{} e:pending:` {
		t.Error(got)
	}
}

func TestCancelInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ts := tools{"slow": takes(time.Second)}
		prog := template(program(t, `[{"_tool":"slow","_id":"a"},{"_tool":"slow","_dependsOn":["a"]}]`, ts, withInput(`{"n":0}`)))
		ctx, cancel := context.WithTimeout(t.Context(), 4500*time.Millisecond)
		defer cancel()
		res, err := exec.Run(ctx, prog, &exec.Options{MaxParallel: 2, Instances: many(1 << 40)})
		if err != nil {
			t.Fatal(err)
		}
		n := map[exec.Status]int{}
		for _, r := range res.Instances {
			n[r.Status]++
		}
		if res.Status != exec.Cancelled || n[exec.Completed] != 4 || n[exec.Cancelled] == 0 || n[exec.Cancelled] > 4 || len(n) != 2 {
			t.Errorf("%s %v", res.Status, n)
		}

		// The caller's iterator waits for more when the run is cancelled: nobody waits for it.
		more := make(chan bool)
		ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		begun := time.Now()
		res, _ = exec.Run(ctx, prog, &exec.Options{Instances: func(yield func(*compile.Instance, error) bool) {
			for one, err := range many(3) {
				if !yield(one, err) {
					return
				}
			}
			<-more
			yield(instance("late", 1), nil)
		}})
		if res.Status != exec.Cancelled || len(res.Instances) != 3 || time.Since(begun) != 5*time.Second {
			t.Errorf("%s after %s: %s", res.Status, time.Since(begun), told(res.Instances))
		}
		close(more)
	})
}

// Calls that name instances work on a layer each; nothing of one shows in another, and the
// global values show in all.
func TestCallsOfInstances(t *testing.T) {
	ts := tools{"e": echo, "one": gives(`1`), "bad": fails("x")}
	plan := `[{"type":"state","state":{"shared":{"v":1,"w":2},"deep":{"on":5}}},
		{"type":"state","_instance":"a","state":{"shared":{"v":10},"mine":"a"}},
		{"type":"state","_instance":"b","state":{"mine":"b","deep":7}},
		{"type":"input","_instance":"b","input":{"q":1}},
		{"type":"plan","plan":[
			{"_tool":"one","_id":"g","_outputPath":"†state.shared.g"},
			{"_tool":"e","_id":"sa","_instance":"a","v":"†state.shared","m":"†state.mine","_outputPath":"†state.saw"},
			{"_tool":"e","_id":"sb","_instance":"b","v":"†state.shared","m":"†state.mine","d":"†state.deep","q":"†input.q","_outputPath":"†state.saw"},
			{"_tool":"e","_id":"under","_instance":"b","v":"†state.deep.on || 'hidden'","_outputPath":"†state.under"},
			{"_tool":"one","_id":"wa","_instance":"a","_outputPath":"†state.shared.v"},
			{"_tool":"e","_id":"after","v":"†state.shared","_outputPath":"†state.global"},
			{"_tool":"e","_id":"scoped","_instance":"a","_scopes":["†state.mine"],"_outputPath":"†state.s"},
			{"_tool":"bad","_id":"fails","_instance":"b","_onFailure":"continue"}
		]}]`
	for _, schedule := range []exec.Schedule{exec.Parallel, exec.Sequential} {
		var scopes string
		ts["e"] = func(ctx context.Context, req *tool.Request) (tool.Result, error) {
			if req.Call == "scoped" {
				scopes = string(req.Scopes)
			}
			return echo(ctx, req)
		}
		var events []string
		res := run(t, program(t, plan, ts), &exec.Options{Schedule: schedule, OnEvent: func(e *exec.Event) {
			if e.Type == exec.Written {
				events = append(events, e.Instance+e.Path)
			}
		}})
		if got, want := string(res.State), `{"shared":{"v":1,"w":2,"g":1},"deep":{"on":5},"global":{"v":{"v":1,"w":2,"g":1}}}`; got != want {
			t.Errorf("global\n%s\n%s", got, want)
		}
		want := []string{
			`{"shared":{"v":1,"w":2,"g":1},"deep":{"on":5},"global":{"v":{"v":1,"w":2,"g":1}},"mine":"a","saw":{"v":{"v":10,"w":2,"g":1},"m":"a"},"s":{}}`,
			`{"shared":{"v":1,"w":2,"g":1},"deep":7,"global":{"v":{"v":1,"w":2,"g":1}},"mine":"b","saw":{"v":{"v":1,"w":2,"g":1},"m":"b","d":7,"q":1},"under":{"v":"hidden"}}`,
		}
		if len(res.Instances) != 2 {
			t.Fatalf("%d instances: %s %s", len(res.Instances), res.Status, res.Reason)
		}
		for i, r := range res.Instances {
			if got := string(r.State); got != want[i] {
				t.Errorf("%s\n%s\n%s", r.Name, got, want[i])
			}
		}
		if a, b := res.Instances[0], res.Instances[1]; a.Status != exec.Completed || len(a.Calls) != 3 || b.Status != exec.Failed || b.Reason != `"fails" failed: x: no` || b.Calls[0].Instance != "b" {
			t.Errorf("%+v\n%+v", a, b)
		}
		if scopes != `{"state":{"mine":"a"}}` {
			t.Errorf("scopes %s", scopes)
		}
		slices.Sort(events)
		if got := strings.Join(events, " "); got != "a†state.s a†state.saw a†state.shared.v b†state.saw b†state.under †state.global †state.shared.g" {
			t.Errorf("events %s", got)
		}
	}
}
