package flux

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
)

// Status is the status of a step.
type Status string

// The statuses.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
)

// Step is a step of a plan: a goal in words. The zero Status means Pending.
type Step struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	DependsOn   []string        `json:"depends_on,omitempty"`
	Status      Status          `json:"status"`
	Result      json.RawMessage `json:"result,omitempty"` // nil if there is none; "" is a result
	Error       *string         `json:"error,omitempty"`
}

// MarshalJSON returns the step in the form in which the tools of Flux return it.
func (s Step) MarshalJSON() ([]byte, error) {
	type plain Step
	s.Status = s.status()
	if string(s.Result) == "null" {
		s.Result = nil
	}
	return jsonscan.Marshal(plain(s))
}

func (s *Step) status() Status { return cmp.Or(s.Status, Pending) }

// Plan is an agent's plan. Its JSON is what the tools of Flux answer.
type Plan struct {
	Steps []*Step `json:"steps"`
}

// MarshalJSON returns the plan in the form in which the tools of Flux return it.
func (p Plan) MarshalJSON() ([]byte, error) {
	type plain Plan
	p.Steps = append([]*Step{}, p.Steps...)
	return jsonscan.Marshal(plain(p))
}

// Parse parses the JSON of a plan. Like Flux when it restores a plan, it validates nothing; a step
// without a status is pending.
func Parse(text []byte) (*Plan, error) {
	m, err := membersOf(text)
	if err != nil {
		return nil, fmt.Errorf("flux: this is no plan: %w", err)
	}
	list, err := elementsOf(m["steps"])
	if err != nil {
		return nil, fmt.Errorf(`flux: this is no plan: "steps": %w`, err)
	}
	p := &Plan{Steps: []*Step{}}
	for i, raw := range list {
		s, err := parseStep(raw)
		if err != nil {
			return nil, fmt.Errorf("flux: this is no plan: step %d: %w", i+1, err)
		}
		p.Steps = append(p.Steps, s)
	}
	return p, nil
}

func parseStep(raw json.RawMessage) (*Step, error) {
	m, err := membersOf(raw)
	if err != nil {
		return nil, err
	}
	return stepOf(m)
}

// stepOf returns the step with the given members.
func stepOf(m map[string]json.RawMessage) (*Step, error) {
	s := &Step{Result: m["result"]}
	if m["name"] == nil {
		return nil, errors.New(`it has no "name"`)
	}
	if string(s.Result) == "null" {
		s.Result = nil
	}
	for _, f := range []struct {
		name string
		to   any
	}{{"name", &s.Name}, {"description", &s.Description}, {"depends_on", &s.DependsOn}, {"status", &s.Status}, {"error", &s.Error}} {
		if v := m[f.name]; v != nil && json.Unmarshal(v, f.to) != nil {
			return nil, fmt.Errorf("its %q can't be %s", f.name, kindOf(v))
		}
	}
	s.Status = s.status()
	return s, nil
}

// clone returns a deep copy of the plan.
func (p *Plan) clone() *Plan {
	c := &Plan{Steps: make([]*Step, len(p.Steps))}
	for i, s := range p.Steps {
		step := *s
		c.Steps[i] = &step
	}
	return c
}

// Step returns the step with the given name, or nil.
func (p *Plan) Step(name string) *Step {
	for _, s := range p.Steps {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// With returns the steps with a status, in plan order.
func (p *Plan) With(status Status) []*Step {
	var list []*Step
	for _, s := range p.Steps {
		if s.status() == status {
			list = append(list, s)
		}
	}
	return list
}

// Active returns the first step that is in progress, or nil.
func (p *Plan) Active() *Step {
	if list := p.With(InProgress); len(list) > 0 {
		return list[0]
	}
	return nil
}

// Ready returns the pending steps whose dependencies are satisfied.
func (p *Plan) Ready() []*Step {
	return slices.DeleteFunc(p.With(Pending), func(s *Step) bool { return !p.Satisfied(s) })
}

// Satisfied reports whether all dependencies of a step exist and are completed.
func (p *Plan) Satisfied(s *Step) bool {
	return !slices.ContainsFunc(s.DependsOn, func(name string) bool {
		on := p.Step(name)
		return on == nil || on.status() != Completed
	})
}

// unsatisfied returns the dependencies of a step that exist but aren't completed.
func (p *Plan) unsatisfied(s *Step) []string {
	var list []string
	for _, name := range s.DependsOn {
		if on := p.Step(name); on != nil && on.status() != Completed {
			list = append(list, name)
		}
	}
	return list
}

// DependencyResult is the result of a step that another depends on.
type DependencyResult struct {
	Name  string
	Value json.RawMessage // nil or null if the step was completed without a result
}

// DependencyResults returns the results of the completed steps that s depends on, in the order of
// s.DependsOn.
func (p *Plan) DependencyResults(s *Step) []DependencyResult {
	var list []DependencyResult
	for _, name := range s.DependsOn {
		known := slices.ContainsFunc(list, func(d DependencyResult) bool { return d.Name == name })
		if on := p.Step(name); on != nil && on.status() == Completed && !known {
			list = append(list, DependencyResult{name, on.Result})
		}
	}
	return list
}

// Bounds of a summary.
const (
	mostReady  = 3
	mostResult = 200 // characters
)

// Summary returns the status of the plan on one line. The model gets it as a reminder.
func (p *Plan) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[Plan: %d/%d done", len(p.With(Completed)), len(p.Steps))
	if failed := p.With(Failed); len(failed) > 0 {
		names := make([]string, len(failed))
		for i, s := range failed {
			names[i] = `"` + s.Name + `"`
		}
		fmt.Fprintf(&b, ", %d failed (%s)", len(failed), strings.Join(names, ", "))
	}
	b.WriteByte('.')
	active, ready := p.Active(), p.Ready()
	if active != nil {
		fmt.Fprintf(&b, ` Active: "%s".`, active.Name)
	}
	if len(ready) > 0 {
		items := make([]string, min(len(ready), mostReady))
		for i := range items {
			items[i] = p.item(ready[i])
		}
		fmt.Fprintf(&b, " Ready: %s.", strings.Join(items, ", "))
	}
	if active == nil && len(ready) == 0 {
		b.WriteString(" No steps ready.")
	}
	b.WriteByte(']')
	return b.String()
}

// item formats a ready step for a summary.
func (p *Plan) item(s *Step) string {
	results := p.DependencyResults(s)
	if len(results) == 0 {
		return `"` + s.Name + `"`
	}
	list := make([]string, len(results))
	for i, r := range results {
		list[i] = r.Name + ": " + python.First(python.Str(r.Value), mostResult)
	}
	return fmt.Sprintf(`"%s" (from %s)`, s.Name, strings.Join(list, "; "))
}

// unfinished reports whether a step is pending or in progress.
func (p *Plan) unfinished() bool {
	return slices.ContainsFunc(p.Steps, func(s *Step) bool { return s.status() == Pending || s.status() == InProgress })
}

// with returns an object with one more member at its end.
func with(object json.RawMessage, name string, value any) json.RawMessage {
	head := bytes.TrimSuffix(object, []byte("}"))
	return append(append(append(append(slices.Clone(head), ','), jsonscan.Encode(name)...), ':'), append(jsonscan.Encode(value), '}')...)
}
