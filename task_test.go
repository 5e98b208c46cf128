package plc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model/modeltest"
)

// payer is a tool that counts its calls.
func payer(calls *int) *tool.Tool {
	return tool.Func("pay", "Pays an amount.", func(_ context.Context, in struct {
		Amount int `json:"amount"`
	}) (string, error) {
		*calls++
		return fmt.Sprintf("paid %d", in.Amount), nil
	})
}

// payPlan is the answer of a model that pays.
const payPlan = `{"calls": [{"_tool": "pay", "amount": 7, "_outputPath": "†state.paid"}], "output": "†state.paid"}`

// solver returns an engine whose model answers once with payPlan, and a task for it.
func solver(t *testing.T, calls *int, store journal.Store) (*plc.Engine, plc.Task) {
	t.Helper()
	return solverOf(t, calls, store, modeltest.Say(payPlan))
}

// solverOf returns an engine whose model gives these answers, and a task for it.
func solverOf(t *testing.T, calls *int, store journal.Store, replies ...modeltest.Reply) (*plc.Engine, plc.Task) {
	t.Helper()
	s := modeltest.New(t, replies...)
	eng := plc.New(plc.Config{
		Tools: []*tool.Tool{payer(calls)}, Store: store, Environ: []string{"MODEL_KEY=" + modeltest.Key}, PlanFolder: filepath.Join(t.TempDir(), "plans"),
	})
	t.Cleanup(func() { eng.Close() })
	models := plc.Text(fmt.Sprintf(`{"models": {"default": {"provider": "openai", "model": "m", "baseURL": %q, "apiKey": {"env": "MODEL_KEY"}}}}`, s.OpenAI().BaseURL))
	return eng, plc.Task{Goal: "pay 7", Spec: plc.Spec{Toolset: plc.Toolset{Files: []plc.Source{models}}}}
}

// A program solves a task, and does it again from the record: neither is the model asked nor the call
// made twice.
func TestSolve(t *testing.T) {
	calls := 0
	eng, task := solver(t, &calls, memory.New())
	res, err := eng.Solve(t.Context(), task)
	if err != nil || res.Status != exec.Completed || string(res.Output) != `"paid 7"` {
		t.Fatalf("%v, %+v", err, res)
	}
	runs, err := eng.Runs(t.Context(), journal.Filter{Labels: map[string]string{plc.LoopLabel: res.ID}})
	if err != nil || len(runs) != 1 {
		t.Errorf("%d runs of the loop: %v", len(runs), err)
	}
	again, _ := goOn(t, eng)
	if again.ID != res.ID || string(again.Output) != `"paid 7"` || calls != 1 {
		t.Errorf("done again: %+v, and %d calls", again, calls)
	}
}

// A loop that lacks a run that had begun is refused: its calls would be made again.
func TestSolveWithoutItsRun(t *testing.T) {
	calls := 0
	store := memory.New()
	eng, task := solver(t, &calls, store)
	res, err := eng.Solve(t.Context(), task)
	if err != nil || calls != 1 {
		t.Fatalf("%v, %+v, %d calls", err, res, calls)
	}
	if done, err := store.Collect(t.Context(), &journal.Collect{}); err != nil || done.Runs != 1 {
		t.Fatalf("%v, %+v", err, done)
	}
	l, err := eng.ContinueLoop(t.Context(), "last", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = l.Begin(t.Context())
	if err == nil || !strings.Contains(err.Error(), "the run "+res.ID+"-1 of the loop is not in the store any more") || calls != 1 {
		t.Errorf("%v, and %d calls", err, calls)
	}
}

// A loop does not go on with a run that was undone: what it did is not there any more. While it goes
// on, nobody undoes one of its runs or goes on with it.
func TestSolveWithAnUndoneRun(t *testing.T) {
	store := memory.New()
	s := modeltest.New(t, modeltest.Say(payPlan))
	calls, back := 0, 0
	pay := payer(&calls)
	pay.Definition.Effects.Destructive, pay.Definition.Undo = tool.No, &tool.Undo{Tool: "refund", Params: json.RawMessage(`{"amount": "†params.amount"}`)}
	refund := payer(&back)
	refund.Definition.Name, refund.Definition.Effects.Destructive = "refund", tool.No
	eng := plc.New(plc.Config{Tools: []*tool.Tool{pay, refund}, Store: store, Environ: []string{"MODEL_KEY=" + modeltest.Key}})
	defer eng.Close()
	models := plc.Text(fmt.Sprintf(`{"models": {"default": {"provider": "openai", "model": "m", "baseURL": %q, "apiKey": {"env": "MODEL_KEY"}}}}`, s.OpenAI().BaseURL))
	res, err := eng.Solve(t.Context(), plc.Task{Goal: "pay 7", Spec: plc.Spec{Toolset: plc.Toolset{Files: []plc.Source{models}}}})
	if err != nil || calls != 1 {
		t.Fatalf("%v, %+v, %d calls", err, res, calls)
	}
	run := res.ID + "-1"
	u, err := eng.PlanUndo(t.Context(), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := eng.ContinueLoop(t.Context(), "last", nil)
	if err != nil {
		t.Fatal(err)
	}
	for what, begin := range map[string]func() (*plc.Run, error){
		"undone":    func() (*plc.Run, error) { return eng.Undo(t.Context(), u) },
		"continued": func() (*plc.Run, error) { return eng.Continue(t.Context(), run, plc.Change{Plan: plc.Text(payPlan)}) },
	} {
		if r, err := begin(); !errors.As(err, new(*journal.HeldError)) {
			t.Errorf("%s while its loop goes on: %v, %v", what, r, err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	by, err := eng.Undo(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := by.Do(t.Context()); err != nil || by.Close() != nil || back != 1 {
		t.Fatalf("%v, %+v, %d calls", err, res, back)
	}
	if l, err = eng.ContinueLoop(t.Context(), "last", nil); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err = l.Begin(t.Context()); err == nil {
		_, err = l.Do(t.Context())
	}
	if !errors.As(err, new(*plc.UndoneError)) {
		t.Errorf("it goes on: %v", err)
	}
	if sum, err := eng.Summary(t.Context(), run); err != nil || sum.Status != exec.Undone {
		t.Errorf("%+v, %v", sum, err)
	}
}

// goOn continues the newest loop, and returns what came of it and the file of the plan that waits.
func goOn(t *testing.T, eng *plc.Engine) (res *loop.Result, waiting string) {
	t.Helper()
	l, err := eng.ContinueLoop(t.Context(), "last", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	if res, err = l.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	return res, l.WaitingPlan()
}

// A lazy plan that nobody can be asked about waits in a file, and runs once when that is approved.
func TestSolveWaits(t *testing.T) {
	calls := 0
	eng, task := solver(t, &calls, memory.New())
	task.Spec.Lazy = true
	res, err := eng.Solve(t.Context(), task)
	if err != nil || res.Status != exec.Paused || calls != 0 {
		t.Fatalf("%v, %+v", err, res)
	}
	_, waits := goOn(t, eng)
	a, err := eng.OpenApproval(waits)
	if err != nil {
		t.Fatal(err)
	}
	if id := plc.LoopOfApproval(waits, a.File); id != res.ID {
		t.Errorf("the approval is of the loop %q, not %q", id, res.ID)
	}
	if err := a.Change(func(f *approval.File) error { return f.Approve("ada", f.Created) }); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, _ := goOn(t, eng); got.Status != exec.Completed || calls != 1 {
			t.Errorf("approved: %+v, and %d calls", got, calls)
		}
	}
	if _, err := os.Stat(waits); err == nil {
		t.Error("the approval can be used again")
	}
}

// Settings that a style has no use for, and those that its options repeat, are refused by name.
func TestTaskSettings(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(*plc.Task)
		want string
	}{
		{"style", func(t *plc.Task) { t.Style = "nobody" }, `style "nobody": it is one of plan`},
		{"unused", func(t *plc.Task) { t.Style, t.Ledgers = "tea", true }, "ledgers has no effect"},
		{"twice", func(t *plc.Task) { t.Style, t.MaxTurns, t.StyleOptions = "flux", 3, plc.Text(`{"max_tool_calls": 3}`) }, "max-turns: "},
		{"options", func(t *plc.Task) { t.StyleOptions = plc.Text(`{}`) }, "style-options: "},
		{"plan", func(t *plc.Task) { t.Spec.Plan = plc.Text(payPlan) }, "plan and instances are not for a task"},
		{"strategy", func(t *plc.Task) { t.OnFailure = "panic" }, `on-failure "panic": it is one of`},
		{"goal", func(t *plc.Task) { t.Goal = "" }, plc.ErrNoTask.Error()},
		{"context", func(t *plc.Task) { t.Context = plc.Text(`{"calls": `) }, "PLC101"},
		{"model", func(t *plc.Task) { t.Model = "nobody" }, `no tool file has the model "nobody"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			calls := 0
			eng, task := solver(t, &calls, nil)
			test.edit(&task)
			_, err := eng.Solve(t.Context(), task)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// Each style tells its model what the task is given: the context, the input and the state, which the
// prompts of tea read where they name it.
func TestStylesTellWhatIsGiven(t *testing.T) {
	for _, style := range plc.Styles() {
		s := modeltest.Func(t, func(int, *modeltest.Request) modeltest.Reply { return modeltest.Say("no") })
		eng := plc.New(plc.Config{Store: memory.New(), Environ: []string{"MODEL_KEY=" + modeltest.Key}})
		t.Cleanup(func() { eng.Close() })
		models := plc.Text(fmt.Sprintf(`{"models": {"default": {"provider": "openai", "model": "m", "baseURL": %q, "apiKey": {"env": "MODEL_KEY"}}}}`, s.OpenAI().BaseURL))
		task := plc.Task{Goal: "find it", Style: style, Context: plc.Text(`[{"type": "text", "text": "zebras"}]`), Spec: plc.Spec{
			Toolset: plc.Toolset{Files: []plc.Source{models}},
			Values:  plc.Values{Input: []plc.Source{plc.Text(`{"where": "lions"}`)}, State: plc.Text(`{"seen": "tigers"}`)},
		}}
		if _, err := eng.Solve(t.Context(), task); err != nil && len(s.Requests()) == 0 {
			t.Fatal(err)
		}
		first := string(s.Requests()[0].Body)
		for _, word := range []string{"find it", "zebras", "lions", "tigers"} {
			if !strings.Contains(first, word) && (style != "tea" || word != "tigers") {
				t.Errorf("%s does not tell %q: %s", style, word, first)
			}
		}
	}
}

// A plan that a person changes is checked, shown and asked about again, in each style whose plans can
// be changed: what runs is what was shown last.
func TestEditedPlans(t *testing.T) {
	own := func(amount, tool string) string {
		return fmt.Sprintf(`{"calls":[{"_tool":%q,"amount":%s,"_outputPath":"†state.paid"}],"output":"†state.paid"}`, tool, amount)
	}
	step := func(amount, tool string) string {
		return fmt.Sprintf(`{"goal":"Pay","steps":[{"id":"pay","description":"d","action":%q,"parameters":{"amount":%s},"dependencies":[],"expected_output":"e"}],"success_criteria":"s"}`, tool, amount)
	}
	named := func(second, after string) string {
		return fmt.Sprintf(`{"steps":[{"name":"a","description":"first"},{"name":"b","description":%q,"depends_on":[%q]}]}`, second, after)
	}
	for _, test := range []struct {
		style   string
		replies []modeltest.Reply
		edits   []string // one that is faulty, and one that is not
		shown   string   // of the program that is shown last
		paid    int
	}{
		{"plan", []modeltest.Reply{modeltest.Say(payPlan)}, []string{own("8", "pya"), own("9", "pay")}, `"amount":9`, 1},
		{"planning", []modeltest.Reply{modeltest.Say(step("7", "pay"))}, []string{step("8", "pya"), step("9", "pay")}, `"amount":9`, 1},
		{"flux", []modeltest.Reply{modeltest.Call("c", "create_plan", `{"steps":"[{\"name\":\"a\"},{\"name\":\"b\"}]"}`), modeltest.Say("done")},
			[]string{named("second", "nosuch"), named("ninth", "a")}, `ninth`, 0},
	} {
		t.Run(test.style, func(t *testing.T) {
			calls := 0
			eng, task := solverOf(t, &calls, memory.New(), test.replies...)
			task.Style, task.Spec.Lazy = test.style, true
			l, err := eng.PrepareLoop(t.Context(), task)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			shown := ""
			l.OnPlan = func(p *plc.PlanPreview) { shown = string(p.Program.File().Text) }
			asked := 0
			l.AskPlan = func(context.Context, json.RawMessage, diag.List) (json.RawMessage, error) {
				if asked++; asked <= len(test.edits) {
					return json.RawMessage(test.edits[asked-1]), nil
				}
				if !strings.Contains(shown, test.shown) || calls > 0 {
					t.Errorf("shown %s before the last question; %d calls", shown, calls)
				}
				return nil, nil
			}
			if err := l.Begin(t.Context()); err != nil {
				t.Fatal(err)
			}
			res, err := l.Do(t.Context())
			if err != nil || res.Status != exec.Completed || asked != 3 || calls != test.paid {
				t.Errorf("%v, %s %s; asked %d times, %d calls", err, res.Status, res.Reason, asked, calls)
			}
		})
	}
}
