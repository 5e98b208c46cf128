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

// Agent is a model with instructions. The tags are the names that agent_framework uses;
// ParseOptions and ParseAgent read them.
type Agent struct {
	ID           string `json:"id"`
	Role         string `json:"role"`         // a word or two
	Description  string `json:"description"`  // for the agents that may call it
	Instructions string `json:"instructions"` // added to the instructions on how to decide
	// Prompt is the first message; {{name}} in it stands for a parameter. If it is "", the first
	// message is the instruction, followed by all other parameters as JSON.
	Prompt        string          `json:"prompt"`
	Parameters    []Parameter     `json:"parameters"`     // declared parameters; callers may pass others
	Planning      *PlanningConfig `json:"planning"`       // nil if the agent doesn't plan
	Tools         []string        `json:"tools"`          // that it may call; nil allows all of the host's
	Subagents     []string        `json:"subagents"`      // that it may call; nil is all
	Skills        []string        `json:"skills"`         // that it may invoke; nil allows all
	TerminalTools []string        `json:"terminal_tools"` // calling one ends the run with the call's parameters as result; the tool isn't run
	Model         string          `json:"model"`          // one of Options.Models; "" selects the task's planner
	Temperature   *float64        `json:"temperature"`    // nil leaves it to the model
	NoCallbacks   bool            `json:"-"`              // the agent may not ask its caller
	NoUser        bool            `json:"-"`              // the agent may not ask a person
}

// Skill is a text that an agent can load into its conversation.
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

// AgentStatus says how an agent's run ended.
type AgentStatus string

// The statuses.
const (
	Completed AgentStatus = "completed"
	Failed    AgentStatus = "failed"
	Blocked   AgentStatus = "blocked" // the run waits for its caller, or for the approval of a call
)

// AgentResult is the result of an agent's run.
type AgentResult struct {
	Status   AgentStatus     `json:"status"`
	Message  string          `json:"message"`
	Response json.RawMessage `json:"response"` // an object; nil or null if there is none
	Callback *Callback       `json:"callback,omitempty"`
	Decision *Decision       `json:"-"` // the last decision
	Run      *AgentRun       `json:"-"`
}

// envelope returns the result in the form in which a step returns it.
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

// AgentRun is the run of an agent. Only one goroutine at a time may use it.
type AgentRun struct {
	ID         string
	Agent      *Agent
	CallerID   string          // the ID of the calling agent, or "host"
	Parameters Values          // passed by the caller; "instruction" is the goal
	PlanState  *PlanState      // nil until there is a plan
	Messages   []model.Message // the conversation
	Planning   bool            // the agent plans

	driver           TurnDriver
	system           string
	parseFailures    int // consecutive ones
	semanticFailures int // since the last plan
	made             int // number of runs and of subagents' runs, for IDs
	begun            bool
	fault            string // what is wrong with the parameters
	decision         *Decision
	awaiting         *Callback
	relay            *AgentRun            // the subagent whose callback the run waits for; nil if the callback is its own
	children         map[string]*AgentRun // subagents that wait for a call or an answer, by step
	blocked          map[string]*AgentRun // subagents that wait for an answer of this agent, by agent ID
	done             map[string]outcome   // outcomes of the decision's steps
}

func (r *AgentRun) say(role model.Role, text string) {
	r.Messages = append(r.Messages, model.Message{Role: role, Text: text})
}

func (r *AgentRun) remind(text string) { r.say(model.User, text) }

func (r *AgentRun) nextID() string {
	r.made++
	return fmt.Sprintf("%s-%d", r.ID, r.made)
}

// Host runs agents with the tools and the planner of a task. Its methods are safe for concurrent
// use.
type Host struct {
	k      *loop.Kernel
	opts   Options
	caller loop.Caller
	params Values // of the first agent
	schema *schemas.Schema

	mu   sync.Mutex
	made int // number of agent runs
}

// hostID is the caller ID of the first agent.
const hostID = "host"

// NewHost returns a host for the agents in opts. It returns an error if the task or the options are
// invalid.
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

// compile determines the tools and the parameters of the first agent.
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
	delete(beside, "input") // passed as parameters of their own
	h.params.Set("instruction", h.k.Task.Text(beside))
	h.params.Add(base.Initial["input"])
	h.caller = h.k.Caller(o)
	h.caller.Named = true
	if h.k.Loop.OnPlan != nil {
		h.caller.Exec.OnPlan = h.k.Permit
	}
	return nil
}

// agent returns the agent with the given ID, or nil.
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

// RunAgent runs an agent until it has a result. parameters is an object that is passed in addition
// to the goal and the input of the task; it may be nil. planningOverride switches planning on or
// off; nil leaves it to the agent. RunAgent returns an error only for what isn't the model's fault,
// such as a limit or an I/O error.
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

// newRun returns a new run of an agent.
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

// request returns the task of an agent as text.
func request(params Values) string {
	instruction := params.Get("instruction")
	rest := slices.DeleteFunc(slices.Clone(params), func(m loop.Member) bool { // the goal of a task is in request
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

// drive runs the turn driver until the agent has a result.
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
		case errors.As(err, &paused) && paused.callback != nil: // the caller passes on a subagent's callback
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

// turn runs one turn, and calls the hooks around a run.
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

// Resume continues a run whose result was Blocked. answer is the answer to its callback, as JSON.
// It is nil if the run waits for the approval of a call, which is then checked again.
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

// pausedError says that a call waits for somebody, or that a subagent's callback waits and its
// caller can't answer it.
type pausedError struct {
	run      string
	callback *Callback
	child    *AgentRun
}

func (e *pausedError) Error() string { return "a call waits for approval" }

// converse sends the conversation to the model and returns its reply.
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

// place returns the ID of a run within the host.
func (h *Host) place(r *AgentRun) string { return strings.TrimPrefix(r.ID, h.k.Loop.ID) }

// finding returns a finding about a model's answer.
func finding(message string) diag.Finding {
	return diag.Finding{Code: diag.BadNotation, Severity: diag.Error, Message: message}
}
