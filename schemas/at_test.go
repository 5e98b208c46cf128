package schemas_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/plc-lang/plc/schemas"
)

// path reads "a.0.*.?1": a member, an element, every element, either.
func path(text string) (steps []schemas.Step) {
	if text == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ".") {
		index, err := strconv.Atoi(part)
		switch {
		case part == "*":
			steps = append(steps, schemas.Step{Kind: schemas.Every})
		case part[0] == '?':
			steps = append(steps, schemas.Step{Kind: schemas.Either, Name: part[1:]})
		case err == nil:
			steps = append(steps, schemas.Step{Kind: schemas.Element, Index: index})
		default:
			steps = append(steps, schemas.Step{Kind: schemas.Member, Name: part})
		}
	}
	return steps
}

func TestAt(t *testing.T) {
	const user = `{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},"required":["id"]}`
	for _, test := range []struct {
		schema, path, want string
	}{
		{user, "", "always {id: integer, name?: string}"},
		{user, "id", "always integer"},
		{user, "name", "optional string"},
		{user, "other", "unknown"},
		{user, "id.x", "never"},
		{user, "0", "never"},
		{`{"properties":{"id":{"type":"integer"}},"required":["id"]}`, "id", "optional integer"},
		{`{"type":"object","required":["x"]}`, "x", "always"},
		{`{"type":"object","properties":{"a":false}}`, "a", "never"},
		{`{"type":"object","properties":{"a":true},"additionalProperties":false}`, "b", "never"},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, "b", "unknown string"},
		{`{"type":"object","patternProperties":{"^x":{"type":"string"}}}`, "xa", "optional string"},
		{`{"type":"object","patternProperties":{"^x":{"type":"string"}},"properties":{"xa":{"minLength":2}}}`, "xa", "optional string(2..) & string"},
		{`{"type":"object","patternProperties":{"(?=x)":{}},"additionalProperties":false}`, "xa", "unknown"},
		{`{"allOf":[` + user + `,{"required":["name"]}]}`, "name", "always string"},
		{`{"type":"object","allOf":[{"required":["a"]}],"properties":{"a":{"type":"null"}}}`, "a", "always null"},
		{`{"$defs":{"u":` + user + `},"$ref":"#/$defs/u"}`, "id", "always integer"},
		{`{"anyOf":[` + user + `,{"type":"null"}]}`, "id", "optional integer"},
		{`{"anyOf":[` + user + `,{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}]}`, "id", "always integer | string"},
		{`{"anyOf":[` + user + `,{"type":"null"}]}`, "id.x", "never"},
		{`{"const":{"a":[1,"x"]}}`, "a.1", `always "x"`},
		{`{"const":{"a":[1,"x"]}}`, "a.2", "never"},
		{`{"const":{"a":[1,"x"]}}`, "a.-2", "always 1"},
		{`{"const":{"a":[1,"x"]}}`, "a.*", `always 1 | "x"`},
		{`{"const":{"a":[]}}`, "a.*", "always never"},
		{`{"const":{"a":1}}`, "b", "never"},
		{`{"const":1}`, "b", "never"},
		{`{"enum":[{"a":1},{"a":"x"}]}`, "a", `always 1 | "x"`},
		{`{"enum":[{"a":1},{}]}`, "a", "optional 1"},
		{`{"type":"array","items":` + user + `}`, "0", "unknown {id: integer, name?: string}"},
		{`{"type":"array","items":` + user + `,"minItems":1}`, "0.id", "always integer"},
		{`{"type":"array","items":` + user + `,"minItems":1}`, "-1.id", "always integer"},
		{`{"type":"array","items":` + user + `,"minItems":1}`, "1.id", "unknown integer"},
		{`{"type":"array","items":` + user + `,"maxItems":1}`, "1", "never"},
		{`{"type":"array","items":` + user + `}`, "*.id", "always integer"},
		{`{"type":"array","items":` + user + `}`, "*.name", "optional string"},
		{`{"items":` + user + `}`, "*.id", "unknown integer"},
		{`{"type":"string"}`, "*", "never"},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false}`, "1", "optional null"},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false}`, "2", "never"},
		{`{"type":"array","prefixItems":[{"type":"string"},{"type":"null"}],"items":false}`, "*", "always string | null"},
		{`{"type":"array","prefixItems":[{"type":"string"}]}`, "1", "unknown"},
		{`{"$schema":"http://json-schema.org/draft-07/schema","type":"array","items":[{"type":"string"}],"additionalItems":{"type":"null"}}`, "1", "unknown null"},
		{`{"type":["object","array"],"properties":{"1":{"type":"null"}},"items":{"type":"string"}}`, "?1", "unknown null | string"},
		{`{"type":"object","required":["1"],"properties":{"1":{"type":"null"}}}`, "?1", "always null"},
		{`{"type":"array","items":{"type":"string"},"minItems":2}`, "?1", "always string"},
		{`{"type":"object","properties":{"next":{"$ref":"#"},"v":{"type":"null"}},"required":["next","v"]}`, "next.next.v", "always null"},
		{`true`, "a", "unknown"},
		{`false`, "a", "never"},
		{`{"type":"object","unevaluatedProperties":false}`, "a", "unknown"},
		{`{"type":"object","not":{"required":["a"]}}`, "a", "unknown"},
	} {
		got, presence := mustCompile(t, test.schema).At(path(test.path)...)
		text := presence.String()
		if got != nil {
			text += " " + got.String()
		}
		if text != test.want {
			t.Errorf("%s at %q: %s, want %s", test.schema, test.path, text, test.want)
		}
	}
}

// A schema that At returns validates by its document's rules.
func TestAtValidates(t *testing.T) {
	s := mustCompile(t, `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object",
		"properties":{"n":{"minimum":1,"exclusiveMinimum":true}},"patternProperties":{"n":{"type":"integer"}}}`)
	n, _ := s.At(path("n")...)
	for value, want := range map[string]string{
		`2`: "", `1`: "expected more than 1, but got 1", `"x"`: "expected integer, but got string",
	} {
		got := ""
		if err := n.Validate([]byte(value)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
	if doc, pointer := n.JSON(); string(doc) != `{"allOf":[{"minimum":1,"exclusiveMinimum":true},{"type":"integer"}]}` || pointer != "" {
		t.Errorf("rendered as %s %q", doc, pointer)
	}
}
