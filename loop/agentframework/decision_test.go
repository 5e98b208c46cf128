package agentframework_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plc-lang/plc/loop/agentframework"
)

func TestParseDecision(t *testing.T) {
	const bad = "Invalid model decision JSON: "
	plan := func(steps string) string { return `{"kind":"submit_plan","plan":[` + steps + `]}` }
	known := agentframework.Known{Planning: true, Completed: []string{"old"}, Pending: []string{"wait", "later"}}
	for _, test := range []struct{ payload, want string }{
		// The object and its kind.
		{`[]`, bad + `payload must be a JSON object with a top-level "kind" field.`},
		{`{"kind"`, bad + `payload must be a JSON object with a top-level "kind" field.`},
		{`{}`, bad + `missing top-level "kind" field (json_object contract requires a structured decision object).`},
		{`{"kind":"dance"}`, bad + `unsupported 'kind' 'dance'. Must be one of: amend_plan, call_subagent, call_subagents, call_tool, callback, callback_to_caller, ` +
			`continue_plan, final_message, invoke_skill, request_resolution, request_user_input, submit_plan. ` +
			`Callback-style intents may also be used as top-level kind (see agents/system.decision.md). Do not invent other kinds.`},
		{`{"kind":null}`, bad + `unsupported 'kind' 'None'. Must be`},
		{`{"kind":"call_tool","tool_name":"a","subagent_id":"b"}`, bad + `both subagent_id and tool_name are set; use exactly one target per decision.`},
		{`{"kind":"final_message","parameters":{"a":1}}`, bad + `final_message with structured output must use 'response' (a JSON object). Setting 'parameters' on a final_message ` +
			`result is no longer supported. Move the structured payload to 'response'.`},
		{`{"kind":"final_message","parameters":{"a":1},"response":{}}`, ``},
		{`{"kind":"final_message","parameters":{}}`, ``},
		{`{"kind":"final_message","response":[1]}`, bad + `'response' must be a JSON object.`},
		{`{"kind":"final_message","message":null,"response":"so"}`, bad + `'response' must be a JSON object.`},
		{`{"kind":"final_message","message":"so","response":"so"}`, ``},
		{`{"kind":"final_message","message":null,"response":null}`, ``},
		{`{"kind":"call_tool","parameters":[1]}`, bad + `'parameters' must be a JSON object.`},
		{`{"kind":"call_tool","parameters":null}`, ``},

		// call_subagents.
		{`{"kind":"call_subagents"}`, bad + `call_subagents requires 'mode' set to 'parallel' or 'sequential'; got None.`},
		{`{"kind":"call_subagents","mode":"both"}`, bad + `call_subagents requires 'mode' set to 'parallel' or 'sequential'; got 'both'.`},
		{`{"kind":"call_subagents","mode":"parallel","timeout_seconds":0}`, bad + `call_subagents 'timeout_seconds' must be a positive number; got 0.`},
		{`{"kind":"call_subagents","mode":"parallel","timeout_seconds":true}`, bad + `call_subagents 'timeout_seconds' must be a positive number; got True.`},
		{`{"kind":"call_subagents","mode":"parallel","timeout_seconds":"5"}`, bad + `call_subagents 'timeout_seconds' must be a positive number; got '5'.`},
		{`{"kind":"call_subagents","mode":"parallel","calls":[]}`, bad + `call_subagents 'calls' must be a non-empty list.`},
		{`{"kind":"call_subagents","mode":"parallel","calls":[1]}`, bad + `call_subagents 'calls[0]' must be a JSON object.`},
		{`{"kind":"call_subagents","mode":"parallel","calls":[{"subagent_id":"a"},{}]}`, bad + `call_subagents 'calls[1]' is missing 'subagent_id'.`},
		{`{"kind":"call_subagents","mode":"parallel","calls":[{"subagent_id":"a","tool_name":"b"}]}`, bad + `call_subagents 'calls[0]' must not set 'tool_name'; use 'subagent_id' only.`},

		// Plans.
		{`{"kind":"submit_plan"}`, `Invalid submit_plan: 'plan' must be a non-empty list of step objects.`},
		{plan(``), `Invalid submit_plan: 'plan' must be a non-empty list of step objects.`},
		{`{"kind":"submit_plan","plan":{"a":1}}`, `Invalid submit_plan: 'plan' must be a non-empty list of step objects.`},
		{plan(`"a"`), `Invalid submit_plan: step at index 0 must be a JSON object.`},
		{plan(`{"kind":"call_tool"}`), `Invalid submit_plan: step at index 0 is missing 'id'.`},
		{plan(`null`), `Invalid submit_plan: step at index 0 must be a JSON object.`},
		{plan(`{"id":null,"kind":"call_tool","tool_name":"t"}`), `Invalid submit_plan: step at index 0 is missing 'id'.`},
		{plan(`{"id":"a","kind":null}`), `Invalid submit_plan: step 'a' has unsupported kind 'None'. Must be one of:`},
		{plan(`{"id":"a","kind":"call_tool","tool_name":"t","parameters":null,"depends_on":null,"message":null}`), ``},
		{plan(`{"id":"a","kind":"call_tool","tool_name":"t","depends_on":5}`), `Invalid submit_plan: step 'a' 'depends_on' must be a list.`},
		{plan(`{"id":"a","kind":"call_tool","tool_name":"t","depends_on":[null]}`), `Invalid submit_plan: step 'a' depends_on 'None' which is not defined in this plan.`},
		{plan(`{"id":"a","id":"b","kind":"call_tool","tool_name":"t"}`), bad + `payload must be a JSON object with a top-level "kind" field.`},
		{"{\"kind\":\"submit_plan\",\"plan\":[{\"id\":\"a\xff\"}]}", bad + `payload must be a JSON object with a top-level "kind" field.`},
		{plan(`{"id":"é","kind":"call_tool","tool_name":"t"}`), `Invalid submit_plan: step id 'é' at index 0 does not match`},
		{plan(`{"id":" "}`), `Invalid submit_plan: step at index 0 is missing 'id'.`},
		{plan(`{"id":"1a"}`), `Invalid submit_plan: step id '1a' at index 0 does not match ^[a-zA-Z][a-zA-Z0-9_]*$.`},
		{plan(`{"id":7}`), `Invalid submit_plan: step id '7' at index 0 does not match ^[a-zA-Z][a-zA-Z0-9_]*$.`},
		{plan(`{"id":"a'b"}`), `Invalid submit_plan: step id "a'b" at index 0 does not match ^[a-zA-Z][a-zA-Z0-9_]*$.`},
		{plan(echo("a", "") + "," + echo("b", "") + "," + echo("a", "")), `Invalid submit_plan: duplicate step id 'a' at index 2 (first occurrence at index 0).`},
		{plan(`{"id":"a"}`), `Invalid submit_plan: step 'a' has unsupported kind ''. Must be one of: ['call_subagent', 'call_tool', 'callback', 'invoke_skill'].`},
		{plan(`{"id":"a","kind":"final_message"}`), `Invalid submit_plan: step 'a' has unsupported kind 'final_message'. Must be one of:`},
		{plan(`{"id":"a","kind":"call_tool","tool_name":"t","subagent_id":"s"}`), `Invalid submit_plan: step 'a' has both 'tool_name' and 'subagent_id' set; use exactly one.`},
		{plan(`{"id":"a","kind":"call_tool"}`), `Invalid submit_plan: step 'a' has kind 'call_tool' but is missing 'tool_name'.`},
		{plan(`{"id":"a","kind":"call_subagent","tool_name":"t"}`), `Invalid submit_plan: step 'a' has kind 'call_subagent' but is missing 'subagent_id'.`},
		{plan(`{"id":"a","kind":"call_subagent","parameters":{"subagent_id":7}}`), `Invalid submit_plan: step 'a' has kind 'call_subagent' but is missing 'subagent_id'.`},
		{plan(`{"id":"a","kind":"invoke_skill","skill_name":null}`), `Invalid submit_plan: step 'a' has kind 'invoke_skill' but is missing 'skill_name'.`},
		{plan(`{"id":"a","kind":"callback","callback_intent":""}`), `Invalid submit_plan: step 'a' has kind 'callback' but is missing 'callback_intent'.`},
		{plan(`{"id":"a","kind":"callback","callback_intent":"no such intent"}`), ``},
		{plan(`{"id":"a","kind":"call_tool","tool_name":"t","depends_on":"b"}`), `Invalid submit_plan: step 'a' 'depends_on' must be a list.`},
		{plan(`{"id":"a","kind":"call_tool","tool_name":"t","depends_on":""}`), ``},
		{plan(`{"id":"a","kind":"call_tool","tool_name":"t","depends_on":["a"]}`), `Invalid submit_plan: step 'a' depends_on 'a' which is not defined in this plan. ` +
			`Only reference step IDs that appear earlier in the same plan array (no forward references).`},
		{plan(echo("a", "", "b") + "," + echo("b", "", "a")), `Invalid submit_plan: step 'a' depends_on 'b' which is not defined in this plan.`},
		{plan(echo("a", "", "wait")), `Invalid submit_plan: step 'a' depends_on 'wait' which is not defined in this plan.`},
		{plan(echo("a", "", "old")), `Invalid submit_plan: step 'a' depends_on 'old' which is already completed from a previous plan. ` +
			`Remove it from depends_on — its result is still accessible as {{old}} in parameters.`},
		{plan(`{"id":"a","kind":"call_tool","tool_name":"t","parameters":"x"}`), `Invalid submit_plan: step 'a' 'parameters' must be a JSON object.`},

		// Amendments.
		{`{"kind":"amend_plan"}`, `Invalid amend_plan: 'add' or 'remove' must be a non-empty list.`},
		{`{"kind":"amend_plan","add":{"a":1}}`, `Invalid amend_plan: 'add' must be a list of step objects.`},
		{`{"kind":"amend_plan","remove":"wait"}`, `Invalid amend_plan: 'remove' must be a list of step ids.`},
		{`{"kind":"amend_plan","add":[` + echo("a", "", "wait") + `]}`, ``},
		{`{"kind":"amend_plan","plan":[` + echo("a", "", "wait") + `],"remove":["later"]}`, ``},
		{`{"kind":"amend_plan","add":[` + echo("a", "", "wait") + `],"remove":["wait"]}`, `Invalid amend_plan: step 'a' depends_on 'wait' which is not defined in this plan.`},
		{`{"kind":"amend_plan","add":[` + echo("wait", "") + `]}`, `Invalid amend_plan: step id 'wait' at index 0 is already in the plan.`},
		{`{"kind":"amend_plan","add":[` + echo("wait", "") + `],"remove":["wait"]}`, ``},
		{`{"kind":"amend_plan","add":[` + echo("a", "", "old") + `]}`, `Invalid amend_plan: step 'a' depends_on 'old' which is already completed from a previous plan.`},
	} {
		_, err := agentframework.ParseDecision(json.RawMessage(test.payload), known)
		switch {
		case err == nil && test.want != "", err != nil && test.want == "":
			t.Errorf("%s: %v", test.payload, err)
		case err != nil && !strings.HasPrefix(err.Error(), test.want):
			t.Errorf("%s:\n got %s\nwant %s", test.payload, err, test.want)
		}
	}
	for _, kind := range []string{"submit_plan", "continue_plan", "amend_plan"} {
		_, err := agentframework.ParseDecision(json.RawMessage(`{"kind":"`+kind+`"}`), agentframework.Known{})
		want := bad + `decision kind '` + kind + `' is only valid for planning-enabled agents. Enable planning via 'planning: enabled: true' in the agent frontmatter or pass planning_override=True at call time.`
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Intents are kinds as well, and texts are trimmed.
func TestDecisionKinds(t *testing.T) {
	for _, test := range []struct{ payload, kind, intent string }{
		{`{"kind":" callback ","intent":" guardrail_trip "}`, "callback", "guardrail_trip"},
		{`{"kind":"policy_or_approval","intent":"x"}`, "callback", "policy_or_approval"},
		{`{"kind":"request_parameter"}`, "request_user_input", "information_request"},
		{`{"kind":"request_resolution"}`, "request_resolution", ""},
	} {
		d, err := agentframework.ParseDecision(json.RawMessage(test.payload), agentframework.Known{})
		if err != nil || d.Kind != test.kind || d.CallbackIntent != test.intent {
			t.Errorf("%s: %+v, %v", test.payload, d, err)
		}
	}
	d, err := agentframework.ParseDecision(json.RawMessage(`{"kind":"call_subagents","mode":"sequential","timeout_seconds":2.5,"calls":[{"subagent_id":"a"},{"subagent_id":"b","output_key":"k","parameters":{"x":1}}]}`), agentframework.Known{})
	if err != nil || d.BatchTimeoutSeconds != 2.5 || d.SubagentCalls[0].OutputKey != "call_0" || d.SubagentCalls[1].OutputKey != "k" || string(d.SubagentCalls[1].Parameters) != `{"x":1}` {
		t.Errorf("%+v, %v", d, err)
	}
}

// A step has nine members as JSON; a subagent may stand among its parameters, where its own goes
// first.
func TestPlanStep(t *testing.T) {
	for _, test := range []struct{ step, want string }{
		{`{"id":"a","kind":"call_tool","tool_name":"t"}`,
			`{"id":"a","kind":"call_tool","tool_name":"t","subagent_id":null,"skill_name":null,"callback_intent":null,"depends_on":[],"message":"","parameters":{}}`},
		{`{"id":"a","kind":"call_subagent","parameters":{"x":1.10,"subagent_id":"s"},"message":" <m> "}`,
			`{"id":"a","kind":"call_subagent","tool_name":null,"subagent_id":"s","skill_name":null,"callback_intent":null,"depends_on":[],"message":"<m>","parameters":{"x":1.10}}`},
		{`{"id":"a","kind":"call_subagent","subagent_id":"top","parameters":{"subagent_id":"s"}}`,
			`{"id":"a","kind":"call_subagent","tool_name":null,"subagent_id":"top","skill_name":null,"callback_intent":null,"depends_on":[],"message":"","parameters":{"subagent_id":"s"}}`},
	} {
		d, err := agentframework.ParseDecision(json.RawMessage(`{"kind":"submit_plan","plan":[`+test.step+`]}`), agentframework.Known{Planning: true})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := d.Plan[0].MarshalJSON(); err != nil || string(got) != test.want {
			t.Errorf("%s, %v\nwant %s", got, err, test.want)
		}
	}
}

func FuzzParseDecision(f *testing.F) {
	for _, s := range []string{
		done, submit(echo("a", "{{x.y}}"), callback("b", "a")), `{"kind":"amend_plan","add":[],"remove":["a"]}`, `{"kind":"continue_plan","parameters":{"resolution":null}}`,
		`{"kind":"call_subagents","mode":"parallel","calls":[{"subagent_id":"a"}]}`, `{"kind":{"a":[]},"plan":3}`, "{\"kind\":\"\xff\"}", `{"kind":"submit_plan","plan":[{"id":{}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		d, err := agentframework.ParseDecision(payload, agentframework.Known{Planning: true, Completed: []string{"old"}, Pending: []string{"wait"}})
		if err != nil {
			return
		}
		seen := map[string]bool{"wait": d.Kind == agentframework.AmendPlan}
		for _, s := range d.Plan {
			for _, dep := range s.DependsOn {
				if !seen[dep] {
					t.Errorf("%s depends on %s, which does not stand before it", s.ID, dep)
				}
			}
			seen[s.ID] = true
			if b, err := s.MarshalJSON(); err != nil || !json.Valid(b) {
				t.Errorf("%s, %v", b, err)
			}
		}
	})
}
