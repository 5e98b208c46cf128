package tea_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/exectest"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/tea"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// An agent does subtasks by calling the tools that it has, and no others; what it says in the end is
// the result.
func TestAgentDispatch(t *testing.T) {
	var mu sync.Mutex
	var found []string
	search := tool.Func("search", "", func(_ context.Context, p struct {
		Query string `json:"query"`
	}) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		found = append(found, p.Query)
		return "104 km/h", nil
	})
	search.Definition.Effects.ReadOnly = tool.Yes
	wipe := tool.Func("wipe", "", func(context.Context, struct{}) (string, error) { found = append(found, "wiped"); return "", nil })
	calls := func(c ...model.FunctionCall) model.Reply { return model.Reply{Calls: c, Input: 3, Output: 2} }
	worker := &loop.Script{Replies: []model.Reply{
		calls(model.FunctionCall{ID: "1", Name: "search", Params: `{"query":"cheetah"}`}, model.FunctionCall{ID: "2", Name: "wipe", Params: `{}`}),
		calls(model.FunctionCall{ID: "3", Name: "search", Params: `{"query":"hare"}`}),
		{Text: "it is fast", Input: 3, Output: 2},
		{Text: "told"},
	}}
	var turns []*model.Turn
	worker.OnTurn = func(t *model.Turn) { turns = append(turns, t) }
	run := func(disk *exectest.Disk, writes int) *loop.Result {
		ctx, end := disk.Begin(t.Context(), writes)
		defer end()
		o, err := tea.ParseOptions([]byte(`{"agents":{"worker":{"model":"small","system_prompt":"You look things up.","tools":["search"],"max_tool_calls":2,"temperature":0.5}},
			"subtask_executor":{"action":"agent.dispatch","with":{"agent":"worker"}}}`))
		if err != nil || !slices.Equal(o.ModelNames(), []string{"small"}) {
			t.Fatalf("%v %v", o.ModelNames(), err)
		}
		o.Models = map[string]loop.Planner{"small": worker}
		o.Loop = &loop.Options{ID: "L", Record: disk.Record}
		r, err := tea.Solve(ctx, &loop.Task{Goal: "G", Catalogue: tool.NewCatalogue(search, wipe), Planner: loop.Say(listed(subtask("a"), subtask("b", "a")))}, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	var disk exectest.Disk
	r := run(&disk, -1)
	var out struct {
		Results map[string]json.RawMessage `json:"subtask_results"`
	}
	if err := json.Unmarshal(r.Output, &out); err != nil || r.Status != exec.Completed {
		t.Fatalf("%s %s %v", r.Status, r.Reason, err)
	}
	if want := `{"response":"it is fast","agent":"worker","usage":{"prompt_tokens":9,"completion_tokens":6},"success":true}`; string(out.Results["a"]) != want {
		t.Errorf("a gave %s", out.Results["a"])
	}
	if !slices.Equal(found, []string{"cheetah"}) {
		t.Errorf("called %v: the agent has one tool, and two calls", found)
	}
	first, last := turns[0], turns[2]
	if len(first.Functions) != 1 || first.Functions[0].Name != "search" || first.System != "You look things up." || *first.Temperature != 0.5 || first.Messages[0].Text != "Subtask: a" {
		t.Errorf("asked %+v", first)
	}
	if last.Functions != nil || !strings.HasPrefix(last.Messages[len(last.Messages)-1].Text, "Give your final answer now") || !strings.Contains(last.Messages[3].Text, "wipe") || !last.Messages[3].Error {
		t.Errorf("asked in the end %+v", last.Messages)
	}
	if told := turns[3].Messages[0].Text; !strings.Contains(told, "Result from 'a': {\"response\":\"it is fast\"") {
		t.Errorf("told %s", told)
	}
}

// What is wrong with an agent is told before the planner is asked.
func TestAgentFaults(t *testing.T) {
	for raw, want := range map[string]string{
		`{"subtask_executor":{"action":"agent.dispatch"}}`:                                                              `agent.dispatch has no agents to give subtasks to; declare them in the options: "agents": {"worker": `,
		`{"agents":{},"subtask_executor":{"action":"agent.dispatch","with":{"agent":"w"}}}`:                             "agent.dispatch has no agents",
		`{"agents":{"w":{}},"subtask_executor":{"action":"agent.dispatch","with":{"agent":"v"}}}`:                       "Agent 'v' not found; there are: w",
		`{"agents":{"w":{"tools":["nosuch"]}},"subtask_executor":{"action":"agent.dispatch","with":{"agent":"w"}}}`:     `the agent 'w' has the tool "nosuch", which there is not`,
		`{"agents":{"w":{}},"subtask_executor":{"action":"agent.dispatch","with":{"agent":"w","timeout":3}}}`:           `agent.dispatch takes agent and task, and no "timeout"`,
		`{"agents":{"w":{}},"subtask_executor":{"action":"agent.dispatch","with":{"agent":"w","task":"{{ nosuch }}"}}}`: "stands for nothing",
		`{"agents":{"w":{"max_tokens":3}}}`:                                                                             `there is no member "max_tokens" in "agents.w"; there are max_tool_calls, model, system_prompt, temperature, tools`,
		`{"agents":{"w":{"tools":"all"}}}`:                                                                              "'tools' is a list of names",
		`{"agents":["w"]}`:                                                                                              "'agents' is an object of agents by their names",
	} {
		o, err := tea.ParseOptions([]byte(raw))
		if err == nil {
			s := loop.Say()
			s.OnTurn = func(*model.Turn) { t.Errorf("%s: the planner is asked", raw) }
			_, err = tea.Solve(t.Context(), &loop.Task{Goal: "G", Catalogue: tool.NewCatalogue(), Planner: s}, o)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", raw, err, want)
		}
	}
}
