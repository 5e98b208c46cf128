package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plc-lang/plc/diag"
)

// definitions are definitions with what they come to: the signature, or the
// findings as "pointer: message [code]".
var definitions = []struct {
	about, name, raw string
	signature        string
	findings         []string
}{
	{about: "a JSON Schema", name: "fetchUserProfile",
		raw: `{"description": "The profile of a user.", "properties": {"userName": {"type": "string"}, "limit": {"type": "integer"},
			"_output": {"type": "object", "properties": {"email": {"type": "string"}}, "required": ["email"]}}, "required": ["userName"]}`,
		signature: "fetchUserProfile(userName: string, limit?: integer) → {email: string}"},
	{about: "an MCP tool",
		raw: `{"name": "add", "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["b", "a"]},
			"outputSchema": {"type": "object", "properties": {"sum": {"type": "number"}}}}`,
		signature: "add(b: number, a: number) → {sum?: number}"},
	{about: "an OpenAI function",
		raw:       `{"type": "function", "function": {"name": "f", "description": "d", "strict": true, "parameters": {"type": "object", "properties": {"q": {"enum": ["a", 2]}}, "required": ["q"], "additionalProperties": false}}}`,
		signature: `f(q: "a" | 2)`},
	{about: "a bare OpenAI function", raw: `{"name": "f", "parameters": {"properties": {"q": {"type": ["string", "null"]}}}}`, signature: `f(q?: string | null)`},
	{about: "a flat OpenAI function", raw: `{"type": "function", "name": "f", "parameters": {"properties": {"q": {}}}}`, signature: `f(q?: any)`},
	{about: "a function without parameters takes none", raw: `{"type": "function", "function": {"name": "f"}}`, signature: `f()`},
	{about: "true", name: "any", raw: `true`, signature: `any(…)`},
	{about: "nothing said", name: "any", raw: `{}`, signature: `any(…)`},
	{about: "no params", name: "f", raw: `{"additionalProperties": false}`, signature: `f()`},
	{about: "no params, said in another way", name: "f", raw: `{"unevaluatedProperties": false}`, signature: `f()`},

	{about: "its own name outranks that of the map, with a warning", name: "key", raw: `{"name": "own"}`, signature: `own(…)`,
		findings: []string{`: tool "own": it is listed as "key"; calls must name it "own" [PLC507]`}},
	{about: "the name that _tool is fixed to", raw: `{"properties": {"_tool": {"const": "own"}}}`, signature: `own(…)`},
	{about: "the name of the map outranks a title, which is for people", name: "key", raw: `{"title": "A Title"}`, signature: `key(…)`},
	{about: "a title is better than nothing", raw: `{"title": "own"}`, signature: `own(…)`},
	{about: "no name", raw: `{"type": "object"}`, findings: []string{`: the tool has no name; give it a member "name" [PLC507]`}},
	{about: "_tool fixed to another name", raw: `{"name": "a", "properties": {"_tool": {"const": "b"}}}`,
		findings: []string{`/properties/_tool/const: tool "a": _tool is fixed to "b", so that no call can name the tool [PLC208]`}},

	{about: "a reference into the whole definition", name: "f",
		raw:       `{"properties": {"a": {"$ref": "#/$defs/x"}, "_output": {"$ref": "#/$defs/x"}}, "required": ["_outputPath", "a"], "$defs": {"x": {"type": "integer"}}}`,
		signature: `f(a: integer) → integer`},
	{about: "a reference into the schema of an MCP tool", name: "f",
		raw:       `{"inputSchema": {"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "integer"}}}}`,
		signature: `f(a?: integer)`},
	{about: "an outcome's schema that refers into the definition", name: "f",
		raw:       `{"_outcomes": {"ok": {"$ref": "#/$defs/x"}, "bad": true}, "$defs": {"x": {"type": "integer"}}}`,
		signature: `f(…) | ok | bad`},
	{about: "the same among the properties", name: "f",
		raw:       `{"properties": {"_outcomes": {"type": {"$ref": "#/$defs/x"}, "bad": {}}}, "$defs": {"x": {"type": "integer"}}}`,
		signature: `f(…) | type | bad`},
	{about: "outcomes as a list", name: "f", raw: `{"_outcomes": ["sunny", "rainy"]}`, signature: `f(…) | sunny | rainy`},
	{about: "outcomes as a list among the properties", name: "f", raw: `{"properties": {"a": {}, "_outcomes": ["sunny", "rainy"]}}`, signature: `f(a?: any) | sunny | rainy`},
	{about: "outcomes as an enum", name: "f", raw: `{"properties": {"_outcomes": {"enum": ["sunny", "rainy"]}}}`, signature: `f(…) | sunny | rainy`},
	{about: "outcomes of an MCP tool", name: "f", raw: `{"inputSchema": {}, "_outcomes": {"ok": {"type": "null"}}}`, signature: `f(…) | ok`},
	{about: "outcomes that are none", name: "f", raw: `{"_outcomes": []}`,
		findings: []string{`/_outcomes: tool "f": _outcomes is empty, so that no call can end [PLC208]`}},
	{about: "outcomes that are no names", name: "f", raw: `{"_outcomes": ["a", 1, "a", ""]}`, findings: []string{
		`/_outcomes/1: tool "f": an outcome is a name, not 1 [PLC208]`,
		`/_outcomes/2: tool "f": the outcome "a" is listed twice [PLC208]`,
		`/_outcomes/3: tool "f": an outcome is a name, not "" [PLC208]`}},
	{about: "outcomes of another kind", name: "f", raw: `{"_outcomes": "a"}`,
		findings: []string{`/_outcomes: tool "f": _outcomes is a list of names or a map from names to schemas, not a string [PLC208]`}},

	{about: "a limit that no call can meet", name: "f", raw: `{"properties": {"_outputPath": {"const": 5}, "_outputMethod": {"enum": ["append"]}}}`, findings: []string{
		`/properties/_outputPath: tool "f": _outputPath can't be 5 [PLC208]`,
		`/properties/_outputMethod: tool "f": _outputMethod can't be "append" [PLC208]`}},
	{about: "an underscore member that no call has", name: "f", raw: `{"properties": {"_outputpath": {"const": "†state.x"}}, "required": ["_scope"]}`, signature: `f(…)`,
		findings: []string{
			`/properties/_outputpath: tool "f": no call has a member "_outputpath"; did you mean "_outputPath"? [PLC203]`,
			`/required: tool "f": no call has a member "_scope"; did you mean "_scopes"? [PLC203]`}},

	{about: "unknown and wrong effects", name: "f", raw: `{"effects": {"readonly": true, "destructive": "no", "domain": "", "pure": 1}}`, findings: []string{
		`/effects/readonly: tool "f": there is no effect "readonly"; did you mean "readOnly"? [PLC507]`,
		`/effects/destructive: tool "f": effect "destructive" is true or false, not "no" [PLC507]`,
		`/effects/domain: tool "f": effect "domain" is a name, not "" [PLC507]`,
		`/effects/pure: tool "f": effect "pure" is true or false, not 1 [PLC507]`}},
	{about: "effects that are no object", name: "f", raw: `{"effects": ["readOnly"]}`,
		findings: []string{`/effects: tool "f": "effects" is an object like {"readOnly": true}, not an array [PLC507]`}},
	{about: "effects that contradict each other", name: "f", raw: `{"effects": {"readOnly": true, "destructive": true, "pure": true}}`, signature: `f(…)`, findings: []string{
		`/effects: tool "f": declared both read-only and destructive; it counts as destructive [PLC208]`,
		`/effects: tool "f": declared pure, but in contact with the world; it does not count as pure [PLC208]`}},
	{about: "a hint of the wrong type is unsaid", name: "f", raw: `{"inputSchema": {}, "annotations": {"readOnlyHint": "yes", "title": "T", "idempotentHint": null}}`, signature: `f(…)`,
		findings: []string{`/annotations/readOnlyHint: tool "f": readOnlyHint is true or false, not "yes" [PLC507]`}},

	{about: "a pattern that Go can't read", name: "f", raw: `{"inputSchema": {"properties": {"a": {"type": "string", "pattern": "(?!x)"}}}}`, signature: `f(a?: string /(?!x)/)`, findings: []string{
		"/inputSchema/properties/a/pattern: tool \"f\": this pattern is not enforced: error parsing regexp: invalid or unsupported Perl syntax: `(?!` [PLC507]"}},

	{about: "types that are none", name: "f", raw: `{"properties": {"a": {"type": "strng"}}}`, findings: []string{
		`/properties/a/type: tool "f": not a schema: "strng" is no type; did you mean "string"? [PLC507]`}},
	{about: "types cut short", name: "f", raw: `{"properties": {"a/b": {"anyOf": [{"type": ["null", "int"]}]}}}`, findings: []string{
		`/properties/a~1b/anyOf/0/type: tool "f": not a schema: "int" is no type; did you mean "integer"? [PLC507]`}},
	{about: "a type like none", name: "f", raw: `{"type": "date"}`, findings: []string{
		`/type: tool "f": not a schema: type is one of null, boolean, number, integer, string, array and object, or a list of them [PLC507]`}},

	{about: "not an object", name: "f", raw: `[1]`, findings: []string{`: tool "f": a definition is an object, not an array [PLC507]`}},
	{about: "refuses everything", name: "f", raw: `false`, findings: []string{`: tool "f": a definition is an object, not a boolean [PLC507]`}},
	{about: "not JSON", name: "f", raw: `{`, findings: []string{`: tool "f": found the end of the text, want a name in double quotes or "}" [PLC101]`}},
	{about: "a name twice", name: "f", raw: `{"a": 1, "a": 2}`, findings: []string{`: tool "f": the name "a" stands twice in one object [PLC102]`}},
	{about: "too deep", name: "f", raw: `{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + `}`, findings: []string{`: tool "f": nested more than 256 deep [PLC103]`}},
	{about: "description of the wrong type", raw: `{"name": "f", "inputSchema": {}, "description": 5}`,
		findings: []string{`/description: tool "f": "description" is a string, not a number [PLC507]`}},
}

func shown(l diag.List) (lines []string) {
	for _, f := range l {
		lines = append(lines, f.Pointer+": "+f.Message+" ["+f.Code.String()+"]")
	}
	return lines
}

func TestParseDefinition(t *testing.T) {
	for _, c := range definitions {
		t.Run(c.about, func(t *testing.T) {
			def, findings := ParseDefinition(json.RawMessage(c.raw), c.name, diag.Loc{})
			if diff := cmp.Diff(c.findings, shown(findings)); diff != "" {
				t.Error(diff)
			}
			if (def == nil) != findings.HasErrors() {
				t.Fatalf("definition %v beside %v", def, findings)
			}
			if def != nil && def.Signature() != c.signature {
				t.Errorf("signature %s, want %s", def.Signature(), c.signature)
			}
		})
	}
}

// A fault of a schema is reported where it stands, whatever the form of the definition.
func TestSchemaFaults(t *testing.T) {
	for raw, pointer := range map[string]string{
		`{"properties": {"a": {"type": "strin"}}}`:                                       "/properties/a",
		`{"properties": {"_output": {"type": "strin"}}}`:                                 "/properties/_output",
		`{"inputSchema": {"properties": {"a": {"type": 5}}}}`:                            "/inputSchema/properties/a",
		`{"inputSchema": {}, "outputSchema": {"type": 5}}`:                               "/outputSchema",
		`{"type": "function", "function": {"parameters": {"required": "a"}}}`:            "/function/parameters",
		`{"properties": {"a": {"$ref": "#/$defs/none"}}}`:                                "",
		`{"properties": {"a": {"$ref": "https://example.com/x.json"}}}`:                  "",
		`{"_outcomes": {"a": {"type": 5}}}`:                                              "/_outcomes/a",
		`{"properties": {"_outcomes": {"a/b": {"type": 5}}}}`:                            "/properties/_outcomes/a~1b",
		`{"inputSchema": {"properties": {"_outcomes": {"a": {"type": 5}}}}}`:             "/inputSchema/properties/_outcomes/a",
		`{"inputSchema": {}, "_outcomes": {"a": {"properties": {"b": {"type": "no"}}}}}`: "/_outcomes/a",
	} {
		def, findings := ParseDefinition(json.RawMessage(raw), "f", diag.Loc{})
		if def != nil || len(findings) == 0 {
			t.Errorf("%s: no finding", raw)
			continue
		}
		if f := findings[0]; f.Code != diag.BadSchema || !strings.HasPrefix(f.Pointer, pointer) {
			t.Errorf("%s: %s at %q, want it at %q", raw, f.String(), f.Pointer, pointer)
		}
	}
}

func TestEffectsOfDefinitions(t *testing.T) {
	for raw, want := range map[string]Effects{
		`{}`:                                {},
		`{"effects": {"readOnly": true}}`:   {ReadOnly: Yes},
		`{"effects": {"readOnly": false}}`:  {ReadOnly: No},
		`{"effects": {"domain": "orders"}}`: {Domain: "orders"},
		`{"effects": {"destructive": true, "idempotent": true, "openWorld": false, "independent": true}}`: {Destructive: Yes, Idempotent: Yes, OpenWorld: No, Independent: Yes},
		`{"effects": {"pure": true}}`: {Pure: Yes},
		`{"inputSchema": {}, "annotations": {"readOnlyHint": true, "openWorldHint": false}}`:               {ReadOnly: Yes, OpenWorld: No},
		`{"inputSchema": {}, "annotations": {"destructiveHint": false}, "effects": {"destructive": true}}`: {Destructive: Yes},
		`{"type": "function", "function": {"parameters": {}}, "effects": {"readOnly": true}}`:              {ReadOnly: Yes},
		`{"inputSchema": {}, "annotations": {"readOnlyHint": true, "destructiveHint": true}}`:              {ReadOnly: No, Destructive: Yes},
		`{"effects": {"pure": true, "openWorld": true}}`:                                                   {Pure: No, OpenWorld: Yes},
	} {
		def, findings := ParseDefinition(json.RawMessage(raw), "f", diag.Loc{})
		if def == nil {
			t.Errorf("%s: %v", raw, findings)
		} else if def.Effects != want {
			t.Errorf("%s: %+v, want %+v", raw, def.Effects, want)
		}
	}
}

func TestWhatADefinitionFixes(t *testing.T) {
	raw := `{"properties": {"a": {"type": "string"}, "_outputPath": {"const": "†state.x"}, "_instance": {"pattern": "^u"},
		"_activity": {"enum": ["other"]}, "_scopes": {"const": ["state"]}, "_tool": {"const": "f"}},
		"required": ["a", "_outputPath", "_delegate", "_tool"], "additionalProperties": false}`
	def, findings := ParseDefinition(json.RawMessage(raw), "", diag.Loc{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	consts := map[string]string{}
	required := map[string]bool{}
	for name, f := range def.Fixed {
		consts[name], required[name] = string(f.Const), f.Required
	}
	want := map[string]string{"_outputPath": `"†state.x"`, "_instance": "", "_activity": `"other"`, "_scopes": `["state"]`, "_tool": `"f"`, "_delegate": ""}
	if diff := cmp.Diff(want, consts); diff != "" {
		t.Error(diff)
	}
	maps.DeleteFunc(required, func(_ string, is bool) bool { return !is })
	if diff := cmp.Diff(map[string]bool{"_outputPath": true, "_delegate": true}, required); diff != "" {
		t.Error(diff)
	}
	if err := def.Fixed["_instance"].Schema.Validate(json.RawMessage(`"x"`)); err == nil {
		t.Error("the pattern of _instance does not hold")
	}
	if def.Activity != "other" || !def.HasActivity || !def.Closed || !slices.Equal(def.Required, []string{"a"}) {
		t.Errorf("%+v", def)
	}
	if err := def.Params.Validate(json.RawMessage(`{"a": "x"}`)); err != nil {
		t.Errorf("params without underscore members: %v", err)
	}
	if err := def.Params.Validate(json.RawMessage(`{}`)); err == nil {
		t.Error("a required param may be missing")
	}
	if def.Pointer["a"] != "/properties/a" {
		t.Errorf("pointers %v", def.Pointer)
	}
}

func TestEmptyActivityForcesLatent(t *testing.T) {
	def, _ := ParseDefinition(json.RawMessage(`{"properties": {"_activity": {"const": ""}}}`), "f", diag.Loc{})
	if !def.HasActivity || def.Activity != "" {
		t.Errorf("%+v", def)
	}
}

func TestIsDefinition(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"type": "object"}`:              true,
		`{"inputSchema": {}}`:             true,
		`{"parameters": {}}`:              true,
		`{"type": {"type": "object"}}`:    false, // a map with a tool named "type"
		`{"fetch": {"type": "object"}}`:   false,
		`{}`:                              false,
		`[{"type": "object"}]`:            false,
		`"type"`:                          false,
		`{"name": "a", "properties": {}}`: false,
	} {
		if got := IsDefinition(json.RawMessage(raw)); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
}

func TestSignature(t *testing.T) {
	for raw, want := range map[string]string{
		`{"properties": {"a": {"$ref": "#"}}}`:                                                         "f(a?: {a?: {a?: …}})",
		`{"properties": {"a": {"items": {"anyOf": [{"type": "string"}, false]}, "type": "array"}}}`:    "f(a?: string[])",
		`{"properties": {"a": {"enum": [1,2,3,4,5,6,7,8,9,10]}}}`:                                      "f(a?: 1 | 2 | 3 | 4 | 5 | 6 | …)",
		`{"properties": {"a": {"const": {"b": 1}}, "a~/b": {"type": "null"}}, "required": ["a", "z"]}`: `f(a: {"b":1}, z: any, a~/b?: null)`,
	} {
		def, findings := ParseDefinition(json.RawMessage(raw), "f", diag.Loc{})
		if def == nil {
			t.Errorf("%s: %v", raw, findings)
		} else if got := def.Signature(); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

func TestTooManyParams(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"properties": {"p": {}`)
	for i := range maxParams {
		b.WriteString(`,"p` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26) + `": {}`)
	}
	b.WriteString("}}")
	_, findings := ParseDefinition(json.RawMessage(b.String()), "f", diag.Loc{})
	if len(findings) != 1 || findings[0].Code != diag.OverLimit {
		t.Error(findings)
	}
}

func FuzzParseDefinition(f *testing.F) {
	for _, c := range definitions {
		f.Add([]byte(c.raw), c.name)
	}
	f.Fuzz(func(t *testing.T, raw []byte, name string) {
		IsDefinition(raw)
		def, findings := ParseDefinition(raw, name, diag.Loc{})
		if (def == nil) != findings.HasErrors() {
			t.Fatalf("definition %v beside %v", def, findings)
		}
		if def == nil {
			return
		}
		if def.Name == "" || def.Params == nil {
			t.Fatalf("%+v", def)
		}
		def.Signature()
		for param, pointer := range def.Pointer {
			if def.Param[param] == nil || pointer == "" {
				t.Fatalf("param %q at %q is %v", param, pointer, def.Param[param])
			}
		}
	})
}

func BenchmarkParseDefinition(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		raw := []byte(`{"properties": {"_output": {"type": "string"}`)
		for i := range n {
			raw = fmt.Appendf(raw, `, "param%d": {"type": "string", "description": "what it is for"}`, i)
		}
		raw = append(raw, "}}"...)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if def, findings := ParseDefinition(raw, "f", diag.Loc{}); def == nil {
					b.Fatal(findings)
				}
			}
		})
	}
}
