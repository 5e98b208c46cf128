package agentframework

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// TurnDriver runs one turn, that is one phase, of an agent's run.
type TurnDriver interface {
	// RunTurn returns the result that ends the run, or nil to continue. It returns an error only
	// for what isn't the model's fault.
	RunTurn(ctx context.Context, agent *Agent, host *Host, run *AgentRun, callerID string) (*AgentResult, error)
}

// selectTurnDriver returns the driver of an agent. The override takes precedence over the agent's
// own setting.
func selectTurnDriver(a *Agent, override *bool) TurnDriver {
	plans := a.Planning != nil && a.Planning.Enabled
	if override != nil {
		plans = *override
	}
	switch {
	case !plans:
		return &StandardTurnDriver{}
	case a.Planning != nil:
		return &PlanningTurnDriver{Config: *a.Planning}
	}
	return &PlanningTurnDriver{Config: *DefaultPlanning()}
}

// StandardTurnDriver asks the model for a decision and carries it out.
type StandardTurnDriver struct{}

// RunTurn implements TurnDriver. A decision that can't be read fails the run.
func (*StandardTurnDriver) RunTurn(ctx context.Context, agent *Agent, host *Host, run *AgentRun, callerID string) (*AgentResult, error) {
	d, err := host.decide(ctx, run, Known{})
	var bad *decisionError
	switch {
	case errors.As(err, &bad):
		return &AgentResult{Status: Failed, Message: bad.Error()}, nil
	case err != nil:
		return nil, err
	}
	return host.dispatch(ctx, run, d, callerID)
}

// decisionError says that a decision can't be read.
type decisionError struct{ error }

// decide returns the postponed decision if there is one, and else asks the model for one.
func (h *Host) decide(ctx context.Context, r *AgentRun, known Known) (*Decision, error) {
	if d := r.decision; d != nil {
		return d, nil
	}
	reply, err := h.converse(ctx, r)
	if err != nil {
		return nil, err
	}
	d, err := read(reply, known)
	if err != nil {
		h.k.Emit(loop.Event{Type: loop.Faulty, Findings: diag.List{finding(err.Error())}})
		return nil, &decisionError{err}
	}
	return d, nil
}

// read reads the decision in a reply: a call of a function named after a kind of decision, or a
// text that contains an object.
func read(reply *model.Reply, known Known) (*Decision, error) {
	switch {
	case reply.Stop == model.Length:
		return nil, invalid("the answer was cut off for its length.")
	case len(reply.Calls) > 1:
		return nil, invalid("%d functions were called; make one decision at a time.", len(reply.Calls))
	case len(reply.Calls) == 1:
		c := reply.Calls[0]
		params := c.Params
		if strings.TrimSpace(params) == "" {
			params = "{}"
		}
		payload, err := object(params)
		if err != nil {
			return nil, err
		}
		return ParseDecision(withKind(payload, c.Name), known)
	}
	payload, err := object(reply.Text)
	if err != nil {
		return nil, err
	}
	return ParseDecision(payload, known)
}

// object finds the JSON object in a text.
func object(text string) (json.RawMessage, error) {
	doc, findings := loop.ReadAnswer(text)
	if i := slices.IndexFunc(findings, func(f diag.Finding) bool { return f.Severity == diag.Error }); i >= 0 {
		return nil, invalid("%s.", findings[i].Message)
	}
	if doc.Root.IsZero() || doc.Root.Kind() != lang.Object {
		return nil, invalid(`payload must be a JSON object with a top-level "kind" field.`)
	}
	return doc.Root.AppendJSON(nil), nil
}

// withKind returns a copy of an object with its kind set.
func withKind(payload json.RawMessage, kind string) json.RawMessage {
	b := append([]byte(`{"kind":`), jsonscan.Encode(kind)...)
	if string(payload) != "{}" {
		b = append(b, ',')
	}
	return append(b, payload[1:]...)
}

// dispatch carries out a decision that doesn't concern a plan. It postpones a decision that has to
// wait.
func (h *Host) dispatch(ctx context.Context, r *AgentRun, d *Decision, callerID string) (*AgentResult, error) {
	r.decision = d
	result, err := h.do(ctx, r, d, callerID)
	var paused *pausedError
	if !errors.As(err, &paused) {
		r.decision = nil
	}
	return result, err
}

func (h *Host) do(ctx context.Context, r *AgentRun, d *Decision, callerID string) (*AgentResult, error) {
	switch d.Kind {
	case FinalMessage:
		if f := h.outputFault(r, d); f != "" {
			return &AgentResult{Status: Failed, Message: f, Decision: d}, nil
		}
		return h.final(d), nil
	case CallTool, CallSubagent, InvokeSkill:
		if d.Kind == CallTool && slices.Contains(r.Agent.TerminalTools, d.ToolName) {
			return &AgentResult{Status: Completed, Message: string(d.Parameters), Response: d.Parameters, Decision: d}, nil
		}
		return nil, h.single(ctx, r, d)
	case CallSubagents:
		return nil, h.several(ctx, r, d)
	case CallbackKind, CallbackToCaller, RequestUserInput, RequestResolution:
		return h.callback(ctx, r, d, callerID)
	}
	return nil, fmt.Errorf("agentframework: Unsupported decision kind: %s", d.Kind)
}

// final returns the result that a final message makes.
func (h *Host) final(d *Decision) *AgentResult {
	return &AgentResult{Status: Completed, Message: d.Message, Response: d.Response, Decision: d}
}

// single calls a tool, a subagent or a skill, and adds the outcome to the conversation.
func (h *Host) single(ctx context.Context, r *AgentRun, d *Decision) error {
	s := PlanStep{Kind: d.Kind, ToolName: d.ToolName, SubagentID: d.SubagentID, SkillName: d.SkillName, Parameters: d.Parameters}
	if d.Kind == CallSubagent && s.SubagentID == "" {
		s.fromParameters()
	}
	s.ID = s.target()
	before := len(r.Messages)
	o := []outcome{failed(s.ID, "call: the decision is a "+d.Kind+", and says not of what")}
	if s.target() != "" {
		var err error
		if o, err = h.perform(ctx, r, []PlanStep{s}, 0, false); err != nil {
			r.Messages = r.Messages[:before]
			return err
		}
	}
	said := slices.Clone(r.Messages[before:]) // the text of a skill
	r.Messages = r.Messages[:before]
	r.say(model.Assistant, d.Text)
	r.Messages = append(r.Messages, said...)
	if d.Kind != InvokeSkill || o[0].failure != "" {
		r.remind(resultText(&s, &o[0]))
	}
	return nil
}

// resultText returns the message that tells the model the outcome of a call it decided on.
func resultText(s *PlanStep, o *outcome) string {
	name := map[string]string{CallTool: "tool", CallSubagent: "subagent", InvokeSkill: "skill"}[s.Kind]
	switch {
	case o.failure != "":
		return fmt.Sprintf("<%s_error name=%q>\n%s\n</%s_error>", name, s.target(), o.failure, name)
	case s.Kind == CallSubagent:
		return jsonscan.Text(displayed(o.value))
	}
	return fmt.Sprintf("<%s_result name=%q>\n%s\n</%s_result>", name, s.target(), jsonscan.Text(o.value), name)
}

// several calls subagents, and adds the outcome of each to the conversation.
func (h *Host) several(ctx context.Context, r *AgentRun, d *Decision) error {
	steps := make([]PlanStep, len(d.SubagentCalls))
	for i, c := range d.SubagentCalls {
		steps[i] = PlanStep{ID: fmt.Sprintf("%d.%s", i, c.OutputKey), Kind: CallSubagent, SubagentID: c.SubagentID, Parameters: c.Parameters}
	}
	limit := time.Duration(min(d.BatchTimeoutSeconds, noLimit.Seconds()) * float64(time.Second))
	groups := [][]PlanStep{steps}
	if d.BatchMode != "parallel" {
		groups = slices.Collect(slices.Chunk(steps, 1))
	}
	for _, g := range groups {
		if err := h.rest(ctx, r, g, limit); err != nil {
			return err
		}
	}
	results := Values{}
	for i := range steps {
		results.Put(d.SubagentCalls[i].OutputKey, displayed(r.done[steps[i].ID].value))
	}
	r.done = nil
	r.say(model.Assistant, d.Text)
	r.remind("<subagent_results>\n" + python.Dumps(jsonscan.Encode(results), true, true) + "\n</subagent_results>")
	return nil
}

// rest executes the steps of a decision that weren't executed before it was postponed.
func (h *Host) rest(ctx context.Context, r *AgentRun, steps []PlanStep, limit time.Duration) error {
	steps = slices.DeleteFunc(slices.Clone(steps), func(s PlanStep) bool { _, done := r.done[s.ID]; return done })
	outcomes, err := h.perform(ctx, r, steps, limit, false)
	if r.done == nil {
		r.done = map[string]outcome{}
	}
	for i := range outcomes {
		if !outcomes[i].open {
			r.done[steps[i].ID] = outcomes[i]
		}
	}
	return err
}

// callback asks the caller of an agent. If another agent called it, the run is blocked until that
// agent calls it again with a resolution. The first agent gets an answer at once, or waits for it.
func (h *Host) callback(ctx context.Context, r *AgentRun, d *Decision, callerID string) (*AgentResult, error) {
	cb := &Callback{AgentID: r.Agent.ID, Kind: d.Kind, Intent: d.CallbackIntent, Message: d.Message, Parameters: d.Parameters}
	if cb.Intent == "" {
		cb.Intent = InformationRequest
	}
	if r.Agent.NoCallbacks && hasCaller(callerID) || r.Agent.NoUser && cb.forUser() {
		r.decided(d)
		r.waits(cb)
		r.rejected(fmt.Sprintf("the agent %q may not ask", r.Agent.ID))
		return nil, nil
	}
	r.waits(cb)
	if hasCaller(callerID) {
		r.decided(d)
		return &AgentResult{Status: Blocked, Message: d.Message, Callback: cb, Decision: d}, nil
	}
	answer, err := h.ask(ctx, r, cb)
	var paused *pausedError
	switch {
	case err == nil:
		r.decided(d)
		r.answered(answer)
		return nil, nil
	case errors.Is(err, exec.ErrNobody), errors.As(err, &paused):
		r.decided(d)
		return &AgentResult{Status: Blocked, Message: d.Message, Callback: cb, Decision: d}, nil
	case ctx.Err() != nil || h.opts.OnCallback == nil && !errors.As(err, new(rejection)):
		return nil, err
	}
	r.decided(d)
	r.rejected(err.Error())
	return nil, nil
}

func (r *AgentRun) decided(d *Decision) { r.say(model.Assistant, d.Text) }

// waits makes a run wait for the answer to a callback; nil makes it wait no longer.
func (r *AgentRun) waits(cb *Callback) {
	r.awaiting = cb
	if r.PlanState != nil {
		r.PlanState.AwaitingCallerCallback = cb != nil
	}
}

// answered gives the run the answer to its callback.
func (r *AgentRun) answered(answer json.RawMessage) { r.tellCallback("answer", jsonscan.Text(answer)) }

// rejected tells the run why nobody answers its callback.
func (r *AgentRun) rejected(why string) { r.tellCallback("rejected", why) }

// tellCallback tells the model the outcome of the callback that a run waits for, or of its
// subagent's callback.
func (r *AgentRun) tellCallback(what, said string) {
	if c := r.relay; c != nil {
		r.relay = nil
		r.waits(nil)
		c.tellCallback(what, said)
		return
	}
	r.remind(fmt.Sprintf("<callback_%[1]s intent=%[2]q>\n%[3]s\n</callback_%[1]s>", what, r.awaiting.Intent, said))
	r.waits(nil)
}

// forUser reports whether only a person, and no model, can answer a callback.
func (c *Callback) forUser() bool {
	return c.Kind == RequestUserInput || c.Intent == PolicyOrApproval
}

// isQuestion reports whether the agent continues once its callback is answered. Other callbacks
// only say why the agent stopped.
func (c *Callback) isQuestion() bool {
	return c.Intent != GuardrailTrip && c.Intent != ExecutionRecovery
}

// hasCaller reports whether another agent called this one.
func hasCaller(callerID string) bool { return callerID != "" && callerID != hostID }
