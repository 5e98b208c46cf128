package agentframework_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/agentframework"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

func (w *world) host(t *testing.T) *agentframework.Host {
	t.Helper()
	h, err := agentframework.NewHost(&w.task, &w.opts)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// planning_override goes before the agent's block, which goes before the default: not to plan.
func TestPlanningOverride(t *testing.T) {
	yes, no := true, false
	block := agentframework.DefaultPlanning()
	for _, test := range []struct {
		name     string
		block    *agentframework.PlanningConfig
		override *bool
		plans    bool
	}{
		{"neither", nil, nil, false}, {"block", block, nil, true}, {"false wins", block, &no, false}, {"true without a block", nil, &yes, true},
		{"true over one that is off", &agentframework.PlanningConfig{MaxSteps: 5, MaxPlanRevisions: 1, RefResolution: "lenient"}, &yes, true},
		{"one that is off", &agentframework.PlanningConfig{}, nil, false},
	} {
		w := newWorld(submit(echo("a", "1")), done)
		w.opts.Agent = agentframework.Agent{ID: "my_agent", Planning: test.block, Instructions: "You are Bo."}
		r, err := w.host(t).RunAgent(t.Context(), "my_agent", json.RawMessage(`{"x":1}`), test.override)
		if err != nil {
			t.Fatal(err)
		}
		if r.Run.Planning != test.plans || (r.Status == agentframework.Completed) != test.plans {
			t.Errorf("%s: %+v", test.name, r)
		}
		// The prompt is that of the driver.
		system := w.turns[0].System
		if strings.Contains(system, "submit_plan") != test.plans || !strings.HasPrefix(system, "You are Bo.") || !strings.Contains(system, "- echo") || strings.Contains(string(w.turns[0].Schema), "submit_plan") != test.plans {
			t.Errorf("%s: %s", test.name, system)
		}
		if !test.plans && !strings.Contains(r.Message, "decision kind 'submit_plan' is only valid for planning-enabled agents.") {
			t.Errorf("%s: %s", test.name, r.Message)
		}
	}
	w := newWorld(done)
	if _, err := w.host(t).RunAgent(t.Context(), "nobody", nil, nil); err == nil || err.Error() != `agentframework: there is no agent "nobody"` {
		t.Error(err)
	}
	for _, params := range []string{`[1]`, `{"a":`, `{"a":1,"a":2}`} {
		if _, err := w.host(t).RunAgent(t.Context(), "agent", json.RawMessage(params), nil); err == nil {
			t.Error(params)
		}
	}
}

// An agent that does not plan makes a decision a turn.
func TestStandardDriver(t *testing.T) {
	w := newWorld(`{"kind":"call_tool","tool_name":"echo","parameters":{"msg":"{{x}} †state.y"}}`, `{"kind":"final_message","message":"so","response":{"n":1.50}}`)
	w.opts.PlanningOverride = new(bool)
	if r := w.solve(t); r.Status != exec.Completed || string(r.Output) != `{"n":1.50}` || string(r.State) != "{}" || !strings.Contains(w.said(), "{{x}} †state.y\n</tool_result>") {
		t.Errorf("%+v\n%s", r, w.said())
	}
	w = newWorld("nothing to say")
	w.opts.PlanningOverride = new(bool)
	if r := w.solve(t); r.Status != exec.Failed || !strings.HasPrefix(r.Reason, "Invalid model decision JSON: ") {
		t.Errorf("%+v", r)
	}
}

// The output has to be what the schema of the task says.
func TestOutputSchema(t *testing.T) {
	good := `{"kind":"final_message","message":"m","response":{"n":1}}`
	for _, plans := range []bool{true, false} {
		w := newWorld(`{"kind":"final_message","message":"m","response":{}}`, good)
		w.opts.PlanningOverride = &plans
		w.task.Schema = json.RawMessage(`{"type":"object","required":["n"]}`)
		r := w.solve(t)
		if plans && (r.Status != exec.Completed || !strings.Contains(w.said(), "<planning_validation_error>The final_message is not what its schema says: ")) {
			t.Errorf("%+v\n%s", r, w.said())
		}
		if !plans && (r.Status != exec.Failed || !strings.HasPrefix(r.Reason, "The final_message is not what its schema says: ")) {
			t.Errorf("%+v", r)
		}
	}
	// A message that is JSON is that where the schema wants it so, since a response is an object.
	for schema, want := range map[string]string{`{"type":"array"}`: `[1.50,2]`, `{"type":"string"}`: `"[1.50, 2]"`, `true`: `"[1.50, 2]"`} {
		w := newWorld(`{"kind":"final_message","message":"[1.50, 2]"}`)
		w.task.Schema = json.RawMessage(schema)
		if r := w.solve(t); r.Status != exec.Completed || string(r.Output) != want {
			t.Errorf("%s: %s %s", schema, r.Output, r.Reason)
		}
	}
	w := newWorld(done)
	w.task.Schema = json.RawMessage(`{"type":7}`)
	if _, err := agentframework.Solve(t.Context(), &w.task, &w.opts); err == nil {
		t.Error("a schema that is none")
	}
}

// Decisions may be calls of functions.
func TestCallFunctions(t *testing.T) {
	w := newWorld()
	call := func(name, params string) model.Reply {
		return model.Reply{Calls: []model.FunctionCall{{ID: "1", Name: name, Params: params}}}
	}
	w.script.Replies = []model.Reply{
		{Calls: []model.FunctionCall{{ID: "1", Name: "continue_plan"}, {ID: "2", Name: "continue_plan"}}},
		call("submit_plan", `{"plan":[`+echo("a", "1")+`]}`), call("continue_plan", ""), call("echo", `{}`), call("final_message", `{"message":"done"}`),
	}
	w.opts.CallFunctions = true
	r := w.solve(t)
	if r.Status != exec.Completed || string(r.Output) != `"done"` || !strings.Contains(w.said(), "unsupported 'kind' 'echo'") || !strings.Contains(w.said(), "2 functions were called; make one decision at a time.") {
		t.Errorf("%+v\n%s", r, w.said())
	}
	var names []string
	for _, f := range w.turns[0].Functions {
		names = append(names, f.Name)
	}
	if want := "submit_plan continue_plan amend_plan final_message call_tool call_subagent call_subagents invoke_skill callback"; strings.Join(names, " ") != want || w.turns[0].Schema != nil {
		t.Errorf("functions %v", names)
	}
	for _, fs := range [][]model.Function{agentframework.Functions(w.task.Catalogue), agentframework.Functions(nil)} {
		turn := model.Turn{Messages: []model.Message{{Role: model.User, Text: "x"}}, Functions: fs}
		if err := turn.Check(); err != nil {
			t.Error(err)
		}
	}
	if params := string(agentframework.Functions(w.task.Catalogue)[0].Params); !strings.Contains(params, `"tool_name":{"enum":["agentlike","broken","delete","echo","player"]}`) {
		t.Error(params)
	}
}

// agents are a root that plans and others.
func (w *world) agents(agents ...agentframework.Agent) *world {
	w.opts.Agent.Planning = agentframework.DefaultPlanning()
	w.opts.Agents = agents
	return w
}

const callScout = `{"id":"s","kind":"call_subagent","subagent_id":"scout","parameters":{"instruction":"look at {{instruction}}","far":true}}`

// A subagent is an agent of its own: its result is an envelope, whatever has come of it.
func TestSubagents(t *testing.T) {
	for _, test := range []struct{ name, decision, want string }{
		{"done", `{"kind":"final_message","message":"seen","response":{"far":1}}`, `{"message":"seen","response":{"far":1},"status":"completed"}`},
		{"failed", `prose`, `{"message":"Invalid model decision JSON: `},
		{"blocked", `{"kind":"guardrail_trip","message":"may I?","parameters":{"x":1}}`,
			`{"message":"may I?","response":{"agent_id":"scout","kind":"callback","intent":"guardrail_trip","message":"may I?","parameters":{"x":1}},"status":"blocked"}`},
	} {
		w := newWorld(submit(callScout, echo("t", "{{s.message}}", "s")), test.decision, done).agents(agentframework.Agent{ID: "scout", Description: "looks"})
		r := w.solve(t)
		if r.Status != exec.Completed || !strings.HasPrefix(string(r.State), `{"s":`+test.want) {
			t.Errorf("%s: %s %s", test.name, r.State, r.Reason)
		}
		if first := w.turns[1].Messages[0].Text; first != "look at move\n\n<parameters>\n{\"far\":true}\n</parameters>" {
			t.Errorf("%s: asked %q", test.name, first)
		}
		if !strings.Contains(w.turns[0].System, "Subagents:\n- scout: looks") {
			t.Error(w.turns[0].System)
		}
	}
}

// A subagent that asks its caller goes on with the answer when it is called again; its result is
// then that of the whole.
func TestSubagentAnswered(t *testing.T) {
	asks := `{"kind":"callback","intent":"information_request","message":"whose?"}`
	answers := `{"kind":"call_subagent","subagent_id":"scout","parameters":{"resolution":"hers"}}`
	w := newWorld(submit(callScout), asks, answers, `{"kind":"final_message","message":"hers it is"}`, done).agents(agentframework.Agent{ID: "scout"})
	r := w.solve(t)
	scout := w.turns[3].Messages
	if r.Status != exec.Completed || len(scout) != 3 || !strings.Contains(scout[2].Text, "hers") || !strings.HasPrefix(scout[0].Text, "look at move") {
		t.Errorf("%s %s\n%v", r.Status, r.Reason, scout)
	}
	if told := w.turns[4].Messages; !strings.Contains(told[len(told)-1].Text, "hers it is") && !strings.Contains(told[len(told)-2].Text, "hers it is") {
		t.Errorf("its caller was told %v", told)
	}
}

// An agent calls only the tools that it may.
func TestToolsOfAgents(t *testing.T) {
	call := `{"kind":"call_tool","tool_name":"delete","parameters":{}}`
	w := newWorld(submit(callScout), call, done, done).agents(agentframework.Agent{ID: "scout", Tools: []string{"echo"}})
	r := w.solve(t)
	if r.Status != exec.Completed || slices.Contains(w.called, "delete{}") || strings.Contains(w.turns[1].System, "- delete") {
		t.Errorf("%s %s, called %v", r.Status, r.Reason, w.called)
	}
	if told := w.turns[2].Messages; !strings.Contains(told[len(told)-1].Text, `permission: the agent "scout" may not call the tool "delete"`) {
		t.Errorf("%v", told)
	}
}

// A subagent that is called again begins anew.
func TestSubagentAgain(t *testing.T) {
	call := `{"kind":"call_subagent","subagent_id":"scout"}`
	w := newWorld(call, done, call, done, done).agents(agentframework.Agent{ID: "scout"})
	if r := w.solve(t); r.Status != exec.Completed || len(w.turns[3].Messages) != 1 {
		t.Errorf("%s\n%v", r.Reason, w.turns[3].Messages)
	}
}

// A subagent that plans comes to a cap with a callback to its caller.
func TestSubagentCap(t *testing.T) {
	c := agentframework.DefaultPlanning()
	c.MaxSteps = 1
	w := newWorld(submit(callScout), submit(echo("x", "1"), echo("y", "1")), done).agents(agentframework.Agent{ID: "scout", Planning: c})
	want := `{"s":{"message":"Planning safety cap exceeded: max_steps=1 exceeded (executed=1). The plan execution has been halted. Please review the plan configuration.",` +
		`"response":{"agent_id":"scout","kind":"callback_to_caller","intent":"execution_recovery","message":"Planning safety cap exceeded: max_steps=1 exceeded (executed=1). ` +
		`The plan execution has been halted. Please review the plan configuration.","parameters":{"cap":"max_steps","detail":"max_steps=1 exceeded (executed=1)"}},"status":"blocked"}}`
	if r := w.solve(t); string(r.State) != want || r.Status != exec.Completed {
		t.Errorf("%s %s", r.State, r.Reason)
	}
}

// planner answers by what the request's first message says.
type planner func(ctx context.Context, first string, turn *model.Turn) string

func (p planner) Converse(ctx context.Context, turn *model.Turn) (*model.Reply, error) {
	text := p(ctx, turn.Messages[0].Text, turn)
	return &model.Reply{Text: text}, ctx.Err()
}

// Subagents of a batch run at the same time, each for as long as it may.
func TestSubagentsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := make(chan struct{}, 2)
		step := func(id string) string {
			return `{"id":"` + id + `","kind":"call_subagent","subagent_id":"scout","parameters":{"instruction":"` + id + `"}}`
		}
		w := newWorld().agents(agentframework.Agent{ID: "scout"})
		var asked atomic.Int32
		w.task.Planner = planner(func(ctx context.Context, first string, _ *model.Turn) string {
			switch {
			case first == "hang":
				<-ctx.Done()
			case first != "move":
				both <- struct{}{}
				for len(both) < 2 {
					time.Sleep(time.Millisecond)
				}
			case asked.Add(1) == 1:
				return submit(step("one"), step("hang"), step("two"), echo("e", "1"))
			}
			return done
		})
		w.opts.Agent.Planning.StepTimeoutSeconds = 2
		if r := w.solve(t); string(r.State) != `{"one":{"message":"done","response":null,"status":"completed"},"hang":{"error":"timed_out","step_id":"hang"},"two":{"message":"done","response":null,"status":"completed"},"e":"1"}` {
			t.Errorf("%s %s", r.State, r.Reason)
		}
	})
}

// A call that has to be approved waits, and the run goes on where it was: nothing is done twice.
func TestApproval(t *testing.T) {
	del := `{"id":"d","kind":"call_tool","tool_name":"delete"}`
	for _, test := range []struct {
		name      string
		decisions []string
		called    []string
	}{
		{"in a batch", []string{submit(echo("a", "1"), del, echo("b", "2", "d")), done}, []string{`echo{"msg":"1"}`, `delete{}`, `echo{"msg":"2"}`}},
		{"alone", []string{submit(del), done}, []string{`delete{}`}},
		{"after a plan", []string{submit(echo("a", "1")), `{"kind":"call_tool","tool_name":"delete"}`, done}, []string{`echo{"msg":"1"}`, `delete{}`}},
		{"as a decision", []string{`{"kind":"call_tool","tool_name":"delete"}`, done}, []string{`delete{}`}},
		{"of subagents", []string{`{"kind":"call_subagents","mode":"sequential","calls":[{"subagent_id":"echo","parameters":{"msg":"1"}},{"subagent_id":"delete"}]}`, done}, []string{`echo{"msg":"1"}`, `delete{}`}},
		{"by a subagent", []string{submit(callScout), `{"kind":"call_tool","tool_name":"echo"}`, `{"kind":"call_tool","tool_name":"delete"}`, done, done}, []string{`echo{}`, `delete{}`}},
	} {
		allowed := false
		w := newWorld(test.decisions...).agents(agentframework.Agent{ID: "scout"})
		w.opts.Loop.Exec.Approver = func(context.Context, *exec.Question) (exec.Answer, error) {
			if !allowed {
				return exec.Answer{}, exec.ErrNobody
			}
			return exec.Answer{Approved: true}, nil
		}
		h := w.host(t)
		r, err := h.RunAgent(t.Context(), "agent", nil, nil)
		if err != nil || r.Status != agentframework.Blocked || slices.Contains(w.called, "delete{}") {
			t.Errorf("%s: %+v, %v, %v", test.name, r, err, w.called)
			continue
		}
		if _, err := h.Resume(t.Context(), r.Run, json.RawMessage("1")); err == nil {
			t.Errorf("%s: it took an answer to nothing", test.name)
		}
		allowed = true
		r, err = h.Resume(t.Context(), r.Run, nil)
		if err != nil || r.Status != agentframework.Completed || !slices.Equal(w.called, test.called) || len(w.turns) != len(test.decisions) {
			t.Errorf("%s: %+v, %v, %v", test.name, r, err, w.called)
		}
		if n := strings.Count(w.said(), "<end_of_plan>"); test.name == "after a plan" && n != 2 { // before the decision, and before the next
			t.Errorf("%s: %d reminders\n%s", test.name, n, w.said())
		}
	}
	w := newWorld(submit(del), done)
	w.opts.Loop.Exec.Approver = func(context.Context, *exec.Question) (exec.Answer, error) {
		return exec.Answer{Reason: "not mine"}, nil
	}
	if r := w.solve(t); string(r.State) != `{"d":{"error":"rejected: a person rejected the call: not mine","step_id":"d"}}` {
		t.Errorf("%s", r.State)
	}
	w = newWorld(submit(del), done)
	if r := w.solve(t); r.Status != exec.Paused || r.Reason != "a call waits for approval" {
		t.Errorf("%+v", r)
	}
}

// A callback of the first agent waits for its answer.
func TestCallbackWaits(t *testing.T) {
	ask := `{"kind":"callback","intent":"policy_or_approval","message":"may I?","parameters":{"sum":5}}`
	w := newWorld(submit(echo("a", "1")), ask, done)
	w.opts.OnCallback = func(context.Context, *agentframework.Callback) (json.RawMessage, error) { return nil, exec.ErrNobody }
	h := w.host(t)
	r, err := h.RunAgent(t.Context(), "agent", nil, new(true))
	if err != nil || r.Status != agentframework.Blocked || r.Message != "may I?" || string(r.Callback.Parameters) != `{"sum":5}` || !r.Run.PlanState.AwaitingCallerCallback {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := h.Resume(t.Context(), r.Run, nil); err == nil || err.Error() != "agentframework: the run waits for an answer" {
		t.Error(err)
	}
	r, err = h.Resume(t.Context(), r.Run, json.RawMessage(`{"yes":true}`))
	if err != nil || r.Status != agentframework.Completed || r.Run.PlanState.AwaitingCallerCallback ||
		!strings.Contains(w.said(), "[assistant] "+ask+"\n[user] <callback_answer intent=\"policy_or_approval\">\n{\"yes\":true}\n</callback_answer>\n") {
		t.Errorf("%+v, %v\n%s", r, err, w.said())
	}

	// By default it is a call that waits for approval.
	for _, test := range []struct {
		answer exec.Answer
		told   string
	}{
		{exec.Answer{Approved: true}, "<callback_answer intent=\"policy_or_approval\">\n{\"approved\":true,\"parameters\":{\"sum\":5}}\n</callback_answer>"},
		{exec.Answer{Result: json.RawMessage(`"go ahead"`)}, "<callback_answer intent=\"policy_or_approval\">\ngo ahead\n</callback_answer>"},
		{exec.Answer{Reason: "too much"}, "<callback_rejected intent=\"policy_or_approval\">\na person rejected the call: too much\n</callback_rejected>"},
	} {
		w = newWorld(ask, done)
		w.opts.Loop.Exec.Approve = exec.ApproveNone
		w.opts.Loop.Exec.Approver = func(_ context.Context, q *exec.Question) (exec.Answer, error) {
			if string(q.Params) != `{"description":"may I?","intent":"policy_or_approval","parameters":{"sum":5}}` {
				t.Errorf("asked %s", q.Params)
			}
			return test.answer, nil
		}
		if r := w.solve(t); r.Status != exec.Completed || !strings.Contains(w.said(), test.told) || len(r.Runs) != 1 {
			t.Errorf("%+v\n%s", r, w.said())
		}
	}
	w = newWorld(ask, done)
	if r := w.solve(t); r.Status != exec.Paused || r.Reason != "may I?" {
		t.Errorf("%+v", r)
	}
}

// The state as JSON has what agent_framework's has.
func TestPlanStateJSON(t *testing.T) {
	w := newWorld(submit(echo("a", "1"), `{"id":"b","kind":"call_tool","tool_name":"broken"}`, callback("c")), done)
	var run *agentframework.AgentRun
	w.opts.OnPlanUpdated = func(r *agentframework.AgentRun, _ *agentframework.PlanUpdated) { run = r }
	w.solve(t)
	got, err := json.Marshal(run.PlanState)
	if err != nil {
		t.Fatal(err)
	}
	var keys struct {
		CompletedSteps []map[string]json.RawMessage `json:"completed_steps"`
	}
	if err := json.Unmarshal(got, &keys); err != nil || string(keys.CompletedSteps[1]["error"]) != `"down: no line"` || string(keys.CompletedSteps[0]["error"]) != "null" || string(keys.CompletedSteps[0]["plan_revision_at_start"]) != "1" {
		t.Errorf("%s, %v", got, err)
	}
	for _, part := range []string{`{"plan":[{"id":"a","kind"`, `"step_results":{"a":"1","b":{"error":"down: no line","step_id":"b"},"c":{"_callback_pending":true,"intent":"proposal_review","step_id":"c"}},"completed_steps":[{"step_id":"a","step":{`,
		`"plan_revision":1,"total_steps_executed":2,"pending_callback_step_id":"c","awaiting_caller_callback":false,"eop_stall_count":0}`} {
		if !strings.Contains(string(got), part) {
			t.Errorf("%s\nhas no %s", got, part)
		}
	}
	if got, _ := json.Marshal(&agentframework.PlanState{}); string(got) != `{"plan":[],"step_results":{},"completed_steps":[],"plan_revision":0,"total_steps_executed":0,"pending_callback_step_id":null,"awaiting_caller_callback":false,"eop_stall_count":0}` {
		t.Errorf("%s", got)
	}
}

// A resolver of the host's own.
type upper struct{}

func (upper) Resolve(value json.RawMessage, known *agentframework.References) (json.RawMessage, error) {
	if known.StepID == "bad" {
		return nil, errors.New("no")
	}
	r := known.StepResults.Get("a")
	return json.RawMessage(fmt.Sprintf(`{"msg":%q}`, known.StepID+known.RunID+known.AgentID+string(r)+fmt.Sprint(known.InvocationParameters.Names()))), nil
}

func TestStepRefResolver(t *testing.T) {
	w := newWorld(submit(echo("a", "1"), echo("b", "1", "a"), echo("bad", "1", "a")), done)
	w.opts.StepRefResolver = upper{}
	if r := w.solve(t); string(r.State) != `{"a":"aragent[instruction request]","b":"bragent\"aragent[instruction request]\"[instruction request]","bad":{"error":"reference: no","step_id":"bad"}}` {
		t.Errorf("%s", r.State)
	}
}

// A call that is of no plan is shown by itself, to be refused or rejected, and a plan whole.
func TestOnPlan(t *testing.T) {
	w := newWorld(`{"kind":"call_tool","tool_name":"echo"}`, submit(echo("a", "1"), echo("b", "2", "a")), done)
	var seen []int
	w.opts.Loop.OnPlan = func(p *compile.Program) error {
		seen = append(seen, len(p.Calls))
		if len(seen) == 1 {
			return errors.New("not that")
		}
		return nil
	}
	if r := w.solve(t); string(r.State) != `{"a":"1","b":"2"}` || !slices.Equal(seen, []int{1, 2}) || !strings.Contains(w.last(t, 1), "rejected: not that") {
		t.Errorf("%s %v", r.State, seen)
	}
	w = newWorld(submit(echo("a", "1")), done)
	w.opts.Loop.OnPlan = func(*compile.Program) error { return fmt.Errorf("%w: enough", loop.ErrRejected) }
	if r := w.solve(t); r.Status != exec.Rejected || r.Reason != "the plan was rejected: enough" || len(w.called) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestLimits(t *testing.T) {
	plan := submit(echo("a", "1"))
	for _, test := range []struct {
		set    func(o *loop.Options)
		reason string
	}{
		{func(o *loop.Options) { o.MaxTurns = 1 }, "the model was asked 1 times, and there is no result"},
		{func(o *loop.Options) { o.MaxTokens = 5 }, "the token budget of 5 is used up"},
		{func(o *loop.Options) { o.MaxCost, o.Prices = 1e-6, model.Prices{Input: 1} }, "the cost budget of 1e-06 is used up"},
	} {
		w := newWorld(plan, done)
		w.script.Replies[0].Input, w.script.Replies[0].Output = 4, 1
		test.set(w.opts.Loop)
		if r := w.solve(t); r.Status != exec.Failed || r.Reason != test.reason || r.Usage.Input != 4 {
			t.Errorf("%+v; want %q", r, test.reason)
		}
	}
	w := newWorld()
	w.script.Replies = []model.Reply{{Stop: model.Refusal, Reason: "no"}}
	if r := w.solve(t); r.Reason != "the model refused: no" {
		t.Errorf("%+v", r)
	}
	w.task.Planner = nil
	if r := w.solve(t); r.Reason != "the task has no planner" {
		t.Errorf("%+v", r)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.task.Planner = planner(func(ctx context.Context, _ string, _ *model.Turn) string { <-ctx.Done(); return "" })
		w.opts.Loop.MaxTime = time.Minute
		if r := w.solve(t); r.Status != exec.Failed || r.Reason != "the task took longer than 1m0s" {
			t.Errorf("%+v", r)
		}
	})
	// An answer that was cut off is a bad decision.
	w = newWorld("", done)
	w.script.Replies[0] = model.Reply{Text: done[:10], Stop: model.Length}
	if r := w.solve(t); r.Status != exec.Completed || !strings.Contains(w.said(), "the answer was cut off for its length.") {
		t.Errorf("%+v\n%s", r, w.said())
	}
}

// A plan of very many steps comes to its end.
func TestManySteps(t *testing.T) {
	steps := make([]string, effort.Of(2_000, 20_000))
	for i := range steps {
		steps[i] = fmt.Sprintf(`{"id":"s%d","kind":"callback","callback_intent":"x"}`, i)
	}
	w := newWorld(submit(steps...), `{"kind":"amend_plan","remove":["s1"]}`, submit(steps...), done).planning(t, `{"enabled":true,"max_steps":100000}`)
	if r := w.solve(t); r.Status != exec.Completed || len(w.plans) != 3 {
		t.Errorf("%s %s", r.Status, r.Reason)
	}
}

// What was done before the task was cancelled is in the state.
func TestCancelled(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	w := newWorld(submit(echo("a", "1"), `{"id":"s","kind":"call_tool","tool_name":"stop"}`, echo("b", "2", "s")))
	last := tool.Func("stop", "", func(ctx context.Context, _ struct{}) (string, error) {
		for {
			w.mu.Lock()
			n := len(w.called)
			w.mu.Unlock()
			if n > 0 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Millisecond)
		stop()
		<-ctx.Done()
		return "", ctx.Err()
	})
	w.task.Catalogue = w.task.Catalogue.WithMissing(last)
	r, err := agentframework.Solve(ctx, &w.task, &w.opts)
	if err != nil || r.Status != exec.Cancelled || string(r.State) != `{"a":"1"}` || len(r.Runs) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}

// The calls of a batch are recorded as a run, and known when it is done again.
func TestRecord(t *testing.T) {
	var ids []string
	w := newWorld(submit(echo("a", "1"), echo("b", "2", "a")), done)
	w.opts.Loop.Record = func(id string, prog *compile.Program) (exec.Record, error) {
		ids = append(ids, fmt.Sprint(id, len(prog.Calls)))
		return nil, nil
	}
	if r := w.solve(t); !slices.Equal(ids, []string{"r-11", "r-21"}) || !slices.Equal(r.Runs, []string{"r-1", "r-2"}) {
		t.Errorf("%v %v", ids, r.Runs)
	}
	w = newWorld(submit(echo("a", "1")), done)
	w.opts.Loop.Record = func(string, *compile.Program) (exec.Record, error) { return nil, errors.New("no disk") }
	if r, err := agentframework.Solve(t.Context(), &w.task, &w.opts); err == nil || r.Status != exec.Failed || len(w.called) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func BenchmarkSolve(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		steps := make([]string, n)
		for i := range steps {
			steps[i] = echo(fmt.Sprintf("s%d", i), "{{instruction}}")
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := newWorld(submit(steps...), done)
				w.opts.Agent.Planning = agentframework.DefaultPlanning()
				w.opts.Agent.Planning.MaxSteps = n
				if r, err := agentframework.Solve(b.Context(), &w.task, &w.opts); err != nil || r.Status != exec.Completed {
					b.Fatal(r, err)
				}
			}
		})
	}
}
