package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
)

// Fork says from where on another run is done again (execution §5).
type Fork struct {
	Run      string // the other run
	Instance string // of the call; "" when it works on none
	At       string // the path of the call
	// Set are values for paths of the whiteboard. They are kept: who runs the fork
	// applies them.
	Set map[string]json.RawMessage
	// Drop reports whether what a call did is left out, besides the call itself: because
	// it depends on it. Nil leaves out the call only. See Behind.
	Drop func(instance, path string) bool
}

// Fork makes a run of this id and holds it: it was given the same as another and knows what that one's
// calls did, but for the call from which on it is done again, and those that depend on it.
// Their events are copied as they are, with the id of the run in which they happened.
func (s *Store) Fork(run string, f *Fork) (*Run, error) {
	given, err := s.Given(f.Run)
	if err != nil {
		return nil, err
	}
	given.Created = time.Time{}
	var r *Run
	var held *lock
	err = s.write(context.Background(), func(tx *tx) error {
		from, err := s.find(tx.ctx, tx.conn, f.Run)
		if err != nil {
			return err
		}
		r, held, err = s.makeFork(tx, run, given, f)
		if err != nil {
			return err
		}
		return tx.copyEvents(r, from, f)
	})
	if err != nil {
		held.drop()
		return nil, err
	}
	return s.enlist(r)
}

// makeFork makes the row of a fork and what it was given, and holds it.
func (s *Store) makeFork(tx *tx, run string, g *Given, f *Fork) (*Run, *lock, error) {
	id, err := insertRun(tx, run, g, &Forked{Run: f.Run, Instance: f.Instance, At: f.At, Set: f.Set})
	if err != nil {
		return nil, nil, err
	}
	if err := insertTexts(tx, id, g.texts()); err != nil {
		return nil, nil, err
	}
	held, err := s.hold(tx, id)
	if err != nil {
		return nil, nil, err
	}
	return s.newRun(id, run, held), held, nil
}

// copyEvents copies what the calls did that a fork does not do again.
func (t *tx) copyEvents(r *Run, from int64, f *Fork) error {
	p := newPart(r)
	for next := int64(0); ; {
		page, err := readPage(t.ctx, t.conn, from, next)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for _, entry := range page {
			next = entry.Seq + 1
			if err := p.copy(entry, f); err != nil {
				return err
			}
		}
		if err := p.write(t); err != nil {
			return err
		}
		p.lines, p.rows, p.questions = nil, nil, nil
	}
	r.tally.status = exec.Pending
	clear(r.tally.lengths) // the other run's
	r.appended, r.committed, r.asking = p.last, p.last, p.open
	return nil
}

// copy takes an event of the run that is forked into the part.
func (p *part) copy(entry *Entry, f *Fork) error {
	e, err := entry.Event()
	if err != nil {
		return err
	}
	if e.Call == "" || e.Instance == f.Instance && e.Call == f.At || f.Drop != nil && f.Drop(e.Instance, e.Call) {
		return nil
	}
	before := len(p.lines)
	p.lines.addText(entry.Body)
	p.addRow(e, p.last+1, before)
	p.summary = p.run.tally.summary()
	return nil
}

// Behind is a Fork.Drop: whether a call waits, directly or not, for the one at a path, for its
// data, its order or its effects. Of a delegate, the calls that lead to the one at the
// path are behind it as well, since their results have come of it, and of a
// loop in which an item builds on those before it, the later items.
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

// callsAfter are the calls that wait for a call, directly or not.
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

// splitStep takes a step of a call's path apart: the id, and the item of a loop (exec.Event).
func splitStep(step string) (id string, item int) {
	id, _, _ = strings.Cut(step, "#")
	id, index, ok := strings.Cut(id, "[")
	if n, err := strconv.Atoi(strings.TrimSuffix(index, "]")); ok && err == nil {
		item = n
	}
	return strings.NewReplacer("~0", "~", "~1", "/", "~2", "[", "~3", "#").Replace(id), item
}
