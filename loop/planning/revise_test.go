package planning_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// abc is a chain of three steps, and d beside it.
var abc = plan(step("a", "web_search", `{"q":"1"}`, `[]`), step("b", "read_file", `{"q":"{{a.text}}"}`, `["a"]`),
	step("c", "write_file", `{"text":"<{{b.text}}>"}`, `["b"]`), step("d", "archive", `{"q":"2"}`, `[]`))

func TestStrategies(t *testing.T) {
	mend := plan(step("m", "archive", `{"q":"{{a.text}}"}`, `["a"]`))
	next := plan(step("e", "archive", `{"q":"{{a.text}}"}`, `["a"]`))
	guided := planning.Options{RevisionStrategy: planning.AskUser}
	for _, c := range []struct {
		name     string
		opts     planning.Options
		ask      func(context.Context, *planning.ExecutionState, string) (planning.Guidance, error)
		broken   int
		answers  []string
		status   exec.Status
		statuses string
		err      string
		calls    string // after a and two times b
		history  string // strategy, added, removed, kept
	}{
		{"replan_remaining", planning.Options{}, nil, 2, []string{next}, exec.Completed, "a completed, b revised, c revised, d revised, e completed", "",
			`e:archive{"q":"web_search(1)"}`, "replan_remaining [e] [b c d] [a]"},
		{"insert_recovery", planning.Options{RevisionStrategy: planning.InsertRecovery}, nil, 2, []string{mend}, exec.Completed, "a completed, b completed, c completed, d completed, m completed", "",
			`m:archive{"q":"web_search(1)"} b:read_file{"q":"web_search(1)"} c:write_file{"text":"<read_file(web_search(1))>"} d:archive{"q":"2"}`, "insert_recovery [m] [] [a b c d]"},
		{"skip_and_continue", planning.Options{RevisionStrategy: planning.SkipAndContinue}, nil, 2, nil, exec.Failed, "a completed, b skipped, c completed, d completed", `step "b" was skipped: skip_and_continue`,
			`c:write_file{"text":"<>"} d:archive{"q":"2"}`, "skip_and_continue [] [] [a b c d]"},
		{"abort", planning.Options{RevisionStrategy: planning.AbortPlan}, nil, 2, nil, exec.Failed, "a completed, b failed, c pending, d pending", `the execution was aborted: step "b" failed: down: read_file is down`, "", ""},
		{"ask_user, with nobody", guided, nil, 2, nil, exec.Paused, "a completed, b failed, c pending, d pending", `there is nobody to ask what to do: step "b" failed: down: read_file is down`, "", ""},
		{"ask_user: go on", guided, func(context.Context, *planning.ExecutionState, string) (planning.Guidance, error) {
			return planning.Guidance{Decision: planning.DecideContinue}, nil
		}, 2, nil, exec.Failed, "a completed, b failed, c skipped, d completed", `step "b" failed: down: read_file is down`, `d:archive{"q":"2"}`, ""},
		{"ask_user: with words", guided, func(context.Context, *planning.ExecutionState, string) (planning.Guidance, error) {
			return planning.Guidance{Text: "use the archive"}, nil
		}, 2, []string{next}, exec.Completed, "a completed, b revised, c revised, d revised, e completed", "", `e:archive{"q":"web_search(1)"}`, "replan_remaining [e] [b c d] [a]"},
		{"ask_user: later", guided, func(context.Context, *planning.ExecutionState, string) (planning.Guidance, error) {
			return planning.Guidance{}, exec.ErrNobody
		}, 2, nil, exec.Paused, "a completed, b failed, c pending, d pending", `there is nobody to ask what to do: step "b" failed: down: read_file is down`, "", ""},
		{"ask_user: abort", guided, func(context.Context, *planning.ExecutionState, string) (planning.Guidance, error) {
			return planning.Guidance{Decision: planning.DecideAbort}, nil
		}, 2, nil, exec.Failed, "a completed, b failed, c pending, d pending", `the execution was aborted: step "b" failed: down: read_file is down`, "", ""},
		{"the new plan fails too, and too often", planning.Options{MaxRevisions: new(1)}, nil, 9, []string{plan(step("e", "read_file", `{"q":"x"}`, `[]`))}, exec.Failed, "a completed, b revised, c revised, d revised, e failed",
			`step "e" failed: down: read_file is down; the plan was revised 1 times, and may not be again`, `e:read_file{"q":"x"} e:read_file{"q":"x"}`, "replan_remaining [e] [b c d] [a]"},
		{"a plan that lists what is done", planning.Options{}, nil, 2, []string{abc}, exec.Completed, "a completed, b completed, c completed, d completed", "",
			`b:read_file{"q":"web_search(1)"} c:write_file{"text":"<read_file(web_search(1))>"} d:archive{"q":"2"}`, "replan_remaining [b c d] [b c d] [a]"},
		{"a plan that lies about what is done", planning.Options{}, nil, 2, []string{strings.Replace(abc, `"q":"1"`, `"q":"9"`, 1), next}, exec.Completed, "a completed, b revised, c revised, d revised, e completed", "",
			`e:archive{"q":"web_search(1)"}`, "replan_remaining [e] [b c d] [a]"},
		{"a plan of nothing", planning.Options{}, nil, 2, []string{plan(), next}, exec.Completed, "a completed, b revised, c revised, d revised, e completed", "", `e:archive{"q":"web_search(1)"}`, "replan_remaining [e] [b c d] [a]"},
		{"a recovery that is there already", planning.Options{RevisionStrategy: planning.InsertRecovery}, nil, 2, []string{plan(step("d", "archive", `{"q":"2"}`, `[]`)), mend}, exec.Completed, "a completed, b completed, c completed, d completed, m completed", "",
			`m:archive{"q":"web_search(1)"} b:read_file{"q":"web_search(1)"} c:write_file{"text":"<read_file(web_search(1))>"} d:archive{"q":"2"}`, "insert_recovery [m] [] [a b c d]"},
		{"no plan any more", planning.Options{Loop: loop.Options{MaxRepairs: -1}}, nil, 2, []string{"no"}, exec.Failed, "a completed, b failed, c pending, d pending",
			"1 answers in a row were no valid plan; the last one:\n- PLC101: there is no JSON in the answer", "", ""},
	} {
		d := desk{broken: map[string]int{"read_file": c.broken}}
		c.opts.AskUser = c.ask
		r, _ := executed(t, &c.opts, &d, append([]string{abc}, c.answers...)...)
		begin := `a:web_search{"q":"1"} b:read_file{"q":"web_search(1)"} b:read_file{"q":"web_search(1)"}`
		if r.Status != c.status || r.Error != c.err || statuses(r) != c.statuses || strings.TrimPrefix(d.made(), begin) != strings.TrimSuffix(" "+c.calls, " ") {
			t.Errorf("%s: %s %q, %s\n%s", c.name, r.Status, r.Error, statuses(r), d.made())
		}
		var history []string
		for i, h := range r.ExecutionState.RevisionHistory {
			history = append(history, fmt.Sprint(h.Strategy, " ", h.Added, " ", h.Removed, " ", h.Kept))
			if h.N != i+1 || h.At.IsZero() || !strings.HasPrefix(h.Reason, `step "b" failed: down: read_file is down`) {
				t.Errorf("%s: %+v", c.name, h)
			}
		}
		if strings.Join(history, "; ") != c.history || r.RevisionCount != len(history) {
			t.Errorf("%s: %s", c.name, history)
		}
		if len(r.Plan.Steps) != 4 || r.Plan.Step("c") == nil {
			t.Errorf("%s: the first plan has become %+v", c.name, r.Plan)
		}
	}
}

// A callback's decision comes before the strategy of the options.
func TestDecisions(t *testing.T) {
	for _, c := range []struct {
		d    planning.RevisionDecision
		err  error
		want string
	}{
		{planning.DecideSkip, nil, "a completed, b skipped, c completed, d completed"},
		{planning.DecideAbort, nil, "a completed, b failed, c pending, d pending"},
		{planning.DecideContinue, nil, "a completed, b failed, c skipped, d completed"},
		{planning.DecideAskUser, nil, "a completed, b failed, c pending, d pending"},
		{"", nil, "a completed, b failed, c pending, d pending"},
		{"MAYBE", nil, `planning: "MAYBE" is no decision about a revision`},
		{"", errors.New("disk"), "planning: the callback on_revision_needed failed: disk"},
	} {
		d := desk{broken: map[string]int{"read_file": 2}}
		p, _ := planning.New(&planning.Options{RevisionStrategy: planning.AbortPlan, Callbacks: planning.Callbacks{
			OnRevisionNeeded: func(_ context.Context, s *planning.ExecutionState, _ string) (planning.RevisionDecision, error) {
				s.StepStatuses["a"] = "mine" // it is a copy
				return c.d, c.err
			}}})
		r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: loop.Say(abc)}, "")
		if got := statuses(r); err == nil && got != c.want || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v %s", c.d, err, got)
		}
	}
}

// With continue_on_failure the plan is revised when more than the threshold of the steps that
// were attempted have failed.
func TestThreshold(t *testing.T) {
	var steps []string
	for i := range 10 {
		steps = append(steps, step(fmt.Sprint("s", i), "web_search", fmt.Sprintf(`{"q":"%d"}`, i), `[]`))
	}
	bad := func(list ...int) string {
		s := append([]string{}, steps...)
		for _, i := range list {
			s[i] = step(fmt.Sprint("s", i), "read_file", `{"q":"x"}`, `[]`)
		}
		return plan(s...)
	}
	for _, c := range []struct {
		name string
		opts planning.Options
		plan string
		want int // revisions
		at   int // steps that were attempted
	}{
		{"3 of 10 is not over 0.3", planning.Options{}, bad(7, 8, 9), 0, 10},
		{"2 of 7 is not over 2/7", planning.Options{RevisionThreshold: new(2.0 / 7)}, bad(5, 6), 0, 10},
		{"the first of all is", planning.Options{}, bad(0), 1, 1},
		{"2 of 6 is", planning.Options{}, bad(4, 5), 1, 6},
		{"1 of 4 is not, 2 of 5 is", planning.Options{}, bad(3, 4), 1, 5},
		{"another threshold", planning.Options{RevisionThreshold: new(0.1)}, bad(9), 0, 10},
		{"any failure", planning.Options{RevisionThreshold: new(0.0)}, bad(9), 1, 10},
		{"none is allowed", planning.Options{AllowRevision: new(false)}, bad(0, 1, 2, 3), 0, 10},
	} {
		n := 0
		d := desk{broken: map[string]int{"read_file": 99}}
		c.opts.ContinueOnFailure, c.opts.RetryFailedSteps = true, new(0)
		c.opts.Callbacks.OnRevisionNeeded = func(_ context.Context, s *planning.ExecutionState, _ string) (planning.RevisionDecision, error) {
			n++
			if ended := len(d.calls); ended != c.at {
				t.Errorf("%s: after %d", c.name, ended)
			}
			return planning.DecideAbort, nil
		}
		r, _ := executed(t, &c.opts, &d, c.plan)
		if n != c.want || r.Success || n == 0 && len(d.calls) != c.at {
			t.Errorf("%s: revised %d times, %s", c.name, n, r.Error)
		}
	}
}

// The seed's third example: a failure does not keep others from being done.
func TestContinueOnFailure(t *testing.T) {
	var steps []string
	for i := range 10 {
		name := "web_search"
		if i == 4 {
			name = "read_file"
		}
		steps = append(steps, step(fmt.Sprint("log", i), name, `{"q":"x"}`, `[]`))
	}
	d := desk{broken: map[string]int{"read_file": 2}}
	r, _ := executed(t, &planning.Options{ExecutionMode: planning.Parallel, MaxParallel: 5, ContinueOnFailure: true, RevisionThreshold: new(1.0)}, &d, plan(steps...))
	if r.Success || r.RevisionCount != 0 || strings.Count(statuses(r), "completed") != 9 || r.Error != `step "log4" failed: down: read_file is down` {
		t.Errorf("%s %s", r.Error, statuses(r))
	}
}

// A result that is not what was expected.
func TestUnexpectedResult(t *testing.T) {
	var d desk
	n := 0
	r, _ := executed(t, &planning.Options{CheckResult: func(_ context.Context, s *planning.PlanStep, out json.RawMessage) error {
		n++
		if s.ID == "b" {
			return fmt.Errorf("%q is no %s", out, s.ExpectedOutput)
		}
		return nil
	}}, &d, abc, plan(step("e", "archive", `{"q":"{{a.text}}"}`, `["a"]`)))
	h := r.ExecutionState.RevisionHistory
	if !r.Success || len(h) != 1 || n != 3 || h[0].Trigger != planning.UnexpectedResult || !strings.HasPrefix(h[0].Reason, `step "b": the result is not what was expected: `) {
		t.Errorf("%+v, checked %d times", r, n)
	}
	if b := r.StepResults["b"]; b.Status != planning.Revised || string(b.Output) != `{"text":"read_file(web_search(1))"}` || b.Attempts != 1 {
		t.Errorf("%+v", b)
	}
}

// A result that the planner does not accept as the expected output.
func TestJudgedSteps(t *testing.T) {
	var d desk
	const met = `{"met": true, "reason": ""}`
	r, s := executed(t, &planning.Options{JudgeSteps: true}, &d, abc, met, `{"met": false, "reason": "it is empty"}`,
		plan(step("e", "archive", `{"q":"{{a.text}}"}`, `["a"]`)), met)
	h := r.ExecutionState.RevisionHistory
	if !r.Success || len(h) != 1 || h[0].Trigger != planning.UnexpectedResult || h[0].Reason != `step "b": the result is not what was expected: it is empty` {
		t.Errorf("%+v: %s", r, r.Error)
	}
	if _, err := s.Converse(t.Context(), &model.Turn{}); err == nil {
		t.Error("a step was not judged")
	}
}

// What becomes known, what a person wants and what the budget allows.
func TestOtherTriggers(t *testing.T) {
	next := plan(step("e", "archive", `{"q":"{{a.text}}"}`, `["a"]`))
	for _, c := range []struct {
		name   string
		opts   planning.Options
		after  string // the step after whose end it is asked for
		text   string
		plan   string
		answer []string
		reason string
		want   string
	}{
		{"a person", planning.Options{}, "a", "be quick", abc, []string{next}, "be quick", "a completed, b revised, c revised, d revised, e completed"},
		{"no words", planning.Options{}, "a", "", abc, []string{next}, "user_request", "a completed, b revised, c revised, d revised, e completed"},
		{"after the last step, nothing more to do", planning.Options{}, "d", "enough", abc, []string{plan()}, "enough", "a completed, b completed, c completed, d completed"},
		{"after the last step, something more", planning.Options{}, "d", "one more", abc, []string{next}, "one more", "a completed, b completed, c completed, d completed, e completed"},
		{"steps before what is next", planning.Options{RevisionStrategy: planning.InsertRecovery}, "a", "log in", abc, []string{plan(step("m", "archive", `{"q":"{{a.text}}"}`, `[]`))}, "log in", "a completed, b completed, c completed, d completed, m completed"},
		{"nothing to skip", planning.Options{RevisionStrategy: planning.SkipAndContinue}, "a", "hm", abc, nil, "", "a completed, b completed, c completed, d completed"},
		{"no revision is allowed", planning.Options{AllowRevision: new(false)}, "a", "be quick", abc, nil, "", "a completed, b completed, c completed, d completed"},
		{"the budget", planning.Options{TokenBudget: 45}, "", "", strings.ReplaceAll(abc, `"expected_output":"text"`, `"expected_output":"text","estimated_tokens":11`), nil, "", "a completed, b completed, c completed, d completed"},
		{"over the budget", planning.Options{TokenBudget: 35}, "", "", strings.Replace(abc, `"success_criteria"`, `"estimated_total_tokens":35,"success_criteria"`, 1), nil, "", "a completed, b completed, c completed, d completed"},
		{"soon over the budget", planning.Options{TokenBudget: 35}, "", "", strings.Replace(strings.ReplaceAll(abc, `"expected_output":"text"`, `"expected_output":"text","estimated_tokens":9`), `"success_criteria"`, `"estimated_total_tokens":35,"success_criteria"`, 1), []string{next},
			"the steps have used 10 of 35 tokens, and those that are left are estimated to use 27", "a completed, b revised, c revised, d revised, e completed"},
	} {
		var p *planning.Pattern
		c.opts.Callbacks.OnStepComplete = func(_ context.Context, s *planning.PlanStep, _ *planning.StepResult) {
			if s.ID == c.after {
				p.RequestRevision(planning.UserRequest, c.text)
			}
		}
		var d desk
		p, _ = planning.New(&c.opts)
		r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: loop.Say(append([]string{c.plan}, c.answer...)...)}, "")
		if err != nil || !r.Success || statuses(r) != c.want || strings.Count(d.made(), "a:") != 1 {
			t.Errorf("%s: %v %s %s\n%s", c.name, err, r.Error, statuses(r), d.made())
			continue
		}
		reason := ""
		if h := r.ExecutionState.RevisionHistory; len(h) > 0 {
			reason = h[0].Reason
		}
		if reason != c.reason {
			t.Errorf("%s: %q", c.name, reason)
		}
	}
}

// A revision of a state by itself: what is done stays.
func TestRevisePlan(t *testing.T) {
	state := &planning.ExecutionState{Plan: read(t, abc), StepStatuses: map[string]planning.StepStatus{"a": planning.Completed, "b": planning.Failed},
		StepResults: map[string]json.RawMessage{"a": json.RawMessage(`{"text":"found"}`)}}
	was := fmt.Sprintf("%+v", state.Plan)
	for _, c := range []struct {
		strategy planning.Strategy
		answer   string
		want     string
	}{
		{planning.ReplanRemaining, plan(step("e", "archive", `{"q":"{{a.text}}"}`, `["a"]`)), "a e"},
		{planning.InsertRecovery, plan(step("m", "archive", `{"q":"{{a.text}}"}`, `["a"]`)), "a m b c d"},
	} {
		var d desk
		var asked *model.Turn
		s := loop.Say(c.answer)
		s.OnTurn = func(turn *model.Turn) { asked = turn }
		p, _ := planning.New(&planning.Options{RevisionStrategy: c.strategy})
		made, err := p.RevisePlan(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: s}, state, "the file is gone")
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, s := range made.Steps {
			ids = append(ids, s.ID)
		}
		if got := strings.Join(ids, " "); got != c.want || len(d.calls) > 0 || fmt.Sprintf("%+v", state.Plan) != was {
			t.Errorf("%s: %s", c.strategy, got)
		}
		for _, want := range []string{"the file is gone", `- "a" (Do a.): completed, gave {"text":"found"}`, `- "b" (Do b.): failed`} {
			if !strings.Contains(asked.Messages[0].Text, want) {
				t.Errorf("%s: no %q in %s", c.strategy, want, asked.Messages[0].Text)
			}
		}
	}
}

// A step that may have done its work is not done again by another plan, unless somebody says so.
func TestLostAnswers(t *testing.T) {
	for _, c := range []struct {
		name     string
		strategy planning.Strategy
		on       exec.Uncertain
		effects  string
		answers  []string
		calls    int
		success  bool
	}{
		{"replanned", planning.ReplanRemaining, exec.FailUncertain, `{"readOnly":false}`, []string{plan(do("again", "pay")), plan(do("pay", "pay")), plan(do("x", "other"))}, 1, true},
		{"mended", planning.InsertRecovery, exec.FailUncertain, `{"readOnly":false}`, []string{plan(do("m", "other")), plan(do("m2", "other")), plan(do("m3", "other"))}, 1, false},
		{"mended, of a tool that may be called twice", planning.InsertRecovery, exec.FailUncertain, `{"readOnly":false,"idempotent":true}`, []string{plan(do("m", "other"))}, 3, true},
		{"somebody says so", planning.InsertRecovery, exec.RetryUncertain, `{"readOnly":false}`, []string{plan(do("m", "other"))}, 3, true},
	} {
		calls := 0
		def, findings := tool.ParseDefinition([]byte(`{"type":"object","effects":`+c.effects+`}`), "pay", diag.Loc{})
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		pay := &tool.Tool{Definition: def, Activity: tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) {
			calls++
			if calls < 3 {
				return tool.Result{}, &tool.Error{Code: "reset", Message: "connection reset", Uncertain: true}
			}
			return tool.Result{}, nil
		})}
		other := tool.Func("other", "", func(context.Context, struct{}) (string, error) { return "", nil })
		p, _ := planning.New(&planning.Options{RevisionStrategy: c.strategy, Loop: loop.Options{Exec: exec.Options{OnUncertain: c.on}}})
		r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: tool.NewCatalogue(pay, other), Planner: loop.Say(append([]string{plan(do("pay", "pay"))}, c.answers...)...)}, "")
		if err != nil || r.Success != c.success || calls != c.calls {
			t.Errorf("%s: %v %q, called %d times, %s", c.name, err, r.Error, calls, statuses(r))
		}
	}
}

// The id of a step that was replaced may be used again.
func TestReplacedIDs(t *testing.T) {
	d := desk{broken: map[string]int{"read_file": 4}}
	bad := func(id string) string { return plan(step(id, "read_file", `{"q":"x"}`, `[]`)) }
	r, _ := executed(t, nil, &d, bad("b"), bad("e"), plan(step("b", "archive", `{"q":"y"}`, `[]`)))
	if !r.Success || statuses(r) != "b completed, e revised" || r.StepResults["b"].Attempts != 1 || r.StepResults["b"].Error != nil || r.StepResults["e"].Status != planning.Revised {
		t.Errorf("%s: %s %+v", r.Error, statuses(r), r.StepResults["b"])
	}
}
