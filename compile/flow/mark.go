package flow

import (
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/label"
)

// mark is a label, and for each part of it the way on which it came.
type mark struct {
	trust      label.Level
	secrecy    label.Level
	categories []category // sorted by name
	distrusted *step      // the way of the trust; nil when it is the best
	disclosed  *step      // the way of the secrecy; nil when it is public
}

type category struct {
	name string
	way  *step
}

// step is where a value went, and the step before.
type step struct {
	loc    diag.Loc
	text   string
	before *step
}

// from returns the mark of what comes from a place with a label.
func (a *analysis) from(l label.Label, loc diag.Loc, text string) mark {
	m := mark{trust: l.Trust, secrecy: l.Secrecy}
	if l.Equal(a.policy.Best()) {
		return m
	}
	s := &step{loc: loc, text: text}
	if l.Trust < a.policy.Best().Trust {
		m.distrusted = s
	}
	if l.Secrecy > 0 {
		m.disclosed = s
	}
	for _, name := range l.Categories {
		m.categories = append(m.categories, category{name, s})
	}
	return m
}

// label returns the label without the ways.
func (m mark) label() label.Label {
	l := label.Label{Trust: m.trust, Secrecy: m.secrecy}
	for _, c := range m.categories {
		l.Categories = append(l.Categories, c.name)
	}
	return l
}

// key returns a text that is the same for equal labels.
func (m mark) key() string {
	var b strings.Builder
	b.WriteByte(byte(m.trust))
	b.WriteByte(byte(m.secrecy))
	for _, c := range m.categories {
		b.WriteString(c.name)
		b.WriteByte(0)
	}
	return b.String()
}

// join returns the mark of what is made of two.
func (m mark) join(n mark) mark {
	if n.trust < m.trust {
		m.trust, m.distrusted = n.trust, n.distrusted
	}
	if n.secrecy > m.secrecy {
		m.secrecy, m.disclosed = n.secrecy, n.disclosed
	}
	for _, c := range n.categories {
		i, found := slices.BinarySearchFunc(m.categories, c.name, func(c category, name string) int { return strings.Compare(c.name, name) })
		if !found {
			m.categories = slices.Insert(slices.Clip(m.categories), i, c)
		}
	}
	return m
}

// through returns the mark after one more step.
func (m mark) through(loc diag.Loc, text func() string) mark {
	if m.distrusted == nil && m.disclosed == nil && len(m.categories) == 0 {
		return m
	}
	after := map[*step]*step{nil: nil}
	next := func(s *step) *step {
		n, ok := after[s]
		if !ok {
			n = &step{loc: loc, text: text(), before: s}
			after[s] = n
		}
		return n
	}
	m.distrusted, m.disclosed = next(m.distrusted), next(m.disclosed)
	m.categories = slices.Clone(m.categories)
	for i := range m.categories {
		m.categories[i].way = next(m.categories[i].way)
	}
	return m
}

// leak returns the way of what a bound on secrecy does not admit.
func (m mark) leak(b label.Bound) *step {
	if m.secrecy > b.Secrecy {
		return m.disclosed
	}
	for _, c := range m.categories {
		if !slices.Contains(b.Categories, c.name) {
			return c.way
		}
	}
	return nil
}

// related returns a way from its source on, at most most steps of it.
func (s *step) related() (all []diag.Related) {
	const most = 12
	for ; s != nil; s = s.before {
		all = append(all, diag.Related{Loc: s.loc, Message: s.text})
	}
	slices.Reverse(all)
	if len(all) > most {
		all = slices.Concat(all[:most/2], all[len(all)-most/2:])
	}
	return all
}
