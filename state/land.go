package state

// step is a segment resolved against the whiteboard: a member or an element.
type step struct {
	name    string
	index   int
	element bool
	grows   bool // the element right after the end

	in *content // of a member: the content that was searched
	n  *node    // the node that was found
}

// resolve turns a segment of a write into a step at a place.
func (v *view) resolve(p place, seg Segment) (step, *Error) {
	have := v.shape(p)
	switch {
	case seg.Kind == Star:
		return step{}, noStar(have)
	case have == list && seg.Kind != Name:
		_, length := v.span(p)
		i := seg.Index
		if i < 0 {
			i += length
		}
		if i < 0 || i > length {
			return step{}, beyond(length, seg.Index)
		}
		return step{index: i, element: true, grows: i == length}, nil
	case have == nothing && seg.Kind == Index && seg.Index == 0:
		return step{element: true, grows: true}, nil
	case seg.Kind == Index:
		return step{}, noElement(have, seg.Index)
	case have == object || have == nothing:
		return step{name: seg.Name}, nil
	}
	return step{}, noMember(have, seg.Name)
}

func (v *view) child(p place, st step) spot {
	if st.element {
		return v.element(p, st.index)
	}
	return v.member(p, st.name)
}

// aim finds the spot where a write lands and appends the steps to it, or returns an error if there
// is no such spot.
func (v *view) aim(root *node, r *record, steps []step) (spot, []step, *Error) {
	s := spot{n: root}
	for i, seg := range r.Path[1:] {
		p := v.open(s)
		st, err := v.resolve(p, seg)
		if err != nil {
			err.Path, err.Method = r.Path[:i+1], r.Method
			return s, steps, err
		}
		s = v.child(p, st)
		st.in, st.n = p.in, s.n
		steps = append(steps, st)
	}
	have := v.shape(v.open(s))
	if err := refuse(have, r.Method, shapeOf(r.Value), len(r.Path) == 1); err != nil {
		err.Path, err.Method = r.Path, r.Method
		return s, steps, err
	}
	return s, steps, nil
}

// refuse returns an error if a value can't be combined with the present one.
func refuse(have shape, m Method, value shape, root bool) *Error {
	switch {
	case (m == Push || m == Concat) && have != nothing && have != list:
		return notAppendable(have, m)
	case m == Concat && value != list:
		return notList(have, value)
	case m != Push && m != Concat && root && value != object:
		return notRoot(value, m)
	}
	return nil
}

// land applies a write to the trie. If late, the write came after another that should have followed
// it, and the trie must be rebuilt.
func (v *view) land(root *node, r *record) (late bool, err *Error) {
	var space [4]step
	at, steps, err := v.aim(root, r, space[:0])
	if err != nil {
		return false, err
	}
	n := root
	n.mark(r.key)
	var fresh *item[cover]
	for i, st := range steps {
		in := n.on(r.key)
		if !st.element {
			if in != st.in {
				st.n = in.members[st.name]
			}
			n, fresh = in.member(st.n, st.name, r.key, i == len(steps)-1)
			continue
		}
		if st.grows {
			in.slot(st.index, r.key)
		}
		n = in.element(st.index, r.key)
	}
	at.n = n
	switch r.Method {
	case Merge, Assign:
		return v.merge(at, r.key, r.Value, r.Method == Merge), nil
	case Push, Concat:
		v.append(at, r)
		return false, nil
	}
	return n.cover(fresh, r.key, r.Value, true), nil
}

// append adds the value of a push or concat at the end of the list.
func (v *view) append(s spot, r *record) {
	_, end := v.span(v.open(s))
	a := appended{at: r.key, first: end, count: 1, raw: r.Value}
	if r.Method == Concat {
		a.form, a.count = many, v.raws.count(r.Value, &v.work)
	}
	s.n.on(r.key).append(a)
}

// merge writes an object onto an object member by member, and any other value as a cover.
func (v *view) merge(s spot, k key, raw []byte, deep bool) (late bool) {
	p := v.open(s)
	isObject := shapeOf(raw) == object
	if !isObject || v.shape(p) != object {
		return s.n.cover(nil, k, raw, !isObject)
	}
	in := s.n.on(k)
	empty := true
	for m := range members(raw) {
		v.work++
		empty = false
		c := v.member(p, m.name)
		var fresh *item[cover]
		c.n, fresh = in.member(in.members[m.name], m.name, k, !deep)
		if deep {
			late = v.merge(c, k, m.value, true) || late
		} else {
			late = c.n.cover(fresh, k, m.value, true) || late
		}
	}
	if empty {
		in.touch(k)
	}
	return late
}
