package journal

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
)

// Fork describes a run that starts another one again (execution §5).
type Fork struct {
	Run      string // the run that is forked
	Instance string // of the call; "" if it works on none
	At       string // path of the call from which on the run is run again
	// Set holds values for paths of the whiteboard. The store keeps them; whoever runs the fork
	// applies them.
	Set map[string]json.RawMessage
	// Labels holds the labels of the new run. Nil means those of the forked run.
	Labels map[string]string
	// Drop reports whether the events of a call are left out because it depends on the call at At.
	// Nil leaves out only that call itself. See Behind.
	Drop func(instance, path string) bool
	// Check, if not nil, is called with the summary of the forked run, while no event can be added
	// to that run. If it returns an error, no run is made. It may be called several times, and must
	// not use the store.
	Check func(*Summary) error
}

// Checked calls f.Check if there is one.
func (f *Fork) Checked(s *Summary) error {
	if f.Check == nil {
		return nil
	}
	return f.Check(s)
}

// Given returns what the new run is given: the same as the forked run, with the labels of f.
func (f *Fork) Given(of *Given) *Given {
	g := *of
	g.Created = time.Time{}
	if f.Labels != nil {
		g.Labels = f.Labels
	}
	return &g
}

// Keeps reports whether the new run takes over an event of the forked run.
func (f *Fork) Keeps(e *exec.Event) bool {
	return e.Call != "" && (e.Instance != f.Instance || e.Call != f.At) && (f.Drop == nil || !f.Drop(e.Instance, e.Call))
}

// Behind returns a Fork.Drop that reports whether a call waits, directly or not, for the call
// at a path, because of its data, its order or its effects. If that call is inside a delegate,
// so do the calls that lead to it, since it is part of their results; in a loop whose items
// build on the ones before, so do the later items.
func Behind(prog *compile.Program, instance, at string) (func(instance, path string) bool, error) {
	behind, err := behind(prog, at)
	if err != nil {
		return nil, err
	}
	return func(i, path string) bool {
		return (i == instance || !prog.Template) && behind(path)
	}, nil
}

func behind(prog *compile.Program, at string) (func(path string) bool, error) {
	first, rest, nested := strings.Cut(at, "/")
	here, item := splitStep(first)
	c, ok := prog.Call(here)
	if !ok {
		return nil, fmt.Errorf("journal: the plan has no call %q", here)
	}
	after := callsAfter(prog, c)
	inner := func(string) bool { return true }
	if nested {
		if c.Rare == nil || c.Delegate == nil {
			return nil, fmt.Errorf("journal: the call %q runs no calls of its own", here)
		}
		var err error
		if inner, err = behind(c.Delegate.Program, rest); err != nil {
			return nil, err
		}
	}
	return func(path string) bool {
		first, rest, below := strings.Cut(path, "/")
		id, n := splitStep(first)
		switch {
		case id != here:
			return after[id]
		case !below || !nested:
			return true
		case n != item:
			return c.Delegate.Loop != compile.ForEach && n > item
		}
		return inner(rest)
	}, nil
}

// callsAfter returns the calls that wait for a call, directly or not.
func callsAfter(prog *compile.Program, c *compile.Call) map[string]bool {
	g := prog.Starts
	seen := make([]bool, g.Len())
	stack := []int32{int32(c.Place - 1)}
	after := map[string]bool{}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, next := range g.Succ(n) {
			if seen[next] {
				continue
			}
			seen[next] = true
			stack = append(stack, next)
			if !g.IsVirtual(next) {
				after[prog.Calls[next].ID] = true
			}
		}
	}
	return after
}

// splitStep splits a step of a call's path into the id and the item of a loop (exec.Event).
func splitStep(step string) (id string, item int) {
	id, _, _ = strings.Cut(step, "#")
	id, index, ok := strings.Cut(id, "[")
	if n, err := strconv.Atoi(strings.TrimSuffix(index, "]")); ok && err == nil {
		item = n
	}
	return exec.CallID(id), item
}
