package schemas

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// explainer explains why a value breaks a schema. It only looks at keywords that don't hold, and
// among alternatives, at the one that came closest.
type explainer struct {
	*evaluator
	found []Violation
	known map[Violation]bool // the violations in found, if they are many
}

func (e *explainer) full() bool { return len(e.found) >= maxFound }

func (e *explainer) add(n *tree.Node, at, word, format string, args ...any) {
	e.addInstead(n, at, word, "", format, args...)
}

// addInstead does what add does, and adds the value that was perhaps intended.
func (e *explainer) addInstead(n *tree.Node, at, word, instead, format string, args ...any) {
	if !e.full() {
		e.keep(Violation{at, keywordOf(n, word), fmt.Sprintf(format, args...), instead})
	}
}

// keep adds a violation unless it was found before.
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

// keywordOf returns the pointer to a keyword of n; to n itself if word is "".
func keywordOf(n *tree.Node, word string) string {
	if word == "" {
		return n.Pointer
	}
	return n.Pointer + "/" + word
}

// explain adds the violations of v, which is at the pointer at.
func (e *explainer) explain(n *tree.Node, v *value.Value, at string) {
	if e.full() || e.valid(n, v) != value.No {
		return
	}
	if n.Types.Excludes(v.Kind) || n.Integer && v.Kind == value.Number && !value.DecimalOf(v.Text).IsInt() {
		if n.Types == value.NoTypes {
			e.add(n, at, "", "must not be there")
		} else {
			e.addInstead(n, at, "type", unquoted(n, v), "expected %s, but got %s", typeWords(n), gotType(v))
		}
		return
	}
	e.values(n, v, at)
	switch v.Kind {
	case value.Number:
		e.number(n, v, at)
	case value.String:
		e.string(n, v, at)
	case value.Array:
		e.array(n, v, at)
	case value.Object:
		e.object(n, v, at)
	}
	e.inPlace(n, v, at)
}

// typeWords lists the types of n: "integer or null".
func typeWords(n *tree.Node) string {
	var words []string
	for i := range value.Kinds {
		t := (i + 1) % value.Kinds // null last
		switch {
		case n.Types.Excludes(t):
		case t == value.Number && n.Integer:
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

func gotType(v *value.Value) string {
	if v.Kind == value.Number {
		return v.Text
	}
	return v.Kind.String()
}

func (e *explainer) values(n *tree.Node, v *value.Value, at string) {
	if n.Const != nil && !n.Const.Equal(v) {
		e.addInstead(n, at, "const", nearestOf([]value.Value{*n.Const}, v), "expected %s, but got %s", short(n.Const), short(v))
	}
	if n.HasEnum && !n.Among(v) {
		words := make([]string, 0, 8)
		for i := range n.Enum {
			if i == 7 && len(n.Enum) > 8 {
				words = append(words, fmt.Sprintf("%d more", len(n.Enum)-i))
				break
			}
			words = append(words, short(&n.Enum[i]))
		}
		if len(words) == 0 {
			words = []string{"nothing, which no value is"}
		}
		e.addInstead(n, at, "enum", nearestOf(n.Enum, v), "expected %s, but got %s", orList(words), short(v))
	}
}

// nearestOf returns the JSON of the string in the list that is nearest to v, a misspelt one; "" if
// there is none.
func nearestOf(list []value.Value, v *value.Value) string {
	if v.Kind != value.String {
		return ""
	}
	near, ok := spell.Nearest(v.Text, func(yield func(string) bool) {
		for i := range list {
			if list[i].Kind == value.String && !yield(list[i].Text) {
				return
			}
		}
	})
	if !ok {
		return ""
	}
	return string((&value.Value{Kind: value.String, Text: near}).AppendJSON(nil))
}

// unquoted returns the text of the string v if that is a number or a truth value that n admits, and
// "" otherwise.
func unquoted(n *tree.Node, v *value.Value) string {
	if v.Kind != value.String || len(v.Text) > value.MaxDigits {
		return ""
	}
	inside, err := value.Parse([]byte(v.Text))
	if err != nil || inside.Kind != value.Number && inside.Kind != value.Boolean || n.Types.Excludes(inside.Kind) {
		return ""
	}
	if inside.Kind == value.Number && n.Integer && !value.DecimalOf(inside.Text).IsInt() {
		return ""
	}
	return v.Text
}

// short returns the value in the form of JSON, cut after about forty characters.
func short(v *value.Value) string {
	const most = 40
	s := string(appendStart(v, nil, utf8.UTFMax*most))
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-3]) + "…"
}

// appendStart appends the JSON of the value, or only its beginning if it is longer than most bytes.
func appendStart(v *value.Value, dst []byte, most int) []byte {
	if v.Kind != value.Array && v.Kind != value.Object {
		if short := *v; len(v.Text) > most {
			short.Text = v.Text[:most]
			return short.AppendJSON(dst)
		}
		return v.AppendJSON(dst)
	}
	brackets := pick(v.Kind == value.Array, "[]", "{}")
	dst = append(dst, brackets[0])
	for i := range v.Kids {
		if len(dst) > most {
			return dst
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.Kind == value.Object {
			name := v.Kids[i].Name
			dst = append(jsonscan.AppendQuoted(dst, name[:min(len(name), most)]), ':')
		}
		dst = appendStart(&v.Kids[i], dst, most)
	}
	return append(dst, brackets[1])
}

func (e *explainer) number(n *tree.Node, v *value.Value, at string) {
	x := value.DecimalOf(v.Text)
	if !n.Lower.Admits(x, 1) {
		e.add(n, at, n.Lower.Word, "expected %s %s, but got %s", pick(n.Lower.Strict, "more than", "at least"), n.Lower, v.Text)
	}
	if !n.Upper.Admits(x, -1) {
		e.add(n, at, n.Upper.Word, "expected %s %s, but got %s", pick(n.Upper.Strict, "less than", "at most"), n.Upper, v.Text)
	}
	if n.Multiple != nil && !x.MultipleOf(*n.Multiple) {
		e.add(n, at, "multipleOf", "expected a multiple of %s, but got %s", n.Multiple, v.Text)
	}
}

func pick(cond bool, a, b string) string {
	if cond {
		return a
	}
	return b
}

func (e *explainer) string(n *tree.Node, v *value.Value, at string) {
	length := utf8.RuneCountInString(v.Text)
	e.count(n, at, length, n.MinLength, n.MaxLength, "minLength", "maxLength", "character")
	if n.Pattern != nil && e.match(n.Pattern, v.Text) == value.No {
		e.add(n, at, "pattern", "expected a match of %q, but got %s", n.Pattern.Text, short(v))
	}
}

// count explains a number of things that is outside its limits.
func (e *explainer) count(n *tree.Node, at string, got, low, high int, lowWord, highWord, thing string) {
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

func (e *explainer) array(n *tree.Node, v *value.Value, at string) {
	e.count(n, at, len(v.Kids), n.MinItems, n.MaxItems, "minItems", "maxItems", "element")
	if n.Unique {
		if i, j := equalPair(v.Kids); j > 0 {
			e.add(n, at, "uniqueItems", "elements %d and %d are equal", i, j)
		}
	}
	for i := range v.Kids {
		item := n.Rest
		if i < len(n.Prefix) {
			item = n.Prefix[i]
		}
		if item == nil || e.full() {
			break
		}
		if item.Types == value.NoTypes {
			e.add(n, at, n.RestWord, "expected at most %s, but got %d", plural(i, "element"), len(v.Kids))
			break
		}
		e.explain(item, &v.Kids[i], at+"/"+strconv.Itoa(i))
	}
	if n.Contains != nil {
		e.contains(n, v, at)
	}
}

func (e *explainer) contains(n *tree.Node, v *value.Value, at string) {
	got := 0
	for i := range v.Kids {
		if e.valid(n.Contains, &v.Kids[i]) == value.Yes {
			got++
		}
	}
	like := "like " + describe(n.Contains)
	if got < n.MinContains {
		e.add(n, at, pick(n.MinContains == 1, "contains", "minContains"), "expected at least %s %s, but got %d", plural(n.MinContains, "element"), like, got)
	}
	if n.MaxContains >= 0 && got > n.MaxContains {
		e.add(n, at, "maxContains", "expected at most %s %s, but got %d", plural(n.MaxContains, "element"), like, got)
	}
}

func equalPair(list []value.Value) (i, j int) {
	for j := range list {
		for i := range list[:j] {
			if list[i].Equal(&list[j]) {
				return i, j
			}
		}
		if j > 1000 {
			break // leave the places out of a long list
		}
	}
	return 0, 0
}

func (e *explainer) object(n *tree.Node, v *value.Value, at string) {
	if !v.HasAll(n.Required) {
		have := v.Names()
		for _, name := range n.Required {
			if !have[name] && !e.full() {
				e.add(n, at, "required", "missing required member %q", name)
			}
		}
	}
	e.count(n, at, len(v.Kids), n.MinProps, n.MaxProps, "minProperties", "maxProperties", "member")
	for i := range v.Kids {
		if e.full() {
			break
		}
		e.member(n, &v.Kids[i], at+"/"+jsonscan.EscapePointer(v.Kids[i].Name))
	}
	for i := range n.Dependents {
		e.dependent(n, &n.Dependents[i], v, at)
	}
}

func (e *explainer) member(n *tree.Node, m *value.Value, at string) {
	declared := false
	if p := n.Property(m.Name); p != nil {
		declared = true
		e.explain(p, m, at)
	}
	for i := range n.Patterns {
		if p := n.Patterns[i].Pattern; !p.Unread() && e.match(p, m.Name) == value.Yes {
			declared = true
			e.explain(n.Patterns[i].Node, m, at)
		}
	}
	if !declared && n.Additional != nil {
		if n.Additional.Types == value.NoTypes {
			e.add(n, at, "additionalProperties", "unknown member %q", m.Name)
		} else {
			e.explain(n.Additional, m, at)
		}
	}
	if n.Names == nil {
		return
	}
	inner := &explainer{evaluator: e.evaluator}
	inner.explain(n.Names, &value.Value{Kind: value.String, Text: m.Name}, "")
	for _, f := range inner.found {
		e.keep(Violation{Instance: at, Keyword: f.Keyword, Message: fmt.Sprintf("the name %q is not allowed: %s", m.Name, f.Message)})
	}
}

func (e *explainer) dependent(n *tree.Node, d *tree.Dependent, v *value.Value, at string) {
	if v.Member(d.Name) == nil {
		return
	}
	have := v.Names()
	for _, name := range d.Names {
		if !have[name] && !e.full() {
			e.add(n, at, d.Word+"/"+jsonscan.EscapePointer(d.Name), "missing member %q, which is required where %q is", name, d.Name)
		}
	}
	if d.Node != nil {
		e.explain(d.Node, v, at)
	}
}

func (e *explainer) inPlace(n *tree.Node, v *value.Value, at string) {
	if n.Ref != nil {
		e.explain(n.Ref, v, at)
	}
	for _, c := range n.AllOf {
		e.explain(c, v, at)
	}
	if len(n.AnyOf) > 0 && e.any(n.AnyOf, v) == value.No {
		e.furthest(n, "anyOf", n.AnyOf, v, at)
	}
	if len(n.OneOf) > 0 {
		e.oneOf(n, v, at)
	}
	if n.Not != nil && e.valid(n.Not, v) == value.Yes {
		e.add(n, at, "not", "must not be %s", describe(n.Not))
	}
	if n.If != nil {
		switch e.valid(n.If, v) {
		case value.Yes:
			if n.Then != nil {
				e.explain(n.Then, v, at)
			}
		case value.No:
			if n.Else != nil {
				e.explain(n.Else, v, at)
			}
		}
	}
	e.unevaluated(n, v, at)
}

func (e *explainer) oneOf(n *tree.Node, v *value.Value, at string) {
	var match []string
	for i, c := range n.OneOf {
		if e.valid(c, v) == value.Yes {
			match = append(match, strconv.Itoa(i))
		}
	}
	switch {
	case len(match) == 0:
		e.furthest(n, "oneOf", n.OneOf, v, at)
	case len(match) > 1:
		e.add(n, at, "oneOf", "expected exactly one of %d forms, but it has those of %s", len(n.OneOf), strings.Join(match, " and "))
	}
}

// furthest explains with the alternative that came closest: one of the right type whose constants
// fit, with the fewest violations.
func (e *explainer) furthest(n *tree.Node, word string, list []*tree.Node, v *value.Value, at string) {
	best, bestScore := -1, 0
	var found []Violation
	types := true // all fail because of the type
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

// wrongType is the weight of a value of the wrong type, which is more than that of all other
// violations together.
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

// typesOf lists the types that a schema may admit.
func typesOf(n *tree.Node) string {
	m := *n
	m.Types, m.Integer = n.May, n.Integer || n.Ref != nil && n.Ref.Integer
	return typeWords(&m)
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

func (e *explainer) unevaluated(n *tree.Node, v *value.Value, at string) {
	rest, word := n.RestProps, "unevaluatedProperties"
	if v.Kind == value.Array {
		rest, word = n.RestItems, "unevaluatedItems"
	}
	if rest == nil || v.Kind != value.Array && v.Kind != value.Object {
		return
	}
	seen := make([]bool, len(v.Kids))
	if !e.mark(n, v, seen, true) {
		return
	}
	for i := range v.Kids {
		if seen[i] || e.valid(rest, &v.Kids[i]) != value.No {
			continue
		}
		token := strconv.Itoa(i)
		if v.Kind == value.Object {
			token = jsonscan.EscapePointer(v.Kids[i].Name)
		}
		if rest.Types == value.NoTypes {
			e.add(n, at+"/"+token, word, "unknown %s %q", pick(v.Kind == value.Object, "member", "element"), token)
			continue
		}
		e.explain(rest, &v.Kids[i], at+"/"+token)
	}
}
