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

// StepStatus is the status of a step.
type StepStatus string

// The statuses. Between executions only Pending, Completed, Failed, Skipped and Revised occur.
const (
	Pending   StepStatus = "pending"   // not started yet
	Running   StepStatus = "running"   // being executed
	Completed StepStatus = "completed" // done
	Failed    StepStatus = "failed"    // the step and its fallback failed
	Skipped   StepStatus = "skipped"   // skipped: a dependency wasn't done, its condition doesn't hold, or the strategy skipped it
	Blocked   StepStatus = "blocked"   // waits for its dependencies
	Revised   StepStatus = "revised"   // replaced by a revision
)

// StepResult is the result of a step. Its times are nil if the step never started.
type StepResult struct {
	Status       StepStatus      `json:"status"`
	Output       json.RawMessage `json:"output"`   // nil or null if there is none
	Error        *string         `json:"error"`    // "code: message"
	Attempts     int             `json:"attempts"` // attempts of its action
	UsedFallback bool            `json:"used_fallback"`
	StartedAt    *time.Time      `json:"started_at"`
	FinishedAt   *time.Time      `json:"finished_at"`
	Tokens       int64           `json:"tokens"`
	Reason       string          `json:"reason,omitempty"` // why the step was skipped: DependencyFailure, SkippedByStrategy or ConditionNotMet
}

// The reasons why steps are skipped.
const (
	DependencyFailure = "dependency failure"
	SkippedByStrategy = "skip_and_continue"
	ConditionNotMet   = "condition not met" // its own condition, or that of a step whose result it reads
)

// spared reports whether a step was skipped because of a condition, which doesn't prevent success.
// A nil result isn't spared.
func (r *StepResult) spared() bool {
	return r != nil && r.Status == Skipped && r.Reason == ConditionNotMet
}

// PlanRevision describes a revision of the plan during its execution.
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
	StepResults     map[string]json.RawMessage `json:"step_results"` // results of completed steps; for a step with a plan, its steps' results by ID
	CurrentStep     string                     `json:"current_step"` // the step started last among those running; "" or null if none is
	RevisionCount   int                        `json:"revision_count"`
	RevisionHistory []PlanRevision             `json:"revision_history"`
	StartedAt       time.Time                  `json:"started_at"`
	CompletedAt     *time.Time                 `json:"completed_at"` // nil until the end
}

// MarshalJSON returns the state in the pattern's JSON form. Statuses and results are in plan order,
// followed by those of steps that are no longer in the plan.
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

// clone returns a copy that shares no mutable data.
func (s *ExecutionState) clone() *ExecutionState {
	c := *s
	c.Plan = s.Plan.Clone()
	c.StepStatuses, c.StepResults = maps.Clone(s.StepStatuses), maps.Clone(s.StepResults)
	c.RevisionHistory = slices.Clone(s.RevisionHistory)
	return &c
}

// inOrder returns a map by step ID as a JSON object in plan order.
func inOrder[V any](p *Plan, m map[string]V) json.RawMessage {
	raw, err := ordered(p, m)
	if err != nil {
		panic(err) // results of steps are valid JSON
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

// TokenUsage counts the tokens used by the planner and by the steps.
type TokenUsage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	Cached     int64 `json:"cached_tokens"` // included in Prompt
}

// ExecutionResult is the result of a plan's execution.
type ExecutionResult struct {
	Success        bool                   `json:"success"`
	Plan           *Plan                  `json:"plan"`       // the first approved plan, or else the plan that wasn't approved
	FinalPlan      *Plan                  `json:"final_plan"` // the plan after all revisions
	StepResults    map[string]*StepResult `json:"step_results"`
	FinalOutput    *string                `json:"final_output"` // nil if there is none
	RevisionCount  int                    `json:"revision_count"`
	ExecutionState *ExecutionState        `json:"execution_state"`
	TokenUsage     TokenUsage             `json:"token_usage"`
	ExecutionTime  time.Duration          `json:"execution_time"`  // seconds in JSON
	Error          string                 `json:"error,omitempty"` // why the execution failed; "" on success

	// Status is Completed on success, Paused if a person must act, and otherwise Failed, Rejected
	// or Cancelled.
	Status exec.Status `json:"-"`
	// Output is FinalOutput as a JSON value, or nil.
	Output json.RawMessage `json:"-"`
	// State is the whiteboard at the end, or nil if nothing ran.
	State json.RawMessage `json:"-"`
	// Findings are the faults of an invalid plan.
	Findings diag.List `json:"-"`
	// ID identifies the execution. Runs are the IDs of its runs, which begin with ID: one, and one
	// more after each revision.
	ID   string   `json:"-"`
	Runs []string `json:"-"`
	// Usage is the total usage of the planner and the steps.
	Usage loop.Usage `json:"-"`
	// DryRun shows how the plan would be executed; it is nil unless Options.DryRun is set.
	DryRun *DryRun `json:"-"`
}

// MarshalJSON returns the result in the pattern's JSON form, with the error added at the end if
// there is one.
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
