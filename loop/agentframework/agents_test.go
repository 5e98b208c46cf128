package agentframework_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/agentframework"
	"github.com/plc-lang/plc/tool/model"
)

// A subagent of a plan that asks has its step wait for the model that planned: continue_plan answers,
// the subagent goes on, and its result is that of the step.
func TestSubagentAsks(t *testing.T) {
	asks := func(intent string) string {
		return `{"kind":"callback","intent":"` + intent + `","message":"whose?","parameters":{"of":1}}`
	}
	seen := `{"kind":"final_message","message":"hers it is"}`
	for _, answer := range []string{resolved(`"hers"`), `{"kind":"call_subagent","subagent_id":"scout","parameters":{"resolution":"hers"}}`} {
		w := newWorld(submit(callScout, echo("t", "{{s.message}}", "s")), asks("information_request"), answer, seen, done).agents(agentframework.Agent{ID: "scout"})
		r := w.solve(t)
		if want := `{"s":{"message":"hers it is","response":null,"status":"completed"},"t":"hers it is"}`; string(r.State) != want || r.Status != exec.Completed {
			t.Errorf("%s %s\n%s", r.State, r.Reason, w.said())
		}
		asked := w.last(t, 2)
		for _, part := range []string{`"_callback_pending": true`, `"message": "whose?"`, `<pending_callback step_id="s" intent="information_request">`} {
			if !strings.Contains(asked, part) {
				t.Errorf("the model was not told %s:\n%s", part, asked)
			}
		}
		if got := w.last(t, 3); !strings.Contains(got, "<callback_answer intent=\"information_request\">\nhers\n") {
			t.Errorf("the subagent was told %s", got)
		}
	}
	// It may ask again, and another plan may take its place.
	w := newWorld(submit(callScout), asks("proposal_review"), resolved("1"), asks("delegation_return"), resolved("2"), seen, done).agents(agentframework.Agent{ID: "scout"})
	if r := w.solve(t); !strings.Contains(string(r.State), "hers it is") {
		t.Errorf("%s %s", r.State, r.Reason)
	}
	w = newWorld(submit(callScout), asks("proposal_review"), submit(callScout), seen, done).agents(agentframework.Agent{ID: "scout"})
	if r := w.solve(t); !strings.Contains(string(r.State), "hers it is") || len(w.turns[3].Messages) != 1 {
		t.Errorf("%s %s: a step that is planned again begins anew", r.State, r.Reason)
	}
}

// What only a person can answer goes past the models of all callers, down and up again.
func TestSubagentAsksUser(t *testing.T) {
	asks := `{"kind":"request_user_input","message":"your PIN?"}`
	deeper := `{"kind":"call_subagent","subagent_id":"diver","parameters":{}}`
	decisions := []string{submit(callScout), deeper, asks, `{"kind":"final_message","message":"dived"}`, `{"kind":"final_message","message":"scouted"}`, done}
	w := newWorld(decisions...).agents(agentframework.Agent{ID: "scout"}, agentframework.Agent{ID: "diver"})
	var of []string
	w.opts.OnCallback = func(_ context.Context, c *agentframework.Callback) (json.RawMessage, error) {
		of = append(of, c.AgentID+" "+c.Message)
		return json.RawMessage(`"1234"`), nil
	}
	r := w.solve(t)
	if r.Status != exec.Completed || fmt.Sprint(of) != "[diver your PIN?]" || !strings.Contains(string(r.State), "scouted") || !strings.Contains(w.last(t, 3), "1234") {
		t.Errorf("%s %s, asked %v", r.State, r.Reason, of)
	}
	// Without anybody there, it waits, and goes on where it was.
	w = newWorld(decisions...).agents(agentframework.Agent{ID: "scout"}, agentframework.Agent{ID: "diver"})
	w.opts.OnCallback = func(context.Context, *agentframework.Callback) (json.RawMessage, error) { return nil, exec.ErrNobody }
	h := w.host(t)
	a, err := h.RunAgent(t.Context(), "agent", nil, nil)
	if err != nil || a.Status != agentframework.Blocked || a.Callback == nil || a.Callback.Message != "your PIN?" {
		t.Fatalf("%+v, %v", a, err)
	}
	if a, err = h.Resume(t.Context(), a.Run, json.RawMessage(`"1234"`)); err != nil || a.Status != agentframework.Completed || len(w.turns) != len(decisions) {
		t.Errorf("%+v, %v, asked %d times", a, err, len(w.turns))
	}
	// A person who says no ends nothing.
	w = newWorld(submit(callScout), asks, done, done).agents(agentframework.Agent{ID: "scout"})
	w.opts.OnCallback = func(context.Context, *agentframework.Callback) (json.RawMessage, error) {
		return nil, errors.New("never")
	}
	if r := w.solve(t); r.Status != exec.Completed || !strings.Contains(w.last(t, 2), "never") {
		t.Errorf("%s %s", r.State, r.Reason)
	}
}

// What an agent may call and ask is its own, also of what stands for an agent.
func TestPermissions(t *testing.T) {
	for _, test := range []struct {
		name, decision, want string
		agent                agentframework.Agent
	}{
		{"a tool", `{"kind":"call_tool","tool_name":"delete"}`, `permission: the agent "scout" may not call the tool "delete"`, agentframework.Agent{Tools: []string{"echo"}}},
		{"a tool as an agent", `{"kind":"call_subagent","subagent_id":"delete"}`, `permission: the agent "scout" may not call the tool "delete"`, agentframework.Agent{Tools: []string{"echo"}}},
		{"a tool as a skill", `{"kind":"invoke_skill","skill_name":"delete"}`, `permission: the agent "scout" may not call the tool "delete"`, agentframework.Agent{Tools: []string{"echo"}}},
		{"an agent", `{"kind":"call_subagent","subagent_id":"diver"}`, `permission: the agent "scout" may not call the agent "diver"`, agentframework.Agent{Subagents: []string{}}},
		{"several", `{"kind":"call_subagents","mode":"parallel","calls":[{"subagent_id":"diver"}]}`, `permission: the agent \"scout\" may not call the agent \"diver\"`, agentframework.Agent{Subagents: []string{}}},
		{"a skill", `{"kind":"invoke_skill","skill_name":"brew"}`, `permission: the agent "scout" may not call the skill "brew"`, agentframework.Agent{Skills: []string{}}},
		{"its caller", `{"kind":"callback","message":"whose?"}`, `the agent "scout" may not ask`, agentframework.Agent{NoCallbacks: true}},
		{"a person", `{"kind":"request_user_input","message":"whose?"}`, `the agent "scout" may not ask`, agentframework.Agent{NoUser: true}},
	} {
		test.agent.ID = "scout"
		w := newWorld(submit(callScout), test.decision, done, done).agents(test.agent, agentframework.Agent{ID: "diver", Description: "dives"})
		w.opts.Skills = []agentframework.Skill{{Name: "brew", Instructions: "boil water"}}
		r := w.solve(t)
		if told := w.last(t, 2); r.Status != exec.Completed || !strings.Contains(told, test.want) || len(w.called) > 0 {
			t.Errorf("%s: %s %s, called %v: %s", test.name, r.State, r.Reason, w.called, told)
		}
		if test.agent.Subagents != nil && strings.Contains(w.turns[1].System, "- diver") {
			t.Errorf("%s: it is told of what it may not call", test.name)
		}
	}
}

const scoutFile = `---
id: scout
role: Scout
description: |
  Looks where nobody has been.
parameters:
  place: {description: where to look, type: string}
  depth: {description: how deep, required: false, default: 3}
tools: [echo]
terminal_tools: [found]
planning: {enabled: true, max_steps: 7}
---
You are a scout.
---
Look at {{place}}, {{ depth }} deep: {{instruction}}.
`

// An agent of a Markdown file is what its front matter says.
func TestParseAgent(t *testing.T) {
	a, err := agentframework.ParseAgent([]byte(scoutFile))
	if err != nil || a.ID != "scout" || a.Role != "Scout" || a.Description != "Looks where nobody has been.\n" || a.Instructions != "You are a scout." ||
		len(a.Parameters) != 2 || a.Parameters[0].Optional || string(a.Parameters[1].Default) != "3" || a.Planning.MaxSteps != 7 || len(a.Tools) != 1 || a.Subagents == nil || a.Skills == nil {
		t.Fatalf("%+v, %v", a, err)
	}
	a.Planning = nil
	call := `{"id":"s","kind":"call_subagent","subagent_id":"scout","parameters":{"place":"{{instruction}}"}}`
	w := newWorld(submit(call), `{"kind":"call_tool","tool_name":"found","parameters":{"gold":7}}`, done).agents(*a)
	r := w.solve(t)
	if first := w.turns[1].Messages[0].Text; first != "Look at move, 3 deep: ." {
		t.Errorf("asked %q", first)
	}
	if want := `{"s":{"message":"{\"gold\":7}","response":{"gold":7},"status":"completed"}}`; string(r.State) != want {
		t.Errorf("%s; a terminal tool ends the run", r.State)
	}
	if !strings.Contains(w.turns[0].System, `"required":["place"]`) || !strings.HasPrefix(w.turns[1].System, "Your role: Scout\n\nYou are a scout.\n") {
		t.Errorf("%s\n%s", w.turns[0].System, w.turns[1].System)
	}
	w = newWorld(submit(`{"id":"s","kind":"call_subagent","subagent_id":"scout"}`), done).agents(*a)
	if r := w.solve(t); !strings.Contains(string(r.State), `parameters: the agent \"scout\" needs ['place']`) {
		t.Errorf("%s", r.State)
	}
	for text, want := range map[string]string{
		"You are a scout.":                           "does not begin with front matter",
		"---\nid: x\n":                               "no prompt behind it",
		"---\n---\nYou.":                             "there is nothing in the file",
		"---\nrole: x\n---\nYou.":                    `no "id"`,
		"---\nid: x\nbehaviors: [a]\n---\nYou.":      `there is no member "behaviors"; there are`,
		"---\nid: [x\n---\nYou.":                     "the front matter can't be read",
		"---\nid: x\n---\nYou.\n---\n{{nosuch}}":     "{{nosuch}}, which is no parameter",
		"---\nid: x\nplanning: {enabld: 1}\n---\nYo": "unknown frontmatter key(s): ['enabld']",
		"---\nid: x\ntools: echo\n---\nYou.":         "can't be read",
		"---\nid: x\nparameters: [a]\n---\nYou.":     "'parameters' must be an object",
		"\xff\xfe---\nid: x\n---\nYou.":              "does not begin",
		"---\nid: \"\xff\"\n---\nYou.":               "UTF-8",
		"---\nid: x\nid: y\n---\nYou.":               "can't be read",
	} {
		if _, err := agentframework.ParseAgent([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
	if a, err := agentframework.ParseAgent([]byte("\xef\xbb\xbf---\r\nid: x\r\n---\r\nYou.\r\n---\r\nGo.\r\n---\r\nmore\r\n")); err != nil || a.Instructions != "You." || a.Prompt != "Go.\r\n---\r\nmore" {
		t.Errorf("%+v, %v", a, err)
	}
}

// The agents of a folder, with what stands beside them.
func TestAgentDirectory(t *testing.T) {
	files := fstest.MapFS{
		"root.md": {Data: []byte("---\nid: root\nsubagents: [scout]\n---\nYou lead.\n")}, "scout.md": {Data: []byte(scoutFile)},
		"scout.json": {Data: []byte(`{"model":"small","temperature":0.5,"can_query_caller":false}`)}, "notes.txt": {Data: []byte("x")},
	}
	folder := func(string) fs.FS { return files }
	o, err := agentframework.ParseOptions([]byte(`{"agent_directory":"agents","root_agent":"root"}`), folder)
	if err != nil || o.Agent.ID != "root" || len(o.Agents) != 1 || o.Agents[0].Model != "small" || !o.Agents[0].NoCallbacks || *o.Agents[0].Temperature != 0.5 || fmt.Sprint(o.ModelNames()) != "[small]" {
		t.Fatalf("%+v, %v", o, err)
	}
	call := `{"kind":"call_subagent","subagent_id":"scout","parameters":{"place":"sea"}}`
	w := newWorld(call, done)
	small := loop.Say(done)
	var asked *model.Turn
	small.OnTurn = func(t *model.Turn) { asked = t }
	o.Loop, o.Models = w.opts.Loop, map[string]loop.Planner{"small": small}
	w.opts = *o
	if r := w.solve(t); r.Status != exec.Completed || asked == nil || *asked.Temperature != 0.5 || len(w.turns) != 2 {
		t.Errorf("%s %s", r.Status, r.Reason)
	}
	for raw, want := range map[string]string{
		`{"agent_directory":"agents"}`:                                               `no agent ""`,
		`{"agent_directory":"agents","root_agent":"rot"}`:                            `no agent "rot"`,
		`{"root_agent":"root"}`:                                                      `"agent_directory", which is not there`,
		`{"agent_directory":"agents","root_agent":"root","instructions":"x"}`:        `leave the other members of an agent out`,
		`{"agent_directory":"agents","root_agent":"root","tools":[]}`:                `leave the other members of an agent out`,
		`{"agent_directory":"agents","root_agent":"root","agents":[{"id":"scout"}]}`: `has no id, or that of another: "scout"`,
	} {
		if _, err := agentframework.ParseOptions([]byte(raw), folder); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", raw, err, want)
		}
	}
	files["twin.md"] = files["root.md"]
	if _, err := agentframework.ParseOptions([]byte(`{"agent_directory":"agents","root_agent":"root"}`), folder); err == nil || !strings.Contains(err.Error(), `twin.md: there is another agent with the id "root"`) {
		t.Error(err)
	}
}

// Hooks see and change what an agent does; what they decided is in the record, and not asked again.
func TestHooks(t *testing.T) {
	var kept bytes.Buffer
	tape, err := model.ReadTape(strings.NewReader(""), &kept)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex // hooks of agents of a batch are called at the same time
	var told []string
	note := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, fmt.Sprintf(format, args...))
	}
	run := func(decisions ...string) *loop.Result {
		w := newWorld(decisions...).agents(agentframework.Agent{ID: "scout"}, agentframework.Agent{ID: "ghost"})
		w.opts.Loop.Answers = tape
		w.opts.Hooks = agentframework.Hooks{
			PreAgent: func(_ context.Context, r *agentframework.AgentRun) (*agentframework.AgentResult, error) {
				note("pre %s", r.Agent.ID)
				if r.Agent.ID == "ghost" {
					return &agentframework.AgentResult{Status: agentframework.Completed, Message: "boo"}, nil
				}
				return nil, nil
			},
			PostAgent: func(_ context.Context, r *agentframework.AgentRun, res *agentframework.AgentResult) (string, error) {
				note("post %s %s", r.Agent.ID, res.Message)
				if res.Message == "" {
					return "Say more.", nil
				}
				res.Message = strings.ToUpper(res.Message)
				return "", nil
			},
			PreStep: func(_ context.Context, _ *agentframework.AgentRun, s *agentframework.PlanStep) error {
				note("step %s", s.ID)
				if s.ToolName == "delete" {
					return errors.New("not that one")
				}
				if s.ToolName == "echo" {
					s.Parameters = json.RawMessage(`{"msg":"changed"}`)
				}
				return nil
			},
			RespondToCallback: func(_ context.Context, caller *agentframework.AgentRun, c *agentframework.Callback) (json.RawMessage, error) {
				note("%s answers %s", caller.Agent.ID, c.Message)
				return json.RawMessage(`"hers"`), nil
			},
			PostStep: func(_ context.Context, _ *agentframework.AgentRun, s *agentframework.PlanStep, result json.RawMessage) {
				if len(result) == 0 {
					t.Errorf("%s gave nothing", s.ID)
				}
			},
		}
		return w.solve(t)
	}
	plan := submit(echo("a", "1"), `{"id":"d","kind":"call_tool","tool_name":"delete"}`, callScout, `{"id":"g","kind":"call_subagent","subagent_id":"ghost"}`)
	want := `{"a":"changed","d":{"error":"refused: not that one","step_id":"d"},"s":{"message":"SEEN","response":null,"status":"completed"},"g":{"message":"boo","response":null,"status":"completed"}}`
	r := run(plan, `{"kind":"callback","message":"whose?"}`, `{"kind":"final_message","message":"seen"}`, `{"kind":"final_message"}`, done)
	if string(r.State) != want || string(r.Output) != `"DONE"` {
		t.Errorf("%s %s %s", r.State, r.Output, r.Reason)
	}
	if len(told) != 11 {
		t.Errorf("hooks %q", told)
	}
	told = nil
	if tape, err = model.ReadTape(&kept, nil); err != nil {
		t.Fatal(err)
	}
	if r := run(); string(r.State) != want || string(r.Output) != `"DONE"` || len(told) > 0 {
		t.Errorf("again: %s %s %s %s, hooks %q", r.State, r.Status, r.Output, r.Reason, told)
	}
}

// A plan is shown whole, once, and so is one that replaces it; a refusal goes to the model.
func TestPlanShown(t *testing.T) {
	w := newWorld(submit(echo("x", "1")), submit(echo("a", "1"), callScout, echo("b", "{{a}}{{s.response.n}}", "a", "s")),
		`{"kind":"final_message","message":"seen","response":{"n":2}}`, submit(echo("c", "{{b}}")), done).agents(agentframework.Agent{ID: "scout"})
	var seen []string
	w.opts.Loop.OnPlan = func(p *compile.Program) error {
		var ids []string
		for i := range p.Calls {
			ids = append(ids, p.Calls[i].ID)
		}
		seen = append(seen, strings.Join(ids, " "))
		if len(seen) == 1 {
			return errors.New("too short")
		}
		return nil
	}
	r := w.solve(t)
	if want := "[x a s b c]"; fmt.Sprint(seen) != want || !strings.Contains(string(r.State), `"b":"12"`) || !strings.Contains(string(r.State), `"c":"12"`) {
		t.Errorf("shown %v, %s %s", seen, r.State, r.Reason)
	}
	if !strings.Contains(w.last(t, 1), "<plan_refused>too short</plan_refused>") {
		t.Error(w.last(t, 1))
	}
}
