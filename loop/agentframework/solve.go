package agentframework

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
)

// DefaultMaxTurns is how often the model is asked where loop.Options.MaxTurns is 0.
const DefaultMaxTurns = 100

// Options say how agents are run. The zero value is the default.
type Options struct {
	// Loop has the limits, how calls are checked, run and recorded, and who is told of events. Of it
	// count ID, MaxTurns (times that the model is asked, with that of subagents), MaxTokens,
	// MaxCost, MaxTime, Prices, Compile, Exec, Record, OnPlan (of the calls of each batch) and OnEvent;
	// Solve takes Reflect and MaxRevisions over into a default planning configuration. Nil is the default.
	Loop *loop.Options
	// Agent is the first agent; its id is "agent" where it has none.
	Agent Agent
	// PlanningOverride true has the agent of Solve plan and false not; nil leaves it to Agent, and has
	// it plan by the defaults when that says nothing.
	PlanningOverride *bool
	// Agents are those that steps and decisions may call as subagents. A subagent that is none of
	// them is the tool of that name.
	Agents []Agent
	// Skills are what agents may invoke. A skill that is none of them is the tool of that name.
	Skills []Skill
	// StepRefResolver resolves the references of steps; nil is a Resolver.
	StepRefResolver StepRefResolver
	// OnCallback answers the callbacks of the first agent, with JSON. The error exec.ErrNobody has
	// the run wait: see Host.Resume; another rejects the callback. Nil puts it as a call of the tool
	// step to those who approve calls: an answer's result, or approval, is the answer.
	OnCallback func(ctx context.Context, c *Callback) (json.RawMessage, error)
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
	limited, stop := h.loop.Timed(ctx)
	defer stop()
	run := h.newRun(&h.opts.Agent, h.id, hostID, h.params, o.PlanningOverride)
	result, err := h.drive(limited, run)
	r, err := h.result(limited, run, result, err)
	h.emit(loop.Event{Type: loop.Finished, Result: r})
	return r, err
}

// configOf is the planning configuration that options of a loop come to.
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

// result is what came of a run, as that of a loop.
func (h *Host) result(ctx context.Context, run *AgentRun, a *AgentResult, err error) (*loop.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &loop.Result{
		ID: h.id, Status: exec.Failed, State: json.RawMessage("{}"), Turns: h.usage.Requests, Runs: append([]string{}, h.runs...),
		Usage: h.usage, Revisions: append([]loop.Revision{}, h.revisions...),
	}
	if run.PlanState != nil {
		r.State = jsonscan.Encode(&run.PlanState.StepResults)
	}
	var limit limitError
	switch late := h.loop.Late(ctx); {
	case err == nil:
		r.Reason = a.Message
		switch a.Status {
		case Completed:
			r.Status, r.Reason, r.Output = exec.Completed, "", h.output(a.Response, a.Message)
		case Blocked:
			r.Status = exec.Paused
		}
		return r, nil
	case errors.As(err, &limit):
		r.Reason = limit.Error()
		return r, nil
	case errors.Is(err, loop.ErrRejected):
		r.Status, r.Reason = exec.Rejected, err.Error()
		return r, nil
	case late != "":
		r.Reason = late
		return r, nil
	case ctx.Err() != nil:
		r.Status, r.Reason = exec.Cancelled, "the task was cancelled"
		return r, nil
	}
	r.Reason = err.Error()
	return r, err
}
