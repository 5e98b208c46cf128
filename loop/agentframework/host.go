package agentframework

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool/model"
)

// Agent is a model with instructions. The tags are the names of agent_framework; ParseOptions and
// ParseAgent read them.
type Agent struct {
	ID           string `json:"id"`
	Role         string `json:"role"`         // what it is, in a word or two
	Description  string `json:"description"`  // for the agents that may call it
	Instructions string `json:"instructions"` // what it is to do, beside how decisions are made
	// Prompt is the first message, in which {{name}} is a parameter; "" is the instruction, and all
	// other parameters as JSON.
	Prompt        string          `json:"prompt"`
	Parameters    []Parameter     `json:"parameters"`     // that it has to be called with; it may be called with others
	Planning      *PlanningConfig `json:"planning"`       // nil does not plan
	Tools         []string        `json:"tools"`          // that it may call; nil is all of the host
	Subagents     []string        `json:"subagents"`      // that it may call; nil is all
	Skills        []string        `json:"skills"`         // that it may invoke; nil is all
	TerminalTools []string        `json:"terminal_tools"` // a call of one is not made, and ends the run: its parameters are the result
	Model         string          `json:"model"`          // one of Options.Models; "" is the planner of the task
	Temperature   *float64        `json:"temperature"`    // nil is that of the model
	NoCallbacks   bool            `json:"-"`              // it may not ask who called it
	NoUser        bool            `json:"-"`              // it may not ask a person
}

// Skill is a text that an agent may have itself told.
type Skill struct {
	Name         string `json:"name"`
	Description  string `json:"description"`
	Instructions string `json:"instructions"`
}

// Callback is a question of an agent to its caller.
type Callback struct {
	AgentID    string          `json:"agent_id"`
	Kind       string          `json:"kind"`
	Intent     string          `json:"intent"`
	Message    string          `json:"message"`
	Parameters json.RawMessage `json:"parameters"`
}

// AgentStatus says how an agent's run has ended.
type AgentStatus string

// The statuses.
const (
	Completed AgentStatus = "completed"
	Failed    AgentStatus = "failed"
	Blocked   AgentStatus = "blocked" // it waits for its caller, or for the approval of a call
)

// AgentResult is the result of an agent's run.
type AgentResult struct {
	Status   AgentStatus     `json:"status"`
	Message  string          `json:"message"`
	Response json.RawMessage `json:"response"` // an object; nil, null: there is none
	Callback *Callback       `json:"callback,omitempty"`
	Decision *Decision       `json:"-"` // the last one
	Run      *AgentRun       `json:"-"`
}

// envelope returns the result as what a step gives.
func (r *AgentResult) envelope() json.RawMessage {
	response := r.Response
	if r.Callback != nil {
		response = jsonscan.Encode(r.Callback)
	}
	return envelope(r.Message, response, r.Status)
}

func envelope(message string, response json.RawMessage, status AgentStatus) json.RawMessage {
	return loop.ObjectOf("message", message, "response", response, "status", status).JSON()
}

// AgentRun is an agent at work. It is used by one goroutine at a time.
type AgentRun struct {
	ID         string
	Agent      *Agent
	CallerID   string          // the agent that called it, or "host"
	Parameters Values          // of the invocation; "instruction" is the goal
	PlanState  *PlanState      // nil: there is no plan yet
	Messages   []model.Message // the conversation
	Planning   bool            // the agent plans

	driver           TurnDriver
	system           string
	parseFailures    int // in a row
	semanticFailures int // since the last plan
	made             int // runs, and runs of subagents
	begun            bool
	fault            string // of its parameters
	decision         *Decision
	awaiting         *Callback
	relay            *AgentRun            // the subagent whose callback the run waits for; nil is the run itself
	children         map[string]*AgentRun // that wait for a call or an answer, by step
	blocked          map[string]*AgentRun // that wait for an answer of this agent, by agent
	done             map[string]outcome   // of the steps of the decision
}

func (r *AgentRun) say(role model.Role, text string) {
	r.Messages = append(r.Messages, model.Message{Role: role, Text: text})
}

func (r *AgentRun) remind(text string) { r.say(model.User, text) }

func (r *AgentRun) nextID() string {
	r.made++
	return fmt.Sprintf("%s-%d", r.ID, r.made)
}

// Host runs agents with the tools and the planner of a task. Its methods may be called by
// several goroutines at once.
type Host struct {
	k      *loop.Kernel
	opts   Options
	caller loop.Caller
	params Values // of the root
	schema *schemas.Schema

	mu   sync.Mutex
	made int // runs of agents
}

// hostID is the id of the caller of the first agent.
const hostID = "host"

// NewHost returns a host of agents. The error is that of a task or of options that make no
// sense.
func NewHost(task *loop.Task, opts *Options) (*Host, error) {
	h := &Host{}
	if opts != nil {
		h.opts = *opts
	}
	h.k = loop.NewKernel("agentframework", task, h.opts.Loop)
	if h.k.MaxRequests = h.k.Loop.MaxTurns; h.k.MaxRequests == 0 {
		h.k.MaxRequests = DefaultMaxTurns
	}
	if h.opts.Agent.ID == "" {
		h.opts.Agent.ID = "agent"
	}
	if err := h.compile(); err != nil {
		return nil, err
	}
	if task.Schema != nil {
		s, err := schemas.Compile(task.Schema, nil)
		if err != nil {
			return nil, fmt.Errorf("agentframework: the schema of the output is not one: %w", err)
		}
		h.schema = s
	}
	return h, nil
}

// compile finds what tools there are, and what the first agent is given.
func (h *Host) compile() error {
	o := h.k.Loop.Compile
	o.Run = true
	base, err := h.k.Task.Compile(o)
	if err != nil {
		return err
	}
	o.Catalogue, o.Values = base.Catalogue(), map[string]compile.Given{}
	for kind, v := range base.Initial {
		o.Values[kind] = compile.Given{JSON: v}
	}
	beside := maps.Clone(h.k.Loop.Compile.Values)
	delete(beside, "input") // which are params of their own
	h.params.Set("instruction", h.k.Task.Text(beside))
	h.params.Add(base.Initial["input"])
	h.caller = h.k.Caller(o)
	h.caller.Named = true
	if h.k.Loop.OnPlan != nil {
		h.caller.Exec.OnPlan = h.k.Permit
	}
	return nil
}

// agent returns an agent by its id; nil is none.
func (h *Host) agent(id string) *Agent {
	if id == h.opts.Agent.ID {
		return &h.opts.Agent
	}
	i := slices.IndexFunc(h.opts.Agents, func(a Agent) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return &h.opts.Agents[i]
}

func (h *Host) skill(name string) *Skill {
	i := slices.IndexFunc(h.opts.Skills, func(s Skill) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &h.opts.Skills[i]
}

// RunAgent runs an agent until it has a result. The parameters are an object, beside the goal and
// the input of the task; nil is none. planningOverride true has it plan and false not; nil
// leaves it to the agent. The error is for what is no fault of the model: a limit, the world.
func (h *Host) RunAgent(ctx context.Context, id string, parameters json.RawMessage, planningOverride *bool) (*AgentResult, error) {
	agent := h.agent(id)
	if agent == nil {
		return nil, fmt.Errorf("agentframework: there is no agent %q", id)
	}
	if len(parameters) > 0 && (jsonscan.Check(parameters, jsonscan.Limits{}) != nil || !gjson.ParseBytes(parameters).IsObject()) {
		return nil, errors.New("agentframework: the parameters are no object")
	}
	params := slices.Clone(h.params)
	params.Add(parameters)
	h.mu.Lock()
	h.made++
	runID := h.k.Loop.ID
	if h.made > 1 {
		runID = fmt.Sprintf("%s.%d", runID, h.made)
	}
	h.mu.Unlock()
	return h.drive(ctx, h.newRun(agent, runID, hostID, params, planningOverride))
}

// newRun returns a run of an agent that has not begun.
func (h *Host) newRun(a *Agent, id, caller string, params Values, override *bool) *AgentRun {
	fault := a.complete(&params)
	r := &AgentRun{ID: id, Agent: a, CallerID: caller, Parameters: params, fault: fault, children: map[string]*AgentRun{}, blocked: map[string]*AgentRun{}}
	r.driver = selectTurnDriver(a, override)
	_, r.Planning = r.driver.(*PlanningTurnDriver)
	r.system = h.system(a, r.Planning)
	if a.Prompt != "" {
		r.remind(fill(a.Prompt, &r.Parameters))
	} else {
		r.remind(request(r.Parameters))
	}
	return r
}

// request returns what an agent is given to do.
func request(params Values) string {
	instruction := params.Get("instruction")
	rest := slices.DeleteFunc(slices.Clone(params), func(m loop.Member) bool { // request is how a task tells its goal
		return m.Name == "instruction" || m.Name == "request" && string(m.Value) == string(instruction)
	})
	said := jsonscan.Text(instruction)
	if len(rest) > 0 {
		said = strings.TrimSpace(said + "\n\n<parameters>\n" + string(jsonscan.Encode(rest)) + "\n</parameters>")
	}
	if said == "" {
		said = "Begin."
	}
	return said
}

// drive has the turn driver do turn after turn.
func (h *Host) drive(ctx context.Context, r *AgentRun) (*AgentResult, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.awaiting != nil {
			return r.blockedBy(r.awaiting), nil
		}
		result, err := h.turn(ctx, r)
		var paused *pausedError
		switch {
		case errors.As(err, &paused) && paused.callback != nil: // of a subagent, which its caller passes on
			r.waits(paused.callback)
			r.relay = paused.child
		case errors.As(err, &paused) && r.CallerID == hostID:
			return &AgentResult{Status: Blocked, Message: paused.Error(), Run: r}, nil
		case err != nil:
			return nil, err
		case result != nil:
			if result.Run = r; string(result.Response) == "null" {
				result.Response = nil
			}
			return result, nil
		}
	}
}

// turn does a turn, and calls the hooks around a run.
func (h *Host) turn(ctx context.Context, r *AgentRun) (*AgentResult, error) {
	if !r.begun {
		r.begun = true
		if r.fault != "" {
			return &AgentResult{Status: Failed, Message: r.fault}, nil
		}
		if result, err := h.preAgent(ctx, r); result != nil || err != nil {
			return result, err
		}
	}
	result, err := r.driver.RunTurn(ctx, r.Agent, h, r, r.CallerID)
	if result == nil || err != nil {
		return result, err
	}
	return h.postAgent(ctx, r, result)
}

// blockedBy returns the result of a run that waits for the answer to a callback.
func (r *AgentRun) blockedBy(cb *Callback) *AgentResult {
	return &AgentResult{Status: Blocked, Message: cb.Message, Callback: cb, Run: r}
}

// Resume goes on with a run whose result was Blocked: with the answer to its callback, JSON, or
// nil where it waits for the approval of a call, which was given or is asked for again.
func (h *Host) Resume(ctx context.Context, r *AgentRun, answer json.RawMessage) (*AgentResult, error) {
	switch {
	case r.awaiting == nil && answer != nil:
		return nil, errors.New("agentframework: the run waits for no answer")
	case r.awaiting != nil && answer == nil:
		return nil, errors.New("agentframework: the run waits for an answer")
	case r.awaiting != nil:
		r.answered(answer)
	}
	return h.drive(ctx, r)
}

// pausedError is that a call waits for somebody, or the callback of a subagent that its caller
// can't answer.
type pausedError struct {
	run      string
	callback *Callback
	child    *AgentRun
}

func (e *pausedError) Error() string { return "a call waits for approval" }

// converse asks the model.
func (h *Host) converse(ctx context.Context, r *AgentRun) (*model.Reply, error) {
	t := &model.Turn{System: r.system, Messages: slices.Clone(r.Messages), Attempt: 1, Place: h.place(r)}
	if h.opts.CallFunctions {
		t.Functions = functions(toolNames(h.caller.Compile.Catalogue), r.Planning)
	} else {
		t.Schema = decisionSchema(r.Planning)
	}
	t.Temperature = r.Agent.Temperature
	if f := h.opts.Hooks.PreModel; f != nil {
		f(r, t)
	}
	h.k.SetTurn(h.k.Usage().Requests + 1)
	name, m := "", h.k.Task.Planner
	if own := h.opts.Models[r.Agent.Model]; own != nil {
		name, m = r.Agent.Model, own
	}
	reply, err := h.k.AskModel(ctx, name, m, t)
	if f := h.opts.Hooks.PostModel; f != nil && err == nil {
		f(r, reply)
	}
	return reply, err
}

// place returns a run among those of the host.
func (h *Host) place(r *AgentRun) string { return strings.TrimPrefix(r.ID, h.k.Loop.ID) }

// finding returns a finding about an answer.
func finding(message string) diag.Finding {
	return diag.Finding{Code: diag.BadNotation, Severity: diag.Error, Message: message}
}
