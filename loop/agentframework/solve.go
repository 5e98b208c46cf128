package agentframework

import (
	"context"
	"encoding/json"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
)

// DefaultMaxTurns is the maximum number of requests to the model when loop.Options.MaxTurns is 0.
const DefaultMaxTurns = 100

// Options say how agents are run. The zero value is the default.
type Options struct {
	// Loop has the limits, how calls are checked, run and recorded, and who is told of events. Of
	// it count ID, MaxTurns (times that the model is asked, with that of subagents), MaxTokens,
	// MaxCost, MaxTime, Prices, Compile, Exec, Record, OnPlan (of the calls of each batch) and
	// OnEvent; Solve takes Reflect and MaxRevisions over into a default planning configuration. Nil
	// is the default.
	Loop *loop.Options
	// Agent is the first agent; its id is "agent" where it has none.
	Agent Agent
	// PlanningOverride true has the agent of Solve plan and false not; nil leaves it to Agent, and
	// has it plan by the defaults when that says nothing.
	PlanningOverride *bool
	// Agents are those that steps and decisions may call as subagents. A subagent that is none of
	// them is the tool of that name.
	Agents []Agent
	// Models are planners by the names that agents have for their models. Any other name is the
	// task's planner.
	Models map[string]loop.Planner
	// Skills lists what agents may invoke. A skill that is none of them is the tool of that name.
	Skills []Skill
	// StepRefResolver resolves the references of steps; nil is a Resolver.
	StepRefResolver StepRefResolver
	// OnCallback answers the callbacks of the first agent, with JSON. The error exec.ErrNobody has
	// the run wait: see Host.Resume; another rejects the callback. Nil puts it as a call of the
	// tool step to those who approve calls: an answer's result, or approval, is the answer.
	OnCallback func(ctx context.Context, c *Callback) (json.RawMessage, error)
	// Hooks are called while agents run.
	Hooks Hooks
	// OnPlanUpdated is called with each new plan of an agent. Subagents run at the same time.
	OnPlanUpdated func(run *AgentRun, e *PlanUpdated)
	// CallFunctions has the model decide by calling functions, not by structured text.
	CallFunctions bool
}

// Solve runs the first agent on a task. The output is the response of its final message, or its
// message where it has none; the state holds the results of its steps. The error is for what is
// no fault of the model; the result then says what came of the task so far.
func Solve(ctx context.Context, task *loop.Task, opts *Options) (*loop.Result, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Agent.Planning == nil && o.PlanningOverride == nil {
		o.Agent.Planning = configOf(o.Loop)
	}
	h, err := NewHost(task, &o)
	if err != nil {
		return nil, err
	}
	run := h.newRun(&h.opts.Agent, h.k.Loop.ID, hostID, h.params, o.PlanningOverride)
	return h.k.Solve(ctx, func(ctx context.Context) error {
		a, err := h.drive(ctx, run)
		h.k.Update(func(r *loop.Result) {
			r.Turns = r.Usage.Requests
			if run.PlanState != nil {
				r.State = jsonscan.Encode(run.PlanState.StepResults)
			}
			if err == nil && a.Status == Completed {
				r.Output = h.output(a.Response, a.Message)
			}
		})
		switch {
		case err != nil || a.Status == Completed:
			return err
		case a.Status == Blocked:
			return loop.Ended(exec.Paused, "%s", a.Message)
		}
		return loop.Ended(exec.Failed, "%s", a.Message)
	})
}

// configOf returns the planning configuration that options of a loop come to.
func configOf(o *loop.Options) *PlanningConfig {
	c := DefaultPlanning()
	if o == nil {
		return c
	}
	c.ReflectAfterEachBatch = o.Reflect == loop.ReflectAfterBatch
	switch {
	case o.MaxRevisions > 0:
		c.MaxPlanRevisions = o.MaxRevisions + 1
	case o.MaxRevisions < 0:
		c.MaxPlanRevisions = 1
	}
	return c
}
