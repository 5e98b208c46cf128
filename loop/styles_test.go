package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/agentframework"
	"github.com/plc-lang/plc/loop/flux"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/loop/tea"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// style is a loop, and an answer of its model that calls the tool "work" with n from 0 to 9, all
// at once.
type style struct {
	name   string
	solve  func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error)
	answer func() model.Reply
}

// each is a text for each n, as a list.
func each(format string) string {
	var list []string
	for n := range 10 {
		list = append(list, strings.ReplaceAll(format, "N", fmt.Sprint(n)))
	}
	return strings.Join(list, ",")
}

func says(text string) func() model.Reply {
	return func() model.Reply { return model.Reply{Text: text} }
}

func styles() []style {
	return []style{
		{"plan", loop.Solve, says(`{"calls":[` + each(`{"_tool":"work","_id":"cN","n":N}`) + `]}`)},
		{"flux", func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
			return flux.Solve(ctx, task, &flux.Options{Planning: true, Loop: o})
		}, func() (r model.Reply) {
			for n := range 10 {
				r.Calls = append(r.Calls, model.FunctionCall{ID: fmt.Sprint("call_", n), Name: "work", Params: fmt.Sprintf(`{"n":%d}`, n)})
			}
			return r
		}},
		{"agentframework", func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
			return agentframework.Solve(ctx, task, &agentframework.Options{Loop: o})
		}, says(`{"kind":"submit_plan","plan":[` + each(`{"id":"sN","kind":"call_tool","tool_name":"work","parameters":{"n":N}}`) + `]}`)},
		{"planning", func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
			return planning.Solve(ctx, task, &planning.Options{Loop: *o, ExecutionMode: planning.Parallel, MaxParallel: 1})
		}, says(`{"goal":"g","steps":[` + each(`{"id":"sN","action":"work","parameters":{"n":N},"dependencies":[]}`) + `]}`)},
		{"tea", func(ctx context.Context, task *loop.Task, o *loop.Options) (*loop.Result, error) {
			return tea.Solve(ctx, task, &tea.Options{Loop: o, Execute: tea.ExecuteParams{
				Parallel: true, MaxConcurrent: 10, SubtaskExecutor: &tea.Executor{Action: "work", With: json.RawMessage(`{"n":"{{ subtask.id }}"}`)},
			}})
		}, says(`{"subtasks":[` + each(`{"id":"sN","description":"d"}`) + `]}`)},
	}
}

// work is a tool that uses up a token and costs 1, and how often it was called.
func work(t *testing.T) (catalogue *tool.Catalogue, made *int) {
	t.Helper()
	d, findings := tool.ParseDefinition(json.RawMessage(`{"properties":{"n":{}}}`), "work", diag.Loc{})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	made = new(int)
	return tool.NewCatalogue(&tool.Tool{Definition: d, Source: "go", Driver: "go", Activity: tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) {
		*made++
		return tool.Result{Value: json.RawMessage("1"), Usage: tool.Usage{Tokens: 1, Cost: 1}}, nil
	})}), made
}

// What a loop may use up bounds what its calls do, in all styles: a run ends with the call that
// goes over it. A tighter bound of its runs stays.
func TestBudgetsOfCalls(t *testing.T) {
	for _, s := range styles() {
		for what, o := range map[string]loop.Options{
			"cost":             {MaxCost: 3},
			"tokens":           {MaxTokens: 3},
			"cost of a run":    {MaxCost: 8, Exec: exec.Options{MaxCost: 3}},
			"tokens of a run":  {MaxTokens: 8, Exec: exec.Options{MaxTokens: 3}},
			"what a run may":   {Exec: exec.Options{MaxCost: 3}},
			"more than a loop": {MaxCost: 3, Exec: exec.Options{MaxCost: 8}},
		} {
			o.Exec.Schedule, o.Exec.MaxParallel = exec.Sequential, 1
			catalogue, made := work(t)
			script := &loop.Script{Replies: []model.Reply{s.answer()}}
			r, _ := s.solve(t.Context(), &loop.Task{Goal: "g", Catalogue: catalogue, Planner: script}, &o)
			if *made != 4 || r.Status != exec.Failed {
				t.Errorf("%s: %s: %d calls of 1; %s %s", s.name, what, *made, r.Status, r.Reason)
			}
		}
	}
}

// A loop that takes longer than it may has failed, and says so; one whose context is done was
// cancelled.
func TestTimeIsUp(t *testing.T) {
	for _, s := range styles() {
		synctest.Test(t, func(t *testing.T) {
			waits := script(func(ctx context.Context, _ *model.Turn) (*model.Reply, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			catalogue, _ := work(t)
			task := &loop.Task{Goal: "g", Catalogue: catalogue, Planner: waits}
			r, err := s.solve(t.Context(), task, &loop.Options{MaxTime: time.Minute})
			if err != nil || r.Status != exec.Failed || r.Reason != "the task took longer than 1m0s" {
				t.Errorf("%s: %v, %s %q", s.name, err, r.Status, r.Reason)
			}
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			r, err = s.solve(ctx, task, &loop.Options{MaxTime: time.Minute})
			if err != nil || r.Status != exec.Cancelled || !strings.HasSuffix(r.Reason, "was cancelled") {
				t.Errorf("%s: %v, %s %q", s.name, err, r.Status, r.Reason)
			}
		})
	}
}

// fullDisk is a record that can't be written.
type fullDisk struct{}

func (fullDisk) Append(*exec.Event) int64                             { return 1 }
func (fullDisk) Sync(int64) error                                     { return errors.New("no space left on device") }
func (fullDisk) Past(string) (map[string]*exec.Past, error)           { return nil, nil }
func (fullDisk) record(string, *compile.Program) (exec.Record, error) { return fullDisk{}, nil }

// What can't be recorded is not done, and is the error of the loop, which asks nothing more.
func TestRecordsThatFail(t *testing.T) {
	for _, s := range styles() {
		catalogue, made := work(t)
		asked := 0
		script := &loop.Script{Replies: []model.Reply{s.answer(), s.answer(), s.answer()}, OnTurn: func(*model.Turn) { asked++ }}
		r, err := s.solve(t.Context(), &loop.Task{Goal: "g", Catalogue: catalogue, Planner: script}, &loop.Options{Record: fullDisk{}.record})
		if err == nil || !strings.Contains(err.Error(), "no space left") || r.Status != exec.Failed || *made != 0 || asked != 1 {
			t.Errorf("%s: %v, %s %q, %d calls, asked %d times", s.name, err, r.Status, r.Reason, *made, asked)
		}
	}
}

// The result of a loop has one shape, also when nothing has come of it.
func TestResultShape(t *testing.T) {
	for _, s := range styles() {
		down := script(func(context.Context, *model.Turn) (*model.Reply, error) {
			return &model.Reply{Stop: model.Refusal, Reason: "no"}, nil
		})
		catalogue, _ := work(t)
		r, err := s.solve(t.Context(), &loop.Task{Goal: "g", Catalogue: catalogue, Planner: down}, &loop.Options{ID: "L"})
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"id": `"L"`, "status": `"failed"`, "reason": `"the model refused: no"`, "output": "null", "runs": "[]", "revisions": "[]", "findings": "[]"} {
			if got := gjson.GetBytes(text, name).Raw; got != want {
				t.Errorf("%s: %s is %s, want %s", s.name, name, got, want)
			}
		}
		if !gjson.GetBytes(text, "state").IsObject() {
			t.Errorf("%s: the state is %s", s.name, r.State)
		}
	}
}

// A plan that nobody approves pauses the loop, and calls nothing. A plan of Flux calls nothing
// anyway.
func TestNobodyApproves(t *testing.T) {
	for _, s := range styles() {
		if s.name == "flux" {
			continue
		}
		catalogue, made := work(t)
		shown := 0
		o := &loop.Options{OnPlan: func(*compile.Program) error { shown++; return fmt.Errorf("it waits: %w", exec.ErrNobody) }}
		r, err := s.solve(t.Context(), &loop.Task{Goal: "g", Catalogue: catalogue, Planner: &loop.Script{Replies: []model.Reply{s.answer()}}}, o)
		if err != nil || r.Status != exec.Paused || *made != 0 || shown != 1 {
			t.Errorf("%s: %v, %s %q, %d calls, shown %d times", s.name, err, r.Status, r.Reason, *made, shown)
		}
	}
}
