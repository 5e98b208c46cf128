package tea_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/tea"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// solve solves the goal G on a desk, with the executor work.
func solve(t *testing.T, d *desk, o *tea.Options, schema string, answers ...string) (*loop.Result, *loop.Script) {
	t.Helper()
	s := loop.Say(answers...)
	task := &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: s}
	if schema != "" {
		task.Schema = json.RawMessage(schema)
	}
	o.Execute.SubtaskExecutor = &tea.Executor{Action: "work", With: json.RawMessage(`{"do":"{{ subtask.description }}"}`)}
	r, err := tea.Solve(t.Context(), task, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, s
}

func TestSolve(t *testing.T) {
	ab := listed(subtask("a"), subtask("b", "a"))
	iterative := tea.DecomposeParams{Strategy: tea.Iterative}
	more := func(list, complete string) string {
		return list[:len(list)-1] + `,"planning_complete":` + complete + `}`
	}
	for _, test := range []struct {
		name    string
		o       tea.Options
		schema  string
		answers map[string][]string
		planner []string
		status  exec.Status
		reason  string
		output  string
		turns   int
		made    string
	}{
		{"a plan", tea.Options{}, "", nil, []string{ab}, exec.Completed, "",
			`{"subtask_results":{"a":"did a","b":"did b"},"plan_status":{"total":2,"pending":0,"in_progress":0,"completed":2,"failed":0,"skipped":0}}`, 1, "a b"},
		{"a schema", tea.Options{}, `{"type":"object","properties":{"n":{"type":"number"}},"required":["n"]}`, nil, []string{ab, "```json\n{\"n\": 1.50}\n```"}, exec.Completed, "", `{"n":1.50}`, 1, "a b"},
		{"an output that breaks the schema", tea.Options{}, `{"type":"object","required":["n"]}`, nil, []string{ab, `{"m":1}`}, exec.Failed, "the answer breaks the schema of the output", "", 1, "a b"},
		{"a failure", tea.Options{}, "", map[string][]string{"a": {"!it broke"}}, []string{ab}, exec.Failed, "it broke", "", 1, "a"},
		{"a replan", tea.Options{Execute: tea.ExecuteParams{OnSubtaskFailure: tea.Replan}}, "", map[string][]string{"a": {"!it broke"}}, []string{ab, listed(subtask("c"))}, exec.Completed, "",
			`{"subtask_results":{"c":"did c"},"plan_status":{"total":1,"pending":0,"in_progress":0,"completed":1,"failed":0,"skipped":0}}`, 2, "a c"},
		{"no plan", tea.Options{}, "", nil, []string{"I would rather not"}, exec.Failed, "Failed to parse plan: Could not parse JSON from response: I would rather not...", "", 0, ""},
		{"iterative: until planning is complete", tea.Options{Decompose: iterative}, "", nil, []string{more(listed(subtask("a")), "false"), more(listed(subtask("b")), "true")}, exec.Completed, "",
			`{"subtask_results":{"a":"did a","b":"did b"},"plan_status":{"total":1,`, 2, "a b"},
		{"iterative: complete without more subtasks", tea.Options{Decompose: iterative}, "", nil, []string{more(listed(subtask("a")), "false"), more(listed(), "true")}, exec.Completed, "",
			`{"subtask_results":{"a":"did a"},"plan_status":{"total":1,`, 1, "a"},
		{"iterative: complete before anything is done", tea.Options{Decompose: iterative}, "", nil, []string{more(listed(), "true")}, exec.Failed, "No subtasks returned from LLM", "", 0, ""},
		{"iterative: no subtasks, and not complete", tea.Options{Decompose: iterative}, "", nil, []string{more(listed(subtask("a")), "false"), more(listed(), "false")}, exec.Failed, "No subtasks returned from LLM", "", 1, "a"},
		{"iterative: the limit of turns", tea.Options{Decompose: iterative, Loop: &loop.Options{MaxTurns: 2}}, "", nil, []string{more(listed(subtask("a")), "false"), more(listed(subtask("b")), "false"), "x"}, exec.Failed,
			"the limit of 2 turns is reached", "", 2, "a b"},
		{"a plan that was kept", tea.Options{State: &tea.State{Plan: &tea.Plan{ID: "p", Goal: "G", Subtasks: []*tea.Subtask{{ID: "a", Description: "a", Status: tea.Failed}, {ID: "b", Description: "b", Dependencies: []string{"a"}}}}}}, "", nil, nil,
			exec.Completed, "", `{"subtask_results":{"a":"did a","b":"did b"},`, 1, "a b"},
		{"a plan that is refused", tea.Options{Loop: &loop.Options{OnPlan: func(p *compile.Program) error { return errors.New("not today") }}}, "", nil, []string{ab}, exec.Rejected, "plan rejected: not today", "", 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := &desk{answers: test.answers}
			r, s := solve(t, d, &test.o, test.schema, test.planner...)
			if r.Status != test.status || !strings.HasPrefix(r.Reason, test.reason) || !strings.HasPrefix(string(r.Output), test.output) || (test.output == "") != (r.Output == nil) {
				t.Errorf("%s, %s, %s", r.Status, r.Reason, r.Output)
			}
			if d.made() != test.made || r.Turns != test.turns {
				t.Errorf("called %q in %d turns", d.made(), r.Turns)
			}
			if _, err := s.Converse(t.Context(), &model.Turn{}); err == nil && test.name != "iterative: the limit of turns" {
				t.Error("the planner was not asked all")
			}
		})
	}
}

// The detail of a result is the answer of the last action, whichever it is and however the loop ends.
func TestDetail(t *testing.T) {
	ab := listed(subtask("a"), subtask("b", "a"))
	kept := func() *tea.State {
		return &tea.State{Plan: &tea.Plan{ID: "p", Goal: "G", Subtasks: []*tea.Subtask{{ID: "a", Description: "a", Status: tea.Failed}}}}
	}
	refuse := &loop.Options{OnPlan: func(*compile.Program) error { return errors.New("not today") }}
	for _, test := range []struct {
		name, schema string
		o            tea.Options
		planner      []string
		want         []string
	}{
		{"plan.decompose", "", tea.Options{Action: "plan.decompose", PlannerModel: "test"}, []string{ab}, []string{`"success":true`, `"subtask_count":2`, `"model":"test"`}},
		{"plan.decompose with a model", "", tea.Options{Action: "plan.decompose", PlannerModel: "test", Decompose: tea.DecomposeParams{Model: "big"}}, []string{ab}, []string{`"model":"big"`}},
		{"plan.decompose that fails", "", tea.Options{Action: "plan.decompose"}, []string{"no"}, []string{`"success":false`, "Could not parse JSON"}},
		{"plan.execute", "", tea.Options{Action: "plan.execute", State: kept()}, nil, []string{`"success":true`, `"subtask_results":{"a":"did a"}`}},
		{"plan.execute without a plan", "", tea.Options{Action: "plan.execute"}, nil, []string{`"success":false`, "No plan"}},
		{"plan.replan", "", tea.Options{Action: "plan.replan", State: kept()}, []string{ab}, []string{`"success":true`, `"new_subtasks":2`}},
		{"plan.status", "", tea.Options{Action: "plan.status", State: kept()}, nil, []string{`"success":true`, `"plan_id":"p"`, `"subtasks":[`}},
		{"plan.status without a plan", "", tea.Options{Action: "plan.status"}, nil, []string{`"success":false`, "No plan found"}},
		{"all", "", tea.Options{}, []string{ab}, []string{`"success":true`, `"subtask_results":{"a":"did a","b":"did b"}`}},
		{"a plan that is refused", "", tea.Options{Loop: refuse}, []string{ab}, []string{`"success":true`, `"subtask_count":2`}},
		{"an output that breaks the schema", `{"type":"object","required":["n"]}`, tea.Options{}, []string{ab, `{"m":1}`}, []string{`"success":true`, `"subtask_results":{"a":"did a","b":"did b"}`}},
	} {
		r, _ := solve(t, &desk{}, &test.o, test.schema, test.planner...)
		for _, want := range test.want {
			if !strings.Contains(string(r.Detail), want) {
				t.Errorf("%s: %s %s: the detail is %s; want %s", test.name, r.Status, r.Reason, r.Detail, want)
			}
		}
	}
}

// Each plan is shown before it is executed, as a program of steps in words, one for each subtask.
func TestSolveShows(t *testing.T) {
	var shown []int
	o := &tea.Options{Execute: tea.ExecuteParams{OnSubtaskFailure: tea.Replan}, Loop: &loop.Options{OnPlan: func(p *compile.Program) error {
		if shown = append(shown, len(p.Calls)); len(shown) == 2 {
			return loop.ErrRejected
		}
		return nil
	}}}
	d := &desk{answers: map[string][]string{"b.c d": {"!no"}}}
	r, _ := solve(t, d, o, "", listed(subtask("a"), subtask("b.c d", "a")), listed(subtask("x"), subtask("y"), subtask("z", "a")))
	if r.Status != exec.Rejected || fmt.Sprint(shown) != "[2 4]" || d.made() != "a b.c d" {
		t.Errorf("%s: %s; %v were shown; called %s", r.Status, r.Reason, shown, d.made())
	}
}

// The state is that of the actions, each wave is a run, and a replan is a revision.
func TestSolveState(t *testing.T) {
	o := &tea.Options{Loop: &loop.Options{ID: "L"}, Execute: tea.ExecuteParams{OnSubtaskFailure: tea.Replan}}
	r, _ := solve(t, &desk{answers: map[string][]string{"b": {"!no"}}}, o, "", listed(subtask("a"), subtask("b", "a")), listed(subtask("c", "a")))
	if fmt.Sprint(r.Runs) != "[L-1 L-2 L-3]" || r.Usage.Requests != 2 {
		t.Errorf("runs %s, %d requests", r.Runs, r.Usage.Requests)
	}
	if v := r.Revisions; len(v) != 1 || v[0].Reason != "no" || fmt.Sprint(v[0].Kept, v[0].Added, v[0].Removed) != "[a] [c] [b]" {
		t.Errorf("revisions %+v", v)
	}
	var s tea.State
	if err := json.Unmarshal(r.State, &s); err != nil || s.ReplanCount != 1 || s.PlanStatus.Completed != 2 || string(s.SubtaskResults.Get("c")) != `"did c"` {
		t.Errorf("state %s, %v", r.State, err)
	}
	if !strings.Contains(string(r.State), `"plan_status":{"total":2,`) {
		t.Errorf("state %s", r.State)
	}
}

func TestSolveBounds(t *testing.T) {
	s := &loop.Script{Replies: []model.Reply{{Text: listed(subtask("a"), subtask("b")), Input: 100, Output: 10}, {Text: "x", Input: 5}, {Text: "x", Input: 5}}}
	task := &loop.Task{Goal: "G", Planner: s}
	r, err := tea.Solve(t.Context(), task, &tea.Options{Loop: &loop.Options{MaxTokens: 110}})
	if err != nil || r.Status != exec.Failed || r.Usage.Requests > 2 {
		t.Errorf("%v, %+v", err, r)
	}
	synctest.Test(t, func(t *testing.T) {
		slow := tool.Func("work", "", func(ctx context.Context, _ struct{}) (string, error) { <-ctx.Done(); return "", ctx.Err() })
		task := &loop.Task{Goal: "G", Planner: loop.Say(listed(subtask("a"))), Catalogue: tool.NewCatalogue(slow)}
		o := &tea.Options{Loop: &loop.Options{MaxTime: time.Second}, Execute: tea.ExecuteParams{SubtaskExecutor: &tea.Executor{Action: "work"}}}
		r, err := tea.Solve(t.Context(), task, o)
		if err != nil || r.Status != exec.Failed || r.Reason != "the task took longer than 1s" {
			t.Errorf("%v, %s: %s", err, r.Status, r.Reason)
		}
	})
	if _, err := tea.Solve(t.Context(), &loop.Task{}, nil); err == nil {
		t.Error("there is no planner")
	}
}

func TestParseOptions(t *testing.T) {
	o, err := tea.ParseOptions([]byte(`{"strategy":"flat","max_subtasks":4,"parallel":true,"max_retries":0,"retry_delay":0.5,"subtask_executor":{"action":"work"},"planner":{"model":"m"}}`))
	if err != nil || o.Decompose.MaxSubtasks != 4 || o.Decompose.Model != "m" || o.Execute.MaxRetries != -1 || o.Execute.RetryDelay != time.Second/2 || o.Execute.SubtaskExecutor.Action != "work" {
		t.Errorf("%+v, %v", o, err)
	}
	for text, want := range map[string]string{
		`{"max_subtask":3}`:               `there is no option "max_subtask"; did you mean "max_subtasks"?`,
		`[]`:                              "not an object",
		`{"strategy":"deep"}`:             "Unknown strategy: deep",
		`{"on_subtask_failure":"ignore"}`: "Unknown failure strategy: ignore",
		`{"max_depth":"x"}`:               "'max_depth' is a number",
		`{"planner":"gpt"}`:               "'planner' is an object with max_depth, max_subtasks, model, prompt_template, strategy, temperature, not \"gpt\"",
		`{"subtask_executor":"work"}`:     "'subtask_executor' is an object with action, with, not \"work\"",
		`{"strategy":"flat","planner":{"strategy":"iterative"}}`: "'strategy' stands in 'planner' and beside it",
	} {
		if _, err := tea.ParseOptions([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Whatever a planner says, an answer comes, a plan has a valid graph, and nothing panics.
func FuzzDecompose(f *testing.F) {
	for _, s := range []string{listed(subtask("a"), subtask("b", "a")), "```json\n{}\n```", `{"subtasks":[{"id":[]}]}`, `{"subtasks":[{"dependencies":{}}]}`, "{", "}{", "[]", `{"subtasks":[1e9]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		a, err := tea.New(&loop.Task{Planner: loop.Say(answer)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, ok, err := a.Call(t.Context(), "plan.decompose", json.RawMessage(`{"goal":"G"}`))
		if !ok || err != nil || !json.Valid(got) {
			t.Fatalf("%s, %v", got, err)
		}
		if p := a.State.Plan; p != nil {
			if order, err := p.Order(); err != nil || len(order) != len(p.Subtasks) {
				t.Fatalf("%v, %v", order, err)
			}
		}
	})
}

// A plan that was read is written so that it is read as the same.
func FuzzPlan(f *testing.F) {
	for _, s := range []string{planned("a", "b:a=failed"), `{"id":1,"goal":null,"metadata":{"x":[1.0]}}`, `{"id":"","goal":"","subtasks":[{"id":"","description":"","result":false,"error":7,"started_at":1e300}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := tea.ParsePlan(text)
		if err != nil {
			return
		}
		once, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		q, err := tea.ParsePlan(once)
		if err != nil {
			t.Fatalf("%s: %s", once, err)
		}
		if twice, _ := json.Marshal(q); string(once) != string(twice) {
			t.Fatalf("%s, then %s", once, twice)
		}
		_ = p.Validate()
	})
}

func BenchmarkOrder(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := &tea.Plan{}
			for i := range n {
				s := &tea.Subtask{ID: fmt.Sprint("s", i)}
				if i > 1 {
					s.Dependencies = []string{fmt.Sprint("s", i-1), fmt.Sprint("s", i/2)}
				}
				p.Subtasks = append(p.Subtasks, s)
			}
			b.ReportAllocs()
			for b.Loop() {
				if order, err := p.Order(); err != nil || len(order) != n {
					b.Fatal(err)
				}
			}
		})
	}
}
