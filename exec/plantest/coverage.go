package plantest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
)

// Coverage counts what runs of one program have reached of all that may happen in it. It must not
// be used by several goroutines at once.
type Coverage struct {
	Points []*Point
	byKey  map[pointKey]*Point
}

// Point is something that may happen in a program.
type Point struct {
	Call string // its path, without the items of loops
	What string // "completed", "outcome †state.paid", "_when false", "fallback", …
	Runs int    // in which it happened
	Loc  diag.Loc
}

type pointKey struct{ call, what string }

// What may happen to any call.
const (
	completes  = "completed"
	whenTrue   = "_when true"
	whenFalse  = "_when false"
	retries    = "a retry"
	fallsBack  = "fallback"
	handles    = "a failure is handled"
	unhandled  = "_onFailure"
	noItems    = "no items"
	manyItems  = "several items"
	fewRounds  = "ends before its last round"
	allRounds  = "all its rounds"
	outcomeIs  = "outcome "
	mostPoints = 100_000
)

// NewCoverage lists what may happen in a program, and in the documents that it delegates to.
func NewCoverage(prog *compile.Program) *Coverage {
	c := &Coverage{byKey: map[pointKey]*Point{}}
	c.program(prog, "")
	return c
}

func (c *Coverage) program(prog *compile.Program, prefix string) {
	for i := range prog.Calls {
		p := &prog.Calls[i]
		path := prefix + exec.PathOf(p.ID)
		if len(c.Points) > mostPoints { // documents that delegate to each other may be very many
			return
		}
		add := func(what string) {
			point := &Point{Call: path, What: what, Loc: prog.Loc(p.Source.Node.Span())}
			c.Points = append(c.Points, point)
			c.byKey[pointKey{path, what}] = point
		}
		if p.When != nil {
			add(whenTrue)
			add(whenFalse)
		}
		if len(p.Alternatives) < 2 {
			add(completes)
		} else {
			for k := range p.Alternatives {
				add(outcomeIs + p.Alternatives[k].Name())
			}
		}
		if p.ErrorPath != nil {
			add(handles)
		}
		if p.Rare == nil {
			continue
		}
		if p.Retry != nil {
			add(retries)
		}
		if p.Fallback != nil {
			add(fallsBack)
		}
		if p.OnFailure != "" && p.ErrorPath == nil {
			add(unhandled)
		}
		if d := p.Delegate; d != nil {
			switch d.Loop {
			case compile.ForEach, compile.Reduce:
				add(noItems)
				add(manyItems)
			case compile.Repeat:
				if d.Until != nil {
					add(fewRounds)
				}
				add(allRounds)
			}
			if d.Program != nil {
				c.program(d.Program, path+"/")
			}
		}
	}
}

// Add counts what a run has reached.
func (c *Coverage) Add(out *Outcome) {
	seen := map[pointKey]bool{}
	reach := func(call, what string) { seen[pointKey{call, what}] = true }
	for path, r := range out.All() {
		stem := withoutItems(path)
		switch {
		case r.Status == exec.Skipped && out.unwanted[path]:
			reach(stem, whenFalse)
		case r.Status == exec.Completed || r.Status == exec.Failed:
			reach(stem, whenTrue)
		}
		switch {
		case r.Outcome != "":
			reach(stem, outcomeIs+r.Outcome)
		}
		switch {
		case r.Status == exec.Completed:
			reach(stem, completes)
		case r.Handled:
			reach(stem, handles)
		case r.Status == exec.Failed, r.Status == exec.Skipped && r.Error != nil:
			reach(stem, unhandled)
		}
		c.rounds(out.prog, stem, r, reach)
	}
	for i := range out.Attempts {
		a := &out.Attempts[i]
		switch {
		case a.Fallback:
			reach(withoutItems(a.Call), fallsBack)
		case a.Number > 1:
			reach(withoutItems(a.Call), retries)
		}
	}
	for key := range seen {
		if p := c.byKey[key]; p != nil {
			p.Runs++
		}
	}
}

// rounds notes how many items or rounds a loop had: none or several, fewer than allowed or all.
func (c *Coverage) rounds(prog *compile.Program, stem string, r *exec.CallResult, reach func(call, what string)) {
	d := c.delegate(prog, stem)
	if d == nil || d.Loop == compile.Once {
		return
	}
	n := len(r.Runs) + r.MoreRuns
	switch {
	case d.Loop == compile.Repeat && r.Status == exec.Completed && n < d.Most:
		reach(stem, fewRounds)
	case d.Loop == compile.Repeat && n >= d.Most:
		reach(stem, allRounds)
	case n == 0 && r.Status == exec.Completed:
		reach(stem, noItems)
	case n > 1:
		reach(stem, manyItems)
	}
}

// delegate returns the document that the call at a path runs.
func (c *Coverage) delegate(prog *compile.Program, stem string) (d *compile.Delegate) {
	for name := range strings.SplitSeq(stem, "/") {
		if d = delegateOf(prog, exec.CallID(name)); d == nil {
			return nil
		}
		prog = d.Program
	}
	return d
}

// Merge adds the counts of another coverage of the same program.
func (c *Coverage) Merge(other *Coverage) {
	for _, p := range other.Points {
		if own := c.byKey[pointKey{p.Call, p.What}]; own != nil {
			own.Runs += p.Runs
		}
	}
}

// Missed returns the points that no run has reached.
func (c *Coverage) Missed() []*Point {
	return slices.DeleteFunc(slices.Clone(c.Points), func(p *Point) bool { return p.Runs > 0 })
}

// String returns how many of the points were reached.
func (c *Coverage) String() string {
	return fmt.Sprintf("%d of %d", len(c.Points)-len(c.Missed()), len(c.Points))
}
