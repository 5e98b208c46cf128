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

// Options configure how agents run. The zero value selects the defaults.
type Options struct {
	// Loop configures limits, the checking, running and recording of calls, and events; nil selects
	// the defaults. The fields used are ID, MaxTurns (which counts requests to the model, including
	// those of subagents), MaxTokens, MaxCost, MaxTime, Prices, Compile, Exec, Record, OnPlan
	// (called with the calls of each batch) and OnEvent. Solve also copies Reflect and MaxRevisions
	// into a default planning configuration.
	Loop *loop.Options
	// Agent is the first agent. Its ID defaults to "agent".
	Agent Agent
	// PlanningOverride switches planning on or off for the agent that Solve runs. If it is nil,
	// Agent decides, and plans with the defaults if it has no planning block.
	PlanningOverride *bool
	// Agents are the agents that steps and decisions may call as subagents. A subagent that isn't
	// listed is the tool of that name.
	Agents []Agent
	// Models maps the model names that agents use to planners. Any other name selects the task's
	// planner.
	Models map[string]loop.Planner
	// Skills lists the skills that agents may invoke. A skill that isn't listed is the tool of that
	// name.
	Skills []Skill
	// StepRefResolver resolves the references of steps; nil selects a Resolver.
	StepRefResolver StepRefResolver
	// OnCallback answers the callbacks of the first agent, in JSON. If it returns exec.ErrNobody,
	// the run waits: see Host.Resume. Any other error rejects the callback. If OnCallback is nil,
	// the callback becomes a call of the tool step that waits for approval; the result or the
	// approval given there is the answer.
	OnCallback func(ctx context.Context, c *Callback) (json.RawMessage, error)
	// Hooks are called while agents run.
	Hooks Hooks
	// OnPlanUpdated is called with each new plan of an agent, possibly from several goroutines, as
	// subagents run concurrently.
	OnPlanUpdated func(run *AgentRun, e *PlanUpdated)
	// CallFunctions makes the model decide by calling functions instead of writing structured text.
	CallFunctions bool
}

// Solve runs the first agent on a task. The output is the response of its final message, or the
// message if there is no response. The state holds the results of the agent's steps. Solve returns
// an error only for what isn't the model's fault; the result then describes the task so far.
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

// configOf returns the planning configuration that follows from the options of a loop.
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
