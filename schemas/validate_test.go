package schemas_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/plc-lang/plc/schemas"
)

// words is an error of Validate, a violation a line: instance, keyword, message.
func words(err error) string {
	var broken *schemas.ValidationError
	if !errors.As(err, &broken) {
		return ""
	}
	var lines []string
	for _, v := range broken.Violations {
		lines = append(lines, strings.TrimSpace(v.Instance+" "+v.Keyword+" "+v.Message))
	}
	return strings.Join(lines, "\n")
}

func TestValidateWords(t *testing.T) {
	const shapes = `{"oneOf":[{"type":"object","properties":{"kind":{"const":"circle"},"r":{"type":"number"}},"required":["kind","r"]},
		{"type":"object","properties":{"kind":{"const":"text"},"text":{"type":"string"}},"required":["kind","text"]},{"type":"null"}]}`
	for _, test := range []struct{ schema, value, want string }{
		{`{"type":"integer"}`, `1.0`, ""},
		{`{"type":"integer"}`, `"one"`, "/type expected integer, but got string"},
		{`{"type":"integer"}`, `1.5`, "/type expected integer, but got 1.5"},
		{`{"type":["integer","null"]}`, `true`, "/type expected integer or null, but got boolean"},
		{`{"enum":["a","b",1]}`, `"c"`, `/enum expected "a", "b" or 1, but got "c"`},
		{`{"const":{"a":[]}}`, `{"a":[1]}`, `/const expected {"a":[]}, but got {"a":[1]}`},
		{`{"minimum":5}`, `3`, "/minimum expected at least 5, but got 3"},
		{`{"exclusiveMaximum":5,"maximum":7}`, `5`, "/exclusiveMaximum expected less than 5, but got 5"},
		{`{"multipleOf":0.1}`, `0.25`, "/multipleOf expected a multiple of 0.1, but got 0.25"},
		{`{"minLength":3}`, `"é"`, "/minLength expected at least 3 characters, but got 1"},
		{`{"pattern":"^a"}`, `"b"`, `/pattern expected a match of "^a", but got "b"`},
		{`{"maxItems":1}`, `[1,2]`, "/maxItems expected at most 1 element, but got 2"},
		{`{"uniqueItems":true}`, `[1,2,1.0]`, "/uniqueItems elements 0 and 2 are equal"},
		{`{"items":{"type":"string"}}`, `["a",1,null]`, "/1 /items/type expected string, but got 1\n/2 /items/type expected string, but got null"},
		{`{"prefixItems":[true],"items":false}`, `[1,2]`, "/items expected at most 1 element, but got 2"},
		{`{"contains":{"type":"null"}}`, `[1]`, "/contains expected at least 1 element like null, but got 0"},
		{`{"required":["a","b"]}`, `{"b":1}`, `/required missing required member "a"`},
		{`{"properties":{"a/b":{"type":"null"}}}`, `{"a/b":1}`, "/a~1b /properties/a~1b/type expected null, but got 1"},
		{`{"properties":{"a":true},"additionalProperties":false}`, `{"a":1,"b":2}`, `/b /additionalProperties unknown member "b"`},
		{`{"properties":{"a":false}}`, `{"a":1}`, "/a /properties/a must not be there"},
		{`{"propertyNames":{"maxLength":1}}`, `{"ab":1}`, `/ab /propertyNames/maxLength the name "ab" is not allowed: expected at most 1 character, but got 2`},
		{`{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `/dependentRequired/a missing member "b", which is required where "a" is`},
		{`{"not":{"type":"string"}}`, `"x"`, "/not must not be string"},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, "/anyOf expected string or null, but got 1"},
		{shapes, `{"kind":"text"}`, `/oneOf/1/required missing required member "text"`},
		{shapes, `{"kind":"circle","r":"big"}`, "/r /oneOf/0/properties/r/type expected number, but got string"},
		{shapes, `3`, "/oneOf expected object or null, but got 3"},
		{`{"oneOf":[{"minimum":1},{"maximum":3}]}`, `2`, "/oneOf expected exactly one of 2 forms, but it has those of 0 and 1"},
		{`{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`, `/then/required missing required member "b"`},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"type":"null"}}}`, `1`, "/$defs/x/type expected null, but got 1"},
		{`{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":1}`, `/b /unevaluatedProperties unknown member "b"`},
		{`{"$dynamicAnchor":"n","properties":{"n":{"$dynamicRef":"#n"}},"$defs":{"n":{"$dynamicAnchor":"n","type":"null"}}}`, `{"n":1}`, "/n /$defs/n/type expected null, but got number"},
		{`{"type":"string","nullable":true}`, `null`, ""},
		{`{"type":"string","nullable":true}`, `1`, "/type expected string or null, but got 1"},
		{`{"type":"string","format":"email"}`, `"x"`, ""},
		{`{"$schema":"http://json-schema.org/draft-07/schema","format":"email","contentEncoding":"base64","contentMediaType":"application/json"}`, `"!"`, ""},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#/definitions/s","minLength":9,"definitions":{"s":{"type":"string"}}}`, `"x"`, ""},
		{`{"type":"object"}`, `{"a":1,"a":2}`, `byte 12: the member "a" is there twice`},
		{`{"type":"object"}`, `{"a":1e401}`, "byte 5: the number is out of bounds: at most 64 digits, and exponents up to 400"},
		{`{"type":"object"}`, `{"a":` + strings.Repeat("1", 65) + `}`, "byte 5: the number is out of bounds: at most 64 digits, and exponents up to 400"},
		{`{"type":"array"}`, strings.Repeat("[", 257), "byte 256: nested more than 256 deep"},
		{`{"type":"object"}`, `{"a":tru}`, `byte 5: not JSON: "tru" is not JSON`},
		{`true`, `{"a":tru}`, `not JSON: "tru" is not JSON`},
		{`{"maxLength":1e30,"minLength":0.0}`, `"abc"`, ""},
		{`{"minLength":1e30}`, `"abc"`, "/minLength expected at least 1125899906842624 characters, but got 3"},
	} {
		if got := words(mustCompile(t, test.schema).Validate([]byte(test.value))); got != test.want {
			t.Errorf("%s of %s:\n%s\nwant\n%s", test.value, test.schema, got, test.want)
		}
	}
}

func TestViolationsAreFew(t *testing.T) {
	s := mustCompile(t, `{"items":{"type":"string"}}`)
	err := s.Validate([]byte("[" + strings.Repeat("1,", 5000) + "1]"))
	if n := len(err.(*schemas.ValidationError).Violations); n != 20 {
		t.Errorf("%d violations", n)
	}
}

func TestCompileErrors(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const draft4 = `"$schema":"http://json-schema.org/draft-04/schema#"`
	nested := `{"type":"object"}`
	for range 300 {
		nested = `{"not":` + nested + `}`
	}
	forks := `{"$defs":{"d0":{"type":"null"}`
	for i := range 40 {
		forks += fmt.Sprintf(`,"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i+1, i, i)
	}
	for _, test := range []struct{ schema, pointer, want string }{
		{`[]`, "", "a schema is an object or a boolean, not an array"},
		{`{"type":"int"}`, "", "/type: type is one of null, boolean, number, integer, string, array and object, or a list of them"},
		{`{"properties":{"a":{"type":3}}}`, "", "/properties/a/type: type is one of"},
		{`{"properties":{"a":{"type":"string","required":true}}}`, "", "/properties/a/required: required is a list of names; it stands beside properties, not inside one of them"},
		{`{"minimum":"3"}`, "", "/minimum: minimum is a number, not a string"},
		{`{"minLength":-1}`, "", "/minLength: minLength is a whole number, at least 0, not -1"},
		{`{"exclusiveMinimum":true}`, "", "/exclusiveMinimum: exclusiveMinimum is a number; that it is true or false was so in draft 4 only"},
		{`{"items":[true]}`, "", "/items: items is one schema in draft 2020-12: a list is called prefixItems"},
		{`{"anyOf":[]}`, "", "/anyOf: anyOf is a list of at least one schema"},
		{`{"multipleOf":0}`, "", "/multipleOf: multipleOf is more than 0"},
		{`{"$ref":"#/$defs/x"}`, "", `/$ref: "#/$defs/x" leads to nothing in the document`},
		{`{"$ref":"http://localhost:1/x"}`, "", `/$ref: "http://localhost:1/x" leads out of the document, and nothing is ever fetched; copy what it means into $defs`},
		{`{"$ref":"file:///etc/passwd"}`, "", `/$ref: "file:///etc/passwd" leads out of the document`},
		{`{"$ref":"other.json"}`, "", `/$ref: "other.json" leads out of the document`},
		{`{"$schema":"http://example.com/s"}`, "", `/$schema: "http://example.com/s" is no draft that is known here`},
		{`{"$ref":"#"}`, "", "the schema refers to itself without end"},
		{`{"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}`, "", "/$defs/"},
		{`{` + draft4 + `,"properties":{"a":true}}`, "", "/properties/a: draft 4 has no boolean schemas"},
		{`{"minimum":1e999}`, "", "byte 11: the number is out of bounds"},
		{`{"a":1,"a":2}`, "", `the member "a" is there twice`},
		{`{"$defs":{"unused":{"type":"nope"}}}`, "", "/$defs/unused/type: value must be one of"},
		{`{"x":{"type":"nope"},"y":{}}`, "/x", "/x/type: type is one of"},
		{`{}`, "/x", "/x: the pointer leads to nothing in the document"},
		{nested, "", "nested more than 256 deep"},
		{forks + `},"$ref":"#/$defs/d40"}`, "", "too many schemas apply to one value"},
	} {
		_, err := schemas.Compile([]byte(test.schema), &schemas.Options{Pointer: test.pointer})
		var fault *schemas.SchemaError
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.200s: %v, want %s", test.schema, err, test.want)
		} else if strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "mem:") {
			t.Errorf("%s: the message tells where it was made: %v", test.schema, err)
		}
	}
}

func TestWarnings(t *testing.T) {
	s := mustCompile(t, `{"type":"object","properties":{"a":{"type":"string","pattern":"^(?!x)","minLength":2}},
		"patternProperties":{"(?=y)":{"type":"null"},"^z":{"type":"integer"}}}`)
	for value, valid := range map[string]bool{
		`{"a":"xx"}`: true, `{"a":"x"}`: false, `{"y":1}`: true, `{"z":1}`: true, `{"z":"1"}`: false,
	} {
		if err := s.Validate([]byte(value)); (err == nil) != valid {
			t.Errorf("%s: %v", value, err)
		}
	}
	w := s.Warnings()
	if len(w) != 2 || w[0].Pointer != "/properties/a/pattern" || w[1].Pointer != "/patternProperties/(?=y)" {
		t.Errorf("warnings %v", w)
	}
}

// A pointer picks a schema; what it does not reach may be anything.
func TestPointer(t *testing.T) {
	doc := []byte(`{"openapi":"3.1.0","paths":{"/a b":{"get":{"type":"object","properties":{"p":{"$ref":"#/components/schemas/P%20x"}}}}},
		"components":{"schemas":{"P x":{"type":"integer","maximum":9},"Bad":{"type":"nope"}}}}`)
	s, err := schemas.Compile(doc, &schemas.Options{Pointer: "/paths/~1a b/get"})
	if err != nil {
		t.Fatal(err)
	}
	want := "/p /components/schemas/P x/maximum expected at most 9, but got 10"
	if got := words(s.Validate([]byte(`{"p":10}`))); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if raw, pointer := s.JSON(); string(raw) != string(doc) || pointer != "/paths/~1a b/get" {
		t.Errorf("JSON is %s at %s", raw, pointer)
	}
}

// A schema that applies itself twice to every member needs 2^depth steps.
func TestHostileRecursion(t *testing.T) {
	s := mustCompile(t, `{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}},"items":false}`)
	value := strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200)
	err := s.Validate([]byte(value))
	if err == nil || !strings.Contains(err.Error(), "takes too much work") {
		t.Errorf("got %v", err)
	}
	if err := s.Validate([]byte(`{"a":{"a":{"a":1}}}`)); err != nil {
		t.Error(err)
	}
}

// What would take the library long, the evaluator decides alone.
func TestManyConstants(t *testing.T) {
	var list []string
	for i := range 3001 {
		list = append(list, fmt.Sprint(i))
	}
	s := mustCompile(t, `{"uniqueItems":true,"items":{"enum":[`+strings.Join(list[:3000], ",")+`]}}`)
	if err := s.Validate([]byte("[" + strings.Join(list[:3000], ",") + "]")); err != nil {
		t.Error(err)
	}
	if got := words(s.Validate([]byte("[" + strings.Join(list, ",") + "]"))); got != "/3000 /items/enum expected 0, 1, 2, 3, 4, 5, 6 or 2993 more, but got 3000" {
		t.Error(got)
	}
}

func TestMade(t *testing.T) {
	number := mustCompile(t, `{"$schema":"http://json-schema.org/draft-04/schema#","type":"number","minimum":0,"exclusiveMinimum":true}`)
	text := mustCompile(t, `{"type":"string"}`)
	three, err := schemas.Const([]byte(`3`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		schema         *schemas.Schema
		valid, invalid string
		describe       string
	}{
		{schemas.Any(), `[1]`, `[1`, "any"},
		{schemas.Nothing(), "", `1`, "never"},
		{three, `3.0`, `4`, "3"},
		{schemas.Union(number, text), `1`, `0`, "number > 0 | string"},
		{schemas.Union(number, text, three), `"a"`, `null`, "number > 0 | string | 3"},
		{schemas.Union(), "", `null`, "never"},
		{schemas.ArrayOf(schemas.Union(number, text)), `[1,"a"]`, `[0]`, "(number > 0 | string)[]"},
		{schemas.ArrayOf(text), `["a"]`, `"a"`, "string[]"},
		{schemas.Object(schemas.Field{Name: "a", Schema: number}, schemas.Field{Name: "b", Optional: true}), `{"a":1}`, `{"b":1}`, "{a: number > 0, b?: any}"},
	} {
		if test.valid != "" && test.schema.Validate([]byte(test.valid)) != nil {
			t.Errorf("%s refuses %s", test.schema, test.valid)
		}
		if test.schema.Validate([]byte(test.invalid)) == nil {
			t.Errorf("%s admits %s", test.schema, test.invalid)
		}
		if got := test.schema.String(); got != test.describe {
			t.Errorf("described as %s, want %s", got, test.describe)
		}
		if doc, _ := test.schema.JSON(); len(doc) == 0 {
			t.Errorf("%s has no JSON", test.describe)
		}
	}
	if a := schemas.Assignable(schemas.ArrayOf(three), schemas.ArrayOf(number), nil); a.Verdict != schemas.Yes {
		t.Error(a)
	}
}

func TestString(t *testing.T) {
	for schema, want := range map[string]string{
		`true`: "any", `false`: "never", `{}`: "any",
		`{"type":"integer","minimum":0,"maximum":10}`:             "integer 0..10",
		`{"type":"number","exclusiveMinimum":0}`:                  "number > 0",
		`{"type":["string","null"]}`:                              "string | null",
		`{"enum":["red","green"]}`:                                `"red" | "green"`,
		`{"type":"string","minLength":1}`:                         "string(1..)",
		`{"type":"array","items":{"enum":[1,2]}}`:                 "(1 | 2)[]",
		`{"type":"array","minItems":1,"items":{"type":"string"}}`: "string[1..]",
		`{"type":"object","properties":{"id":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["id"]}`: "{id: string, tags?: string[]}",
		`{"type":"object","additionalProperties":{"type":"integer"}}`:                                                                 "{[name]: integer}",
		`{"type":"object","additionalProperties":false}`:                                                                              "{}",
		`{"anyOf":[{"type":"string"},{"type":"null"}]}`:                                                                               "string | null",
		`{"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false}`:                                            "[string, null]",
		`{"$defs":{"n":{"type":"object","properties":{"next":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"}`:                             "{next?: {next?: …}}",
		`{"type":"object","properties":{"odd name":{"type":"null"}}}`:                                                                 `{"odd name"?: null}`,
	} {
		if got := mustCompile(t, schema).String(); got != want {
			t.Errorf("%s is described as %s, want %s", schema, got, want)
		}
	}
}

// What is not listed is counted.
func TestViolationsAreCounted(t *testing.T) {
	s := mustCompile(t, `{"items":{"type":"string"}}`)
	for _, c := range []struct {
		broken int
		want   string
	}{{1, ""}, {20, ""}, {21, "1 more violation"}, {70, "50 more violations"}, {999, "979 more violations"}, {1000, "980 or more others"}, {5000, "980 or more others"}} {
		err := s.Validate([]byte("[" + strings.Repeat("1,", c.broken-1) + "1]")).(*schemas.ValidationError)
		if got := err.MoreWords(); got != c.want || got != "" && !strings.HasSuffix(err.Error(), "; and "+got) {
			t.Errorf("%d: %q, want %q", c.broken, got, c.want)
		}
	}
}
