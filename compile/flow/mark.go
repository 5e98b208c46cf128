package flow

import (
	"math/bits"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/label"
)

// A mark says how bad a value may be: its label, where it comes from, and on which way. A nil mark
// is that of what carries nothing. Marks are immutable and share what they have in common: the
// marks of a plan are a graph, which is linear in the plan.
type mark struct {
	lab
	from   set      // the sources, by number
	step   step     // where the value came along; the zero step of what is joined
	before [2]*mark // what it was made of; nil for a source
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

// union returns all of two sets. It shares the memory of one that has all of the other.
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

// worst returns the label of what is made of two.
func (p *Policy) worst(a, b lab) lab {
	return lab{p.said.Trust.Meet(a.trust, b.trust), p.said.Secrecy.Join(a.secrecy, b.secrecy), a.cats.union(b.cats)}
}

// noWorse reports whether a label is no worse than another one in any respect.
func (p *Policy) noWorse(a, b lab) bool {
	return p.said.Trust.AtMost(b.trust, a.trust) && p.said.Secrecy.AtMost(a.secrecy, b.secrecy) && a.cats.within(b.cats)
}

// holds reports whether a mark says all that another one says.
func (p *Policy) holds(m, n *mark) bool { return p.noWorse(n.lab, m.lab) && n.from.within(m.from) }

// join returns the mark of what is made of two.
func (a *analysis) join(m, n *mark) *mark {
	a.work++
	switch {
	case n == nil || m == n:
		return m
	case m == nil:
		return n
	case a.policy.holds(m, n):
		return m
	case a.policy.holds(n, m):
		return n
	}
	return &mark{lab: a.policy.worst(m.lab, n.lab), from: m.from.union(n.from), before: [2]*mark{m, n}}
}

// labelOf returns the label of a mark.
func (p *Policy) labelOf(m *mark) lab {
	if m == nil {
		return p.best
	}
	return m.lab
}

// same reports whether two marks say the same, whatever the way.
func (p *Policy) same(m, n *mark) bool {
	if m == nil || n == nil {
		return m == n
	}
	return p.holds(m, n) && p.holds(n, m)
}

// verb says what happened to a value at a step.
type verb uint8

// The verbs.
const (
	gives   verb = iota // a tool gave it
	says                // the plan says it
	isGiven             // the whiteboard holds it at the start
	takes               // a call, or the output, takes it
	asks                // a call is made only if it is so
)

// step is a place that a value came along.
type step struct {
	loc  diag.Loc
	verb verb
	who  string // the call; "" is the output
	what string // the path
}

// passes returns a mark after one more step.
func (a *analysis) passes(m *mark, s step) *mark {
	if m == nil {
		return nil
	}
	a.work++
	return &mark{lab: m.lab, from: m.from, step: s, before: [2]*mark{m}}
}

// way returns the steps from a source to a mark, such that what is wrong with the mark is wrong
// with each. Of two ways it takes the first.
func (m *mark) way(wrong func(lab) bool) (steps []step) {
	for m != nil && wrong(m.lab) {
		if m.step != (step{}) {
			steps = append(steps, m.step)
		}
		next := m.before[0]
		if next == nil || !wrong(next.lab) {
			next = m.before[1]
		}
		m = next
	}
	slices.Reverse(steps)
	return steps
}
