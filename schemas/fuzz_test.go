package schemas

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// seeds calls f for schemas and values of the official suite.
func seeds(f *testing.F, add func(schema, value string)) {
	files, err := filepath.Glob("testdata/suite/draft*/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var cases []struct {
			Schema json.RawMessage
			Tests  []struct{ Data json.RawMessage }
		}
		if err := json.Unmarshal(text, &cases); err != nil {
			f.Fatal(err)
		}
		for i, c := range cases {
			if len(c.Tests) > 0 && len(c.Schema) < 1000 && (effort.Long() || i%8 == 0) {
				add(string(c.Schema), string(c.Tests[i%len(c.Tests)].Data))
			}
		}
	}
}

// Whatever the schema and the value: no panic, and the evaluator and the library agree; so does
// ValidateChecked about what is JSON.
func FuzzValidate(f *testing.F) {
	seeds(f, func(schema, value string) { f.Add(schema, value) })
	f.Add(`{"enum":[]}`, `1`)
	f.Add(`{"properties":{"a":{"type":"string","not":{"type":"null"},"enum":[]}}}`, `{"a":"x"}`)
	f.Add(`{"$id":"A:0","$defs":{"":{"$id":"0"}}}`, `1`)
	f.Fuzz(func(t *testing.T, schema, text string) {
		s, err := Compile([]byte(schema), nil)
		if err != nil {
			return
		}
		_ = s.String()
		err = s.Validate([]byte(text))
		if jsonscan.Check([]byte(text), jsonscan.Limits{}) == nil {
			if checked := s.ValidateChecked([]byte(text)); (checked == nil) != (err == nil) {
				t.Fatalf("%s of %s: %v, but checked %v", text, schema, err, checked)
			}
		}
		v, fault := value.Parse([]byte(text))
		if fault != nil {
			if err == nil {
				t.Fatalf("%s is valid, but %v", text, fault)
			}
			return
		}
		if tooMuchWork(nil, s.node(), &v, 0) {
			return
		}
		valid, _ := agree(t, s, &v)
		if valid != (err == nil) {
			t.Fatalf("%s of %s: %v", text, schema, err)
		}
	})
}

// Whatever the two schemas: no panic, and no value refutes the answer.
func FuzzAssignable(f *testing.F) {
	last := "true"
	seeds(f, func(schema, value string) {
		f.Add(schema, last, value)
		last = schema
	})
	f.Fuzz(func(t *testing.T, fromText, toText, value string) {
		from, err := Compile([]byte(fromText), nil)
		if err != nil {
			return
		}
		to, err := Compile([]byte(toText), nil)
		if err != nil {
			return
		}
		a := Assignable(from, to, nil)
		switch {
		case a.Verdict == Yes && from.Validate([]byte(value)) == nil && to.Validate([]byte(value)) != nil:
			t.Fatalf("%s\n⊆ %s\nis said, but %s refutes it", fromText, toText, value)
		case a.Verdict == No && (from.Validate(a.Witness) != nil || to.Validate(a.Witness) == nil):
			t.Fatalf("%s\n⊄ %s: %s is no witness", fromText, toText, a.Witness)
		}
	})
}

func FuzzSample(f *testing.F) {
	seeds(f, func(schema, _ string) { f.Add(schema, uint64(len(schema))) })
	f.Fuzz(func(t *testing.T, schema string, seed uint64) {
		s, err := Compile([]byte(schema), nil)
		if err != nil {
			return
		}
		v, err := Sample(s, seed)
		if err == nil && s.Validate(v) != nil {
			t.Fatalf("%s of %s is not valid", v, schema)
		}
	})
}

// No value is one of none: drafts since 2019-09 allow such an enum, earlier ones do not.
func TestEnumOfNothing(t *testing.T) {
	for _, text := range []string{`{"enum":[]}`, `{"not":{"type":"null"},"enum":[]}`, `{"$schema":"https://json-schema.org/draft/2019-09/schema","enum":[]}`} {
		s, err := Compile([]byte(text), nil)
		if err != nil {
			t.Error(text, err)
			continue
		}
		v := value.Value{Kind: value.Boolean}
		if valid, _ := agree(t, s, &v); valid || s.Validate([]byte("false")) == nil {
			t.Errorf("%s takes a value", text)
		}
	}
	for _, draft := range []string{"04", "06", "07"} {
		text := `{"$schema":"http://json-schema.org/draft-` + draft + `/schema#","enum":[]}`
		if _, err := Compile([]byte(text), nil); err == nil {
			t.Errorf("%s is a schema", text)
		}
	}
}
