package tea

import (
	"container/heap"
	"slices"
	"strings"
)

// Validate checks that ids are there once, that all dependencies are there, and that they form no
// cycle. An empty plan is valid. The error is in the words of the system.
func (p *Plan) Validate() error {
	at := make(map[string]int, len(p.Subtasks))
	for i, s := range p.Subtasks {
		if _, twice := at[s.ID]; twice {
			return messagef("Duplicate subtask id '%s'", s.ID)
		}
		at[s.ID] = i
	}
	dependents := make([][]int, len(p.Subtasks))
	for i, s := range p.Subtasks {
		for _, d := range s.Dependencies {
			on, ok := at[d]
			if !ok {
				return messagef("Subtask '%s' depends on unknown subtask '%s'", s.ID, d)
			}
			dependents[on] = append(dependents[on], i)
		}
	}
	c := &cycle{dependents: dependents, color: make([]byte, len(p.Subtasks))}
	for i := range p.Subtasks {
		if found := c.from(i); found != nil {
			names := make([]string, len(found))
			for k, n := range found {
				names[k] = p.Subtasks[n].ID
			}
			return messagef("Cycle detected: %s", strings.Join(names, " -> "))
		}
	}
	return nil
}

// cycle looks for a cycle, depth first, from what is needed to what needs it.
type cycle struct {
	dependents [][]int
	color      []byte // 1 is on the path, 2 is done
}

// from returns the first cycle that is met on the way from a subtask, which ends where it
// begins; nil is none. It keeps its own stack, since plans may be as deep as they are long.
func (c *cycle) from(start int) []int {
	if c.color[start] != 0 {
		return nil
	}
	path, next := []int{start}, []int{0} // next is the place among the dependents of each of the path
	c.color[start] = 1
	for len(path) > 0 {
		top := len(path) - 1
		n := path[top]
		if next[top] == len(c.dependents[n]) {
			c.color[n] = 2
			path, next = path[:top], next[:top]
			continue
		}
		to := c.dependents[n][next[top]]
		next[top]++
		switch c.color[to] {
		case 0:
			c.color[to] = 1
			path, next = append(path, to), append(next, 0)
		case 1:
			return append(path[slices.Index(path, to):], to)
		}
	}
	return nil
}

// Order returns the ids of the subtasks in the order of a sequential execution: each after its
// dependencies, and otherwise by the alphabet.
func (p *Plan) Order() ([]string, error) {
	if err := p.Validate(); err != nil {
		return nil, messagef("Cannot compute topological order: %s", err)
	}
	needs := make(map[string]int, len(p.Subtasks))
	dependents := make(map[string][]string, len(p.Subtasks))
	ready := &alphabet{}
	for _, s := range p.Subtasks {
		needs[s.ID] = len(s.Dependencies)
		for _, d := range s.Dependencies {
			dependents[d] = append(dependents[d], s.ID)
		}
		if len(s.Dependencies) == 0 {
			heap.Push(ready, s.ID)
		}
	}
	order := make([]string, 0, len(p.Subtasks))
	for ready.Len() > 0 {
		id := heap.Pop(ready).(string)
		order = append(order, id)
		for _, d := range dependents[id] {
			if needs[d]--; needs[d] == 0 {
				heap.Push(ready, d)
			}
		}
	}
	return order, nil
}

// alphabet is a heap of names.
type alphabet struct{ names []string }

func (a *alphabet) Len() int           { return len(a.names) }
func (a *alphabet) Less(i, j int) bool { return a.names[i] < a.names[j] }
func (a *alphabet) Swap(i, j int)      { a.names[i], a.names[j] = a.names[j], a.names[i] }
func (a *alphabet) Push(name any)      { a.names = append(a.names, name.(string)) }
func (a *alphabet) Pop() any {
	last := len(a.names) - 1
	name := a.names[last]
	a.names = a.names[:last]
	return name
}
