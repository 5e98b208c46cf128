package agentframework

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/loop"
)

// PlanState is the progress of a plan.
type PlanState struct {
	Plan                   []PlanStep
	StepResults            Values          // results of finished steps and of waiting callbacks
	CompletedSteps         []CompletedStep // in order of completion
	PlanRevision           int             // from 1
	TotalStepsExecuted     int             // over all revisions
	PendingCallbackStepID  string          // the callback that the model resolves next, or ""; others may wait behind it
	AwaitingCallerCallback bool            // a callback of the agent waits for its caller
	EOPStallCount          int             // times that the model continued a plan with nothing left to do

	unreflected bool // a batch was executed since the model last reflected
}

// MarshalJSON implements json.Marshaler.
func (s *PlanState) MarshalJSON() ([]byte, error) {
	return loop.ObjectOf("plan", append([]PlanStep{}, s.Plan...), "step_results", s.StepResults,
		"completed_steps", append([]CompletedStep{}, s.CompletedSteps...), "plan_revision", s.PlanRevision,
		"total_steps_executed", s.TotalStepsExecuted, "pending_callback_step_id", nullable(s.PendingCallbackStepID),
		"awaiting_caller_callback", s.AwaitingCallerCallback, "eop_stall_count", s.EOPStallCount).JSON(), nil
}

// CompletedStep records a finished step.
type CompletedStep struct {
	StepID              string
	Step                PlanStep
	Result              json.RawMessage
	StartedAt           time.Time
	FinishedAt          time.Time
	PlanRevisionAtStart int
	Error               string // "" if the step succeeded
}

// MarshalJSON returns the record with its times in seconds since 1970.
func (c *CompletedStep) MarshalJSON() ([]byte, error) {
	return loop.ObjectOf("step_id", c.StepID, "step", &c.Step, "result", c.Result, "started_at", seconds(c.StartedAt),
		"finished_at", seconds(c.FinishedAt), "plan_revision_at_start", c.PlanRevisionAtStart, "error", nullable(c.Error)).JSON(), nil
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// completedIDs returns the IDs of the finished steps, in order.
func (s *PlanState) completedIDs() []string {
	ids := make([]string, len(s.CompletedSteps))
	for i := range s.CompletedSteps {
		ids[i] = s.CompletedSteps[i].StepID
	}
	return ids
}

// pending returns the IDs of the unfinished steps, in order.
func (s *PlanState) pending() []string {
	done := setOf(s.completedIDs())
	ids := []string{}
	for i := range s.Plan {
		if id := s.Plan[i].ID; !done[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// ready returns the steps that may be executed now: they haven't begun, and all their dependencies
// are done.
func (s *PlanState) ready() []PlanStep {
	done, begun := setOf(s.completedIDs()), setOf(s.StepResults.Names())
	var list []PlanStep
	for i := range s.Plan {
		step := &s.Plan[i]
		if !begun[step.ID] && !slices.ContainsFunc(step.DependsOn, func(d string) bool { return !done[d] }) {
			list = append(list, *step)
		}
	}
	return list
}

// callbacks returns the steps that wait for the model, in plan order.
func (s *PlanState) callbacks() []string {
	done, begun := setOf(s.completedIDs()), setOf(s.StepResults.Names())
	var ids []string
	for i := range s.Plan {
		if id := s.Plan[i].ID; begun[id] && !done[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// nextCallback makes the first waiting callback the one that the model resolves next.
func (s *PlanState) nextCallback() {
	s.PendingCallbackStepID = ""
	if waiting := s.callbacks(); len(waiting) > 0 {
		s.PendingCallbackStepID = waiting[0]
	}
}

// step returns the step with the given ID, or nil.
func (s *PlanState) step(id string) *PlanStep {
	i := slices.IndexFunc(s.Plan, func(p PlanStep) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Plan[i]
}

// done stores the result of a step.
func (s *PlanState) done(step *PlanStep, result json.RawMessage, failure string, started, finished time.Time) {
	s.StepResults.Put(step.ID, jsonscan.OrNull(result))
	s.CompletedSteps = append(s.CompletedSteps, CompletedStep{
		StepID: step.ID, Step: *step, Result: jsonscan.OrNull(result), StartedAt: started, FinishedAt: finished,
		PlanRevisionAtStart: s.PlanRevision, Error: failure,
	})
	s.TotalStepsExecuted++
}

// wait makes a step wait until the model resolves its callback: see nextCallback.
func (s *PlanState) wait(step *PlanStep) {
	s.StepResults.Set(step.ID, loop.ObjectOf("_callback_pending", true, "intent", step.CallbackIntent, "step_id", step.ID))
}

// waitFor makes a step wait until the model resolves its subagent's callback: see nextCallback.
func (s *PlanState) waitFor(step *PlanStep, cb *Callback) {
	s.StepResults.Set(step.ID, loop.ObjectOf("_callback_pending", true, "intent", cb.Intent, "step_id", step.ID,
		"message", cb.Message, "parameters", cb.Parameters))
}

// intent returns the intent of the callback that a step waits for.
func (s *PlanState) intent(id string) string {
	return gjson.GetBytes(s.StepResults.Get(id), "intent").Str
}

// runAgain marks a waiting step to be executed once more.
func (s *PlanState) runAgain(id string) {
	s.StepResults = slices.DeleteFunc(s.StepResults, func(m loop.Member) bool { return m.Name == id })
	s.nextCallback()
}

// resolve finishes the pending callback with its resolution.
func (s *PlanState) resolve(resolution json.RawMessage, at time.Time) {
	step := s.step(s.PendingCallbackStepID)
	s.done(step, loop.ObjectOf("_callback_resolved", true, "intent", step.CallbackIntent, "resolution", resolution).JSON(), "", at, at)
	s.nextCallback()
}

// replace makes the plan consist of the finished steps, in order of completion, followed by steps.
// Waiting callbacks that aren't kept are dropped.
func (s *PlanState) replace(steps []PlanStep, kept map[string]bool) {
	plan := make([]PlanStep, 0, len(s.CompletedSteps)+len(steps))
	for i := range s.CompletedSteps {
		plan = append(plan, s.CompletedSteps[i].Step)
	}
	waiting := setOf(s.callbacks())
	s.StepResults = slices.DeleteFunc(s.StepResults, func(m loop.Member) bool { return waiting[m.Name] && !kept[m.Name] })
	s.Plan = append(plan, steps...)
	s.PlanRevision++
	s.nextCallback()
}

// failed returns, for each failed step, its ID and the error.
func (s *PlanState) failed() (list [][2]string) {
	for _, m := range s.StepResults {
		if r := gjson.ParseBytes(m.Value); r.IsObject() {
			if e := r.Get("error"); e.Exists() {
				list = append(list, [2]string{m.Name, str(e)})
			}
		}
	}
	return list
}

// idsOf returns the ids of steps.
func idsOf(steps []PlanStep) []string {
	ids := make([]string, len(steps))
	for i := range steps {
		ids[i] = steps[i].ID
	}
	return ids
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// PlanUpdated is the event that reports a new plan.
type PlanUpdated struct {
	Type           string     `json:"type"` // plan_updated
	IsInitial      bool       `json:"is_initial"`
	PlanRevision   int        `json:"plan_revision"`
	StepCount      int        `json:"step_count"`
	AddedStepIDs   []string   `json:"added_step_ids"`   // sorted
	DroppedStepIDs []string   `json:"dropped_step_ids"` // sorted
	Plan           []PlanStep `json:"plan"`
}

// updated returns the event and the revision for a plan that replaced before.
func (s *PlanState) updated(before []PlanStep) (*PlanUpdated, loop.Revision) {
	r := loop.RevisionOf(idsOf(before), idsOf(s.Plan))
	slices.Sort(r.Added)
	slices.Sort(r.Removed)
	return &PlanUpdated{
		Type: "plan_updated", IsInitial: before == nil, PlanRevision: s.PlanRevision, StepCount: len(s.Plan),
		AddedStepIDs: r.Added, DroppedStepIDs: r.Removed, Plan: slices.Clone(s.Plan),
	}, r
}
