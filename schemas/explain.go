package schemas

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/spell"
)

// explainer words why a value breaks a schema. It looks into what does not hold
// only, and of alternatives into the one that got furthest.
type explainer struct {
	*evaluator
	found []Violation
	known map[Violation]bool // of found, once they are many
}

func (e *explainer) full() bool { return len(e.found) >= maxFound }

func (e *explainer) add(n *node, at, word, format string, args ...any) {
	e.addInstead(n, at, word, "", format, args...)
}

// addInstead does what add does, with what was perhaps meant.
func (e *explainer) addInstead(n *node, at, word, instead, format string, args ...any) {
	if !e.full() {
		e.keep(Violation{at, n.keyword(word), fmt.Sprintf(format, args...), instead})
	}
}

// keep adds a violation that was not found before.
func (e *explainer) keep(v Violation) {
	if len(e.found) <= maxViolations {
		if !slices.Contains(e.found, v) {
			e.found = append(e.found, v)
		}
		return
	}
	if e.known == nil {
		e.known = make(map[Violation]bool, len(e.found))
		for _, f := range e.found {
			e.known[f] = true
		}
	}
	if !e.full() && !e.known[v] {
		e.known[v] = true
		e.found = append(e.found, v)
	}
}

// keyword returns the pointer to a keyword of n, to n itself for "".
func (n *node) keyword(word string) string {
	if word == "" {
		return n.pointer
	}
	return n.pointer + "/" + word
}

// explain adds the violations of v, which stands at a pointer.
func (e *explainer) explain(n *node, v *value, at string) {
	if e.full() || e.valid(n, v) != no {
		return
	}
	if n.types.excludes(v.kind) || n.integer && v.kind == kindNumber && !numberOf(v.text).isInt() {
		if n.types == noTypes {
			e.add(n, at, "", "must not be there")
		} else {
			e.addInstead(n, at, "type", n.unquoted(v), "expected %s, but got %s", n.typeWords(), gotType(v))
		}
		return
	}
	e.values(n, v, at)
	switch v.kind {
	case kindNumber:
		e.number(n, v, at)
	case kindString:
		e.string(n, v, at)
	case kindArray:
		e.array(n, v, at)
	case kindObject:
		e.object(n, v, at)
	}
	e.inPlace(n, v, at)
}

// typeWords lists the types of n: "integer or null".
func (n *node) typeWords() string {
	var words []string
	for i := range kinds {
		t := (i + 1) % kinds // null last
		switch {
		case n.types.excludes(t):
		case t == kindNumber && n.integer:
			words = append(words, "integer")
		default:
			words = append(words, t.String())
		}
	}
	return orList(words)
}

func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func gotType(v *value) string {
	if v.kind == kindNumber {
		return v.text
	}
	return v.kind.String()
}

func (e *explainer) values(n *node, v *value, at string) {
	if n.konst != nil && !n.konst.equal(v) {
		e.addInstead(n, at, "const", nearestOf([]value{*n.konst}, v), "expected %s, but got %s", n.konst.short(), v.short())
	}
	if n.hasEnum && !n.among(v) {
		words := make([]string, 0, 8)
		for i := range n.enum {
			if i == 7 && len(n.enum) > 8 {
				words = append(words, fmt.Sprintf("%d more", len(n.enum)-i))
				break
			}
			words = append(words, n.enum[i].short())
		}
		if len(words) == 0 {
			words = []string{"nothing, which no value is"}
		}
		e.addInstead(n, at, "enum", nearestOf(n.enum, v), "expected %s, but got %s", orList(words), v.short())
	}
}

// nearestOf returns the JSON of the string among these that v, a misspelt one, is nearest to; "" is
// none.
func nearestOf(list []value, v *value) string {
	if v.kind != kindString {
		return ""
	}
	near, ok := spell.Nearest(v.text, func(yield func(string) bool) {
		for i := range list {
			if list[i].kind == kindString && !yield(list[i].text) {
				return
			}
		}
	})
	if !ok {
		return ""
	}
	return string((&value{kind: kindString, text: near}).appendJSON(nil))
}

// unquoted returns what the string v says, where that is a number or a truth value that n takes,
// and "" otherwise.
func (n *node) unquoted(v *value) string {
	if v.kind != kindString || len(v.text) > maxDigits {
		return ""
	}
	inside, err := parseValue([]byte(v.text))
	if err != nil || inside.kind != kindNumber && inside.kind != kindBoolean || n.types.excludes(inside.kind) {
		return ""
	}
	if inside.kind == kindNumber && n.integer && !numberOf(inside.text).isInt() {
		return ""
	}
	return v.text
}

// short returns the value as JSON, cut after some forty characters.
func (v *value) short() string {
	const most = 40
	s := string(v.appendStart(nil, utf8.UTFMax*most))
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-3]) + "…"
}

// appendStart appends the value as JSON, or the beginning of that once there are more than some
// bytes.
func (v *value) appendStart(dst []byte, most int) []byte {
	if v.kind != kindArray && v.kind != kindObject {
		if short := *v; len(v.text) > most {
			short.text = v.text[:most]
			return short.appendJSON(dst)
		}
		return v.appendJSON(dst)
	}
	brackets := pick(v.kind == kindArray, "[]", "{}")
	dst = append(dst, brackets[0])
	for i := range v.kids {
		if len(dst) > most {
			return dst
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.kind == kindObject {
			name := v.kids[i].name
			dst = append(jsonscan.AppendQuoted(dst, name[:min(len(name), most)]), ':')
		}
		dst = v.kids[i].appendStart(dst, most)
	}
	return append(dst, brackets[1])
}

func (e *explainer) number(n *node, v *value, at string) {
	x := numberOf(v.text)
	if !n.lower.admits(x, 1) {
		e.add(n, at, n.lower.word, "expected %s %s, but got %s", pick(n.lower.strict, "more than", "at least"), n.lower, v.text)
	}
	if !n.upper.admits(x, -1) {
		e.add(n, at, n.upper.word, "expected %s %s, but got %s", pick(n.upper.strict, "less than", "at most"), n.upper, v.text)
	}
	if n.multiple != nil && !x.multipleOf(*n.multiple) {
		e.add(n, at, "multipleOf", "expected a multiple of %s, but got %s", n.multiple, v.text)
	}
}

func pick(cond bool, a, b string) string {
	if cond {
		return a
	}
	return b
}

func (e *explainer) string(n *node, v *value, at string) {
	length := utf8.RuneCountInString(v.text)
	e.count(n, at, length, n.minLength, n.maxLength, "minLength", "maxLength", "character")
	if n.pattern != nil && e.match(n.pattern, v.text) == no {
		e.add(n, at, "pattern", "expected a match of %q, but got %s", n.pattern.text, v.short())
	}
}

// count explains a number of things out of its limits.
func (e *explainer) count(n *node, at string, got, low, high int, lowWord, highWord, thing string) {
	if got < low {
		e.add(n, at, lowWord, "expected at least %s, but got %d", plural(low, thing), got)
	}
	if high >= 0 && got > high {
		e.add(n, at, highWord, "expected at most %s, but got %d", plural(high, thing), got)
	}
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}

func (e *explainer) array(n *node, v *value, at string) {
	e.count(n, at, len(v.kids), n.minItems, n.maxItems, "minItems", "maxItems", "element")
	if n.unique {
		if i, j := equalPair(v.kids); j > 0 {
			e.add(n, at, "uniqueItems", "elements %d and %d are equal", i, j)
		}
	}
	for i := range v.kids {
		item := n.rest
		if i < len(n.prefix) {
			item = n.prefix[i]
		}
		if item == nil || e.full() {
			break
		}
		if item.types == noTypes {
			e.add(n, at, n.restWord, "expected at most %s, but got %d", plural(i, "element"), len(v.kids))
			break
		}
		e.explain(item, &v.kids[i], at+"/"+strconv.Itoa(i))
	}
	if n.contains != nil {
		e.contains(n, v, at)
	}
}

func (e *explainer) contains(n *node, v *value, at string) {
	got := 0
	for i := range v.kids {
		if e.valid(n.contains, &v.kids[i]) == yes {
			got++
		}
	}
	like := "like " + n.contains.describe()
	if got < n.minContains {
		e.add(n, at, pick(n.minContains == 1, "contains", "minContains"), "expected at least %s %s, but got %d", plural(n.minContains, "element"), like, got)
	}
	if n.maxContains >= 0 && got > n.maxContains {
		e.add(n, at, "maxContains", "expected at most %s %s, but got %d", plural(n.maxContains, "element"), like, got)
	}
}

func equalPair(list []value) (i, j int) {
	for j := range list {
		for i := range list[:j] {
			if list[i].equal(&list[j]) {
				return i, j
			}
		}
		if j > 1000 {
			break // a long list is told without the places
		}
	}
	return 0, 0
}

func (e *explainer) object(n *node, v *value, at string) {
	if !v.hasAll(n.required) {
		have := v.names()
		for _, name := range n.required {
			if !have[name] && !e.full() {
				e.add(n, at, "required", "missing required member %q", name)
			}
		}
	}
	e.count(n, at, len(v.kids), n.minProps, n.maxProps, "minProperties", "maxProperties", "member")
	for i := range v.kids {
		if e.full() {
			break
		}
		e.member(n, &v.kids[i], at+"/"+jsonscan.EscapePointer(v.kids[i].name))
	}
	for i := range n.dependents {
		e.dependent(n, &n.dependents[i], v, at)
	}
}

func (e *explainer) member(n *node, m *value, at string) {
	declared := false
	if p := n.property(m.name); p != nil {
		declared = true
		e.explain(p, m, at)
	}
	for i := range n.patterns {
		if p := n.patterns[i].pattern; !p.unread() && e.match(p, m.name) == yes {
			declared = true
			e.explain(n.patterns[i].node, m, at)
		}
	}
	if !declared && n.additional != nil {
		if n.additional.types == noTypes {
			e.add(n, at, "additionalProperties", "unknown member %q", m.name)
		} else {
			e.explain(n.additional, m, at)
		}
	}
	if n.names == nil {
		return
	}
	inner := &explainer{evaluator: e.evaluator}
	inner.explain(n.names, &value{kind: kindString, text: m.name}, "")
	for _, f := range inner.found {
		e.keep(Violation{Instance: at, Keyword: f.Keyword, Message: fmt.Sprintf("the name %q is not allowed: %s", m.name, f.Message)})
	}
}

func (e *explainer) dependent(n *node, d *dependent, v *value, at string) {
	if v.member(d.name) == nil {
		return
	}
	have := v.names()
	for _, name := range d.names {
		if !have[name] && !e.full() {
			e.add(n, at, d.word+"/"+jsonscan.EscapePointer(d.name), "missing member %q, which is required where %q is", name, d.name)
		}
	}
	if d.node != nil {
		e.explain(d.node, v, at)
	}
}

func (e *explainer) inPlace(n *node, v *value, at string) {
	if n.ref != nil {
		e.explain(n.ref, v, at)
	}
	for _, c := range n.allOf {
		e.explain(c, v, at)
	}
	if len(n.anyOf) > 0 && e.any(n.anyOf, v) == no {
		e.furthest(n, "anyOf", n.anyOf, v, at)
	}
	if len(n.oneOf) > 0 {
		e.oneOf(n, v, at)
	}
	if n.not != nil && e.valid(n.not, v) == yes {
		e.add(n, at, "not", "must not be %s", n.not.describe())
	}
	if n.cond != nil {
		switch e.valid(n.cond, v) {
		case yes:
			if n.then != nil {
				e.explain(n.then, v, at)
			}
		case no:
			if n.els != nil {
				e.explain(n.els, v, at)
			}
		}
	}
	e.unevaluated(n, v, at)
}

func (e *explainer) oneOf(n *node, v *value, at string) {
	var match []string
	for i, c := range n.oneOf {
		if e.valid(c, v) == yes {
			match = append(match, strconv.Itoa(i))
		}
	}
	switch {
	case len(match) == 0:
		e.furthest(n, "oneOf", n.oneOf, v, at)
	case len(match) > 1:
		e.add(n, at, "oneOf", "expected exactly one of %d forms, but it has those of %s", len(n.oneOf), strings.Join(match, " and "))
	}
}

// furthest explains by the alternative that got furthest: one of the right type whose
// constants fit, with the fewest violations.
func (e *explainer) furthest(n *node, word string, list []*node, v *value, at string) {
	best, bestScore := -1, 0
	var found []Violation
	types := true // all fail by the type
	var words []string
	for i, c := range list {
		inner := &explainer{evaluator: e.evaluator}
		inner.explain(c, v, at)
		score := len(inner.found)
		for _, f := range inner.found {
			score += weight(f, at)
		}
		if len(inner.found) == 0 {
			continue
		}
		if score < wrongType {
			types = false
		} else {
			words = append(words, typesOf(c))
		}
		if best < 0 || score < bestScore {
			best, bestScore, found = i, score, inner.found
		}
	}
	switch {
	case best < 0:
	case types:
		e.add(n, at, word, "expected %s, but got %s", orList(unique(words)), gotType(v))
	default:
		for _, f := range found {
			e.keep(f)
		}
	}
}

// wrongType is the weight of a value of the wrong type, more than that of all else together.
const wrongType = maxFound << 7

// weight returns how far a violation is from meeting an alternative.
func weight(f Violation, at string) int {
	switch word := f.Keyword[strings.LastIndexByte(f.Keyword, '/')+1:]; {
	case word == "type" && f.Instance == at:
		return wrongType
	case word == "const" || word == "enum":
		return 1 << 6
	}
	return 0
}

// typesOf words the types that a schema may admit.
func typesOf(n *node) string {
	m := *n
	m.types, m.integer = n.may, n.integer || n.ref != nil && n.ref.integer
	return m.typeWords()
}

func unique(words []string) []string {
	var out []string
	for _, w := range words {
		if !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

func (e *explainer) unevaluated(n *node, v *value, at string) {
	rest, word := n.restProps, "unevaluatedProperties"
	if v.kind == kindArray {
		rest, word = n.restItems, "unevaluatedItems"
	}
	if rest == nil || v.kind != kindArray && v.kind != kindObject {
		return
	}
	seen := make([]bool, len(v.kids))
	if !e.mark(n, v, seen, true) {
		return
	}
	for i := range v.kids {
		if seen[i] || e.valid(rest, &v.kids[i]) != no {
			continue
		}
		token := strconv.Itoa(i)
		if v.kind == kindObject {
			token = jsonscan.EscapePointer(v.kids[i].name)
		}
		if rest.types == noTypes {
			e.add(n, at+"/"+token, word, "unknown %s %q", pick(v.kind == kindObject, "member", "element"), token)
			continue
		}
		e.explain(rest, &v.kids[i], at+"/"+token)
	}
}
