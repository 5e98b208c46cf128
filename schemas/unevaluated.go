package schemas

import "slices"

// What unevaluatedProperties and unevaluatedItems speak of depends on which of the
// schemas in place hold. So they are taken apart by cases: each settles which hold,
// and thereby the names or elements that are evaluated.

// evaluated is one case.
type evaluated struct {
	when  []literal
	all   bool // everything is evaluated
	names []string
	pats  []*pattern
	upto  int     // elements before this index
	like  []*node // elements that meet one of these
}

const maxCases = 64

func unevaluated(n *node, k kind) *node {
	switch k {
	case kindObject:
		return n.restProps
	case kindArray:
		return n.restItems
	}
	return nil
}

// evaluatedRest returns what unevaluated* of n says, or with neg the ways to break it.
func (b *branch) evaluatedRest(n, rest *node, neg bool) (out choice) {
	cases, ok := b.cases(n, true)
	if !ok {
		return choice{{{op: opAtom, text: "unevaluated", node: n, neg: neg}}}
	}
	for _, c := range cases {
		list := slices.Clip(c.when)
		switch {
		case c.all && neg:
			continue
		case c.all:
		case b.kind == kindObject:
			cl := &class{names: c.names, pats: c.pats}
			if neg {
				list = append(list, literal{op: opSomeMember, class: cl, node: rest, neg: true})
			} else {
				list = append(list, literal{op: opAllMembers, class: cl, node: rest})
			}
		default:
			item := b.anyOf(append([]*node{rest}, c.like...))
			if neg {
				list = append(list, literal{op: opSome, count: c.upto, to: noEnd, node: item, neg: true})
			} else {
				list = append(list, literal{op: opEach, count: c.upto, to: noEnd, node: item})
			}
		}
		out = append(out, list)
	}
	return out
}

// cases lists the cases of a value that meets n; ok is false when there are too many
// or something cannot be known. At the top, unevaluated* itself does not count.
func (b *branch) cases(n *node, top bool) (out []evaluated, ok bool) {
	if n.opaque != "" || b.kind == kindObject && n.unreadPatterns() {
		return nil, false
	}
	out, ok = []evaluated{b.ownEvaluated(n, top)}, true
	all := func(c *node) {
		if ok && c != nil && b.evaluates(c) {
			inner, fine := b.cases(c, false)
			out, ok = cross(out, within(inner, isNode(c, false))), fine
		}
	}
	maybe := func(c *node) {
		if ok && b.evaluates(c) {
			inner, fine := b.cases(c, false)
			inner = append(within(inner, isNode(c, false)), evaluated{when: []literal{isNode(c, true)}})
			out, ok = cross(out, inner), fine
		}
	}
	all(n.ref)
	for _, c := range n.allOf {
		all(c)
	}
	for _, list := range [...][]*node{n.anyOf, n.oneOf} {
		for _, c := range list {
			maybe(c)
		}
	}
	if b.kind == kindObject {
		for i := range n.dependents {
			if ok {
				out, ok = b.dependentCases(out, &n.dependents[i])
			}
		}
	}
	if n.cond != nil && ok {
		out, ok = b.condCases(out, n)
	}
	return out, ok && len(out) <= maxCases
}

func (b *branch) dependentCases(out []evaluated, d *dependent) ([]evaluated, bool) {
	if d.node == nil || !b.evaluates(d.node) {
		return out, true
	}
	inner, ok := b.cases(d.node, false)
	has := literal{op: opHas, text: d.name}
	inner = within(within(inner, isNode(d.node, false)), has)
	return cross(out, append(inner, evaluated{when: []literal{has.negated()}})), ok
}

func (b *branch) condCases(out []evaluated, n *node) ([]evaluated, bool) {
	arm := func(first []evaluated, c *node) ([]evaluated, bool) {
		if c == nil || !b.evaluates(c) {
			return first, true
		}
		inner, ok := b.cases(c, false)
		return cross(first, within(inner, isNode(c, false))), ok
	}
	cond, ok := b.cases(n.cond, false)
	then, ok2 := arm(within(cond, isNode(n.cond, false)), n.then)
	els, ok3 := arm([]evaluated{{when: []literal{isNode(n.cond, true)}}}, n.els)
	return cross(out, append(then, els...)), ok && ok2 && ok3
}

func within(cases []evaluated, l literal) []evaluated {
	for i := range cases {
		cases[i].when = append(slices.Clip(cases[i].when), l)
	}
	return cases
}

// cross combines two independent lists of cases. It stops growing past the limit.
func cross(a, b []evaluated) (out []evaluated) {
	for _, x := range a {
		for _, y := range b {
			if len(out) > maxCases {
				return out
			}
			out = append(out, evaluated{
				when: slices.Concat(x.when, y.when), all: x.all || y.all,
				names: slices.Concat(x.names, y.names), pats: slices.Concat(x.pats, y.pats),
				upto: max(x.upto, y.upto), like: slices.Concat(x.like, y.like),
			})
		}
	}
	return out
}

// ownEvaluated returns what n's own keywords evaluate.
func (b *branch) ownEvaluated(n *node, top bool) (e evaluated) {
	if b.kind == kindObject {
		e.all = n.additional != nil || !top && n.restProps != nil
		for i := range n.props {
			e.names = append(e.names, n.props[i].name)
		}
		for i := range n.patterns {
			e.pats = append(e.pats, n.patterns[i].pattern)
		}
		return e
	}
	e.all = n.rest != nil || !top && n.restItems != nil
	e.upto = len(n.prefix)
	if n.contains != nil && n.draft >= 2020 {
		e.like = []*node{n.contains}
	}
	return e
}

// evaluates reports whether n may evaluate something of a value of the branch's kind.
func (b *branch) evaluates(n *node) bool {
	if n.may.excludes(b.kind) {
		return false
	}
	e := b.ownEvaluated(n, false)
	if e.all || len(e.names) > 0 || len(e.pats) > 0 || e.upto > 0 || len(e.like) > 0 || n.opaque != "" {
		return true
	}
	any := false
	n.inPlace(func(c *node) { any = any || c != n.not && b.evaluates(c) })
	return any
}
