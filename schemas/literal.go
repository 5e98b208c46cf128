package schemas

import "slices"

// op tells literals apart.
type op uint8

const (
	opNode     op = iota // the value meets node
	opNotValue           // the value is not value
	opAtom               // something that cannot be decided, by key
	opNone               // the value meets none of told

	opLower // numbers: at least num, more if strict
	opUpper
	opMultiple    // a multiple of num
	opNotMultiple // no multiple of num

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

// literal is one thing said of a value. With neg opNode, opAtom, opMatch, opUnique and
// opHas say the opposite; in the others that have a node, it says that the element,
// member or name does not meet it.
type literal struct {
	op     op
	neg    bool
	strict bool
	node   *node
	value  *value
	num    number
	count  int
	to     int // noEnd: to the end
	text   string
	pat    *pattern
	class  *class
	told   *told
}

const noEnd = 1 << 60

func isNode(n *node, neg bool) literal { return literal{op: opNode, node: n, neg: neg} }

// class is a set of names: one, those that a pattern matches, or all but some names
// and those that some patterns match.
type class struct {
	single bool
	name   string
	match  *pattern
	of     *node      // not its properties
	names  []string   // nor these
	pats   []*pattern // nor what these match
}

func (c *class) contains(name string) bool {
	switch {
	case c.single:
		return c.name == name
	case c.match != nil:
		return c.match.match(name) == yes
	}
	if c.of != nil && c.of.property(name) != nil || slices.Contains(c.names, name) {
		return false
	}
	for _, p := range c.pats {
		if p.match(name) == yes {
			return false
		}
	}
	return true
}

// cost returns what asking whether the class has a name costs, in small things that are looked at.
func (c *class) cost() int { return 1 + len(c.names)/8 + 16*len(c.pats) }

// holds decides a literal that is about a string, or a node, for one value.
func (p *prover) holds(l *literal, v *value) verdict {
	out := doubt
	switch l.op {
	case opNode:
		out = p.try(&p.work, l.node, v)
	case opMatch:
		if !l.pat.unread() {
			out = l.pat.match(v.text)
		}
	case opNotValue:
		return verdictOf(!l.value.equal(v))
	}
	if l.neg {
		return out.not()
	}
	return out
}

// assertions lists what n's own keywords say about values of a kind, as conjunction.
// The schemas that n applies in place, enum and const are not in it.
func (p *prover) assertions(n *node, k kind) (out []literal) {
	switch k {
	case kindNumber:
		return numberAssertions(n)
	case kindString:
		if n.minLength > 0 {
			out = append(out, literal{op: opMinLength, count: n.minLength})
		}
		if n.maxLength >= 0 {
			out = append(out, literal{op: opMaxLength, count: n.maxLength})
		}
		if n.pattern != nil {
			out = append(out, literal{op: opMatch, pat: n.pattern})
		}
	case kindArray:
		return arrayAssertions(n)
	case kindObject:
		return p.objectAssertions(n)
	}
	return out
}

func numberAssertions(n *node) (out []literal) {
	if n.integer {
		out = append(out, literal{op: opMultiple, num: intNumber(1)})
	}
	if n.lower.set {
		out = append(out, literal{op: opLower, num: n.lower.number, strict: n.lower.strict})
	}
	if n.upper.set {
		out = append(out, literal{op: opUpper, num: n.upper.number, strict: n.upper.strict})
	}
	if n.multiple != nil {
		out = append(out, literal{op: opMultiple, num: *n.multiple})
	}
	return out
}

func arrayAssertions(n *node) (out []literal) {
	if n.minItems > 0 {
		out = append(out, literal{op: opMinItems, count: n.minItems})
	}
	if n.maxItems >= 0 {
		out = append(out, literal{op: opMaxItems, count: n.maxItems})
	}
	for i, c := range n.prefix {
		if !admitsAll(c) {
			out = append(out, literal{op: opEach, count: i, to: i + 1, node: c})
		}
	}
	if n.rest != nil && !admitsAll(n.rest) {
		out = append(out, literal{op: opEach, count: len(n.prefix), to: noEnd, node: n.rest})
	}
	if n.contains != nil {
		if n.minContains > 0 {
			out = append(out, countMin(n.contains, n.minContains))
		}
		if n.maxContains >= 0 {
			out = append(out, countMax(n.contains, n.maxContains))
		}
	}
	if n.unique {
		out = append(out, literal{op: opUnique})
	}
	return out
}

// countMin says that at least count elements meet n; count is more than 0.
func countMin(n *node, count int) literal {
	if count == 1 {
		return literal{op: opSome, to: noEnd, node: n}
	}
	return literal{op: opCountMin, node: n, count: count}
}

func countMax(n *node, count int) literal {
	if count == 0 {
		return literal{op: opEach, to: noEnd, node: n, neg: true}
	}
	return literal{op: opCountMax, node: n, count: count}
}

func (p *prover) objectAssertions(n *node) (out []literal) {
	if n.minProps > 0 {
		out = append(out, literal{op: opMinProps, count: n.minProps})
	}
	if n.maxProps >= 0 {
		out = append(out, literal{op: opMaxProps, count: n.maxProps})
	}
	for _, name := range n.required {
		out = append(out, literal{op: opHas, text: name})
	}
	for i := range n.props {
		if !admitsAll(n.props[i].node) {
			out = append(out, literal{op: opAllMembers, class: p.classOf(n, i), node: n.props[i].node})
		}
	}
	unread := n.unreadPatterns()
	for i := range n.patterns {
		if pp := &n.patterns[i]; !pp.pattern.unread() && !admitsAll(pp.node) {
			out = append(out, literal{op: opAllMembers, class: &class{match: pp.pattern}, node: pp.node})
		}
	}
	switch {
	case unread:
		out = append(out, literal{op: opAtom, text: "patternProperties", node: n})
	case n.additional != nil && !admitsAll(n.additional):
		out = append(out, literal{op: opAllMembers, class: p.restClass(n), node: n.additional})
	}
	if n.names != nil && !admitsAll(n.names) {
		out = append(out, literal{op: opAllNames, node: n.names})
	}
	return out
}

// classes are made once for each node.
type classes struct {
	props []class
	rest  *class
}

func (p *prover) classesOf(n *node) *classes {
	c := p.classes[n]
	if c == nil {
		c = &classes{props: make([]class, len(n.props))}
		for i := range n.props {
			c.props[i] = class{single: true, name: n.props[i].name}
		}
		c.rest = &class{of: n}
		for i := range n.patterns {
			if pat := n.patterns[i].pattern; !pat.unread() {
				c.rest.pats = append(c.rest.pats, pat)
			}
		}
		p.classes[n] = c
	}
	return c
}

func (p *prover) classOf(n *node, i int) *class { return &p.classesOf(n).props[i] }
func (p *prover) restClass(n *node) *class      { return p.classesOf(n).rest }

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
