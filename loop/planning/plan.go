package planning

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Plan is the planner's answer before anything is done: the steps, and the criteria of success. Its
// JSON is that of the pattern.
type Plan struct {
	Goal                 string     `json:"goal"`
	Steps                []PlanStep `json:"steps"`
	SuccessCriteria      string     `json:"success_criteria"`
	CreatedAt            time.Time  `json:"created_at"`             // zero, null: it does not say
	EstimatedTotalTokens *int64     `json:"estimated_total_tokens"` // nil: the sum of the steps
}

// PlanStep is a step of a plan.
type PlanStep struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Action      string `json:"action"` // a tool; "" for a step that has, or is to get, a plan of its own
	// Parameters are an object, in which "{{step.path}}" is the result of another step, or what
	// is below it; nil is {}.
	Parameters      json.RawMessage `json:"parameters"`
	Dependencies    []string        `json:"dependencies"` // nil says nothing, which Options.RequireDependencies forbids
	ExpectedOutput  string          `json:"expected_output"`
	FallbackAction  *string         `json:"fallback_action"` // a tool with the same parameters; nil is none
	EstimatedTokens *int64          `json:"estimated_tokens"`
	SubPlan         *Plan           `json:"sub_plan,omitempty"` // its steps are called in place of Action
	// Condition is "{{step.path}}", the result of another step or what is below it: the step is
	// skipped unless that is there and neither null nor false. "" is always.
	Condition string `json:"condition,omitempty"`
}

// MarshalJSON returns the plan with all of its members, null where there is nothing.
func (p Plan) MarshalJSON() ([]byte, error) {
	w := struct {
		Goal                 string     `json:"goal"`
		Steps                []PlanStep `json:"steps"`
		SuccessCriteria      string     `json:"success_criteria"`
		CreatedAt            *time.Time `json:"created_at"`
		EstimatedTotalTokens *int64     `json:"estimated_total_tokens"`
	}{p.Goal, append([]PlanStep{}, p.Steps...), p.SuccessCriteria, &p.CreatedAt, p.EstimatedTotalTokens}
	if p.CreatedAt.IsZero() {
		w.CreatedAt = nil
	}
	return jsonscan.Marshal(w)
}

// timeless returns a plan as JSON without its times: what a planner is asked is the same each
// time.
func (p *Plan) timeless() json.RawMessage {
	c := p.Clone()
	c.CreatedAt = time.Time{}
	for s := range c.all() {
		if s.SubPlan != nil {
			s.SubPlan.CreatedAt = time.Time{}
		}
	}
	return jsonscan.Encode(c)
}

// MarshalJSON returns the step with all of its members, null where there is nothing.
func (s PlanStep) MarshalJSON() ([]byte, error) {
	type plain PlanStep
	if s.Parameters == nil {
		s.Parameters = json.RawMessage("{}")
	}
	return jsonscan.Marshal(plain(s))
}

// Clone returns a deep copy.
func (p *Plan) Clone() *Plan {
	if p == nil {
		return nil
	}
	c := *p
	c.Steps = slices.Clone(p.Steps)
	for i := range c.Steps {
		s := &c.Steps[i]
		s.Parameters, s.Dependencies = slices.Clone(s.Parameters), slices.Clone(s.Dependencies)
		s.SubPlan = s.SubPlan.Clone()
	}
	return &c
}

// Step returns the step with this id, in the plan or a plan of one of its steps; nil if there
// is none.
func (p *Plan) Step(id string) *PlanStep {
	for s := range p.all() {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// byID returns the steps of the plan and of the plans of its steps.
func (p *Plan) byID() map[string]*PlanStep {
	m := map[string]*PlanStep{}
	for s := range p.all() {
		m[s.ID] = s
	}
	return m
}

// all yields the steps, each before those of its own plan.
func (p *Plan) all() func(yield func(*PlanStep) bool) {
	return func(yield func(*PlanStep) bool) { p.walk(yield) }
}

func (p *Plan) walk(yield func(*PlanStep) bool) bool {
	if p == nil {
		return true
	}
	for i := range p.Steps {
		if !yield(&p.Steps[i]) || !p.Steps[i].SubPlan.walk(yield) {
			return false
		}
	}
	return true
}

// tokens returns what the plan is estimated to use: its total, else the sum of its steps.
func (p *Plan) tokens() (n int64) {
	if p.EstimatedTotalTokens != nil {
		return *p.EstimatedTotalTokens
	}
	for i := range p.Steps {
		n += p.Steps[i].tokens()
	}
	return n
}

func (s *PlanStep) tokens() int64 {
	switch {
	case s.EstimatedTokens != nil:
		return *s.EstimatedTokens
	case s.SubPlan != nil:
		return s.SubPlan.tokens()
	}
	return 0
}

// WithStep returns a copy of the plan in which this step stands for that with its id; the error
// says that there is none.
func (p *Plan) WithStep(step PlanStep) (*Plan, error) {
	c := p.Clone()
	s := c.Step(step.ID)
	if s == nil {
		return nil, fmt.Errorf("planning: the plan has no step %q", step.ID)
	}
	*s = step
	return c, nil
}

// WithDependencies returns a copy of the plan in which the step with this id waits for these.
func (p *Plan) WithDependencies(id string, dependencies ...string) (*Plan, error) {
	s := p.Step(id)
	if s == nil {
		return nil, fmt.Errorf("planning: the plan has no step %q", id)
	}
	changed := *s
	changed.Dependencies = append([]string{}, dependencies...)
	return p.WithStep(changed)
}

// WithOrder returns a copy of the plan with its steps in this order, in which each is named
// once.
func (p *Plan) WithOrder(ids ...string) (*Plan, error) {
	left := map[string]PlanStep{}
	c := p.Clone()
	for _, s := range c.Steps {
		left[s.ID] = s
	}
	c.Steps = c.Steps[:0]
	for _, id := range ids {
		s, ok := left[id]
		if !ok {
			return nil, fmt.Errorf("planning: the order names %q, which is no step of the plan or stands in it twice", id)
		}
		delete(left, id)
		c.Steps = append(c.Steps, s)
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("planning: the order leaves out %q", slices.Sorted(maps.Keys(left)))
	}
	return c, nil
}
