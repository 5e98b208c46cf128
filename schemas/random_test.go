package schemas

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/schemas/internal/prover"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

var pairs = flag.Int("pairs", effort.Of(150, 800), "random pairs of schemas to try")

var draftNames = map[int]string{
	4: "http://json-schema.org/draft-04/schema#", 6: "http://json-schema.org/draft-06/schema#", 7: "http://json-schema.org/draft-07/schema#",
	2019: "https://json-schema.org/draft/2019-09/schema", 2020: "https://json-schema.org/draft/2020-12/schema",
}

// maker makes random schemas and values out of few names, numbers and patterns, so
// that they have to do with one another.
type maker struct {
	*rand.Rand
	draft int
	refs  bool
}

func newMaker(seed uint64) *maker {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 1)), draft: 2020}
	if m.IntN(4) == 0 {
		m.draft = []int{4, 6, 7, 2019}[m.IntN(4)]
	}
	m.refs = m.IntN(3) == 0
	return m
}

func oneOf[T any](m *maker, list ...T) T { return list[m.IntN(len(list))] }

func (m *maker) name() string { return oneOf(m, "a", "b", "c", "ab") }
func (m *maker) pattern() string {
	return oneOf(m, "^a", "b$", "^[ab]+$", "a|b", "^.$", "^(a|b){2}$", "[^a]", "^a*$", `\bb`)
}
func (m *maker) number() string { return oneOf(m, "-1", "0", "0.5", "1", "1.5", "2", "3", "4", "10") }

// document is a whole schema document.
func (m *maker) document(depth int) string {
	body := strings.TrimSuffix(strings.TrimPrefix(m.object(depth), "{"), "}")
	if m.refs {
		refs := m.refs
		defs := "$defs"
		if m.draft < 2019 {
			defs = "definitions"
		}
		body = fmt.Sprintf(`"%s":{"x":%s,"y":%s},%s`, defs, m.guarded(depth-1), m.guarded(depth-1), body)
		m.refs = refs
	}
	return fmt.Sprintf(`{"$schema":%q,%s}`, draftNames[m.draft], strings.TrimPrefix(body, ","))
}

// guarded is a definition: it refers to others inside of members and elements only.
func (m *maker) guarded(depth int) string {
	inner := m.schema(depth - 1)
	m.refs = false
	own := m.object(0)
	m.refs = true
	return oneOf(m,
		`{"type":"object","properties":{"`+m.name()+`":`+inner+`},"required":["`+m.name()+`"]}`,
		`{"properties":{"`+m.name()+`":`+inner+`}}`,
		`{"items":`+inner+`}`,
		`{"type":"array","items":`+inner+`}`,
		own)
}

func (m *maker) schema(depth int) string {
	if m.draft >= 6 {
		switch m.IntN(12) {
		case 0:
			return "true"
		case 1:
			return "false"
		}
	}
	if m.refs && m.IntN(4) == 0 {
		defs := "$defs"
		if m.draft < 2019 {
			defs = "definitions"
		}
		return fmt.Sprintf(`{"$ref":"#/%s/%s"}`, defs, oneOf(m, "x", "y"))
	}
	return m.object(depth)
}

func (m *maker) object(depth int) string {
	words := make(map[string]string)
	if m.IntN(3) > 0 {
		words["type"] = m.types()
	}
	for range 1 + m.IntN(3) {
		word, value := m.keyword(depth)
		if word != "" {
			words[word] = value
		}
	}
	var parts []string
	for _, w := range keywordOrder {
		if v, ok := words[w]; ok {
			parts = append(parts, strconv.Quote(w)+":"+v)
		}
	}
	if m.draft == 4 {
		parts = m.draft4(parts, words)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (m *maker) draft4(parts []string, words map[string]string) []string {
	for _, w := range [...]string{"inimum", "aximum"} {
		if words["m"+w] != "" && m.IntN(2) == 0 {
			parts = append(parts, `"exclusive`+map[string]string{"inimum": "M", "aximum": "M"}[w]+w+`":true`)
		}
	}
	return parts
}

var keywordOrder = []string{"type", "nullable", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"multipleOf", "minLength", "maxLength", "pattern", "format", "prefixItems", "items", "additionalItems", "contains", "minContains", "maxContains",
	"minItems", "maxItems", "uniqueItems", "properties", "patternProperties", "additionalProperties", "propertyNames", "required",
	"dependentRequired", "dependentSchemas", "dependencies", "minProperties", "maxProperties", "allOf", "anyOf", "oneOf", "not", "if", "then",
	"else", "unevaluatedProperties", "unevaluatedItems"}

func (m *maker) types() string {
	t := []string{`"null"`, `"boolean"`, `"integer"`, `"number"`, `"string"`, `"array"`, `"object"`}
	m.Shuffle(len(t), func(i, j int) { t[i], t[j] = t[j], t[i] })
	if n := m.IntN(4); n > 1 {
		return "[" + strings.Join(t[:n], ",") + "]"
	}
	return t[0]
}

func (m *maker) count() string { return strconv.Itoa(m.IntN(4)) }

func (m *maker) keyword(depth int) (word, value string) {
	since := func(draft int, word, value string) (string, string) {
		if m.draft < draft {
			return "", ""
		}
		return word, value
	}
	if depth > 0 && m.IntN(3) > 0 {
		return m.applicator(depth - 1)
	}
	switch m.IntN(20) {
	case 0:
		return "enum", "[" + strings.Join(distinct(m.value(1), m.value(1), m.value(0)), ",") + "]"
	case 1:
		return since(6, "const", m.value(1))
	case 2:
		return "minimum", m.number()
	case 3:
		return "maximum", m.number()
	case 4:
		return since(6, "exclusiveMinimum", m.number())
	case 5:
		return since(6, "exclusiveMaximum", m.number())
	case 6:
		return "multipleOf", oneOf(m, "1", "2", "0.5", "3", "1.5")
	case 7:
		return "minLength", m.count()
	case 8:
		return "maxLength", m.count()
	case 9:
		return "pattern", strconv.Quote(m.pattern())
	case 10:
		return "minItems", m.count()
	case 11:
		return "maxItems", m.count()
	case 12:
		return "uniqueItems", "true"
	case 13, 14:
		return "required", "[" + strings.Join(distinct(strconv.Quote(m.name()), strconv.Quote(m.name())), ",") + "]"
	case 15:
		return "minProperties", m.count()
	case 16:
		return "maxProperties", m.count()
	case 17:
		return since(2019, "dependentRequired", `{"`+m.name()+`":["`+m.name()+`"]}`)
	case 18:
		return since(2019, oneOf(m, "minContains", "maxContains"), m.count())
	}
	return "format", `"email"`
}

func distinct(list ...string) (out []string) {
	seen := make(map[string]bool)
	for _, s := range list {
		if !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func (m *maker) list(depth int) string {
	parts := []string{m.schema(depth)}
	for m.IntN(2) == 0 {
		parts = append(parts, m.schema(depth))
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func (m *maker) applicator(depth int) (word, value string) {
	since := func(draft int, word string, value func() string) (string, string) {
		if m.draft < draft {
			return "", ""
		}
		return word, value()
	}
	schema := func() string { return m.schema(depth) }
	list := func() string { return m.list(depth) }
	switch m.IntN(22) {
	case 0, 1, 2, 3:
		n, o := m.name(), m.name()
		if n == o {
			return "properties", `{"` + n + `":` + schema() + `}`
		}
		return "properties", `{"` + n + `":` + schema() + `,"` + o + `":` + schema() + `}`
	case 4:
		return "patternProperties", `{` + strconv.Quote(m.pattern()) + `:` + schema() + `}`
	case 5, 6:
		return "additionalProperties", oneOf(m, "false", schema())
	case 7:
		return since(6, "propertyNames", schema)
	case 8:
		return since(2020, "prefixItems", list)
	case 9, 10:
		if m.draft < 2020 && m.IntN(2) == 0 {
			return "items", list()
		}
		return "items", schema()
	case 11:
		if m.draft < 2020 {
			return "additionalItems", oneOf(m, "false", schema())
		}
		return "", ""
	case 12:
		return since(6, "contains", schema)
	case 13:
		return "allOf", list()
	case 14, 15:
		return "anyOf", list()
	case 16:
		return "oneOf", list()
	case 17:
		return "not", schema()
	case 18:
		return since(7, oneOf(m, "if", "then", "else"), schema)
	case 19:
		return since(2019, "dependentSchemas", func() string { return `{"` + m.name() + `":` + schema() + `}` })
	case 20:
		return since(2019, oneOf(m, "unevaluatedProperties", "unevaluatedItems"), func() string { return oneOf(m, "false", schema()) })
	}
	return "dependencies", `{"` + m.name() + `":` + oneOf(m, `["`+m.name()+`"]`, m.object(depth)) + `}`
}

// value is a random value.
func (m *maker) value(depth int) string {
	n := m.IntN(8)
	if depth == 0 {
		n = m.IntN(5)
	}
	switch n {
	case 0:
		return "null"
	case 1:
		return oneOf(m, "true", "false")
	case 2, 3:
		return m.number()
	case 4:
		return strconv.Quote(oneOf(m, "", "a", "b", "ab", "ba", "abc", "aa", "é", "c b"))
	case 5:
		var parts []string
		for range m.IntN(4) {
			parts = append(parts, m.value(depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	var parts []string
	seen := make(map[string]bool)
	for range m.IntN(4) {
		name := oneOf(m, "a", "b", "c", "ab", "x", "abb")
		if !seen[name] {
			seen[name] = true
			parts = append(parts, strconv.Quote(name)+":"+m.value(depth-1))
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// mutate changes a value somewhere.
func (m *maker) mutate(text string) string {
	v, err := value.Parse([]byte(text))
	if err != nil {
		return text
	}
	at := &v
	for len(at.Kids) > 0 && m.IntN(3) > 0 {
		at = &at.Kids[m.IntN(len(at.Kids))]
	}
	other, _ := value.Parse([]byte(m.value(1)))
	switch {
	case len(at.Kids) == 0 || m.IntN(3) == 0:
		other.Name = at.Name
		*at = other
	case m.IntN(2) == 0:
		i := m.IntN(len(at.Kids))
		at.Kids = append(at.Kids[:i:i], at.Kids[i+1:]...)
	default:
		other.Name = m.name()
		if at.Kind == value.Array || at.Member(other.Name) == nil {
			at.Kids = append(at.Kids[:len(at.Kids):len(at.Kids)], other)
		}
	}
	return string(v.AppendJSON(nil))
}

// pair is two schemas, often related to one another.
func (m *maker) pair() (from, to string) {
	from = m.document(3)
	switch m.IntN(4) {
	case 0:
		return from, m.document(3)
	case 1: // one with something more
		more := m.document(1)
		return from, strings.TrimSuffix(from, "}") + `,"` + oneOf(m, "allOf", "anyOf") + `":[` + more + `]}`
	case 2:
		return strings.TrimSuffix(from, "}") + `,"` + oneOf(m, "allOf", "anyOf") + `":[` + m.document(1) + `]}`, from
	}
	// one with a small change somewhere
	i := strings.LastIndexByte(from[:m.IntN(len(from))+1], ':')
	for _, change := range [][2]string{{":0", ":1"}, {":1", ":2"}, {`"a"`, `"b"`}, {"true", "false"}, {"integer", "number"}, {":2", ":1"}} {
		if i > 0 && strings.Contains(from[i:], change[0]) {
			return from, from[:i] + strings.Replace(from[i:], change[0], change[1], 1)
		}
	}
	return from, from
}

// The evaluator and the library agree about every value, and every answer about
// assignability holds for every value that is tried.
func TestRandomPairs(t *testing.T) {
	var answers [3]int
	values, admitted, doubts := 0, 0, 0
	for seed := range *pairs {
		m := newMaker(uint64(seed))
		fromText, toText := m.pair()
		from, err := Compile([]byte(fromText), nil)
		if err != nil {
			continue
		}
		to, err := Compile([]byte(toText), nil)
		if err != nil {
			continue
		}
		a := Assignable(from, to, nil)
		answers[a.Verdict]++
		texts := []string{}
		for range 30 {
			texts = append(texts, m.value(3))
		}
		for _, w := range witnesses(from, to) {
			texts = append(texts, w, m.mutate(w), m.mutate(m.mutate(w)))
		}
		for _, text := range texts {
			v, err := value.Parse([]byte(text))
			if err != nil {
				t.Fatal(text, err)
			}
			values++
			f, fd := agree(t, from, &v)
			g, gd := agree(t, to, &v)
			doubts += fd + gd
			if scan(from.node(), []byte(text)) && !f || scan(to.node(), []byte(text)) && !g {
				t.Fatalf("seed %d: the scanner finds %s valid; %s, %s", seed, text, fromText, toText)
			}
			if f {
				admitted++
			}
			if f && !g && a.Verdict == Yes {
				t.Fatalf("seed %d:\n%s\n⊆ %s\nis said, but %s refutes it", seed, fromText, toText, text)
			}
		}
		if a.Verdict == No && (from.Validate(a.Witness) != nil || to.Validate(a.Witness) == nil) {
			t.Fatalf("seed %d: %s\n⊄ %s: %s is no witness", seed, fromText, toText, a.Witness)
		}
	}
	t.Logf("yes %d, no %d, maybe %d; %d values, of which from admits %d; the evaluator was in doubt %d times",
		answers[Yes], answers[No], answers[Maybe], values, admitted, doubts)
}

// agree checks that evaluator and library agree.
func agree(t *testing.T, s *Schema, v *value.Value) (valid bool, doubts int) {
	t.Helper()
	mine := newEvaluator(s.node(), 0).valid(s.node(), v)
	library := s.node().Ask(v) == nil
	switch {
	case mine == value.Doubt:
		return library, 1
	case (mine == value.Yes) != library:
		t.Fatalf("%s\n%s: the evaluator says %v, the library %v", s.node().Doc.Raw, v.AppendJSON(nil), mine == value.Yes, library)
	}
	return library, 0
}

// witnesses are values that the one or the other schema admits.
func witnesses(a, b *Schema) (out []string) {
	for _, goal := range [][]prover.Part{
		{prover.Meets(a.node())}, {prover.Meets(b.node())}, {prover.Breaks(b.node())},
		{prover.Meets(a.node()), prover.Meets(b.node())}, {prover.Breaks(a.node()), prover.Meets(b.node())},
	} {
		for _, k := range [...]value.Kind{value.Number, value.String, value.Array, value.Object} {
			p := prover.New(5000, evaluateWithin)
			ofKind := tree.New(value.Only(k))
			ofKind.Complete()
			if r := p.Solve(append(goal, prover.Meets(ofKind))...); r.Witness != nil {
				out = append(out, string(r.Witness.AppendJSON(nil)))
			}
		}
	}
	return out
}
