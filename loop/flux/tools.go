package flux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/plc-lang/plc/tool/model"
)

// DefaultMaxPlanSteps and DefaultMaxToolCalls are those of Flux.
const (
	DefaultMaxPlanSteps = 20
	DefaultMaxToolCalls = 10
)

// Key is the key of a plan in a Memory.
const Key = "_active_plan"

// Memory is where a plan is kept for the next time: the long-term memory of an agent. Its
// methods are called one at a time.
type Memory interface {
	// Load is the value under a key; nil is none.
	Load(ctx context.Context, key string) (json.RawMessage, error)
	Save(ctx context.Context, key string, value json.RawMessage) error
}

// Plans is the plan of an agent, and the six tools that work on it. It holds one plan at most.
type Plans struct {
	o    *Options
	mu   sync.Mutex
	plan *Plan // nil is none
}

// NewPlans is an agent's plan, restored from the memory if there is one: what is kept there is taken when it is an
// object with steps, without validation. A nil Options is the default.
func NewPlans(ctx context.Context, o *Options) (*Plans, error) {
	if o == nil {
		o = &Options{}
	}
	t := &Plans{o: o}
	if o.Memory == nil {
		return t, nil
	}
	kept, err := o.Memory.Load(ctx, Key)
	if err != nil {
		return nil, fmt.Errorf("flux: the plan can't be restored: %w", err)
	}
	if p, err := Parse(kept); kept != nil && err == nil {
		t.plan = p
	}
	return t, nil
}

// Plan is a copy of the plan; nil is none.
func (t *Plans) Plan() *Plan {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plan == nil {
		return nil
	}
	p := &Plan{}
	for _, s := range t.plan.Steps {
		step := *s
		p.Steps = append(p.Steps, &step)
	}
	return p
}

// Functions are the six tools, in the order of Flux, for a model to call.
func Functions() []model.Function {
	function := func(name, description, params string) model.Function {
		return model.Function{Name: name, Description: description, Params: json.RawMessage(params)}
	}
	const none = `{"type":"object","properties":{}}`
	return []model.Function{
		function("create_plan", "Creates the plan, or replaces it. steps is a JSON array of steps, each with a name (lowercase letters, digits, hyphens and underscores), a description of what is to be done, and optionally depends_on, the names of steps that come before. Completed steps of the same names are kept.",
			`{"type":"object","properties":{"steps":{"type":"string"}},"required":["steps"]}`),
		function("start_step", "Marks a step as in progress, before work on it begins. One step is in progress at a time.",
			`{"type":"object","properties":{"step_name":{"type":"string"}},"required":["step_name"]}`),
		function("mark_step_done", "Marks a step as completed and keeps its result, which steps that depend on it are shown.",
			`{"type":"object","properties":{"step_name":{"type":"string"},"result":{"type":"string"}},"required":["step_name","result"]}`),
		function("mark_step_failed", "Marks a step as failed, and why. Steps that depend on it can't be started until there is another plan.",
			`{"type":"object","properties":{"step_name":{"type":"string"},"reason":{"type":"string"}},"required":["step_name","reason"]}`),
		function("get_plan", "The plan with all steps, how they stand, and their results.", none),
		function("get_ready_steps", "The steps that can be started now, with the results of those they depend on.", none),
	}
}

// Call calls one of the six tools. ok is false when name is none of them. The error is that of a plan
// that was not taken, a *ValidationError, or of the memory or of who approves.
func (t *Plans) Call(ctx context.Context, name string, params json.RawMessage) (answer json.RawMessage, ok bool, err error) {
	var p struct {
		Steps  json.RawMessage `json:"steps"`
		Name   string          `json:"step_name"`
		Result json.RawMessage `json:"result"`
		Reason string          `json:"reason"`
	}
	if len(params) > 0 {
		err = json.Unmarshal(params, &p)
	}
	call := map[string]func() (json.RawMessage, error){
		"create_plan":      func() (json.RawMessage, error) { return t.CreatePlan(ctx, p.Steps) },
		"start_step":       func() (json.RawMessage, error) { return t.StartStep(ctx, p.Name) },
		"mark_step_done":   func() (json.RawMessage, error) { return t.MarkStepDone(ctx, p.Name, p.Result) },
		"mark_step_failed": func() (json.RawMessage, error) { return t.MarkStepFailed(ctx, p.Name, p.Reason) },
		"get_plan":         func() (json.RawMessage, error) { return t.GetPlan(), nil },
		"get_ready_steps":  func() (json.RawMessage, error) { return t.GetReadySteps(), nil },
	}[name]
	if call == nil {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, invalid("the arguments of %s are not what it takes: %s", name, err)
	}
	answer, err = call()
	return answer, true, err
}

// CreatePlan creates the plan, or replaces it, when it is sound and was not rejected; otherwise the plan
// before stays. Completed steps of the same names are kept as they were.
func (t *Plans) CreatePlan(ctx context.Context, steps json.RawMessage) (json.RawMessage, error) {
	plan, err := t.o.plan(steps)
	if err != nil {
		return nil, err
	}
	if t.o.ApprovePlan {
		if plan, err = t.o.approved(ctx, plan); err != nil || plan == nil {
			return object("error", "Plan was rejected during review."), err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	dropped := plan.preserve(t.plan)
	t.plan = plan
	answer := encode(plan)
	if len(dropped) > 0 {
		answer = with(answer, "warning", fmt.Sprintf("Completed steps dropped (not in new plan): %s. Their results are lost.", list(dropped)))
	}
	return answer, t.changed(ctx)
}

// approved has a plan looked at. Nil is a rejection.
func (o *Options) approved(ctx context.Context, plan *Plan) (*Plan, error) {
	if o.Approve == nil {
		return nil, errors.New("flux: approve_plan needs somebody who approves: Options.Approve")
	}
	said, err := o.Approve(ctx, plan)
	if err != nil {
		return nil, err
	}
	var a struct {
		Rejected any               `json:"rejected"`
		Steps    []json.RawMessage `json:"steps"`
	}
	if json.Unmarshal(said, &a) != nil {
		return plan, nil // anything else approves it as it is
	}
	switch {
	case truthy(a.Rejected):
		return nil, nil
	case a.Steps == nil:
		return plan, nil
	}
	changed, err := stepsOf(a.Steps)
	if err == nil {
		err = checkDependencies(changed)
	}
	if err == nil {
		err = o.checkCount(len(changed.Steps))
	}
	return changed, err
}

// truthy is what Python takes for true.
func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case float64:
		return v != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// changed keeps the plan and tells of it. The caller holds mu.
func (t *Plans) changed(ctx context.Context) error {
	if t.o.Memory != nil {
		if err := t.o.Memory.Save(ctx, Key, encode(t.plan)); err != nil {
			return fmt.Errorf("flux: the plan can't be kept: %w", err)
		}
	}
	if t.o.OnProgress != nil {
		t.o.OnProgress(encode(struct {
			Type string `json:"type"`
			Plan *Plan  `json:"plan"`
		}{"plan", t.plan}))
	}
	return nil
}

// find is the step of this name, or the answer that there is none.
func (t *Plans) find(name string) (*Step, json.RawMessage) {
	if t.plan == nil {
		return nil, object("error", "No plan exists. Call create_plan first.")
	}
	if s := t.plan.Step(name); s != nil {
		return s, nil
	}
	available := ""
	for i, s := range t.plan.Steps {
		if i > 0 {
			available += ", "
		}
		available += s.Name
	}
	return nil, object("error", fmt.Sprintf("Step '%s' not found. Available: %s", name, available))
}

// StartStep marks a step as in progress.
func (t *Plans) StartStep(ctx context.Context, name string) (json.RawMessage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, none := t.find(name)
	if s == nil {
		return none, nil
	}
	switch {
	case s.Status == InProgress:
		return encode(s), nil
	case s.Status == Completed || s.Status == Failed:
		return object("error", fmt.Sprintf("Step '%s' is already %s.", name, s.Status)), nil
	}
	if active := t.plan.Active(); active != nil {
		return object("error", fmt.Sprintf(`Step "%s" is already in progress. Complete or fail it before starting another.`, active.Name)), nil
	}
	satisfied := t.plan.Satisfied(s)
	unsatisfied := fmt.Sprintf("Step '%s' has unsatisfied dependencies: %s. ", name, list(t.plan.unsatisfied(s)))
	if !satisfied && t.o.StrictDependencies {
		return object("error", unsatisfied+"Complete them first."), nil
	}
	s.Status = InProgress
	answer := encode(s)
	if !satisfied {
		answer = with(answer, "warning", unsatisfied+"Proceeding anyway.")
	}
	return answer, t.changed(ctx)
}

// MarkStepDone marks a step as completed; the first result stays.
func (t *Plans) MarkStepDone(ctx context.Context, name string, result json.RawMessage) (json.RawMessage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, none := t.find(name)
	switch {
	case s == nil:
		return none, nil
	case s.Status == Completed:
		return encode(s), nil
	case s.Status == Failed:
		return object("error", fmt.Sprintf("Step '%s' is failed. Replan to retry.", name)), nil
	}
	s.Status, s.Result = Completed, result
	if string(result) == "null" {
		s.Result = nil
	}
	answer := encode(s)
	if t.o.StrictDependencies && !t.plan.Satisfied(s) {
		answer = with(answer, "warning", fmt.Sprintf("Step '%s' has unsatisfied dependencies: %s. Proceeding anyway.", name, list(t.plan.unsatisfied(s))))
	}
	return answer, t.changed(ctx)
}

// MarkStepFailed marks a step as failed; the first reason stays.
func (t *Plans) MarkStepFailed(ctx context.Context, name, reason string) (json.RawMessage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, none := t.find(name)
	switch {
	case s == nil:
		return none, nil
	case s.Status == Completed:
		return object("error", fmt.Sprintf("Step '%s' is already completed.", name)), nil
	case s.Status == Failed:
		return encode(s), nil
	}
	s.Status, s.Error = Failed, &reason
	return encode(s), t.changed(ctx)
}

// GetPlan is the plan.
func (t *Plans) GetPlan() json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plan == nil {
		return noPlan()
	}
	return encode(t.plan)
}

// GetReadySteps are the steps that can be started.
func (t *Plans) GetReadySteps() json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plan == nil {
		return noPlan()
	}
	ready := []json.RawMessage{}
	for _, s := range t.plan.Ready() {
		entry := encode(s)
		if results := t.plan.DependencyResults(s); len(results) > 0 {
			entry = with(entry, "dependency_results", resultsOf(results))
		}
		ready = append(ready, entry)
	}
	return object("ready_steps", ready)
}

// resultsOf are results by the names of their steps, in order.
func resultsOf(results []DependencyResult) json.RawMessage {
	b := []byte{'{'}
	for i, r := range results {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, encode(r.Name)...), ':'), r.Value...)
	}
	return append(b, '}')
}

func noPlan() json.RawMessage { return object("message", "No plan exists.") }

// object is an object of one member.
func object(name string, value any) json.RawMessage { return encode(map[string]any{name: value}) }

// Summary is the reminder; "" when there is no plan.
func (t *Plans) Summary() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plan == nil {
		return ""
	}
	return t.plan.Summary()
}

// unfinished reports whether there is a plan with steps to do.
func (t *Plans) unfinished() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.plan != nil && t.plan.unfinished()
}
