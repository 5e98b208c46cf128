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

// outcome holds the result of a step.
type outcome struct {
	value   json.RawMessage
	failure string    // "" if it didn't fail
	open    bool      // the step still waits
	blocked *AgentRun // the subagent that waits for an answer, or nil
}

func failed(step, failure string) outcome {
	return outcome{failure: failure, value: loop.ObjectOf("error", failure, "step_id", step).JSON()}
}

// noLimit is the timeout of calls without a limit.
const noLimit = 10 * 365 * 24 * time.Hour

// perform executes steps whose parameters are resolved, all at once: the tools in a single run,
// each subagent as an agent of its own, and skills. limit bounds the time of each step; 0 means no
// limit. shown says that the steps belong to a plan that was shown to the user. perform returns an
// error only for what ends the agent's run. If calls wait, the error is a *pausedError, and the
// returned outcomes are those known so far.
func (h *Host) perform(ctx context.Context, r *AgentRun, steps []PlanStep, limit time.Duration, shown bool) ([]outcome, error) {
	outcomes := make([]outcome, len(steps))
	errs := make([]error, len(steps)+1)
	var calls []model.FunctionCall
	var at []int
	id := r.nextID() // of the calls; taken even if there are none, so that later ids don't depend on it
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
			outcomes[i] = r.addSkill(s, h.skill(s.SkillName).Instructions)
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
		if ctx.Err() != nil && outcomes[i].failure != "" { // perhaps the step failed because ctx ended
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

// worst returns the error that ends the run. It prefers any other error to one that only waits.
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

// target returns the name of the tool, subagent or skill that a step calls.
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

// refusal returns why a step must not be called: its agent may not call the target, or a hook
// forbids it. It returns "" if the step may be called.
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
	if r.children[s.ID] != nil { // the step was allowed before, and its subagent continues
		return "", nil
	}
	refused, err := h.preStep(ctx, r, s)
	if refused != "" {
		refused = "refused: " + refused
	}
	return refused, err
}

// may reports whether a list of allowed names contains name; a nil list allows every name.
func may(list []string, name string) bool { return list == nil || slices.Contains(list, name) }

// child returns the run of the agent that a step calls: the run that waits or that the step
// answers, or else a new run. It returns nil if the step calls no agent.
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

// resolution is the parameter with which an agent answers a waiting subagent.
const resolution = "resolution"

// runChild runs the agent that a step calls. It returns no error for an agent that failed or is
// blocked.
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
		answered, err := h.answerForCaller(ctx, r, c, result.Callback)
		switch {
		case err != nil:
			return outcome{open: true}, err
		case !answered:
			return outcome{value: result.envelope(), blocked: c}, nil
		}
	}
}

// driveWithin runs an agent until it has a result. late reports that it took longer than limit; a
// limit of 0 means none.
func (h *Host) driveWithin(ctx context.Context, c *AgentRun, limit time.Duration) (result *AgentResult, late bool, err error) {
	limited, stop := ctx, func() {}
	if limit > 0 {
		limited, stop = context.WithTimeout(ctx, limit)
	}
	defer stop()
	result, err = h.drive(limited, c)
	return result, err != nil && ctx.Err() == nil && limited.Err() != nil, err
}

// answerForCaller answers the callback of a subagent on behalf of its caller: with a hook or, if
// only a person can answer, by asking a person. If nobody is there to answer, it returns a
// *pausedError, with which the caller passes the callback on. If it reports false, the caller's
// model has to answer.
func (h *Host) answerForCaller(ctx context.Context, caller, c *AgentRun, cb *Callback) (answered bool, err error) {
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

// timedOut is the failure of a step that exceeded its time limit.
const timedOut = "timed_out"

// addSkill appends the text of an invoked skill to the conversation.
func (r *AgentRun) addSkill(s *PlanStep, said string) outcome {
	r.remind(fmt.Sprintf("<skill name=%q>\n%s\n</skill>", s.SkillName, said))
	return outcome{value: jsonscan.Encode("skill:" + s.SkillName + ":invoked")}
}

// outcome returns the outcome of a step's call.
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
		return r.addSkill(s, jsonscan.Text(jsonscan.OrNull(c.Value)))
	}
	return outcome{value: jsonscan.OrNull(c.Value)}
}

// call makes the calls of a run. Calls that are never started have no status.
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

// run makes calls under the run ID id.
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
	case result == nil: // no call could be made
		return called, nil
	}
	if result.Status == exec.Paused {
		return called, &pausedError{run: id}
	}
	for i := range called {
		if f := &called[i]; f.Failure == nil && f.Status != exec.Completed { // the call was over a budget
			f.Failure = &exec.Failure{Code: string(f.Status), Message: f.Reason}
		}
	}
	return called, nil
}

// refusedCalls returns one refused result per call, with the reason why.
func refusedCalls(calls []model.FunctionCall, why error) []loop.Called {
	called := make([]loop.Called, len(calls))
	for i := range called {
		called[i] = loop.Called{Status: exec.Failed, Failure: &exec.Failure{Code: "rejected", Message: why.Error()}}
	}
	return called
}

// asking returns the tool that puts a callback to a person, as a call that waits for approval.
// Callbacks of plans in files call the same tool, so readers of a record recognize it.
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

// ask puts a callback to the person who answers for the host. It returns exec.ErrNobody or a
// *pausedError if nobody is there.
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

// answer calls Options.OnCallback once per callback, and returns its answer.
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

// rejection is the reason why a person didn't answer a callback.
type rejection string

func (e rejection) Error() string { return string(e) }
