package schemas_test

import (
	"strings"
	"testing"

	"github.com/plc-lang/plc/schemas"
)

func TestSample(t *testing.T) {
	for _, test := range []struct{ schema, want string }{ // with seed 1; "" for: any valid one
		{`{"const":{"a":1}}`, `{"a":1}`},
		{`{"type":"string","examples":["x"]}`, `"x"`},
		{`{"type":"integer","default":7}`, `7`},
		{`{"type":"integer","default":"wrong","enum":[3]}`, `3`},
		{`{"type":"string","format":"email"}`, `"someone@example.com"`},
		{`{"type":"string","pattern":"^[a-z]{3}-[0-9]$"}`, `"aaa-0"`},
		{`{"type":"integer","minimum":3,"maximum":3}`, `3`},
		{`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.001}`, `0.0005`},
		{`{"type":"null"}`, `null`},
		{toolSchema, ""}, {benchUser, ""}, {benchShapes, ""}, {benchTree, ""}, {`true`, ""},
		{`{"type":"array","items":{"type":"boolean"},"minItems":2,"uniqueItems":true}`, ""},
		{`{"type":"array","contains":{"type":"null"},"minContains":3,"items":{"type":["null","string"]}}`, ""},
		{`{"type":"object","minProperties":3}`, ""},
		{`{"type":"object","propertyNames":{"pattern":"^x"},"minProperties":2}`, ""},
		{`{"if":{"type":"string"},"then":{"minLength":9},"else":{"type":"integer"}}`, ""},
		{`{"oneOf":[{"minimum":0,"type":"number"},{"maximum":5,"type":"number"}]}`, ""},
		{`{"type":"object","required":["a"],"dependentRequired":{"a":["b"]},"properties":{"b":{"type":"integer"}}}`, ""},
	} {
		s := mustCompile(t, test.schema)
		distinct := make(map[string]bool)
		for seed := range uint64(20) {
			v, err := schemas.Sample(s, seed)
			if err != nil {
				t.Fatalf("%s: %v", test.schema, err)
			}
			if err := s.Validate(v); err != nil {
				t.Errorf("%s: the sample %s: %v", test.schema, v, err)
			}
			again, _ := schemas.Sample(s, seed)
			if string(again) != string(v) {
				t.Errorf("%s: %s and %s by the same seed", test.schema, v, again)
			}
			distinct[string(v)] = true
			if seed == 1 && test.want != "" && string(v) != test.want {
				t.Errorf("%s: %s, want %s", test.schema, v, test.want)
			}
		}
		if test.schema == toolSchema && len(distinct) < 5 {
			t.Errorf("only %d different samples of a tool's schema", len(distinct))
		}
	}
}

func TestSampleOfNothing(t *testing.T) {
	for _, schema := range []string{
		`false`, `{"allOf":[{"type":"string"},{"type":"null"}]}`, `{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2}`,
		`{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}`, `{"type":"array","items":false,"minItems":1}`,
	} {
		v, err := schemas.Sample(mustCompile(t, schema), 1)
		if err == nil || !strings.Contains(err.Error(), "no value meets") {
			t.Errorf("%s: %s, %v", schema, v, err)
		}
	}
}

// Nearly every schema of the official suite that a value meets has a sample.
func TestSampleSuite(t *testing.T) {
	missing, all := 0, 0
	for draft := range suiteDrafts {
		for _, c := range suite(t, draft) {
			s, err := schemas.Compile(c.Schema, nil)
			if err != nil {
				continue
			}
			possible := false
			for _, test := range c.Tests {
				possible = possible || s.Validate(test.Data) == nil
			}
			if !possible {
				continue
			}
			all++
			if _, err := schemas.Sample(s, 7); err != nil {
				missing++
				t.Logf("%s/%s: %s: %v", draft, c.file, c.Description, err)
			}
		}
	}
	if missing*100 > all {
		t.Errorf("%d of %d schemas have no sample", missing, all)
	}
}
