package tea

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// Replanned is the answer of plan.replan.
type Replanned struct {
	Plan              *Plan `json:"plan"`
	PreservedSubtasks int   `json:"preserved_subtasks"`
	NewSubtasks       int   `json:"new_subtasks"`
	PlanningTrace     Trace `json:"planning_trace"`
	Success           bool  `json:"success"` // true
}

// Replan plans the rest of a plan again: it keeps completed subtasks and replaces all others. The
// new plan becomes state.plan. Errors are as for Decompose.
func (a *Actions) Replan(ctx context.Context, p *ReplanParams) (*Replanned, error) {
	plan := a.plan(p.Plan)
	if plan == nil {
		return nil, &Error{Message: "No plan to replan"}
	}
	if err := plan.sound(); err != nil {
		return nil, newTracing().raised("Replan failed: %s", err)
	}
	if limit := plan.count("max_replans"); limit > 0 && plan.count("replan_count") >= limit {
		return nil, &Error{Message: fmt.Sprintf("Maximum replans (%d) exceeded. Consider adjusting max_replans or reviewing the goal.", limit)}
	}
	r, err := a.replan(ctx, plan, p, a.State.FailedSubtask, cmp.Or(a.State.FailureReason, "Unknown"))
	if err != nil {
		return nil, err
	}
	a.State.Plan = r.Plan.Clone()
	return r, a.saved(ctx)
}

func (a *Actions) replanJSON(ctx context.Context, params json.RawMessage) (any, error) {
	r := readParams(params).planned()
	p := &ReplanParams{Plan: r.plan(), Model: r.text("model"), Temperature: r.number("temperature")}
	if r.fault != nil {
		return nil, newTracing().raised("Replan failed: %s", r.fault)
	}
	return a.Replan(ctx, p)
}

// replan does the work of Replan, without its limit on the number of plans. A failed of "" is
// written as None.
func (a *Actions) replan(ctx context.Context, plan *Plan, p *ReplanParams, failed, reason string) (*Replanned, error) {
	t := newTracing()
	var id any
	if failed != "" {
		id = failed
	}
	t.add("replan_start", "plan_id", plan.ID, "failed_subtask", id, "failure_reason", reason)
	kept, prompt := replanRequest(plan, failed, reason)
	turn := &model.Turn{System: replanSystem, Messages: model.FromUser(prompt), Temperature: p.Temperature, Attempt: 1 + plan.count("replan_count")}
	list, f, err := a.listed(ctx, t, p.Model, turn, "replan", "Replan failed")
	if err != nil {
		return nil, err
	}
	fresh, err := newSubtasks(list, "replan_subtask_")
	if err != nil {
		return nil, t.raised("Replan failed: %s", err)
	}
	next := &Plan{ID: a.planID("replan_"), Goal: plan.Goal, Strategy: plan.Strategy, Subtasks: append(kept, fresh...), Metadata: plan.Clone().Metadata}
	next.Metadata.Set("replan_count", plan.count("replan_count")+1)
	next.Metadata.Set("replanned_at", epoch(time.Now()))
	next.Metadata.Set("replan_reason", reason)
	if err := next.Validate(); err != nil {
		return nil, t.error("Replanned structure invalid: %s", err)
	}
	t.add("replan_complete", "elapsed_seconds", t.elapsed(), "preserved_subtasks", len(kept), "new_subtasks", len(fresh), "rationale", jsonscan.Text(f["adjustment_rationale"]))
	a.revised(plan, next, reason)
	return &Replanned{Plan: next, PreservedSubtasks: len(kept), NewSubtasks: len(fresh), PlanningTrace: t.trace, Success: true}, nil
}

// replanRequest returns the prompt for the planner, and copies of the kept subtasks.
func replanRequest(plan *Plan, failed, reason string) (kept []*Subtask, prompt string) {
	var completed, remaining []string
	ids := []string{}
	for _, s := range plan.Clone().Subtasks {
		if s.Status == Completed {
			kept, ids = append(kept, s), append(ids, s.ID)
			completed = append(completed, fmt.Sprintf("- %s: %s (Result: %s)", s.ID, s.Description, python.First(jsonscan.Text(jsonscan.OrNull(s.Result)), maxListed)))
		} else {
			remaining = append(remaining, fmt.Sprintf("- %s: %s", s.ID, s.Description))
		}
	}
	prompt = fmt.Sprintf(replanPrompt, plan.Goal, cmp.Or(strings.Join(completed, "\n"), "None"), cmp.Or(strings.Join(remaining, "\n"), "None"),
		cmp.Or(failed, "None"), reason, jsonscan.Encode(ids))
	return kept, prompt
}

// plan returns a copy of the given plan or of the state's plan, or nil if there is neither.
func (a *Actions) plan(given *Plan) *Plan {
	p := cmp.Or(given, a.State.Plan)
	if p == nil {
		return nil
	}
	p = p.Clone()
	p.complete()
	return p
}

// sound returns an error if a plan made by Go code has unknown statuses or strategies, or values
// that are invalid JSON.
func (p *Plan) sound() error {
	for _, m := range p.Metadata {
		if err := jsonscan.Check(m.Value, jsonscan.Limits{}); err != nil {
			return messagef("%q of the metadata is not JSON: %s", m.Name, err)
		}
	}
	if p.Strategy = cmp.Or(p.Strategy, Flat); !p.Strategy.known() {
		return messagef("'%s' is not a valid PlanningStrategy", p.Strategy)
	}
	for _, s := range p.Subtasks {
		if s.Status = cmp.Or(s.Status, Pending); !s.Status.known() {
			return messagef("'%s' is not a valid SubtaskStatus", s.Status)
		}
		if err := jsonscan.Check(jsonscan.OrNull(s.Result), jsonscan.Limits{}); err != nil {
			return messagef("the result of subtask '%s' is not JSON: %s", s.ID, err)
		}
	}
	return nil
}

// revised reports that a plan replaced another.
func (a *Actions) revised(old, next *Plan, reason string) {
	r := loop.Revision{Turn: a.plans, At: time.Now(), Reason: reason, Added: []string{}, Removed: []string{}, Kept: []string{}}
	for _, s := range next.Subtasks {
		if s.Status == Completed {
			r.Kept = append(r.Kept, s.ID)
		} else {
			r.Added = append(r.Added, s.ID)
		}
	}
	for _, s := range old.Subtasks {
		if s.Status != Completed {
			r.Removed = append(r.Removed, s.ID)
		}
	}
	a.k.Update(func(all *loop.Result) { all.Revisions = append(all.Revisions, r) })
	a.k.Emit(loop.Event{Type: loop.Revised, Text: "the plan is replaced: " + reason})
}
