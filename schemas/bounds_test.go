package schemas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/schemas/internal/pattern"
	"github.com/plc-lang/plc/schemas/internal/prover"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// nested is a schema around a schema around … a leaf.
func nested(depth int, leaf, around string) string {
	for range depth {
		leaf = strings.ReplaceAll(around, "…", leaf)
	}
	return leaf
}

// bombs are small schemas whose values are large, or that take much work.
var bombs = map[string]string{
	"items":       nested(3, `{"type":"string"}`, `{"type":"array","minItems":1000,"items":…}`),
	"anyOf":       nested(18, `{"type":"integer"}`, `{"anyOf":[{"type":"array","items":…,"minItems":10}]}`),
	"anyOf twice": nested(18, `{"type":"integer"}`, `{"anyOf":[{"type":"array","items":…,"minItems":3},{"type":"object","additionalProperties":{"type":"string"},"minProperties":9}]}`),
	"oneOf":       nested(18, `{"type":"integer"}`, `{"oneOf":[{"type":"array","items":…,"minItems":8},{"type":"null"}]}`),
	"allOf":       nested(18, `{"type":"integer"}`, `{"allOf":[{"type":"array","minItems":8},{"items":…}]}`),
	"properties":  nested(4, `{"type":"string"}`, `{"type":"object","minProperties":200,"additionalProperties":…}`),
	"lengths":     `{"type":"array","minItems":4000,"items":{"type":"string","minLength":4000}}`,
	"prefix":      nested(18, `{"type":"string","minLength":3000}`, `{"type":"array","minItems":4,"prefixItems":[…],"items":{"type":"string","minLength":3000}}`),
	"contains":    nested(12, `{"type":"integer"}`, `{"type":"array","contains":…,"minContains":30}`),
	"unique":      nested(3, `{"type":"string"}`, `{"type":"array","minItems":24,"uniqueItems":true,"items":…}`),
	"refs":        refWeb(30, `{"type":"object","properties":{"a":{"$ref":"#/$defs/d%[1]d"},"b":{"$ref":"#/$defs/d%[1]d"}},"required":["a","b"]}`),
	"choices":     refWeb(30, `{"anyOf":[{"type":"object","properties":{"a":{"$ref":"#/$defs/d%[1]d"},"b":{"$ref":"#/$defs/d%[1]d"}},"required":["a","b"]},{"type":"array","minItems":3,"items":{"$ref":"#/$defs/d%[1]d"}}]}`),
	"patterns":    nested(6, `{"type":"string","pattern":"^(a|b)*a(a|b){16}$"}`, `{"type":"object","patternProperties":{"^[a-f]{8}$":…},"minProperties":50,"additionalProperties":false}`),
	"not":         nested(9, `{"type":"integer"}`, `{"type":"array","minItems":100,"not":{"items":{"not":…}}}`),
}

// refWeb is a schema of definitions that each refer twice to the next one.
func refWeb(n int, link string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/d0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":`+link+`,`, i, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{"type":"string","minLength":100}}}`, n)
	return strings.ReplaceAll(b.String(), "%!(EXTRA", "")
}

// TestBombs asks for a sample of small schemas with large values, and whether they are assignable:
// what is made up stays small, and so does what is allocated on the way.
func TestBombs(t *testing.T) {
	const most = 128 << 20 // allocated in all, over four questions
	for name, text := range bombs {
		t.Run(name, func(t *testing.T) {
			s, faults := Compile([]byte(text), nil)
			if s == nil {
				t.Fatal(faults)
			}
			to, _ := Compile([]byte(`{"type":"integer"}`), nil)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for seed := range uint64(2) {
				v, err := Sample(s, seed)
				if len(v) > 2*prover.MaxMade {
					t.Errorf("a sample of %d bytes", len(v))
				}
				if err == nil && s.Validate(v) != nil {
					t.Errorf("a sample that the schema refuses")
				}
				if err != nil && !errors.Is(err, ErrTooLarge) && !strings.Contains(err.Error(), "no sample found") && !strings.Contains(err.Error(), "no value") {
					t.Error(err)
				}
			}
			if a := Assignable(s, to, nil); len(a.Witness) > 2*prover.MaxMade || a.Verdict == Maybe && a.Reason == "" {
				t.Errorf("%s with a witness of %d bytes, because %q", a.Verdict, len(a.Witness), a.Reason)
			}
			if a := Assignable(to, s, nil); len(a.Witness) > 2*prover.MaxMade {
				t.Errorf("%s with a witness of %d bytes", a.Verdict, len(a.Witness))
			}
			if text := s.String(); len(text) > 4*describeWidth {
				t.Errorf("it is described in %d bytes", len(text))
			}
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > most {
				t.Errorf("%d MiB were allocated, more than %d", got>>20, most>>20)
			} else {
				t.Logf("%d KiB for %d bytes", got>>10, len(text))
			}
		})
	}
}

// A pattern costs no more than its text and its program allow, however both are made.
func TestPatternBounds(t *testing.T) {
	for _, text := range []string{`^(?:abcdefghij){1000}$`, `[^a]{1000}[^b]{1000}`, strings.Repeat(`(a|b){100}`, 100), strings.Repeat(`x{900}`, 12)} {
		_, fault := pattern.Compile(text, pattern.MaxInsts)
		if _, err := Compile([]byte(fmt.Sprintf(`{"pattern":%q}`, text)), nil); (err != nil) != (fault != nil) {
			t.Errorf("%s: %v", text, err)
		} else if err != nil && !strings.Contains(err.Error(), "the pattern is too large") {
			t.Error(err)
		}
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `"p%d":{"pattern":"^[a-%c]{800}%d$"},`, i, 'b'+i%20, i)
	}
	if _, err := Compile([]byte(`{"properties":{`+strings.TrimSuffix(many.String(), ",")+`}}`), nil); err == nil {
		t.Error("patterns without end are compiled")
	}

	var mixed strings.Builder // of which no state of an automaton comes up twice
	for r := rand.New(rand.NewPCG(1, 2)); mixed.Len() < 400_000; {
		mixed.WriteByte('a' + byte(r.IntN(2)))
	}
	for _, c := range []struct{ pattern, text, want string }{
		{`^[a-z]{1,255}$`, strings.Repeat("a", 400_000), "expected a match"},
		{`^[a-z]{1,255}`, strings.Repeat("a", 400_000), ""},
		{`(a|b)*a(a|b){500}c`, mixed.String(), "too much work"},
		{strings.Repeat("(x+x+)+", 250) + "y", strings.Repeat("x", 400_000), "expected a match"},
		{`^(x{0,500}){1,2}$`, strings.Repeat("x", 400_000), "expected a match"},
	} {
		s, err := Compile([]byte(fmt.Sprintf(`{"pattern":%q}`, c.pattern)), nil)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Validate([]byte(`"` + c.text + `"`))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.pattern[:min(len(c.pattern), 30)], err, c.want)
		}
	}
}

// Objects with very many names take time in proportion: a hundred thousand that are required and
// not there, or there in another order.
func TestManyNames(t *testing.T) {
	n := effort.Of(20_000, 100_000)
	var required, members, reversed []string
	for i := range n {
		required = append(required, fmt.Sprintf(`"n%05d"`, i))
		members = append(members, fmt.Sprintf(`"m%d":1`, i))
		reversed = append(reversed, fmt.Sprintf(`"m%d":1`, n-1-i))
	}
	object := `{` + strings.Join(members, ",") + `}`
	s, err := Compile([]byte(`{"required":[`+strings.Join(required, ",")+`]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	broken, _ := s.Validate([]byte(object)).(*ValidationError)
	if broken == nil || len(broken.Violations) != maxViolations || !strings.HasSuffix(broken.Error(), "; and 980 or more others") {
		t.Errorf("%v", broken)
	}
	if s, err = Compile([]byte(`{"const":`+object+`}`), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate([]byte(`{` + strings.Join(reversed, ",") + `}`)); err != nil {
		t.Error(err)
	}
}

// countedContext is done after it was asked so often.
type countedContext struct {
	context.Context
	left int
}

func (c *countedContext) Done() <-chan struct{} { return make(chan struct{}) }

func (c *countedContext) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// What takes long looks at its context, and stops when it is done: after that the context is not
// asked more than a few times more, however much there was to do.
func TestValidationStopsWithItsContext(t *testing.T) {
	long := strings.Repeat("ab", 100_000)
	names := make([]string, 300)
	for i := range names {
		names[i] = fmt.Sprintf("%q:1", strings.Repeat("ab", 1000)+fmt.Sprint(i))
	}
	nested := `{"type":"string","minLength":1}`
	for range 20 {
		nested = `{"allOf":[` + nested + `,` + nested + `]}`
		if len(nested) > 20_000 {
			break
		}
	}
	for _, c := range []struct{ name, schema, value string }{
		{"many elements", `{"type":"array","items":{"type":"integer","not":{"const":7}}}`, "[" + strings.Repeat("1,", 100_000) + "1]"},
		{"long texts", `{"type":"array","items":{"type":"string","pattern":"^(a|b)*$"},"not":{"const":1}}`, `["` + long + `","` + long + `","` + long + `"]`},
		{"long names", `{"type":"object","patternProperties":{"^(a|b)*[0-9]*$":{"type":"integer"}}}`, "{" + strings.Join(names, ",") + "}"},
		{"a schema that applies itself", `{"type":"array","items":` + nested + `,"not":{"const":1}}`, `["a"` + strings.Repeat(`,"a"`, 200) + `]`},
		{"short texts", `{"type":"array","items":{"pattern":"^(a|b)*(a|b){0,500}$"}}`, "[" + strings.Repeat(`"`+long[:300]+`",`, 100) + `""]`},
		{"names that are required", `{"allOf":[` + strings.Repeat(required(1000)+",", 20) + `{}]}`, object(1000)},
		{"elements that must differ", `{"allOf":[` + strings.Repeat(`{"uniqueItems":true},`, 20) + `{}]}`, "[" + parts(2000, `"n%05d"`) + "]"},
		{"a great constant", `{"allOf":[` + strings.Repeat(`{"const":`+object(1000)+`},`, 20) + `{}]}`, object(1000)},
		{"long texts that are counted", `{"allOf":[` + strings.Repeat(`{"minLength":3},`, 50) + `{"not":{"const":1}}]}`, `"` + long + `"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Compile([]byte(c.schema), nil)
			if err != nil {
				t.Fatal(err)
			}
			all := &countedContext{Context: t.Context(), left: 1 << 30}
			if err := s.ValidateWithin(all, json.RawMessage(c.value)); err != nil {
				t.Fatal(err)
			}
			asked := 1<<30 - all.left
			if asked < 3 {
				t.Fatalf("the context was looked at %d times", asked)
			}
			for _, after := range []int{0, asked / 2} {
				ctx := &countedContext{Context: t.Context(), left: after}
				err := s.ValidateWithin(ctx, json.RawMessage(c.value))
				if !errors.Is(err, context.DeadlineExceeded) || ctx.left < -8 {
					t.Errorf("done after %d looks of %d: %v, and %d looks after that", after, asked, err, -ctx.left)
				}
			}
		})
	}
}

// parts lists n things with their numbers.
func parts(n int, one string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(one, i)
	}
	return strings.Join(list, ",")
}

func object(n int) string   { return "{" + parts(n, `"n%05d":1`) + "}" }
func required(n int) string { return `{"required":[` + parts(n, `"n%05d"`) + "]}" }

// TestValidationWork counts the steps of validating values of n and of ten times as many parts:
// they grow with the text. That is so for a large pattern and a long text, and for many names that
// are required, whether or not they are there.
func TestValidationWork(t *testing.T) {
	large := `{"pattern":"` + strings.Repeat("(x+x+)+", 286) + `y"}`
	for _, c := range []struct {
		name          string
		schema, value func(n int) string
	}{
		{"a large pattern", func(int) string { return large }, func(n int) string { return `"` + strings.Repeat("x", 40*n) + `"` }},
		{"a large pattern and short texts", func(int) string { return `{"items":` + large + `}` }, func(n int) string { return "[" + strings.Repeat(`"xxxxxxxx",`, n) + `""]` }},
		{"names that are required", required, object},
		{"names that are required and not there", required, func(n int) string { return strings.ReplaceAll(object(n), "n", "m") }},
		{"elements that must differ", func(int) string { return `{"uniqueItems":true}` }, func(n int) string { return "[" + parts(n, `"n%05d"`) + "]" }},
		{"a constant", func(n int) string { return `{"const":` + object(n) + `}` }, object},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n = 1000
			work := func(n int) int {
				s, err := Compile([]byte(c.schema(n)), nil)
				if err != nil {
					t.Fatal(err)
				}
				m := NewMeter(t.Context(), 1<<40)
				if err := m.Validate(s, json.RawMessage(c.value(n))); err != nil && !errors.As(err, new(*ValidationError)) {
					t.Fatal(err)
				}
				return m.Used()
			}
			if few, many := work(n), work(10*n); few == 0 || many > 11*few {
				t.Errorf("%d steps for %d, and %d for ten times as many", few, n, many)
			}
		})
	}
}

// hostile is a schema that applies itself twice to each member, and the value that it takes longest
// for: 2^depth steps.
const (
	hostile      = `{"$defs":{"s":{"allOf":[{"additionalProperties":{"$ref":"#/$defs/s"}},{"additionalProperties":{"$ref":"#/$defs/s"}}],"not":{"const":1}}},"$ref":"#/$defs/s"}`
	hostileDepth = 40
)

var hostileValue = json.RawMessage(strings.Repeat(`{"a":`, hostileDepth) + "{}" + strings.Repeat("}", hostileDepth))

// Validations that share a meter take no more in all than it has, each of which by itself may take
// as much; those that it has nothing left for say so, and nothing about the value.
func TestMeter(t *testing.T) {
	s, err := Compile([]byte(hostile), nil)
	if err != nil {
		t.Fatal(err)
	}
	const most = evalSteps / 2
	m := NewMeter(t.Context(), most)
	for i := range 100 {
		if err := m.Validate(s, hostileValue); !errors.Is(err, ErrSpent) {
			t.Fatalf("value %d: %v", i, err)
		}
	}
	if used := m.Used(); used < most || used > most+pollSteps {
		t.Errorf("%d steps were taken, of %d", used, most)
	}
	to, _ := Compile([]byte(`{"type":"integer"}`), nil)
	from, _ := Compile([]byte(`{"type":"integer","minimum":1}`), nil)
	r := &Relation{Meter: m}
	if a := r.Assignable(from, to); a.Verdict != Maybe || a.Reason != ErrSpent.Error() {
		t.Errorf("a question without steps: %+v", a)
	}
	if _, err := m.Sample(s, 1); !errors.Is(err, ErrSpent) {
		t.Errorf("a sample without steps: %v", err)
	}
	m.Add(evalSteps)
	if a := r.Assignable(from, to); a.Verdict != Yes {
		t.Errorf("with steps: %+v", a)
	}
	if err := m.Validate(to, json.RawMessage(`"a"`)); !errors.As(err, new(*ValidationError)) {
		t.Errorf("with steps: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := NewMeter(ctx, most).Validate(to, json.RawMessage(`"a"`)); !errors.Is(err, context.Canceled) {
		t.Errorf("of a context that is done: %v", err)
	}
}

// That a schema does not fit another is said also when no value that shows it can be made.
func TestMismatchOfHugeValues(t *testing.T) {
	const integer = `{"type":"integer"}`
	lists := nested(3, `{"type":"string"}`, `{"type":"array","minItems":1000,"items":…}`)
	shorter := nested(3, `{"type":"string"}`, `{"type":"array","minItems":200,"items":…}`)
	for _, c := range []struct {
		name, from, to string
		want           Verdict
	}{
		{"lists, and a number", lists, integer, No},
		{"lists of strings, and of numbers", shorter, nested(3, integer, `{"type":"array","items":…}`), No},
		{"the same lists", shorter, nested(3, `{"type":"string"}`, `{"type":"array","items":…}`), Yes},
		{"a long string, and a number", `{"type":"string","minLength":5000}`, integer, No},
		{"a long string in an object", `{"type":"object","required":["a"],"properties":{"a":{"type":"string","minLength":100000}}}`, `{"type":"object","properties":{"a":{"maxLength":10}}}`, No},
		{"a long list, and short ones", `{"type":"array","minItems":5000,"items":{"type":"null"}}`, `{"type":"array","maxItems":4999}`, No},
		{"a long list that can't be", `{"type":"array","minItems":5000,"maxItems":4000}`, integer, Yes},
		{"a list whose late element can't be", `{"$schema":"http://json-schema.org/draft-07/schema#","type":"array","minItems":5000,"items":[{"type":"string","minLength":70000},true,{"not":{}}]}`, integer, Yes},
		{"long strings that can't be", `{"type":"string","minLength":5000,"maxLength":4000}`, integer, Yes},
		{"huge elements that must be different", `{"type":"array","uniqueItems":true,"minItems":3,"items":{"type":"string","minLength":70000}}`, `{"type":"array","maxItems":2}`, Maybe},
	} {
		from, err := Compile([]byte(c.from), nil)
		if err != nil {
			t.Fatal(err)
		}
		to, err := Compile([]byte(c.to), nil)
		if err != nil {
			t.Fatal(err)
		}
		a := Assignable(from, to, nil)
		if a.Verdict != c.want || a.Verdict == No && a.Reason == "" {
			t.Errorf("%s: %+v, want %v", c.name, a, c.want)
		}
	}
}

// The library is not asked to search a long enum for each of many values, which took minutes, since
// it compares numbers as fractions.
func TestLibraryIsNotAskedForTooMuch(t *testing.T) {
	for _, of := range []string{`%d`, `{"x":%d}`, `[[%d]]`} {
		for n, want := range map[int]bool{100: false, 3000: true} {
			s, err := Compile([]byte(`{"items":{"enum":[`+parts(n, of)+`]}}`), nil)
			if err != nil {
				t.Fatal(err)
			}
			raw := []byte("[" + parts(n, strings.ReplaceAll(of, "%d", "-1%d")) + "]")
			v, err := value.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			if got := tooMuchWork(nil, s.node(), &v, len(raw)); got != want {
				t.Errorf("%d times %s: too much work is %t", n, of, got)
			}
		}
	}
}
