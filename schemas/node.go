package schemas

import (
	"slices"
	"strings"
)

// node is one schema as its keywords say: references are resolved, and what the
// drafts write differently is the same. Everything works on nodes, which are never
// changed once built; only the library reads the document again.
//
// Nodes form a graph. Along the edges that stay at the same value (ref, allOf,
// anyOf, oneOf, not, if, then, else, dependent schemas) it has no cycles.
type node struct {
	own     ref
	doc     *document // nil when no document says it: unions, conjunctions
	pointer string    // into doc
	draft   int
	// opaque names what only the library can decide: a reference to a meta-schema,
	// or a dynamic one with more than one possible target.
	opaque  string
	foreign bool // it is a meta-schema

	types typeSet // false is noTypes
	ofValues
	ofNumbers
	ofTexts
	ofLists
	ofObjects
	combined
	derived
}

// ofValues holds the keywords about values of any type.
type ofValues struct {
	enum     []value
	hasEnum  bool
	enumSet  map[string]struct{} // by canonical text, when they are many
	enumWork int                 // what it costs the library to look for a value in it; see count
	konst    *value
	examples []value // and the default
}

// ofNumbers holds the keywords about numbers.
type ofNumbers struct {
	integer      bool // only the integers
	lower, upper bound
	multiple     *number
}

// ofTexts holds the keywords about strings.
type ofTexts struct {
	minLength, maxLength int // -1: unsaid, here and below
	pattern              *pattern
	format               string // an annotation
}

// ofLists holds the keywords about arrays.
type ofLists struct {
	prefix                   []*node
	rest                     *node  // the elements after prefix; nil: any
	restWord                 string // the keyword of rest
	contains                 *node
	minContains, maxContains int
	minItems, maxItems       int
	unique                   bool
	restItems                *node // unevaluatedItems
}

// ofObjects holds the keywords about objects.
type ofObjects struct {
	props              []property
	byName             map[string]int // into props, when they are many
	patterns           []patternProperty
	additional         *node
	names              *node
	required           []string
	requiredSet        map[string]bool // of required, when there are many
	dependents         []dependent
	minProps, maxProps int
	restProps          *node // unevaluatedProperties
}

// combined holds the schemas that apply to the same value.
type combined struct {
	ref             *node
	allOf           []*node
	anyOf, oneOf    []*node
	not             *node
	cond, then, els *node
}

// derived holds what is found out about a node once all are built.
type derived struct {
	may, full typeSet  // see masks
	scan      scanning // see scan.go
	tags      []tag    // by name, at most maxTags
	anyTold   *told    // of anyOf and oneOf: what tells the forms apart, nil if nothing plain does
	oneTold   *told
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

type patternProperty struct {
	pattern *pattern
	node    *node
}

// dependent holds what the presence of a member requires: other members, or a schema.
type dependent struct {
	name  string
	word  string // the keyword
	names []string
	node  *node
}

// ref refers to a node: the one of a node is as long-lived as that, so that its address stands for
// the node under another type.
type ref struct{ of *node }

// node returns the node that r refers to.
func (r *ref) node() *node { return r.of }

// self returns the reference to n, always the same one.
func (n *node) self() *ref { return &n.own }

func newNode(types typeSet) *node {
	n := &node{
		types:     types,
		ofTexts:   ofTexts{minLength: -1, maxLength: -1},
		ofLists:   ofLists{minItems: -1, maxItems: -1, minContains: 1, maxContains: -1},
		ofObjects: ofObjects{minProps: -1, maxProps: -1},
	}
	n.own.of = n
	return n
}

// property returns the schema that properties gives a name, nil if none.
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
	if n.requiredSet != nil {
		return n.requiredSet[name]
	}
	return slices.Contains(n.required, name)
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
	if len(n.props) > 8 {
		n.byName = make(map[string]int, len(n.props))
		for i := range n.props {
			n.byName[n.props[i].name] = i
		}
	}
	if len(n.required) > 16 {
		n.requiredSet = make(map[string]bool, len(n.required))
		for _, name := range n.required {
			n.requiredSet[name] = true
		}
	}
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
		n.anyTold = tell(n.anyOf)
	}
	if len(n.oneOf) > 0 {
		m, f := oneOfMasks(n.oneOf)
		may, full = may&m, full&f
		n.oneTold = tell(n.oneOf)
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

// maxTags bounds the tags of a node, since each adds those of what it refers to.
const maxTags = 16

// tag collects the tags of n and of what it refers to.
func (n *node) tag() {
	n.tags = nil
	add := func(t tag) {
		i, there := slices.BinarySearchFunc(n.tags, t.name, func(t tag, name string) int { return strings.Compare(t.name, name) })
		if !there && len(n.tags) < maxTags {
			n.tags = slices.Insert(n.tags, i, t)
		}
	}
	for _, name := range n.required {
		if p := n.property(name); p != nil && p.konst != nil {
			add(tag{name, p.konst})
		} else if p != nil && p.hasEnum && len(p.enum) == 1 {
			add(tag{name, &p.enum[0]})
		}
	}
	if n.ref != nil {
		for _, t := range n.ref.tags {
			add(t)
		}
	}
	for _, c := range n.allOf {
		for _, t := range c.tags {
			add(t)
		}
	}
}

// tagged returns the value of the tag of a name, nil if there is none.
func (n *node) tagged(name string) *value {
	for i := range n.tags {
		if n.tags[i].name == name {
			return n.tags[i].value
		}
	}
	return nil
}

// told is a list of many schemas of which no value meets two: each asks for a value of its own, of
// one tag in objects or, when tag is "", as a whole.
type told struct {
	list []*node
	tag  string
	by   map[string]*node // by the canonical text of the value
}

// minTold is the length from which a list is looked at as a whole.
const minTold = 8

// tell finds what tells the schemas of a list apart, nil if nothing plain does.
func tell(list []*node) *told {
	if len(list) < minTold {
		return nil
	}
	if list[0].konst != nil {
		return tellBy("", list)
	}
	for _, tag := range list[0].tags {
		if t := tellBy(tag.name, list); t != nil {
			return t
		}
	}
	return nil
}

func tellBy(tag string, list []*node) *told {
	t := &told{list, tag, make(map[string]*node, len(list))}
	for _, c := range list {
		v := t.valueOf(c)
		if v == nil || tag != "" && c.may != only(kindObject) {
			return nil
		}
		key := string(v.appendCanonical(nil))
		if t.by[key] != nil {
			return nil
		}
		t.by[key] = c
	}
	return t
}

// asked reports whether n asks for a value, and returns the one of the list that asks for the same;
// nil is none.
func (t *told) asked(n *node) (c *node, asks bool) {
	v := t.valueOf(n)
	if v == nil {
		return nil, false
	}
	return t.by[string(v.appendCanonical(nil))], true
}

// valueOf returns the value that n asks for, nil if it asks for none.
func (t *told) valueOf(n *node) *value {
	if t.tag == "" {
		return n.konst
	}
	return n.tagged(t.tag)
}

// disjoint reports whether it is plain that no value of a kind meets both schemas.
func disjoint(a, b *node, k kind) bool {
	if a.may.excludes(k) || b.may.excludes(k) || a.konst != nil && b.konst != nil && !a.konst.equal(b.konst) {
		return true
	}
	for i, j := 0, 0; k == kindObject && i < len(a.tags) && j < len(b.tags); {
		x, y := a.tags[i], b.tags[j]
		switch {
		case x.name < y.name:
			i++
		case x.name > y.name:
			j++
		case !x.value.equal(y.value):
			return true
		default:
			i, j = i+1, j+1
		}
	}
	return false
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

// constrained returns the set of types on which n's own keywords say something.
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
		if n.patterns[i].pattern.unread() || !admitsAll(n.patterns[i].node) {
			return true
		}
	}
	return false
}

// admitsAll reports whether n is known to admit every value; nil does. While the
// graph is still being built, which recursion makes happen, it says no.
func admitsAll(n *node) bool { return n == nil || n.full == allTypes }

// among reports whether v is one of n's enum.
func (n *node) among(v *value) bool {
	if n.enumSet != nil {
		var space [64]byte
		_, there := n.enumSet[string(v.appendCanonical(space[:0]))]
		return there
	}
	for i := range n.enum {
		if n.enum[i].equal(v) {
			return true
		}
	}
	return false
}

func (n *node) validNumber(text string) bool {
	if !n.integer && !n.lower.set && !n.upper.set && n.multiple == nil {
		return true
	}
	x := numberOf(text)
	return !(n.integer && !x.isInt()) &&
		n.lower.admits(x, 1) && n.upper.admits(x, -1) &&
		(n.multiple == nil || x.multipleOf(*n.multiple))
}

// admits reports whether x is on the right side of b: above for sign 1.
func (b *bound) admits(x number, sign int) bool {
	if !b.set {
		return true
	}
	c := x.cmp(b.number) * sign
	return c > 0 || c == 0 && !b.strict
}

// named does what property does for a name that is not a string.
func (n *node) named(name []byte) *node {
	if n.byName != nil {
		if i, ok := n.byName[string(name)]; ok {
			return n.props[i].node
		}
		return nil
	}
	for i := range n.props {
		if n.props[i].name == string(name) {
			return n.props[i].node
		}
	}
	return nil
}

// scanning says what the scanner can do with a node.
type scanning uint8

const (
	unscanned scanning = iota // nothing
	plain                     // its keywords are about the value itself, its members and elements
	through                   // it says nothing but what one list of others in place says
)

// scanning returns what the scanner can do with n.
func (n *node) scanning() scanning {
	lists := 0
	for _, list := range [...][]*node{n.allOf, n.anyOf, n.oneOf} {
		lists += min(len(list), 1)
	}
	if n.ref != nil {
		lists++
	}
	switch {
	case n.opaque != "" || n.not != nil || n.cond != nil || n.restProps != nil || n.restItems != nil ||
		len(n.dependents) > 0 || len(n.patterns) > 0 || n.names != nil || n.unique || n.contains != nil || len(n.required) > 64:
		return unscanned
	case lists == 0:
		return plain
	case lists == 1 && len(n.allOf) <= 1 && !n.hasEnum && n.konst == nil && n.constrained() == noTypes:
		return through
	}
	return unscanned
}

func (n *node) unreadPatterns() bool {
	for i := range n.patterns {
		if n.patterns[i].pattern.unread() {
			return true
		}
	}
	return false
}

// bothNodes returns the conjunction of two schemas, of which nil is any value.
func bothNodes(a, b *node) *node {
	switch {
	case a == nil || a == b || admitsAll(a):
		return b
	case b == nil || admitsAll(b):
		return a
	}
	n := newNode(allTypes)
	n.allOf = []*node{a, b}
	n.masks()
	return n
}

// eitherNode returns the union of two schemas, of which nil is any value.
func eitherNode(a, b *node) *node {
	switch {
	case a == nil || b == nil:
		return nil
	case a == b || b.may == noTypes:
		return a
	case a.may == noTypes:
		return b
	}
	n := newNode(allTypes)
	n.anyOf = []*node{a, b}
	n.masks()
	return n
}

// eitherFlat does what eitherNode does, and keeps a union of many flat.
func eitherFlat(a, b *node) *node {
	if a == nil || b == nil || a.doc != nil || len(a.anyOf) == 0 || admitsAll(b) {
		return eitherNode(a, b)
	}
	n := newNode(allTypes)
	n.anyOf = append(append(n.anyOf, a.anyOf...), b)
	n.masks()
	return n
}

func constNode(v *value) *node {
	n := newNode(allTypes)
	n.konst = v
	n.masks()
	return n
}
