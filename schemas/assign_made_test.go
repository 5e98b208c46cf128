package schemas_test

import (
	"sync"
	"testing"

	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/schemas"
)

// Pairs whose answer is known from how they are made, out of every schema S of the
// official suite and a value v of it.
func TestAssignableByConstruction(t *testing.T) {
	var counted tally
	var s, with *schemas.Schema
	ask := func(what string, from, to *schemas.Schema, want schemas.Verdict) {
		t.Helper()
		a := schemas.Assignable(from, to, nil)
		counted[a.Verdict]++
		if a.Verdict != want && a.Verdict != schemas.Maybe {
			t.Errorf("%s: %v, want %v, for S = %s, S ∪ v = %s (witness %s)", what, a.Verdict, want, s, with, a.Witness)
		}
	}
	for draft := range suiteDrafts {
		for _, c := range someOf(suite(t, draft)) {
			var err error
			if s, err = schemas.Compile(c.Schema, nil); err != nil {
				continue
			}
			for _, test := range c.Tests {
				v, err := schemas.Const(test.Data)
				if err != nil {
					t.Fatal(err)
				}
				want := schemas.No // if v is not in S
				if s.Validate(test.Data) == nil {
					want = schemas.Yes
				}
				with = schemas.Union(s, v)
				ask("S ⊆ S ∪ v", s, with, schemas.Yes)
				ask("S ∪ v ⊆ S", with, s, want)
				ask("v ⊆ S", v, s, want)
				ask("[S] ⊆ [S ∪ v]", schemas.ArrayOf(s), schemas.ArrayOf(with), schemas.Yes)
				ask("[S ∪ v] ⊆ [S]", schemas.ArrayOf(with), schemas.ArrayOf(s), want)
				a := schemas.Object(schemas.Field{Name: "a", Schema: with})
				ask("{a: S ∪ v} ⊆ {a: S}", a, schemas.Object(schemas.Field{Name: "a", Schema: s}), want)
				ask("{a: S ∪ v} ⊆ {a?: S ∪ v}", a, schemas.Object(schemas.Field{Name: "a", Schema: with, Optional: true}), schemas.Yes)
				ask("{a?: v} ⊆ {a: v}", schemas.Object(schemas.Field{Name: "a", Schema: v, Optional: true}), schemas.Object(schemas.Field{Name: "a", Schema: v}), schemas.No)
			}
		}
	}
	t.Logf("yes %d, no %d, maybe %d: %.2f %% decided", counted[schemas.Yes], counted[schemas.No], counted[schemas.Maybe], counted.decided())
	if counted.decided() < 98 {
		t.Error("too few decided")
	}
}

// Narrowing one keyword is seen in both directions.
func TestAssignableNarrower(t *testing.T) {
	for _, test := range []struct{ narrow, wide string }{
		{`{"type":"string"}`, `{"type":["string","null"]}`},
		{`{"type":"integer"}`, `{"type":"number"}`},
		{`{"enum":[1,"a"]}`, `{"enum":["a",1,null]}`},
		{`{"const":{"a":1}}`, `{"enum":[{"a":1},{"a":2}]}`},
		{`{"minimum":2}`, `{"minimum":1}`},
		{`{"exclusiveMinimum":1}`, `{"minimum":1}`},
		{`{"maximum":1}`, `{"exclusiveMaximum":1.5}`},
		{`{"multipleOf":0.2}`, `{"multipleOf":0.1}`},
		{`{"type":"integer","multipleOf":3,"minimum":1,"maximum":5}`, `{"enum":[3,6]}`},
		{`{"minLength":2}`, `{"minLength":1}`},
		{`{"maxLength":1}`, `{"maxLength":2}`},
		{`{"pattern":"^ab"}`, `{"pattern":"a"}`},
		{`{"pattern":"^[0-9]+$","maxLength":3}`, `{"pattern":"^[0-9a-f]*$"}`},
		{`{"pattern":"(?i)^ok$"}`, `{"pattern":"^[oO][kK\u212a]$|x"}`},
		{`{"minItems":1}`, `{"minItems":0}`},
		{`{"maxItems":1}`, `{"maxItems":2}`},
		{`{"uniqueItems":true}`, `{}`},
		{`{"items":{"type":"integer"}}`, `{"items":{"type":"number"}}`},
		{`{"prefixItems":[{"type":"integer"}]}`, `{"prefixItems":[{"type":"number"}]}`},
		{`{"prefixItems":[true],"items":false}`, `{"maxItems":2}`},
		{`{"contains":{"type":"integer"}}`, `{"contains":{"type":"number"}}`},
		{`{"contains":{"type":"null"},"minContains":2}`, `{"contains":{"type":"null"}}`},
		{`{"contains":{"type":"null"},"maxContains":1}`, `{"contains":{"type":"null"},"maxContains":2}`},
		{`{"contains":{"type":"null"},"maxContains":1,"minContains":0}`, `{"contains":{"type":"null"},"maxContains":2,"minContains":0}`},
		{`{"properties":{"a":{"type":"integer"}}}`, `{"properties":{"a":{"type":"number"}}}`},
		{`{"properties":{"a":true},"additionalProperties":false}`, `{"properties":{"a":true,"b":true},"additionalProperties":false}`},
		{`{"additionalProperties":{"type":"null"}}`, `{"properties":{"a":{"type":"null"}}}`},
		{`{"patternProperties":{"^a":{"type":"null"}}}`, `{"patternProperties":{"^ab":{"type":"null"}}}`},
		{`{"patternProperties":{"^x":true},"additionalProperties":false}`, `{"propertyNames":{"minLength":1}}`},
		{`{"propertyNames":{"maxLength":1}}`, `{"propertyNames":{"maxLength":2}}`},
		{`{"required":["a","b"]}`, `{"required":["a"]}`},
		{`{"required":["a"]}`, `{"minProperties":1}`},
		{`{"dependentRequired":{"a":["b","c"]}}`, `{"dependentRequired":{"a":["b"]}}`},
		{`{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"dependentSchemas":{"a":{"minProperties":2}}}`},
		{`{"dependencies":{"a":["b","c"]}}`, `{"dependencies":{"a":["c"]}}`},
		{`{"minProperties":2}`, `{"minProperties":1}`},
		{`{"maxProperties":1}`, `{"maxProperties":2}`},
		{`{"allOf":[{"minimum":1},{"maximum":2}]}`, `{"allOf":[{"minimum":1}]}`},
		{`{"anyOf":[{"type":"null"}]}`, `{"anyOf":[{"type":"null"},{"type":"string"}]}`},
		{`{"oneOf":[{"minimum":1},{"minimum":2}]}`, `{"oneOf":[{"minimum":1},{"minimum":3}]}`},
		{`{"not":{"type":["null","string"]}}`, `{"not":{"type":"null"}}`},
		{`{"if":{"type":"string"},"then":{"minLength":2}}`, `{"if":{"const":""},"then":{"type":"null"},"else":true,"anyOf":[true]}`},
		{`{"properties":{"a":true},"unevaluatedProperties":false}`, `{"properties":{"a":true,"b":true},"unevaluatedProperties":false}`},
		{`{"anyOf":[{"required":["a"],"properties":{"a":true}},{"required":["b"],"properties":{"b":true}}],"unevaluatedProperties":false}`, `{"maxProperties":2}`},
		{`{"prefixItems":[true],"unevaluatedItems":{"type":"integer"}}`, `{"prefixItems":[true],"unevaluatedItems":{"type":"number"}}`},
		{`{"contains":{"type":"null"},"unevaluatedItems":{"type":"string"}}`, `{"items":{"type":["null","string"]}}`},
		{`{"$ref":"#/$defs/x","$defs":{"x":{"type":"integer"}}}`, `{"$ref":"#/$defs/y","$defs":{"y":{"type":"number"}}}`},
		{`{"type":"string"}`, `{"type":"string","nullable":true}`},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`, `{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"null"}],"additionalItems":false}`, `{"maxItems":1}`},
		{`{"$schema":"http://json-schema.org/draft-06/schema#","items":[{"type":"null"}],"additionalItems":{"type":"null"}}`, `{"prefixItems":[{"type":"null"}]}`},
		{`{"type":"array","items":{"type":"boolean"},"uniqueItems":true}`, `{"type":"array","maxItems":2}`},
		{`{"type":"object","properties":{"k":{"enum":["a","b"]}},"required":["k"]}`, `{"anyOf":[{"properties":{"k":{"const":"a"}}},{"properties":{"k":{"const":"b"}}}]}`},
		{`{"type":"array","items":{"enum":[1,2]},"minItems":1,"maxItems":1}`, `{"anyOf":[{"items":{"const":1}},{"items":{"const":2}}]}`},
	} {
		narrow, wide := mustCompile(t, test.narrow), mustCompile(t, test.wide)
		if a := schemas.Assignable(narrow, wide, nil); a.Verdict != schemas.Yes {
			t.Errorf("%s ⊆ %s: %v, %s, %s", test.narrow, test.wide, a.Verdict, a.Reason, a.Witness)
		}
		if a := schemas.Assignable(wide, narrow, nil); a.Verdict != schemas.No {
			t.Errorf("%s ⊄ %s: %v, %s", test.wide, test.narrow, a.Verdict, a.Reason)
		}
	}
}

func TestAssignableReason(t *testing.T) {
	for _, test := range []struct{ from, to, reason, fromAt, toAt string }{
		{`{"type":"object","properties":{"n":{"type":["integer","null"]}},"required":["n"]}`, `{"properties":{"n":{"type":"integer"}}}`,
			"/n may be null: expected integer, but got null", "/properties/n", "/properties/n/type"},
		{`{"type":"object"}`, `{"required":["a"]}`, `the value may lack a member: missing required member "a"`, "", "/required"},
		{`{"type":"object"}`, `{"additionalProperties":false}`, "there may be /other, and no others than the declared are allowed", "", "/additionalProperties"},
		{`{"type":"array","items":{"$ref":"#/$defs/s"},"$defs":{"s":{"type":"string"}}}`, `{"items":{"maxLength":2}}`,
			`/0 may be "aaa": expected at most 2 characters, but got 3`, "/items", "/items/maxLength"},
		{`{"type":"string"}`, `{"pattern":"(?=x)","type":"string"}`, "it depends on what cannot be decided here: a pattern that RE2 cannot read, a dynamic reference or a meta-schema", "", ""},
		{`{"type":"array","minItems":9999,"uniqueItems":true}`, `{"maxItems":2}`, "it takes values with too many members or elements to decide", "", ""},
	} {
		a := schemas.Assignable(mustCompile(t, test.from), mustCompile(t, test.to), nil)
		if a.Reason != test.reason || a.From != test.fromAt || a.To != test.toAt {
			t.Errorf("%s ⊆ %s: %q %q %q, want %q %q %q", test.from, test.to, a.Reason, a.From, a.To, test.reason, test.fromAt, test.toAt)
		}
	}
}

// Work is bounded by steps, whatever the schemas.
func TestAssignableSteps(t *testing.T) {
	from := mustCompile(t, `{"type":"string","pattern":"(a|b)*a(a|b){15}$"}`)
	to := mustCompile(t, `{"pattern":"(a|b)*b(a|b){15}$"}`)
	if a := schemas.Assignable(from, to, nil); a.Verdict != schemas.Maybe || a.Reason != "it takes more than 10000 steps to decide" {
		t.Error(a)
	}
	if !effort.Long() {
		return
	}
	if a := schemas.Assignable(from, to, &schemas.AssignOptions{Steps: 10_000_000}); a.Verdict != schemas.No {
		t.Error(a)
	}
}

func TestRelation(t *testing.T) {
	var r schemas.Relation
	from, to := mustCompile(t, benchUser), mustCompile(t, benchUserIn)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if a := r.Assignable(from, to); a.Verdict != schemas.Yes {
				t.Error(a)
			}
			if a := r.Assignable(to, from); a.Verdict != schemas.No {
				t.Error(a)
			}
		})
	}
	group.Wait()
}
