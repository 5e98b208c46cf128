package state

import (
	"cmp"
	"iter"
	"slices"
	"sort"
)

// view is the whiteboard as one reader sees it: what landed at keys in
// [since, bound), on top of the initial whiteboard if since is 0.
type view struct {
	since, bound key
	raws         *tables
	work         int // nodes, members and appends looked at
}

// spot is a place in a view: the node that holds the writes there, nil if there
// are none, and the value that it inherits from the text of its parent, nil if it
// has none or a cover that hides it.
type spot struct {
	n   *node
	raw []byte
}

// place is a spot, opened: the value in force and what landed on it, nil if
// nothing. A base that isn't in the view is nothing.
type place struct {
	base []byte
	in   *content
}

func (v *view) open(s spot) place {
	v.work++
	p := place{base: s.raw}
	if s.n != nil {
		p.in = s.n.under
		if c := s.n.covers.before(v.bound); c != nil {
			p = place{base: c.value.raw, in: c.value.in}
			if c.key < v.since {
				p.base = nil
			}
		}
	}
	if p.in != nil && (min(p.in.object, p.in.list) >= v.bound || p.in.last < v.since) {
		p.in = nil
	}
	return p
}

// shape returns what is at a place. With no value in force the writes below it decide; where they
// disagree, the first one does.
func (v *view) shape(p place) shape {
	switch {
	case p.base != nil:
		return shapeOf(p.base)
	case p.in == nil:
		return nothing
	case p.in.object < p.in.list:
		return object
	}
	return list
}

// member returns the spot of a member of an object, or of a place without a value.
func (v *view) member(p place, name string) spot {
	var s spot
	if p.in != nil {
		s.n = p.in.members[name]
	}
	if p.base != nil && !v.covered(s.n) {
		s.raw = v.raws.member(p.base, name, &v.work)
	}
	return s
}

func (v *view) covered(n *node) bool { return n != nil && n.covers.before(v.bound) != nil }

// element returns the spot of an element of a list, or of a place without a value.
func (v *view) element(p place, i int) spot {
	var s spot
	if p.in != nil {
		s.n = p.in.elements[i]
	}
	if v.covered(s.n) {
		return s
	}
	if p.base != nil {
		s.raw = v.raws.element(p.base, i, &v.work)
	}
	if s.raw == nil {
		s.raw = v.appendedElement(v.appends(p), i)
	}
	return s
}

// appends returns the appends in the view.
func (v *view) appends(p place) []appended {
	if p.in == nil {
		return nil
	}
	return p.in.appends[p.in.appendsBefore(v.since):p.in.appendsBefore(v.bound)]
}

func (v *view) appendedElement(runs []appended, i int) []byte {
	j := sort.Search(len(runs), func(j int) bool { return runs[j].first > i }) - 1
	v.work++
	if j < 0 || i >= runs[j].first+runs[j].count {
		return nil
	}
	if runs[j].form == many {
		return v.raws.element(runs[j].raw, i-runs[j].first, &v.work)
	}
	return runs[j].raw
}

// span returns the indexes [from, to) of a list. It starts at 0. In a view without the list's first
// value, only the appended elements are known, and it starts at the first of them.
func (v *view) span(p place) (from, to int) {
	if runs := v.appends(p); len(runs) > 0 {
		if p.base == nil {
			from = runs[0].first
		}
		last := runs[len(runs)-1]
		return from, last.first + last.count
	}
	if p.base != nil {
		to = v.raws.count(p.base, &v.work)
	}
	return 0, to
}

// step returns the spot that a segment leads to; false if it certainly leads nowhere.
func (v *view) step(p place, seg Segment) (spot, bool) {
	switch have := v.shape(p); {
	case have == object && (seg.Kind == Name || seg.Kind == Either):
		return v.member(p, seg.Name), true
	case have == list && (seg.Kind == Index || seg.Kind == Either):
		i := seg.Index
		if i < 0 {
			from, to := v.span(p)
			if i += to; i < from {
				return spot{}, false
			}
		}
		return v.element(p, i), true
	}
	return spot{}, false
}

// find returns the spot at a path without [*].
func (v *view) find(s spot, path Path) (spot, bool) {
	for _, seg := range path {
		next, ok := v.step(v.open(s), seg)
		if !ok {
			return spot{}, false
		}
		s = next
	}
	return s, true
}

// bytesPerStep is the number of copied bytes that count as one step of work.
const bytesPerStep = 64

// value returns the value at path below s. Nearly always it is a slice of a text that was written.
func (v *view) value(s spot, path Path) ([]byte, bool) {
	size := 0
	if !slices.ContainsFunc(path, func(seg Segment) bool { return seg.Kind == Star }) {
		at, ok := v.find(s, path)
		if !ok {
			return nil, false
		}
		p := v.open(at)
		if p.in == nil {
			return slices.Clip(p.base), p.base != nil
		}
		s, path, size = at, nil, len(p.base)+bytesPerStep
	}
	joining := *v // a copy, so that only readers that join values cost heap memory
	raw, ok := joining.read(make([]byte, 0, size), s, path)
	v.work = joining.work
	return raw, ok
}

// read appends the value at path below s, or reports that there is none.
func (v *view) read(dst []byte, s spot, path Path) ([]byte, bool) {
	star := slices.IndexFunc(path, func(seg Segment) bool { return seg.Kind == Star })
	if star < 0 {
		s, ok := v.find(s, path)
		if !ok {
			return dst, false
		}
		return v.render(dst, s)
	}
	s, ok := v.find(s, path[:star])
	if !ok {
		return dst, false
	}
	p := v.open(s)
	if v.shape(p) != list {
		return dst, false
	}
	dst = append(dst, '[')
	start := len(dst)
	for e := range v.elements(p) {
		dst = comma(dst, start)
		if dst, ok = v.read(dst, e, path[star+1:]); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}

// comma appends a comma unless nothing has been appended since start.
func comma(dst []byte, start int) []byte {
	if len(dst) > start {
		dst = append(dst, ',')
	}
	return dst
}

// render appends the value of a spot, or reports that there is none.
func (v *view) render(dst []byte, s spot) ([]byte, bool) {
	p := v.open(s)
	switch have := v.shape(p); {
	case have == nothing:
		return dst, false
	case have == object && p.in != nil:
		return v.renderObject(dst, p)
	case have == list && p.in != nil:
		return v.renderList(dst, p)
	}
	return append(dst, p.base...), true
}

// renderObject appends the members of the base in their order with their current values, and then
// the new members in the order of their first writes.
func (v *view) renderObject(dst []byte, p place) ([]byte, bool) {
	begin := len(dst)
	dst = append(dst, '{')
	start := len(dst)
	seen := make(map[*node]bool)
	if p.base != nil {
		for m := range members(p.base) {
			v.work++
			dst = append(comma(dst, start), m.key...)
			dst = append(dst, ':')
			n := p.in.members[m.name]
			if n == nil {
				dst = append(dst, m.value...)
				continue
			}
			seen[n] = true
			dst, _ = v.render(dst, spot{n, m.value})
		}
	}
	added := v.newMembers(p, seen)
	dst = slices.Grow(dst, v.roughSize(added))
	for _, m := range added {
		back := len(dst)
		dst = appendQuoted(comma(dst, start), m.name)
		ok := false
		if dst, ok = v.render(append(dst, ':'), spot{n: m.n}); !ok {
			dst = dst[:back]
		}
	}
	if p.base == nil && len(dst) == start && !v.touched(p) {
		return dst[:begin], false
	}
	return append(dst, '}'), true
}

func (v *view) touched(p place) bool {
	return slices.ContainsFunc(p.in.touches, func(k key) bool { return v.since <= k && k < v.bound })
}

// roughSize estimates how many bytes the members take, counting one value for each.
func (v *view) roughSize(list []*named) int {
	size := 0
	for _, m := range list {
		size += len(m.name) + len(`"":,`)
		if c := m.n.covers.before(v.bound); c != nil {
			size += len(c.value.raw)
		}
	}
	return size
}

// newMembers returns the members that the base doesn't have, in the order of their first writes in
// view.
func (v *view) newMembers(p place, seen map[*node]bool) []*named {
	var all []*named
	if v.since == 0 && p.in.last < v.bound { // all of them, nearly always
		all = make([]*named, 0, len(p.in.members))
	}
	p.in.fresh.root.ascend(v.bound, func(i *item[named]) {
		v.work++
		n := i.value.n
		if i.key == n.min && n.last >= v.since && !seen[n] {
			all = append(all, &i.value)
		}
	})
	if v.since > 0 { // else the first in view is the first of all
		v.sort(all)
	}
	return all
}

// sort orders members by their first write in view.
func (v *view) sort(members []*named) {
	first := make(map[*named]key, len(members))
	for _, m := range members {
		first[m] = m.n.first(v.since)
	}
	slices.SortStableFunc(members, func(a, b *named) int { return cmp.Compare(first[a], first[b]) })
}

// renderList appends the elements.
func (v *view) renderList(dst []byte, p place) ([]byte, bool) {
	if p.base == nil && len(v.appends(p)) == 0 {
		return dst, false // elements of a list that isn't in the view
	}
	dst = append(dst, '[')
	start := len(dst)
	if p.in.elements == nil {
		return append(v.renderRuns(dst, p), ']'), true
	}
	for e := range v.elements(p) {
		back := len(dst)
		ok := false
		if dst, ok = v.render(comma(dst, start), e); !ok {
			dst = dst[:back]
		}
	}
	return append(dst, ']'), true
}

// renderRuns appends the elements of a list if nobody wrote to a single element of it.
func (v *view) renderRuns(dst []byte, p place) []byte {
	start := len(dst)
	if p.base != nil {
		dst = append(dst, p.base[1:len(p.base)-1]...)
	}
	for _, run := range v.appends(p) {
		v.work++
		raw := run.raw
		if run.form == many {
			raw = raw[1 : len(raw)-1]
		}
		if len(raw) > 0 {
			dst = append(comma(dst, start), raw...)
		}
	}
	return dst
}

// elements returns the spots of the elements of a list, in order.
func (v *view) elements(p place) iter.Seq[spot] {
	return func(yield func(spot) bool) {
		i := 0
		next := func(raw []byte) bool {
			v.work++
			s := spot{raw: raw}
			if p.in != nil {
				s.n = p.in.elements[i]
			}
			i++
			return yield(s)
		}
		if p.base != nil {
			for raw := range elements(p.base) {
				if !next(raw) {
					return
				}
			}
		}
		for _, run := range v.appends(p) {
			i = run.first
			if !run.each(next) {
				return
			}
		}
	}
}

// each calls f for the elements of a run until it returns false.
func (a appended) each(f func(raw []byte) bool) bool {
	if a.form != many {
		return f(a.raw)
	}
	for raw := range elements(a.raw) {
		if !f(raw) {
			return false
		}
	}
	return true
}
