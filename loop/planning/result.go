package planning

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
)

// snapshot returns a copy of the state with current statuses and results. It takes time linear in
// the size of the plan. The caller holds p.mu.
func (x *execution) snapshot() *ExecutionState {
	st := x.state
	st.StepStatuses, st.StepResults = map[string]StepStatus{}, map[string]json.RawMessage{}
	for _, id := range x.replaced {
		st.StepStatuses[id] = Revised
	}
	x.rollUp(st.Plan)
	return st.clone()
}

// rollUp computes the statuses and results of a plan's steps, including steps with plans of their
// own.
func (x *execution) rollUp(p *Plan) (statuses []StepStatus, outputs map[string]json.RawMessage) {
	outputs = map[string]json.RawMessage{}
	for i := range p.Steps {
		s := &p.Steps[i]
		status, output := x.statusOf(s.ID), json.RawMessage(nil)
		if s.SubPlan != nil {
			below, parts := x.rollUp(s.SubPlan)
			status, output = together(below, x.live), inOrder(s.SubPlan, parts)
		} else if r := x.results[s.ID]; r != nil {
			output = r.Output
		}
		x.state.StepStatuses[s.ID] = status
		if status == Completed {
			if output == nil {
				output = json.RawMessage("null")
			}
			x.state.StepResults[s.ID] = output
			outputs[s.ID] = output
		}
		if !x.spared(s) {
			statuses = append(statuses, status)
		}
	}
	if statuses == nil && len(p.Steps) > 0 {
		statuses = []StepStatus{Skipped}
	}
	return statuses, outputs
}

// spared reports whether a step, or each step of its plan, was skipped because of a condition. The
// caller holds p.mu.
func (x *execution) spared(s *PlanStep) bool {
	if s.SubPlan == nil {
		return x.results[s.ID].spared()
	}
	return !slices.ContainsFunc(s.SubPlan.Steps, func(s PlanStep) bool { return !x.spared(&s) })
}

// statusOf returns the status of a step without a plan of its own.
func (x *execution) statusOf(id string) StepStatus {
	r := x.results[id]
	if r != nil && r.Status != Pending {
		return r.Status
	}
	if x.live && slices.ContainsFunc(x.needs[id], func(need string) bool { return !x.satisfied(need) }) {
		return Blocked
	}
	return Pending
}

func (x *execution) satisfied(id string) bool {
	r := x.results[id]
	return r != nil && (r.Status == Completed || r.Status == Skipped && r.Reason == SkippedByStrategy) || r.spared()
}

// together returns the status of a step whose plan has steps with these statuses. If its plan
// failed, the step failed.
func together(list []StepStatus, live bool) StepStatus {
	for _, s := range []StepStatus{Failed, Running, Skipped} {
		if slices.Contains(list, s) {
			return s
		}
	}
	begun := slices.Contains(list, Completed)
	switch {
	case !slices.ContainsFunc(list, func(s StepStatus) bool { return s != Completed }):
		return Completed
	case begun && live:
		return Running
	case !slices.ContainsFunc(list, func(s StepStatus) bool { return s != Blocked }):
		return Blocked
	}
	return Pending
}

// conclude judges an execution whose steps are all completed, and makes its output.
func (x *execution) conclude(ctx context.Context) error {
	x.p.mu.Lock()
	plan, results := x.state.Plan.Clone(), maps.Clone(x.results)
	x.p.mu.Unlock()
	why, err := x.judge(ctx, plan, results)
	if err != nil {
		return err
	}
	if why != "" {
		return loop.Ended(exec.Failed, "%s", why)
	}
	if x.output = x.sink(); x.output == nil && (x.opts.Synthesize || x.schema != nil) {
		x.output, err = x.synthesize(ctx, plan, results)
	}
	return err
}

// sink returns the output of the only step that no other step needs, ignoring steps whose
// conditions don't hold. It returns nil if there are several such steps, if that step isn't
// completed, or if the task wants a different output.
func (x *execution) sink() json.RawMessage {
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	plan := x.state.Plan
	top := map[string]string{}
	for i := range plan.Steps {
		s := &plan.Steps[i]
		for below := range (&Plan{Steps: []PlanStep{*s}}).all() {
			top[below.ID] = s.ID
		}
	}
	needed := map[string]bool{}
	prog, findings := x.compile(plan, x.settled())
	if findings.HasErrors() {
		return nil
	}
	for e := range prog.Edges() {
		if from := top[e.From.ID]; e.Kind != compile.Effect && from != top[e.To.ID] {
			needed[from] = true
		}
	}
	last := slices.DeleteFunc(slices.Clone(plan.Steps), func(s PlanStep) bool { return needed[s.ID] || x.spared(&s) })
	if len(last) != 1 {
		return nil
	}
	out := x.snapshot().StepResults[last[0].ID]
	if out == nil || x.schema != nil && x.schema.Validate(out) != nil {
		return nil
	}
	return out
}

// conclusion adds the result of the execution to the result of the loop.
func (x *execution) conclusion(l *loop.Result, took time.Duration) {
	u := l.Usage
	r := &ExecutionResult{Success: l.Status == exec.Completed, Status: l.Status, Error: l.Reason, StepResults: map[string]*StepResult{},
		ExecutionTime: took, Findings: l.Findings, DryRun: x.dry, ID: l.ID, Runs: l.Runs, Usage: u,
		TokenUsage: TokenUsage{Prompt: u.Input + u.Calls.Input, Completion: u.Output + u.Calls.Output, Total: u.Input + u.Output + u.Calls.Tokens, Cached: u.Cached}}
	if x.state == nil {
		r.Plan, r.FinalPlan = x.proposed.Clone(), x.proposed.Clone()
	} else {
		x.outcome(r)
	}
	x.result = r
	l.Turns, l.Output, l.State, l.Revisions = len(l.Runs), r.Output, r.State, revisionsOf(r)
	l.Detail, _ = jsonscan.Marshal(r) // the parameters of a plan made by Go code may be invalid JSON
	if x.dry != nil {
		l.Output = jsonscan.Encode(x.dry)
	}
}

// outcome adds the outcome of the executed plan to a result.
func (x *execution) outcome(r *ExecutionResult) {
	if x.output == nil && !r.Success && x.dry == nil {
		x.output = x.sink()
	}
	x.p.mu.Lock()
	defer x.p.mu.Unlock()
	x.state.CompletedAt = new(x.now())
	r.ExecutionState = x.snapshot()
	r.Plan, r.FinalPlan = x.first, r.ExecutionState.Plan
	r.RevisionCount, r.State = x.state.RevisionCount, x.board
	maps.Copy(r.StepResults, x.results)
	x.resultsOf(x.state.Plan, r.StepResults)
	if r.Output = x.output; x.output != nil {
		r.FinalOutput = new(jsonscan.Text(x.output))
	}
}

// resultsOf adds the results of steps with plans, combined from their steps' results.
func (x *execution) resultsOf(p *Plan, results map[string]*StepResult) {
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.SubPlan == nil {
			continue
		}
		x.resultsOf(s.SubPlan, results)
		if r := x.whole(s, results); r != nil {
			results[s.ID] = r
		}
	}
}

// whole returns the result of a step with a plan, or nil if none of its steps ran.
func (x *execution) whole(s *PlanStep, results map[string]*StepResult) *StepResult {
	var r *StepResult
	for i := range s.SubPlan.Steps {
		id := s.SubPlan.Steps[i].ID
		part := results[id]
		if part == nil {
			continue
		}
		if r == nil {
			r = &StepResult{Status: x.state.StepStatuses[s.ID], Output: x.state.StepResults[s.ID]}
		}
		r.Tokens += part.Tokens
		if r.StartedAt == nil || part.StartedAt != nil && part.StartedAt.Before(*r.StartedAt) {
			r.StartedAt = part.StartedAt
		}
		if r.FinishedAt == nil || part.FinishedAt != nil && part.FinishedAt.After(*r.FinishedAt) {
			r.FinishedAt = part.FinishedAt
		}
		switch {
		case r.Status == Failed && part.Status == Failed && r.Error == nil:
			r.Error = new("step " + string(jsonscan.Encode(id)) + " failed: " + or(part.Error, ""))
		case r.Status == Skipped && part.Status == Skipped && r.Reason == "":
			r.Reason = part.Reason
		}
	}
	return r
}

// Solve runs the whole pattern for a task: it makes a plan for the goal, has it approved if that is
// required, executes it, and revises it if necessary. The output is that of the step on which no
// other depends. If the task has a schema for the output or the options ask for it, the planner
// makes the output from the results. Solve returns errors like loop.Solve. Nil options select the
// defaults.
func Solve(ctx context.Context, task *loop.Task, opts *Options) (*loop.Result, error) {
	p, err := New(opts)
	if err != nil {
		return nil, err
	}
	x, err := p.begin(task)
	if err != nil {
		return nil, err
	}
	return x.solve(ctx, task.Goal)
}

// revisionsOf returns the revisions of an execution in the form in which a loop reports them.
func revisionsOf(r *ExecutionResult) []loop.Revision {
	list := []loop.Revision{}
	if r.ExecutionState == nil {
		return list
	}
	strategies := map[Strategy]loop.Strategy{ReplanRemaining: loop.ReplanRemaining, InsertRecovery: loop.InsertRecovery, SkipAndContinue: loop.SkipAndContinue}
	for _, v := range r.ExecutionState.RevisionHistory {
		list = append(list, loop.Revision{Turn: v.N + 1, At: v.At, Reason: v.Reason, Strategy: strategies[v.Strategy], Added: v.Added, Removed: v.Removed, Kept: v.Kept})
	}
	return list
}
