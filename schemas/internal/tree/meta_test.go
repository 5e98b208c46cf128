package tree

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/plc-lang/plc/schemas/internal/value"
)

// ordinarySchemas are such as params have.
var ordinarySchemas = []string{
	`true`, `{}`,
	`{"type":"object","properties":{"a":{"type":["integer","null"],"description":"how many","default":3},"b":{"enum":["x","y"]}},"required":["a"],"additionalProperties":false}`,
	`{"type":"array","items":{"anyOf":[{"const":1},{"type":"number","minimum":0,"exclusiveMaximum":1e3}]},"title":"a list"}`,
	`{"type":"string","format":"date","examples":["2020-01-01"],"nullable":true,"$comment":"of when"}`,
	`{"type":["number","string"],"pattern":"[0-9]"}`,
	`{"$ref":"#/$defs/a.B_c~1d-9","$defs":{"a.B_c/d-9":{"type":"string","pattern":"^a{1,3}$","minLength":0,"maxLength":10,"readOnly":true,"deprecated":false},"b":{"minItems":1,"maxItems":2,"uniqueItems":true,"items":{"$ref":"#/$defs/b"}}}}`,
	`{"minProperties":0,"maxProperties":3,"properties":{"x":{"writeOnly":true}}}`,
	`{"type":"object","properties":{"x":{"x-unit":3}},"effects":{"pure":true},"undo":[]}`,
}

// faultySchemas are nearly ordinary.
var faultySchemas = []string{
	`{"type":"text"}`, `{"type":[]}`, `{"type":["string","string"]}`, `{"type":["string",3]}`, `{"type":null}`,
	`{"description":3}`, `{"enum":3}`, `{"required":"a"}`, `{"required":["a","a"]}`, `{"required":[1]}`,
	`{"properties":[]}`, `{"properties":{"a":3}}`, `{"properties":{"a":{"type":"text"}}}`, `{"items":[{}]}`, `{"items":3}`,
	`{"additionalProperties":"no"}`, `{"anyOf":[]}`, `{"oneOf":{}}`, `{"allOf":[3]}`, `{"minimum":"3"}`, `{"title":null}`,
	`{"$id":3}`, `{"minLength":-1}`, `{"pattern":3}`, `{"multipleOf":0}`, `{"uniqueItems":1}`,
	`{"$ref":"#/$defs/none"}`, `{"$ref":3}`, `{"$defs":[]}`, `{"$defs":{"a":3}}`, `{"$defs":{"a":{"type":"text"}}}`,
	`{"minLength":1.5}`, `{"maxItems":"1"}`, `{"minProperties":-0.5}`, `{"readOnly":"yes"}`,
}

func TestOrdinary(t *testing.T) {
	for _, text := range ordinarySchemas {
		if v, err := value.Parse([]byte(text)); err != nil || !isOrdinary(&v) {
			t.Errorf("%s is not ordinary (%v)", text, err)
		}
		sameAsMeta(t, text)
	}
	for _, text := range faultySchemas {
		if _, err := Compile([]byte(text), ""); err == nil {
			t.Errorf("%s is a schema", text)
		}
		sameAsMeta(t, text)
	}
	for _, text := range append(suiteSchemas(t), `{"pattern":"["}`, `{"pattern":"a{2,1}"}`, `{"$defs":{"a":{"pattern":"["}}}`) {
		sameAsMeta(t, text)
	}
}

// Each keyword of the meta-schema is known here: none passes with a value that it refuses.
func TestOrdinaryKnowsAllKeywords(t *testing.T) {
	meta, err := metaSchemas[2020]()
	if err != nil {
		t.Fatal(err)
	}
	names, seen := map[string]bool{}, map[*jsonschema.Schema]bool{}
	var walk func(*jsonschema.Schema)
	walk = func(s *jsonschema.Schema) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		for name := range s.Properties {
			names[name] = true
		}
		walk(s.Ref)
		for _, part := range s.AllOf {
			walk(part)
		}
	}
	walk(meta)
	if len(names) < 50 {
		t.Fatalf("the meta-schema has %d keywords", len(names))
	}
	for name := range names {
		for _, v := range []string{`null`, `true`, `3`, `-1`, `0.5`, `""`, `"x"`, `"#"`, `[]`, `[3]`, `["x"]`, `["x","x"]`, `[{}]`, `{}`, `{"a":3}`, `{"a":[]}`, `{"a":{}}`} {
			sameAsMeta(t, `{"`+name+`":`+v+`}`)
		}
	}
}

// sameAsMeta fails when the meta-schema refuses what is ordinary.
func sameAsMeta(t *testing.T, text string) {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil || !isOrdinary(&v) {
		return
	}
	meta, err := metaSchemas[2020]()
	if err != nil {
		t.Fatal(err)
	}
	if err := meta.Validate(asAny(&v)); err != nil {
		t.Errorf("%s is ordinary, but %v", text, err)
	}
}

func suiteSchemas(t testing.TB) (all []string) {
	files, err := filepath.Glob("../../testdata/suite/draft*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct{ Schema json.RawMessage }
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			all = append(all, string(c.Schema))
		}
	}
	return all
}

// A corpus whose every plan brings along its tools has a schema for each of them: the
// meta-schema, which takes thousands of allocations, is not asked about ordinary ones.
func TestOrdinarySchemasAreCheap(t *testing.T) {
	doc := json.RawMessage(ordinarySchemas[2])
	allocs := testing.AllocsPerRun(10, func() {
		if _, err := Compile(doc, ""); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 150 {
		t.Errorf("%v allocations", allocs)
	}
}

// What is ordinary is a schema.
func FuzzOrdinary(f *testing.F) {
	for _, list := range [][]string{ordinarySchemas, faultySchemas} {
		for _, text := range list {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) { sameAsMeta(t, text) })
}

// Nothing is relative to a URL without a path.
func TestIdentifierBelowOpaque(t *testing.T) {
	if _, err := Compile([]byte(`{"$id":"urn:x","$defs":{"a":{"$id":"0"}}}`), ""); err == nil {
		t.Error("the id is taken")
	}
}
