package flow

import (
	"slices"

	"github.com/plc-lang/plc/state"
)

// A val holds the marks of a value and of its known parts. It is immutable, and has at most
// maxParts parts, so that its cost is bounded.
type val struct {
	own      *mark // of the value itself: its presence, kind, names of members or length; and of parts that are not known
	all      *mark // of the value with all its parts
	*content       // not nil
	size     int32 // the number of parts
	flat     bool  // elements of lists have the marks of the list, since paths of policies leave elements out
}

// content holds the known parts of a value.
type content struct {
	named []part // the known members
	list  []*val // the elements of a list that is written out
	elem  *val   // any element of another list; nil if nothing is known of elements
}

// noParts is the content of all values without known parts.
var noParts = &content{}

// part is a member of an object.
type part struct {
	name string
	val  *val
}

// maxParts is the maximum number of parts of a value that have marks of their own.
const maxParts = 64

// nothing is a value that reveals nothing.
var nothing = &val{content: noParts, size: 1}

// leaf returns a value without known parts.
func (a *analysis) leaf(m *mark) *val {
	if m == nil {
		return nothing
	}
	v := a.vals.next()
	v.own, v.all, v.content, v.size = m, m, noParts, 1
	return v
}

// sealed computes all and size of a value. A value with too many parts becomes a leaf.
func (a *analysis) sealed(v *val) *val {
	v.all, v.size = v.own, 1
	add := func(w *val) {
		v.all = a.join(v.all, w.all)
		v.size += w.size
	}
	for _, p := range v.named {
		add(p.val)
	}
	for _, w := range v.list {
		add(w)
	}
	if v.elem != nil {
		add(v.elem)
	}
	if v.size > maxParts {
		return a.leaf(v.all)
	}
	return v
}

// object returns an object with these members and no others.
func (a *analysis) object(own *mark, members ...part) *val {
	return a.sealed(&val{own: own, content: &content{named: members}})
}

// listOf returns a list whose elements all have the marks of elem.
func (a *analysis) listOf(own *mark, elem *val) *val {
	return a.sealed(&val{own: own, content: &content{elem: elem}})
}

func (v *val) isLeaf() bool { return v.named == nil && v.list == nil && v.elem == nil }

// member returns a member.
func (a *analysis) member(v *val, name string) *val {
	for _, p := range v.named {
		if p.name == name {
			return p.val
		}
	}
	return a.self(v)
}

// self returns a value for which only the mark of the value itself is known.
func (a *analysis) self(v *val) *val {
	if v.isLeaf() {
		return v
	}
	return a.leaf(v.own)
}

// element returns an element; a nil index means any element.
func (a *analysis) element(v *val, index *int) *val {
	switch {
	case v.flat:
		return v
	case v.list != nil && index != nil:
		i := *index
		if i < 0 {
			i += len(v.list)
		}
		if i >= 0 && i < len(v.list) {
			return v.list[i]
		}
		return a.self(v)
	case v.list != nil:
		any := nothing
		for _, w := range v.list {
			any = a.either(any, w)
		}
		return any
	case v.elem != nil:
		return v.elem
	}
	return a.self(v)
}

// child returns the part that a segment of a path names.
func (a *analysis) child(v *val, s state.Segment) *val {
	switch s.Kind {
	case state.Name:
		return a.member(v, s.Name)
	case state.Either:
		return a.either(a.member(v, s.Name), a.element(v, &s.Index))
	}
	return a.element(v, &s.Index)
}

// at returns the part of a value at a path, and the mark of the values that decide whether it is
// there: those that contain it. [*] returns a list as long as the one that it goes through.
func (a *analysis) at(v *val, path state.Path) (sub *val, shape *mark) {
	for i, s := range path {
		shape = a.join(shape, v.own)
		if s.Kind == state.Star {
			sub, in := a.at(a.element(v, nil), path[i+1:])
			return a.listOf(v.own, sub), a.join(shape, in)
		}
		v = a.child(v, s)
	}
	return v, shape
}

// either returns a value that may be one of two, or made of both.
func (a *analysis) either(v, w *val) *val {
	switch {
	case v == w || w == nothing:
		return v
	case v == nothing:
		return w
	}
	own := a.join(v.own, w.own)
	if v.isLeaf() && w.isLeaf() {
		return a.leaf(own)
	}
	if v.size+w.size > maxParts || v.flat != w.flat && !v.isLeaf() && !w.isLeaf() {
		return a.leaf(a.join(v.all, w.all))
	}
	u := &val{own: own, content: &content{}, flat: v.flat && !v.isLeaf() || w.flat && !w.isLeaf()}
	for _, p := range v.named {
		u.named = append(u.named, part{p.name, a.either(p.val, a.member(w, p.name))})
	}
	for _, p := range w.named {
		if !slices.ContainsFunc(v.named, func(q part) bool { return q.name == p.name }) {
			u.named = append(u.named, part{p.name, a.either(p.val, a.member(v, p.name))})
		}
	}
	switch lists := v.list != nil || v.elem != nil || w.list != nil || w.elem != nil; {
	case !lists || u.flat:
	case len(v.list) == len(w.list) && v.list != nil:
		u.list = make([]*val, len(v.list))
		for i := range v.list {
			u.list[i] = a.either(v.list[i], w.list[i])
		}
	default:
		u.elem = a.either(a.element(v, nil), a.element(w, nil))
	}
	return a.sealed(u)
}
