package schemas

import (
	"regexp"
	"regexp/syntax"
)

// typeSet is a set of the six types, a bit each.
type typeSet uint8

const (
	noTypes  typeSet = 0
	allTypes typeSet = 1<<kinds - 1
)

func only(k kind) typeSet              { return 1 << k }
func (t typeSet) has(k kind) bool      { return t&(1<<k) != 0 }
func (t typeSet) excludes(k kind) bool { return t&(1<<k) == 0 }

// node is one schema as its keywords say: references are resolved, and what the
// drafts write differently is the same. Everything works on nodes, which are never
// changed once built; only the library reads the document again.
//
// Nodes form a graph. Along the edges that stay at the same value (ref, allOf,
// anyOf, oneOf, not, if, then, else, dependent schemas) it has no cycles.
type node struct {
	schema  Schema    // of this node
	doc     *document // nil when no document says it: unions, conjunctions
	pointer string    // into doc
	draft   int

	types   typeSet // false is noTypes
	integer bool    // of the numbers only the integers
	enum    []value
	hasEnum bool
	enumSet map[string]struct{} // by canonical text, when they are many
	konst   *value

	lower, upper bound
	multiple     *number

	minLength, maxLength int // -1: unsaid, as below
	pattern              *pattern

	prefix                   []*node
	rest                     *node // the elements after prefix; nil: any
	prefixWord, restWord     string
	contains                 *node
	minContains, maxContains int
	minItems, maxItems       int
	unique                   bool

	props              []property
	byName             map[string]int // into props, when they are many
	patterns           []patternProperty
	additional         *node
	names              *node
	required           []string
	dependents         []dependent
	minProps, maxProps int

	ref             *node
	refWord         string
	allOf           []*node
	anyOf, oneOf    []*node
	not             *node
	cond, then, els *node
	restProps       *node // unevaluatedProperties
	restItems       *node // unevaluatedItems
	// opaque names what only the library can decide: a reference to a meta-schema,
	// or a dynamic one with more than one possible target.
	opaque  string
	foreign bool // it is a meta-schema

	format   string  // an annotation
	examples []value // and the default

	may, full typeSet  // see masks
	scan      scanning // see scan.go
	tags      []tag
}

// tag is a member that objects must have, with the one value that it must have: what
// tells the forms of a union apart.
type tag struct {
	name  string
	value *value
}

// bound is an end of a range of numbers.
type bound struct {
	number
	set, strict bool
	word        string // the keyword
}

type property struct {
	name string
	node *node
}

// pattern is a regular expression. When RE2 cannot read it, re and prog are nil and
// it is not enforced.
type pattern struct {
	text string
	re   *regexp.Regexp
	prog *syntax.Prog
}

type patternProperty struct {
	pattern *pattern
	node    *node
}

// dependent is what follows from the presence of a member: others, or a schema.
type dependent struct {
	name  string
	word  string // the keyword
	names []string
	node  *node
}

func newNode(types typeSet) *node {
	n := &node{
		types: types, minLength: -1, maxLength: -1, minItems: -1, maxItems: -1,
		minContains: 1, maxContains: -1, minProps: -1, maxProps: -1,
	}
	n.schema.node = n
	return n
}

// property is the schema that properties gives a name, nil if none.
func (n *node) property(name string) *node {
	if n.byName != nil {
		if i, ok := n.byName[name]; ok {
			return n.props[i].node
		}
		return nil
	}
	for i := range n.props {
		if n.props[i].name == name {
			return n.props[i].node
		}
	}
	return nil
}

// requires reports whether n itself lists the member as required.
func (n *node) requires(name string) bool {
	for _, r := range n.required {
		if r == name {
			return true
		}
	}
	return false
}

// inPlace calls f for each schema that n applies to the same value, with the
// pointer to it from n.
func (n *node) inPlace(f func(child *node)) {
	for _, c := range [...]*node{n.ref, n.not, n.cond, n.then, n.els} {
		if c != nil {
			f(c)
		}
	}
	for _, list := range [...][]*node{n.allOf, n.anyOf, n.oneOf} {
		for _, c := range list {
			f(c)
		}
	}
	for i := range n.dependents {
		if n.dependents[i].node != nil {
			f(n.dependents[i].node)
		}
	}
}

// inside calls f for each schema that n applies to members, names and elements.
func (n *node) inside(f func(child *node)) {
	for _, c := range [...]*node{n.rest, n.contains, n.additional, n.names, n.restProps, n.restItems} {
		if c != nil {
			f(c)
		}
	}
	for _, c := range n.prefix {
		f(c)
	}
	for i := range n.props {
		f(n.props[i].node)
	}
	for i := range n.patterns {
		f(n.patterns[i].node)
	}
}

// masks fills in may, the types of which n may admit a value, and full, those of
// which it certainly admits all. The children in place must have theirs.
func (n *node) masks() {
	n.tag()
	may, full := n.types, n.types
	full &^= n.constrained()
	all := func(c *node) { may &= c.may; full &= c.full }
	if n.hasEnum {
		may, full = may&kindsOf(n.enum), noTypes
	}
	if n.konst != nil {
		may, full = may&only(n.konst.kind), noTypes
	}
	if n.opaque != "" {
		full = noTypes
	}
	if n.ref != nil {
		all(n.ref)
	}
	for _, c := range n.allOf {
		all(c)
	}
	if len(n.anyOf) > 0 {
		anyMay, anyFull := noTypes, noTypes
		for _, c := range n.anyOf {
			anyMay, anyFull = anyMay|c.may, anyFull|c.full
		}
		may, full = may&anyMay, full&anyFull
	}
	if len(n.oneOf) > 0 {
		m, f := oneOfMasks(n.oneOf)
		may, full = may&m, full&f
	}
	if n.not != nil {
		may, full = may&^n.not.full, full&^n.not.may
	}
	if n.cond != nil {
		m, f := n.condMasks()
		may, full = may&m, full&f
	}
	n.may, n.full, n.scan = may, full, n.scanning()
}

// tag collects the tags of n and of what it refers to.
func (n *node) tag() {
	n.tags = nil
	for _, name := range n.required {
		if p := n.property(name); p != nil && p.konst != nil {
			n.tags = append(n.tags, tag{name, p.konst})
		} else if p != nil && p.hasEnum && len(p.enum) == 1 {
			n.tags = append(n.tags, tag{name, &p.enum[0]})
		}
	}
	if n.ref != nil {
		n.tags = append(n.tags, n.ref.tags...)
	}
	for _, c := range n.allOf {
		n.tags = append(n.tags, c.tags...)
	}
}

// disjoint reports whether it is plain that no value of a kind meets both schemas.
func disjoint(a, b *node, k kind) bool {
	if a.may.excludes(k) || b.may.excludes(k) || a.konst != nil && b.konst != nil && !a.konst.equal(b.konst) {
		return true
	}
	if k == kindObject {
		for _, x := range a.tags {
			for _, y := range b.tags {
				if x.name == y.name && !x.value.equal(y.value) {
					return true
				}
			}
		}
	}
	return false
}

func kindsOf(values []value) (t typeSet) {
	for i := range values {
		t |= only(values[i].kind)
	}
	return t
}

func oneOfMasks(list []*node) (may, full typeSet) {
	once, twice := noTypes, noTypes // of may
	fullOnce, fullTwice := noTypes, noTypes
	for _, c := range list {
		twice |= once & c.may
		once |= c.may
		fullTwice |= fullOnce & c.full
		fullOnce |= c.full
	}
	return once &^ fullTwice, fullOnce &^ twice
}

func (n *node) condMasks() (may, full typeSet) {
	thenMay, thenFull, elseMay, elseFull := allTypes, allTypes, allTypes, allTypes
	if n.then != nil {
		thenMay, thenFull = n.then.may, n.then.full
	}
	if n.els != nil {
		elseMay, elseFull = n.els.may, n.els.full
	}
	may = n.cond.may&thenMay | elseMay&^n.cond.full
	full = thenFull&elseFull | thenFull&n.cond.full | elseFull&^n.cond.may
	return may, full
}

// constrained is the set of types on which n's own keywords say something.
func (n *node) constrained() (t typeSet) {
	if n.integer || n.lower.set || n.upper.set || n.multiple != nil {
		t |= only(kindNumber)
	}
	if n.minLength > 0 || n.maxLength >= 0 || n.pattern != nil {
		t |= only(kindString)
	}
	if n.constrainsArrays() {
		t |= only(kindArray)
	}
	if n.constrainsObjects() {
		t |= only(kindObject)
	}
	return t
}

func (n *node) constrainsArrays() bool {
	if n.minItems > 0 || n.maxItems >= 0 || n.unique || !admitsAll(n.rest) || !admitsAll(n.restItems) {
		return true
	}
	for _, c := range n.prefix {
		if !admitsAll(c) {
			return true
		}
	}
	return n.contains != nil && (n.minContains > 0 || n.maxContains >= 0)
}

func (n *node) constrainsObjects() bool {
	if n.minProps > 0 || n.maxProps >= 0 || len(n.required) > 0 || len(n.dependents) > 0 ||
		!admitsAll(n.additional) || !admitsAll(n.names) || !admitsAll(n.restProps) {
		return true
	}
	for i := range n.props {
		if !admitsAll(n.props[i].node) {
			return true
		}
	}
	for i := range n.patterns {
		if n.patterns[i].pattern.re == nil || !admitsAll(n.patterns[i].node) {
			return true
		}
	}
	return false
}

// admitsAll reports whether n is known to admit every value; nil does. While the
// graph is still being built, which recursion makes happen, it says no.
func admitsAll(n *node) bool { return n == nil || n.full == allTypes }
