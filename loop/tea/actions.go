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
	DefaultMaxReplans      = 2 // per execution
	DefaultMetadataReplans = 3 // per plan, kept in its metadata
)

// Options configure the actions. The zero value selects the defaults.
type Options struct {
	// Decompose and Execute are the parameters that Solve passes to the two actions. Solve sets the
	// goal and the plan itself.
	Decompose DecomposeParams
	Execute   ExecuteParams
	// Models maps the names of models to planners. Any other name selects the task's planner.
	Models map[string]loop.Planner
	// PlannerModel is the name of the model behind the task's planner, for the trace; "" means
	// gpt-4.
	PlannerModel string
	// Agents are the agents, by name, to which the executor agent.dispatch gives subtasks.
	Agents map[string]*Agent
	// State is a saved state to begin with; nil means the state in Loop.Compile.Values. Solve
	// continues its plan.
	State *State
	// Action is the only action that Solve performs: plan.decompose, plan.execute, plan.replan or
	// plan.status, whose answer is then the output. If it is "", Solve performs all actions that
	// the goal needs.
	Action string
	// Save is called to save the state whenever a subtask or the plan has changed; it may be nil.
	// If it returns an error, the action ends. Save must not change the state or retain the
	// pointer.
	Save func(ctx context.Context, s *State) error
	// Loop configures how calls are checked, run and recorded, the limits, and the events; nil
	// selects the defaults. Its OnPlan is called with each plan before it is executed, as a program
	// of steps in words; if it returns an error, the execution ends.
	Loop *loop.Options
}

// State is the state that the actions share: state.plan and further variables.
type State struct {
	Plan           *Plan   `json:"plan,omitempty"`
	PlanStatus     *Counts `json:"plan_status,omitempty"`
	SubtaskResults Object  `json:"subtask_results"` // by subtask ID, in order of completion
	ReplanCount    int     `json:"replan_count"`
	// FailedSubtask and FailureReason describe the failure that plan.replan reports to the planner.
	// An execution that ends with a failure sets them.
	FailedSubtask string `json:"failed_subtask,omitempty"`
	FailureReason string `json:"failure_reason,omitempty"`
	// PlannerConfig is passed from plan.execute to plan.replan.
	PlannerConfig *ReplanParams `json:"planner_config,omitempty"`
	// Uncertain lists the failed subtasks that may have had an effect, and so aren't repeated.
	Uncertain []string `json:"uncertain,omitempty"`
	// Runs is the number of finished runs of tools. It determines the ID of the next run, with
	// which an interrupted run finds its record.
	Runs int `json:"runs,omitempty"`
}

// Trace lists the steps of an action: objects with step, timestamp and further members.
type Trace []Object

// Error is the answer of a failed action; its JSON form is the one The Edge Agent uses.
type Error struct {
	Message        string `json:"error"`
	Success        bool   `json:"success"` // false
	Plan           *Plan  `json:"plan,omitempty"`
	SubtaskResults Object `json:"subtask_results,omitzero"`
	PlanningTrace  Trace  `json:"planning_trace,omitzero"` // nil for failures before the trace begins

	complete bool // no subtasks, because planning is complete
}

func (e *Error) Error() string { return e.Message }

// EndedError says that a subtask waits for a person, that its run was ended, or that somebody
// rejected the plan. Executing the plan again continues it.
type EndedError = loop.End

// Actions implements plan.decompose, plan.execute, plan.replan and plan.status on one state. Only
// one of them may run at a time.
type Actions struct {
	// State is the state that the actions share. It may be changed between actions.
	State State

	k       *loop.Kernel
	o       Options
	caller  loop.Caller
	plans   int // plans made so far
	attempt int // number of the current retry, or 0

	dispatched map[string]int // how often each subtask was dispatched to an agent
}

// New returns the actions of a task, with its planner and with its tools as executors. Nil options
// select the defaults.
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
	compiling.Catalogue, compiling.Values, compiling.Schemas = task.Catalogue, nil, nil // params of calls are data, and there is no whiteboard
	a.caller = a.k.Caller(compiling)
	a.caller.Named = true
	return a, nil
}

// Call calls an action by its name, such as plan.decompose or actions.plan_decompose, with
// parameters as JSON. The answer has the form The Edge Agent uses, even if the action failed. ok is
// false if name isn't an action. The error is an *EndedError, or comes from ctx or from a record.
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

// planID returns the ID of the next plan. A repeated loop with the same ID gets the same plan IDs.
func (a *Actions) planID(prefix string) string {
	a.plans++
	a.k.SetTurn(a.plans)
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d", a.k.Loop.ID, a.plans))
	return prefix + hex.EncodeToString(sum[:4])
}

// saved calls Options.Save with the state.
func (a *Actions) saved(ctx context.Context) error {
	if a.o.Save == nil {
		return nil
	}
	if err := a.o.Save(context.WithoutCancel(ctx), &a.State); err != nil {
		return fmt.Errorf("tea: the state can't be kept: %w", err)
	}
	return nil
}
