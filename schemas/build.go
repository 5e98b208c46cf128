package schemas

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Limits on schemas. Real ones stay far below; beyond them compiling or checking
// takes seconds.
const (
	maxSchemas     = 100_000 // in a document
	maxReached     = 50_000  // of them, that are compiled
	maxReached2020 = 5_000   // the same for draft 2020-12, where the library takes quadratic time
	maxInPlace     = 20_000  // applied to one value, by $ref, allOf and the like
	maxCount       = 1 << 50
)

// builder makes nodes of a document. Methods record the first fault and go on with
// something harmless.
type builder struct {
	*document
	err      *Fault
	patterns map[string]*pattern
	insts    int // of the patterns
	weights  map[*node]int
}

func (b *builder) fail(pointer, format string, args ...any) {
	if b.err == nil {
		b.err = &Fault{Pointer: pointer, Message: fmt.Sprintf(format, args...)}
	}
}

// schema returns the node of the schema at v.
func (b *builder) schema(v *value, pointer, base string) *node {
	switch v.kind {
	case kindBoolean:
		if b.draft == 4 && !strings.HasSuffix(pointer, "/additionalProperties") && !strings.HasSuffix(pointer, "/additionalItems") {
			b.fail(pointer, "draft 4 has no boolean schemas: write {} or {\"not\": {}}")
		}
		return b.boolean(v, pointer)
	case kindObject:
	default:
		b.fail(pointer, "a schema is an object or a boolean, not %s", article(v.kind.String()))
		return newNode(allTypes)
	}
	p := b.places[v]
	if p == nil {
		if err := b.scan(v, pointer, base); err != nil {
			b.fail(err.Pointer, "%s", err.Message)
			return newNode(allTypes)
		}
		p = b.places[v]
	}
	if p.node != nil {
		return p.node
	}
	p.node = newNode(allTypes)
	p.node.doc, p.node.pointer, p.node.draft = b.document, pointer, b.draft
	k := &keywords{builder: b, place: p, node: p.node, v: v}
	k.read()
	return p.node
}

func (b *builder) boolean(v *value, pointer string) *node {
	types := noTypes
	if v.truth {
		types = allTypes
	}
	n := newNode(types)
	n.doc, n.pointer, n.draft = b.document, pointer, b.draft
	return n
}

// keywords reads the keywords of one schema.
type keywords struct {
	*builder
	place *place
	node  *node
	v     *value
}

func (k *keywords) at(word string) string { return k.place.pointer + "/" + word }

// get returns the value of a keyword that a draft since the given one knows, nil if absent.
func (k *keywords) get(word string, since int) *value {
	if k.draft < since {
		return nil
	}
	return k.v.member(word)
}

func (k *keywords) wrong(word, want string, got *value) {
	k.fail(k.at(word), "%s is %s, not %s", word, want, article(got.kind.String()))
}

func (k *keywords) read() {
	n := k.node
	if f := k.get("format", 4); f != nil && f.kind == kindString {
		n.format = f.text
	}
	if k.references(); n.ref != nil && k.draft < 2019 {
		return // its siblings say nothing
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
		k.node.ref = k.reference("$ref", r)
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
		case k.isDynamic(target, r.text) && len(k.dynamic[dynamicName(r.text)]) > 1:
			k.node.opaque = d.word + " " + r.text
		case k.node.ref == nil:
			k.node.ref = target
		default:
			k.node.allOf = append(k.node.allOf, target)
		}
	}
}

// dynamicName returns the name under which document.dynamic lists the possible targets.
func dynamicName(ref string) string {
	_, name, _ := strings.Cut(ref, "#")
	return name
}

// isDynamic reports whether the target of a dynamic reference lets others take its
// place.
func (k *keywords) isDynamic(target *node, ref string) bool {
	for _, v := range k.dynamic[dynamicName(ref)] {
		if p := k.places[v]; p.node == target {
			return true
		}
	}
	return false
}

func (k *keywords) reference(word string, r *value) *node {
	if r.kind != kindString {
		k.wrong(word, "a string", r)
		return newNode(allTypes)
	}
	v, pointer, base, foreign := k.find(k.place.base, r.text)
	if v != nil {
		return k.schema(v, pointer, base)
	}
	n := newNode(allTypes)
	if foreign && isMetaSchema(k.place.base, r.text) {
		n.opaque, n.foreign = r.text, true
		return n
	}
	if foreign {
		k.fail(k.at(word), "%q leads out of the document, and nothing is ever fetched; copy what it means into $defs", r.text)
	} else {
		k.fail(k.at(word), "%q leads to nothing in the document", r.text)
	}
	return n
}

func (k *keywords) types() {
	t := k.get("type", 4)
	if t == nil {
		return
	}
	words := []value{*t}
	if t.kind == kindArray {
		words = t.kids
	}
	n := k.node
	n.types = noTypes
	integer, number := false, false
	for i := range words {
		set, known := typeWord(words[i].text)
		if words[i].kind != kindString || !known {
			k.fail(k.at("type"), "type is one of null, boolean, number, integer, string, array and object, or a list of them")
		}
		n.types |= set
		integer = integer || words[i].text == "integer"
		number = number || words[i].text == "number"
	}
	n.integer = integer && !number
	if null := k.v.member("nullable"); null != nil && null.truth {
		n.types |= only(kindNull)
	}
}

func typeWord(word string) (set typeSet, known bool) {
	for t := range kinds {
		if t.String() == word {
			return only(t), true
		}
	}
	return only(kindNumber), word == "integer"
}

func (k *keywords) values() {
	if e := k.get("enum", 4); e != nil {
		if e.kind != kindArray {
			k.wrong("enum", "a list", e)
		}
		k.node.enum, k.node.hasEnum, k.node.enumWork = e.kids, true, e.compared()
		if len(e.kids) > 16 {
			k.node.enumSet = make(map[string]struct{}, len(e.kids))
			for i := range e.kids {
				k.node.enumSet[string(e.kids[i].appendCanonical(nil))] = struct{}{}
			}
		}
	}
	k.node.konst = k.get("const", 6)
	if d := k.get("default", 4); d != nil {
		k.node.examples = append(k.node.examples, *d)
	}
	if e := k.get("examples", 6); e != nil && e.kind == kindArray {
		k.node.examples = append(k.node.examples, e.kids...)
	}
	if e := k.get("example", 4); e != nil { // OpenAPI's
		k.node.examples = append(k.node.examples, *e)
	}
}

func (k *keywords) number(word string) *number {
	v := k.get(word, 4)
	if v == nil {
		return nil
	}
	if v.kind != kindNumber {
		if v.kind == kindBoolean {
			k.fail(k.at(word), "%s is a number; that it is true or false was so in draft 4 only (\"$schema\": \"http://json-schema.org/draft-04/schema#\")", word)
		}
		k.wrong(word, "a number", v)
		return nil
	}
	n := numberOf(v.text)
	return &n
}

func (k *keywords) numbers() {
	n := k.node
	n.lower = k.bound("minimum", "exclusiveMinimum", -1)
	n.upper = k.bound("maximum", "exclusiveMaximum", 1)
	if n.multiple = k.number("multipleOf"); n.multiple != nil && n.multiple.cmp(number{}) <= 0 {
		k.fail(k.at("multipleOf"), "multipleOf is more than 0")
		n.multiple = nil
	}
}

// bound reads an end of a range; of two that are given the narrower counts.
func (k *keywords) bound(word, exclusive string, sign int) (b bound) {
	if n := k.number(word); n != nil {
		b = bound{number: *n, set: true, word: word}
	}
	if k.draft == 4 {
		if e := k.v.member(exclusive); e != nil {
			if e.kind != kindBoolean {
				k.wrong(exclusive, "true or false in draft 4", e)
			}
			b.strict = e.truth
		}
		return b
	}
	if n := k.number(exclusive); n != nil && (!b.set || n.cmp(b.number)*sign <= 0) {
		b = bound{number: *n, set: true, strict: true, word: exclusive}
	}
	return b
}

// count reads a keyword that is a number of things; unsaid is what its absence means.
func (k *keywords) count(word string, since, unsaid int) int {
	v := k.get(word, since)
	if v == nil {
		return unsaid
	}
	if v.kind != kindNumber {
		k.wrong(word, "a whole number", v)
		return unsaid
	}
	n := numberOf(v.text)
	switch {
	case !n.isInt() || n.cmp(number{}) < 0:
		k.fail(k.at(word), "%s is a whole number, at least 0, not %s", word, v.text)
		return unsaid
	case n.cmp(intNumber(maxCount)) > 0:
		return maxCount
	}
	return int(n.int())
}

func (k *keywords) lengths() {
	n := k.node
	n.minLength, n.maxLength = k.count("minLength", 4, -1), k.count("maxLength", 4, -1)
	if p := k.get("pattern", 4); p != nil {
		if p.kind != kindString {
			k.wrong("pattern", "a string", p)
			return
		}
		n.pattern = k.pattern(p.text, k.at("pattern"))
	}
}

func (k *keywords) sub(word string, since int) *node {
	v := k.get(word, since)
	if v == nil {
		return nil
	}
	return k.schema(v, k.at(word), k.place.base)
}

func (k *keywords) subs(word string, since int) []*node {
	v := k.get(word, since)
	if v == nil {
		return nil
	}
	if v.kind != kindArray || len(v.kids) == 0 {
		k.fail(k.at(word), "%s is a list of at least one schema", word)
		return nil
	}
	nodes := make([]*node, len(v.kids))
	for i := range v.kids {
		nodes[i] = k.schema(&v.kids[i], k.at(word)+"/"+strconv.Itoa(i), k.place.base)
	}
	return nodes
}

// named calls f for each schema of a keyword that maps names to schemas.
func (k *keywords) named(word string, since int, f func(name string, v *value, pointer string)) {
	v := k.get(word, since)
	if v == nil {
		return
	}
	if v.kind != kindObject {
		k.wrong(word, "an object of schemas", v)
		return
	}
	for i := range v.kids {
		m := &v.kids[i]
		f(m.name, m, k.at(word)+"/"+jsonscan.EscapePointer(m.name))
	}
}

func (k *keywords) arrays() {
	n := k.node
	n.minItems, n.maxItems = k.count("minItems", 4, -1), k.count("maxItems", 4, -1)
	if u := k.get("uniqueItems", 4); u != nil {
		if u.kind != kindBoolean {
			k.wrong("uniqueItems", "true or false", u)
		}
		n.unique = u.truth
	}
	n.contains = k.sub("contains", 6)
	n.minContains, n.maxContains = k.count("minContains", 2019, 1), k.count("maxContains", 2019, -1)
	n.restItems = k.sub("unevaluatedItems", 2019)
	items := k.get("items", 4)
	switch {
	case k.draft >= 2020:
		if items != nil && items.kind == kindArray {
			k.fail(k.at("items"), "items is one schema in draft 2020-12: a list is called prefixItems (or say \"$schema\": \"http://json-schema.org/draft-07/schema#\")")
			return
		}
		n.prefix = k.subs("prefixItems", 2020)
		n.rest, n.restWord = k.sub("items", 4), "items"
	case items == nil:
	case items.kind == kindArray:
		if len(items.kids) > 0 || k.draft == 4 {
			n.prefix = k.subs("items", 4)
		}
		n.rest, n.restWord = k.sub("additionalItems", 4), "additionalItems"
	default:
		n.rest, n.restWord = k.sub("items", 4), "items"
	}
}

func (k *keywords) objects() {
	n := k.node
	n.minProps, n.maxProps = k.count("minProperties", 4, -1), k.count("maxProperties", 4, -1)
	if r := k.get("required", 4); r != nil {
		n.required = k.strings("required", r)
		if len(n.required) == 0 && k.draft == 4 {
			k.fail(k.at("required"), "required is a list of at least one name in draft 4")
		}
	}
	k.named("properties", 4, func(name string, v *value, pointer string) {
		n.props = append(n.props, property{name, k.schema(v, pointer, k.place.base)})
	})
	k.named("patternProperties", 4, func(name string, v *value, pointer string) {
		n.patterns = append(n.patterns, patternProperty{k.pattern(name, pointer), k.schema(v, pointer, k.place.base)})
	})
	if !n.unreadPatterns() { // else nobody knows what is additional
		n.additional = k.sub("additionalProperties", 4)
	}
	n.names = k.sub("propertyNames", 6)
	n.restProps = k.sub("unevaluatedProperties", 2019)
	for _, w := range [...]struct {
		word  string
		since int
	}{{"dependencies", 4}, {"dependentRequired", 2019}, {"dependentSchemas", 2019}} {
		k.named(w.word, w.since, func(name string, v *value, pointer string) {
			d := dependent{name: name, word: w.word}
			if v.kind == kindArray && w.word != "dependentSchemas" || w.word == "dependentRequired" {
				d.names = k.strings(w.word, v)
			} else {
				d.node = k.schema(v, pointer, k.place.base)
			}
			n.dependents = append(n.dependents, d)
		})
	}
}

// strings reads a list of different strings.
func (k *keywords) strings(word string, v *value) []string {
	if v.kind != kindArray {
		k.fail(k.at(word), "%s is a list of names%s", word, requiredCure(word, v))
		return nil
	}
	names, seen := make([]string, len(v.kids)), make(map[string]bool, len(v.kids))
	for i := range v.kids {
		if v.kids[i].kind != kindString {
			k.fail(k.at(word), "%s is a list of names, not of %ss", word, v.kids[i].kind)
		}
		if seen[v.kids[i].text] {
			k.fail(k.at(word), "%s names %q twice", word, v.kids[i].text)
		}
		names[i] = v.kids[i].text
		seen[names[i]] = true
	}
	return names
}

func requiredCure(word string, v *value) string {
	if word == "required" && v.kind == kindBoolean {
		return "; it stands beside properties, not inside one of them"
	}
	return ""
}

func (k *keywords) logic() {
	n := k.node
	n.allOf = append(n.allOf, k.subs("allOf", 4)...)
	n.anyOf, n.oneOf = k.subs("anyOf", 4), k.subs("oneOf", 4)
	n.not = k.sub("not", 4)
	if n.cond = k.sub("if", 7); n.cond != nil {
		n.then, n.els = k.sub("then", 7), k.sub("else", 7)
	}
}

// finish fills in what needs the whole graph below n, and finds schemas that apply
// themselves to the same value without end, or too many times.
func (b *builder) finish(n *node) {
	seen := make(map[*node]bool)
	var visit func(n *node)
	visit = func(n *node) {
		if !seen[n] {
			seen[n] = true
			b.weigh(n)
			n.inPlace(visit)
			n.inside(visit)
		}
	}
	visit(n)
}

const beingWeighed = -1

// weigh returns the number of schemas that are applied to one value for n's sake.
func (b *builder) weigh(n *node) int {
	switch w := b.weights[n]; w {
	case 0:
	case beingWeighed:
		b.fail(n.pointer, "the schema refers to itself without end")
		return 1
	default:
		return w
	}
	b.weights[n] = beingWeighed
	w := 1
	n.inPlace(func(child *node) { w = min(w+b.weigh(child), maxInPlace+1) })
	b.weights[n] = w
	if w > maxInPlace {
		b.fail(n.pointer, "too many schemas apply to one value: more than %d", maxInPlace)
	}
	n.masks()
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

// pattern compiles a regular expression of ECMA-262. One that RE2 cannot read is a warning, one
// that is too large an error.
func (k *keywords) pattern(text, pointer string) *pattern {
	if p := k.builder.patterns[text]; p != nil {
		return p
	}
	p, err := compilePattern(text, min(maxInsts, maxAllInsts-k.builder.insts))
	switch {
	case errors.Is(err, errLargePattern):
		k.fail(pointer, "%s", fmt.Sprintf("the pattern is too large: its repetitions come to more than %d steps, or those of all patterns to more than %d; use minLength and maxLength, or smaller counts", maxInsts, maxAllInsts))
	case err != nil:
		k.warnings = append(k.warnings, Fault{pointer, "this pattern is not enforced: " + err.Error()})
	default:
		k.builder.insts += p.instructions()
	}
	k.builder.patterns[text] = p
	return p
}
