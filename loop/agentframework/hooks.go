package agentframework

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// Hooks are called while agents run; any of them may be nil. Agents of a batch run at the same
// time. What PreAgent, PostAgent, PreStep and RespondToCallback decide is in the record of the
// loop, and they are not asked again; the others are called again when a loop goes on.
type Hooks struct {
	// PreAgent is called before an agent's first turn. A result ends the run with it.
	PreAgent func(ctx context.Context, run *AgentRun) (*AgentResult, error)
	// PostAgent is called with the result of an agent that has ended, and may change its message
	// and response. Words that it returns are put to the model, and the run goes on.
	PostAgent func(ctx context.Context, run *AgentRun, result *AgentResult) (again string, err error)
	// PreModel and PostModel are called with each request and each reply.
	PreModel  func(run *AgentRun, turn *model.Turn)
	PostModel func(run *AgentRun, reply *model.Reply)
	// PreStep is called before a tool, a subagent or a skill is called: the kind of the step says
	// which. It may change the parameters. An error refuses the step, which fails with it.
	PreStep func(ctx context.Context, run *AgentRun, step *PlanStep) error
	// PostStep is called with what came of it.
	PostStep func(ctx context.Context, run *AgentRun, step *PlanStep, result json.RawMessage)
	// RespondToCallback answers a subagent's callback for its caller; nil leaves it to the caller's
	// model or, where the callback is for a person, to that.
	RespondToCallback func(ctx context.Context, caller *AgentRun, c *Callback) (json.RawMessage, error)
}

// preAgent returns the result with which a hook ends a run before it begins; nil is none.
func (h *Host) preAgent(ctx context.Context, r *AgentRun) (*AgentResult, error) {
	if h.opts.Hooks.PreAgent == nil {
		return nil, nil
	}
	return loop.Once(h.k, "pre_agent", h.place(r), r.Agent.ID, func() (*AgentResult, error) { return h.opts.Hooks.PreAgent(ctx, r) })
}

// postAgent has a hook look at a result; nil goes on.
func (h *Host) postAgent(ctx context.Context, r *AgentRun, result *AgentResult) (*AgentResult, error) {
	if h.opts.Hooks.PostAgent == nil || result.Status == Blocked {
		return result, nil
	}
	type said struct {
		Again  string       `json:"again,omitempty"`
		Result *AgentResult `json:"result"`
	}
	s, err := loop.Once(h.k, "post_agent", h.place(r), result, func() (said, error) {
		own := *result
		again, err := h.opts.Hooks.PostAgent(ctx, r, &own)
		return said{again, &own}, err
	})
	switch {
	case err != nil:
		return nil, err
	case s.Again == "":
		s.Result.Decision = result.Decision
		return s.Result, nil
	}
	r.remind(s.Again)
	return nil, nil
}

// preStep has a hook look at a step, and returns why it is refused; "" is not.
func (h *Host) preStep(ctx context.Context, r *AgentRun, s *PlanStep) (refused string, err error) {
	if h.opts.Hooks.PreStep == nil {
		return "", nil
	}
	type said struct {
		Parameters json.RawMessage `json:"parameters"`
		Refused    string          `json:"refused,omitempty"`
	}
	v, err := loop.Once(h.k, "pre_step", h.place(r)+"/"+s.ID, s, func() (said, error) {
		own := *s
		err := h.opts.Hooks.PreStep(ctx, r, &own)
		switch {
		case err == nil && (jsonscan.Check(own.Parameters, jsonscan.Limits{}) != nil || own.Parameters[0] != '{'):
			return said{}, errors.New("agentframework: the hook PreStep made parameters that are no object")
		case ctx.Err() != nil:
			return said{}, ctx.Err()
		case err != nil:
			return said{own.Parameters, err.Error()}, nil
		}
		return said{own.Parameters, ""}, nil
	})
	if err == nil && v.Refused == "" {
		s.Parameters = v.Parameters
	}
	return v.Refused, err
}

func (h *Host) postStep(ctx context.Context, r *AgentRun, s *PlanStep, o *outcome) {
	if f := h.opts.Hooks.PostStep; f != nil && !o.open {
		f(ctx, r, s, o.value)
	}
}

// respond returns what a hook answers to the callback of a subagent; nil is nothing.
func (h *Host) respond(ctx context.Context, caller, callee *AgentRun, cb *Callback) (json.RawMessage, error) {
	f := h.opts.Hooks.RespondToCallback
	if f == nil {
		return nil, nil
	}
	answer, err := loop.Once(h.k, "respond_to_callback", h.place(callee), cb, func() (json.RawMessage, error) { return f(ctx, caller, cb) })
	if string(answer) == "null" { // as the record has nothing
		return nil, err
	}
	return answer, err
}
