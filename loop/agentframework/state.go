package agentframework

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// PlanState is the progress of a plan.
type PlanState struct {
	Plan                   []PlanStep
	StepResults            Values          // of steps that were done, and of callbacks that wait
	CompletedSteps         []CompletedStep // in the order in which they were done
	PlanRevision           int             // from 1
	TotalStepsExecuted     int             // over all revisions
	PendingCallbackStepID  string          // the callback that the model is to resolve; "" is none. Others wait behind it
	AwaitingCallerCallback bool            // a callback of the agent waits for its caller
	EOPStallCount          int             // times that it went on where there was nothing to go on with

	unreflected bool // a batch was done since the model looked at the plan
}

// planState is a PlanState as JSON.
type planState struct {
	Plan                   []PlanStep      `json:"plan"`
	StepResults            *Values         `json:"step_results"`
	CompletedSteps         []CompletedStep `json:"completed_steps"`
	PlanRevision           int             `json:"plan_revision"`
	TotalStepsExecuted     int             `json:"total_steps_executed"`
	PendingCallbackStepID  *string         `json:"pending_callback_step_id"`
	AwaitingCallerCallback bool            `json:"awaiting_caller_callback"`
	EOPStallCount          int             `json:"eop_stall_count"`
}

// MarshalJSON implements json.Marshaler.
func (s *PlanState) MarshalJSON() ([]byte, error) {
	return jsonscan.Encode(planState{
		append([]PlanStep{}, s.Plan...), &s.StepResults, append([]CompletedStep{}, s.CompletedSteps...), s.PlanRevision,
		s.TotalStepsExecuted, nullable(s.PendingCallbackStepID), s.AwaitingCallerCallback, s.EOPStallCount,
	}), nil
}

// CompletedStep is the record of a step that was done.
type CompletedStep struct {
	StepID              string
	Step                PlanStep
	Result              json.RawMessage
	StartedAt           time.Time
	FinishedAt          time.Time
	PlanRevisionAtStart int
	Error               string // "" is none
}

// MarshalJSON returns the record with its times in seconds since 1970.
func (c *CompletedStep) MarshalJSON() ([]byte, error) {
	return jsonscan.Encode(struct {
		StepID              string          `json:"step_id"`
		Step                *PlanStep       `json:"step"`
		Result              json.RawMessage `json:"result"`
		StartedAt           float64         `json:"started_at"`
		FinishedAt          float64         `json:"finished_at"`
		PlanRevisionAtStart int             `json:"plan_revision_at_start"`
		Error               *string         `json:"error"`
	}{c.StepID, &c.Step, orNull(c.Result), seconds(c.StartedAt), seconds(c.FinishedAt), c.PlanRevisionAtStart, nullable(c.Error)}), nil
}

func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }

// completedIDs returns the steps that were done, in order.
func (s *PlanState) completedIDs() []string {
	ids := make([]string, len(s.CompletedSteps))
	for i := range s.CompletedSteps {
		ids[i] = s.CompletedSteps[i].StepID
	}
	return ids
}

// pending returns the steps of the plan that were not done, in order.
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

// ready returns the steps that may be executed: not begun, and all that they depend on done.
func (s *PlanState) ready() []PlanStep {
	done := setOf(s.completedIDs())
	var list []PlanStep
	for i := range s.Plan {
		step := &s.Plan[i]
		if _, begun := s.StepResults.Get(step.ID); begun {
			continue
		}
		if !slices.ContainsFunc(step.DependsOn, func(d string) bool { return !done[d] }) {
			list = append(list, *step)
		}
	}
	return list
}

// callbacks returns the steps that wait for the model, in the order of the plan.
func (s *PlanState) callbacks() []string {
	done := setOf(s.completedIDs())
	var ids []string
	for i := range s.Plan {
		id := s.Plan[i].ID
		if _, begun := s.StepResults.Get(id); begun && !done[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// refresh has the first callback that waits be the one that the model is to resolve.
func (s *PlanState) refresh() {
	s.PendingCallbackStepID = ""
	if waiting := s.callbacks(); len(waiting) > 0 {
		s.PendingCallbackStepID = waiting[0]
	}
}

// step returns a step of the plan; nil is none.
func (s *PlanState) step(id string) *PlanStep {
	i := slices.IndexFunc(s.Plan, func(p PlanStep) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &s.Plan[i]
}

// done takes what came of a step.
func (s *PlanState) done(step *PlanStep, result json.RawMessage, failure string, started, finished time.Time) {
	s.StepResults.set(step.ID, orNull(result))
	s.CompletedSteps = append(s.CompletedSteps, CompletedStep{
		StepID: step.ID, Step: *step, Result: orNull(result), StartedAt: started, FinishedAt: finished,
		PlanRevisionAtStart: s.PlanRevision, Error: failure,
	})
	s.TotalStepsExecuted++
}

// wait takes a callback, which the model is to resolve: see refresh.
func (s *PlanState) wait(step *PlanStep) {
	s.StepResults.set(step.ID, jsonscan.Encode(struct {
		Pending bool   `json:"_callback_pending"`
		Intent  string `json:"intent"`
		StepID  string `json:"step_id"`
	}{true, step.CallbackIntent, step.ID}))
}

// waitFor takes the callback of a subagent, which the model is to resolve: see refresh.
func (s *PlanState) waitFor(step *PlanStep, cb *Callback) {
	s.StepResults.set(step.ID, jsonscan.Encode(struct {
		Pending    bool            `json:"_callback_pending"`
		Intent     string          `json:"intent"`
		StepID     string          `json:"step_id"`
		Message    string          `json:"message"`
		Parameters json.RawMessage `json:"parameters"`
	}{true, cb.Intent, step.ID, cb.Message, orNull(cb.Parameters)}))
}

// intent returns that of the callback that a step waits for.
func (s *PlanState) intent(id string) string {
	v, _ := s.StepResults.Get(id)
	return gjson.GetBytes(v, "intent").Str
}

// again has a step that waited be executed once more.
func (s *PlanState) again(id string) {
	s.StepResults.remove(func(other string) bool { return other == id })
	s.refresh()
}

// resolve resolves the callback that is pending.
func (s *PlanState) resolve(resolution json.RawMessage, at time.Time) {
	step := s.step(s.PendingCallbackStepID)
	s.done(step, jsonscan.Encode(struct {
		Resolved   bool            `json:"_callback_resolved"`
		Intent     string          `json:"intent"`
		Resolution json.RawMessage `json:"resolution"`
	}{true, step.CallbackIntent, orNull(resolution)}), "", at, at)
	s.refresh()
}

// replace has the plan be the steps that were done, in that order, and these. Callbacks that
// waited are no more, unless they are kept.
func (s *PlanState) replace(steps []PlanStep, kept map[string]bool) {
	plan := make([]PlanStep, 0, len(s.CompletedSteps)+len(steps))
	for i := range s.CompletedSteps {
		plan = append(plan, s.CompletedSteps[i].Step)
	}
	waiting := setOf(s.callbacks())
	s.StepResults.remove(func(id string) bool { return waiting[id] && !kept[id] })
	s.Plan = append(plan, steps...)
	s.PlanRevision++
	s.refresh()
}

// failed returns the results that are errors: the steps and what went wrong.
func (s *PlanState) failed() (list [][2]string) {
	for _, id := range s.StepResults.names {
		v, _ := s.StepResults.Get(id)
		if r := gjson.ParseBytes(v); r.IsObject() {
			if e := r.Get("error"); e.Exists() {
				list = append(list, [2]string{id, str(e)})
			}
		}
	}
	return list
}

// stepIDs returns the ids of steps.
func stepIDs(steps []PlanStep) map[string]bool {
	set := make(map[string]bool, len(steps))
	for i := range steps {
		set[steps[i].ID] = true
	}
	return set
}

func setOf(ids []string) map[string]bool {
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}

// PlanUpdated is the event of a new plan.
type PlanUpdated struct {
	Type           string     `json:"type"` // plan_updated
	IsInitial      bool       `json:"is_initial"`
	PlanRevision   int        `json:"plan_revision"`
	StepCount      int        `json:"step_count"`
	AddedStepIDs   []string   `json:"added_step_ids"`   // sorted
	DroppedStepIDs []string   `json:"dropped_step_ids"` // sorted
	Plan           []PlanStep `json:"plan"`
}

// updated returns the event of the plan of a state that was another before.
func (s *PlanState) updated(before []PlanStep) *PlanUpdated {
	return &PlanUpdated{
		Type: "plan_updated", IsInitial: before == nil, PlanRevision: s.PlanRevision, StepCount: len(s.Plan),
		AddedStepIDs: without(s.Plan, before), DroppedStepIDs: without(before, s.Plan), Plan: slices.Clone(s.Plan),
	}
}

// without returns the steps of a plan that another has not, sorted.
func without(plan, other []PlanStep) []string {
	has, ids := stepIDs(other), []string{}
	for i := range plan {
		if !has[plan[i].ID] {
			ids = append(ids, plan[i].ID)
		}
	}
	slices.Sort(ids)
	return ids
}
