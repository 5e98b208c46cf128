package planning_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// The seed's picture of a hierarchy: research with a plan of its own, then two more steps.
var research = step("1", "", `{}`, `[]`, `"sub_plan":`+plan(step("1.1", "web_search", `{"q":"x"}`, `[]`), step("1.2", "read_file", `{"q":"{{1.1.text}}"}`, `["1.1"]`)))

func TestHierarchy(t *testing.T) {
	rest := []string{step("2", "archive", `{"q":"{{1.1.text}}"}`, `["1"]`), step("3", "write_file", `{"text":"{{1}} {{1.1.2.text}}{{1.2.text}} {{2.text}}"}`, `["1","2"]`)}
	d := desk{}
	r, _ := executed(t, &planning.Options{Hierarchical: true}, &d, plan(append([]string{research}, rest...)...))
	if !r.Success {
		t.Fatal(r.Error)
	}
	if got := string(r.StepResults["1"].Output); got != `{"1.1":{"text":"web_search(x)"},"1.2":{"text":"read_file(web_search(x))"}}` {
		t.Error(got)
	}
	if got := statuses(r); got != "1 completed, 1.1 completed, 1.2 completed, 2 completed, 3 completed" {
		t.Error(got)
	}
	res := r.StepResults["1"]
	if res.Tokens != 20 || !res.StartedAt.Equal(*r.StepResults["1.1"].StartedAt) || !res.FinishedAt.Equal(*r.StepResults["1.2"].FinishedAt) {
		t.Errorf("%+v", res)
	}
	if !strings.Contains(*r.FinalOutput, `"text":"write_file({\"1.1\":{\"text\":\"web_search(x)\"},\"1.2\":{\"text\":\"read_file(web_search(x))\"}} read_file(web_search(x)) archive(web_search(x)))"`) {
		t.Error(*r.FinalOutput)
	}
}

// A failed plan of a step is a failed step.
func TestHierarchyFails(t *testing.T) {
	whole := plan(research, step("2", "archive", `{"q":"y"}`, `["1"]`), step("3", "write_file", `{"text":"z"}`, `[]`))
	for _, c := range []struct {
		name    string
		opts    planning.Options
		answers []string
		want    string
		calls   string
	}{
		{"it ends", planning.Options{AllowRevision: new(false)}, nil, "1 failed, 1.1 completed, 1.2 failed, 2 pending, 3 pending", "1.1 1.2"},
		{"it goes on", planning.Options{AllowRevision: new(false), ContinueOnFailure: true}, nil, "1 failed, 1.1 completed, 1.2 failed, 2 skipped, 3 completed", "1.1 1.2 3"},
		{"it is skipped", planning.Options{RevisionStrategy: planning.SkipAndContinue}, nil, "1 skipped, 1.1 completed, 1.2 skipped, 2 completed, 3 completed", "1.1 1.2 2 3"},
		{"it is replaced", planning.Options{}, []string{plan(step("4", "archive", `{"q":"{{1.1.text}}"}`, `["1"]`))}, "1 completed, 1.1 completed, 1.2 revised, 2 revised, 3 revised, 4 completed", "1.1 1.2 4"},
		{"what is done is not done otherwise", planning.Options{}, []string{plan(step("1", "", `{}`, `[]`, `"sub_plan":`+plan(step("1.3", "archive", `{"q":"y"}`, `[]`)))), plan(step("4", "archive", `{"q":"{{1.1.text}}"}`, `["1"]`))},
			"1 completed, 1.1 completed, 1.2 revised, 2 revised, 3 revised, 4 completed", "1.1 1.2 4"},
		{"it is mended", planning.Options{RevisionStrategy: planning.InsertRecovery}, []string{plan(step("9", "archive", `{"q":"m"}`, `[]`)), plan(step("1.m", "archive", `{"q":"m"}`, `[]`))},
			"1 completed, 1.1 completed, 1.2 completed, 1.m completed, 2 completed, 3 completed", "1.1 1.2 1.m 1.2 2 3"},
	} {
		d := desk{broken: map[string]int{"read_file": 1}}
		c.opts.Hierarchical, c.opts.RetryFailedSteps = true, new(0)
		r, _ := executed(t, &c.opts, &d, append([]string{whole}, c.answers...)...)
		var calls []string
		for _, s := range d.calls {
			id, _, _ := strings.Cut(s, ":")
			calls = append(calls, id)
		}
		if got := strings.Join(calls, " "); statuses(r) != c.want || got != c.calls {
			t.Errorf("%s: %s, %s: %s", c.name, statuses(r), got, r.Error)
		}
		if one := r.StepResults["1"]; one.Status == planning.Failed && *one.Error != `step "1.2" failed: down: read_file is down` {
			t.Errorf("%s: %+v", c.name, one)
		}
	}
}

// A step without an action is taken apart by another request, as deep as is allowed.
func TestDecomposition(t *testing.T) {
	top := plan(step("1", "", `{}`, `[]`), step("2", "write_file", `{"text":"{{1.1.text}}"}`, `["1"]`))
	one := plan(step("1.1", "web_search", `{"q":"x"}`, `[]`), step("1.2", "", `{}`, `["1.1"]`))
	deep := plan(step("1.2.1", "archive", `{"q":"{{1.1.text}}"}`, `[]`))
	var asked []*model.Turn
	s := loop.Say(strings.Replace(top, "write_file", "write_fil", 1), top, plan(step("x", "web_search", `{"q":"x"}`, `[]`)), strings.Replace(one, "web_search", "web_serch", 1), one, deep)
	s.OnTurn = func(turn *model.Turn) { asked = append(asked, turn) }
	var d desk
	p, _ := planning.New(&planning.Options{Hierarchical: true, MaxDecompositionDepth: 3})
	r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: s}, "")
	if err != nil || !r.Success || d.made() != `1.1:web_search{"q":"x"} 1.2.1:archive{"q":"web_search(x)"} 2:write_file{"text":"web_search(x)"}` {
		t.Fatalf("%v %+v %s", err, r, d.made())
	}
	if len(asked) != 6 || !strings.Contains(asked[1].Messages[2].Text, `unknown tool "write_fil"`) || !strings.Contains(asked[4].Messages[2].Text, `unknown tool "web_serch"`) {
		t.Fatalf("%+v", asked)
	}
	if asked = append(asked[1:4:4], asked[5]); !strings.Contains(asked[1].Messages[0].Text, `Write the plan of the step "1" of it: Do 1.`) ||
		!strings.Contains(asked[2].Messages[2].Text, `step "x" of the plan of "1" has to have the id "1.1"`) ||
		!strings.Contains(asked[3].Messages[0].Text, "none gets a plan of its own") {
		t.Errorf("%+v", asked)
	}
	// At the limit there is no further plan.
	p, _ = planning.New(&planning.Options{Hierarchical: true, Loop: loop.Options{MaxRepairs: -1}})
	_, err = p.GeneratePlan(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: loop.Say(top, one)}, "")
	if err == nil || !strings.Contains(err.Error(), `step "1.2" has no "action"`) {
		t.Error(err)
	}
}

// The JSON of plans, states and results: every member, in the pattern's order.
func TestJSON(t *testing.T) {
	text := `{"goal":"G <1>","steps":[` +
		`{"id":"a","description":"Look.","action":"web_search","parameters":{"n":1.50},"dependencies":[],"expected_output":"a list","fallback_action":null,"estimated_tokens":null},` +
		`{"id":"b","description":"","action":"","parameters":{},"dependencies":["a"],"expected_output":"","fallback_action":"archive","estimated_tokens":7,` +
		`"sub_plan":{"goal":"","steps":[],"success_criteria":"","created_at":null,"estimated_total_tokens":null}}],` +
		`"success_criteria":"done","created_at":"2026-11-21T07:00:00Z","estimated_total_tokens":null}`
	if got, err := json.Marshal(read(t, text)); err != nil || !same(string(got), text) {
		t.Errorf("%v\n%s\n%s", err, got, text)
	}
	// What says nothing of its dependencies does not say [].
	if got, _ := json.Marshal(planning.PlanStep{ID: "a"}); string(got) != `{"id":"a","description":"","action":"","parameters":{},"dependencies":null,"expected_output":"","fallback_action":null,"estimated_tokens":null}` {
		t.Error(string(got))
	}

	var d desk
	d.broken = map[string]int{"read_file": 2}
	r, _ := executed(t, &planning.Options{AllowRevision: new(false)}, &d, plan(step("z", "web_search", `{"q":"1"}`, `[]`), step("a", "read_file", `{"q":"2"}`, `["z"]`)))
	state, err := json.Marshal(r.ExecutionState)
	if err != nil {
		t.Fatal(err)
	}
	order(t, string(state), `"plan":{"goal"`, `"step_statuses":{"z":"completed","a":"failed"}`, `"step_results":{"z":{"text":"web_search(1)"}}`, `"current_step":null`, `"revision_count":0`, `"revision_history":[]`, `"started_at":"`, `"completed_at":"`)
	result, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	order(t, string(result), `{"success":false`, `"plan":{"goal"`, `"final_plan":{"goal"`, `"step_results":{"z":{"status":"completed","output":{"text":"web_search(1)"},"error":null,"attempts":1,"used_fallback":false,"started_at":"`, `"finished_at":"`, `"tokens":10}`,
		`"a":{"status":"failed","output":null,"error":"down: read_file is down","attempts":2`, `"final_output":null`, `"revision_count":0`, `"execution_state":{`,
		`"token_usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":10,"cached_tokens":0}`, `"execution_time":`, `"error":"step \"a\" failed: down: read_file is down"}`)
	var back planning.ExecutionState
	if err := json.Unmarshal(state, &back); err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(&back); err != nil || string(again) != string(state) {
		t.Errorf("%v\n%s\n%s", err, again, state)
	}
}

// States and results without anything in them, and what can't be written.
func TestOddJSON(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{&planning.ExecutionState{}, `{"plan":null,"step_statuses":{},"step_results":{},"current_step":null,"revision_count":0,"revision_history":[],"started_at":"0001-01-01T00:00:00Z","completed_at":null}`},
		{&planning.ExecutionState{CurrentStep: "z", StepStatuses: map[string]planning.StepStatus{"z": planning.Running, "a": planning.Blocked}, StepResults: map[string]json.RawMessage{"y": nil}},
			`{"plan":null,"step_statuses":{"a":"blocked","z":"running"},"step_results":{"y":null},"current_step":"z","revision_count":0,"revision_history":[],"started_at":"0001-01-01T00:00:00Z","completed_at":null}`},
		{&planning.ExecutionResult{}, `{"success":false,"plan":null,"final_plan":null,"step_results":{},"final_output":null,"revision_count":0,"execution_state":null,"token_usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"cached_tokens":0},"execution_time":0}`},
		{&planning.StepResult{Status: planning.Skipped, Reason: planning.DependencyFailure}, `{"status":"skipped","output":null,"error":null,"attempts":0,"used_fallback":false,"started_at":null,"finished_at":null,"tokens":0,"reason":"dependency failure"}`},
		{&planning.ExecutionState{StepResults: map[string]json.RawMessage{"a": json.RawMessage("x")}}, ""},
		{&planning.ExecutionResult{StepResults: map[string]*planning.StepResult{"a": {Output: json.RawMessage("{")}}}, ""},
	} {
		if raw, err := json.Marshal(c.v); string(raw) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%+v: %v\n%s, want\n%s", c.v, err, raw, c.want)
		}
	}
}

// same reports whether two JSON texts are the same but for how json.Marshal spells signs.
func same(a, b string) bool {
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(a) == b
}

// order reports texts that do not stand in s in this order.
func order(t *testing.T, s string, parts ...string) {
	t.Helper()
	rest := s
	for _, p := range parts {
		i := strings.Index(rest, p)
		if i < 0 {
			t.Errorf("no %s where it should be in %s", p, s)
			return
		}
		rest = rest[i+len(p):]
	}
}

// Solve is the whole of it, with the events of a loop.
func TestSolve(t *testing.T) {
	d := desk{broken: map[string]int{"read_file": 2}}
	var types []string
	opts := &planning.Options{Loop: loop.Options{ID: "run", OnEvent: func(e *loop.Event) {
		if e.Type != loop.Ran && e.Type != loop.Said {
			types = append(types, fmt.Sprint(e.Type, e.Turn))
		}
	}}}
	res, err := planning.Solve(context.Background(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: &loop.Script{Replies: []model.Reply{
		{Text: plan(step("a", "web_search", `{"q":"1"}`, `[]`), step("b", "read_file", `{"q":"2"}`, `["a"]`)), Input: 100, Output: 20, Cached: 7},
		{Text: plan(step("c", "archive", `{"q":"{{a.text}}"}`, `["a"]`)), Input: 150, Output: 10},
	}}}, opts)
	if err != nil || string(res.Output) != `{"text":"archive(web_search(1))"}` || strings.Join(res.Runs, " ") != "run-1 run-2" || res.Turns != 2 {
		t.Fatalf("%v %+v", err, res)
	}
	u := res.Usage
	if u.Requests != 2 || u.Input != 250 || u.Output != 30 || u.Cached != 7 || u.Calls.Tokens != 20 {
		t.Errorf("%+v", u)
	}
	if got := strings.Join(types, " "); got != "asked1 replied1 planned1 asked2 replied2 revised2 planned2 finished2" {
		t.Error(got)
	}
	if string(res.State) != `{"a":{"text":"web_search(1)"},"c":{"text":"archive(web_search(1))"}}` {
		t.Error(string(res.State))
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		opts loop.Options
		want string
	}{
		{"tokens", loop.Options{MaxTokens: 100}, "the token budget of 100 is used up"},
		{"cost", loop.Options{MaxCost: 1, Prices: model.Prices{Input: 1e6}}, "the cost budget of 1 is used up"},
	} {
		d := desk{broken: map[string]int{"read_file": 2}}
		p, _ := planning.New(&planning.Options{Loop: c.opts, FeasibilityCheck: true})
		r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: &loop.Script{Replies: []model.Reply{
			{Text: plan(step("a", "web_search", `{"q":"1"}`, `[]`)), Input: 100}, {Text: `{"feasible":true,"problems":[]}`},
		}}}, "")
		if err != nil || r.Error != c.want || len(d.calls) > 0 {
			t.Errorf("%s: %v %+v", c.name, err, r)
		}
	}
}

// A tool that nothing runs is not offered, and not called.
func TestLatentTools(t *testing.T) {
	def, _ := tool.ParseDefinition([]byte(`{"type":"object"}`), "dream", diag.Loc{})
	give := tool.Func("give", "", func(context.Context, struct{}) (string, error) { return "given", nil })
	var asked []*model.Turn
	s := loop.Say(plan(do("a", "dream")), plan(do("a", "give")))
	s.OnTurn = func(turn *model.Turn) { asked = append(asked, turn) }
	p, _ := planning.New(nil)
	r, err := p.Execute(t.Context(), &loop.Task{Goal: "G", Catalogue: tool.NewCatalogue(give, &tool.Tool{Definition: def}), Planner: s}, "")
	if err != nil || !r.Success || len(asked) != 2 {
		t.Fatal(err, r)
	}
	if first := asked[0].Messages[0].Text + string(asked[0].Schema); strings.Contains(first, "dream") || !strings.Contains(asked[1].Messages[2].Text, "PLC606") {
		t.Error(first, asked[1].Messages[2].Text)
	}
}
