package tree

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas/internal/pattern"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Limits on schemas. Real schemas are far smaller; above the limits, compiling or checking would
// take seconds.
const (
	maxSchemas     = 100_000 // in a document
	maxReached     = 50_000  // of them, that are compiled
	maxReached2020 = 5_000   // the same for draft 2020-12, where the library takes quadratic time
	maxInPlace     = 20_000  // applied to one value, by $ref, allOf and the like
	maxCount       = 1 << 50
)

// builder makes the nodes of a document. Its methods record the first fault and continue with
// something harmless.
type builder struct {
	*Document
	err      *Fault
	patterns map[string]*pattern.Pattern
	insts    int // number of instructions of all patterns
	weights  map[*Node]int
}

func (b *builder) fail(pointer, format string, args ...any) {
	if b.err == nil {
		b.err = &Fault{Pointer: pointer, Message: fmt.Sprintf(format, args...)}
	}
}

// schema returns the node of the schema at v.
func (b *builder) schema(v *value.Value, pointer, base string) *Node {
	switch v.Kind {
	case value.Boolean:
		if b.draft == 4 && !strings.HasSuffix(pointer, "/additionalProperties") && !strings.HasSuffix(pointer, "/additionalItems") {
			b.fail(pointer, "draft 4 has no boolean schemas: write {} or {\"not\": {}}")
		}
		return b.boolean(v, pointer)
	case value.Object:
	default:
		b.fail(pointer, "a schema is an object or a boolean, not %s", article(v.Kind.String()))
		return New(value.AllTypes)
	}
	p := b.places[v]
	if p == nil {
		if err := b.scan(v, pointer, base); err != nil {
			b.fail(err.Pointer, "%s", err.Message)
			return New(value.AllTypes)
		}
		p = b.places[v]
	}
	if p.node != nil {
		return p.node
	}
	p.node = New(value.AllTypes)
	p.node.Doc, p.node.Pointer, p.node.Draft = b.Document, pointer, b.draft
	k := &keywords{builder: b, place: p, node: p.node, v: v}
	k.read()
	return p.node
}

func (b *builder) boolean(v *value.Value, pointer string) *Node {
	types := value.NoTypes
	if v.Truth {
		types = value.AllTypes
	}
	n := New(types)
	n.Doc, n.Pointer, n.Draft = b.Document, pointer, b.draft
	return n
}

// keywords reads the keywords of one schema.
type keywords struct {
	*builder
	place *place
	node  *Node
	v     *value.Value
}

func (k *keywords) at(word string) string { return k.place.pointer + "/" + word }

// get returns the value of a keyword that exists since the given draft; nil if it is absent or the
// draft is older.
func (k *keywords) get(word string, since int) *value.Value {
	if k.draft < since {
		return nil
	}
	return k.v.Member(word)
}

func (k *keywords) wrong(word, want string, got *value.Value) {
	k.fail(k.at(word), "%s is %s, not %s", word, want, article(got.Kind.String()))
}

func (k *keywords) read() {
	n := k.node
	if f := k.get("format", 4); f != nil && f.Kind == value.String {
		n.Format = f.Text
	}
	if k.references(); n.Ref != nil && k.draft < 2019 {
		return // its siblings are ignored
	}
	k.types()
	k.values()
	k.numbers()
	k.lengths()
	k.arrays()
	k.objects()
	k.logic()
}

func (k *keywords) references() {
	if r := k.get("$ref", 4); r != nil {
		k.node.Ref = k.reference("$ref", r)
	}
	for _, d := range [...]struct {
		word  string
		draft int
	}{{"$recursiveRef", 2019}, {"$dynamicRef", 2020}} {
		r := k.get(d.word, d.draft)
		if r == nil || d.draft == 2019 && k.draft != 2019 {
			continue
		}
		target := k.reference(d.word, r)
		switch {
		case k.isDynamic(target, r.Text) && len(k.dynamic[dynamicName(r.Text)]) > 1:
			k.node.Opaque = d.word + " " + r.Text
		case k.node.Ref == nil:
			k.node.Ref = target
		default:
			k.node.AllOf = append(k.node.AllOf, target)
		}
	}
}

// dynamicName returns the name under which document.dynamic lists the possible targets.
func dynamicName(ref string) string {
	_, name, _ := strings.Cut(ref, "#")
	return name
}

// isDynamic reports whether other schemas can replace the target of a dynamic reference.
func (k *keywords) isDynamic(target *Node, ref string) bool {
	for _, v := range k.dynamic[dynamicName(ref)] {
		if p := k.places[v]; p.node == target {
			return true
		}
	}
	return false
}

func (k *keywords) reference(word string, r *value.Value) *Node {
	if r.Kind != value.String {
		k.wrong(word, "a string", r)
		return New(value.AllTypes)
	}
	v, pointer, base, foreign := k.find(k.place.base, r.Text)
	if v != nil {
		return k.schema(v, pointer, base)
	}
	n := New(value.AllTypes)
	if foreign && isMetaSchema(k.place.base, r.Text) {
		n.Opaque, n.Foreign = r.Text, true
		return n
	}
	if foreign {
		k.fail(k.at(word), "%q leads out of the document, and nothing is ever fetched; copy what it means into $defs", r.Text)
	} else {
		k.fail(k.at(word), "%q leads to nothing in the document", r.Text)
	}
	return n
}

func (k *keywords) types() {
	t := k.get("type", 4)
	if t == nil {
		return
	}
	words := []value.Value{*t}
	if t.Kind == value.Array {
		words = t.Kids
	}
	n := k.node
	n.Types = value.NoTypes
	integer, number := false, false
	for i := range words {
		set, known := typeWord(words[i].Text)
		if words[i].Kind != value.String || !known {
			k.fail(k.at("type"), "type is one of null, boolean, number, integer, string, array and object, or a list of them")
		}
		n.Types |= set
		integer = integer || words[i].Text == "integer"
		number = number || words[i].Text == "number"
	}
	n.Integer = integer && !number
	if null := k.v.Member("nullable"); null != nil && null.Truth {
		n.Types |= value.Only(value.Null)
	}
}

func typeWord(word string) (set value.Types, known bool) {
	for t := range value.Kinds {
		if t.String() == word {
			return value.Only(t), true
		}
	}
	return value.Only(value.Number), word == "integer"
}

func (k *keywords) values() {
	if e := k.get("enum", 4); e != nil {
		if e.Kind != value.Array {
			k.wrong("enum", "a list", e)
		}
		k.node.Enum, k.node.HasEnum, k.node.EnumWork = e.Kids, true, costOf(e)
		if len(e.Kids) > 16 {
			k.node.EnumSet = make(map[string]struct{}, len(e.Kids))
			for i := range e.Kids {
				k.node.EnumSet[string(e.Kids[i].AppendCanonical(nil))] = struct{}{}
			}
		}
	}
	k.node.Const = k.get("const", 6)
	if d := k.get("default", 4); d != nil {
		k.node.Examples = append(k.node.Examples, *d)
	}
	if e := k.get("examples", 6); e != nil && e.Kind == value.Array {
		k.node.Examples = append(k.node.Examples, e.Kids...)
	}
	if e := k.get("example", 4); e != nil { // OpenAPI's
		k.node.Examples = append(k.node.Examples, *e)
	}
}

func (k *keywords) number(word string) *value.Decimal {
	v := k.get(word, 4)
	if v == nil {
		return nil
	}
	if v.Kind != value.Number {
		if v.Kind == value.Boolean {
			k.fail(k.at(word), "%s is a number; that it is true or false was so in draft 4 only (\"$schema\": \"http://json-schema.org/draft-04/schema#\")", word)
		}
		k.wrong(word, "a number", v)
		return nil
	}
	n := value.DecimalOf(v.Text)
	return &n
}

func (k *keywords) numbers() {
	n := k.node
	n.Lower = k.bound("minimum", "exclusiveMinimum", -1)
	n.Upper = k.bound("maximum", "exclusiveMaximum", 1)
	if n.Multiple = k.number("multipleOf"); n.Multiple != nil && n.Multiple.Cmp(value.Decimal{}) <= 0 {
		k.fail(k.at("multipleOf"), "multipleOf is more than 0")
		n.Multiple = nil
	}
}

// bound reads one end of a range; if both keywords are given, the narrower one counts.
func (k *keywords) bound(word, exclusive string, sign int) (b Bound) {
	if n := k.number(word); n != nil {
		b = Bound{Decimal: *n, Set: true, Word: word}
	}
	if k.draft == 4 {
		if e := k.v.Member(exclusive); e != nil {
			if e.Kind != value.Boolean {
				k.wrong(exclusive, "true or false in draft 4", e)
			}
			b.Strict = e.Truth
		}
		return b
	}
	if n := k.number(exclusive); n != nil && (!b.Set || n.Cmp(b.Decimal)*sign <= 0) {
		b = Bound{Decimal: *n, Set: true, Strict: true, Word: exclusive}
	}
	return b
}

// count reads a keyword that is a number of things; unsaid is the value if it is absent.
func (k *keywords) count(word string, since, unsaid int) int {
	v := k.get(word, since)
	if v == nil {
		return unsaid
	}
	if v.Kind != value.Number {
		k.wrong(word, "a whole number", v)
		return unsaid
	}
	n := value.DecimalOf(v.Text)
	switch {
	case !n.IsInt() || n.Cmp(value.Decimal{}) < 0:
		k.fail(k.at(word), "%s is a whole number, at least 0, not %s", word, v.Text)
		return unsaid
	case n.Cmp(value.Int(maxCount)) > 0:
		return maxCount
	}
	return int(n.Int())
}

func (k *keywords) lengths() {
	n := k.node
	n.MinLength, n.MaxLength = k.count("minLength", 4, -1), k.count("maxLength", 4, -1)
	if p := k.get("pattern", 4); p != nil {
		if p.Kind != value.String {
			k.wrong("pattern", "a string", p)
			return
		}
		n.Pattern = k.pattern(p.Text, k.at("pattern"))
	}
}

func (k *keywords) sub(word string, since int) *Node {
	v := k.get(word, since)
	if v == nil {
		return nil
	}
	return k.schema(v, k.at(word), k.place.base)
}

func (k *keywords) subs(word string, since int) []*Node {
	v := k.get(word, since)
	if v == nil {
		return nil
	}
	if v.Kind != value.Array || len(v.Kids) == 0 {
		k.fail(k.at(word), "%s is a list of at least one schema", word)
		return nil
	}
	nodes := make([]*Node, len(v.Kids))
	for i := range v.Kids {
		nodes[i] = k.schema(&v.Kids[i], k.at(word)+"/"+strconv.Itoa(i), k.place.base)
	}
	return nodes
}

// named calls f for each schema of a keyword that maps names to schemas.
func (k *keywords) named(word string, since int, f func(name string, v *value.Value, pointer string)) {
	v := k.get(word, since)
	if v == nil {
		return
	}
	if v.Kind != value.Object {
		k.wrong(word, "an object of schemas", v)
		return
	}
	for i := range v.Kids {
		m := &v.Kids[i]
		f(m.Name, m, k.at(word)+"/"+jsonscan.EscapePointer(m.Name))
	}
}

func (k *keywords) arrays() {
	n := k.node
	n.MinItems, n.MaxItems = k.count("minItems", 4, -1), k.count("maxItems", 4, -1)
	if u := k.get("uniqueItems", 4); u != nil {
		if u.Kind != value.Boolean {
			k.wrong("uniqueItems", "true or false", u)
		}
		n.Unique = u.Truth
	}
	n.Contains = k.sub("contains", 6)
	n.MinContains, n.MaxContains = k.count("minContains", 2019, 1), k.count("maxContains", 2019, -1)
	n.RestItems = k.sub("unevaluatedItems", 2019)
	items := k.get("items", 4)
	switch {
	case k.draft >= 2020:
		if items != nil && items.Kind == value.Array {
			k.fail(k.at("items"), "items is one schema in draft 2020-12: a list is called prefixItems (or say \"$schema\": \"http://json-schema.org/draft-07/schema#\")")
			return
		}
		n.Prefix = k.subs("prefixItems", 2020)
		n.Rest, n.RestWord = k.sub("items", 4), "items"
	case items == nil:
	case items.Kind == value.Array:
		if len(items.Kids) > 0 || k.draft == 4 {
			n.Prefix = k.subs("items", 4)
		}
		n.Rest, n.RestWord = k.sub("additionalItems", 4), "additionalItems"
	default:
		n.Rest, n.RestWord = k.sub("items", 4), "items"
	}
}

func (k *keywords) objects() {
	n := k.node
	n.MinProps, n.MaxProps = k.count("minProperties", 4, -1), k.count("maxProperties", 4, -1)
	if r := k.get("required", 4); r != nil {
		n.Required = k.strings("required", r)
		if len(n.Required) == 0 && k.draft == 4 {
			k.fail(k.at("required"), "required is a list of at least one name in draft 4")
		}
	}
	k.named("properties", 4, func(name string, v *value.Value, pointer string) {
		n.Props = append(n.Props, Property{name, k.schema(v, pointer, k.place.base)})
	})
	k.named("patternProperties", 4, func(name string, v *value.Value, pointer string) {
		n.Patterns = append(n.Patterns, patternProperty{k.pattern(name, pointer), k.schema(v, pointer, k.place.base)})
	})
	if !n.UnreadPatterns() { // otherwise it is unknown which members are additional
		n.Additional = k.sub("additionalProperties", 4)
	}
	n.Names = k.sub("propertyNames", 6)
	n.RestProps = k.sub("unevaluatedProperties", 2019)
	for _, w := range [...]struct {
		word  string
		since int
	}{{"dependencies", 4}, {"dependentRequired", 2019}, {"dependentSchemas", 2019}} {
		k.named(w.word, w.since, func(name string, v *value.Value, pointer string) {
			d := Dependent{Name: name, Word: w.word}
			if v.Kind == value.Array && w.word != "dependentSchemas" || w.word == "dependentRequired" {
				d.Names = k.strings(w.word, v)
			} else {
				d.Node = k.schema(v, pointer, k.place.base)
			}
			n.Dependents = append(n.Dependents, d)
		})
	}
}

// strings reads a list of different strings.
func (k *keywords) strings(word string, v *value.Value) []string {
	if v.Kind != value.Array {
		k.fail(k.at(word), "%s is a list of names%s", word, requiredCure(word, v))
		return nil
	}
	names, seen := make([]string, len(v.Kids)), make(map[string]bool, len(v.Kids))
	for i := range v.Kids {
		if v.Kids[i].Kind != value.String {
			k.fail(k.at(word), "%s is a list of names, not of %ss", word, v.Kids[i].Kind)
		}
		if seen[v.Kids[i].Text] {
			k.fail(k.at(word), "%s names %q twice", word, v.Kids[i].Text)
		}
		names[i] = v.Kids[i].Text
		seen[names[i]] = true
	}
	return names
}

func requiredCure(word string, v *value.Value) string {
	if word == "required" && v.Kind == value.Boolean {
		return "; it stands beside properties, not inside one of them"
	}
	return ""
}

func (k *keywords) logic() {
	n := k.node
	n.AllOf = append(n.AllOf, k.subs("allOf", 4)...)
	n.AnyOf, n.OneOf = k.subs("anyOf", 4), k.subs("oneOf", 4)
	n.Not = k.sub("not", 4)
	if n.If = k.sub("if", 7); n.If != nil {
		n.Then, n.Else = k.sub("then", 7), k.sub("else", 7)
	}
}

// finish computes the properties that depend on the whole graph below n. It finds schemas that
// apply themselves to the same value without end or too many times.
func (b *builder) finish(n *Node) {
	seen := make(map[*Node]bool)
	var visit func(n *Node)
	visit = func(n *Node) {
		if !seen[n] {
			seen[n] = true
			b.weigh(n)
			n.InPlace(visit)
			n.inside(visit)
		}
	}
	visit(n)
}

const beingWeighed = -1

// weigh returns the number of schemas that n applies to one value.
func (b *builder) weigh(n *Node) int {
	switch w := b.weights[n]; w {
	case 0:
	case beingWeighed:
		b.fail(n.Pointer, "the schema refers to itself without end")
		return 1
	default:
		return w
	}
	b.weights[n] = beingWeighed
	w := 1
	n.InPlace(func(child *Node) { w = min(w+b.weigh(child), maxInPlace+1) })
	b.weights[n] = w
	if w > maxInPlace {
		b.fail(n.Pointer, "too many schemas apply to one value: more than %d", maxInPlace)
	}
	n.Complete()
	return w
}

// article puts "a" or "an" before a word.
func article(word string) string {
	if word == "null" {
		return word
	}
	if strings.IndexByte("aeiou", word[0]) >= 0 {
		return "an " + word
	}
	return "a " + word
}

// pattern compiles a regular expression of ECMA-262. If RE2 can't read it, that is a warning; if it
// is too large, an error.
func (k *keywords) pattern(text, pointer string) *pattern.Pattern {
	if p := k.builder.patterns[text]; p != nil {
		return p
	}
	p, err := pattern.Compile(text, min(pattern.MaxInsts, pattern.MaxAllInsts-k.builder.insts))
	switch {
	case errors.Is(err, pattern.ErrLarge):
		k.fail(pointer, "%s", fmt.Sprintf("the pattern is too large: its repetitions come to more than %d steps, or those of all patterns to more than %d; use minLength and maxLength, or smaller counts", pattern.MaxInsts, pattern.MaxAllInsts))
	case err != nil:
		k.Warnings = append(k.Warnings, Fault{pointer, "this pattern is not enforced: " + err.Error()})
	default:
		k.builder.insts += p.Instructions()
	}
	k.builder.patterns[text] = p
	return p
}
