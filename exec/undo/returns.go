package undo

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/dag"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// A Point is a point of no return: a call whose effect can't be undone, with the calls that may
// still fail after it has done its work.
type Point struct {
	Program *compile.Program // the plan, or a document that it delegates to
	Call    *compile.Call
	Inside  *compile.Call   // the call in the document of Call that has the effect; nil if it is Call itself
	Fails   []*compile.Call // in plan order
	// Cure holds calls of Fails that Call could wait for, so that they can't fail after it. None of
	// them waits for another. It is empty if Call can't come later, or would have to wait for very
	// many calls.
	Cure []*compile.Call
}

// Bounds of a search, which is linear in the size of a program for each call that it looks at.
const (
	maxPoints = 100     // points that are found
	maxLooked = 1_000   // calls of a program, with effects that can't be undone, that are looked at
	maxEdges  = 1 << 20 // edges of a program for which a cure is sought
	maxCure   = 100     // calls that one call waits for
)

// Takes reports whether a call of a program, or of its documents, has an undo.
func Takes(prog *compile.Program) bool {
	for p := range programs(prog) {
		for i := range p.Calls {
			c := &p.Calls[i]
			if c.Target != nil && takes(c.Target, c.OwnUndo()) || c.Rare != nil && c.Fallback != nil && takes(c.Fallback.Target, c.Fallback.Undo) {
				return true
			}
		}
	}
	return false
}

// Asked reports whether a call of a program, or of its documents, has the strategy Undo.
func Asked(prog *compile.Program) bool {
	for p := range programs(prog) {
		for i := range p.Calls {
			if c := &p.Calls[i]; c.Rare != nil && c.OnFailure == exec.Undo.String() {
				return true
			}
		}
	}
	return false
}

// Undoes reports whether a run with this strategy is undone when the call fails. If the call runs a
// document, that is only possible.
func Undoes(c *compile.Call, runs exec.Strategy) bool {
	if runs == exec.Undo || c.Delegates() && Asked(c.Delegate.Program) {
		return true
	}
	return c.Rare != nil && c.OnFailure == exec.Undo.String()
}

// By returns the undo for calls of a target. own is the plan's _undo for them; nil if there is
// none. If nothing undoes them, why gives the reason.
func By(t *compile.Target, own *tool.Undo) (u *tool.Undo, why string) {
	switch {
	case own != nil && own.Tool != "":
		return own, ""
	case own != nil:
		return nil, planForbids
	case t.Undo == nil:
		return nil, noUndo
	}
	return t.Undo, ""
}

func takes(t *compile.Target, own *tool.Undo) bool {
	u, _ := By(t, own)
	return u != nil
}

// NoReturn yields the points of no return of a program and of the documents that it delegates to,
// in a run with this strategy. Only declared effects count. It looks at the first 1,000 of them in
// each program, and yields at most 100 points.
func NoReturn(prog *compile.Program, runs exec.Strategy) iter.Seq[*Point] {
	return func(yield func(*Point) bool) {
		found, known := 0, standing{}
		for p := range programs(prog) {
			s := newSearch(p, runs, known)
			for _, n := range s.stand[:min(len(s.stand), maxLooked)] {
				point := s.point(n)
				if point == nil {
					continue
				}
				if found++; found > maxPoints || !yield(point) {
					return
				}
			}
		}
	}
}

// newSearch returns a search in a program. If no call may fail, there is nothing to find.
func newSearch(p *compile.Program, runs exec.Strategy, known standing) *search {
	s := &search{prog: p, known: known, stands: make([]bool, len(p.Calls)), fails: make([]bool, len(p.Calls))}
	any := false
	for i := range p.Calls {
		c := &p.Calls[i]
		s.fails[i] = MayEnd(c, runs)
		any = any || s.fails[i]
		if known.find(c) != nil {
			s.stands[i] = true
			s.stand = append(s.stand, int32(i))
		}
	}
	if !any {
		s.stand = nil
	}
	return s
}

// standing holds, for each document that was searched, the first call whose effect can't be undone,
// or nil.
type standing map[*compile.Program]*compile.Call

// find returns the call whose effect can't be undone: the given one, or one in the documents that
// it runs. It returns nil if there is none.
func (s standing) find(c *compile.Call) *compile.Call {
	switch {
	case c.Target == nil || c.Rare != nil && (c.Result != nil || c.Choose != nil):
		return nil
	case c.Delegates():
		inner := c.Delegate.Program
		if found, known := s[inner]; known {
			return found
		}
		s[inner] = nil // it may lead to itself
		for i := range inner.Calls {
			if found := s.find(&inner.Calls[i]); found != nil {
				s[inner] = found
				return found
			}
		}
		return nil
	case c.Target.Effects.ChangesWorld() && !takes(c.Target, c.OwnUndo()):
		return c
	case c.Rare != nil && c.Fallback != nil && c.Fallback.Target.Effects.ChangesWorld() && !takes(c.Fallback.Target, c.Fallback.Undo):
		return c
	}
	return nil
}

// MayEnd reports whether a failure of a call may end a run badly, if the run has this strategy.
func MayEnd(c *compile.Call, runs exec.Strategy) bool {
	if c.Rare != nil {
		if c.Result != nil {
			return false
		}
		if own, ok := exec.ParseStrategy(c.OnFailure); ok {
			runs = own
		}
	}
	return runs != exec.Skip && !c.HandlesFailure()
}

// search finds the points of no return of one program.
type search struct {
	prog   *compile.Program
	known  standing
	stand  []int32   // calls with effects that can't be undone
	stands []bool    // the same, by call
	fails  []bool    // calls whose failure ends a run
	needs  [][]int32 // for each call, those that it waits for because of its data or _dependsOn; nil until it is needed
}

// point returns the point of no return for call n; nil if nothing may fail after it.
func (s *search) point(n int32) *Point {
	before := dag.Reachable(s.prog.Starts.Len(), n, s.prog.Starts.Pred)
	point := &Point{Program: s.prog, Call: &s.prog.Calls[n]}
	if in := s.known.find(point.Call); in != point.Call {
		point.Inside = in
	}
	later := make([]bool, len(s.prog.Calls))
	for i := range s.prog.Calls {
		if int32(i) != n && !before[i] && s.fails[i] {
			point.Fails = append(point.Fails, &s.prog.Calls[i])
			later[i] = true
		}
	}
	if point.Fails == nil {
		return nil
	}
	for _, i := range s.cure(n, later) {
		point.Cure = append(point.Cure, &s.prog.Calls[i])
	}
	return point
}

// cure returns the calls that n could wait for. They need nothing of n, and nothing of another call
// whose effect can't be undone, unless n needs that as well. So all cures of a plan can be applied
// together without a cycle, and the effects that n has stay in plan order.
func (s *search) cure(n int32, later []bool) (cure []int32) {
	if !s.findNeeds() {
		return nil
	}
	own := dag.Reachable(len(s.needs), n, func(i int32) []int32 { return s.needs[i] })
	behind := make([]bool, len(s.needs)) // it needs the effect of a call that n does not need
	for i, needs := range s.needs {      // what a call needs is before it in plan order
		for _, j := range needs {
			behind[i] = behind[i] || behind[j] || s.stands[j] && !own[j]
		}
	}
	inner := make([]bool, len(s.needs)) // needed by a call in the cure
	for i, needs := range slices.Backward(s.needs) {
		fits := later[i] && !s.stands[i] && !behind[i]
		if fits && !inner[i] {
			cure = append(cure, int32(i))
		}
		for _, j := range needs {
			inner[j] = inner[j] || fits || inner[i]
		}
	}
	if len(cure) > maxCure {
		return nil
	}
	slices.Reverse(cure)
	return cure
}

// findNeeds finds which calls each call needs. It returns false if the plan is too large.
func (s *search) findNeeds() bool {
	if s.needs != nil {
		return true
	}
	needs, edges := make([][]int32, len(s.prog.Calls)), 0
	for e := range s.prog.Edges() {
		if edges++; edges > maxEdges {
			return false
		}
		if e.Kind != compile.Effect {
			to := e.To.Place - 1
			needs[to] = append(needs[to], int32(e.From.Place-1))
		}
	}
	s.needs = needs
	return true
}

// maxNamed bounds the calls that a finding names.
const maxNamed = 5

// Finding returns the point as a finding, with the order that cures it as its fix.
func (p *Point) Finding() diag.Finding {
	src := p.Call.Source
	what := fmt.Sprintf("%q can't be undone", p.Call.ID)
	if p.Inside != nil {
		what = fmt.Sprintf("%q in %q can't be undone", p.Inside.ID, p.Call.ID)
	}
	f := diag.Finding{
		Code: diag.NoReturn, Severity: diag.Info, Loc: src.ToolNode.Loc(), Call: p.Call.ID, Pointer: src.ToolNode.Pointer(),
		Message: fmt.Sprintf("%s, and %s may fail after it", what, names(p.Fails, "or")),
	}
	if len(p.Cure) == 0 {
		return f
	}
	ids := make([]string, len(p.Cure))
	for i, c := range p.Cure {
		ids[i] = jsonscan.Quote(c.ID)
	}
	f.Message += fmt.Sprintf("; make it wait for %s", names(p.Cure, "and"))
	if p.Call.Source.Node.IsZero() {
		return f
	}
	f.Fix = &diag.Fix{Message: fmt.Sprintf("make it wait for %s", names(p.Cure, "and"))}
	list := strings.Join(ids, ", ")
	at := src.ToolNode.Span().End
	edit := diag.Edit{Span: diag.Span{Start: at, End: at}, Text: `, "_dependsOn": [` + list + `]`}
	if m, ok := src.Node.Member("_dependsOn"); ok {
		end := m.Value.Span().Start + 1
		edit = diag.Edit{Span: diag.Span{Start: end, End: end}, Text: list}
		if m.Value.Len() > 0 {
			edit.Text += ", "
		}
	}
	f.Fix.Edits = []diag.Edit{edit}
	return f
}

// names lists the ids of calls in words, with last before the last one.
func names(calls []*compile.Call, last string) string {
	var b strings.Builder
	shown := len(calls)
	if shown > maxNamed+1 {
		shown = maxNamed
	}
	for i, c := range calls[:shown] {
		switch {
		case i == 0:
		case i == len(calls)-1:
			b.WriteString(" " + last + " ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(jsonscan.Quote(c.ID))
	}
	if more := len(calls) - shown; more > 0 {
		fmt.Fprintf(&b, " %s %d others", last, more)
	}
	return b.String()
}
