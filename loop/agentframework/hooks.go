package agentframework

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// Hooks are called while agents run; each may be nil. Agents of a batch run concurrently, and so do
// their hooks. The loop's record keeps the decisions of PreAgent, PostAgent, PreStep and
// RespondToCallback, so a resumed loop doesn't call them again. It does call the others again.
type Hooks struct {
	// PreAgent is called before an agent's first turn. If it returns a result, the run ends with
	// it.
	PreAgent func(ctx context.Context, run *AgentRun) (*AgentResult, error)
	// PostAgent is called with the result of an agent that has ended, and may change the message
	// and the response. If it returns a text, the model gets it as a message and the run continues.
	PostAgent func(ctx context.Context, run *AgentRun, result *AgentResult) (again string, err error)
	// PreModel and PostModel are called with each request and each reply.
	PreModel  func(run *AgentRun, turn *model.Turn)
	PostModel func(run *AgentRun, reply *model.Reply)
	// PreStep is called before a tool, a subagent or a skill is called; step.Kind says which. It
	// may change the parameters. If it returns an error, the step isn't called and fails with that
	// error.
	PreStep func(ctx context.Context, run *AgentRun, step *PlanStep) error
	// PostStep is called with the result of the step.
	PostStep func(ctx context.Context, run *AgentRun, step *PlanStep, result json.RawMessage)
	// RespondToCallback answers a subagent's callback for its caller. If it returns nil, the
	// caller's model answers, or a person if only a person can.
	RespondToCallback func(ctx context.Context, caller *AgentRun, c *Callback) (json.RawMessage, error)
}

// preAgent returns the result with which the hook ends a run before it begins, or nil.
func (h *Host) preAgent(ctx context.Context, r *AgentRun) (*AgentResult, error) {
	if h.opts.Hooks.PreAgent == nil {
		return nil, nil
	}
	return loop.Once(h.k, "pre_agent", h.place(r), r.Agent.ID, func() (*AgentResult, error) { return h.opts.Hooks.PreAgent(ctx, r) })
}

// postAgent calls the hook with a result. It returns nil if the run continues.
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

// preStep calls the hook for a step. It returns why the hook refuses the step, or "".
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

// respond returns the hook's answer to the callback of a subagent, or nil.
func (h *Host) respond(ctx context.Context, caller, callee *AgentRun, cb *Callback) (json.RawMessage, error) {
	f := h.opts.Hooks.RespondToCallback
	if f == nil {
		return nil, nil
	}
	answer, err := loop.Once(h.k, "respond_to_callback", h.place(callee), cb, func() (json.RawMessage, error) { return f(ctx, caller, cb) })
	if string(answer) == "null" { // the record stores no answer as null
		return nil, err
	}
	return answer, err
}
