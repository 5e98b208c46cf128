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

// Decomposed is the answer of plan.decompose.
type Decomposed struct {
	Plan          *Plan  `json:"plan"`
	PlanningTrace Trace  `json:"planning_trace"`
	Success       bool   `json:"success"` // true
	PlanID        string `json:"plan_id"`
	SubtaskCount  int    `json:"subtask_count"`

	// Unfinished reports that the planner set planning_complete to false: there is more to plan
	// when these subtasks are done.
	Unfinished bool `json:"-"`
}

// Decompose asks the planner to decompose a goal into subtasks; the plan becomes state.plan. Errors
// are *Errors, except for those from ctx and from Options.Save.
func (a *Actions) Decompose(ctx context.Context, p *DecomposeParams) (*Decomposed, error) {
	q := *p
	q.Strategy = cmp.Or(q.Strategy, Flat)
	if !q.Strategy.known() {
		return nil, unknownStrategy(q.Strategy)
	}
	t := newTracing()
	t.add("decompose_start", "goal", q.Goal, "strategy", q.Strategy, "model", cmp.Or(q.Model, a.o.PlannerModel, DefaultModel))
	prompt, err := a.decomposePrompt(&q)
	if err != nil {
		return nil, t.raised("Plan decomposition failed: %s", err)
	}
	turn := &model.Turn{System: prompt, Messages: model.FromUser("Goal: " + q.Goal), Temperature: q.Temperature, Attempt: 1}
	list, f, err := a.listed(ctx, t, q.Model, turn, "plan", "Plan decomposition failed")
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		none := t.error("No subtasks returned from LLM")
		none.complete = string(f["planning_complete"]) == "true"
		return nil, none
	}
	if most := orDefault(q.MaxSubtasks, DefaultMaxSubtasks); len(list) > most {
		t.add("subtasks_truncated", "original_count", len(list), "truncated_to", most)
		list = list[:most]
	}
	plan := &Plan{Goal: q.Goal, Strategy: q.Strategy}
	if plan.Subtasks, err = newSubtasks(list, "subtask_"); err != nil {
		return nil, t.raised("Plan decomposition failed: %s", err)
	}
	plan.ID = a.planID("plan_")
	plan.complete()
	if err := plan.Validate(); err != nil {
		return nil, t.error("Invalid plan structure: %s", err)
	}
	t.add("decompose_complete", "elapsed_seconds", t.elapsed(), "subtask_count", len(plan.Subtasks), "plan_id", plan.ID)
	a.State.Plan = plan
	return &Decomposed{
		Plan: plan.Clone(), PlanningTrace: t.trace, Success: true, PlanID: plan.ID, SubtaskCount: len(plan.Subtasks),
		Unfinished: string(f["planning_complete"]) == "false",
	}, a.saved(ctx)
}

func unknownStrategy(s Strategy) *Error {
	return &Error{Message: fmt.Sprintf("Unknown strategy: %s. Use 'flat', 'hierarchical', or 'iterative'", s)}
}

func (a *Actions) decomposeJSON(ctx context.Context, params json.RawMessage) (any, error) {
	r := readParams(params).planned()
	p := r.decompose()
	if r.fault == nil && !r.has("goal") {
		r.fault = message("'goal' is missing")
	}
	if r.fault != nil {
		return nil, newTracing().raised("Plan decomposition failed: %s", r.fault)
	}
	if r.has("strategy") && p.Strategy == "" {
		return nil, unknownStrategy("")
	}
	return a.Decompose(ctx, p)
}

// decomposePrompt returns the system prompt: the template with its tokens filled in, or the prompt
// of the strategy.
func (a *Actions) decomposePrompt(p *DecomposeParams) (string, error) {
	if p.PromptTemplate != "" {
		r := a.given(p.Goal)
		return jsonscan.Text(jsonscan.Encode(r.text(p.PromptTemplate))), r.fault
	}
	return a.strategyPrompt(p), nil
}

func (a *Actions) strategyPrompt(p *DecomposeParams) string {
	switch {
	case p.Strategy == Hierarchical:
		return fmt.Sprintf(hierarchicalPrompt, orDefault(p.MaxDepth, DefaultMaxDepth), orDefault(p.MaxSubtasks, DefaultMaxSubtasks))
	case p.Strategy == Iterative:
		return fmt.Sprintf(iterativePrompt, a.completedList())
	}
	return flatPrompt
}

// completedList returns the results so far, as listed in the iterative prompt.
func (a *Actions) completedList() string {
	var lines []string
	for _, m := range a.State.SubtaskResults {
		lines = append(lines, fmt.Sprintf("- %s: %s", m.Name, python.First(jsonscan.Text(m.Value), maxListed)))
	}
	return cmp.Or(strings.Join(lines, "\n"), "None")
}

// listed asks a planner for subtasks, and returns them with the members of its answer. Messages
// call the subtasks what, and an unusable answer failed.
func (a *Actions) listed(ctx context.Context, t *tracing, planner string, turn *model.Turn, what, failed string) ([]json.RawMessage, fields, error) {
	reply, err := a.reply(ctx, planner, turn)
	if err != nil {
		return nil, nil, t.failed(ctx, err)
	}
	parsed, err := answerIn(reply.Text)
	if err != nil {
		return nil, nil, t.error("Failed to parse "+what+": %s", err)
	}
	list, f, err := subtasksIn(parsed)
	if err != nil {
		return nil, nil, t.raised(failed+": %s", err)
	}
	return list, f, nil
}

// subtasksIn returns the subtasks of an answer, and its members.
func subtasksIn(answer json.RawMessage) ([]json.RawMessage, fields, error) {
	f, ok := fieldsOf(answer)
	if !ok {
		return nil, nil, messagef("the answer is not an object {\"subtasks\": […]} but %s", python.First(string(answer), 40))
	}
	var list []json.RawMessage
	if python.Truthy(f["subtasks"]) && json.Unmarshal(f["subtasks"], &list) != nil {
		return nil, nil, message("'subtasks' is not a list")
	}
	return list, f, nil
}

// newSubtasks returns the subtasks that a planner listed. A subtask without an ID is named after
// its position.
func newSubtasks(list []json.RawMessage, prefix string) ([]*Subtask, error) {
	subtasks := make([]*Subtask, 0, len(list))
	for i, raw := range list {
		f, ok := fieldsOf(raw)
		if !ok {
			return nil, messagef("subtask %d is not an object: %s", i+1, python.First(string(raw), 40))
		}
		s := &Subtask{ID: fmt.Sprintf("%s%d", prefix, i+1), Status: Pending}
		if err := s.describe(f); err != nil {
			return nil, err
		}
		subtasks = append(subtasks, s)
	}
	return subtasks, nil
}

// tracing is the trace of the current action.
type tracing struct {
	trace Trace
	begun time.Time
}

func newTracing() *tracing { return &tracing{trace: Trace{}, begun: time.Now()} }

// add adds a step with further members given as pairs of name and value.
func (t *tracing) add(step string, pairs ...any) {
	t.trace = append(t.trace, loop.ObjectOf(append([]any{"step", step, "timestamp", epoch(time.Now())}, pairs...)...))
}

func (t *tracing) elapsed() Float { return Float(time.Since(t.begun).Seconds()) }

// error returns a failure of the action.
func (t *tracing) error(format string, args ...any) *Error {
	return &Error{Message: fmt.Sprintf(format, args...), PlanningTrace: t.trace}
}

// raised returns a failure of the action, and adds it to the trace.
func (t *tracing) raised(format string, err error) *Error {
	t.add("error", "error", err.Error())
	return t.error(format, err)
}

// failed returns the error of a failed model, or that of ctx if ctx is done.
func (t *tracing) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("tea: %w", ctx.Err())
	}
	return t.error("%s", errorText(err))
}
