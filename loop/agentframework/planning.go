package agentframework

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
	"github.com/plc-lang/plc/loop"
)

// PlanningTurnDriver has an agent plan. A turn is one phase:
//
//	no plan yet ──→ PLAN ──submit_plan──→ EXECUTE ⟲ while steps are ready
//	                                        │ ↑
//	                     nothing is ready ──┘ └── continue_plan, amend_plan, submit_plan
//	                                        ↓ │
//	                                      REFLECT ──final_message──→ done
type PlanningTurnDriver struct {
	Config PlanningConfig
}

// The safety caps.
const (
	capMaxSteps     = "max_steps"
	capRevisions    = "max_plan_revisions"
	capStall        = "eop_stall"
	capParse        = "consecutive_validation_failures"
	capSemantic     = "planning_semantic_validation"
	maxStalls       = 3
	maxParseFaults  = 2
	maxSemantic     = 2
	stepsWarning    = 0.8 // as a fraction of a limit
	revisionWarning = 0.8
)

// planning is one turn of an agent that plans.
type planning struct {
	*PlanningTurnDriver
	host     *Host
	run      *AgentRun
	callerID string
}

// RunTurn implements TurnDriver.
func (d *PlanningTurnDriver) RunTurn(ctx context.Context, _ *Agent, host *Host, run *AgentRun, callerID string) (*AgentResult, error) {
	t := &planning{d, host, run, callerID}
	s := run.PlanState
	if s == nil {
		return t.plan(ctx)
	}
	if s.unreflected && d.Config.ReflectAfterEachBatch {
		return t.reflect(ctx, s)
	}
	ready := s.ready()
	if len(ready) == 0 {
		return t.reflect(ctx, s)
	}
	batch, capped := t.batch(s, ready)
	switch {
	case capped:
		return t.stopAtCap(ctx, capMaxSteps, fmt.Sprintf("max_steps=%d exceeded (executed=%d)", d.Config.MaxSteps, s.TotalStepsExecuted))
	case len(batch) == 0:
		return t.reflect(ctx, s)
	}
	return nil, t.execute(ctx, s, batch)
}

// decide returns the model's decision. If the decision can't be read, it is nil; the result is then
// set if the run ends.
func (t *planning) decide(ctx context.Context) (*Decision, *AgentResult, error) {
	known := Known{Planning: true}
	if s := t.run.PlanState; s != nil {
		known.Completed, known.Pending = s.StepResults.Names(), s.pending()
	}
	d, err := t.host.decide(ctx, t.run, known)
	var bad *decisionError
	switch {
	case err == nil:
		t.run.parseFailures = 0
		return d, nil, nil
	case !errors.As(err, &bad):
		return nil, nil, err
	}
	t.run.parseFailures++
	if t.run.parseFailures >= maxParseFaults {
		t.run.parseFailures = 0
		result, err := t.stopAtCap(ctx, capParse, fmt.Sprintf("Two consecutive plan validation errors: %s", bad))
		return nil, result, err
	}
	t.run.remind(parseReminder(bad.Error()))
	return nil, nil, nil
}

// refuse rejects a decision that breaks the rules. The model is told the fault, and after too many
// faults the run ends.
func (t *planning) refuse(ctx context.Context, fault string) (*AgentResult, error) {
	t.host.k.Emit(loop.Event{Type: loop.Faulty, Findings: diag.List{finding(fault)}})
	t.run.semanticFailures++
	if t.run.semanticFailures >= maxSemantic {
		t.run.semanticFailures = 0
		return t.stopAtCap(ctx, capSemantic, "Two consecutive planning semantic validation failures. Last error: "+fault)
	}
	t.run.remind(semanticReminder(fault))
	return nil, nil
}

// stopAtCap ends the run at a safety cap. If the caller is an agent, it is asked for help.
func (t *planning) stopAtCap(ctx context.Context, limit, detail string) (*AgentResult, error) {
	t.run.remind(capReminder(limit, detail))
	if !hasCaller(t.callerID) {
		return &AgentResult{Status: Failed, Message: capMessage(detail)}, nil
	}
	return t.host.callback(ctx, t.run, &Decision{
		Kind: CallbackToCaller, CallbackIntent: ExecutionRecovery, Message: capMessage(detail),
		Parameters: loop.ObjectOf("cap", limit, "detail", detail).JSON(),
	}, t.callerID)
}

// plan runs the phase in which there is no plan yet.
func (t *planning) plan(ctx context.Context) (*AgentResult, error) {
	d, result, err := t.decide(ctx)
	if d == nil {
		return result, err
	}
	switch d.Kind {
	case SubmitPlan:
		if f := planFault(SubmitPlan, d.Plan, nil, nil, &t.run.Parameters); f != "" {
			return t.refuse(ctx, f)
		}
		if ok, result, err := t.show(ctx, &PlanState{}, d.Plan); !ok {
			return result, err
		}
		t.run.PlanState = &PlanState{}
		t.install(nil, d.Message, func(s *PlanState) { s.replace(d.Plan, nil) })
		return nil, nil
	case ContinuePlan, AmendPlan:
		return t.refuse(ctx, fmt.Sprintf("Unsupported decision kind: %s. There is no plan yet; emit submit_plan.", d.Kind))
	case FinalMessage:
		return t.final(ctx, d)
	}
	return t.host.dispatch(ctx, t.run, d, t.callerID)
}

// final ends the run, unless the output doesn't meet its schema.
func (t *planning) final(ctx context.Context, d *Decision) (*AgentResult, error) {
	if f := t.host.outputFault(t.run, d); f != "" {
		return t.refuse(ctx, f)
	}
	return t.host.final(d), nil
}

// install changes the plan with change, and reports the new plan as an event.
func (t *planning) install(before []PlanStep, why string, change func(*PlanState)) {
	s := t.run.PlanState
	change(s)
	for id := range t.run.children { // drop subagents of steps that were removed or start again
		if s.StepResults.Get(id) == nil {
			delete(t.run.children, id)
		}
	}
	s.unreflected = false
	t.run.semanticFailures, t.run.parseFailures = 0, 0
	u, r := s.updated(before)
	if t.host.opts.OnPlanUpdated != nil {
		t.host.opts.OnPlanUpdated(t.run, u)
	}
	said := fmt.Sprintf("plan %d: %d steps", u.PlanRevision, u.StepCount)
	for _, list := range []struct {
		what string
		ids  []string
	}{{"added", u.AddedStepIDs}, {"dropped", u.DroppedStepIDs}} {
		if len(list.ids) > 0 {
			said += fmt.Sprintf("; %s %s", list.what, strings.Join(list.ids, ", "))
		}
	}
	if !u.IsInitial {
		t.host.k.Update(func(all *loop.Result) {
			r.Turn, r.At, r.Reason = all.Usage.Requests, time.Now().UTC(), why
			all.Revisions = append(all.Revisions, r)
		})
	}
	t.host.k.Emit(loop.Event{Type: loop.Revised, Text: said, Detail: jsonscan.Encode(u)})
	t.run.remind(reminder(s, false))
}

// batch returns the steps to execute together. capped reports that the step limit allows no more.
func (t *planning) batch(s *PlanState, ready []PlanStep) (batch []PlanStep, capped bool) {
	if !t.Config.ParallelExecution {
		ready = ready[:1]
	}
	projected := s.TotalStepsExecuted + len(ready)
	if float64(projected)/float64(t.Config.MaxSteps) > stepsWarning {
		t.host.k.Warn(fmt.Sprintf("Planning: agent %s approaching max_steps cap (%d/%d)", t.run.Agent.ID, projected, t.Config.MaxSteps))
	}
	if s.TotalStepsExecuted >= t.Config.MaxSteps {
		return nil, true
	}
	return ready[:min(len(ready), t.left(s))], false
}

// left returns how many steps may still be executed, not counting waiting callbacks.
func (t *planning) left(s *PlanState) int {
	return max(0, t.Config.MaxSteps-s.TotalStepsExecuted-len(s.callbacks()))
}

// execute runs the steps of a batch.
func (t *planning) execute(ctx context.Context, s *PlanState, batch []PlanStep) error {
	started := time.Now()
	done := make(map[string]outcome, len(batch))
	var todo []PlanStep
	for i := range batch {
		step := batch[i]
		params, err := t.resolve(s, &step)
		switch {
		case err != nil:
			done[step.ID] = failed(step.ID, "reference: "+err.Error())
		case step.Kind != CallbackKind:
			step.Parameters = params
			todo = append(todo, step)
		}
	}
	limit := time.Duration(0)
	if len(batch) > 1 {
		limit = t.Config.timeout()
	}
	outcomes, ended := t.host.perform(ctx, t.run, todo, limit, true)
	finished := time.Now()
	for i := range outcomes {
		done[todo[i].ID] = outcomes[i]
	}
	t.record(s, batch, done, started, finished)
	if ended != nil {
		return ended
	}
	s.unreflected = true
	t.run.remind(reminder(s, false))
	return nil
}

// record stores the results of a batch, in the order of its steps.
func (t *planning) record(s *PlanState, batch []PlanStep, done map[string]outcome, started, finished time.Time) {
	for i := range batch {
		step := &batch[i]
		o, ok := done[step.ID]
		switch {
		case step.Kind == CallbackKind && !ok:
			s.wait(step)
		case o.blocked != nil && o.blocked.awaiting.isQuestion():
			s.waitFor(step, o.blocked.awaiting)
			t.run.children[step.ID] = o.blocked
			delete(t.run.blocked, o.blocked.Agent.ID)
		case o.open:
		default:
			if o.failure != "" {
				t.host.k.Warn(fmt.Sprintf("Planning: step %s failed: %s", python.Repr(step.ID), o.failure))
			}
			s.done(step, o.value, o.failure, started, finished)
		}
	}
	s.nextCallback()
}

// resolve resolves the references of a step.
func (t *planning) resolve(s *PlanState, step *PlanStep) (json.RawMessage, error) {
	var r StepRefResolver = Resolver{Strict: t.Config.RefResolution == Strict}
	if own := t.host.opts.StepRefResolver; own != nil {
		r = own
	}
	return r.Resolve(step.Parameters, &References{
		InvocationParameters: &t.run.Parameters, StepResults: &s.StepResults,
		RunID: t.run.ID, AgentID: t.run.Agent.ID, StepID: step.ID, Warn: t.host.k.Warn,
	})
}

// reflect asks the model to look at the results of the plan and to decide how to go on.
func (t *planning) reflect(ctx context.Context, s *PlanState) (*AgentResult, error) {
	endOfPlan := len(s.pending()) == 0
	if t.run.decision == nil {
		t.run.remind(reminder(s, endOfPlan))
	}
	d, result, err := t.decide(ctx)
	if d == nil {
		return result, err
	}
	switch d.Kind {
	case FinalMessage:
		return t.final(ctx, d)
	case ContinuePlan:
		return t.proceed(ctx, s, d)
	case SubmitPlan:
		if f := planFault(SubmitPlan, d.Plan, nil, s, &t.run.Parameters); f != "" {
			return t.refuse(ctx, f)
		}
		return t.revise(ctx, s, d, nil)
	case AmendPlan:
		return t.amend(ctx, s, d)
	case CallSubagent:
		if id := t.answers(s, d); id != "" {
			s.PendingCallbackStepID = id
			return t.proceed(ctx, s, d)
		}
	case CallbackKind:
		if f := callbackFault(d, s, endOfPlan); f != "" {
			return t.refuse(ctx, f)
		}
		t.run.semanticFailures = 0
	}
	return t.host.dispatch(ctx, t.run, d, t.callerID)
}

// answers returns the step whose waiting subagent a call answers with the parameter "resolution",
// or "".
func (t *planning) answers(s *PlanState, d *Decision) string {
	if !gjson.GetBytes(d.Parameters, resolution).Exists() {
		return ""
	}
	who := PlanStep{SubagentID: d.SubagentID, Parameters: d.Parameters}
	if who.SubagentID == "" {
		who.fromParameters()
	}
	for _, id := range s.callbacks() {
		if c := t.run.children[id]; c != nil && c.Agent.ID == who.SubagentID {
			return id
		}
	}
	return ""
}

// proceed continues the plan. It resolves the pending callback if the decision resolves it, or if
// nothing else can be done.
func (t *planning) proceed(ctx context.Context, s *PlanState, d *Decision) (*AgentResult, error) {
	resolution := gjson.GetBytes(d.Parameters, "resolution")
	ready := len(s.ready()) > 0 && (t.left(s) > 0 || s.TotalStepsExecuted >= t.Config.MaxSteps)
	switch {
	case s.PendingCallbackStepID != "" && (resolution.Exists() || !ready):
		var value json.RawMessage
		if resolution.Exists() {
			value = json.RawMessage(resolution.Raw)
		}
		if c := t.run.children[s.PendingCallbackStepID]; c != nil { // the resolution continues the subagent
			c.answered(jsonscan.OrNull(value))
			s.runAgain(s.PendingCallbackStepID)
		} else {
			s.resolve(value, time.Now())
		}
	case !ready:
		s.EOPStallCount++
		t.host.k.Warn(fmt.Sprintf("Planning: agent %s emitted continue_plan at end_of_plan (stall %d/%d) — injecting reminder to finalize",
			t.run.Agent.ID, s.EOPStallCount, maxStalls))
		if s.EOPStallCount >= maxStalls {
			return t.stopAtCap(ctx, capStall, "Agent emitted continue_plan 3 times after end_of_plan with no pending steps. Expected final_message or submit_plan.")
		}
		t.run.remind(stallReminder())
	}
	s.unreflected = false
	return nil, nil
}

// amend adds steps to the plan and removes others.
func (t *planning) amend(ctx context.Context, s *PlanState, d *Decision) (*AgentResult, error) {
	if f := removalFault(d.Remove, s); f != "" {
		return t.refuse(ctx, f)
	}
	gone := setOf(append(s.completedIDs(), d.Remove...))
	kept := slices.DeleteFunc(slices.Clone(s.Plan), func(step PlanStep) bool { return gone[step.ID] })
	if f := planFault(AmendPlan, d.Plan, kept, s, &t.run.Parameters); f != "" {
		return t.refuse(ctx, f)
	}
	return t.revise(ctx, s, d, kept)
}

// revise replaces the rest of the plan with the kept steps and the steps of a decision.
func (t *planning) revise(ctx context.Context, s *PlanState, d *Decision, kept []PlanStep) (*AgentResult, error) {
	limit := t.Config.MaxPlanRevisions
	if float64(s.PlanRevision)/float64(limit) >= revisionWarning {
		t.host.k.Warn(fmt.Sprintf("Planning: agent %s approaching max_plan_revisions cap (%d/%d)", t.run.Agent.ID, s.PlanRevision, limit))
	}
	if s.PlanRevision >= limit {
		return t.stopAtCap(ctx, capRevisions, fmt.Sprintf("max_plan_revisions=%d exceeded", limit))
	}
	steps := append(slices.Clone(kept), d.Plan...)
	if ok, result, err := t.show(ctx, s, steps); !ok {
		return result, err
	}
	t.install(s.Plan, d.Message, func(s *PlanState) { s.replace(steps, setOf(idsOf(kept))) })
	return nil, nil
}
