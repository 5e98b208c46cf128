package prover

import (
	"slices"

	"github.com/plc-lang/plc/schemas/internal/pattern"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// op is the kind of a literal.
type op uint8

const (
	opNode     op = iota // the value meets node
	opNotValue           // the value is not value
	opAtom               // a condition that can't be decided, identified by key
	opNone               // the value meets none of told

	opLower // numbers: at least num, more if strict
	opUpper
	opMultiple    // a multiple of num
	opNotMultiple // not a multiple of num

	opMinLength // strings: at least count characters
	opMaxLength
	opMatch // matches pattern

	opMinItems // arrays: at least count elements
	opMaxItems
	opEach     // each element from index count up to, without, index to meets node
	opSome     // some such element does
	opCountMin // at least count elements meet node
	opCountMax
	opUnique

	opHas      // objects: has a member name
	opMinProps // at least count members
	opMaxProps
	opAllMembers // all members with names in class meet node
	opSomeMember // some such member does; node nil: some such member is there
	opAllNames   // all names meet node
	opSomeName   // some name does
)

// literal is a single condition on a value. neg negates opNode, opAtom, opMatch, opUnique and
// opHas. In the others that have a node, neg means that the element, member or name must not meet
// it.
type literal struct {
	op     op
	neg    bool
	strict bool
	node   *tree.Node
	value  *value.Value
	num    value.Decimal
	count  int
	to     int // noEnd: to the end
	text   string
	pat    *pattern.Pattern
	class  *class
	told   *tree.Told
}

const noEnd = 1 << 60

func isNode(n *tree.Node, neg bool) literal { return literal{op: opNode, node: n, neg: neg} }

// class is a set of names: a single name, the names that match a pattern, or all names except for
// some and for those that match some patterns.
type class struct {
	single bool
	name   string
	match  *pattern.Pattern
	of     *tree.Node         // excludes its properties
	names  []string           // excludes these
	pats   []*pattern.Pattern // excludes names that match one of these
}

func (c *class) contains(name string) bool {
	switch {
	case c.single:
		return c.name == name
	case c.match != nil:
		return c.match.Match(name) == value.Yes
	}
	if c.of != nil && c.of.Property(name) != nil || slices.Contains(c.names, name) {
		return false
	}
	for _, p := range c.pats {
		if p.Match(name) == value.Yes {
			return false
		}
	}
	return true
}

// cost returns the cost of deciding whether a name is in the class, as a number of small things
// that are looked at.
func (c *class) cost() int { return 1 + len(c.names)/8 + 16*len(c.pats) }

// holds decides for one value whether a literal holds that is about a string or a node.
func (p *Prover) holds(l *literal, v *value.Value) value.Verdict {
	out := value.Doubt
	switch l.op {
	case opNode:
		out = p.try(&p.Work, l.node, v)
	case opMatch:
		if !l.pat.Unread() {
			out = l.pat.Match(v.Text)
		}
	case opNotValue:
		return value.VerdictOf(!l.value.Equal(v))
	}
	if l.neg {
		return out.Not()
	}
	return out
}

// assertions returns the conjunction of the literals for n's own keywords about values of a kind.
// It leaves out enum, const and the schemas that n applies in place.
func (p *Prover) assertions(n *tree.Node, k value.Kind) (out []literal) {
	switch k {
	case value.Number:
		return numberAssertions(n)
	case value.String:
		if n.MinLength > 0 {
			out = append(out, literal{op: opMinLength, count: n.MinLength})
		}
		if n.MaxLength >= 0 {
			out = append(out, literal{op: opMaxLength, count: n.MaxLength})
		}
		if n.Pattern != nil {
			out = append(out, literal{op: opMatch, pat: n.Pattern})
		}
	case value.Array:
		return arrayAssertions(n)
	case value.Object:
		return p.objectAssertions(n)
	}
	return out
}

func numberAssertions(n *tree.Node) (out []literal) {
	if n.Integer {
		out = append(out, literal{op: opMultiple, num: value.Int(1)})
	}
	if n.Lower.Set {
		out = append(out, literal{op: opLower, num: n.Lower.Decimal, strict: n.Lower.Strict})
	}
	if n.Upper.Set {
		out = append(out, literal{op: opUpper, num: n.Upper.Decimal, strict: n.Upper.Strict})
	}
	if n.Multiple != nil {
		out = append(out, literal{op: opMultiple, num: *n.Multiple})
	}
	return out
}

func arrayAssertions(n *tree.Node) (out []literal) {
	if n.MinItems > 0 {
		out = append(out, literal{op: opMinItems, count: n.MinItems})
	}
	if n.MaxItems >= 0 {
		out = append(out, literal{op: opMaxItems, count: n.MaxItems})
	}
	for i, c := range n.Prefix {
		if !tree.AdmitsAll(c) {
			out = append(out, literal{op: opEach, count: i, to: i + 1, node: c})
		}
	}
	if n.Rest != nil && !tree.AdmitsAll(n.Rest) {
		out = append(out, literal{op: opEach, count: len(n.Prefix), to: noEnd, node: n.Rest})
	}
	if n.Contains != nil {
		if n.MinContains > 0 {
			out = append(out, countMin(n.Contains, n.MinContains))
		}
		if n.MaxContains >= 0 {
			out = append(out, countMax(n.Contains, n.MaxContains))
		}
	}
	if n.Unique {
		out = append(out, literal{op: opUnique})
	}
	return out
}

// countMin returns the literal that at least count elements meet n; count must be more than 0.
func countMin(n *tree.Node, count int) literal {
	if count == 1 {
		return literal{op: opSome, to: noEnd, node: n}
	}
	return literal{op: opCountMin, node: n, count: count}
}

func countMax(n *tree.Node, count int) literal {
	if count == 0 {
		return literal{op: opEach, to: noEnd, node: n, neg: true}
	}
	return literal{op: opCountMax, node: n, count: count}
}

func (p *Prover) objectAssertions(n *tree.Node) (out []literal) {
	if n.MinProps > 0 {
		out = append(out, literal{op: opMinProps, count: n.MinProps})
	}
	if n.MaxProps >= 0 {
		out = append(out, literal{op: opMaxProps, count: n.MaxProps})
	}
	for _, name := range n.Required {
		out = append(out, literal{op: opHas, text: name})
	}
	for i := range n.Props {
		if !tree.AdmitsAll(n.Props[i].Node) {
			out = append(out, literal{op: opAllMembers, class: p.classOf(n, i), node: n.Props[i].Node})
		}
	}
	unread := n.UnreadPatterns()
	for i := range n.Patterns {
		if pp := &n.Patterns[i]; !pp.Pattern.Unread() && !tree.AdmitsAll(pp.Node) {
			out = append(out, literal{op: opAllMembers, class: &class{match: pp.Pattern}, node: pp.Node})
		}
	}
	switch {
	case unread:
		out = append(out, literal{op: opAtom, text: "patternProperties", node: n})
	case n.Additional != nil && !tree.AdmitsAll(n.Additional):
		out = append(out, literal{op: opAllMembers, class: p.restClass(n), node: n.Additional})
	}
	if n.Names != nil && !tree.AdmitsAll(n.Names) {
		out = append(out, literal{op: opAllNames, node: n.Names})
	}
	return out
}

// classes holds the classes of a node, which are made once.
type classes struct {
	props []class
	rest  *class
}

func (p *Prover) classesOf(n *tree.Node) *classes {
	c := p.classes[n]
	if c == nil {
		c = &classes{props: make([]class, len(n.Props))}
		for i := range n.Props {
			c.props[i] = class{single: true, name: n.Props[i].Name}
		}
		c.rest = &class{of: n}
		for i := range n.Patterns {
			if pat := n.Patterns[i].Pattern; !pat.Unread() {
				c.rest.pats = append(c.rest.pats, pat)
			}
		}
		p.classes[n] = c
	}
	return c
}

func (p *Prover) classOf(n *tree.Node, i int) *class { return &p.classesOf(n).props[i] }
func (p *Prover) restClass(n *tree.Node) *class      { return p.classesOf(n).rest }

// negated returns the negation of an assertion.
func (l literal) negated() literal {
	switch l.op {
	case opLower:
		l.op, l.strict = opUpper, !l.strict
	case opUpper:
		l.op, l.strict = opLower, !l.strict
	case opMultiple:
		l.op = opNotMultiple
	case opMinLength:
		l.op, l.count = opMaxLength, l.count-1
	case opMaxLength:
		l.op, l.count = opMinLength, l.count+1
	case opMinItems:
		l.op, l.count = opMaxItems, l.count-1
	case opMaxItems:
		l.op, l.count = opMinItems, l.count+1
	case opMinProps:
		l.op, l.count = opMaxProps, l.count-1
	case opMaxProps:
		l.op, l.count = opMinProps, l.count+1
	case opEach:
		l.op, l.neg = opSome, !l.neg
	case opSome:
		l.op, l.neg = opEach, !l.neg
	case opCountMin:
		return countMax(l.node, l.count-1)
	case opCountMax:
		return countMin(l.node, l.count+1)
	case opAllMembers:
		l.op, l.neg = opSomeMember, !l.neg
	case opAllNames:
		l.op, l.neg = opSomeName, !l.neg
	default: // opNode, opAtom, opMatch, opUnique, opHas
		l.neg = !l.neg
	}
	return l
}

// limits are those of a number of things.
type limits struct {
	low, high int // high -1: no limit
}

func (l *limits) atLeast(n int) { l.low = max(l.low, n) }

func (l *limits) atMost(n int) {
	if l.high < 0 || n < l.high {
		l.high = n
	}
}
