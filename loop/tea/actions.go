package tea

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// The defaults of the actions' parameters.
const (
	DefaultModel           = "gpt-4"
	DefaultMaxDepth        = 3
	DefaultMaxSubtasks     = 15
	DefaultMaxConcurrent   = 3
	DefaultMaxRetries      = 2
	DefaultRetryDelay      = time.Second
	DefaultMaxReplans      = 2 // of an execution
	DefaultMetadataReplans = 3 // of a plan, in its metadata
)

// Options say how the actions work. The zero value is the default.
type Options struct {
	// Decompose and Execute are what Solve gives to the two actions. Their goal and plan are
	// Solve's.
	Decompose DecomposeParams
	Execute   ExecuteParams
	// Models are planners by the names of models. Any other name is the task's planner.
	Models map[string]loop.Planner
	// PlannerModel is the model that the task's planner asks, for the trace; "" is gpt-4.
	PlannerModel string
	// Agents are those that the executor agent.dispatch gives subtasks to, by their names.
	Agents map[string]*Agent
	// State is the state to begin with, as it was kept before; nil is that of Loop.Compile.Values.
	// Solve goes on with its plan.
	State *State
	// Action is the one action that Solve does, plan.decompose, plan.execute, plan.replan or
	// plan.status, whose answer is then the output; "" is all that the goal needs.
	Action string
	// Save keeps the state whenever a subtask or the plan has changed; nil keeps nothing. An error
	// ends the action. It must not change the state or keep the pointer.
	Save func(ctx context.Context, s *State) error
	// Loop says how calls are checked, run and recorded, the bounds, and what is told; nil is the
	// default. Its OnPlan is shown each plan before it is executed, as a program of steps in words;
	// an error ends the execution.
	Loop *loop.Options
}

// State is the state that the actions share: state.plan and the other variables.
type State struct {
	Plan           *Plan   `json:"plan,omitempty"`
	PlanStatus     *Counts `json:"plan_status,omitempty"`
	SubtaskResults Object  `json:"subtask_results"` // by the ids of subtasks, in the order in which they came
	ReplanCount    int     `json:"replan_count"`
	// FailedSubtask and FailureReason are what plan.replan tells the planner; an execution that
	// ends with a failure sets them.
	FailedSubtask string `json:"failed_subtask,omitempty"`
	FailureReason string `json:"failure_reason,omitempty"`
	// PlannerConfig is passed from plan.execute to plan.replan.
	PlannerConfig *ReplanParams `json:"planner_config,omitempty"`
	// Uncertain are the subtasks that failed and may have done their work: they are not done again.
	Uncertain []string `json:"uncertain,omitempty"`
	// Runs is the number of runs of tools that have ended, by which the record of an interrupted
	// one is found again.
	Runs int `json:"runs,omitempty"`
}

// Trace lists the steps of an action: objects with step, timestamp and further members.
type Trace []Object

// Error is the answer of an action that did not succeed; its JSON is that of the system.
type Error struct {
	Message        string `json:"error"`
	Success        bool   `json:"success"` // false
	Plan           *Plan  `json:"plan,omitempty"`
	SubtaskResults Object `json:"subtask_results,omitzero"`
	PlanningTrace  Trace  `json:"planning_trace,omitzero"` // nil of those that come early

	complete bool // there are no subtasks since planning is complete
}

func (e *Error) Error() string { return e.Message }

// EndedError is that a subtask waits for a person, that its run was ended, or that somebody refused
// the plan: it goes on when it is executed again.
type EndedError = loop.End

// Actions are plan.decompose, plan.execute, plan.replan and plan.status on one state. One of them
// runs at a time.
type Actions struct {
	// State is the state that the actions share. It may be changed between actions.
	State State

	k       *loop.Kernel
	o       Options
	caller  loop.Caller
	plans   int // made so far
	attempt int // of the subtask that is retried; 0 is none

	dispatched map[string]int // how often each subtask was given to an agent
}

// New makes the actions of a task: its planner, and its tools as executors. A nil Options is the
// default.
func New(task *loop.Task, o *Options) (*Actions, error) {
	if o == nil {
		o = &Options{}
	}
	if task.Planner == nil {
		return nil, errors.New("tea: the task has no planner")
	}
	a := &Actions{k: loop.NewKernel("tea", task, o.Loop), o: *o}
	if o.State != nil {
		a.State = *o.State
	} else if v := a.k.Loop.Compile.Values["state"].JSON; v != nil {
		if err := json.Unmarshal(v, &a.State); err != nil {
			return nil, fmt.Errorf("tea: the state can't be used: %w", err)
		}
	}
	compiling := a.k.Loop.Compile
	compiling.Catalogue, compiling.Values, compiling.Schemas = task.Catalogue, nil, nil // what calls are given is data, and no whiteboard
	a.caller = a.k.Caller(compiling)
	a.caller.Named = true
	return a, nil
}

// Call calls an action by its name, plan.decompose or actions.plan_decompose and so on, with its
// parameters as JSON. The answer is that of the system, also of an action that did not succeed. ok
// is false when name is none of them; the error is that of a context that is done, of a record, or
// an *EndedError.
func (a *Actions) Call(ctx context.Context, name string, params json.RawMessage) (answer json.RawMessage, ok bool, err error) {
	action := map[string]func(context.Context, json.RawMessage) (any, error){
		"plan_decompose": a.decomposeJSON, "plan_execute": a.executeJSON, "plan_replan": a.replanJSON, "plan_status": a.statusJSON,
	}[actionName(name)]
	if action == nil {
		return nil, false, nil
	}
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	said, err := action(ctx, params)
	var failed *Error
	switch {
	case errors.As(err, &failed):
		return jsonscan.Encode(failed), true, nil
	case err != nil:
		return nil, true, err
	}
	return jsonscan.Encode(said), true, nil
}

func actionName(name string) string {
	if rest, ok := strings.CutPrefix(name, "actions."); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(name, "plan."); ok {
		return "plan_" + rest
	}
	return ""
}

// Functions returns the four actions as functions for a model to call.
func Functions() []model.Function {
	const (
		of   = `{"type":"object","properties":{`
		plan = `"plan":{"type":"object","description":"The plan; the current one when it is left out."}`
		by   = `"model":{"type":"string","default":"gpt-4"},"temperature":{"type":"number","default":0.7}`
	)
	return []model.Function{
		{Name: "plan.decompose", Description: "Decomposes a goal into subtasks whose dependencies form a directed acyclic graph, and makes them the current plan.",
			Params: json.RawMessage(of + `"goal":{"type":"string"},"strategy":{"type":"string","enum":["flat","hierarchical","iterative"],"default":"flat"},"max_depth":{"type":"integer","default":3},"max_subtasks":{"type":"integer","default":15},"prompt_template":{"type":"string"},` + by + `},"required":["goal"]}`)},
		{Name: "plan.execute", Description: "Executes the subtasks of a plan that are not done yet, each after its dependencies, and gives their results.",
			Params: json.RawMessage(of + plan + `,"parallel":{"type":"boolean","default":false},"max_concurrent":{"type":"integer","default":3},"subtask_executor":{"type":"object","properties":{"action":{"type":"string"},"with":{"type":"object"}}},"on_subtask_failure":{"type":"string","enum":["replan","retry","skip","abort"],"default":"abort"},"max_retries":{"type":"integer","default":2},"retry_delay":{"type":"number","default":1.0},"max_replans":{"type":"integer","default":2}}}`)},
		{Name: "plan.replan", Description: "Plans again what is left of a plan; completed subtasks are kept.",
			Params: json.RawMessage(of + plan + `,` + by + `}}`)},
		{Name: "plan.status", Description: "Says how the subtasks of a plan stand, and how far it is.",
			Params: json.RawMessage(of + plan + `,"include_completed":{"type":"boolean","default":true},"include_details":{"type":"boolean","default":false}}}`)},
	}
}

// planID returns the id of the next plan: the same when a loop with the same id is done again.
func (a *Actions) planID(prefix string) string {
	a.plans++
	a.k.SetTurn(a.plans)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", a.k.Loop.ID, a.plans))
	return prefix + hex.EncodeToString(sum[:4])
}

// saved hands the state to who keeps it.
func (a *Actions) saved(ctx context.Context) error {
	if a.o.Save == nil {
		return nil
	}
	if err := a.o.Save(context.WithoutCancel(ctx), &a.State); err != nil {
		return fmt.Errorf("tea: the state can't be kept: %w", err)
	}
	return nil
}
