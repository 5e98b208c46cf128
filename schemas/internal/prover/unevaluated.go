package prover

import (
	"slices"

	"github.com/plc-lang/plc/schemas/internal/pattern"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// The effect of unevaluatedProperties and unevaluatedItems depends on which schemas in place hold.
// So they are split into cases: each case fixes which schemas hold, and with that the names or
// elements that are evaluated.

// evaluated is one case.
type evaluated struct {
	when  []literal
	all   bool // everything is evaluated
	names []string
	pats  []*pattern.Pattern
	upto  int          // elements before this index
	like  []*tree.Node // elements that meet one of these
}

const maxCases = 64

func unevaluated(n *tree.Node, k value.Kind) *tree.Node {
	switch k {
	case value.Object:
		return n.RestProps
	case value.Array:
		return n.RestItems
	}
	return nil
}

// evaluatedRest returns the cases of n's unevaluated*, or with neg the ways to break it.
func (b *branch) evaluatedRest(n, rest *tree.Node, neg bool) (out choice) {
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
		case b.kind == value.Object:
			cl := &class{names: c.names, pats: c.pats}
			if neg {
				list = append(list, literal{op: opSomeMember, class: cl, node: rest, neg: true})
			} else {
				list = append(list, literal{op: opAllMembers, class: cl, node: rest})
			}
		default:
			item := b.anyOf(append([]*tree.Node{rest}, c.like...))
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

// cases lists the cases of a value that meets n; ok is false if there are too many or something
// can't be known. With top, n's own unevaluated* is ignored.
func (b *branch) cases(n *tree.Node, top bool) (out []evaluated, ok bool) {
	if n.Opaque != "" || b.kind == value.Object && n.UnreadPatterns() {
		return nil, false
	}
	out, ok = []evaluated{b.ownEvaluated(n, top)}, true
	all := func(c *tree.Node) {
		if ok && c != nil && b.evaluates(c) {
			inner, fine := b.cases(c, false)
			out, ok = cross(out, within(inner, isNode(c, false))), fine
		}
	}
	maybe := func(c *tree.Node) {
		if ok && b.evaluates(c) {
			inner, fine := b.cases(c, false)
			inner = append(within(inner, isNode(c, false)), evaluated{when: []literal{isNode(c, true)}})
			out, ok = cross(out, inner), fine
		}
	}
	all(n.Ref)
	for _, c := range n.AllOf {
		all(c)
	}
	for _, list := range [...][]*tree.Node{n.AnyOf, n.OneOf} {
		for _, c := range list {
			maybe(c)
		}
	}
	if b.kind == value.Object {
		for i := range n.Dependents {
			if ok {
				out, ok = b.dependentCases(out, &n.Dependents[i])
			}
		}
	}
	if n.If != nil && ok {
		out, ok = b.condCases(out, n)
	}
	return out, ok && len(out) <= maxCases
}

func (b *branch) dependentCases(out []evaluated, d *tree.Dependent) ([]evaluated, bool) {
	if d.Node == nil || !b.evaluates(d.Node) {
		return out, true
	}
	inner, ok := b.cases(d.Node, false)
	has := literal{op: opHas, text: d.Name}
	inner = within(within(inner, isNode(d.Node, false)), has)
	return cross(out, append(inner, evaluated{when: []literal{has.negated()}})), ok
}

func (b *branch) condCases(out []evaluated, n *tree.Node) ([]evaluated, bool) {
	arm := func(first []evaluated, c *tree.Node) ([]evaluated, bool) {
		if c == nil || !b.evaluates(c) {
			return first, true
		}
		inner, ok := b.cases(c, false)
		return cross(first, within(inner, isNode(c, false))), ok
	}
	cond, ok := b.cases(n.If, false)
	then, ok2 := arm(within(cond, isNode(n.If, false)), n.Then)
	els, ok3 := arm([]evaluated{{when: []literal{isNode(n.If, true)}}}, n.Else)
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
func (b *branch) ownEvaluated(n *tree.Node, top bool) (e evaluated) {
	if b.kind == value.Object {
		e.all = n.Additional != nil || !top && n.RestProps != nil
		for i := range n.Props {
			e.names = append(e.names, n.Props[i].Name)
		}
		for i := range n.Patterns {
			e.pats = append(e.pats, n.Patterns[i].Pattern)
		}
		return e
	}
	e.all = n.Rest != nil || !top && n.RestItems != nil
	e.upto = len(n.Prefix)
	if n.Contains != nil && n.Draft >= 2020 {
		e.like = []*tree.Node{n.Contains}
	}
	return e
}

// evaluates reports whether n may evaluate a part of a value of the branch's kind.
func (b *branch) evaluates(n *tree.Node) bool {
	if n.May.Excludes(b.kind) {
		return false
	}
	e := b.ownEvaluated(n, false)
	if e.all || len(e.names) > 0 || len(e.pats) > 0 || e.upto > 0 || len(e.like) > 0 || n.Opaque != "" {
		return true
	}
	any := false
	n.InPlace(func(c *tree.Node) { any = any || c != n.Not && b.evaluates(c) })
	return any
}
