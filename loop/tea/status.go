package tea

import (
	"context"
	"encoding/json"
)

// StatusReport is the answer of plan.status.
type StatusReport struct {
	Status   Counts     `json:"status"`
	Progress Float      `json:"progress"` // 0 to 1
	PlanID   string     `json:"plan_id"`
	Goal     string     `json:"goal"`
	Success  bool       `json:"success"`           // true
	Subtasks []*Subtask `json:"subtasks,omitzero"` // if include_details is set
}

// Status returns the status of a plan. It doesn't check the graph of subtasks. Errors are *Errors.
func (a *Actions) Status(p *StatusParams) (*StatusReport, error) {
	plan := a.plan(p.Plan)
	if plan == nil {
		return nil, &Error{Message: "No plan found"}
	}
	if err := plan.sound(); err != nil {
		return nil, &Error{Message: "Status check failed: " + err.Error()}
	}
	counts := plan.Counts()
	r := &StatusReport{Status: counts, Progress: counts.Progress(), PlanID: plan.ID, Goal: plan.Goal, Success: true}
	if !p.IncludeDetails {
		return r, nil
	}
	r.Subtasks = []*Subtask{}
	for _, s := range plan.Subtasks {
		if s.Status != Completed || !p.OmitCompleted {
			r.Subtasks = append(r.Subtasks, s)
		}
	}
	return r, nil
}

func (a *Actions) statusJSON(_ context.Context, params json.RawMessage) (any, error) {
	r := readParams(params)
	p := &StatusParams{Plan: r.plan(), IncludeDetails: r.flag("include_details", false), OmitCompleted: !r.flag("include_completed", true)}
	if r.fault != nil {
		return nil, &Error{Message: "Status check failed: " + r.fault.Error()}
	}
	return a.Status(p)
}
