package flux

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// DefaultMaxPlanSteps and DefaultMaxToolCalls are the defaults of Flux.
const (
	DefaultMaxPlanSteps = 20
	DefaultMaxToolCalls = 10
)

// Key is the key of a plan in a Memory.
const Key = "_active_plan"

// Memory is the long-term memory of an agent, which keeps a plan for the next run. Its methods are
// never called concurrently.
type Memory interface {
	// Load returns the value stored for a key, or nil.
	Load(ctx context.Context, key string) (json.RawMessage, error)
	Save(ctx context.Context, key string, value json.RawMessage) error
}

// Plans holds the plan of an agent, of which there is at most one, and implements the six tools
// that change it.
type Plans struct {
	o    *Options
	mu   sync.Mutex
	plan *Plan                                   // nil if there is none
	told func(p *Plan, progress json.RawMessage) // called after each change; may be nil
}

// NewPlans returns an agent's plan. If the memory holds an object with steps, the plan is restored
// from it without validation. Nil options select the defaults.
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
	if p, err := Parse(kept); err == nil {
		t.plan = p
	}
	return t, nil
}

// Plan returns a copy of the plan, or nil if there is none.
func (t *Plans) Plan() *Plan {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plan == nil {
		return nil
	}
	return t.plan.clone()
}

// Functions returns the six tools as functions for a model, in the order of Flux.
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

// Call calls one of the six tools. ok is false if name isn't one of them. The error is a
// *ValidationError if the plan or the arguments are invalid. If the memory or the approver fails,
// Call returns that error, which wraps exec.ErrNobody if there is nobody to approve. In all these
// cases the plan is unchanged.
func (t *Plans) Call(ctx context.Context, name string, params json.RawMessage) (answer json.RawMessage, ok bool, err error) {
	call := map[string]func(args) (json.RawMessage, error){
		"create_plan": func(a args) (json.RawMessage, error) { return t.CreatePlan(ctx, a.value["steps"]) },
		"start_step":  func(a args) (json.RawMessage, error) { return t.StartStep(ctx, a.text["step_name"]) },
		"mark_step_done": func(a args) (json.RawMessage, error) {
			return t.MarkStepDone(ctx, a.text["step_name"], a.value["result"])
		},
		"mark_step_failed": func(a args) (json.RawMessage, error) {
			return t.MarkStepFailed(ctx, a.text["step_name"], a.text["reason"])
		},
		"get_plan":        func(args) (json.RawMessage, error) { return t.GetPlan(), nil },
		"get_ready_steps": func(args) (json.RawMessage, error) { return t.GetReadySteps(), nil },
	}[name]
	if call == nil {
		return nil, false, nil
	}
	a, err := argsOf(name, params)
	if err != nil {
		return nil, true, err
	}
	answer, err = call(a)
	return answer, true, err
}

// args are the arguments of a tool: any values, and texts.
type args struct {
	value map[string]json.RawMessage
	text  map[string]string
}

// argsOf parses the arguments of a tool. All of them are required.
func argsOf(tool string, params json.RawMessage) (args, error) {
	a := args{text: map[string]string{}}
	names := map[string][]string{"create_plan": {"steps"}, "start_step": {"step_name"}, "mark_step_done": {"step_name", "result"}, "mark_step_failed": {"step_name", "reason"}}[tool]
	if len(bytes.TrimSpace(params)) > 0 {
		var err error
		if a.value, err = membersOf(bytes.ToValidUTF8(params, []byte("\ufffd"))); err != nil {
			return a, invalid("the arguments of %s are not what it takes: %s", tool, err)
		}
	}
	for _, name := range names {
		v := a.value[name]
		if v == nil {
			return a, invalid("%s takes %s, and there is no '%s'.", tool, python.List(names), name)
		}
		if name == "steps" || name == "result" {
			continue
		}
		var text *string
		if json.Unmarshal(v, &text) != nil || text == nil {
			return a, invalid("the '%s' of %s is %s, not a string.", name, tool, kindOf(v))
		}
		a.text[name] = *text
	}
	return a, nil
}

// CreatePlan creates or replaces the plan if the new plan is valid and isn't rejected; otherwise
// the old plan stays. Steps that were completed keep their status and result if the new plan has
// steps of the same names.
func (t *Plans) CreatePlan(ctx context.Context, steps json.RawMessage) (json.RawMessage, error) {
	plan, err := t.o.plan(steps)
	if err != nil {
		return nil, err
	}
	if t.o.ApprovePlan {
		var rejected rejectedError
		if plan, err = t.o.approved(ctx, plan); errors.As(err, &rejected) {
			answer := object("error", "Plan was rejected during review.")
			if string(rejected) != "null" {
				answer = with(answer, "reason", json.RawMessage(rejected))
			}
			return answer, nil
		}
		if err != nil {
			return nil, err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	dropped := plan.preserve(t.plan)
	answer := jsonscan.Encode(plan)
	if len(dropped) > 0 {
		answer = with(answer, "warning", fmt.Sprintf("Completed steps dropped (not in new plan): %s. Their results are lost.", python.List(dropped)))
	}
	return t.change(ctx, plan, answer)
}

// rejectedError says that a plan was rejected; it holds the reason as JSON.
type rejectedError string

func (e rejectedError) Error() string { return string(e) }

// approved has a plan approved. It returns a rejectedError if the model may make another plan.
func (o *Options) approved(ctx context.Context, plan *Plan) (*Plan, error) {
	if o.Approve == nil {
		return nil, fmt.Errorf("flux: the plan waits for approval: %w", exec.ErrNobody)
	}
	said, err := o.Approve(ctx, plan.clone())
	switch {
	case errors.Is(err, loop.ErrRejected):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("flux: the plan could not be approved: %w", err)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(bytes.TrimSpace(said)) > 0 && !json.Valid(said):
		return nil, errors.New("flux: the plan could not be approved: the answer is not JSON")
	}
	m, err := membersOf(said)
	if err != nil {
		return plan, nil // anything but an object approves the plan unchanged
	}
	if python.Truthy(m["rejected"]) {
		return nil, rejectedError(jsonscan.Encode(m["reason"]))
	}
	if m["steps"] == nil {
		return plan, nil
	}
	return o.reviewed(m["steps"])
}

// Reviewed returns the plan in an answer of Approve, {"steps": […]}, or an error if that plan is
// invalid.
func (o *Options) Reviewed(answer json.RawMessage) (*Plan, error) {
	if !json.Valid(answer) {
		return nil, errors.New("the plan is not JSON")
	}
	m, err := membersOf(answer)
	if err != nil || m["steps"] == nil {
		return nil, errors.New(`the plan is an object {"steps": […]}`)
	}
	return o.reviewed(m["steps"])
}

// reviewed returns the approver's plan, checked in the order in which Flux checks.
func (o *Options) reviewed(steps json.RawMessage) (*Plan, error) {
	list, err := elementsOf(steps)
	if err != nil {
		return nil, invalid("The reviewed plan has no steps: %s", err)
	}
	changed, err := stepsOf(list)
	if err == nil {
		err = checkDependencies(changed)
	}
	if err == nil {
		err = o.checkCount(len(changed.Steps))
	}
	return changed, err
}

// change saves a plan to the memory, makes it the current plan, reports it, and returns the tool's
// answer. The caller holds mu.
func (t *Plans) change(ctx context.Context, plan *Plan, answer json.RawMessage) (json.RawMessage, error) {
	if t.o.Memory != nil {
		if err := t.o.Memory.Save(ctx, Key, jsonscan.Encode(plan)); err != nil {
			return nil, fmt.Errorf("flux: the plan can't be kept: %w", err)
		}
	}
	t.plan = plan
	progress := jsonscan.Encode(struct {
		Type string `json:"type"`
		Plan *Plan  `json:"plan"`
	}{"plan", plan})
	if t.o.OnProgress != nil {
		t.o.OnProgress(progress)
	}
	if t.told != nil {
		t.told(plan, progress)
	}
	return answer, nil
}

// find returns a copy of the plan and its step with the given name, or the answer that there is
// none.
func (t *Plans) find(name string) (*Plan, *Step, json.RawMessage) {
	if t.plan == nil {
		return nil, nil, object("error", "No plan exists. Call create_plan first.")
	}
	p := t.plan.clone()
	if s := p.Step(name); s != nil {
		return p, s, nil
	}
	available := ""
	for i, s := range t.plan.Steps {
		if i > 0 {
			available += ", "
		}
		available += s.Name
	}
	return nil, nil, object("error", fmt.Sprintf("Step '%s' not found. Available: %s", name, available))
}

// StartStep marks a step as in progress.
func (t *Plans) StartStep(ctx context.Context, name string) (json.RawMessage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, s, none := t.find(name)
	if s == nil {
		return none, nil
	}
	switch s.status() {
	case InProgress:
		return jsonscan.Encode(s), nil
	case Completed, Failed:
		return object("error", fmt.Sprintf("Step '%s' is already %s.", name, s.Status)), nil
	}
	if active := p.Active(); active != nil {
		return object("error", fmt.Sprintf(`Step "%s" is already in progress. Complete or fail it before starting another.`, active.Name)), nil
	}
	satisfied := p.Satisfied(s)
	unsatisfied := fmt.Sprintf("Step '%s' has unsatisfied dependencies: %s. ", name, python.List(p.unsatisfied(s)))
	if !satisfied && t.o.StrictDependencies {
		return object("error", unsatisfied+"Complete them first."), nil
	}
	s.Status = InProgress
	answer := jsonscan.Encode(s)
	if !satisfied {
		answer = with(answer, "warning", unsatisfied+"Proceeding anyway.")
	}
	return t.change(ctx, p, answer)
}

// MarkStepDone marks a step as completed. It doesn't replace an existing result.
func (t *Plans) MarkStepDone(ctx context.Context, name string, result json.RawMessage) (json.RawMessage, error) {
	if result != nil && !json.Valid(result) {
		return nil, invalid("the result of step '%s' is not JSON.", name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p, s, none := t.find(name)
	switch {
	case s == nil:
		return none, nil
	case s.Status == Completed:
		return jsonscan.Encode(s), nil
	case s.Status == Failed:
		return object("error", fmt.Sprintf("Step '%s' is failed. Replan to retry.", name)), nil
	}
	s.Status = Completed
	if s.Result = bytes.TrimSpace(slices.Clone(result)); len(s.Result) == 0 || string(s.Result) == "null" {
		s.Result = nil
	}
	answer := jsonscan.Encode(s)
	if t.o.StrictDependencies && !p.Satisfied(s) {
		answer = with(answer, "warning", fmt.Sprintf("Step '%s' has unsatisfied dependencies: %s. Proceeding anyway.", name, python.List(p.unsatisfied(s))))
	}
	return t.change(ctx, p, answer)
}

// MarkStepFailed marks a step as failed. It doesn't replace an existing reason.
func (t *Plans) MarkStepFailed(ctx context.Context, name, reason string) (json.RawMessage, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p, s, none := t.find(name)
	switch {
	case s == nil:
		return none, nil
	case s.Status == Completed:
		return object("error", fmt.Sprintf("Step '%s' is already completed.", name)), nil
	case s.Status == Failed:
		return jsonscan.Encode(s), nil
	}
	s.Status, s.Error = Failed, &reason
	return t.change(ctx, p, jsonscan.Encode(s))
}

// GetPlan returns the plan.
func (t *Plans) GetPlan() json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plan == nil {
		return noPlan()
	}
	return jsonscan.Encode(t.plan)
}

// GetReadySteps returns the steps that can be started.
func (t *Plans) GetReadySteps() json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plan == nil {
		return noPlan()
	}
	ready := []json.RawMessage{}
	for _, s := range t.plan.Ready() {
		entry := jsonscan.Encode(s)
		if results := t.plan.DependencyResults(s); len(results) > 0 {
			entry = with(entry, "dependency_results", resultsOf(results))
		}
		ready = append(ready, entry)
	}
	return object("ready_steps", ready)
}

// resultsOf returns an object of results by step name, in order.
func resultsOf(results []DependencyResult) json.RawMessage {
	var o loop.Object
	for _, r := range results {
		o.Set(r.Name, r.Value)
	}
	return o.JSON()
}

func noPlan() json.RawMessage { return object("message", "No plan exists.") }

// object returns an object with one member.
func object(name string, value any) json.RawMessage {
	return jsonscan.Encode(map[string]any{name: value})
}

// Summary returns the reminder for the model, or "" if there is no plan.
func (t *Plans) Summary() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.plan == nil {
		return ""
	}
	return t.plan.Summary()
}

// unfinished reports whether there is a plan with unfinished steps.
func (t *Plans) unfinished() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.plan != nil && t.plan.unfinished()
}
