package tea

import (
	"slices"
	"strings"

	"github.com/plc-lang/plc/dag"
)

// Validate checks that IDs are unique, that all dependencies exist, and that they form no cycle. An
// empty plan is valid. The errors are worded as in The Edge Agent.
func (p *Plan) Validate() error {
	at := make(map[string]int32, len(p.Subtasks))
	for i, s := range p.Subtasks {
		if _, twice := at[s.ID]; twice {
			return messagef("Duplicate subtask id '%s'", s.ID)
		}
		at[s.ID] = int32(i)
	}
	dependents := make([][]int32, len(p.Subtasks))
	for i, s := range p.Subtasks {
		for _, d := range s.Dependencies {
			on, ok := at[d]
			if !ok {
				return messagef("Subtask '%s' depends on unknown subtask '%s'", s.ID, d)
			}
			dependents[on] = append(dependents[on], int32(i))
		}
	}
	var names []string
	for _, n := range dag.Cycle(len(dependents), func(n int32) []int32 { return dependents[n] }) {
		names = append(names, p.Subtasks[n].ID)
	}
	if names != nil {
		return messagef("Cycle detected: %s", strings.Join(append(names, names[0]), " -> "))
	}
	return nil
}

// Order returns the IDs of the subtasks in the order of a sequential execution: each after its
// dependencies, and otherwise alphabetically.
func (p *Plan) Order() ([]string, error) {
	if err := p.Validate(); err != nil {
		return nil, messagef("Cannot compute topological order: %s", err)
	}
	ids := make([]string, len(p.Subtasks))
	for i, s := range p.Subtasks {
		ids[i] = s.ID
	}
	slices.Sort(ids)
	var b dag.Builder
	at := make(map[string]int32, len(ids))
	for _, id := range ids {
		at[id] = b.Node()
	}
	for _, s := range p.Subtasks {
		for _, d := range s.Dependencies {
			b.Edge(at[d], at[s.ID])
		}
	}
	g, _ := b.Build()
	order := make([]string, len(ids))
	for i, n := range g.Order() {
		order[i] = ids[n]
	}
	return order, nil
}
