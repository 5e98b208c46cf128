package planning

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Plan is a plan as the planner writes it: the steps and the criteria of success. It has the
// pattern's JSON form.
type Plan struct {
	Goal                 string     `json:"goal"`
	Steps                []PlanStep `json:"steps"`
	SuccessCriteria      string     `json:"success_criteria"`
	CreatedAt            time.Time  `json:"created_at"`             // zero or null if unknown
	EstimatedTotalTokens *int64     `json:"estimated_total_tokens"` // nil means the sum of the steps
}

// PlanStep is a step of a plan.
type PlanStep struct {
	ID          string `json:"id"`
	Description string `json:"description"`
	Action      string `json:"action"` // a tool; "" for a step with a plan of its own, now or later
	// Parameters is an object. "{{step.path}}" in it stands for the result of another step, or for
	// a part of that result. nil means {}.
	Parameters      json.RawMessage `json:"parameters"`
	Dependencies    []string        `json:"dependencies"` // nil if not listed, which Options.RequireDependencies forbids
	ExpectedOutput  string          `json:"expected_output"`
	FallbackAction  *string         `json:"fallback_action"` // a tool with the same parameters, or nil
	EstimatedTokens *int64          `json:"estimated_tokens"`
	SubPlan         *Plan           `json:"sub_plan,omitempty"` // its steps run instead of Action
	// Condition is "{{step.path}}", the result of another step or a part of it. The step is skipped
	// if that value is missing, null or false. "" means no condition.
	Condition string `json:"condition,omitempty"`
}

// MarshalJSON returns the plan with all of its members, null if empty.
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

// timeless returns a plan as JSON without its times, so that requests to a planner are the same
// each time.
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

// MarshalJSON returns the step with all of its members, null if empty.
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

// Step returns the step with the given ID, in the plan or in a plan of one of its steps, or nil.
func (p *Plan) Step(id string) *PlanStep {
	for s := range p.all() {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// byID returns the steps of the plan and of its steps' plans, by ID.
func (p *Plan) byID() map[string]*PlanStep {
	m := map[string]*PlanStep{}
	for s := range p.all() {
		m[s.ID] = s
	}
	return m
}

// all yields all steps; each comes before the steps of its own plan.
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

// tokens returns the estimated usage of the plan: its total if given, or else the sum of its steps.
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

// WithStep returns a copy of the plan in which step replaces the step with the same ID. It returns
// an error if there is none.
func (p *Plan) WithStep(step PlanStep) (*Plan, error) {
	c := p.Clone()
	s := c.Step(step.ID)
	if s == nil {
		return nil, fmt.Errorf("planning: the plan has no step %q", step.ID)
	}
	*s = step
	return c, nil
}

// WithDependencies returns a copy of the plan in which the step with the given ID has these
// dependencies.
func (p *Plan) WithDependencies(id string, dependencies ...string) (*Plan, error) {
	s := p.Step(id)
	if s == nil {
		return nil, fmt.Errorf("planning: the plan has no step %q", id)
	}
	changed := *s
	changed.Dependencies = append([]string{}, dependencies...)
	return p.WithStep(changed)
}

// WithOrder returns a copy of the plan with its steps in the given order. ids must name each step
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
