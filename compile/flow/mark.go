package flow

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/label"
)

// A mark is the worst that is known of a value: its label, its sources and the path that it took. A
// nil mark is that of a value that reveals nothing. Marks are immutable and share their parts: all
// marks of a plan form a graph whose size is linear in the plan.
type mark struct {
	*origin
	step   *step    // the last step of the value; nil for a join
	before [2]*mark // the marks that this one was made of; nil for a source
}

// origin holds what is known of a value apart from its path. Marks share it.
type origin struct {
	lab
	from set // the numbers of the sources
}

// lab is a label with its categories by number.
type lab struct {
	trust   label.Level
	secrecy label.Level
	cats    set
}

// set is a set of small numbers, immutable.
type set []uint64

func (s set) has(i int) bool { return i/64 < len(s) && s[i/64]&(1<<(i%64)) != 0 }

// with returns the set with another number.
func (s set) with(i int) set {
	if s.has(i) {
		return s
	}
	t := make(set, max(len(s), i/64+1))
	copy(t, s)
	t[i/64] |= 1 << (i % 64)
	return t
}

// within reports whether all of a set is in another one.
func (s set) within(t set) bool {
	for i, w := range s {
		if i < len(t) {
			w &^= t[i]
		}
		if w != 0 {
			return false
		}
	}
	return true
}

// union returns the union of two sets. It shares the memory of a set that contains the other.
func (s set) union(t set) set {
	switch {
	case t.within(s):
		return s
	case s.within(t):
		return t
	}
	if len(s) < len(t) {
		s, t = t, s
	}
	u := slices.Clone(s)
	for i, w := range t {
		u[i] |= w
	}
	return u
}

// all calls f with each number of the set.
func (s set) all(f func(i int)) {
	for i, w := range s {
		for ; w != 0; w &= w - 1 {
			f(64*i + bits.TrailingZeros64(w))
		}
	}
}

// worst returns the label of a value that is made of two.
func (p *Policy) worst(a, b lab) lab {
	return lab{p.said.Trust.Meet(a.trust, b.trust), p.said.Secrecy.Join(a.secrecy, b.secrecy), a.cats.union(b.cats)}
}

// noWorse reports whether a label is no worse than another one in any respect.
func (p *Policy) noWorse(a, b lab) bool {
	return p.said.Trust.AtMost(b.trust, a.trust) && p.said.Secrecy.AtMost(a.secrecy, b.secrecy) && a.cats.within(b.cats)
}

// holds reports whether an origin is at least as bad as another one and has all its sources.
func (p *Policy) holds(m, n *origin) bool {
	return m == n || p.noWorse(n.lab, m.lab) && n.from.within(m.from)
}

// join returns the mark of a value that is made of two.
func (a *analysis) join(m, n *mark) *mark {
	a.work++
	switch {
	case n == nil || m == n:
		return m
	case m == nil:
		return n
	case a.policy.holds(m.origin, n.origin):
		return m
	case a.policy.holds(n.origin, m.origin):
		return n
	}
	x := a.marks.next()
	x.origin, x.before = a.both(m.origin, n.origin), [2]*mark{m, n}
	return x
}

// both returns the origin of a value that is made of two, made once.
func (a *analysis) both(m, n *origin) *origin {
	o := a.joins[[2]*origin{m, n}]
	if o == nil {
		o = &origin{a.policy.worst(m.lab, n.lab), m.from.union(n.from)}
		a.joins[[2]*origin{m, n}] = o
	}
	return o
}

// marked returns a mark with a step that follows another mark, which may be nil.
func (a *analysis) marked(o *origin, s *step, before *mark) *mark {
	m := a.marks.next()
	m.origin, m.step, m.before[0] = o, s, before
	return m
}

// labelOf returns the label of a mark.
func (p *Policy) labelOf(m *mark) lab {
	if m == nil {
		return p.best
	}
	return m.lab
}

// same reports whether two marks have the same label and sources.
func (p *Policy) same(m, n *mark) bool {
	if m == nil || n == nil {
		return m == n
	}
	return p.holds(m.origin, n.origin) && p.holds(n.origin, m.origin)
}

// A verb is the kind of a step.
type verb uint8

// The verbs.
const (
	gives     verb = iota // a tool returned the value
	says                  // the value is written in the plan
	isGiven               // the whiteboard holds the value at the start
	takes                 // a call, or the output, reads the value
	undoTakes             // what takes a call back reads the value
	asks                  // the _when of a call reads the value
	fails                 // the value decides whether a call fails
)

// A step is a place on the path of a value.
type step struct {
	loc  diag.Loc
	verb verb
	call *compile.Call // nil is the output
	what fmt.Stringer  // the reference or path that is read or given; nil if there is none
}

// passes returns the mark of a value after one more step.
func (a *analysis) passes(m *mark, s *step) *mark {
	if m == nil {
		return nil
	}
	a.work++
	return a.marked(m.origin, s, m)
}

// way returns a path from a source to a mark, from the source on: the steps at which the value was
// already wrong. If both parts of a join are wrong, the path goes through the first. It goes back
// at most that many marks, so the path may begin behind the source.
func (m *mark) way(wrong func(lab) bool, most int) (steps []*step) {
	if m == nil || !wrong(m.lab) {
		return nil
	}
	steps = make([]*step, 0, min(most, minSteps))
	for ; m != nil && most > 0; most-- {
		if m.step != nil {
			steps = append(steps, m.step)
		}
		m = m.wrongBefore(wrong)
	}
	slices.Reverse(steps)
	return steps
}

// wrongBefore returns the first of the marks that a wrong mark was made of which is wrong as well;
// nil if there is none.
func (m *mark) wrongBefore(wrong func(lab) bool) *mark {
	for _, n := range m.before {
		if n != nil && (n.origin == m.origin || wrong(n.lab)) {
			return n
		}
	}
	return nil
}
