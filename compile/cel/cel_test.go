package cel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/schemas"
)

// order is the schema of value in the tables; any has none.
const order = `{
	"type": "object",
	"properties": {
		"total": {"type": "number"},
		"count": {"type": "integer"},
		"status": {"type": "string"},
		"paid": {"type": "boolean"},
		"coupon": {"type": ["string", "null"]},
		"lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
		"extra": {"type": "object", "properties": {"first name": {"type": "string"}}}
	},
	"required": ["total", "status"],
	"additionalProperties": false,
	"$defs": {"line": {"type": "object", "properties": {"id": {"type": "integer"}, "of": {"$ref": "#/$defs/line"}}, "additionalProperties": false}}
}`

const orderValue = `{"total": 3, "count": 2.0, "status": "é\u2020", "paid": true, "coupon": null,
	"lines": [{"id": 1}, {"id": 9007199254740993, "of": {"of": {"id": 7}}}],
	"extra": {"z": 1, "first name": "Ada", "a": {"b": 12345678901234567890, "c": 1e400}}}`

func variables(t testing.TB) map[string]*schemas.Schema {
	t.Helper()
	s, err := schemas.Compile(json.RawMessage(order), nil)
	if err != nil {
		t.Fatal(err)
	}
	integer, err := schemas.Compile(json.RawMessage(`{"type": "integer", "minimum": 1}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*schemas.Schema{"value": s, "n": integer, "any": nil}
}

func values() map[string]json.RawMessage {
	return map[string]json.RawMessage{"value": json.RawMessage(orderValue), "n": json.RawMessage("3"), "any": json.RawMessage(orderValue)}
}

var faults = []struct {
	source  string
	at      string // what the place covers, between « and »
	message string
}{
	{"", "«»", "the condition ends too soon"},
	{"value.total >", "value.total >«»", "the condition ends too soon"},
	{"value.total > > 3", "value.total > «>» 3", `unexpected ">"`},
	{"value.status == 'a", "value.status == «'»a", "a string that does not end"},
	{"n < 12345678901234567890", "n < «12345678901234567890»", "a whole number beyond 64 bits; with .0 behind it it is the nearest double"},
	{"n < -12345678901234567890", "n < «-»12345678901234567890", "a whole number beyond 64 bits"},
	{"é == 1", "«é» == 1", `unexpected "é"`},
	{"1", "«1»", "the condition is of the type int, and neither true nor false"},
	{"valu.total > 1", "«valu».total > 1", `there is no "valu"; did you mean "value"?`},
	{"value.status.lowerASCII() == ''", "value.status.«lowerASCII»() == ''", `there is no function "lowerASCII"; did you mean "lowerAscii"?`},
	{"other", "«other»", `there is no "other"; the condition is over any and n and value`},
	{"now() > 1", "«now»() > 1", `there is no function "now"`},
	{"value.totl > 1.0", "value.«totl» > 1.0", `has no member "totl"; did you mean "total"?`},
	{"'é' == value.status && value.staus == 'é'", "'é' == value.status && value.«staus» == 'é'", `did you mean "status"?`},
	{"n > 1\n && value.totl > 1.0", "n > 1\n && value.«totl» > 1.0", `did you mean "total"?`},
	{"has(value.totl)", "has(value.«totl»)", `did you mean "total"?`},
	{"value.lines.exists(l, l.ix == 1)", "value.lines.exists(l, l.«ix» == 1)", `has no member "ix"; did you mean "id"?`},
	{"value.lines[0].of.of.ix == 1", "value.lines[0].of.of.«ix» == 1", `did you mean "id"?`},
	{"value.status.length > 1", "value.status.«length» > 1", "string has no members"},
	{"value.status > 1", "value.status «>» 1", `">" does not take (string, int)`},
	{"value.status == 1", "value.status «==» 1", "string and int are never equal"},
	{"value.lines != [1]", "value.lines «!=» [1]", "are never equal"},
	{"1 in ['a']", "1 «in» ['a']", "int and string are never equal"},
	{"1 in value", "1 «in» value", "int is no name of a member"},
	{"'a' in value.total", "'a' «in» value.total", `"in" wants a list or an object, not double`},
	{"value.total + 1 > 2.0", "value.total «+» 1 > 2.0", "double(…) makes a double of an int"},
	{"size(value) > 1", "«size»(value) > 1", "dyn(…) makes a map of an object"},
	{"value.all(k, k != '')", "«value».all(k, k != '')", "has no elements to go through; dyn(…) makes a map of an object"},
	{"value['total'] > 1", "value«[»'total'] > 1", "dyn(…) makes a map of an object"},
	{"value.status.replace('', value.status) == ''", "value.status.«replace»('', value.status) == ''", `"replace" may take too much work`},
	{"value.status.matches('(')", "«value.status.matches('(')»", "missing closing )"},
	{"timestamp(value.status).getHours('Europe/Rome') == 1", "timestamp(value.status).«getHours»('Europe/Rome') == 1", `"getHours" does not take`},
	{"[1].map(0, x) == []", "[1].map(«0», x) == []", `"map" wants the name of a variable first`},
	{"has(value)", "«has»(value)", `"has" wants a member`},
	{"!", "!«»", "the condition ends too soon"},
	{"n > 1 true", "n > 1 «true»", `unexpected "true"`},
	{"value.status == '\\q'", "value.status == «'\\q'»", "no character has this escape"},
	{"value.paid && n", "value.paid «&&» n", `"&&" does not take (bool, int)`},
	{"value.lines.all(l, l.id)", "value.lines.«all»(l, l.id)", `"all" wants what is true or false, not int`},
	{"if", "«if»", `"if" is a word that can't be a name`},
	{"math.greatest() == 1", "math.«greatest»() == 1", `"math.greatest" wants numbers`},
	{"int('x') == n", "«int('x') == n»", "no int can be made of this string"},
	{"\xff", "«\xff»", "the condition is not UTF-8"},
}

func TestFaults(t *testing.T) {
	c := cel.New()
	for _, test := range faults {
		_, err := c.Check(test.source, variables(t), nil)
		var pe *compile.PredicateError
		if !errors.As(err, &pe) {
			t.Errorf("%q: %v", test.source, err)
			continue
		}
		at := test.source[:pe.Start] + "«" + test.source[pe.Start:pe.End] + "»" + test.source[pe.End:]
		if at != test.at || !strings.Contains(pe.Message, test.message) {
			t.Errorf("%q: %s: %s", test.source, at, pe.Message)
		}
	}
}

var conditions = []struct {
	source string
	want   string // true, false or the error
}{
	{"true", "true"},
	{"value.total > 1 && value.total > 1.5 && value.total < 3.5", "true"},
	{"value.total == 3 && 3 == value.total && value.total != 4", "true"},
	{"value.total / 2.0 == 1.5", "true"},                 // a number is a double, however it is written
	{"value.count / 2 == 1 && value.count == 2", "true"}, // an integer is an int, however it is written
	{"n >= 3 && n % 2 == 1", "true"},
	{"any.total / 2 == 1", "true"},
	{"value.status == 'é†' && value.status.size() == 2", "true"},
	{"value.coupon == null && value.paid", "true"},
	{"value.status == null", "false"},
	{"value.lines[1].id == 9007199254740993 && value.lines[1].id != 9007199254740992", "true"},
	{"value.lines.exists(l, has(l.of) && l.of.of.id == 7)", "true"},
	{"value.lines.map(l, l.id).filter(i, i > 1).size() == 1", "true"},
	{"value.extra.`first name` == 'Ada' && dyn(value.extra)['first name'] == 'Ada'", "true"},
	{"dyn(value.extra).map(k, k) == ['z', 'first name', 'a']", "true"},
	{"'z' in value.extra && !('q' in value.extra) && 'z' in any.extra && 2 in [1, 2.0]", "true"},
	{"dyn(value.extra).size() == 3 && type(dyn(value.extra)) == map", "true"},
	{"{'b': 12345678901234567000.0, 'c': 1.0} == any.extra.a", "false"},
	{"any.extra.a.b > 1.2e19 && any.extra.a.c > 1e308", "true"},
	{"any.lines[0] == {'id': 1} && {'id': 1.0} == any.lines[0] && value.lines[0] == any.lines[0]", "true"},
	{"value.extra == value.lines[0]", "false"},
	{"value.status.upperAscii() == 'é†' && 'a,b'.split(',') == ['a', 'b'] && math.greatest(1, 2) == 2 && [3, 1].sort() == [1, 3]", "true"},
	{"timestamp('2026-01-02T03:04:05+02:00').getHours() == 1", "true"},
	{"any", "the condition gave map, and neither true nor false"},
	{"any.total", "the condition gave int, and neither true nor false"},
	{"any.paid", "true"},
	{"any.q == 1", `there is no member "q"; has(…) asks for one`},
	{"has(any.q) && any.q == 1", "false"},
	{"has(any.q.r)", `there is no member "q"; has(…) asks for one`},
	{"any.total + 0.5 > 1.0", "values of types that do not go together; double(…) makes a double of an int, string(…) a string"},
	{"double(any.total) + 0.5 > 1.0", "true"},
	{"any.lines[2] == 1", "index out of bounds: 2"},
	{"any.count / 0 == 1", "division by zero"},
	{"1 in any.total", `"in" wants a list or an object, not int`},
	{"lists.range(2000).all(x, lists.range(2000).all(y, y >= 0))", "the condition takes more than 1000000 steps"},
}

func TestHolds(t *testing.T) {
	c := cel.New()
	for _, test := range conditions {
		p, err := c.Check(test.source, variables(t), nil)
		if err != nil {
			t.Errorf("%s: %v", test.source, err)
			continue
		}
		ok, err := p.Holds(t.Context(), values())
		if got := answer(ok, err); got != test.want {
			t.Errorf("%s: %s, want %s", test.source, got, test.want)
		}
	}
}

func answer(ok bool, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(ok)
}

// What a schema says is not always what comes.
func TestOtherValuesThanTheSchemaSays(t *testing.T) {
	c := cel.New()
	for value, want := range map[string]string{
		`{"total": "3", "status": "x"}`: "values of types that do not go together; double(…) makes a double of an int, string(…) a string",
		`{}`:                            `there is no member "total"; has(…) asks for one`,
		`[1]`:                           "",
		`7`:                             "",
		`{"total": 1, "total": 2}`:      `value: not a JSON value: `,
		`{"total": `:                    `value: not a JSON value: `,
		strings.Repeat("[", 1<<20):      `value: not a JSON value: `,
	} {
		p, err := c.Check("value.total > 1.0", variables(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := p.Holds(t.Context(), map[string]json.RawMessage{"value": json.RawMessage(value)})
		if err == nil || ok || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.40s: %v, %v", value, ok, err)
		}
	}
}

func TestMissingVariable(t *testing.T) {
	p, err := cel.New().Check("n > 1", variables(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Holds(t.Context(), nil); err == nil || err.Error() != `there is no "n" for the condition` {
		t.Error(err)
	}
}

func TestBounds(t *testing.T) {
	c := cel.New()
	for name, source := range map[string]string{
		"long":   strings.Repeat(" ", 10_001),
		"nested": strings.Repeat("(", 100) + "true" + strings.Repeat(")", 100),
		"wide":   strings.Repeat("a<b&&", 1_900) + "true",
		"faulty": strings.Repeat("? ", 4_000),
		"quoted": strings.Repeat("'", 9_999),
		"typed":  "[[]]" + strings.Repeat(".map(a,{a:a})", 700) + " == 1",
	} {
		if _, err := c.Check(source, variables(t), nil); err == nil {
			t.Errorf("%s: it passed", name)
		}
	}
	for name, source := range map[string]string{ // these may pass, and are then evaluated
		"chained": "any" + strings.Repeat(".a", 2_000),
		"indexed": "any" + strings.Repeat("[0]", 3_000),
		"negated": strings.Repeat("!", 9_000) + "any",
		"macros":  strings.Repeat("[1].all(x,", 60) + "any" + strings.Repeat(")", 60),
	} {
		p, err := c.Check(source, variables(t), nil)
		if err == nil {
			_, err = p.Holds(t.Context(), values())
		}
		if err == nil {
			t.Errorf("%s: it holds", name)
		}
	}
}

// To check a chain of members costs as much for each of them, however many there are.
func TestMembersCostTheSame(t *testing.T) {
	c := cel.New()
	cost := func(members int) float64 {
		source := "any" + strings.Repeat(".a", members) + " == 1"
		return testing.AllocsPerRun(1, func() {
			if _, err := c.Check(source, variables(t), nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	if few, many := cost(100), cost(1000); many > 11*few {
		t.Errorf("%.0f allocations for 100 members, %.0f for 1000", few, many)
	}
}

// ending is a context that is done after it was asked once.
type ending struct {
	context.Context
	done  chan struct{}
	asked bool
}

func (c *ending) Done() <-chan struct{} { return c.done }

func (c *ending) Err() error {
	if !c.asked {
		c.asked = true
		return nil
	}
	return context.Canceled
}

func TestContext(t *testing.T) {
	p, err := cel.New().Check("lists.range(900).all(x, lists.range(900).all(y, y >= 0))", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Holds(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error("before:", err)
	}
	done := make(chan struct{})
	close(done)
	if _, err := p.Holds(&ending{Context: t.Context(), done: done}, nil); !errors.Is(err, context.Canceled) {
		t.Error("while it goes on:", err)
	}
}

func TestConcurrent(t *testing.T) {
	c := cel.New()
	shared, err := c.Check("value.lines.exists(l, l.of.of.id == 7) || dyn(value)[any.key] == 1", variables(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, test := range conditions[:12] {
				p, err := c.Check(test.source, variables(t), nil)
				if err != nil {
					t.Error(err)
					return
				}
				ok, err := p.Holds(t.Context(), values())
				if got := answer(ok, err); got != test.want {
					t.Errorf("%s: %s", test.source, got)
				}
				if ok, err := shared.Holds(t.Context(), values()); !ok || err != nil {
					t.Error(ok, err)
				}
			}
		})
	}
	wg.Wait()
}

// FuzzCheck: no source panics, every place is inside it, and what was checked is
// evaluated without a panic to the same answer each time.
func FuzzCheck(f *testing.F) {
	for _, test := range faults {
		f.Add(test.source)
	}
	for _, test := range conditions {
		f.Add(test.source)
	}
	c := cel.New()
	vars, vals := variables(f), values()
	f.Fuzz(func(t *testing.T, source string) {
		p, err := c.Check(source, vars, nil)
		var pe *compile.PredicateError
		switch {
		case errors.As(err, &pe):
			if pe.Start < 0 || pe.Start > pe.End || pe.End > len(source) || pe.Message == "" || !utf8.ValidString(pe.Message) || strings.Contains(pe.Message, "\n") {
				t.Fatalf("%q: %+v", source, pe)
			}
			return
		case err != nil:
			t.Fatalf("%q: %v", source, err)
		}
		first, err := p.Holds(t.Context(), vals)
		if err != nil && strings.Contains(err.Error(), "internal error") {
			t.Fatalf("%q: %v", source, err)
		}
		second, again := p.Holds(t.Context(), vals)
		if answer(first, err) != answer(second, again) {
			t.Fatalf("%q: %s, then %s", source, answer(first, err), answer(second, again))
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	c, vars := cel.New(), variables(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Check("value.total > 1 && value.lines.exists(l, l.id == 7)", vars, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHolds(b *testing.B) {
	p, err := cel.New().Check("value.total > 1 && value.lines.exists(l, l.id == 1)", variables(b), nil)
	if err != nil {
		b.Fatal(err)
	}
	vals := values()
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := p.Holds(b.Context(), vals); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		cel.New()
	}
}
