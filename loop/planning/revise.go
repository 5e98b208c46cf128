package planning

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
)

// mayRevise reports whether the plan may be revised once more. The caller holds p.mu.
func (x *execution) mayRevise() bool { return *x.opts.AllowRevision && !x.exhausted() }

// exhausted reports whether the limit on revisions is reached. The caller holds p.mu.
func (x *execution) exhausted() bool { return x.state.RevisionCount >= *x.opts.MaxRevisions }

// revisions returns the number of revisions made.
func (x *execution) revisions() int {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	return x.state.RevisionCount
}

// requested returns and removes the pending requests for a revision.
func (x *execution) requested() []request {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	r := x.p.requests
	x.p.requests = nil
	return r
}

// triggered returns why the plan must be revised after a step ended, or "". The caller holds p.mu.
func (x *execution) triggered(id string, f *exec.Failure) string {
	if !x.mayRevise() {
		return ""
	}
	if t, why := x.failureTrigger(id, f); t != "" {
		x.because(t, why)
	}
	for _, r := range x.p.requests {
		x.because(r.trigger, r.text)
	}
	x.p.requests = nil
	if why := x.overBudget(); why != "" && !x.warned {
		x.warned = true
		x.because(TokenBudget, why)
	}
	return x.why
}

// because records a trigger. The first trigger counts as that of the revision. The caller holds
// p.mu.
func (x *execution) because(t Trigger, why string) {
	if x.trigger == "" {
		x.trigger = t
	}
	if why == "" {
		why = string(t)
	}
	x.why = strings.TrimPrefix(x.why+"; "+why, "; ")
}

// failureTrigger returns the trigger for the failure of a step, and the reason. The caller holds
// p.mu.
func (x *execution) failureTrigger(id string, f *exec.Failure) (Trigger, string) {
	switch {
	case f == nil:
		return "", ""
	case x.opts.ContinueOnFailure && float64(x.failures)/float64(x.attempts) <= *x.opts.RevisionThreshold:
		return "", ""
	case f.Code == unexpected:
		return UnexpectedResult, fmt.Sprintf("step %q: %s", id, f.Message)
	}
	return StepFailure, fmt.Sprintf("step %q failed: %s: %s", id, f.Code, f.Message)
}

// overBudget returns a message if the rest of the token budget is too small for the remaining
// steps, and "" otherwise. The caller holds p.mu.
func (x *execution) overBudget() string {
	if x.opts.TokenBudget <= 0 {
		return ""
	}
	var left int64
	for s := range x.state.Plan.all() {
		r := x.results[s.ID]
		switch {
		case s.SubPlan != nil:
		case r != nil && r.Status != Pending && r.Status != Running:
		default:
			left += s.tokens()
		}
	}
	if left == 0 || x.used+left <= x.opts.TokenBudget {
		return ""
	}
	return fmt.Sprintf("the steps have used %d of %d tokens, and those that are left are estimated to use %d", x.used, x.opts.TokenBudget, left)
}

// spent returns the tokens that the steps used.
func (x *execution) spent() int64 {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	return x.used
}

// revise decides how to respond to a trigger, and does it. The error is a *loop.End if the
// execution ends.
func (x *execution) revise(ctx context.Context) error {
	d, reason, err := x.decide(ctx)
	if err != nil {
		return err
	}
	switch d {
	case DecideReplan:
		return x.replace(ctx, ReplanRemaining, reason)
	case DecideInsertRecovery:
		return x.replace(ctx, InsertRecovery, reason)
	case DecideSkip:
		if x.skip(reason) {
			x.k.Emit(loop.Event{Type: loop.Revised, Text: reason})
		}
	case DecideContinue:
		x.skipFailed()
	case DecideAbort:
		return loop.Ended(exec.Failed, "the execution was aborted: %s", reason)
	default:
		return fmt.Errorf("planning: %q is no decision about a revision", d)
	}
	return nil
}

// decide determines how to respond to the trigger.
func (x *execution) decide(ctx context.Context) (d RevisionDecision, reason string, err error) {
	reason = x.why
	x.p.mu.Lock()
	state := x.snapshot()
	x.p.mu.Unlock()
	if f := x.opts.Callbacks.OnRevisionNeeded; f != nil {
		if d, err = loop.Once(x.k, "on_revision_needed", "", reason, func() (RevisionDecision, error) { return f(ctx, state, reason) }); err != nil {
			return "", "", fmt.Errorf("planning: the callback on_revision_needed failed: %w", err)
		}
	}
	if d == "" {
		d = x.opts.RevisionStrategy.decision()
	}
	if d != DecideAskUser {
		return d, reason, nil
	}
	if x.opts.AskUser == nil {
		return "", "", loop.Ended(exec.Paused, "there is nobody to ask what to do: %s", reason)
	}
	g, err := loop.Once(x.k, "ask_user", "", reason, func() (Guidance, error) { return x.opts.AskUser(ctx, state, reason) })
	switch {
	case errors.Is(err, exec.ErrNobody):
		return "", "", loop.Ended(exec.Paused, "there is nobody to ask what to do: %s", reason)
	case err != nil:
		return "", "", fmt.Errorf("planning: the user could not be asked: %w", err)
	case g.Decision == DecideAskUser:
		return "", "", loop.Ended(exec.Paused, "the user has not decided what to do: %s", reason)
	case g.Decision == "":
		g.Decision = DecideReplan
	}
	if g.Text != "" {
		reason += "; the user says: " + g.Text
	}
	return g.Decision, reason, nil
}

// skip marks the failed steps as skipped, so that their dependents run. It returns false if there
// are none.
func (x *execution) skip(reason string) bool {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	failed := x.failed()
	if len(failed) == 0 {
		return false
	}
	for _, id := range failed {
		r := x.results[id]
		r.Status, r.Reason = Skipped, SkippedByStrategy
	}
	x.note(SkipAndContinue, reason, x.state.Plan, x.state.Plan)
	return true
}

// skipFailed keeps the plan, and skips what needs a failed step.
func (x *execution) skipFailed() {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	gone := map[string]bool{}
	for _, id := range x.failed() {
		gone[id] = true
	}
	for _, id := range x.order {
		if r := x.results[id]; r != nil && r.Status == Completed || !slices.ContainsFunc(x.needs[id], func(n string) bool { return gone[n] }) {
			continue
		}
		if !gone[id] {
			r := x.resultOf(id)
			r.Status, r.Reason = Skipped, DependencyFailure
			gone[id] = true
		}
	}
}

// failed returns the failed steps without plans of their own, in plan order. The caller holds p.mu.
func (x *execution) failed() (ids []string) {
	for s := range x.state.Plan.all() {
		if r := x.results[s.ID]; s.SubPlan == nil && r != nil && r.Status == Failed {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// replace asks the planner for another plan, has it approved if that is required, and continues
// with it.
func (x *execution) replace(ctx context.Context, s Strategy, reason string) error {
	plan, err := x.newPlan(ctx, s, reason)
	if err != nil {
		return err
	}
	check := func(p *Plan) error { return x.checkRevised(p) }
	again := func(ctx context.Context, guidance string) (*Plan, error) {
		return x.newPlan(ctx, s, reason+"; the user says: "+guidance)
	}
	if plan, err = x.approveAndShow(ctx, plan, x.revisions()+1, check, again); err != nil {
		return err
	}
	defer x.k.Emit(loop.Event{Type: loop.Revised, Text: reason})
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	old := x.state.Plan
	x.state.Plan = plan
	x.p.plan, x.byID = plan, plan.byID()
	x.note(s, reason, old, plan)
	return nil
}

// checkRevised checks a plan that a person proposes instead of a revised one.
func (x *execution) checkRevised(p *Plan) error {
	x.p.mu.Lock()
	settled, old := x.settled(), x.state.Plan
	x.p.mu.Unlock()
	findings := wellFormed(p)
	if !findings.HasErrors() {
		findings = keptAsWas(old, p, settled)
	}
	if !findings.HasErrors() {
		_, findings = x.check(p, settled)
	}
	if findings.HasErrors() {
		return &PlanError{Plan: p, Findings: findings}
	}
	return nil
}

// keptAsWas returns a finding for each settled step that a plan changes or omits.
func keptAsWas(old, p *Plan, settled map[string]json.RawMessage) (findings diag.List) {
	steps := p.byID()
	for s := range old.all() {
		if _, ok := settled[s.ID]; !ok {
			continue
		}
		switch now := steps[s.ID]; {
		case now == nil:
			findings = append(findings, fault(diag.BadNotation, s.ID, "step %q is done, and has to stay in the plan", s.ID))
		case !sameCall(s, now):
			findings = append(findings, fault(diag.BadNotation, s.ID, "step %q is done, and can't be changed; use another id", s.ID))
		}
	}
	return findings
}

// sameCall reports whether two steps make the same call.
func sameCall(a, b *PlanStep) bool {
	return a.Action == b.Action && a.SubPlan == nil == (b.SubPlan == nil) && bytes.Equal(jsonscan.Encode(a.Parameters), jsonscan.Encode(b.Parameters))
}

// note records a revision. Steps that the new plan dropped become revised, and steps that must run
// again lose their results. The caller holds p.mu.
func (x *execution) note(s Strategy, reason string, old, plan *Plan) {
	settled := x.settled()
	r := PlanRevision{N: x.state.RevisionCount + 1, Trigger: x.trigger, Reason: reason, Strategy: s, At: x.now(), Added: []string{}, Removed: []string{}, Kept: []string{}}
	steps, kept := plan.byID(), map[string]bool{}
	for step := range old.all() {
		now := steps[step.ID]
		switch _, done := settled[step.ID]; {
		case done && now != nil, s != ReplanRemaining && now != nil:
			r.Kept = append(r.Kept, step.ID)
			if !done && s == InsertRecovery {
				delete(x.results, step.ID)
			}
		case now != nil && step.SubPlan != nil && now.SubPlan != nil:
			r.Kept = append(r.Kept, step.ID)
		default:
			r.Removed = append(r.Removed, step.ID)
			x.forget(step.ID)
		}
	}
	for _, id := range r.Kept {
		kept[id] = true
	}
	for step := range plan.all() {
		if !kept[step.ID] {
			r.Added = append(r.Added, step.ID)
			delete(x.results, step.ID) // left by an earlier step with this ID
		}
	}
	x.state.RevisionCount++
	x.state.RevisionHistory = append(x.state.RevisionHistory, r)
	x.attempts, x.failures, x.warned = 0, 0, false
	for id, res := range x.results { // finished steps that are still planned count for the failure rate
		if steps[id] != nil && res.Status == Completed {
			x.attempts++
		}
	}
}

// forget records that a step was replaced. The caller holds p.mu.
func (x *execution) forget(id string) {
	x.replaced = append(x.replaced, id)
	if r := x.results[id]; r != nil {
		r.Status = Revised
	}
}

// newPlan asks the planner to revise the plan.
func (x *execution) newPlan(ctx context.Context, s Strategy, reason string) (*Plan, error) {
	x.p.mu.Lock()
	old, settled := x.state.Plan.Clone(), x.settled()
	failed := x.failed()
	empty := len(failed) == 0 && len(settled) > 0
	text := x.progress(old, x.results)
	x.p.mu.Unlock()
	text = fmt.Sprintf("%s\n## Plan\n%s\n\n%s\n## Why it is revised\n%s\n\n", x.brief(old.Goal), old.timeless(), text, reason)
	around := func(p *Plan) (*Plan, diag.List) { return remaining(old, p, settled, empty) }
	if s == InsertRecovery {
		text += insertion(old, failed)
		around = func(p *Plan) (*Plan, diag.List) { return inserted(old, p, failed, settled) }
	} else {
		text += "Write a plan of the steps that are now to be done, in place of all that are not completed. Completed steps stay: do not list them, and use other ids. Depend on them and refer to their results as before.\n"
	}
	plan, err := x.write(ctx, turn(x.system(), text, x.planSchema()), old.Goal, settled, around)
	if err != nil {
		return nil, err
	}
	plan.CreatedAt = x.now()
	return plan, nil
}

func insertion(old *Plan, failed []string) string {
	if len(failed) == 0 {
		return "Write a plan of those steps alone that have to be done before the plan goes on. Do not list any other, and use other ids.\n"
	}
	text := fmt.Sprintf("Write a plan of those steps alone that mend what made %s fail: it is tried again after them, and then the plan goes on. Do not list any other, and use other ids.", jsonscan.Encode(failed))
	for s := range old.all() {
		if s.SubPlan != nil && slices.ContainsFunc(s.SubPlan.Steps, func(s PlanStep) bool { return s.ID == failed[0] }) {
			text += fmt.Sprintf(" Their ids begin with %q.", s.ID+".")
		}
	}
	return text + "\n"
}

// remaining returns a plan of the settled steps of the old plan followed by the steps of another.
func remaining(old, p *Plan, settled map[string]json.RawMessage, empty bool) (*Plan, diag.List) {
	kept, _ := prune(old.Clone(), func(s *PlanStep) bool { _, ok := settled[s.ID]; return ok })
	p = p.Clone()
	done := kept.byID()
	var findings diag.List
	p.Steps = slices.DeleteFunc(p.Steps, func(s PlanStep) bool {
		was := done[s.ID]
		if was != nil && (!sameCall(was, &s) || !within(s.SubPlan, done)) {
			findings = append(findings, fault(diag.BadNotation, s.ID, "step %q is done, and can't be changed; use another id", s.ID))
		}
		return was != nil
	})
	if len(p.Steps) == 0 && !empty && !findings.HasErrors() {
		findings = append(findings, fault(diag.BadNotation, "", "the plan has no steps that are to be done"))
	}
	whole := *old
	whole.Steps = append(kept.Steps, p.Steps...)
	whole.EstimatedTotalTokens = nil
	if p.SuccessCriteria != "" {
		whole.SuccessCriteria = p.SuccessCriteria
	}
	there := whole.byID()
	for id := range done { // its dependencies may be gone
		s := there[id]
		s.Dependencies = slices.DeleteFunc(s.Dependencies, func(id string) bool { return there[id] == nil })
	}
	return &whole, findings
}

// within reports whether all steps of a plan are in steps.
func within(p *Plan, steps map[string]*PlanStep) bool {
	for s := range p.all() {
		if steps[s.ID] == nil {
			return false
		}
	}
	return true
}

// inserted returns the old plan with the steps of another inserted before the first failed step,
// which then depends on them, as do the other failed steps. If no step failed, they come before the
// first step that isn't settled.
func inserted(old, p *Plan, failed []string, settled map[string]json.RawMessage) (*Plan, diag.List) {
	whole := old.Clone()
	whole.EstimatedTotalTokens = nil
	var findings diag.List
	ids, there := []string{}, whole.byID()
	for _, s := range p.Steps {
		ids = append(ids, s.ID)
		if there[s.ID] != nil {
			findings = append(findings, fault(diag.DuplicateID, s.ID, "the plan has a step %q already; use another id", s.ID))
		}
	}
	if len(ids) == 0 {
		findings = append(findings, fault(diag.BadNotation, "", "the plan has no steps"))
	}
	if len(failed) == 0 {
		for s := range whole.all() {
			if _, ok := settled[s.ID]; !ok && s.SubPlan == nil {
				failed = []string{s.ID}
				break
			}
		}
	}
	for _, id := range failed {
		s := there[id]
		s.Dependencies = append(s.Dependencies, ids...)
	}
	if len(failed) == 0 || !insertBefore(whole, failed[0], p.Clone().Steps) {
		whole.Steps = append(whole.Steps, p.Clone().Steps...)
	}
	return whole, findings
}

// insertBefore inserts steps before the step with the given ID, in the plan that contains it.
func insertBefore(p *Plan, id string, steps []PlanStep) bool {
	if i := slices.IndexFunc(p.Steps, func(s PlanStep) bool { return s.ID == id }); i >= 0 {
		p.Steps = slices.Insert(p.Steps, i, steps...)
		return true
	}
	return slices.ContainsFunc(p.Steps, func(s PlanStep) bool { return s.SubPlan != nil && insertBefore(s.SubPlan, id, steps) })
}
