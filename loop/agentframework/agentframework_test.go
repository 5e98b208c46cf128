package agentframework_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/agentframework"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// world is tools that note what they are called with, and a model that says what it is to.
type world struct {
	mu     sync.Mutex
	called []string // tool and params
	turns  []*model.Turn
	warned []string
	plans  []*agentframework.PlanUpdated
	script *loop.Script
	opts   agentframework.Options
	task   loop.Task
}

func newWorld(decisions ...string) *world {
	w := &world{script: loop.Say(decisions...)}
	w.script.OnTurn = func(t *model.Turn) { w.turns = append(w.turns, t) }
	note := func(name string, f func(v map[string]any) (any, error)) *tool.Tool {
		t := tool.Func(name, "", func(_ context.Context, v map[string]any) (any, error) {
			b, _ := json.Marshal(v)
			w.mu.Lock()
			w.called = append(w.called, name+string(b))
			w.mu.Unlock()
			return f(v)
		})
		t.Definition.Effects.ReadOnly = tool.Yes
		return t
	}
	del := note("delete", func(map[string]any) (any, error) { return "gone", nil })
	del.Definition.Effects.ReadOnly, del.Definition.Effects.Destructive = tool.No, tool.Yes
	w.task = loop.Task{
		Goal: "move", Planner: w.script,
		Catalogue: tool.NewCatalogue(
			note("echo", func(v map[string]any) (any, error) { return v["msg"], nil }),
			note("player", func(map[string]any) (any, error) { return map[string]any{"name": "Bo", "items": []any{"a", 7}}, nil }),
			note("broken", func(map[string]any) (any, error) { return nil, &tool.Error{Code: "down", Message: "no line"} }),
			note("agentlike", func(map[string]any) (any, error) {
				return map[string]any{"message": "hi", "response": map[string]any{"x": 1}, "status": "blocked"}, nil
			}),
			del,
		),
	}
	w.opts = agentframework.Options{
		Loop: &loop.Options{ID: "r", OnEvent: func(e *loop.Event) {
			if e.Type == loop.Warned {
				w.warned = append(w.warned, e.Text)
			}
		}},
		OnPlanUpdated: func(_ *agentframework.AgentRun, e *agentframework.PlanUpdated) { w.plans = append(w.plans, e) },
	}
	return w
}

func (w *world) solve(t *testing.T) *loop.Result {
	t.Helper()
	r, err := agentframework.Solve(t.Context(), &w.task, &w.opts)
	if err != nil {
		t.Fatalf("Solve: %v", err)
	}
	return r
}

// last is the last message that the model was sent, in the nth request.
func (w *world) last(t *testing.T, n int) string {
	t.Helper()
	if n >= len(w.turns) {
		t.Fatalf("the model was asked %d times", len(w.turns))
	}
	m := w.turns[n].Messages
	return m[len(m)-1].Text
}

// said is all that the model was sent in its last request.
func (w *world) said() string {
	var b strings.Builder
	for _, m := range w.turns[len(w.turns)-1].Messages {
		fmt.Fprintf(&b, "[%s] %s\n", m.Role, m.Text)
	}
	return b.String()
}

const done = `{"kind":"final_message","message":"done"}`

func submit(steps ...string) string {
	return `{"kind":"submit_plan","message":"m","plan":[` + strings.Join(steps, ",") + `]}`
}

// echo is a step that calls echo.
func echo(id, msg string, deps ...string) string {
	b, _ := json.Marshal(map[string]any{"id": id, "kind": "call_tool", "tool_name": "echo", "parameters": map[string]any{"msg": msg}, "depends_on": deps})
	return string(b)
}

func callback(id string, deps ...string) string {
	b, _ := json.Marshal(map[string]any{"id": id, "kind": "callback", "callback_intent": "proposal_review", "depends_on": deps})
	return string(b)
}

// The seed's example, with its references.
func TestSolve(t *testing.T) {
	w := newWorld(
		submit(`{"id":"get_player_info","kind":"call_subagent","parameters":{"subagent_id":"player","player_id":"{{player_id}}"},"depends_on":[]}`,
			`{"id":"choose_action","kind":"call_subagent","subagent_id":"echo","parameters":{"msg":"{{get_player_info.response.name}} at {{get_player_info.response.items.1}}"},"depends_on":["get_player_info"]}`),
		`{"kind":"final_message","message":"moved","response":{"to":"{{x}}"}}`)
	w.task.Context = json.RawMessage(`[{"type":"input","input":{"player_id":"p1"}}]`)
	r := w.solve(t)
	if r.Status != exec.Completed || string(r.Output) != `{"to":"{{x}}"}` {
		t.Errorf("result %+v", r)
	}
	if got := strings.Join(w.called, " "); got != `player{"player_id":"p1"} echo{"msg":"Bo at 7"}` {
		t.Errorf("called %s", got)
	}
	want := `{"get_player_info":{"message":"","response":{"items":["a",7],"name":"Bo"},"status":"completed"},"choose_action":{"message":"Bo at 7","response":null,"status":"completed"}}`
	if string(r.State) != want {
		t.Errorf("state %s", r.State)
	}
	if len(w.turns) != 2 || r.Usage.Requests != 2 || len(r.Runs) != 2 || r.Runs[0] != "r-1" {
		t.Errorf("turns %d, %+v", len(w.turns), r)
	}
	if !strings.Contains(w.turns[0].Messages[0].Text, `{"player_id":"p1"}`) {
		t.Errorf("asked %q", w.turns[0].Messages[0].Text)
	}
}

// The reminders, to the byte: after the plan, after each batch, and before the model reflects.
func TestReminders(t *testing.T) {
	w := newWorld(submit(echo("a", "é\n\"x\""), echo("b", "{{a}}!", "a"), callback("c"), `{"id":"d","kind":"call_subagent","subagent_id":"agentlike"}`), done)
	w.solve(t)
	m := w.turns[1].Messages
	want := []string{"move", `<system_reminder>
<plan_state revision="1">
[
  {
    "id": "a",
    "kind": "call_tool",
    "status": "pending"
  },
  {
    "id": "b",
    "kind": "call_tool",
    "status": "pending"
  },
  {
    "id": "c",
    "kind": "callback",
    "status": "pending"
  },
  {
    "id": "d",
    "kind": "call_subagent",
    "status": "pending"
  }
]
</plan_state>
<step_results>
{}
</step_results>
<pending_steps>["a", "b", "c", "d"]</pending_steps>
</system_reminder>`, `<system_reminder>
<plan_state revision="1">
[
  {
    "id": "a",
    "kind": "call_tool",
    "status": "done"
  },
  {
    "id": "b",
    "kind": "call_tool",
    "status": "pending"
  },
  {
    "id": "c",
    "kind": "callback",
    "status": "pending"
  },
  {
    "id": "d",
    "kind": "call_subagent",
    "status": "done"
  }
]
</plan_state>
<step_results>
{
  "a": "\u00e9\n\"x\"",
  "c": {
    "_callback_pending": true,
    "intent": "proposal_review",
    "step_id": "c"
  },
  "d": "<subagent_result message=\"hi\">\n{\"x\": 1}\n</subagent_result>"
}
</step_results>
<pending_callback step_id="c" intent="proposal_review">A step is awaiting your resolution. Emit continue_plan with parameters.resolution to answer, or submit_plan to replan.</pending_callback>
<pending_steps>["b", "c"]</pending_steps>
</system_reminder>`}
	if len(m) != 5 { // goal, plan, batch, batch, reflection
		t.Fatalf("%d messages:\n%s", len(m), w.said())
	}
	for i, text := range want {
		if m[i].Text != text || m[i].Role != model.User {
			t.Errorf("message %d:\n%s\nwant:\n%s", i, m[i].Text, text)
		}
	}
	if m[3].Text != m[4].Text || !strings.Contains(m[4].Text, `<pending_steps>["c"]</pending_steps>`) {
		t.Errorf("the last two:\n%s\n%s", m[3].Text, m[4].Text)
	}

	w = newWorld(submit(echo("a", strings.Repeat("ü", 300))), done)
	w.solve(t)
	got := w.last(t, 1)
	if !strings.Contains(got, `"`+strings.Repeat(`\u00fc`, 200)+`"`) || !strings.HasSuffix(got, "</step_results>\n<end_of_plan>true</end_of_plan>\n</system_reminder>") {
		t.Errorf("at the end: %s", got)
	}
}

// What came of a failed step is an object with which the others go on.
func TestFailedStep(t *testing.T) {
	w := newWorld(submit(`{"id":"a","kind":"call_tool","tool_name":"broken","parameters":{}}`, echo("b", "{{a.error}}/{{a}}", "a"),
		`{"id":"c","kind":"call_tool","tool_name":"ecko"}`, `{"id":"d","kind":"call_subagent","subagent_id":"broken"}`), done)
	r := w.solve(t)
	var state map[string]json.RawMessage
	if err := json.Unmarshal(r.State, &state); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"a": `{"error":"down: no line","step_id":"a"}`,
		"b": `"down: no line/{\"error\":\"down: no line\",\"step_id\":\"a\"}"`,
		"d": `{"message":"down: no line","response":null,"status":"failed"}`,
	} {
		if string(state[id]) != want {
			t.Errorf("%s = %s, want %s", id, state[id], want)
		}
	}
	if !strings.Contains(string(state["c"]), `did you mean`) || !strings.HasPrefix(string(state["c"]), `{"error":"call: `) {
		t.Errorf("c = %s", state["c"])
	}
	if r.Status != exec.Completed {
		t.Errorf("%+v", r)
	}
}

func TestPlannerFails(t *testing.T) {
	w := newWorld(submit(echo("a", "1")))
	r, err := agentframework.Solve(t.Context(), &w.task, &w.opts)
	if err == nil || r.Status != exec.Failed || string(r.State) != `{"a":"1"}` {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	w = newWorld(done)
	w.script.OnTurn = func(*model.Turn) { stop() }
	w.script.Piece = 1
	r, err = agentframework.Solve(ctx, &w.task, &w.opts)
	if err != nil || r.Status != exec.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
	w = newWorld(`{"kind":"call_tool","tool_name":"echo","parameters":{"msg":"1"}}`, `{"kind":"call_tool","tool_name":"echo"}`, done)
	w.opts.Loop.MaxTurns = 2
	if r = w.solve(t); r.Status != exec.Failed || r.Reason != "the model was asked 2 times, and there is no result" {
		t.Errorf("%+v", r)
	}
	if err := errors.Unwrap(err); err != nil {
		t.Error(err)
	}
}
