package tea

import (
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
	"github.com/plc-lang/plc/loop"
)

// Strategy is a way to decompose a goal.
type Strategy string

// The strategies.
const (
	Flat         Strategy = "flat"         // a list of subtasks
	Hierarchical Strategy = "hierarchical" // phases with subtasks
	Iterative    Strategy = "iterative"    // the next one to three subtasks
)

func (s Strategy) known() bool { return s == Flat || s == Hierarchical || s == Iterative }

// SubtaskStatus is the status of a subtask.
type SubtaskStatus string

// The statuses.
const (
	Pending    SubtaskStatus = "pending"
	InProgress SubtaskStatus = "in_progress"
	Completed  SubtaskStatus = "completed"
	Failed     SubtaskStatus = "failed"
	Skipped    SubtaskStatus = "skipped" // it failed, and its dependents run without it
)

func (s SubtaskStatus) known() bool {
	return slices.Contains([]SubtaskStatus{Pending, InProgress, Completed, Failed, Skipped}, s)
}

// done reports whether a subtask with this status is finished and blocks no other.
func (s SubtaskStatus) done() bool { return s == Completed || s == Skipped }

// Subtask is a part of a plan. Its JSON form always has all members.
type Subtask struct {
	ID           string          `json:"id"`
	Description  string          `json:"description"`
	Dependencies []string        `json:"dependencies"`
	Status       SubtaskStatus   `json:"status"`
	Result       json.RawMessage `json:"result"` // nil means null
	Error        *string         `json:"error"`
	RetryCount   int             `json:"retry_count"`
	StartedAt    *Float          `json:"started_at"` // seconds since 1970
	CompletedAt  *Float          `json:"completed_at"`
}

// MarshalJSON returns the subtask with all members, in order.
func (s Subtask) MarshalJSON() ([]byte, error) {
	type plain Subtask
	if s.Dependencies == nil {
		s.Dependencies = []string{}
	}
	return jsonscan.Marshal(plain(s))
}

// UnmarshalJSON parses a subtask, which must have an id and a description.
func (s *Subtask) UnmarshalJSON(text []byte) error {
	f, ok := fieldsOf(text)
	if !ok {
		return message("a subtask is an object")
	}
	for _, name := range []string{"id", "description"} {
		if _, ok := f[name]; !ok {
			return messagef("a subtask has no '%s'", name)
		}
	}
	*s = Subtask{Status: Pending}
	return s.read(f)
}

// read sets the members that are given.
func (s *Subtask) read(f fields) (err error) {
	if err := s.describe(f); err != nil {
		return err
	}
	for name, into := range map[string]any{"retry_count": &s.RetryCount, "started_at": &s.StartedAt, "completed_at": &s.CompletedAt} {
		if f.has(name) && json.Unmarshal(f[name], into) != nil {
			return messagef("the %s of subtask '%s' is no number", name, s.ID)
		}
	}
	if f.has("status") {
		if s.Status = SubtaskStatus(jsonscan.Text(f["status"])); !s.Status.known() {
			return messagef("'%s' is not a valid SubtaskStatus", s.Status)
		}
	}
	if f.has("result") {
		s.Result = f["result"]
	}
	if f.has("error") {
		e := jsonscan.Text(f["error"])
		s.Error = &e
	}
	return nil
}

// describe sets ID, description and dependencies. It accepts numbers as IDs.
func (s *Subtask) describe(f fields) error {
	if f.has("id") {
		id, ok := wordOf(f["id"])
		if !ok {
			return messagef("the id of a subtask is a string, not %s", python.First(string(f["id"]), 40))
		}
		s.ID = id
	}
	if f.has("description") {
		s.Description = jsonscan.Text(f["description"])
	}
	var list []json.RawMessage
	if f.has("dependencies") && json.Unmarshal(f["dependencies"], &list) != nil {
		return messagef("the dependencies of subtask '%s' are no list", s.ID)
	}
	for _, d := range list {
		id, ok := wordOf(d)
		if !ok {
			return messagef("the dependencies of subtask '%s' are ids, not %s", s.ID, python.First(string(d), 40))
		}
		s.Dependencies = append(s.Dependencies, id)
	}
	return nil
}

// end sets the final status of a subtask.
func (s *Subtask) end(status SubtaskStatus, why string) {
	now := epoch(time.Now())
	s.Status, s.CompletedAt, s.Error = status, &now, nil
	if status != Completed {
		s.Error = &why
	}
}

// Plan is a goal and the subtasks that it was decomposed into. Its JSON form is the plan dict that
// is saved and resumed.
type Plan struct {
	ID       string     `json:"id"` // plan_ or replan_, and eight digits
	Goal     string     `json:"goal"`
	Strategy Strategy   `json:"strategy"`
	Subtasks []*Subtask `json:"subtasks"`
	// Metadata holds created_at, replan_count and max_replans, and any further members.
	Metadata Object `json:"metadata"`
}

// ParsePlan parses a plan dict. It must have id and goal; missing metadata is added. ParsePlan
// doesn't check the graph of subtasks: see Validate.
func ParsePlan(text []byte) (*Plan, error) {
	p := &Plan{}
	if err := p.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	return p, nil
}

// MarshalJSON returns the plan with all members, in order.
func (p Plan) MarshalJSON() ([]byte, error) {
	type plain Plan
	if p.Subtasks == nil {
		p.Subtasks = []*Subtask{}
	}
	return jsonscan.Marshal(plain(p))
}

// UnmarshalJSON calls ParsePlan.
func (p *Plan) UnmarshalJSON(text []byte) error {
	if err := jsonscan.Check(text, jsonscan.Limits{}); err != nil {
		return messagef("the plan is not JSON: %s", err)
	}
	f, ok := fieldsOf(text)
	if !ok {
		return message("a plan is an object")
	}
	for _, name := range []string{"id", "goal"} {
		if _, ok := f[name]; !ok {
			return messagef("the plan has no '%s'", name)
		}
	}
	*p = Plan{ID: jsonscan.Text(f["id"]), Goal: jsonscan.Text(f["goal"]), Strategy: Flat}
	if f.has("strategy") {
		if p.Strategy = Strategy(jsonscan.Text(f["strategy"])); !p.Strategy.known() {
			return messagef("'%s' is not a valid PlanningStrategy", p.Strategy)
		}
	}
	var list []json.RawMessage
	if f.has("subtasks") && json.Unmarshal(f["subtasks"], &list) != nil {
		return message("the subtasks of the plan are no list")
	}
	for _, raw := range list {
		s := &Subtask{}
		if err := s.UnmarshalJSON(raw); err != nil {
			return err
		}
		p.Subtasks = append(p.Subtasks, s)
	}
	if f.has("metadata") {
		if err := p.Metadata.UnmarshalJSON(f["metadata"]); err != nil {
			return messagef("the metadata of the plan: %s", err)
		}
	}
	p.complete()
	return nil
}

// complete adds missing metadata.
func (p *Plan) complete() {
	for _, m := range loop.ObjectOf("created_at", epoch(time.Now()), "replan_count", 0, "max_replans", DefaultMetadataReplans) {
		if p.Metadata.Get(m.Name) == nil {
			p.Metadata = append(p.Metadata, m)
		}
	}
}

// count returns a number in the metadata, or 0.
func (p *Plan) count(name string) int {
	var n float64
	_ = json.Unmarshal(p.Metadata.Get(name), &n)
	return int(max(0, min(n, math.MaxInt32)))
}

// Clone returns a copy that shares no mutable data.
func (p *Plan) Clone() *Plan {
	q := *p
	q.Metadata = slices.Clone(p.Metadata)
	q.Subtasks = make([]*Subtask, len(p.Subtasks))
	for i, s := range p.Subtasks {
		t := *s
		q.Subtasks[i] = &t
	}
	return &q
}

// Subtask returns the subtask with the given ID, or nil.
func (p *Plan) Subtask(id string) *Subtask {
	for _, s := range p.Subtasks {
		if s.ID == id {
			return s
		}
	}
	return nil
}

// Ready returns the pending subtasks whose dependencies are all completed or skipped, in the
// order of the plan.
func (p *Plan) Ready() []*Subtask {
	done := make(map[string]bool, len(p.Subtasks))
	for _, s := range p.Subtasks {
		if s.Status.done() {
			done[s.ID] = true
		}
	}
	var ready []*Subtask
	for _, s := range p.Subtasks {
		if s.Status == Pending && !slices.ContainsFunc(s.Dependencies, func(d string) bool { return !done[d] }) {
			ready = append(ready, s)
		}
	}
	return ready
}

// Counts is the number of subtasks in each status.
type Counts struct {
	Total      int `json:"total"`
	Pending    int `json:"pending"`
	InProgress int `json:"in_progress"`
	Completed  int `json:"completed"`
	Failed     int `json:"failed"`
	Skipped    int `json:"skipped"`
}

// Counts counts the subtasks.
func (p *Plan) Counts() Counts {
	c := Counts{Total: len(p.Subtasks)}
	for _, s := range p.Subtasks {
		switch s.Status {
		case Pending:
			c.Pending++
		case InProgress:
			c.InProgress++
		case Completed:
			c.Completed++
		case Failed:
			c.Failed++
		case Skipped:
			c.Skipped++
		}
	}
	return c
}

// Progress returns the share of subtasks that are completed or skipped. It is 1 for an empty plan.
func (c Counts) Progress() Float {
	if c.Total == 0 {
		return 1
	}
	return Float(c.Completed+c.Skipped) / Float(c.Total)
}
