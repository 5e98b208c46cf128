package agentframework_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/agentframework"
	"github.com/plc-lang/plc/tool"
)

// planning has the agent plan with a block of its own.
func (w *world) planning(t *testing.T, block string) *world {
	t.Helper()
	c, err := agentframework.ParsePlanning(json.RawMessage(block))
	if err != nil {
		t.Fatal(err)
	}
	w.opts.Agent.Planning = c
	return w
}

const goOn = `{"kind":"continue_plan"}`

func resolved(v string) string {
	return `{"kind":"continue_plan","parameters":{"resolution":` + v + `}}`
}

// The plan phase: what a decision without a plan does.
func TestPlanPhase(t *testing.T) {
	for _, test := range []struct {
		name      string
		decisions []string
		status    exec.Status
		told      string // in the last request
	}{
		{"a final message ends", []string{done}, exec.Completed, "move"},
		{"a tool is called, and the phase goes on",
			[]string{`{"kind":"call_tool","tool_name":"echo","parameters":{"msg":"{{x}}"}}`, done}, exec.Completed,
			"[assistant] {\"kind\":\"call_tool\",\"tool_name\":\"echo\",\"parameters\":{\"msg\":\"{{x}}\"}}\n[user] <tool_result name=\"echo\">\n{{x}}\n</tool_result>"},
		{"one that fails", []string{`{"kind":"call_tool","tool_name":"broken"}`, done}, exec.Completed, "<tool_error name=\"broken\">\ndown: no line\n</tool_error>"},
		{"one that there is not", []string{`{"kind":"call_tool"}`, done}, exec.Completed, "<tool_error name=\"\">\ncall: the decision is a call_tool, and says not of what"},
		{"a subagent", []string{`{"kind":"call_subagent","subagent_id":"agentlike"}`, done}, exec.Completed, "[user] <subagent_result message=\"hi\">\n{\"x\": 1}\n</subagent_result>"},
		{"several", []string{`{"kind":"call_subagents","mode":"sequential","calls":[{"subagent_id":"echo","parameters":{"msg":"1"}},{"subagent_id":"echo","parameters":{"msg":"2"},"output_key":"k"}]}`, done},
			exec.Completed, "<subagent_results>\n{\n  \"call_0\": \"1\",\n  \"k\": \"2\"\n}\n</subagent_results>"},
		{"a skill", []string{`{"kind":"invoke_skill","skill_name":"brew"}`, done}, exec.Completed, "[user] <skill name=\"brew\">\nboil water\n</skill>\n"},
		{"a skill that is a tool", []string{`{"kind":"invoke_skill","skill_name":"echo","parameters":{"msg":"so"}}`, done}, exec.Completed, "<skill name=\"echo\">\nso\n</skill>"},
		{"continue_plan is a fault", []string{goOn, done}, exec.Completed,
			"<planning_validation_error>Unsupported decision kind: continue_plan. There is no plan yet; emit submit_plan.</planning_validation_error>\nYour decision did not conform to the specification. " +
				"Correct the issue described above and resubmit, matching the specification exactly.\n</system_reminder>"},
		{"amend_plan is a fault", []string{`{"kind":"amend_plan","remove":["a"]}`, done}, exec.Completed, "Unsupported decision kind: amend_plan."},
		{"prose is a fault", []string{"I would rather not.", done}, exec.Completed, "<plan_validation_error>Invalid model decision JSON: "},
		{"an object in prose is none", []string{"So: ```json\n" + done + "\n```"}, exec.Completed, "move"},
	} {
		w := newWorld(test.decisions...)
		w.opts.Skills = []agentframework.Skill{{Name: "brew", Instructions: "boil water"}}
		r := w.solve(t)
		if r.Status != test.status || !strings.Contains(w.said(), test.told) || len(w.turns) != len(test.decisions) {
			t.Errorf("%s: %s, %s\n%s", test.name, r.Status, r.Reason, w.said())
		}
	}
}

// The two counters of bad decisions. X does not parse, S breaks the rules, P is a plan, T calls a
// tool, C continues, A asks the caller, F ends.
func TestBadDecisions(t *testing.T) {
	words := map[rune]string{
		'X': `{"kind":"submit_plan","plan":[]}`, 'S': submit(echo("s", "{{nobody}}")), 'P': submit(echo("p%d", "1")),
		'T': `{"kind":"call_tool","tool_name":"echo"}`, 'C': goOn, 'F': done, 'A': `{"kind":"callback"}`,
	}
	const parse = "Two consecutive plan validation errors: Invalid submit_plan: 'plan' must be a non-empty list of step objects."
	const semantic = "Two consecutive planning semantic validation failures. Last error: The submit_plan contains {{token}} references that cannot be resolved:\n"
	for _, test := range []struct{ decisions, failure string }{
		{"XF", ""}, {"XX", parse}, {"XTXF", ""}, {"XPXF", ""}, {"XSXF", ""}, {"SF", ""}, {"SS", semantic}, {"SXS", semantic}, {"STS", semantic}, {"SPSF", ""},
		{"PSXS", semantic}, {"PSCS", semantic}, {"PXX", parse}, {"PSPSF", ""}, {"PXCXF", ""}, {"PSASF", ""}, {"SAS", semantic},
	} {
		var script []string
		for i, d := range test.decisions {
			script = append(script, strings.ReplaceAll(words[d], "%d", fmt.Sprint(i)))
		}
		w := newWorld(script...)
		w.opts.OnCallback = func(context.Context, *agentframework.Callback) (json.RawMessage, error) {
			return json.RawMessage("1"), nil
		}
		r := w.solve(t)
		want := "Planning safety cap exceeded: " + test.failure
		switch {
		case test.failure == "" && r.Status != exec.Completed, test.failure != "" && !strings.HasPrefix(r.Reason, want), len(w.turns) != len(script):
			t.Errorf("%s: %s %q after %d turns", test.decisions, r.Status, r.Reason, len(w.turns))
		case test.failure != "" && !strings.HasSuffix(r.Reason, ". The plan execution has been halted. Please review the plan configuration."):
			t.Errorf("%s: %q", test.decisions, r.Reason)
		}
	}
	w := newWorld(words['X'], done)
	w.solve(t)
	want := "<system_reminder>\n<plan_validation_error>Invalid submit_plan: 'plan' must be a non-empty list of step objects.</plan_validation_error>\n" +
		"The plan you submitted was invalid. Please submit a corrected plan.\n</system_reminder>"
	if got := w.last(t, 1); got != want {
		t.Errorf("%s", got)
	}
}

// References have to begin with a step, a step that was done, or a parameter; ids of steps that
// were done are not used again.
func TestSemanticFaults(t *testing.T) {
	w := newWorld(submit(echo("a", "{{instruction}}")), submit(echo("a", "{{a}} {{ b.x }}"), `{"id":"c","kind":"callback","callback_intent":"x","parameters":{"l":["{{0.y}}","{{a.l[0]}}","{{}}"]}}`), done)
	w.task.Context = json.RawMessage(`[{"type":"input","input":{"who":1}}]`)
	w.solve(t)
	got := w.last(t, 2)
	for _, m := range w.turns[2].Messages {
		if strings.Contains(m.Text, "planning_validation_error") {
			got = m.Text
		}
	}
	want := "<system_reminder>\n<planning_validation_error>The following step IDs in the new plan collide with already-completed steps (completed steps are immutable history and cannot be redefined): ['a']. " +
		"Choose different IDs for the new steps. Reference the completed results via {{step_id}} in parameters instead.\n\n" +
		"The submit_plan contains {{token}} references that cannot be resolved:\n" +
		"  - step 'a': {{b}} — 'b' is not a step id in this plan, a completed step id, or an invocation parameter name\n" +
		"  - step 'c': {{0}} — '0' is not a step id in this plan, a completed step id, or an invocation parameter name\n\n" +
		"Valid token roots (must match exactly):\n  Step IDs in this plan: ['a', 'c']\n  Completed step IDs from prior plan: ['a']\n  Invocation parameter names: ['instruction', 'request', 'who']\n" +
		"Correct the token names to exactly match one of the above and resubmit.</planning_validation_error>\n"
	if !strings.HasPrefix(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// What is ready: in the order of the plan, all that it depends on done; a reference does not wait.
func TestReadyBatch(t *testing.T) {
	for _, test := range []struct {
		name, block string
		plan        string
		runs        int
		state       string
	}{
		{"together", `{"enabled":true}`, submit(echo("a", "1"), echo("b", "2"), echo("c", "{{a}}{{b}}", "a", "b")), 2, `{"a":"1","b":"2","c":"12"}`},
		{"one at a time", `{"enabled":true,"parallel_execution":false}`, submit(echo("a", "1"), echo("b", "{{a}}"), echo("c", "{{a}}{{b}}", "a", "b")), 3, `{"a":"1","b":"1","c":"11"}`},
		{"a reference is no dependency", `{"enabled":true}`, submit(echo("a", "1"), echo("b", "<{{a}}>")), 1, `{"a":"1","b":"<>"}`},
		{"nor forwards", `{"enabled":true}`, submit(echo("b", "<{{a}}>"), echo("a", "1")), 1, `{"b":"<>","a":"1"}`},
		{"strict", `{"enabled":true,"ref_resolution":"strict"}`, submit(echo("a", "1"), echo("b", "{{a.x}}", "a"), echo("c", "{{a}}", "a")), 2,
			`{"a":"1","b":{"error":"reference: step_reference: token {{a.x}} — cannot traverse segment 'x' into str (run_id=r, agent_id=agent, step_id=b, path=msg)","step_id":"b"},"c":"1"}`},
		{"a result is data", `{"enabled":true}`, submit(echo("a", "†state.x"), echo("b", "{{a}} †{state.b}", "a")), 2, `{"a":"†state.x","b":"†state.x †{state.b}"}`},
	} {
		w := newWorld(test.plan, done).planning(t, test.block)
		r := w.solve(t)
		if string(r.State) != test.state || len(r.Runs) != test.runs || r.Status != exec.Completed || len(w.turns) != 2 {
			t.Errorf("%s: %d runs, %d turns, %s %v\nstate %s\nwant  %s", test.name, len(r.Runs), len(w.turns), r.Status, w.called, r.State, test.state)
		}
	}
}

// The safety caps, what they say, and where they are.
func TestCaps(t *testing.T) {
	chain := submit(echo("a", "1"), echo("b", "1", "a"), echo("c", "1", "b"))
	for _, test := range []struct {
		name, block string
		decisions   []string
		cap, detail string // "" is that it is completed
		calls       int
	}{
		{"max_steps", `{"enabled":true,"max_steps":2}`, []string{chain}, "max_steps", "max_steps=2 exceeded (executed=2)", 2},
		{"a batch does not overshoot", `{"enabled":true,"max_steps":2}`, []string{submit(echo("a", "1"), echo("b", "1"), echo("c", "1"))}, "max_steps", "max_steps=2 exceeded (executed=2)", 2},
		{"as many as there may be", `{"enabled":true,"max_steps":3}`, []string{chain, done}, "", "", 3},
		{"over revisions", `{"enabled":true,"max_steps":1}`, []string{submit(echo("a", "1")), submit(echo("b", "1"))}, "max_steps", "max_steps=1 exceeded (executed=1)", 1},
		{"callbacks that wait count", `{"enabled":true,"max_steps":1}`, []string{submit(callback("a"), echo("b", "1")), goOn}, "max_steps", "max_steps=1 exceeded (executed=1)", 0},
		{"callbacks count", `{"enabled":true,"max_steps":2}`, []string{submit(callback("a"), echo("b", "1"), echo("c", "1")), resolved("1")}, "max_steps", "max_steps=2 exceeded (executed=2)", 1},
		{"max_plan_revisions", `{"enabled":true,"max_plan_revisions":1}`, []string{chain, submit(echo("d", "1"))}, "max_plan_revisions", "max_plan_revisions=1 exceeded", 3},
		{"3 are two new plans", `{"enabled":true}`, []string{submit(echo("a", "1")), submit(echo("b", "1")), submit(echo("c", "1")), submit(echo("d", "1"))}, "max_plan_revisions", "max_plan_revisions=3 exceeded", 3},
		{"amendments count", `{"enabled":true,"max_plan_revisions":2}`,
			[]string{submit(echo("a", "1")), `{"kind":"amend_plan","add":[` + echo("b", "1") + `]}`, `{"kind":"amend_plan","add":[` + echo("c", "1") + `]}`}, "max_plan_revisions", "max_plan_revisions=2 exceeded", 2},
		{"eop_stall", `{"enabled":true}`, []string{chain, goOn, goOn, goOn}, "eop_stall", "Agent emitted continue_plan 3 times after end_of_plan with no pending steps. Expected final_message or submit_plan.", 3},
		{"two are none", `{"enabled":true}`, []string{chain, goOn, resolved("1"), done}, "", "", 3},
		{"a new plan does not reset it", `{"enabled":true}`, []string{chain, goOn, goOn, submit(echo("d", "1")), goOn}, "eop_stall", "Agent emitted continue_plan 3 times after", 4},
	} {
		w := newWorld(test.decisions...).planning(t, test.block)
		var messages []string
		var run *agentframework.AgentRun
		w.opts.OnPlanUpdated = func(r *agentframework.AgentRun, _ *agentframework.PlanUpdated) { run = r }
		r := w.solve(t)
		for _, m := range run.Messages {
			messages = append(messages, m.Text)
		}
		switch {
		case len(w.called) != test.calls, len(w.turns) != len(test.decisions):
			t.Errorf("%s: %d calls, %d turns: %s", test.name, len(w.called), len(w.turns), r.Reason)
		case test.cap == "" && r.Status != exec.Completed:
			t.Errorf("%s: %s", test.name, r.Reason)
		case test.cap == "":
		case r.Status != exec.Failed || !strings.HasPrefix(r.Reason, "Planning safety cap exceeded: "+test.detail):
			t.Errorf("%s: %s", test.name, r.Reason)
		case !strings.HasPrefix(messages[len(messages)-1], "<system_reminder>\n<safety_cap_exceeded cap=\""+test.cap+"\">"+test.detail):
			t.Errorf("%s: %s", test.name, messages[len(messages)-1])
		}
	}
}

func TestWarnings(t *testing.T) {
	w := newWorld(submit(echo("a", "1"), echo("b", "1"), echo("c", "1"), echo("d", "1"), echo("e", "{{f}}"), echo("f", "1", "e")), submit(echo("g", "1")), goOn, done).planning(t, `{"enabled":true,"max_steps":6,"max_plan_revisions":5}`)
	w.solve(t)
	want := []string{
		"Planning: agent agent approaching max_steps cap (5/6)",
		"step_reference: token {{f}} not found — resolving to empty string (run_id=r, agent_id=agent, step_id=e, path=msg)",
		"Planning: agent agent approaching max_steps cap (6/6)",
		"Planning: agent agent approaching max_steps cap (7/6)",
	}
	if !slices.Equal(w.warned, want) {
		t.Errorf("warned\n%s", strings.Join(w.warned, "\n"))
	}
	w = newWorld(submit(echo("a", "1")), submit(echo("b", "1")), submit(echo("c", "1")), submit(echo("d", "1")), submit(`{"id":"e","kind":"call_tool","tool_name":"broken"}`), goOn, done).planning(t, `{"enabled":true,"max_plan_revisions":5}`)
	w.solve(t)
	want = []string{
		"Planning: agent agent approaching max_plan_revisions cap (4/5)", "Planning: step 'e' failed: down: no line",
		"Planning: agent agent emitted continue_plan at end_of_plan (stall 1/3) — injecting reminder to finalize",
	}
	if !slices.Equal(w.warned, want) {
		t.Errorf("warned\n%s", strings.Join(w.warned, "\n"))
	}
	stall := "<system_reminder>\nAll plan steps are complete (<end_of_plan> was signalled). continue_plan is not valid here. Emit final_message to return your result, or submit_plan if the results require additional steps.\n</system_reminder>"
	m := w.turns[len(w.turns)-1].Messages
	if m[len(m)-2].Text != stall {
		t.Errorf("stalled: %s", m[len(m)-2].Text)
	}
}

// A new plan has the steps that were done, in their order, and its own; the others vanish.
func TestReplan(t *testing.T) {
	w := newWorld(submit(callback("ask"), echo("b", "1"), echo("z", "2"), echo("late", "3", "ask"), callback("ask2")), submit(echo("n", "{{b}}{{z}}"), callback("ask")), resolved(`"yes"`), done)
	r := w.solve(t)
	if r.Status != exec.Completed || string(r.State) != `{"b":"1","z":"2","n":"12","ask":{"_callback_resolved":true,"intent":"proposal_review","resolution":"yes"}}` {
		t.Errorf("%s %s", r.Reason, r.State)
	}
	got, _ := json.Marshal(w.plans[1])
	want := `{"type":"plan_updated","is_initial":false,"plan_revision":2,"step_count":4,"added_step_ids":["n"],"dropped_step_ids":["ask2","late"],"plan":[` +
		`{"id":"b","kind":"call_tool","tool_name":"echo","subagent_id":null,"skill_name":null,"callback_intent":null,"depends_on":[],"message":"","parameters":{"msg":"1"}},` +
		`{"id":"z","kind":"call_tool","tool_name":"echo","subagent_id":null,"skill_name":null,"callback_intent":null,"depends_on":[],"message":"","parameters":{"msg":"2"}},` +
		`{"id":"n","kind":"call_tool","tool_name":"echo","subagent_id":null,"skill_name":null,"callback_intent":null,"depends_on":[],"message":"","parameters":{"msg":"{{b}}{{z}}"}},` +
		`{"id":"ask","kind":"callback","tool_name":null,"subagent_id":null,"skill_name":null,"callback_intent":"proposal_review","depends_on":[],"message":"","parameters":{}}]}`
	if string(got) != want {
		t.Errorf("event %s\nwant %s", got, want)
	}
	if got, _ := json.Marshal(w.plans[0]); !strings.HasPrefix(string(got), `{"type":"plan_updated","is_initial":true,"plan_revision":1,"step_count":5,"added_step_ids":["ask","ask2","b","late","z"],"dropped_step_ids":[],`) {
		t.Errorf("event %s", got)
	}
	if len(r.Revisions) != 1 || r.Revisions[0].Turn != 2 || !slices.Equal(r.Revisions[0].Kept, []string{"ask", "b", "z"}) || r.Revisions[0].Reason != "m" {
		t.Errorf("revisions %+v", r.Revisions)
	}
}

func TestAmend(t *testing.T) {
	amend := func(add, remove string) string {
		return `{"kind":"amend_plan","message":"why","add":[` + add + `],"remove":[` + remove + `]}`
	}
	first := submit(echo("a", "1"), echo("b", "2", "a"), echo("c", "3", "b"))
	for _, test := range []struct{ name, amendment, state, fault string }{
		{"add", amend(echo("d", "{{a}}{{b}}", "b"), ``), `{"a":"1","b":"2","c":"3","d":"12"}`, ""},
		{"remove", amend(``, `"c"`), `{"a":"1","b":"2"}`, ""},
		{"replace", amend(echo("c", "other", "b"), `"c"`), `{"a":"1","b":"2","c":"other"}`, ""},
		{"remove with what depends on it", amend(``, `"b","c"`), `{"a":"1"}`, ""},
		{"what is done stays", amend(``, `"a"`), "", "The amend_plan removes 'a', which is already completed (completed steps are immutable history)."},
		{"what there is not", amend(``, `"x"`), "", "The amend_plan removes 'x', which is not a step of the plan. Pending step IDs: ['b', 'c']."},
		{"what others depend on", amend(``, `"b"`), "", "The amend_plan removes 'b', on which the pending step 'c' depends. Remove that step as well."},
		{"references", amend(echo("d", "{{x}}"), ``), "", "The amend_plan contains {{token}} references that cannot be resolved:\n  - step 'd': {{x}} — 'x' is not"},
		{"ids that are done", amend(echo("a", "1"), ``), "", "The following step IDs in the new plan collide with already-completed steps"},
	} {
		w := newWorld(first, test.amendment, goOn, goOn, goOn, done).planning(t, `{"enabled":true,"reflect_after_each_batch":true}`)
		w.script.Replies = slices.Clip(w.script.Replies)
		r, err := agentframework.Solve(t.Context(), &w.task, &w.opts)
		if test.fault != "" {
			if said := w.said(); !strings.Contains(said, "<planning_validation_error>"+test.fault) {
				t.Errorf("%s:\n%s", test.name, said)
			}
			continue
		}
		if err != nil || string(r.State) != test.state || w.plans[len(w.plans)-1].PlanRevision != 2 {
			t.Errorf("%s: %s %v %s", test.name, r.State, err, r.Reason)
		}
	}
	// A reference of a step that stays to one that goes is a fault too.
	w := newWorld(submit(echo("a", "1"), echo("b", "2", "a"), echo("c", "{{b}}", "a")), amend(``, `"b"`), done).planning(t, `{"enabled":true,"reflect_after_each_batch":true}`)
	w.solve(t)
	if !strings.Contains(w.said(), "The amend_plan contains {{token}} references that cannot be resolved:\n  - step 'c': {{b}}") {
		t.Errorf("%s", w.said())
	}
	// A callback that waits, waits on.
	w = newWorld(submit(callback("ask")), amend(echo("x", "{{ask.resolution}}", "ask"), ``), resolved("7"), done)
	if r := w.solve(t); string(r.State) != `{"ask":{"_callback_resolved":true,"intent":"proposal_review","resolution":7},"x":7}` {
		t.Errorf("%s %s", r.State, r.Reason)
	}
	if n := len(w.turns[3].Messages); n != 8 { // the goal; the plan, the callback, reflection; the plan, reflection; x, reflection
		t.Errorf("%d messages:\n%s", n, w.said())
	}
}

// By default the model is asked when nothing is ready; else after each batch.
func TestReflectAfterEachBatch(t *testing.T) {
	plan := submit(echo("a", "1"), echo("b", "2", "a"), echo("c", "3", "b"))
	w := newWorld(plan, done)
	if r := w.solve(t); len(w.turns) != 2 || len(w.called) != 3 {
		t.Errorf("by default: %d turns, %v", len(w.turns), r.Reason)
	}
	w = newWorld(plan, goOn, goOn, goOn, done).planning(t, `{"enabled":true,"reflect_after_each_batch":true}`)
	if r := w.solve(t); len(w.turns) != 5 || len(w.called) != 3 || r.Status != exec.Completed {
		t.Errorf("after each batch: %d turns, %v", len(w.turns), r.Reason)
	}
	if m := w.turns[1].Messages; !strings.Contains(m[len(m)-1].Text, `<pending_steps>["b", "c"]</pending_steps>`) || strings.Contains(m[len(m)-1].Text, "end_of_plan") {
		t.Errorf("after the first: %s", m[len(m)-1].Text)
	}
	w = newWorld(plan, done).planning(t, `{"enabled":true,"reflect_after_each_batch":true}`)
	if r := w.solve(t); len(w.called) != 1 || r.Status != exec.Completed {
		t.Errorf("with steps left: %v %v", w.called, r.Reason)
	}
	// A bad decision is answered before anything else runs.
	w = newWorld(plan, "{}", submit(echo("d", "4")), done).planning(t, `{"enabled":true,"reflect_after_each_batch":true}`)
	if w.solve(t); !slices.Equal(w.called, []string{`echo{"msg":"1"}`, `echo{"msg":"4"}`}) {
		t.Errorf("called %v", w.called)
	}
	// With a callback that waits, going on goes on, and a resolution resolves.
	w = newWorld(submit(callback("q"), echo("a", "1"), echo("b", "2", "a")), goOn, resolved("true"), done).planning(t, `{"enabled":true,"reflect_after_each_batch":true}`)
	if r := w.solve(t); string(r.State) != `{"q":{"_callback_resolved":true,"intent":"proposal_review","resolution":true},"a":"1","b":"2"}` {
		t.Errorf("%s %s", r.State, r.Reason)
	}
	// The loop's options say it too.
	w = newWorld(plan, goOn, goOn, goOn, done)
	w.opts.Loop.Reflect, w.opts.Loop.MaxRevisions = loop.ReflectAfterBatch, -1
	if w.solve(t); len(w.turns) != 5 {
		t.Errorf("%d turns", len(w.turns))
	}
	w = newWorld(submit(echo("a", "1")), submit(echo("b", "1")), submit(echo("c", "1")))
	w.opts.Loop.MaxRevisions = 1
	if r := w.solve(t); !strings.Contains(r.Reason, "max_plan_revisions=2 exceeded") {
		t.Errorf("%s", r.Reason)
	}
}

// Callbacks of steps are for the model, one after the other.
func TestCallbackSteps(t *testing.T) {
	w := newWorld(submit(callback("x"), callback("y"), echo("z", "{{x.resolution}}/{{y.resolution}}", "x", "y")), resolved(`{"a":[1]}`), goOn, done)
	r := w.solve(t)
	want := `{"x":{"_callback_resolved":true,"intent":"proposal_review","resolution":{"a":[1]}},"y":{"_callback_resolved":true,"intent":"proposal_review","resolution":null},"z":"{\"a\":[1]}/null"}`
	if string(r.State) != want || r.Status != exec.Completed {
		t.Errorf("%s %s", r.State, r.Reason)
	}
	if !strings.Contains(w.last(t, 1), `<pending_callback step_id="x"`) || !strings.Contains(w.last(t, 2), `<pending_callback step_id="y"`) || strings.Contains(w.last(t, 3), "<pending_callback") {
		t.Error(w.said())
	}
	if strings.Contains(w.last(t, 2), "end_of_plan") {
		t.Errorf("the end is not yet: %s", w.last(t, 2))
	}
}

// A callback is no way out of steps that have failed.
func TestCallbackAfterFailures(t *testing.T) {
	ask := `{"kind":"callback","intent":"information_request","message":"help"}`
	broken := func(id string) string { return `{"id":"` + id + `","kind":"call_tool","tool_name":"broken"}` }
	w := newWorld(submit(broken("a"), broken("b"), broken("c"), broken("d"), broken("e"), broken("f")), ask, done)
	w.opts.OnCallback = func(context.Context, *agentframework.Callback) (json.RawMessage, error) {
		t.Error("somebody was asked")
		return nil, nil
	}
	if r := w.solve(t); r.Status != exec.Completed || !strings.Contains(w.said(), "<planning_validation_error>You emitted 'callback' at end_of_plan, but the plan completed with step execution errors: "+
		"'a': down: no line; 'b': down: no line; 'c': down: no line; 'd': down: no line; 'e': down: no line. Step execution errors are system results — do not escalate them to the user as if they need to provide clarification. "+
		"Instead: emit 'final_message' to report the plan outcome (summarise which steps failed and why), or emit 'submit_plan' with corrected steps to retry the failed work.</planning_validation_error>") {
		t.Errorf("%s\n%s", r.Reason, w.said())
	}
	w = newWorld(submit(broken("a")), ask, ask)
	if r := w.solve(t); !strings.HasPrefix(r.Reason, "Planning safety cap exceeded: Two consecutive planning semantic validation failures. Last error: You emitted 'callback'") {
		t.Errorf("%s", r.Reason)
	}
	// Otherwise it is put to whoever there is.
	w = newWorld(submit(echo("a", "1")), ask, done)
	w.opts.OnCallback = func(_ context.Context, c *agentframework.Callback) (json.RawMessage, error) {
		return json.RawMessage(`"` + c.Intent + c.Message + c.AgentID + `"`), nil
	}
	if r := w.solve(t); r.Status != exec.Completed || !strings.Contains(w.said(), "<callback_answer intent=\"information_request\">\ninformation_requesthelpagent\n</callback_answer>") {
		t.Errorf("%s\n%s", r.Reason, w.said())
	}
}

// The time of a batch of several steps; one alone has none.
func TestStepTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(submit(`{"id":"slow","kind":"call_tool","tool_name":"slow"}`, echo("a", "1"), echo("b", "{{slow.error}}", "slow")), done).planning(t, `{"enabled":true,"step_timeout_seconds":1.5}`)
		slow := tool.Func("slow", "", func(ctx context.Context, _ struct{}) (string, error) {
			select {
			case <-ctx.Done():
			case <-time.After(time.Hour):
			}
			return "late", ctx.Err()
		})
		w.task.Catalogue = w.task.Catalogue.WithMissing(slow)
		begun := time.Now()
		r := w.solve(t)
		if took := time.Since(begun); took != 1500*time.Millisecond || string(r.State) != `{"slow":{"error":"timed_out","step_id":"slow"},"a":"1","b":"timed_out"}` {
			t.Errorf("%s after %s", r.State, took)
		}
		w = newWorld(submit(`{"id":"slow","kind":"call_tool","tool_name":"slow"}`), done).planning(t, `{"enabled":true,"step_timeout_seconds":1.5}`)
		w.task.Catalogue = w.task.Catalogue.WithMissing(slow)
		if r := w.solve(t); string(r.State) != `{"slow":"late"}` {
			t.Errorf("alone: %s", r.State)
		}
		for _, plan := range []string{submit(`{"id":"slow","kind":"call_tool","tool_name":"slow"}`), submit(`{"id":"slow","kind":"call_tool","tool_name":"slow"}`, echo("a", "1"))} {
			w = newWorld(plan, done)
			w.opts.Loop.Exec.Timeout = time.Second // shorter goes first
			w.task.Catalogue = w.task.Catalogue.WithMissing(slow)
			begun = time.Now()
			if r := w.solve(t); time.Since(begun) != time.Second || !strings.HasPrefix(string(r.State), `{"slow":{"error":"timed_out","step_id":"slow"}`) {
				t.Errorf("%s after %s", r.State, time.Since(begun))
			}
		}
	})
}

// Whatever a model decides, the run ends, within its caps, and no step is done twice.
func FuzzSolve(f *testing.F) {
	const a, b = "abcd", "wxyz"
	decision := func(c, arg byte) string {
		id, other := string(a[arg%4]), string(a[arg/4%4])
		switch c % 12 {
		case 0:
			return submit(echo(id, "{{instruction}}"))
		case 1:
			return submit(callback(id), echo(string(b[arg%4]), "{{"+id+"}}", id))
		case 2:
			return submit(echo(id, "1"), echo(other, "{{"+id+".x}}", id))
		case 3:
			return goOn
		case 4:
			return resolved("1")
		case 5:
			return `{"kind":"amend_plan","remove":["` + id + `"]}`
		case 6:
			return `{"kind":"amend_plan","add":[` + echo(id, "{{"+other+"}}", other) + `]}`
		case 7:
			return `{"kind":"call_tool","tool_name":"` + []string{"echo", "broken", "delete", "nobody"}[arg%4] + `"}`
		case 8:
			return submit(`{"id":"`+id+`","kind":"call_tool","tool_name":"broken"}`, `{"id":"`+string(b[arg%4])+`","kind":"invoke_skill","skill_name":"echo"}`)
		case 9:
			return `{"kind":"callback"}`
		case 10:
			return "?"
		}
		return done
	}
	for _, s := range []string{"", "\x00\x00\x03\x00", "\x01\x00\x04\x00\x0b\x00", "\x01\x01\x06\x15\x05\x01\x04\x00\x03\x00\x03\x00", "\x08\x02\x09\x00\x0a\x00\x02\x07\x07\x02"} {
		f.Add([]byte(s), false, uint8(5))
		f.Add([]byte(s), true, uint8(1))
	}
	f.Fuzz(func(t *testing.T, script []byte, each bool, most uint8) {
		var decisions []string
		for i := 0; i+1 < len(script) && i < 60; i += 2 {
			decisions = append(decisions, decision(script[i], script[i+1]))
		}
		w := newWorld(append(decisions, done)...)
		c := agentframework.DefaultPlanning()
		c.ReflectAfterEachBatch, c.MaxSteps = each, int(most%8)+1
		w.opts.Agent.Planning = c
		w.opts.OnCallback = func(context.Context, *agentframework.Callback) (json.RawMessage, error) {
			return json.RawMessage("1"), nil
		}
		var run *agentframework.AgentRun
		w.opts.OnPlanUpdated = func(r *agentframework.AgentRun, _ *agentframework.PlanUpdated) { run = r }
		r, err := agentframework.Solve(t.Context(), &w.task, &w.opts)
		switch {
		case len(w.turns) > len(decisions)+1: // a fault in the last decision wants another
			return
		case err != nil:
			t.Fatal(err)
		case run == nil:
			return
		}
		s, seen := run.PlanState, map[string]bool{}
		for _, c := range s.CompletedSteps {
			if seen[c.StepID] {
				t.Errorf("%s was done twice", c.StepID)
			}
			seen[c.StepID] = true
		}
		if s.TotalStepsExecuted > c.MaxSteps || s.TotalStepsExecuted != len(seen) || s.PlanRevision > c.MaxPlanRevisions || !json.Valid(r.State) {
			t.Errorf("%d steps, plan %d, %+v", s.TotalStepsExecuted, s.PlanRevision, r)
		}
	})
}
