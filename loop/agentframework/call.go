package agentframework

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// outcome is the result of a step.
type outcome struct {
	value   json.RawMessage
	failure string    // "" is none
	open    bool      // it waits
	blocked *AgentRun // the subagent that waits for an answer; nil is none
}

func failed(step, failure string) outcome {
	return outcome{failure: failure, value: loop.ObjectOf("error", failure, "step_id", step).JSON()}
}

// noLimit is the time of calls that have none.
const noLimit = 10 * 365 * 24 * time.Hour

// perform does steps whose parameters are resolved, at once: tools, in one run; subagents, each as
// an agent; skills. limit is the time of each; 0 is none. Shown is that they are of a plan that was
// shown. The error is for what ends the agent's
// run, a *pausedError for calls that wait; the outcomes are then those that there are.
func (h *Host) perform(ctx context.Context, r *AgentRun, steps []PlanStep, limit time.Duration, shown bool) ([]outcome, error) {
	outcomes := make([]outcome, len(steps))
	errs := make([]error, len(steps)+1)
	var calls []model.FunctionCall
	var at []int
	id := r.nextID() // of the calls; whether there are any or not, so that ids do not depend on it
	var agents sync.WaitGroup
	for i := range steps {
		s := &steps[i]
		fault, err := h.refusal(ctx, r, s)
		if err != nil {
			errs[i], outcomes[i].open = err, true
			continue
		}
		var child *AgentRun
		if fault == "" {
			child = h.child(r, s)
		}
		switch {
		case fault != "":
			outcomes[i] = failed(s.ID, fault)
		case child != nil:
			agents.Go(func() { outcomes[i], errs[i] = h.runChild(ctx, r, s, child, limit) })
		case s.Kind == InvokeSkill && h.skill(s.SkillName) != nil:
			outcomes[i] = r.invoked(s, h.skill(s.SkillName).Instructions)
		default:
			calls, at = append(calls, model.FunctionCall{ID: s.ID, Name: s.target(), Params: string(s.Parameters)}), append(at, i)
		}
	}
	called, err := h.call(ctx, id, calls, limit, shown)
	errs[len(steps)] = err
	agents.Wait()
	for n, i := range at {
		outcomes[i].open = true
		if n < len(called) {
			outcomes[i] = r.outcome(&steps[i], &called[n])
		}
	}
	for i := range steps {
		if ctx.Err() != nil && outcomes[i].failure != "" { // perhaps it failed for that
			outcomes[i].open = true
		}
		if !outcomes[i].open {
			delete(r.children, steps[i].ID)
		}
		if c := outcomes[i].blocked; c != nil {
			r.blocked[c.Agent.ID] = c
		}
		h.postStep(ctx, r, &steps[i], &outcomes[i])
	}
	return outcomes, worst(errs)
}

// worst returns the error that ends the run: an error that only waits comes after others.
func worst(errs []error) (found error) {
	for _, err := range errs {
		var paused *pausedError
		switch {
		case err == nil:
		case found == nil, !errors.As(err, &paused):
			found = err
		}
	}
	return found
}

// target returns what a step calls.
func (s *PlanStep) target() string {
	switch s.Kind {
	case CallTool:
		return s.ToolName
	case CallSubagent:
		return s.SubagentID
	case InvokeSkill:
		return s.SkillName
	}
	return s.CallbackIntent
}

// refusal returns why a step is not called, because its agent may not call it or a hook forbids
// it, or "".
func (h *Host) refusal(ctx context.Context, r *AgentRun, s *PlanStep) (string, error) {
	a, what, allowed := r.Agent, "tool", r.Agent.Tools
	switch {
	case s.Kind == CallSubagent && (h.agent(s.SubagentID) != nil || slices.Contains(a.Subagents, s.SubagentID)):
		what, allowed = "agent", a.Subagents
	case s.Kind == InvokeSkill && (h.skill(s.SkillName) != nil || slices.Contains(a.Skills, s.SkillName)):
		what, allowed = "skill", a.Skills
	}
	if !may(allowed, s.target()) {
		return fmt.Sprintf("permission: the agent %q may not call the %s %q", a.ID, what, s.target()), nil
	}
	if r.children[s.ID] != nil { // it goes on
		return "", nil
	}
	refused, err := h.preStep(ctx, r, s)
	if refused != "" {
		refused = "refused: " + refused
	}
	return refused, err
}

// may reports whether a list of what may be called has a name; nil has all.
func may(list []string, name string) bool { return list == nil || slices.Contains(list, name) }

// child returns the run of the agent that a step calls: the one that waits, or that the step
// answers, else a new one; nil when it calls no agent.
func (h *Host) child(r *AgentRun, s *PlanStep) *AgentRun {
	if s.Kind != CallSubagent {
		return nil
	}
	a := h.agent(s.SubagentID)
	if a == nil {
		return nil
	}
	if c := r.children[s.ID]; c != nil {
		return c
	}
	params := Values{}
	params.Add(s.Parameters)
	if c := r.blocked[a.ID]; c != nil {
		if answer := params.Get(resolution); answer != nil {
			delete(r.blocked, a.ID)
			c.answered(answer)
			r.children[s.ID] = c
			return c
		}
	}
	c := h.newRun(a, r.nextID(), r.Agent.ID, params, nil)
	r.children[s.ID] = c
	return c
}

// resolution is the parameter by which an agent answers a subagent that waits.
const resolution = "resolution"

// runChild runs the agent that a step calls. One that failed or is blocked is no error.
func (h *Host) runChild(ctx context.Context, r *AgentRun, s *PlanStep, c *AgentRun, limit time.Duration) (outcome, error) {
	for {
		result, late, err := h.driveWithin(ctx, c, limit)
		switch {
		case late:
			return failed(s.ID, timedOut), nil
		case err != nil:
			return outcome{open: true}, err
		case result.Callback == nil:
			return outcome{value: result.envelope()}, nil
		}
		answered, err := h.forCaller(ctx, r, c, result.Callback)
		switch {
		case err != nil:
			return outcome{open: true}, err
		case !answered:
			return outcome{value: result.envelope(), blocked: c}, nil
		}
	}
}

// driveWithin drives an agent; late is that it took longer than the limit, of which 0 is none.
func (h *Host) driveWithin(ctx context.Context, c *AgentRun, limit time.Duration) (result *AgentResult, late bool, err error) {
	limited, stop := ctx, func() {}
	if limit > 0 {
		limited, stop = context.WithTimeout(ctx, limit)
	}
	defer stop()
	result, err = h.drive(limited, c)
	return result, err != nil && ctx.Err() == nil && limited.Err() != nil, err
}

// forCaller answers the callback of a subagent for its caller, by a hook or, when only a person
// can, by that. What no person answers here its caller passes on: the error is a *pausedError.
// Without an answer the callback is for the model of the caller.
func (h *Host) forCaller(ctx context.Context, caller, c *AgentRun, cb *Callback) (answered bool, err error) {
	answer, err := h.respond(ctx, caller, c, cb)
	if err != nil {
		return false, err
	}
	if answer == nil {
		switch {
		case !cb.forUser():
			return false, nil
		case hasCaller(caller.CallerID):
			return false, &pausedError{callback: cb, child: c}
		}
		answer, err = h.ask(ctx, c, cb)
		var paused *pausedError
		var rejected rejection
		switch {
		case errors.As(err, &rejected):
			c.rejected(string(rejected))
			return true, nil
		case errors.As(err, &paused), errors.Is(err, exec.ErrNobody):
			return false, &pausedError{callback: cb, child: c}
		case err != nil:
			return false, err
		}
	}
	c.answered(answer)
	return true, nil
}

// timedOut is the failure of a step that took too long.
const timedOut = "timed_out"

// invoked takes a skill that was invoked: what it says goes into the conversation.
func (r *AgentRun) invoked(s *PlanStep, said string) outcome {
	r.remind(fmt.Sprintf("<skill name=%q>\n%s\n</skill>", s.SkillName, said))
	return outcome{value: jsonscan.Encode("skill:" + s.SkillName + ":invoked")}
}

// outcome returns what came of the call of a step.
func (r *AgentRun) outcome(s *PlanStep, c *loop.Called) outcome {
	f := c.Failure
	switch {
	case f == nil && c.Status != exec.Completed:
		return outcome{open: true}
	case f != nil && (f.Code == "timeout" || f.Code == "uncertain" && strings.HasPrefix(f.Message, "timeout: ")):
		return failed(s.ID, timedOut)
	case f != nil && s.Kind == CallSubagent && f.Code != loop.BadCall:
		return outcome{value: envelope(f.String(), nil, Failed)}
	case f != nil:
		return failed(s.ID, f.String())
	case s.Kind == CallSubagent:
		return outcome{value: exec.Envelope(jsonscan.OrNull(c.Value))}
	case s.Kind == InvokeSkill:
		return r.invoked(s, jsonscan.Text(jsonscan.OrNull(c.Value)))
	}
	return outcome{value: jsonscan.OrNull(c.Value)}
}

// call makes the calls of a run. Those that do not come to their turn have no status.
func (h *Host) call(ctx context.Context, id string, calls []model.FunctionCall, limit time.Duration, shown bool) ([]loop.Called, error) {
	if len(calls) == 0 {
		return nil, nil
	}
	c := h.caller
	if shown {
		c.Exec.OnPlan = nil
	}
	switch own := c.Exec.Timeout; {
	case limit > 0 && (own == 0 || own > limit):
		c.Exec.Timeout = limit
	case own == 0:
		c.Exec.Timeout = noLimit
	}
	return h.run(ctx, &c, id, calls)
}

// run makes calls as the run of this id.
func (h *Host) run(ctx context.Context, c *loop.Caller, id string, calls []model.FunctionCall) ([]loop.Called, error) {
	var refused error
	if onPlan := c.Exec.OnPlan; onPlan != nil {
		c.Exec.OnPlan = func(prog *compile.Program) error {
			refused = onPlan(prog)
			return refused
		}
	}
	called, result, err := c.Call(ctx, id, calls)
	switch {
	case ctx.Err() != nil:
		return called, ctx.Err()
	case errors.Is(refused, loop.ErrRejected):
		return nil, refused
	case errors.Is(refused, exec.ErrNobody):
		return nil, &pausedError{run: id}
	case refused != nil:
		return refusedCalls(calls, refused), nil
	case err != nil:
		return nil, err
	case result == nil: // none of them could be made
		return called, nil
	}
	if result.Status == exec.Paused {
		return called, &pausedError{run: id}
	}
	for i := range called {
		if f := &called[i]; f.Failure == nil && f.Status != exec.Completed { // over a budget
			f.Failure = &exec.Failure{Code: string(f.Status), Message: f.Reason}
		}
	}
	return called, nil
}

// refusedCalls returns the calls that were refused.
func refusedCalls(calls []model.FunctionCall, why error) []loop.Called {
	called := make([]loop.Called, len(calls))
	for i := range called {
		called[i] = loop.Called{Status: exec.Failed, Failure: &exec.Failure{Code: "rejected", Message: why.Error()}}
	}
	return called
}

// asking returns the tool by which a callback is put to a person, as a call that waits for
// approval. It is the one that callbacks of plans in files call, so that whoever reads the
// record knows it.
func asking() *tool.Tool {
	known, _ := tool.Step(dialect.StepTool)
	t := *known
	t.Driver = "go"
	t.Activity = tool.ActivityFunc(func(_ context.Context, req *tool.Request) (tool.Result, error) {
		answer := []byte(`{"approved":true}`)
		if p := gjson.GetBytes(req.Params, "parameters"); !isEmpty(p) {
			answer = append(append([]byte(`{"approved":true,"parameters":`), p.Raw...), '}')
		}
		return tool.Result{Value: answer}, nil
	})
	return &t
}

// ask puts a callback to whoever answers for the host. exec.ErrNobody, and a *pausedError, are that
// nobody is there.
func (h *Host) ask(ctx context.Context, r *AgentRun, cb *Callback) (json.RawMessage, error) {
	if h.opts.OnCallback != nil {
		return h.answer(ctx, r, cb)
	}
	c := h.caller
	c.Compile = compile.Options{Catalogue: tool.NewCatalogue(asking())}
	c.Exec.Approve, c.Exec.OnPlan = exec.ApproveAll, nil
	params := loop.ObjectOf("description", cb.Message, "intent", cb.Intent, "parameters", cb.Parameters).JSON()
	called, err := h.run(ctx, &c, r.nextID(), []model.FunctionCall{{ID: CallbackKind, Name: dialect.StepTool, Params: string(params)}})
	switch {
	case err != nil:
		return nil, err
	case called[0].Failure != nil:
		return nil, rejection(called[0].Failure.Message)
	}
	return jsonscan.OrNull(called[0].Value), nil
}

// answer returns what Options.OnCallback says, once.
func (h *Host) answer(ctx context.Context, r *AgentRun, cb *Callback) (json.RawMessage, error) {
	type said struct {
		Answer   json.RawMessage `json:"answer,omitempty"`
		Rejected *string         `json:"rejected,omitempty"`
	}
	a, err := loop.Once(h.k, "on_callback", h.place(r), cb, func() (said, error) {
		answer, err := h.opts.OnCallback(ctx, cb)
		switch {
		case err == nil:
			return said{Answer: jsonscan.OrNull(answer)}, nil
		case ctx.Err() != nil || errors.Is(err, exec.ErrNobody):
			return said{}, err
		}
		return said{Rejected: new(err.Error())}, nil
	})
	if err == nil && a.Rejected != nil {
		return nil, rejection(*a.Rejected)
	}
	return a.Answer, err
}

// rejection is why a person gave no answer to a callback.
type rejection string

func (e rejection) Error() string { return string(e) }
