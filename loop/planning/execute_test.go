package planning_test

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

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/tool"
)

// slow are tools that take this long, by name, and fail as often as broken says; with what was
// going on when each was begun.
func slow(t testing.TB, times map[string]time.Duration, broken map[string]int, begun *[]string) *tool.Catalogue {
	var mu sync.Mutex
	going := 0
	var list []*tool.Tool
	for name, d := range times {
		def, findings := tool.ParseDefinition([]byte(`{"type":"object","effects":{"readOnly":true}}`), name, diag.Loc{})
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		list = append(list, &tool.Tool{Definition: def, Activity: tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
			mu.Lock()
			going++
			*begun = append(*begun, fmt.Sprintf("%s/%d", req.Call, going))
			fail := broken[req.Tool] > 0
			broken[req.Tool]--
			mu.Unlock()
			defer func() { mu.Lock(); going--; mu.Unlock() }()
			select {
			case <-time.After(d):
			case <-ctx.Done():
				return tool.Result{}, ctx.Err()
			}
			if fail {
				return tool.Result{}, errors.New("boom")
			}
			return tool.Result{Value: json.RawMessage(`"` + req.Call + `"`)}, nil
		})})
	}
	return tool.NewCatalogue(list...)
}

func do(id, tool string, deps ...string) string {
	raw, _ := json.Marshal(append([]string{}, deps...))
	return step(id, tool, `{}`, string(raw))
}

func TestModes(t *testing.T) {
	six := plan(do("a", "t"), do("b", "t"), do("c", "t"), do("d", "t"), do("e", "t", "a", "b"), do("f", "t", "e"))
	for _, c := range []struct {
		name string
		opts planning.Options
		plan string
		took time.Duration // 0: depends on which of two steps that end at once frees its slot first
		want string        // each step, and how many went on when it had begun
	}{
		{"sequential", planning.Options{}, six, 6 * time.Second, "a/1 b/1 c/1 d/1 e/1 f/1"},
		{"in the order of dependencies", planning.Options{}, plan(do("a", "t", "b"), do("b", "t"), do("c", "t")), 3 * time.Second, "b/1 a/1 c/1"},
		{"parallel", planning.Options{ExecutionMode: planning.Parallel}, six, 3 * time.Second, "a/1 b/2 c/3 d/3 e/2 f/1"},
		{"two at once", planning.Options{ExecutionMode: planning.Parallel, MaxParallel: 2}, six, 0, ""},
		{"adaptive", planning.Options{ExecutionMode: planning.Adaptive}, six, 3 * time.Second, ""},
		{"adaptive, of a chain", planning.Options{ExecutionMode: planning.Adaptive}, plan(do("a", "t"), do("b", "t", "a"), do("c", "t", "b")), 3 * time.Second, "a/1 b/1 c/1"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var begun []string
			p, _ := planning.New(&c.opts)
			at := time.Now()
			r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Planner: loop.Say(c.plan), Catalogue: slow(t, map[string]time.Duration{"t": time.Second}, map[string]int{}, &begun)}, "")
			took := c.took
			if took == 0 {
				took = time.Since(at)
			}
			if err != nil || !r.Success || time.Since(at) != took || r.ExecutionTime != took {
				t.Fatalf("%s: %v, %+v, after %s", c.name, err, r, time.Since(at))
			}
			most := 0
			for _, b := range begun {
				most = max(most, int(b[len(b)-1]-'0'))
			}
			if limit := max(c.opts.MaxParallel, 1); c.opts.ExecutionMode == planning.Parallel && c.opts.MaxParallel > 0 && most > limit {
				t.Errorf("%s: %d at once", c.name, most)
			}
			if got := strings.Join(begun, " "); c.want != "" && c.opts.ExecutionMode != planning.Parallel && got != c.want || most > 3 {
				t.Errorf("%s: %s", c.name, got)
			}
		})
	}
}

// After a failure the adaptive mode goes on one at a time until a step succeeds.
func TestAdaptiveAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun []string
		p, _ := planning.New(&planning.Options{ExecutionMode: planning.Adaptive, ContinueOnFailure: true, AllowRevision: new(false), RetryFailedSteps: new(0)})
		tools := slow(t, map[string]time.Duration{"t": time.Second, "bad": time.Second / 2}, map[string]int{"bad": 9}, &begun)
		text := plan(do("x", "bad"), do("a", "t"), do("b", "t"), do("c", "t"), do("d", "t"), do("e", "t"), do("f", "t"))
		r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Planner: loop.Say(text), Catalogue: tools}, "")
		if err != nil || r.Success {
			t.Fatal(err, r)
		}
		// Three are begun at once, x among them. When it has failed nothing is begun until those
		// are done; then one alone, and after it three again.
		got := strings.Join(begun, " ")
		if len(begun) != 7 || begun[3] != "c/1" || !strings.HasSuffix(begun[2], "/3") || !strings.HasSuffix(begun[4], "/1") || !strings.HasSuffix(begun[6], "/3") {
			t.Error(got)
		}
	})
}

// An attempt has its time; a step that has none left is tried again, then its fallback.
func TestStepTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun []string
		p, _ := planning.New(&planning.Options{StepTimeout: 2 * time.Second, AllowRevision: new(false)})
		tools := slow(t, map[string]time.Duration{"t": time.Hour, "quick": time.Second}, map[string]int{}, &begun)
		at := time.Now()
		r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Planner: loop.Say(plan(step("a", "t", `{}`, `[]`, `"fallback_action":"quick"`))), Catalogue: tools}, "")
		if err != nil || !r.Success || time.Since(at) != 5*time.Second || !r.StepResults["a"].UsedFallback || len(begun) != 3 {
			t.Errorf("%v %+v after %s: %v", err, r, time.Since(at), begun)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		var begun []string
		p, _ := planning.New(&planning.Options{AllowRevision: new(false), RetryFailedSteps: new(2), RetryDelay: time.Second})
		tools := slow(t, map[string]time.Duration{"t": time.Hour}, map[string]int{}, &begun)
		at := time.Now()
		r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Planner: loop.Say(plan(do("a", "t"))), Catalogue: tools}, "")
		// Three times a minute, and between them 1 and 1.5 seconds.
		if err != nil || r.Success || time.Since(at) != 182500*time.Millisecond || !strings.HasPrefix(r.Error, `step "a" failed: timeout`) {
			t.Errorf("%v %+v after %s: %v", err, r, time.Since(at), begun)
		}
	})
}

// References between steps, and what they come to.
func TestReferences(t *testing.T) {
	for _, c := range []struct{ name, params, want string }{
		{"whole", `{"v":"{{a}}"}`, `{"v":{"list":[1.50,{"x":"y"}],"none":null}}`},
		{"a part keeps its type and its digits", `{"v":"{{a.list.0}}"}`, `{"v":1.50}`},
		{"deep", `{"v":["{{a.list.1.x}}"]}`, `{"v":["y"]}`},
		{"in text", `{"v":"n is {{a.list.0}}, x is {{ a.list.1 }}"}`, `{"v":"n is 1.50, x is {\"x\":\"y\"}"}`},
		{"nothing there", `{"v":"{{a.nothing.at.all}}"}`, `{"v":""}`},
		{"nothing there, in text", `{"v":"<{{a.list.7}}>"}`, `{"v":"<>"}`},
		{"null", `{"v":"{{a.none}}"}`, `{"v":null}`},
		{"of the input", `{"v":"{{city}}"}`, `{"v":"Paris"}`},
		{"no reference", `{"v":"{{a list}} {a} †state.a"}`, `{"v":"{{a list}} {a} †state.a"}`},
	} {
		var got string
		give := tool.Func("give", "It gives.", func(context.Context, struct{}) (json.RawMessage, error) {
			return json.RawMessage(`{"list":[1.50,{"x":"y"}],"none":null}`), nil
		})
		def, _ := tool.ParseDefinition([]byte(`{"type":"object"}`), "take", diag.Loc{})
		take := &tool.Tool{Definition: def, Activity: tool.ActivityFunc(func(_ context.Context, req *tool.Request) (tool.Result, error) {
			got = string(req.Params)
			return tool.Result{}, nil
		})}
		give.Definition.Output = nil
		p, _ := planning.New(nil)
		r, err := p.Execute(t.Context(), &loop.Task{Context: json.RawMessage(`[{"type":"input","input":{"city":"Paris"}}]`), Catalogue: tool.NewCatalogue(give, take),
			Planner: loop.Say(plan(step("b", "take", c.params, `[]`), step("a", "give", `{}`, `[]`)))}, "G")
		if err != nil || !r.Success || got != c.want {
			t.Errorf("%s: %v %s: %s", c.name, err, r.Error, got)
		}
	}
}

// The final output is that of the one step that no other needs.
func TestFinalOutput(t *testing.T) {
	for _, c := range []struct {
		name    string
		opts    planning.Options
		schema  string
		plan    string
		answers []string
		want    string // "" is none
	}{
		{"one sink", planning.Options{}, "", plan(do("a", "t"), do("b", "t", "a")), nil, `b`},
		{"two sinks", planning.Options{}, "", plan(do("a", "t"), do("b", "t")), nil, ""},
		{"two sinks, synthesized", planning.Options{Synthesize: true}, "", plan(do("a", "t"), do("b", "t")), []string{"All is well."}, "All is well."},
		{"one sink needs no synthesis", planning.Options{Synthesize: true}, "", plan(do("a", "t")), nil, "a"},
		{"as the schema says", planning.Options{}, `{"type":"string"}`, plan(do("a", "t")), nil, "a"},
		{"not as the schema says", planning.Options{}, `{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, plan(do("a", "t")), []string{"one", `{"n":"one"}`, `{"n":1}`}, `{"n":1}`},
		{"a reference is a need", planning.Options{}, "", plan(do("a", "t"), step("b", "t", `{"x":"{{a}}"}`, `[]`)), nil, "b"},
	} {
		var begun []string
		p, _ := planning.New(&c.opts)
		task := &loop.Task{Goal: "G", Planner: loop.Say(append([]string{c.plan}, c.answers...)...), Catalogue: slow(t, map[string]time.Duration{"t": 0}, map[string]int{}, &begun)}
		if c.schema != "" {
			task.Schema = json.RawMessage(c.schema)
		}
		r, err := p.Execute(t.Context(), task, "")
		if err != nil || !r.Success || (r.FinalOutput == nil) != (c.want == "") || r.FinalOutput != nil && *r.FinalOutput != c.want {
			t.Errorf("%s: %v %+v", c.name, err, r)
		}
	}
}

func TestJudgement(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []string
		err     string
	}{
		{"met", []string{`{"met":true,"reason":""}`}, ""},
		{"not met", []string{`{"met":false,"reason":"no price is given"}`}, "the success criteria are not met: no price is given"},
		{"prose, then met", []string{"I think so.", `{"met":true,"reason":""}`}, ""},
		{"nothing said, then not met", []string{`{"reason":"?"}`, `{"met":false}`}, "the success criteria are not met"},
	} {
		var d desk
		r, _ := executed(t, &planning.Options{JudgeSuccess: true}, &d, append([]string{plan(step("a", "web_search", `{"q":"1"}`, `[]`))}, c.answers...)...)
		if r.Error != c.err || r.Success != (c.err == "") || r.StepResults["a"].Status != planning.Completed || r.FinalOutput == nil {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

func TestDryRun(t *testing.T) {
	text := plan(do("c", "t", "a", "b"), do("a", "t"), do("b", "t"), step("d", "t", `{"x":"{{c}}"}`, `[]`))
	var begun []string
	task := &loop.Task{Goal: "G", Planner: loop.Say(text), Catalogue: slow(t, map[string]time.Duration{"t": 0}, map[string]int{}, &begun)}
	res, err := planning.Solve(t.Context(), task, &planning.Options{DryRun: true})
	if err != nil || res.Status != exec.Completed || string(res.Output) != `{"order":["a","b","c","d"],"levels":[["a","b"],["c"],["d"]]}` || len(begun) > 0 {
		t.Errorf("%v %+v", err, res)
	}
}

// What callbacks see, in a sequential execution: the state beside them is that of the moment.
func TestCallbacks(t *testing.T) {
	var log []string
	var p *planning.Pattern
	note := func(what string) {
		s := p.GetExecutionState()
		var list []string
		for _, id := range []string{"a", "b", "c"} {
			list = append(list, string(s.StepStatuses[id]))
		}
		log = append(log, fmt.Sprintf("%s [%s] %s", what, strings.Join(list, " "), s.CurrentStep))
	}
	d := desk{broken: map[string]int{"read_file": 2, "archive": 1}}
	opts := &planning.Options{Callbacks: planning.Callbacks{
		OnStepStart: func(_ context.Context, s *planning.PlanStep) { note("start " + s.ID) },
		OnStepComplete: func(_ context.Context, s *planning.PlanStep, r *planning.StepResult) {
			note(fmt.Sprintf("end %s %s %d %v", s.ID, r.Status, r.Attempts, r.UsedFallback))
		},
		OnRevisionNeeded: func(_ context.Context, s *planning.ExecutionState, reason string) (planning.RevisionDecision, error) {
			note("revise: " + reason)
			return planning.DecideContinue, nil
		},
	}}
	p, _ = planning.New(opts)
	if p.GetExecutionState() != nil || p.GetPlan() != nil {
		t.Error("there is something before anything was done")
	}
	r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: loop.Say(plan(
		step("a", "web_search", `{"q":"1"}`, `[]`), step("b", "read_file", `{"q":"{{a.text}}"}`, `["a"]`, `"fallback_action":"archive"`), step("c", "write_file", `{"text":"{{b.text}}"}`, `[]`)))}, "")
	if err != nil || r.Success {
		t.Fatal(err, r)
	}
	want := []string{
		"start a [pending blocked blocked] ",
		"end a completed 1 false [completed pending blocked] ",
		"start b [completed pending blocked] ",
		"end b failed 2 true [completed failed blocked] ",
		`revise: step "b" failed: down: read_file is down [completed failed pending] `,
	}
	if !slices.Equal(log, want) {
		t.Errorf("%s", strings.Join(log, "\n"))
	}
	if got := statuses(r); got != "a completed, b failed, c skipped" || r.StepResults["c"].Reason != planning.DependencyFailure || r.Error != `step "b" failed: down: read_file is down` {
		t.Errorf("%s %+v %s", got, r.StepResults["c"], r.Error)
	}
	if p.GetPlan() == nil || p.GetExecutionState().CompletedAt == nil {
		t.Error("nothing is there afterwards")
	}
}

// Cancelling, and the time of the task: what was done is kept.
func TestCutShort(t *testing.T) {
	for _, c := range []struct {
		name   string
		opts   loop.Options
		cancel time.Duration
		status exec.Status
		err    string
	}{
		{"cancelled", loop.Options{}, 90 * time.Second, exec.Cancelled, "the loop was cancelled"},
		{"out of time", loop.Options{MaxTime: 90 * time.Second}, time.Hour, exec.Failed, "the task took longer than 1m30s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var begun []string
			p, _ := planning.New(&planning.Options{Loop: c.opts, StepTimeout: time.Hour})
			ctx, stop := context.WithTimeout(t.Context(), c.cancel)
			defer stop()
			r, err := p.Execute(ctx, &loop.Task{Goal: "G", Planner: loop.Say(plan(do("a", "t"), do("b", "t"), do("c", "t"))), Catalogue: slow(t, map[string]time.Duration{"t": time.Minute}, map[string]int{}, &begun)}, "")
			if err != nil || r.Status != c.status || r.Error != c.err || r.StepResults["a"].Status != planning.Completed || r.StepResults["c"] != nil {
				t.Errorf("%s: %v %+v %s", c.name, err, r, statuses(r))
			}
		})
	}
}

// Nobody approves a step: the execution waits.
func TestStepApproval(t *testing.T) {
	def, _ := tool.ParseDefinition([]byte(`{"type":"object","effects":{"destructive":true}}`), "rm", diag.Loc{})
	calls := 0
	rm := &tool.Tool{Definition: def, Activity: tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) { calls++; return tool.Result{}, nil })}
	for _, c := range []struct {
		approver func(context.Context, *exec.Question) (exec.Answer, error)
		status   exec.Status
		calls    int
	}{
		{nil, exec.Paused, 0},
		{func(context.Context, *exec.Question) (exec.Answer, error) { return exec.Answer{}, nil }, exec.Failed, 0},
		{func(context.Context, *exec.Question) (exec.Answer, error) { return exec.Answer{Approved: true}, nil }, exec.Completed, 1},
	} {
		calls = 0
		p, _ := planning.New(&planning.Options{AllowRevision: new(false), Loop: loop.Options{Exec: exec.Options{Approver: c.approver}}})
		r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Planner: loop.Say(plan(do("a", "rm"))), Catalogue: tool.NewCatalogue(rm)}, "")
		if err != nil || r.Status != c.status || calls != c.calls {
			t.Errorf("%v %+v, called %d times", err, r, calls)
		}
	}
}

// What an execution costs grows with its plan.
func BenchmarkExecute(b *testing.B) {
	for _, n := range []int{20, 200, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var steps []string
			for i := range n {
				s := step(fmt.Sprint("s", i), "web_search", `{"q":"x"}`, `[]`)
				if i > 0 {
					s = step(fmt.Sprint("s", i), "web_search", fmt.Sprintf(`{"q":"{{s%d.text}}"}`, i-1), fmt.Sprintf(`["s%d"]`, i-1))
				}
				steps = append(steps, s)
			}
			text := read(b, strings.ReplaceAll(plan(steps...), `.text}}`, `.nothing}}`))
			var d desk
			p, err := planning.New(&planning.Options{MaxSteps: n})
			if err != nil {
				b.Fatal(err)
			}
			task := &loop.Task{Goal: "G", Catalogue: d.tools(b)}
			b.ReportAllocs()
			for b.Loop() {
				d.calls = nil
				if r, err := p.ExecutePlan(b.Context(), task, text); err != nil || !r.Success {
					b.Fatal(err, r)
				}
			}
		})
	}
}
