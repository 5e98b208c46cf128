package planning

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
)

// StepStatus is the state of a step.
type StepStatus string

// The statuses. Only Pending, Completed, Failed, Skipped and Revised are found when nothing
// runs.
const (
	Pending   StepStatus = "pending"   // not yet started
	Running   StepStatus = "running"   // being executed
	Completed StepStatus = "completed" // done
	Failed    StepStatus = "failed"    // failed, and so has its fallback
	Skipped   StepStatus = "skipped"   // not done, since what it depends on was not, its condition does not hold, or that was decided
	Blocked   StepStatus = "blocked"   // waits for steps that it depends on
	Revised   StepStatus = "revised"   // a revision has replaced it
)

// StepResult is the result of a step. Times are nil for a step that was never begun.
type StepResult struct {
	Status       StepStatus      `json:"status"`
	Output       json.RawMessage `json:"output"`   // nil, null: there is none
	Error        *string         `json:"error"`    // "code: message"
	Attempts     int             `json:"attempts"` // of its action
	UsedFallback bool            `json:"used_fallback"`
	StartedAt    *time.Time      `json:"started_at"`
	FinishedAt   *time.Time      `json:"finished_at"`
	Tokens       int64           `json:"tokens"`
	Reason       string          `json:"reason,omitempty"` // why it was skipped: DependencyFailure, SkippedByStrategy or ConditionNotMet
}

// The reasons of steps that were skipped.
const (
	DependencyFailure = "dependency failure"
	SkippedByStrategy = "skip_and_continue"
	ConditionNotMet   = "condition not met" // its own, or that of a step whose result it reads
)

// spared reports whether a step was skipped because of a condition: the plan is carried out without
// it. Nil is no result.
func (r *StepResult) spared() bool {
	return r != nil && r.Status == Skipped && r.Reason == ConditionNotMet
}

// PlanRevision is a change of the plan while it was executed.
type PlanRevision struct {
	N        int       `json:"n"` // from 1
	Trigger  Trigger   `json:"-"`
	Reason   string    `json:"reason"`
	Strategy Strategy  `json:"strategy"`
	At       time.Time `json:"at"`
	Added    []string  `json:"added"`
	Removed  []string  `json:"removed"`
	Kept     []string  `json:"kept"`
}

// ExecutionState is the progress of a plan's execution.
type ExecutionState struct {
	Plan            *Plan                      `json:"plan"`
	StepStatuses    map[string]StepStatus      `json:"step_statuses"`
	StepResults     map[string]json.RawMessage `json:"step_results"` // what completed steps gave; that of a step with a plan is what its steps gave, by their ids
	CurrentStep     string                     `json:"current_step"` // "", null is none; with several, the one that was begun last
	RevisionCount   int                        `json:"revision_count"`
	RevisionHistory []PlanRevision             `json:"revision_history"`
	StartedAt       time.Time                  `json:"started_at"`
	CompletedAt     *time.Time                 `json:"completed_at"` // nil while it goes on
}

// MarshalJSON returns the state in the pattern's shape. Statuses and results are in the order
// of the plan; those of steps that it has no more come behind.
func (s *ExecutionState) MarshalJSON() ([]byte, error) {
	results, err := ordered(s.Plan, s.StepResults)
	if err != nil {
		return nil, err
	}
	type plain ExecutionState
	w := struct {
		Plan         *Plan           `json:"plan"`
		StepStatuses json.RawMessage `json:"step_statuses"`
		StepResults  json.RawMessage `json:"step_results"`
		CurrentStep  *string         `json:"current_step"`
		plain
	}{s.Plan, inOrder(s.Plan, s.StepStatuses), results, nil, plain(*s)}
	w.RevisionHistory = append([]PlanRevision{}, s.RevisionHistory...)
	if s.CurrentStep != "" {
		w.CurrentStep = &s.CurrentStep
	}
	return jsonscan.Marshal(w)
}

// clone returns a copy that shares nothing that changes.
func (s *ExecutionState) clone() *ExecutionState {
	c := *s
	c.Plan = s.Plan.Clone()
	c.StepStatuses, c.StepResults = maps.Clone(s.StepStatuses), maps.Clone(s.StepResults)
	c.RevisionHistory = slices.Clone(s.RevisionHistory)
	return &c
}

// inOrder returns a map by the ids of steps as an object in the order of the plan.
func inOrder[V any](p *Plan, m map[string]V) json.RawMessage {
	raw, err := ordered(p, m)
	if err != nil {
		panic(err) // what steps gave, which is JSON
	}
	return raw
}

// ordered does the same as inOrder for a map that may hold invalid JSON.
func ordered[V any](p *Plan, m map[string]V) (json.RawMessage, error) {
	ids := []string{}
	left := maps.Clone(m)
	for s := range p.all() {
		if _, ok := left[s.ID]; ok {
			ids = append(ids, s.ID)
			delete(left, s.ID)
		}
	}
	var o loop.Object
	for _, id := range append(ids, slices.Sorted(maps.Keys(left))...) {
		raw, err := jsonscan.Marshal(m[id])
		if err != nil {
			return nil, fmt.Errorf("planning: the step %q: %w", id, err)
		}
		o = append(o, loop.Member{Name: id, Value: raw})
	}
	return o.JSON(), nil
}

// TokenUsage counts the tokens of models: the planner, and those that steps call.
type TokenUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	Cached     int64 `json:"cached_tokens"` // of Prompt
}

// ExecutionResult is the result of a plan's execution.
type ExecutionResult struct {
	Success        bool                   `json:"success"`
	Plan           *Plan                  `json:"plan"`       // the first one that was approved; else the one that was not
	FinalPlan      *Plan                  `json:"final_plan"` // after revisions
	StepResults    map[string]*StepResult `json:"step_results"`
	FinalOutput    *string                `json:"final_output"` // nil is none
	RevisionCount  int                    `json:"revision_count"`
	ExecutionState *ExecutionState        `json:"execution_state"`
	TokenUsage     TokenUsage             `json:"token_usage"`
	ExecutionTime  time.Duration          `json:"execution_time"`  // in JSON in seconds
	Error          string                 `json:"error,omitempty"` // why it is no success; "" for one that is

	// Status is Completed for a success; else Failed, Paused for what waits for a person,
	// Rejected or Cancelled.
	Status exec.Status `json:"-"`
	// Output is FinalOutput as the JSON value that it is; nil is none.
	Output json.RawMessage `json:"-"`
	// State is the whiteboard at the end; nil when nothing ran.
	State json.RawMessage `json:"-"`
	// Findings are those of a plan that is not valid.
	Findings diag.List `json:"-"`
	// ID is that of the execution, and Runs are the ids of its runs, which begin with it: one, and
	// one more after each revision.
	ID   string   `json:"-"`
	Runs []string `json:"-"`
	// Usage is all that was used up, by the planner and the steps.
	Usage loop.Usage `json:"-"`
	// DryRun shows how the plan would be executed; it is nil unless Options.DryRun is set.
	DryRun *DryRun `json:"-"`
}

// MarshalJSON returns the result in the pattern's shape, with the error behind when there is
// one.
func (r *ExecutionResult) MarshalJSON() ([]byte, error) {
	results, err := ordered(r.FinalPlan, r.StepResults)
	if err != nil {
		return nil, err
	}
	type plain ExecutionResult
	return jsonscan.Marshal(struct {
		Success     bool            `json:"success"`
		Plan        *Plan           `json:"plan"`
		FinalPlan   *Plan           `json:"final_plan"`
		StepResults json.RawMessage `json:"step_results"`
		plain
		ExecutionTime float64 `json:"execution_time"`
		Error         string  `json:"error,omitempty"`
	}{r.Success, r.Plan, r.FinalPlan, results, plain(*r), r.ExecutionTime.Seconds(), r.Error})
}
