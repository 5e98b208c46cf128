package planning_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

func TestParseOptions(t *testing.T) {
	o, err := planning.ParseOptions([]byte(`{"planning_prompt":"Plan.","max_steps":15,"require_dependencies":false,"require_fallbacks":true,"planning_model":"big",
		"structured_output":false,"hierarchical":true,"max_decomposition_depth":3,"feasibility_check":true,"token_budget":1000,"require_plan_approval":true,
		"allow_modification":false,"approval_timeout":1.5,"approval_timeout_action":"DEFAULT","default_approval":{"response":"APPROVE"},"execution_mode":"adaptive",
		"max_parallel":5,"step_timeout":0.5,"continue_on_failure":true,"retry_failed_steps":0,"retry_delay":1,"dry_run":true,"allow_revision":false,"max_revisions":0,
		"revision_strategy":"insert_recovery","revision_threshold":0.5,"judge_success":true,"synthesize":true}`),
		func(name string) (loop.Planner, error) { return loop.Say(name), nil })
	if err != nil {
		t.Fatal(err)
	}
	want := &planning.Options{PlanningPrompt: "Plan.", MaxSteps: 15, RequireDependencies: new(false), RequireFallbacks: true, PlanningModel: loop.Say("big"),
		StructuredOutput: new(false), Hierarchical: true, MaxDecompositionDepth: 3, FeasibilityCheck: true, TokenBudget: 1000, RequirePlanApproval: true,
		AllowModification: new(false), ApprovalTimeout: 1500 * time.Millisecond, OnApprovalTimeout: planning.Default, DefaultApproval: planning.Approval{Response: planning.Approve},
		ExecutionMode: planning.Adaptive, MaxParallel: 5, StepTimeout: time.Second / 2, ContinueOnFailure: true, RetryFailedSteps: new(0), RetryDelay: time.Second,
		DryRun: true, AllowRevision: new(false), MaxRevisions: new(0), RevisionStrategy: planning.InsertRecovery, RevisionThreshold: new(0.5), JudgeSuccess: true, Synthesize: true}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("%+v", o)
	}
	for _, c := range []struct{ raw, want string }{
		{`{}`, ""},
		{`{"max_step":1}`, `planning: the options can't be read: there is no option "max_step"; did you mean "max_steps"? There are allow_modification, allow_revision, approval_timeout, approval_timeout_action, ` +
			`continue_on_failure, default_approval, dry_run, execution_mode, feasibility_check, hierarchical, judge_steps, judge_success, max_decomposition_depth, max_parallel, ` +
			`max_revisions, max_steps, planning_model, planning_prompt, require_dependencies, require_fallbacks, require_plan_approval, retry_delay, retry_failed_steps, ` +
			`revision_strategy, revision_threshold, step_timeout, structured_output, synthesize, token_budget`},
		{`{"max_steps":0}`, `planning: "max_steps" is 0, and has to be at least 1`},
		{`{"max_parallel":-1}`, `planning: "max_parallel" is -1, and has to be at least 1`},
		{`{"max_decomposition_depth":0}`, `planning: "max_decomposition_depth" is 0, and has to be at least 1`},
		{`{"step_timeout":0}`, `planning: "step_timeout" is 0, and has to be a time in seconds, of a year at most`},
		{`{"approval_timeout":1e99}`, `planning: "approval_timeout" is 1e+99, and has to be a time in seconds, of a year at most`},
		{`{"execution_mode":"fast"}`, `planning: "execution_mode" is "fast", and not one of sequential, parallel, adaptive`},
		{`{"revision_strategy":"retry"}`, `planning: "revision_strategy" is "retry", and not one of replan_remaining, insert_recovery, skip_and_continue, abort, ask_user`},
		{`{"approval_timeout_action":"MODIFY"}`, `planning: "approval_timeout_action" is "MODIFY", and not one of REJECT, APPROVE, RETRY, ESCALATE, ABORT, SKIP, DEFAULT`},
		{`{"revision_threshold":-0.1}`, `planning: "revision_threshold" is -0.1, and has to be at least 0`},
		{`{"revision_threshold":1.1}`, `planning: "revision_threshold" is 1.1, a share of at most 1`},
		{`{"max_revisions":-1}`, `planning: "max_revisions" is -1, and has to be at least 0`},
		{`{"retry_failed_steps":-1}`, `planning: "retry_failed_steps" is -1, and has to be at least 0`},
		{`{"token_budget":-1}`, `planning: "token_budget" is -1, and has to be at least 0`},
		{`{"max_steps":"x"}`, `planning: the options can't be read: "max_steps" is a string, and has to be an integer`},
		{`[]`, "planning: the options can't be read: this is a list, and has to be an object"},
		{`{} x`, "planning: the options can't be read: \"x\" is not JSON"},
		{`{"default_approval":"APPROVE"}`, `planning: the options can't be read: "default_approval" is a string, and has to be an object with guidance, plan, reason, response`},
		{`{"default_approval":true}`, `planning: the options can't be read: "default_approval" is true, and has to be an object with guidance, plan, reason, response`},
		{`{"default_approval":{"response":"NOPE"}}`, `planning: "default_approval.response" is "NOPE", and not one of REJECT, APPROVE, MODIFY, DEFER, ESCALATE, ABORT, SKIP`},
		{`{"default_approval":{"response":"MODIFY"},"approval_timeout_action":"DEFAULT"}`, `planning: the "response" of "default_approval" is MODIFY, and it has no "plan"`},
		{`{"default_approval":{"response":"APPROVE"}}`, `planning: "default_approval" is for the "approval_timeout_action" DEFAULT, and that is REJECT`},
		{`{"max_steps":1,"max_steps":2}`, `planning: the options can't be read: the name "max_steps" stands twice in one object`},
		{`{"planning_model":"x"}`, `planning: there is no model "x"`},
	} {
		_, err := planning.ParseOptions([]byte(c.raw), nil)
		if got := fmt.Sprint(err); got != c.want && !(err == nil && c.want == "") {
			t.Errorf("%s: %v", c.raw, err)
		}
	}
}

// What is wrong with plans, and what the planner is told.
func TestValidation(t *testing.T) {
	ok := step("a", "web_search", `{"q":"1"}`, `[]`)
	many := func(n int) (list []string) {
		for i := range n {
			list = append(list, step(fmt.Sprint("s", i), "web_search", `{"q":"1"}`, `[]`))
		}
		return list
	}
	for _, c := range []struct {
		name string
		opts planning.Options
		plan string
		want string // "" is nothing
	}{
		{"a sound plan", planning.Options{}, plan(ok), ""},
		{"twenty steps", planning.Options{}, plan(many(20)...), ""},
		{"no steps", planning.Options{}, plan(), "PLC106: the plan has no steps"},
		{"too many steps", planning.Options{}, plan(many(21)...), "PLC103: a plan of steps has at most 20, and this one 21"},
		{"more than allowed", planning.Options{MaxSteps: 1}, plan(many(2)...), "PLC103: a plan of steps has at most 1, and this one 2"},
		{"more than by default", planning.Options{MaxSteps: 30}, plan(many(25)...), ""},
		{"an id twice", planning.Options{}, plan(ok, ok), `PLC204, step "a": two steps have the id "a"`},
		{"no id", planning.Options{}, plan(step("", "web_search", `{"q":"1"}`, `[]`)), "PLC106: a step has no id"},
		{"no tool", planning.Options{}, plan(step("a", "", `{}`, `[]`)), `PLC106, step "a": step "a" has no "action"`},
		{"an unknown tool", planning.Options{}, plan(step("a", "web_serch", `{"q":"1"}`, `[]`)), `PLC201, step "a": unknown tool "web_serch"; did you mean "web_search"?`},
		{"an unknown fallback", planning.Options{}, plan(step("a", "web_search", `{"q":"1"}`, `[]`, `"fallback_action":"archve"`)), `PLC201, step "a": unknown tool "archve"; did you mean "archive"?`},
		{"a fallback of other parameters", planning.Options{}, plan(step("a", "web_search", `{"q":"1"}`, `[]`, `"fallback_action":"write_file"`)), `PLC205, step "a"`},
		{"a parameter is missing", planning.Options{}, plan(step("a", "web_search", `{}`, `[]`)), `PLC205, step "a"`},
		{"an unknown parameter", planning.Options{}, plan(step("a", "web_search", `{"q":"1","n":1}`, `[]`)), `PLC206, step "a"`},
		{"a parameter of another type", planning.Options{}, plan(step("a", "web_search", `{"q":1}`, `[]`)), `PLC501, step "a"`},
		{"parameters are a list", planning.Options{}, plan(step("a", "web_search", `[]`, `[]`)), `PLC106, step "a": the parameters are an object, not a list`},
		{"an unknown dependency", planning.Options{}, plan(step("a", "web_search", `{"q":"1"}`, `["b"]`)), `PLC305, step "a"`},
		{"a cycle", planning.Options{}, plan(step("a", "web_search", `{"q":"1"}`, `["b"]`), step("b", "web_search", `{"q":"1"}`, `["a"]`)), "PLC401"},
		{"a cycle of references", planning.Options{}, plan(step("a", "web_search", `{"q":"{{b.text}}"}`, `[]`), step("b", "web_search", `{"q":"{{a.text}}"}`, `[]`)), "PLC401"},
		{"a reference to nothing", planning.Options{}, plan(step("a", "web_search", `{"q":"{{b.text}}"}`, `[]`)), `PLC302, step "a": the input does not hold {{b.text}}`},
		{"a reference to nothing in a text", planning.Options{}, plan(step("a", "web_search", `{"q":"about {{b.text}}!"}`, `[]`)), `PLC302, step "a": the input does not hold {{b.text}}`},
		{"a misspelt reference", planning.Options{}, plan(step("look", "web_search", `{"q":"1"}`, `[]`), step("b", "web_search", `{"q":"{{lok.text}}"}`, `["look"]`)), `PLC302, step "b": the input does not hold {{lok.text}}`},
		{"no dependencies", planning.Options{}, plan(`{"id":"a","action":"web_search","parameters":{"q":"1"}}`), `PLC106, step "a": step "a" does not say its "dependencies"; [] is none`},
		{"no dependencies wanted", planning.Options{RequireDependencies: new(false)}, plan(`{"id":"a","action":"web_search","parameters":{"q":"1"}}`), ""},
		{"no fallback", planning.Options{RequireFallbacks: true}, plan(ok), `PLC106, step "a": step "a" has no "fallback_action"`},
		{"over the budget", planning.Options{TokenBudget: 10}, plan(step("a", "web_search", `{"q":"1"}`, `[]`, `"estimated_tokens":11`)), "PLC603: the plan is estimated to use 11 tokens, more than the 10 that there are"},
		{"the total counts", planning.Options{TokenBudget: 10}, `{"goal":"G","steps":[` + step("a", "web_search", `{"q":"1"}`, `[]`, `"estimated_tokens":11`) + `],"estimated_total_tokens":10}`, ""},
		{"less than no tokens", planning.Options{TokenBudget: 10}, plan(step("a", "web_search", `{"q":"1"}`, `[]`, `"estimated_tokens":-11`)), `the "estimated_tokens" of step "a" are -11, and have to be between 0 and 1000000000000`},
		{"more than there can be", planning.Options{TokenBudget: 10}, plan(step("a", "web_search", `{"q":"1"}`, `[]`, `"estimated_tokens":9223372036854775807`)), `have to be between 0 and 1000000000000`},
		{"less than no tokens at all", planning.Options{TokenBudget: 10}, `{"goal":"G","steps":[` + ok + `],"estimated_total_tokens":-1}`, `the "estimated_total_tokens" are -1`},
		{"a plan in a plan", planning.Options{}, plan(step("a", "", `{}`, `[]`, `"sub_plan":`+plan(step("a.1", "web_search", `{"q":"1"}`, `[]`)))), `PLC106, step "a": step "a" has a plan of its own, which is allowed in a hierarchical plan only`},
		{"its ids", planning.Options{Hierarchical: true}, plan(step("a", "", `{}`, `[]`, `"sub_plan":`+plan(step("x", "web_search", `{"q":"1"}`, `[]`)))), `PLC106, step "x": step "x" of the plan of "a" has to have the id "a.1"`},
		{"too deep", planning.Options{Hierarchical: true}, plan(step("a", "", `{}`, `[]`, `"sub_plan":`+plan(step("a.1", "", `{}`, `[]`, `"sub_plan":`+plan(step("a.1.1", "web_search", `{"q":"1"}`, `[]`)))))), `PLC106, step "a.1": step "a.1" has a plan of its own at depth 3, and plans nest to 2 only`},
		{"not deep enough for the limit", planning.Options{Hierarchical: true, MaxDecompositionDepth: 3}, plan(step("a", "", `{}`, `[]`, `"sub_plan":`+plan(step("a.1", "", `{}`, `[]`, `"sub_plan":`+plan(step("a.1.1", "web_search", `{"q":"1"}`, `[]`)))))), ""},
	} {
		var d desk
		p, err := planning.New(&c.opts)
		if err != nil {
			t.Fatal(err)
		}
		task := &loop.Task{Goal: "G", Catalogue: d.tools(t)}
		_, err = p.DryRun(task, read(t, c.plan))
		if msg := fmt.Sprint(err); c.want == "" && err != nil || !strings.Contains(msg, c.want) && c.want != "" {
			t.Errorf("%s: %v", c.name, err)
		}
		r, err := p.ExecutePlan(t.Context(), task, read(t, c.plan))
		if err != nil || r.Success != (c.want == "") || c.want != "" && (len(d.calls) > 0 || !r.Findings.HasErrors() || len(r.StepResults) > 0) {
			t.Errorf("%s: %v %+v", c.name, err, r)
		}
		if c.want == "" {
			continue
		}
		// The planner is told of it, and mends it.
		s := loop.Say(c.plan, plan(step("a", "web_search", `{"q":"1"}`, `[]`, `"fallback_action":"archive"`)))
		var asked *model.Turn
		s.OnTurn = func(turn *model.Turn) { asked = turn }
		task.Planner = s
		if _, err := p.GeneratePlan(t.Context(), task, ""); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		last := asked.Messages[len(asked.Messages)-1].Text
		if len(asked.Messages) != 3 || asked.Attempt != 2 || !strings.Contains(last, c.want) && c.name != "no tool" && c.name != "too deep" {
			t.Errorf("%s: %s", c.name, last)
		}
	}
}

// A model that lies, writes prose, is cut off, refuses, or never ends.
func TestPlannersAnswers(t *testing.T) {
	good := plan(step("a", "web_search", `{"q":"1"}`, `[]`))
	bad := plan(step("a", "nothing", `{}`, `[]`))
	for _, c := range []struct {
		name    string
		replies []model.Reply
		want    string // of the error; "" is a plan
	}{
		{"prose around it", []model.Reply{{Text: "Here is the plan:\n```json\n" + good + "\n```\nGood luck!"}}, ""},
		{"thinking before it", []model.Reply{{Text: "<think>{hm}</think>" + good}}, ""},
		{"prose, then a plan", []model.Reply{{Text: "I think we should look."}, {Text: good}}, ""},
		{"cut off, then a plan", []model.Reply{{Text: good[:30], Stop: model.Length}, {Text: good}}, ""},
		{"half of it, then a plan", []model.Reply{{Text: good[:60]}, {Text: good}}, ""},
		{"a list, then a plan", []model.Reply{{Text: "[1,2]"}, {Text: good}}, ""},
		{"an unknown member, then a plan", []model.Reply{{Text: strings.Replace(good, `"parameters"`, `"params"`, 1)}, {Text: good}}, ""},
		{"a member of the wrong type, then a plan", []model.Reply{{Text: strings.Replace(good, `"dependencies":[]`, `"dependencies":"none"`, 1)}, {Text: good}}, ""},
		{"a member twice, then a plan", []model.Reply{{Text: strings.Replace(good, `{"goal"`, `{"goal":"other","goal"`, 1)}, {Text: good}}, ""},
		{"a time of no zone, then a plan", []model.Reply{{Text: strings.Replace(good, `{"goal"`, `{"created_at":"2026-01-01T10:00:00","goal"`, 1)}, {Text: good}}, ""},
		{"a time of no zone, and no other", slices.Repeat([]model.Reply{{Text: strings.Replace(good, `{"goal"`, `{"created_at":"2026-01-01T10:00:00","goal"`, 1)}}, 4),
			"4 answers in a row were no valid plan; the last one:\n- PLC106: the answer is no plan: 2026-01-01T10:00:00 is no time such as \"2006-01-02T15:04:05Z\"; leave \"created_at\" out"},
		{"it refuses", []model.Reply{{Stop: model.Refusal, Reason: "no"}}, "the model refused: no"},
		{"it never does right", []model.Reply{{Text: bad}, {Text: bad}, {Text: bad}, {Text: bad}, {Text: good}}, "4 answers in a row were no valid plan; the last one:\n- PLC201, step \"a\": unknown tool \"nothing\""},
		{"it fails", nil, "planning: the planner failed: loop: the script has 0 replies, and was asked for one more"},
	} {
		var d desk
		p, _ := planning.New(nil)
		made, err := p.GeneratePlan(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: &loop.Script{Replies: c.replies}}, "")
		if msg := fmt.Sprint(err); c.want == "" && (err != nil || made.Steps[0].ID != "a") || !strings.HasPrefix(msg, c.want) && c.want != "" {
			t.Errorf("%s: %v", c.name, err)
		}
		if got := p.GetPlan(); (got != nil) != (c.want == "") {
			t.Errorf("%s: %+v", c.name, got)
		}
		if _, err := p.GeneratePlan(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t)}, ""); fmt.Sprint(err) != "the task has no planner" {
			t.Error(err)
		}
	}
}

// A flood is clipped before it goes back.
func TestFlood(t *testing.T) {
	var d desk
	var asked *model.Turn
	s := loop.Say(`{"goal":"`+strings.Repeat("x", 1<<20)+`"`, plan(step("a", "web_search", `{"q":"1"}`, `[]`)))
	s.OnTurn = func(turn *model.Turn) { asked = turn }
	p, _ := planning.New(nil)
	if _, err := p.GeneratePlan(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: s}, ""); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, m := range asked.Messages {
		n += len(m.Text)
	}
	if n > 32<<10 {
		t.Errorf("the second request has %d bytes", n)
	}
}

// What a planner is asked: the prompt, the tools, the schema.
func TestRequest(t *testing.T) {
	good := plan(step("a", "web_search", `{"q":"{{city}}"}`, `[]`))
	for _, c := range []struct {
		name   string
		opts   planning.Options
		system string
		schema string // in it; "" is no schema
	}{
		{"by default", planning.Options{}, "You plan before anything is done.", `"enum":["archive","read_file","web_search","write_file"]`},
		{"another prompt", planning.Options{PlanningPrompt: "Plan well."}, "Plan well.", `"maxItems":20`},
		{"at most 5 steps", planning.Options{MaxSteps: 5}, "You plan", `"maxItems":5`},
		{"no structured output", planning.Options{StructuredOutput: new(false)}, "You plan", ""},
		{"a hierarchy", planning.Options{Hierarchical: true}, "A step that is too much for one tool", `"write_file",""]`},
		{"fallbacks", planning.Options{RequireFallbacks: true}, "You plan", `"fallback_action":{"enum":["archive","read_file","web_search","write_file"]}`},
	} {
		var d desk
		var asked *model.Turn
		s := loop.Say(good, good, good, good)
		s.OnTurn = func(turn *model.Turn) { asked = turn }
		other := loop.Say() // the task's planner is not asked for a plan when there is another
		c.opts.PlanningModel = s
		p, _ := planning.New(&c.opts)
		_, _ = p.GeneratePlan(t.Context(), &loop.Task{Goal: "G", Context: json.RawMessage(`[{"type":"input","input":{"city":"Paris"}}]`), Catalogue: d.tools(t), Planner: other}, "Compare")
		if !strings.Contains(asked.System, c.system) || !strings.Contains(string(asked.Schema), c.schema) || (asked.Schema == nil) != (c.schema == "") {
			t.Errorf("%s: %s %s", c.name, asked.System, asked.Schema)
		}
		for _, want := range []string{"## Goal\nCompare\n", `{"city":"Paris","request":"G"}`, `{"name":"archive","description":"It is archive.","params":{"type":"object"`} {
			if !strings.Contains(asked.Messages[0].Text, want) {
				t.Errorf("%s: no %s in %s", c.name, want, asked.Messages[0].Text)
			}
		}
	}
}

// The model reviews a plan; what it finds goes back to the planner.
func TestFeasibility(t *testing.T) {
	good := plan(step("a", "web_search", `{"q":"1"}`, `[]`))
	for _, c := range []struct {
		name    string
		reviews []string
		plans   int
		want    string
	}{
		{"feasible", []string{`{"feasible":true,"problems":[]}`}, 1, ""},
		{"then it is", []string{`{"feasible":false,"problems":["no source"]}`, `{"feasible":true,"problems":[]}`}, 2, ""},
		{"never", []string{`{"feasible":false,"problems":["no source"]}`, `{"feasible":false,"problems":[]}`}, 2, "the plan is not feasible"},
		{"a review of prose", []string{"Looks good", `{"feasible":true,"problems":[]}`}, 1, ""},
		{"a review that says nothing", []string{"{}", `{"feasible":true}`}, 1, ""},
	} {
		var d desk
		var plans []string
		for range c.plans {
			plans = append(plans, good)
		}
		p, _ := planning.New(&planning.Options{FeasibilityCheck: true, PlanningModel: loop.Say(plans...), Loop: loop.Options{MaxRepairs: 1}})
		_, err := p.GeneratePlan(t.Context(), &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: loop.Say(c.reviews...)}, "")
		var pe *planning.PlanError
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &pe) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What a Go program may give, and a planner can't.
func TestHostilePlans(t *testing.T) {
	var d desk
	task := &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: loop.Say()}
	p, _ := planning.New(nil)
	good := read(t, plan(step("a", "web_search", `{"q":"1"}`, `[]`)))
	endless := &planning.Plan{Steps: []planning.PlanStep{{ID: "a"}}}
	endless.Steps[0].SubPlan = endless
	for _, c := range []struct {
		name string
		plan *planning.Plan
		want string
	}{
		{"none", nil, "there is no plan"},
		{"one that holds itself", endless, "the plan has more than 100000 steps"},
		{"parameters that are not JSON", &planning.Plan{Steps: []planning.PlanStep{{ID: "a", Action: "web_search", Parameters: []byte("{"), Dependencies: []string{}}}}, `the parameters of step "a" are not JSON`},
		{"an id that is not UTF-8", &planning.Plan{Steps: []planning.PlanStep{{ID: "a\xff", Action: "web_search", Parameters: []byte(`{"q":"1"}`), Dependencies: []string{}}}}, `the id "a\xff" is not UTF-8`},
		{"a parameter twice", &planning.Plan{Steps: []planning.PlanStep{{ID: "a", Action: "web_search", Parameters: []byte(`{"q":"1","q":"2"}`), Dependencies: []string{}}}}, "PLC102"},
		{"deep parameters", &planning.Plan{Steps: []planning.PlanStep{{ID: "a", Action: "web_search", Parameters: []byte(`{"q":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`), Dependencies: []string{}}}}, "PLC103"},
		{"a signal of our own", &planning.Plan{Steps: []planning.PlanStep{{ID: "†state", Action: "web_search", Parameters: []byte(`{"q":"†input"}`), Dependencies: []string{}}}}, ""},
	} {
		r, err := p.ExecutePlan(t.Context(), task, c.plan)
		if err != nil || r.Success != (c.want == "") || !strings.Contains(r.Error, c.want) {
			t.Errorf("%s: %v %+v", c.name, err, r)
		}
		if _, err := p.DryRun(task, c.plan); (err == nil) != (c.want == "") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if !strings.Contains(d.made(), `†state:web_search{"q":"†input"}`) {
		t.Error(d.made())
	}
	if _, err := p.RevisePlan(t.Context(), task, nil, ""); err == nil {
		t.Error("a state of nothing is revised")
	}
	task.Context = json.RawMessage(`[{"type":"state","_instance":"A","state":{}}]`)
	if _, err := p.ExecutePlan(t.Context(), task, good); err == nil || !strings.Contains(err.Error(), "instances") {
		t.Error(err)
	}
	task.Context = json.RawMessage(`{`)
	if _, err := p.ExecutePlan(t.Context(), task, good); err == nil {
		t.Error("a context that is none is used")
	}
}

// A plan that is given is reviewed; one that the pattern made was.
func TestFeasibilityOfGivenPlans(t *testing.T) {
	var d desk
	text := plan(step("a", "web_search", `{"q":"1"}`, `[]`))
	p, _ := planning.New(&planning.Options{FeasibilityCheck: true})
	task := &loop.Task{Goal: "G", Catalogue: d.tools(t), Planner: loop.Say(text, `{"feasible":true,"problems":[]}`, `{"feasible":false,"problems":["no source"]}`)}
	made, err := p.GeneratePlan(t.Context(), task, "")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := p.ExecutePlan(t.Context(), task, made); err != nil || !r.Success {
		t.Error(err, r)
	}
	if r, err := p.ExecutePlan(t.Context(), task, read(t, text)); err != nil || r.Success || !strings.Contains(r.Error, "the plan is not feasible: no source") {
		t.Error(err, r)
	}
}

// What goes back to the planner speaks of results and members of the input as the planner does.
func TestFindingsInTheirNotation(t *testing.T) {
	tools := func(name, definition string) *tool.Tool {
		def, findings := tool.ParseDefinition([]byte(definition), name, diag.Loc{})
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		return &tool.Tool{Definition: def, Activity: tool.ActivityFunc(nil)}
	}
	catalogue := tool.NewCatalogue(
		tools("count", `{"type":"object","properties":{"n":{"type":"number"},"_output":{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"],"additionalProperties":false}},"required":["n"],"additionalProperties":false,"effects":{"readOnly":true}}`),
		tools("say", `{"type":"object","properties":{"q":{"type":"string"},"_output":{"type":"string"}},"required":["q"],"additionalProperties":false,"effects":{"readOnly":true}}`),
	)
	one := step("a", "count", `{"n":1}`, `[]`)
	for steps, want := range map[string]string{
		step("a", "count", `{"n":"{{nosuch}}"}`, `[]`):                                 `the input does not hold {{nosuch}}`,
		step("a", "count", `{"n":"{{inpt}}"}`, `[]`):                                   `the input does not hold {{inpt}}; did you mean {{input}}?`,
		step("a", "count", `{"n":"{{list.oo}}"}`, `[]`):                                `the input does not hold {{list.oo}}; did you mean {{list.o}}?`,
		step("a", "count", `{"n":"{{list.o}}"}`, `[]`):                                 `{{list.o}} is "x", and the param "n" of "count" takes number`,
		one + "," + step("b", "say", `{"q":"{{ a.sum }}"}`, `[]`):                      `{{ a.sum }} is number, and the param "q" of "say" takes string`,
		one + "," + step("b", "count", `{"n":"{{a}}"}`, `[]`):                          `{{a}} is {sum: number}, and the param "n" of "count" takes number: {"sum":0} does not fit; did you mean {{a.sum}}?`,
		step("c", "say", `{"q":"x"}`, `[]`):                                            `the schema of the state takes number at {{c}}`,
		step("a", "count", `{"n":"{{a.sum}}"}`, `[]`):                                  `{{a.sum}} is the step itself`,
		one + "," + step("b", "say", `{"q":"x"}`, `[]`, `"condition":"{{a.sum}} > 1"`): `the condition "{{a.sum}} > 1" can't be translated`,
	} {
		o := &planning.Options{}
		o.Loop.Compile.Values = map[string]compile.Given{"input": {JSON: json.RawMessage(`{"input":1,"list":{"o":"x"}}`)}}
		o.Loop.Compile.Schemas = map[string]compile.Given{"state": {JSON: json.RawMessage(`{"type":"object","properties":{"c":{"type":"number"}}}`)}}
		p, err := planning.New(o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.DryRun(&loop.Task{Goal: "G", Catalogue: catalogue, Planner: loop.Say()}, read(t, plan(steps)))
		if said := fmt.Sprint(err); !strings.Contains(said, want) || strings.Contains(said, "†") {
			t.Errorf("%s: %s; want %s", steps, said, want)
		}
	}
}
