package tree

import (
	"slices"
	"strings"

	"github.com/plc-lang/plc/schemas/internal/pattern"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Node is one schema: references are resolved, and the spellings of all drafts are unified.
// Everything works on nodes, which never change after they are built; only the library reads the
// document again.
//
// Nodes form a graph. It has no cycles along the edges that stay at the same value (ref, allOf,
// anyOf, oneOf, not, if, then, else, dependent schemas).
type Node struct {
	own     Ref
	Doc     *Document // nil if it is in no document: unions, conjunctions
	Pointer string    // into Doc
	Draft   int
	// Opaque names a part that only the library can decide: a reference to a meta-schema, or a
	// dynamic reference with more than one possible target.
	Opaque  string
	Foreign bool // it is a meta-schema

	Types value.Types // false is NoTypes
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
	Enum     []value.Value
	HasEnum  bool
	EnumSet  map[string]struct{} // by canonical text, if there are many
	EnumWork int                 // the library's cost of looking for a value in it; see count
	Const    *value.Value
	Examples []value.Value // and the default
}

// ofNumbers holds the keywords about numbers.
type ofNumbers struct {
	Integer      bool // only the integers
	Lower, Upper Bound
	Multiple     *value.Decimal
}

// ofTexts holds the keywords about strings.
type ofTexts struct {
	MinLength, MaxLength int // -1: not given, here and below
	Pattern              *pattern.Pattern
	Format               string // an annotation
}

// ofLists holds the keywords about arrays.
type ofLists struct {
	Prefix                   []*Node
	Rest                     *Node  // the elements after prefix; nil: any
	RestWord                 string // the keyword of rest
	Contains                 *Node
	MinContains, MaxContains int
	MinItems, MaxItems       int
	Unique                   bool
	RestItems                *Node // unevaluatedItems
}

// ofObjects holds the keywords about objects.
type ofObjects struct {
	Props              []Property
	byName             map[string]int // index in props, if there are many
	Patterns           []patternProperty
	Additional         *Node
	Names              *Node
	Required           []string
	requiredSet        map[string]bool // required as a set, if there are many
	Dependents         []Dependent
	MinProps, MaxProps int
	RestProps          *Node // unevaluatedProperties
}

// combined holds the schemas that apply to the same value.
type combined struct {
	Ref            *Node
	AllOf          []*Node
	AnyOf, OneOf   []*Node
	Not            *Node
	If, Then, Else *Node
}

// derived holds the properties of a node that are computed when all nodes are built.
type derived struct {
	May, Full value.Types // see Complete
	Scan      Scanning    // what the scanner of package schemas can do with it
	tags      []tag       // by name, at most maxTags
	AnyTold   *Told       // of anyOf and oneOf: distinguishes the forms; nil if nothing simple does
	OneTold   *Told
}

// tag is a required member with its only allowed value. Tags distinguish the forms of a union.
type tag struct {
	name  string
	value *value.Value
}

// Bound is an end of a range of numbers.
type Bound struct {
	value.Decimal
	Set, Strict bool
	Word        string // the keyword
}

type Property struct {
	Name string
	Node *Node
}

type patternProperty struct {
	Pattern *pattern.Pattern
	Node    *Node
}

// Dependent holds the requirements that follow from the presence of a member: other members, or a
// schema.
type Dependent struct {
	Name  string
	Word  string // the keyword
	Names []string
	Node  *Node
}

// Ref refers to a node. It is part of that node, so its address identifies the node under another
// type.
type Ref struct{ of *Node }

// Node returns the node that r refers to.
func (r *Ref) Node() *Node { return r.of }

// Self returns the reference to n, always the same one.
func (n *Node) Self() *Ref { return &n.own }

// New returns a schema that only requires values to have one of these types. Callers that add
// keywords must call Complete.
func New(types value.Types) *Node {
	n := &Node{
		Types:     types,
		ofTexts:   ofTexts{MinLength: -1, MaxLength: -1},
		ofLists:   ofLists{MinItems: -1, MaxItems: -1, MinContains: 1, MaxContains: -1},
		ofObjects: ofObjects{MinProps: -1, MaxProps: -1},
	}
	n.own.of = n
	return n
}

// Property returns the schema of a name in properties, nil if there is none.
func (n *Node) Property(name string) *Node {
	if n.byName != nil {
		if i, ok := n.byName[name]; ok {
			return n.Props[i].Node
		}
		return nil
	}
	for i := range n.Props {
		if n.Props[i].Name == name {
			return n.Props[i].Node
		}
	}
	return nil
}

// Requires reports whether n itself lists the member as required.
func (n *Node) Requires(name string) bool {
	if n.requiredSet != nil {
		return n.requiredSet[name]
	}
	return slices.Contains(n.Required, name)
}

// InPlace calls f for each schema that n applies to the same value.
func (n *Node) InPlace(f func(child *Node)) {
	for _, c := range [...]*Node{n.Ref, n.Not, n.If, n.Then, n.Else} {
		if c != nil {
			f(c)
		}
	}
	for _, list := range [...][]*Node{n.AllOf, n.AnyOf, n.OneOf} {
		for _, c := range list {
			f(c)
		}
	}
	for i := range n.Dependents {
		if n.Dependents[i].Node != nil {
			f(n.Dependents[i].Node)
		}
	}
}

// inside calls f for each schema that n applies to members, names and elements.
func (n *Node) inside(f func(child *Node)) {
	for _, c := range [...]*Node{n.Rest, n.Contains, n.Additional, n.Names, n.RestProps, n.RestItems} {
		if c != nil {
			f(c)
		}
	}
	for _, c := range n.Prefix {
		f(c)
	}
	for i := range n.Props {
		f(n.Props[i].Node)
	}
	for i := range n.Patterns {
		f(n.Patterns[i].Node)
	}
}

// Complete computes the derived properties of n. The most important are May, the types of which n
// may admit a value, and Full, the types of which it certainly admits all values. Call it when n
// has all its keywords and the children in place are complete.
func (n *Node) Complete() {
	if len(n.Props) > 8 {
		n.byName = make(map[string]int, len(n.Props))
		for i := range n.Props {
			n.byName[n.Props[i].Name] = i
		}
	}
	if len(n.Required) > 16 {
		n.requiredSet = make(map[string]bool, len(n.Required))
		for _, name := range n.Required {
			n.requiredSet[name] = true
		}
	}
	n.tag()
	may, full := n.Types, n.Types
	full &^= n.Constrained()
	all := func(c *Node) { may &= c.May; full &= c.Full }
	if n.HasEnum {
		may, full = may&value.KindsOf(n.Enum), value.NoTypes
	}
	if n.Const != nil {
		may, full = may&value.Only(n.Const.Kind), value.NoTypes
	}
	if n.Opaque != "" {
		full = value.NoTypes
	}
	if n.Ref != nil {
		all(n.Ref)
	}
	for _, c := range n.AllOf {
		all(c)
	}
	if len(n.AnyOf) > 0 {
		anyMay, anyFull := value.NoTypes, value.NoTypes
		for _, c := range n.AnyOf {
			anyMay, anyFull = anyMay|c.May, anyFull|c.Full
		}
		may, full = may&anyMay, full&anyFull
		n.AnyTold = tell(n.AnyOf)
	}
	if len(n.OneOf) > 0 {
		m, f := oneOfMasks(n.OneOf)
		may, full = may&m, full&f
		n.OneTold = tell(n.OneOf)
	}
	if n.Not != nil {
		may, full = may&^n.Not.Full, full&^n.Not.May
	}
	if n.If != nil {
		m, f := n.condMasks()
		may, full = may&m, full&f
	}
	n.May, n.Full, n.Scan = may, full, n.scanning()
}

// maxTags limits the tags of a node, since a node also gets the tags of the schemas to which it
// refers.
const maxTags = 16

// tag collects the tags of n and of the schemas to which it refers.
func (n *Node) tag() {
	n.tags = nil
	add := func(t tag) {
		i, there := slices.BinarySearchFunc(n.tags, t.name, func(t tag, name string) int { return strings.Compare(t.name, name) })
		if !there && len(n.tags) < maxTags {
			n.tags = slices.Insert(n.tags, i, t)
		}
	}
	for _, name := range n.Required {
		if p := n.Property(name); p != nil && p.Const != nil {
			add(tag{name, p.Const})
		} else if p != nil && p.HasEnum && len(p.Enum) == 1 {
			add(tag{name, &p.Enum[0]})
		}
	}
	if n.Ref != nil {
		for _, t := range n.Ref.tags {
			add(t)
		}
	}
	for _, c := range n.AllOf {
		for _, t := range c.tags {
			add(t)
		}
	}
}

// tagged returns the value of the tag with a name, nil if there is none.
func (n *Node) tagged(name string) *value.Value {
	for i := range n.tags {
		if n.tags[i].name == name {
			return n.tags[i].value
		}
	}
	return nil
}

// Told is a list of many schemas such that no value meets two of them: each requires a different
// value, either of the same tag in objects or, if tag is "", of the whole value.
type Told struct {
	List []*Node
	tag  string
	by   map[string]*Node // by the canonical text of the value
}

// minTold is the minimum length of a list for which a Told is made.
const minTold = 8

// tell returns the Told of a list of schemas, nil if nothing simple distinguishes them.
func tell(list []*Node) *Told {
	if len(list) < minTold {
		return nil
	}
	if list[0].Const != nil {
		return tellBy("", list)
	}
	for _, tag := range list[0].tags {
		if t := tellBy(tag.name, list); t != nil {
			return t
		}
	}
	return nil
}

func tellBy(tag string, list []*Node) *Told {
	t := &Told{list, tag, make(map[string]*Node, len(list))}
	for _, c := range list {
		v := t.valueOf(c)
		if v == nil || tag != "" && c.May != value.Only(value.Object) {
			return nil
		}
		key := string(v.AppendCanonical(nil))
		if t.by[key] != nil {
			return nil
		}
		t.by[key] = c
	}
	return t
}

// Asked reports whether n requires a value, and returns the schema in the list that requires the
// same value; nil if there is none.
func (t *Told) Asked(n *Node) (c *Node, asks bool) {
	v := t.valueOf(n)
	if v == nil {
		return nil, false
	}
	return t.by[string(v.AppendCanonical(nil))], true
}

// valueOf returns the value that n requires, nil if there is none.
func (t *Told) valueOf(n *Node) *value.Value {
	if t.tag == "" {
		return n.Const
	}
	return n.tagged(t.tag)
}

// Disjoint reports whether it is obvious that no value of a kind meets both schemas.
func Disjoint(a, b *Node, k value.Kind) bool {
	if a.May.Excludes(k) || b.May.Excludes(k) || a.Const != nil && b.Const != nil && !a.Const.Equal(b.Const) {
		return true
	}
	for i, j := 0, 0; k == value.Object && i < len(a.tags) && j < len(b.tags); {
		x, y := a.tags[i], b.tags[j]
		switch {
		case x.name < y.name:
			i++
		case x.name > y.name:
			j++
		case !x.value.Equal(y.value):
			return true
		default:
			i, j = i+1, j+1
		}
	}
	return false
}

func oneOfMasks(list []*Node) (may, full value.Types) {
	once, twice := value.NoTypes, value.NoTypes // of may
	fullOnce, fullTwice := value.NoTypes, value.NoTypes
	for _, c := range list {
		twice |= once & c.May
		once |= c.May
		fullTwice |= fullOnce & c.Full
		fullOnce |= c.Full
	}
	return once &^ fullTwice, fullOnce &^ twice
}

func (n *Node) condMasks() (may, full value.Types) {
	thenMay, thenFull, elseMay, elseFull := value.AllTypes, value.AllTypes, value.AllTypes, value.AllTypes
	if n.Then != nil {
		thenMay, thenFull = n.Then.May, n.Then.Full
	}
	if n.Else != nil {
		elseMay, elseFull = n.Else.May, n.Else.Full
	}
	may = n.If.May&thenMay | elseMay&^n.If.Full
	full = thenFull&elseFull | thenFull&n.If.Full | elseFull&^n.If.May
	return may, full
}

// Constrained returns the set of types that n's own keywords constrain.
func (n *Node) Constrained() (t value.Types) {
	if n.Integer || n.Lower.Set || n.Upper.Set || n.Multiple != nil {
		t |= value.Only(value.Number)
	}
	if n.MinLength > 0 || n.MaxLength >= 0 || n.Pattern != nil {
		t |= value.Only(value.String)
	}
	if n.constrainsArrays() {
		t |= value.Only(value.Array)
	}
	if n.constrainsObjects() {
		t |= value.Only(value.Object)
	}
	return t
}

func (n *Node) constrainsArrays() bool {
	if n.MinItems > 0 || n.MaxItems >= 0 || n.Unique || !AdmitsAll(n.Rest) || !AdmitsAll(n.RestItems) {
		return true
	}
	for _, c := range n.Prefix {
		if !AdmitsAll(c) {
			return true
		}
	}
	return n.Contains != nil && (n.MinContains > 0 || n.MaxContains >= 0)
}

func (n *Node) constrainsObjects() bool {
	if n.MinProps > 0 || n.MaxProps >= 0 || len(n.Required) > 0 || len(n.Dependents) > 0 ||
		!AdmitsAll(n.Additional) || !AdmitsAll(n.Names) || !AdmitsAll(n.RestProps) {
		return true
	}
	for i := range n.Props {
		if !AdmitsAll(n.Props[i].Node) {
			return true
		}
	}
	for i := range n.Patterns {
		if n.Patterns[i].Pattern.Unread() || !AdmitsAll(n.Patterns[i].Node) {
			return true
		}
	}
	return false
}

// AdmitsAll reports whether n is known to admit every value; nil does. It returns false for nodes
// that are still being built, which happens with recursive schemas.
func AdmitsAll(n *Node) bool { return n == nil || n.Full == value.AllTypes }

// Among reports whether v is in n's enum.
func (n *Node) Among(v *value.Value) bool {
	if n.EnumSet != nil {
		var space [64]byte
		_, there := n.EnumSet[string(v.AppendCanonical(space[:0]))]
		return there
	}
	for i := range n.Enum {
		if n.Enum[i].Equal(v) {
			return true
		}
	}
	return false
}

// ValidNumber reports whether a number, given as text, meets n's own keywords.
func (n *Node) ValidNumber(text string) bool {
	if !n.Integer && !n.Lower.Set && !n.Upper.Set && n.Multiple == nil {
		return true
	}
	x := value.DecimalOf(text)
	return !(n.Integer && !x.IsInt()) &&
		n.Lower.Admits(x, 1) && n.Upper.Admits(x, -1) &&
		(n.Multiple == nil || x.MultipleOf(*n.Multiple))
}

// Admits reports whether x is on the right side of b: above for sign 1.
func (b *Bound) Admits(x value.Decimal, sign int) bool {
	if !b.Set {
		return true
	}
	c := x.Cmp(b.Decimal) * sign
	return c > 0 || c == 0 && !b.Strict
}

// PropertyNamed does what Property does, for a name given as bytes.
func (n *Node) PropertyNamed(name []byte) *Node {
	if n.byName != nil {
		if i, ok := n.byName[string(name)]; ok {
			return n.Props[i].Node
		}
		return nil
	}
	for i := range n.Props {
		if n.Props[i].Name == string(name) {
			return n.Props[i].Node
		}
	}
	return nil
}

// A Scanning is the way in which the scanner (scan.go in package schemas) reads values of a node.
type Scanning uint8

const (
	Unscanned Scanning = iota // the scanner can't decide it
	Plain                     // its keywords are about the value itself, its members and elements
	Through                   // its only keyword is one of $ref, allOf, anyOf and oneOf
)

// scanning returns what the scanner can do with n.
func (n *Node) scanning() Scanning {
	lists := 0
	for _, list := range [...][]*Node{n.AllOf, n.AnyOf, n.OneOf} {
		lists += min(len(list), 1)
	}
	if n.Ref != nil {
		lists++
	}
	switch {
	case n.Opaque != "" || n.Not != nil || n.If != nil || n.RestProps != nil || n.RestItems != nil ||
		len(n.Dependents) > 0 || len(n.Patterns) > 0 || n.Names != nil || n.Unique || n.Contains != nil || len(n.Required) > 64:
		return Unscanned
	case lists == 0:
		return Plain
	case lists == 1 && len(n.AllOf) <= 1 && !n.HasEnum && n.Const == nil && n.Constrained() == value.NoTypes:
		return Through
	}
	return Unscanned
}

// UnreadPatterns reports whether RE2 cannot read one of n's patternProperties.
func (n *Node) UnreadPatterns() bool {
	for i := range n.Patterns {
		if n.Patterns[i].Pattern.Unread() {
			return true
		}
	}
	return false
}

// Both returns the conjunction of two schemas; nil admits any value.
func Both(a, b *Node) *Node {
	switch {
	case a == nil || a == b || AdmitsAll(a):
		return b
	case b == nil || AdmitsAll(b):
		return a
	}
	n := New(value.AllTypes)
	n.AllOf = []*Node{a, b}
	n.Complete()
	return n
}

// Either returns the union of two schemas; nil admits any value.
func Either(a, b *Node) *Node {
	switch {
	case a == nil || b == nil:
		return nil
	case a == b || b.May == value.NoTypes:
		return a
	case a.May == value.NoTypes:
		return b
	}
	n := New(value.AllTypes)
	n.AnyOf = []*Node{a, b}
	n.Complete()
	return n
}

// EitherFlat does what Either does, and keeps a union of many flat.
func EitherFlat(a, b *Node) *Node {
	if a == nil || b == nil || a.Doc != nil || len(a.AnyOf) == 0 || AdmitsAll(b) {
		return Either(a, b)
	}
	n := New(value.AllTypes)
	n.AnyOf = append(append(n.AnyOf, a.AnyOf...), b)
	n.Complete()
	return n
}

// Const returns the schema of one value.
func Const(v *value.Value) *Node {
	n := New(value.AllTypes)
	n.Const = v
	n.Complete()
	return n
}
