package tea

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// AgentDispatch is the executor that gives subtasks to an agent: {"action": "agent.dispatch",
// "with": {"agent": …, "task": …}}. Without a task, the agent gets the subtask and the results of
// its dependencies. If the catalogue has a tool of this name, that tool is called instead.
const AgentDispatch = "agent.dispatch"

// DefaultMaxToolCalls is the default limit on the tool calls of an agent for one subtask.
const DefaultMaxToolCalls = 10

// Agent is a model that calls tools until it answers.
type Agent struct {
	Model        string   // one of Options.Models; any other name selects the task's planner
	SystemPrompt string   // "" selects a prompt to carry out a subtask
	Temperature  *float64 // nil leaves it to the model
	Tools        []string // names in the catalogue; nil means none
	MaxToolCalls int      // per subtask; 0 means 10. The last round may exceed it
}

// agentRun is an agent that works on a subtask.
type agentRun struct {
	*Actions
	*Agent
	name     string
	subtask  string
	id       string // prefix of its runs' IDs
	messages []model.Message
	usage    struct {
		Prompt     int64 `json:"prompt_tokens"`
		Completion int64 `json:"completion_tokens"`
	}
}

// agentRun returns the run of the agent named in params, which were checked. Each attempt at a
// subtask has runs of its own.
func (a *Actions) agentRun(s *Subtask, params json.RawMessage) *agentRun {
	f, _ := fieldsOf(params)
	name, task := jsonscan.Text(f["agent"]), jsonscan.Text(f["task"])
	if a.dispatched == nil {
		a.dispatched = map[string]int{}
	}
	a.dispatched[s.ID]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", s.ID, a.dispatched[s.ID]))
	return &agentRun{Actions: a, Agent: a.o.Agents[name], name: name, subtask: s.ID, id: a.k.Loop.ID + "-" + hex.EncodeToString(sum[:4]),
		messages: model.FromUser(task)}
}

// do asks the model and runs its calls until it answers.
func (r *agentRun) do(ctx context.Context) (answer, error) {
	if r.Agent == nil {
		if len(r.o.Agents) == 0 {
			return answer{failed: true, why: noAgents}, nil
		}
		return answer{failed: true, why: fmt.Sprintf("Agent '%s' not found", r.name)}, nil
	}
	tools := r.functions(r.Tools)
	most := orDefault(r.MaxToolCalls, DefaultMaxToolCalls)
	for round, calls := 1, 0; ; round++ {
		t := &model.Turn{System: cmp.Or(r.SystemPrompt, executeSystem), Messages: slices.Clone(r.messages), Temperature: r.Temperature,
			Attempt: r.attempt + 1, Place: r.subtask, Functions: tools}
		reply, err := r.reply(ctx, r.Model, t)
		switch {
		case ctx.Err() != nil:
			return answer{ended: loop.Ended(exec.Cancelled, "the loop was cancelled")}, nil
		case err != nil:
			return answer{failed: true, why: errorText(err)}, nil
		}
		r.usage.Prompt, r.usage.Completion = r.usage.Prompt+reply.Input, r.usage.Completion+reply.Output
		switch {
		case len(reply.Calls) == 0 || tools == nil:
			return answer{result: loop.ObjectOf("response", reply.Text, "agent", r.name, "usage", r.usage, "success", true).JSON()}, nil
		case calls >= most:
			r.say(model.Assistant, reply.Text)
			r.say(model.User, "Give your final answer now, without calling tools.")
			tools = nil
			continue
		}
		calls += len(reply.Calls)
		if ended, err := r.call(ctx, round, reply); ended != nil || err != nil {
			return answer{ended: ended}, err
		}
	}
}

func (r *agentRun) say(role model.Role, text string) {
	r.messages = append(r.messages, model.Message{Role: role, Text: text})
}

// call runs the calls of a reply. ended is set if a call waits or the run was ended.
func (r *agentRun) call(ctx context.Context, round int, reply *model.Reply) (ended, err error) {
	c := r.caller
	c.Named = false
	c.Compile.Catalogue = r.tools(r.Tools)
	called, run, err := c.Call(ctx, fmt.Sprintf("%s-%d", r.id, round), reply.Calls)
	if err != nil {
		return nil, err
	}
	r.messages = append(r.messages, model.Message{Role: model.Assistant, Text: reply.Text, Calls: reply.Calls})
	for i := range called {
		if called[i].Status != exec.Completed && called[i].Failure == nil && early(run) {
			return loop.Ended(run.Status, "%s", called[i].Reason), nil
		}
		r.messages = append(r.messages, model.Message{Role: model.Returned, ID: reply.Calls[i].ID, Text: called[i].Text(), Error: called[i].Failure != nil})
	}
	return nil, nil
}

// tools returns the catalogue's tools with the given names.
func (a *Actions) tools(names []string) *tool.Catalogue {
	var list []*tool.Tool
	for _, name := range names {
		if t, ok := a.lookup(name); ok {
			list = append(list, t)
		}
	}
	return tool.NewCatalogue(list...)
}

func (a *Actions) functions(names []string) []model.Function {
	return slices.DeleteFunc(loop.Functions(a.k.Task.Catalogue), func(f model.Function) bool { return !slices.Contains(names, f.Name) })
}

// noAgents is the message for agent.dispatch if no agents are declared.
const noAgents = `agent.dispatch has no agents to give subtasks to; declare them in the options: ` +
	`"agents": {"worker": {"tools": [names]}}, and name one: "with": {"agent": "worker"}`

// checkDispatch checks the params of agent.dispatch, and the agent.
func (a *Actions) checkDispatch(with map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(with)) {
		if name != "agent" && name != "task" {
			return messagef("agent.dispatch takes agent and task, and no %q", name)
		}
		if _, ok := with[name].(string); !ok {
			return messagef("'%s' of agent.dispatch is not a string", name)
		}
	}
	name, _ := with["agent"].(string)
	if len(a.o.Agents) == 0 {
		return message(noAgents)
	}
	if strings.Contains(name, "{{") {
		return nil // a token: checked again for each subtask
	}
	agent := a.o.Agents[name]
	if agent == nil {
		return messagef("Agent '%s' not found; there are: %s", name, strings.Join(slices.Sorted(maps.Keys(a.o.Agents)), ", "))
	}
	for _, t := range agent.Tools {
		if _, ok := a.lookup(t); !ok {
			return messagef("the agent '%s' has the tool %q, which there is not", name, t)
		}
	}
	return nil
}

// agents reads agents by name.
func (r *reading) agents() map[string]*Agent {
	if !r.has("agents") {
		return nil
	}
	all, ok := fieldsOf(r.fields["agents"])
	if !ok {
		r.bad("agents", "an object of agents by their names")
	}
	agents := map[string]*Agent{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		it := &reading{fields: fields{"agents." + name: all[name]}}
		f := it.only("agents."+name, "max_tool_calls", "model", "system_prompt", "temperature", "tools")
		own := &reading{fields: f, fault: it.fault}
		if f == nil && own.fault == nil {
			own.fault = message("it is not an object")
		}
		agents[name] = &Agent{Model: own.text("model"), SystemPrompt: own.text("system_prompt"), Temperature: own.number("temperature"),
			MaxToolCalls: own.count("max_tool_calls"), Tools: read[[]string](own, "tools", "a list of names")}
		if own.fault != nil && r.fault == nil {
			r.fault = messagef("the agent '%s': %s", name, own.fault)
		}
	}
	return agents
}

// defaultTask returns the task of an agent if the executor gives none.
func (x *execution) defaultTask(s *Subtask) string { return "Subtask: " + s.Description + x.needed(s) }
