package schemas_test

import (
	"testing"

	"github.com/plc-lang/plc/schemas"
)

func TestAssignable(t *testing.T) {
	for _, test := range []struct {
		from, to string
		want     schemas.Verdict
	}{
		{`true`, `true`, schemas.Yes},
		{`true`, `false`, schemas.No},
		{`false`, `true`, schemas.Yes},
		{`{"type":"integer"}`, `{"type":"number"}`, schemas.Yes},
		{`{"type":"number"}`, `{"type":"integer"}`, schemas.No},
		{`{"type":"string"}`, `{"type":["string","null"]}`, schemas.Yes},
		{`{"enum":[1,"a"]}`, `{"type":["integer","string"]}`, schemas.Yes},
		{`{"enum":[1,"a",1.5]}`, `{"type":["integer","string"]}`, schemas.No},
		{`{"type":"boolean"}`, `{"enum":[true,false]}`, schemas.Yes},
		{`{"type":"integer","minimum":1,"maximum":3}`, `{"enum":[1,2,3]}`, schemas.Yes},
		{`{"type":"integer","minimum":1,"maximum":4}`, `{"enum":[1,2,3]}`, schemas.No},
		{`{"type":"number","minimum":1}`, `{"type":"number","exclusiveMinimum":1}`, schemas.No},
		{`{"type":"number","exclusiveMinimum":1}`, `{"type":"number","minimum":1}`, schemas.Yes},
		{`{"multipleOf":6}`, `{"multipleOf":3}`, schemas.Yes},
		{`{"type":"number","multipleOf":3}`, `{"multipleOf":6}`, schemas.No},
		{`{"type":"number","multipleOf":0.1}`, `{"type":"integer"}`, schemas.No},
		{`{"allOf":[{"multipleOf":4},{"multipleOf":6}],"type":"integer"}`, `{"multipleOf":12}`, schemas.Yes},
		{`{"type":"string","minLength":3}`, `{"minLength":2}`, schemas.Yes},
		{`{"type":"string","minLength":2}`, `{"minLength":3}`, schemas.No},
		{`{"type":"string","pattern":"^a+$"}`, `{"pattern":"a"}`, schemas.Yes},
		{`{"type":"string","pattern":"^[a-c]{2,3}$"}`, `{"minLength":2,"maxLength":3}`, schemas.Yes},
		{`{"type":"string","pattern":"^[a-c]{2,3}$"}`, `{"minLength":3}`, schemas.No},
		{`{"type":"string","pattern":"^(red|green)$"}`, `{"enum":["red","green"]}`, schemas.Yes},
		{`{"type":"string","pattern":"^(red|green|blue)$"}`, `{"enum":["red","green"]}`, schemas.No},
		{`{"type":"string","pattern":"\\bfoo\\b"}`, `{"pattern":"foo"}`, schemas.Yes},
		{`{"type":"string","pattern":"foo"}`, `{"pattern":"\\bfoo\\b"}`, schemas.No},
		{`{"type":"string","pattern":"(?=x)"}`, `{"type":"string","pattern":"(?=x)"}`, schemas.Yes},
		{`{"type":"string"}`, `{"type":"string","pattern":"(?=x)"}`, schemas.Maybe},
		{`{"type":"array","items":{"type":"integer"}}`, `{"items":{"type":"number"}}`, schemas.Yes},
		{`{"type":"array","items":{"type":"number"}}`, `{"items":{"type":"integer"}}`, schemas.No},
		{`{"type":"array","items":{"type":"number"},"maxItems":0}`, `{"items":{"type":"integer"}}`, schemas.Yes},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false,"minItems":2}`, `{"items":{"type":["string","null"]},"contains":{"type":"null"}}`, schemas.Yes},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false}`, `{"contains":{"type":"null"}}`, schemas.No},
		{`{"type":"array","items":{"type":"boolean"},"uniqueItems":true}`, `{"maxItems":2}`, schemas.Yes},
		{`{"type":"array","items":{"type":"boolean"}}`, `{"maxItems":2}`, schemas.No},
		{`{"type":"array","maxItems":1}`, `{"uniqueItems":true}`, schemas.Yes},
		{`{"type":"array","contains":{"type":"null"},"minContains":3}`, `{"minItems":3}`, schemas.Yes},
		{`{"type":"array","contains":{"type":"null"},"minContains":3}`, `{"minItems":4}`, schemas.No},
		{`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`, `{"properties":{"a":{"type":"number"}}}`, schemas.Yes},
		{`{"type":"object","properties":{"a":{"type":"integer"}}}`, `{"required":["a"]}`, schemas.No},
		{`{"type":"object","properties":{"a":{}}}`, `{"properties":{"a":{}},"additionalProperties":false}`, schemas.No},
		{`{"type":"object","properties":{"a":{}},"additionalProperties":false}`, `{"properties":{"a":{},"b":{}},"additionalProperties":false}`, schemas.Yes},
		{`{"type":"object","additionalProperties":{"type":"integer"}}`, `{"properties":{"x":{"type":"number"}}}`, schemas.Yes},
		{`{"type":"object","patternProperties":{"^a":{"type":"integer"}}}`, `{"patternProperties":{"^ab":{"type":"number"}}}`, schemas.Yes},
		{`{"type":"object","patternProperties":{"^ab":{"type":"integer"}}}`, `{"patternProperties":{"^a":{"type":"number"}}}`, schemas.No},
		{`{"type":"object","propertyNames":{"maxLength":2}}`, `{"patternProperties":{"^...":false}}`, schemas.Yes},
		{`{"type":"object","propertyNames":{"enum":["a","b"]}}`, `{"maxProperties":2}`, schemas.Yes},
		{`{"type":"object","propertyNames":{"enum":["a","b","c"]}}`, `{"maxProperties":2}`, schemas.No},
		{`{"type":"object","propertyNames":{"pattern":"^[ab]$"}}`, `{"maxProperties":2}`, schemas.Yes},
		{`{"type":"object","propertyNames":{"pattern":"^[abc]$"}}`, `{"maxProperties":2}`, schemas.No},
		{`{"type":"object","required":["a"],"dependentRequired":{"a":["b"]}}`, `{"required":["b"]}`, schemas.Yes},
		{`{"type":"object","required":["a"],"dependentSchemas":{"a":{"required":["b"]}}}`, `{"minProperties":2}`, schemas.Yes},
		{`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"type":["string","null"]}`, schemas.Yes},
		{`{"type":["string","null"]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, schemas.Yes},
		{`{"type":["string","null"]}`, `{"oneOf":[{"type":"string"},{"type":"null"}]}`, schemas.Yes},
		{`{"type":"integer"}`, `{"oneOf":[{"minimum":0},{"maximum":0}]}`, schemas.No},
		{`{"type":"integer"}`, `{"oneOf":[{"minimum":1},{"maximum":0}]}`, schemas.Yes},
		{`{"type":"number"}`, `{"oneOf":[{"minimum":1},{"maximum":0}]}`, schemas.No},
		{`{"not":{"type":"string"}}`, `{"type":["null","boolean","number","array","object"]}`, schemas.Yes},
		{`{"if":{"type":"string"},"then":{"minLength":1},"else":{"type":"null"}}`, `{"anyOf":[{"type":"null"},{"type":"string","minLength":1}]}`, schemas.Yes},
		{`{"type":"object","properties":{"a":{"enum":[1,2]}},"required":["a"]}`,
			`{"anyOf":[{"properties":{"a":{"const":1}}},{"properties":{"a":{"const":2}}}]}`, schemas.Yes},
		{`{"type":"object","properties":{"a":{"enum":[1,2]},"b":{"enum":[1,2]}},"required":["a","b"]}`,
			`{"anyOf":[{"properties":{"a":{"const":1}}},{"properties":{"b":{"const":2}}}]}`, schemas.No},
		{`{"$defs":{"l":{"type":"object","properties":{"next":{"$ref":"#/$defs/l"},"v":{"type":"integer"}},"required":["v"]}},"$ref":"#/$defs/l"}`,
			`{"$defs":{"m":{"properties":{"next":{"$ref":"#/$defs/m"},"v":{"type":"number"}}}},"$ref":"#/$defs/m"}`, schemas.Yes},
		{`{"$defs":{"l":{"type":"object","properties":{"next":{"$ref":"#/$defs/l"},"v":{"type":"number"}},"required":["v"]}},"$ref":"#/$defs/l"}`,
			`{"$defs":{"m":{"properties":{"next":{"$ref":"#/$defs/m"},"v":{"type":"integer"}}}},"$ref":"#/$defs/m"}`, schemas.No},
		{`{"$defs":{"l":{"type":"object","properties":{"next":{"$ref":"#/$defs/l"}},"required":["next"]}},"$ref":"#/$defs/l"}`, `false`, schemas.Yes},
		{`{"type":"object","properties":{"a":{}},"unevaluatedProperties":false}`, `{"maxProperties":1}`, schemas.Yes},
		{`{"type":"object","allOf":[{"properties":{"a":{}}}],"unevaluatedProperties":{"type":"integer"}}`, `{"additionalProperties":{"type":"integer"},"properties":{"a":{}}}`, schemas.Yes},
		{`{"type":"object","anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}],"unevaluatedProperties":false}`, `{"maxProperties":2}`, schemas.Yes},
		{`{"type":"object","properties":{"a":{},"b":{}},"additionalProperties":false}`, `{"anyOf":[{"properties":{"a":{}}},{"properties":{"b":{}}}],"unevaluatedProperties":false}`, schemas.Yes},
		{`{"type":"array","prefixItems":[true],"unevaluatedItems":false}`, `{"maxItems":1}`, schemas.Yes},
		{`{"const":{"a":[1,2]}}`, `{"properties":{"a":{"items":{"type":"integer"}}}}`, schemas.Yes},
		{`{"type":"object","properties":{"a":{"type":"null"}},"required":["a"],"additionalProperties":false}`, `{"enum":[{"a":null}]}`, schemas.Yes},
		{`{"type":"object","properties":{"a":{"type":"null"}},"additionalProperties":false}`, `{"enum":[{"a":null}]}`, schemas.No},
		{`{"type":"object","properties":{"a":{"type":"null"}},"additionalProperties":false}`, `{"enum":[{"a":null},{}]}`, schemas.Yes},
		{`{"type":"array","items":{"type":"null"},"maxItems":2}`, `{"enum":[[],[null],[null,null]]}`, schemas.Yes},
		{`{"type":"string","nullable":true}`, `{"type":"string"}`, schemas.No},
		{`{"type":"string"}`, `{"type":"string","nullable":true}`, schemas.Yes},
		{`{"$schema":"http://json-schema.org/draft-04/schema#","type":"number","minimum":0,"exclusiveMinimum":true}`, `{"exclusiveMinimum":0}`, schemas.Yes},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"s":{"type":"string"}},"$ref":"#/definitions/s","minLength":2}`, `{"minLength":2}`, schemas.No},
	} {
		a := schemas.Assignable(mustCompile(t, test.from), mustCompile(t, test.to), nil)
		if a.Verdict != test.want {
			t.Errorf("%s\n ⊆ %s\n is %v, want %v (%s; witness %s)", test.from, test.to, a.Verdict, test.want, a.Reason, a.Witness)
		}
	}
}
