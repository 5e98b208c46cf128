package file

import (
	"encoding/json"
	"errors"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

const example = `tools:                        # definitions
  fetchUserProfile:
    description: The profile of a user.
    properties:
      userName: {type: string}
      _output: {type: object, properties: {email: {type: string}}, required: [email]}
    required: [userName]
    effects: {readOnly: true}
activities:
  fetchUserProfile: {process: [python3, fetch.py], timeout: 5s}
  getWeather: {http: {method: GET, url: "https://api.example/weather/{city}"}}
  think: {latent: {model: default}}
  fake: {return: {ok: true}, after: 10ms, failTimes: 1, fail: {code: busy, message: try again}}
mcpServers: {docs: {command: npx, args: [some-server]}}
models: {default: {provider: openai, model: m, apiKey: {env: OPENAI_API_KEY}}}
limits: {getWeather: {parallel: 4, perSecond: 10}}
policy: {approve: destructive, hosts: [api.example], paths: [./data]}
`

// read reads a file and joins it alone.
func read(t *testing.T, name, text string) (*File, *tool.Catalogue, diag.List) {
	t.Helper()
	f, findings := Read(diag.NewFile(name, []byte(text)))
	c, _, more := Catalogue(f)
	findings = append(findings, more...)
	findings.Sort()
	return f, c, findings
}

func TestExample(t *testing.T) {
	f, c, findings := read(t, "tools.yaml", example)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	fetch, ok := c.Lookup("fetchUserProfile")
	if !ok || fetch.Driver != "process" || fetch.Activity == nil || fetch.Timeout != 5*time.Second ||
		fetch.Source != "tools.yaml" || fetch.Definition.Effects.ReadOnly != tool.Yes {
		t.Errorf("%+v", fetch)
	}
	if got, want := fetch.Definition.Signature(), "fetchUserProfile(userName: string) → {email: string}"; got != want {
		t.Error(got)
	}
	if i, _ := c.Implementation("getWeather"); i.Driver != "http" || i.Limits != (tool.Limits{Parallel: 4, PerSecond: 10}) ||
		string(i.Raw) != `{"http":{"method":"GET","url":"https://api.example/weather/{city}"}}` {
		t.Errorf("%+v", i)
	}
	if i, _ := c.Implementation("think"); i.Driver != "latent" || i.Activity != nil || i.Model != "default" {
		t.Errorf("%+v", i)
	}
	want := Policy{Approve: "destructive", Hosts: []string{"api.example"}, Paths: []string{"./data"}}
	if diff := cmp.Diff(want, f.Policy); diff != "" {
		t.Error(diff)
	}
	if string(f.MCPServers["docs"]) != `{"command":"npx","args":["some-server"]}` {
		t.Errorf("%s", f.MCPServers["docs"])
	}
	if string(f.Models["default"]) != `{"provider":"openai","model":"m","apiKey":{"env":"OPENAI_API_KEY"}}` {
		t.Errorf("%s", f.Models["default"])
	}
	fake, _ := c.Implementation("fake")
	for attempt, want := range []string{"busy: try again", "<nil>"} {
		_, err := fake.Activity.Call(t.Context(), &tool.Request{Attempt: attempt + 1})
		if fmt.Sprint(err) != want {
			t.Errorf("attempt %d: %v, want %s", attempt+1, err, want)
		}
	}
}

// The same file in YAML and in JSON says the same.
func TestSameInBothForms(t *testing.T) {
	yamlNode, err := parse(diag.NewFile("a.yaml", []byte(example)))
	if err != nil {
		t.Fatal(err)
	}
	text := yamlNode.JSON()
	jsonNode, err := parse(diag.NewFile("a.json", text))
	if err != nil {
		t.Fatal(err)
	}
	if again := jsonNode.JSON(); string(again) != string(text) {
		t.Errorf("%s\n%s", text, again)
	}
	if _, _, findings := read(t, "tools.json", string(text)); len(findings) > 0 {
		t.Error(findings)
	}
}

func TestFormByNameAndText(t *testing.T) {
	for _, c := range []struct {
		name, text string
		yaml       bool
	}{
		{"a.yaml", `{"tools": {}}`, true},
		{"a.YML", `{}`, true},
		{"a.json", `tools:`, false},
		{"a.jsonc", `tools:`, false},
		{"a", `tools: {}`, true},
		{"a", "\ufeff \n {\"tools\": {}}", false},
		{"a.txt", "// comment\n{}", false},
		{"a", "# comment\n{}", true},
	} {
		if got := isYAML(diag.NewFile(c.name, []byte(c.text))); got != c.yaml {
			t.Errorf("%s with %q: YAML is %v", c.name, c.text, got)
		}
	}
}

// What YAML reads in its own way is read as it looks, or not at all.
func TestYAML(t *testing.T) {
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	long := strings.Repeat("1234567890", 100) + ".5"
	for text, want := range map[string]string{
		"a: 2026-01-02":              `{"a":"2026-01-02"}`,
		"2026-01-02: a":              `{"2026-01-02":"a"}`,
		"a: yes\non: no":             `{"a":"yes","on":"no"}`,
		"a: True":                    `{"a":true}`,
		"a: ~\nb:\nc: null":          `{"a":null,"b":null,"c":null}`,
		"a: 12:30":                   `{"a":"12:30"}`,
		"a: 1.50\nb: 1e3":            `{"a":1.50,"b":1e3}`,
		"a: 12345678901234567890123": `{"a":12345678901234567890123}`,
		"a: 1e400\nb: -1.5E+400":     `{"a":1e400,"b":-1.5E+400}`,
		"a: [-98765432109876543210]": `{"a":[-98765432109876543210]}`,
		"a: 1e-400\nb: " + long:      `{"a":1e-400,"b":` + long + `}`,
		"a: '1e400'\nb: !!str 1e400": `{"a":"1e400","b":"1e400"}`,
		"a: 1e400x\nb: 0x1p9999":     `{"a":"1e400x","b":"0x1p9999"}`,
		"a: _1e400\nb: .1__0e400":    `{"a":"_1e400","b":".1__0e400"}`,
		"a: '010'\nb: !!str 010":     `{"a":"010","b":"010"}`,
		"a: |\n  x\n  \"y\"\n":       `{"a":"x\n\"y\"\n"}`,
		"a: \"\\x00\\u2020\"":        `{"a":"\u0000†"}`,
		"a: &x 1":                    `{"a":1}`,
		"- a\n- {b: c}":              `["a",{"b":"c"}]`,
		"a: <<":                      `{"a":"<<"}`,

		"a: 010":                 `1:4: the number 010 is not written as in JSON; write "010" if it is text`,
		"a: 0x1F":                `1:4: the number 0x1F is not written as in JSON; write "0x1F" if it is text`,
		"a: 1_000":               `1:4: the number 1_000 is not written as in JSON; write "1_000" if it is text`,
		"a: .inf":                `1:4: the number .inf is not written as in JSON; write ".inf" if it is text`,
		"a: .NaN":                `1:4: the number .NaN is not written as in JSON; write ".NaN" if it is text`,
		"a: +1":                  `1:4: the number +1 is not written as in JSON; write "+1" if it is text`,
		"a: .5e400":              `1:4: the number .5e400 is not written as in JSON; write ".5e400" if it is text`,
		"a: +1e400":              `1:4: the number +1e400 is not written as in JSON; write "+1e400" if it is text`,
		"a: 1_0e400":             `1:4: the number 1_0e400 is not written as in JSON; write "1_0e400" if it is text`,
		"a: 0xFFFFFFFFFFFFFFFFF": `1:4: the number 0xFFFFFFFFFFFFFFFFF is not written as in JSON; write "0xFFFFFFFFFFFFFFFFF" if it is text`,
		"1e400: a":               `1:1: the name 1e400 is not a string; write "1e400"`,
		"é: [1,\n  010]":         `2:3: the number 010 is not written as in JSON; write "010" if it is text`,
		"ü: {†: 1, b: 010}":      `1:14: the number 010 is not written as in JSON; write "010" if it is text`,
		"1: a":                   `1:1: the name 1 is not a string; write "1"`,
		"true: a":                `1:1: the name true is not a string; write "true"`,
		"~: a":                   `1:1: the name ~ is not a string; write "~"`,
		"? [a]\n: b":             `1:3: a name is a string`,
		"a: 1\nb: 2\na: 3":       `3:1: the name "a" stands twice in one object`,
		"a: &x 1\nb: *x":         `2:4: *x is an alias, which tool files do not have; write the value out`,
		"a: &x [*x]":             `1:8: *x is an alias, which tool files do not have; write the value out`,
		"<<: {a: 1}":             `1:1: << merges, which tool files do not have; write the members out`,
		"a: !foo b":              `1:4: the tag !foo is not one that tool files have`,
		"a: !!set {b}":           `1:4: the tag !!set is not one that tool files have`,
		"a: !!binary aGk=":       `1:4: the tag !!binary is not one that tool files have`,
		"a: !!bool x":            `1:4: x is not true or false`,
		"a: !!int x":             `1:4: the number x is not written as in JSON; write "x" if it is text`,
		"a: b\n---\nc: d":        `1:1: there are several documents in the file, and one is read`,
		"":                       `1:1: there is nothing in the file`,
		"# nothing\n":            `1:1: there is nothing in the file`,
		"a: {":                   `1:5: did not find expected node content`,
		"a:\n\tb: 1":             `2:1: a tab: YAML is indented by spaces`,
		"a:\n  b:\n    \tc: 1":   `3:5: a tab: YAML is indented by spaces`,
		"a:\n- b\n\t- c":         `3:1: a tab: YAML is indented by spaces`,
		"a: {\n\tb: 1,\n\t}":     `{"a":{"b":1}}`,
		"a:\tb":                  `{"a":"b"}`,
		"a: \xff":                `1:1: the text is not UTF-8`,
		"\xff\xfea\x00:\x00":     `1:1: the text is not UTF-8`,
		"a: " + deep:             `1:259: nested more than 256 deep`,
	} {
		n, err := parse(diag.NewFile("a.yaml", []byte(text)))
		got := ""
		if err != nil {
			p := diag.NewFile("", []byte(text)).Position(err.Offset)
			got = fmt.Sprintf("%d:%d: %s", p.Line, p.Column, err.Message)
		} else {
			got = string(n.JSON())
		}
		if got != want {
			t.Errorf("%q:\n%s, want\n%s", text, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
	for text, want := range map[string]string{
		"\ufeff{\"a\": [1, 2.50, -0, 1e9,],} // end":  `{"a":[1,2.50,-0,1e9]}`,
		`/* a */ {"a": /* b */ true, "\u2020": null}`: `{"a":true,"†":null}`,
		`{"a": "// no comment", "b": "x\ty"}`:         `{"a":"// no comment","b":"x\ty"}`,
		`{"a": 1, "b": 2, "\u0061": 3}`:               `1:18: the name "a" stands twice in one object`,
		`{"a": 1 "b"}`:                                `1:9: found a string, want "," or the end of the list or object`,
		`{"a" 1}`:                                     `1:6: found a number, want ":" after a name`,
		`{a: 1}`:                                      `1:2: "a" is not JSON`,
		`{"a": 010}`:                                  `1:7: "010" is not a number in JSON`,
		`{"a": 1} 2`:                                  `1:10: found a number, want the end of the text`,
		`[,]`:                                         `1:2: found ",", want a value`,
		`{"a":}`:                                      `1:6: found "}", want a value`,
		`[1`:                                          `1:3: found the end of the text, want "," or the end of the list or object`,
		``:                                            `1:1: found the end of the text, want a value`,
		`{"a": "`:                                     `1:7: the string that starts here is not closed`,
		"[\"\\ud800\"]":                               `1:3: \ud800 is half of a surrogate pair`,
		deep:                                          `1:257: nested more than 256 deep`,
	} {
		n, err := parse(diag.NewFile("a.json", []byte(text)))
		got := ""
		if err != nil {
			p := diag.NewFile("", []byte(text)).Position(err.Offset)
			got = fmt.Sprintf("%d:%d: %s", p.Line, p.Column, err.Message)
		} else {
			got = string(n.JSON())
		}
		if got != want {
			t.Errorf("%q:\n%s, want\n%s", text, got, want)
		}
	}
}

func TestTooLong(t *testing.T) {
	_, findings := Read(diag.NewFile("a.yaml", []byte("a: "+strings.Repeat("x", maxBytes))))
	if len(findings) != 1 || findings[0].Code != diag.OverLimit {
		t.Error(findings)
	}
}

// findingsIn are tool files with the findings that they bring.
var findingsIn = []struct{ name, text, want string }{
	{"unknown member", "tool: {}\npolicy: {host: [a]}", `
1:1: error: the tool file has no member "tool"; did you mean "tools"? [PLC203]
2:10: error: "policy" has no member "host"; did you mean "hosts"? [PLC203]`},
	{"nothing near", "x: 1", `
1:1: error: the tool file has no member "x"; it has $defs, $schema, activities, builtin, flow, limits, mcpServers, models, openapi, policy and tools [PLC203]`},
	{"wrong types", "tools: 1\nactivities: []\nlimits: a\npolicy: {approve: some, hosts: a, paths: [1]}\nmodels: {a: b}\nmcpServers: {a: []}", `
1:8: error: "tools" is an object of definitions by name or a list of definitions, not a number [PLC207]
2:13: error: "activities" has to be an object, not a list [PLC207]
3:9: error: "limits" has to be an object, not a string [PLC207]
4:19: error: "policy.approve" is all, destructive and none, not "some" [PLC207]
4:32: error: "policy.hosts" has to be a list, not a string [PLC207]
4:43: error: "policy.paths.0" has to be a string, not a number [PLC207]
5:13: error: "models.a" has to be an object, not a string [PLC207]
6:17: error: "mcpServers.a" has to be an object, not a list [PLC207]`},
	{"not an object", "- a", `1:1: error: the tool file has to be an object, not a list [PLC207]`},
	{"a definition's faults in their places", "tools:\n  f:\n    effects: {readonly: true}\n    properties:\n      _outputPath: {const: 5}", `
3:25: error: tool "f": there is no effect "readonly"; did you mean "readOnly"? [PLC507]
5:20: error: tool "f": _outputPath can't be 5 [PLC208]`},
	{"a tool twice", "tools:\n- {name: f}\n- {name: f}\n- {}", `
3:3: error: the tool "f" is defined twice [PLC102]
4:3: error: the tool has no name; give it a member "name" [PLC507]`},
	{"no driver", "activities: {a: {timeout: 1s}}", `
1:14: error: "a" has nothing that runs it, and is neither a built-in tool that is granted nor an operation; give it one of process, http, openapi, return, echo, fail, sample, mcp and latent [PLC207]`},
	{"two drivers", "activities: {a: {process: [x], return: 1}}", `
1:40: error: "a" has two drivers, process and return; keep one [PLC207]`},
	{"what belongs to a stand-in", "activities: {a: {process: [x], after: 1s}}", `
1:39: error: "a" has two drivers, process and after; keep one [PLC207]`},
	{"a driver misspelled", "activities: {a: {proces: [x]}}", `
1:18: error: "activities.a" has no member "proces"; did you mean "process"? [PLC203]`},
	{"durations", "activities: {a: {return: 1, timeout: 0, after: 5 s, jitter: -1}, b: {return: 1, timeout: 1e99}}", `
1:38: error: "activities.a.timeout" is a duration like "1.5s" or a number of seconds, not 0 [PLC207]
1:48: error: "activities.a.after" is a duration like "1.5s" or a number of seconds, not "5 s" [PLC207]
1:61: error: "activities.a.jitter" is a duration like "1.5s" or a number of seconds, not -1 [PLC207]
1:90: error: "activities.b.timeout" is a duration like "1.5s" or a number of seconds, not 1e99 [PLC207]`},
	{"flags and counts", "activities: {a: {echo: yes}, b: {return: 1, failTimes: 1.5}, c: {fail: {codes: x}}}", `
1:24: error: "activities.a.echo" is true or false; yes is text [PLC207]
1:56: error: "activities.b.failTimes" is a whole number from 0, not 1.5 [PLC207]
1:73: error: "activities.c.fail" has no member "codes"; did you mean "code"? [PLC203]`},
	{"two results", "activities: {a: {return: 1, echo: true}}", `
1:26: error: "a": return, echo and sample: only one of them can be the result [PLC207]`},
	{"limits", "activities: {search: {return: 1}}\nlimits: {search: {parallel: 0, perSecond: -1}, serach: {}}", `
2:29: error: "limits.search.parallel" is a whole number from 1, not 0 [PLC207]
2:43: error: "limits.search.perSecond" is a number above 0, not -1 [PLC207]
2:48: warning: there is no tool "serach" to limit; did you mean "search"? [PLC201]`},
	{"an MCP tool", "activities: {search: {mcp: {server: docs, tool: search}}}", `
1:14: warning: "search" is a tool of an MCP server, and no servers are given; its calls are latent [PLC209]`},
	{"a config of a program", "activities: {a: {process: {comand: [x], dir: 5}}, b: {process: []}, c: {process: [x, 1]}, d: {process: {command: [x], grace: soon}}}", `
1:28: error: "activities.a.process" has no member "comand"; did you mean "command"? [PLC203]
1:46: error: "activities.a.process.dir" has to be a string, not a number [PLC207]
1:64: error: "b": command is empty; give the program and its arguments [PLC207]
1:86: error: "activities.c.process.1" has to be a string, not a number [PLC207]
1:104: error: "d": time: invalid duration "soon" [PLC207]`},
	{"a config of a request", "activities: {a: {http: {url: 5, header: {}}}, b: {http: {url: ftp://x}}, c: {http: {url: https://x, headers: {A: {envs: B}, C: [1]}}}}", `
1:30: error: "activities.a.http.url" has to be a string, not a number [PLC207]
1:33: error: "activities.a.http" has no member "header"; did you mean "headers"? [PLC203]
1:63: error: "b": url "ftp://x": it does not begin with https:// or http:// [PLC207]
1:115: error: "activities.c.http.headers.A" has no member "envs"; did you mean "env"? [PLC203]
1:128: error: "activities.c.http.headers.C" is a string, {env: NAME} or {file: PATH}, not a list [PLC207]`},
	{"a host that the policy does not have", "activities:\n  a: {http: {url: https://evil.example/}}\n  b: {http: {url: 'https://{h}/', allowHosts: [api.example, evil.example]}}\n  c: {http: {url: 'https://{h}/'}}\npolicy: {hosts: [api.example]}", `
2:13: error: "a": url: its host is not among policy.hosts (api.example) [PLC605]
3:13: error: "b": allowHosts has "evil.example", which policy.hosts does not have [PLC605]`},
	{"secrets that are not granted", "activities: {a: {http: {url: https://x, headers: {A: {env: B}}}}, b: {process: {command: [x], env: {A: {file: b}}}}}", `
1:24: error: "a": headers "A": the environment may not be read here [PLC207]
1:80: error: "b": env "A": files may not be read here [PLC207]`},
	{"keywords misspelled", "tools:\n  a: {properites: {x: {type: string}}, requierd: [y], x-titel: 1, note: z}\n  b:\n    properties:\n      x: {type: array, minItem: 1, items: {pattrn: a}}\n      _output: {'descripton': b, enum: [{typo: c}]}\n      typ: true\n  c: {properties: {}, output: {type: string}}", `
2:7: warning: "tools.a" has a keyword "properites", which means nothing; did you mean "properties"? [PLC507]
2:40: warning: "tools.a" has a keyword "requierd", which means nothing; did you mean "required"? [PLC507]
2:67: info: "tools.a" has a keyword "note", which means nothing to plc; one that is for others begins with x- [PLC507]
5:24: warning: "tools.b.properties.x" has a keyword "minItem", which means nothing; did you mean "minItems"? [PLC507]
5:44: warning: "tools.b.properties.x.items" has a keyword "pattrn", which means nothing; did you mean "pattern"? [PLC507]
6:17: warning: "tools.b.properties._output" has a keyword "descripton", which means nothing; did you mean "description"? [PLC507]
8:23: warning: "tools.c" has a keyword "output", which means nothing; did you mean "outputSchema"? [PLC507]`},
	{"keywords misspelled in the other forms", `{"tools": [{"name": "a", "inputShema": {}}, {"name": "b", "inputSchema": {"propertys": {}}, "outputSchema": {"tpye": "null"}, "annotation": {}},
 {"type": "function", "function": {"name": "c", "descripton": "d", "parameters": {"properties": {"x": {"tilte": "x"}}}}}, {"name": "e", "_outcomes": {"typ": {"enumm": [1]}}}]}`, `
1:26: warning: "tools.0" has a keyword "inputShema", which means nothing; did you mean "inputSchema"? [PLC507]
1:75: warning: "tools.1.inputSchema" has a keyword "propertys", which means nothing; did you mean "properties"? [PLC507]
1:110: warning: "tools.1.outputSchema" has a keyword "tpye", which means nothing; did you mean "type"? [PLC507]
1:127: warning: "tools.1" has a keyword "annotation", which means nothing; did you mean "annotations"? [PLC507]
2:49: warning: "tools.2.function" has a keyword "descripton", which means nothing; did you mean "description"? [PLC507]
2:104: warning: "tools.2.function.parameters.properties.x" has a keyword "tilte", which means nothing; did you mean "title"? [PLC507]
2:159: warning: "tools.3._outcomes.typ" has a keyword "enumm", which means nothing; did you mean "enum"? [PLC507]`},
	{"a type misspelled", "tools: {a: {properties: {x: {type: strng}}}}", `
1:36: error: tool "a": not a schema: "strng" is no type; did you mean "string"? [PLC507]`},
	{"placeholders of params that the tool does not have", "tools:\n  b: {properties: {x: {type: string}}}\n  c: {additionalProperties: false}\n  d: {properties: {path: {}, text: {}, _activity: {const: write}}}\nactivities:\n" +
		"  b: {process: [echo, '{y}', 'a {x} {y}']}\n  c: {http: {url: 'https://x/{z}', headers: {A: 'é {w}'}}}\n  write: {process: {command: [tee, '{pth}'], stdin: '{text}', env: {A: '{pth}'}}}", `
6:24: error: the tool "b" has no param "y"; did you mean "x"? [PLC206]
7:30: error: the tool "c" has no param "z"; it has none [PLC206]
7:52: error: the tool "c" has no param "w"; it has none [PLC206]
8:37: error: the tool "d" has no param "pth"; did you mean "path"? [PLC206]`},
	{"placeholders of tools that say too little", "tools:\n  a: {}\n  b: true\n  c: {properties: {x: {}}, additionalProperties: {type: string}}\n  d: {properties: {x: {}}, patternProperties: {'^y': {}}}\n" +
		"  e: {allOf: [{$ref: '#/$defs/q'}], properties: {x: {}}, $defs: {q: {properties: {y: {}}}}}\n  f: {properties: {_output: {}}}\n" +
		"activities: {a: {process: [echo, '{y}']}, b: {process: [echo, '{y}']}, c: {process: [echo, '{y}']}, d: {process: [echo, '{y}']}, e: {process: [echo, '{y}']}, f: {process: [echo, '{y}']}}", ``},
	{"activities of no tool", "tools: {search: {}, mail: {properties: {_activity: {const: sendMail}}}, ask: {properties: {_activity: {const: ''}}}, note: {}}\n" +
		"activities: {serach: {return: 1}, sendmail: {return: 1}, asks: {return: 1}, note: {return: 1}, notes: {return: 1}, other: {return: 1}}", `
2:14: info: no tool has the activity "serach", and "search" has none; is that the one? [PLC209]
2:35: info: no tool has the activity "sendmail", and "sendMail" has none; is that the one? [PLC209]`},
	{"braces that are no placeholders", `activities: {a: {process: [echo, '{"x": 1}']}, b: {process: {stdin: "{ {x}", command: [cat]}}, c: {process: {command: [sh, -c, "{x}"]}},
 d: {http: {url: "https://x/{", query: {a: "}"}}}, e: {http: {url: "https://x", headers: {a/b: x, a: "}"}}}, f: {http: {url: "https://x", body: {a: [1, "{ }"]}}}, g: {http: {url: "https://x", query: {a: "}"}}}}`, `
1:34: error: "a": command[1] "{\"x\": 1}": the { at byte 0 begins no placeholder like {name}; for braces as text write {{"x": 1}} [PLC207]
1:69: error: "b": stdin "{ {x}": the { at byte 0 begins no placeholder like {name}; write {{ for a brace [PLC207]
1:128: error: "c": command[2] "{x}": sh would run this as code; pass it on standard input, or as an argument after the code or script: [sh, -c, 'echo "$1"', sh, "{name}"], or list the param in allowCode [PLC207]
2:18: error: "d": url "https://x/{": the { at byte 0 begins no placeholder like {name}; for braces as text write {{ [PLC207]
2:102: error: "e": headers "a": the } at byte 0 ends no placeholder; for braces as text write }} [PLC207]
2:145: error: "f": body: "{ }": the { at byte 0 begins no placeholder like {name}; for braces as text write {{ }} [PLC207]
2:204: error: "g": query "a": the } at byte 0 ends no placeholder; for braces as text write }} [PLC207]`},
	{"not YAML", "a: {", `1:5: error: did not find expected node content [PLC101]`},
	{"a name twice", "tools: {}\ntools: {}", `2:1: error: the name "tools" stands twice in one object [PLC102]`},
}

func TestFindings(t *testing.T) {
	for _, c := range findingsIn {
		t.Run(c.name, func(t *testing.T) {
			_, _, findings := read(t, "f.yaml", c.text)
			var lines []string
			for _, f := range findings {
				lines = append(lines, strings.TrimPrefix(f.String(), "f.yaml:"))
			}
			if diff := cmp.Diff(strings.FieldsFunc(c.want, func(r rune) bool { return r == '\n' }), lines, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFixOfAMisspelling(t *testing.T) {
	for _, text := range []string{`{"polcy": {}}`, "polcy: {}", "'polcy': {}"} {
		_, _, findings := read(t, "f.yaml", text)
		fix := findings[0].Fix
		if fix == nil || len(fix.Edits) != 1 {
			t.Fatalf("%s: %+v", text, findings)
		}
		e := fix.Edits[0]
		mended := text[:e.Span.Start] + e.Text + text[e.Span.End:]
		if mended != strings.Replace(text, "polcy", "policy", 1) {
			t.Errorf("%s is mended to %s", text, mended)
		}
	}
}

func TestFixOfAPlaceholder(t *testing.T) {
	text := `{"tools": {"a": {"properties": {"name": {}}}}, "activities": {"a": {"process": ["echo", "{{nme}}: {nme}"]}}}`
	_, _, findings := read(t, "f.json", text)
	if len(findings) != 1 || findings[0].Fix == nil || len(findings[0].Fix.Edits) != 1 {
		t.Fatalf("%+v", findings)
	}
	e := findings[0].Fix.Edits[0]
	if got, want := text[:e.Span.Start]+e.Text+text[e.Span.End:], strings.Replace(text, ": {nme}", ": {name}", 1); got != want {
		t.Errorf("mended to %s", got)
	}
	if p := findings[0].Pointer; p != "/activities/a/process/1" {
		t.Error(p)
	}
}

func TestPointers(t *testing.T) {
	text := `{"tools": [{"name": "f", "properties": {"a/b": {"type": "no"}}}], "activities": {"x/y": {"echo": 1}}}`
	_, findings := Read(diag.NewFile("f.json", []byte(text)))
	var got []string
	for _, f := range findings {
		got = append(got, f.Pointer+" "+text[f.Loc.Span.Start:f.Loc.Span.End])
	}
	want := []string{`/tools/0/properties/a~1b/type "no"`, `/activities/x~1y/echo 1`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLaterFilesReplace(t *testing.T) {
	files := make([]*File, 2)
	for i, text := range []string{
		`{"tools": {"a": {"description": "1"}, "b": {}}, "activities": {"a": {"return": 1}, "b": {"return": 1}}, "limits": {"a": {"parallel": 1}},
			"policy": {"approve": "all", "hosts": ["x"], "deny": ["b"]}}`,
		`{"tools": {"a": {"description": "2"}}, "activities": {"a": {"return": 2}}, "limits": {"a": {"parallel": 2}}, "policy": {"hosts": ["y", "x"], "allow": []}}`,
	} {
		var findings diag.List
		if files[i], findings = Read(diag.NewFile(fmt.Sprint(i, ".json"), []byte(text))); len(findings) > 0 {
			t.Fatal(findings)
		}
	}
	c, policy, findings := Catalogue(files...)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	a, _ := c.Lookup("a")
	res, err := a.Activity.Call(t.Context(), &tool.Request{})
	if a.Definition.Description != "2" || a.Limits.Parallel != 2 || a.Source != "1.json" || string(res.Value) != "2" || err != nil {
		t.Errorf("%+v, %s, %v", a, res.Value, err)
	}
	if b, _ := c.Lookup("b"); b.Activity == nil || b.Source != "0.json" {
		t.Errorf("%+v", b)
	}
	want := Policy{Approve: "all", Hosts: []string{"x", "y"}, Deny: []string{"b"}, Allow: []string{}}
	if diff := cmp.Diff(want, policy); diff != "" {
		t.Error(diff)
	}
}

func TestSecrets(t *testing.T) {
	f, findings := Read(diag.NewFile("f.yaml", []byte(
		"activities: {a: {process: {command: [sh, -c, 'test \"$TOKEN-$FILE-$PLAIN\" = \"{{env}}-from\"\" file-p\" && echo true'], env: {TOKEN: {env: THE_TOKEN}, FILE: {file: secret.txt}, PLAIN: p}}}}")))
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	f.Secrets = &Secrets{
		LookupEnv: func(name string) (string, bool) { return "{env}", name == "THE_TOKEN" },
		ReadFile: func(path string) ([]byte, error) {
			if path != "secret.txt" {
				return nil, os.ErrNotExist
			}
			return []byte("from file\r\n"), nil
		},
	}
	c, _, findings := Catalogue(f)
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	i, _ := c.Implementation("a")
	res, err := i.Activity.Call(t.Context(), &tool.Request{Params: json.RawMessage(`{}`)})
	if err != nil || string(res.Value) != "true" {
		t.Errorf("%s, %v", res.Value, err)
	}
	if strings.Contains(string(i.Raw), "from file") || !strings.Contains(string(i.Raw), "THE_TOKEN") {
		t.Errorf("%s", i.Raw)
	}
	f.Secrets.LookupEnv = func(string) (string, bool) { return "", false }
	if _, _, findings = Catalogue(f); !findings.HasErrors() {
		t.Error("a variable that is not set is taken")
	}
}

// What a program or a server says of a secret gets neither into an error nor into a result.
func TestNobodyTellsSecrets(t *testing.T) {
	const token, short, long, lines = `tok"en/1+`, "abc", "tok\"en/1+and more", "first\r\nsecond"
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.WriteHeader(nethttp.StatusForbidden)
		fmt.Fprintf(w, "%s is no token, nor is %s", r.Header.Get("A"), r.URL.RawQuery)
	}))
	defer server.Close()
	f, findings := Read(diag.NewFile("f.yaml", []byte(`activities:
  told: {process: {command: [sh, -c, 'printf "%s, %s, %s, %s, %s, plain" "$T" "$L" "$S" "$P" "$M" >&2; exit 3'], env: {T: {env: TOKEN}, L: {file: LONG}, S: {env: SHORT}, M: {env: LINES}, P: plain}}}
  object: {process: {command: [sh, -c, 'printf "%s" "{{\"code\": \"$C\", \"message\": \"tok\\\"en/1+ is bad\"}}" >&2; exit 3'], env: {T: {env: TOKEN}, C: {env: CODE}}}}
  quoted: {process: {command: [printf, '{{"a": "%s"', 'tok\"en/1+'], env: {T: {env: TOKEN}}}}
  head: {process: {command: [sh, -c, 'printf "xxxxxxx $T is it" >&2; exit 3'], env: {T: {env: TOKEN}}, maxStderr: 11}}
  killed: {process: {command: [sh, -c, 'printf "xxxxxxx $T is it" >&2; kill -9 $$'], env: {T: {env: TOKEN}}, maxStderr: 11}}
  tail: {process: {command: [sh, -c, 'printf "%0193d $T!" 0'], env: {T: {env: TOKEN}}}}
  result: {process: {command: [sh, -c, 'printf "%s" "$T"'], env: {T: {env: TOKEN}}, output: text}}
  asked: {http: {url: `+server.URL+`, allowHosts: ["127.0.0.1"], headers: {A: {env: TOKEN}}, query: {q: {env: TOKEN}}}}
`)))
	f.Secrets = &Secrets{
		LookupEnv: func(name string) (string, bool) {
			value, ok := map[string]string{"TOKEN": token, "SHORT": short, "CODE": "secret-code", "LINES": lines}[name]
			return value, ok
		},
		ReadFile: func(string) ([]byte, error) { return []byte(long), nil },
	}
	c, _, more := Catalogue(f)
	if findings = append(findings, more...); len(findings) > 0 {
		t.Fatal(findings)
	}
	for name, want := range map[string]string{
		"told":   "exit-3: •••, •••, abc, plain, •••, plain",
		"object": "•••: ••• is bad",
		"quoted": `bad-output: the output is not usable JSON: found the end of the text, want "," or the end of the list or object; it begins with "{\"a\": \"•••\""; output: text takes any text, and output: lines its lines`,
		"head":   "exit-3: ••• is it",
		"killed": "signal-KILL: the program was killed; it had said: ••• is it",
		"tail":   "bad-output: the output is not usable JSON: \"" + strings.Repeat("0", 40) + "\" is not a number in JSON; it begins with \"" + strings.Repeat("0", 193) + " ••• …\"; output: text takes any text, and output: lines its lines",
		"result": `"•••"`,
		"asked":  "http-403: 403 Forbidden: ••• is no token, nor is q=•••",
	} {
		i, _ := c.Implementation(name)
		res, err := i.Activity.Call(t.Context(), &tool.Request{Params: json.RawMessage(`{}`)})
		got := string(res.Value)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		var e *tool.Error
		if name == "asked" && (!errors.As(err, &e) || !e.Permanent) {
			t.Errorf("%s: %#v", name, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a.yaml", []byte(example))
	for _, c := range findingsIn {
		f.Add("a.yaml", []byte(c.text))
	}
	f.Add("a.json", []byte(`{"tools": [{"name": "f"}], "activities": {"f": {"return": [1, null,],},}} // x`))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		src := diag.NewFile(name, text)
		file, findings := Read(src)
		_, _, more := Catalogue(file)
		for _, finding := range slices.Concat(findings, more) {
			span := finding.Loc.Span
			if finding.Loc.File != src || span.Start < 0 || span.End < span.Start || int(span.End) > len(text) {
				t.Fatalf("%s at %v of %d bytes", finding.String(), span, len(text))
			}
		}
	})
}

// What is read of YAML is JSON that reads the same.
func FuzzYAMLIsJSON(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("a: |\n  x\n\"b\\u0085\": 'it''s'\nc: [1, {d: ~}]\n? e\n: - f"))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := parse(diag.NewFile("a.yaml", text))
		if err != nil {
			if err.Offset < 0 || err.Offset > len(text) {
				t.Fatalf("%v at %d", err, err.Offset)
			}
			return
		}
		raw := n.JSON()
		again, err := parse(diag.NewFile("a.json", raw))
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if string(again.JSON()) != string(raw) {
			t.Fatalf("%s\n%s", raw, again.JSON())
		}
	})
}

// A document is read once, however many operations and activities use it.
func TestDocumentsAreReadOnce(t *testing.T) {
	var paths, activities []string
	for i := range 30 {
		paths = append(paths, fmt.Sprintf(`"/o%d": {"get": {"operationId": "o%d", "responses": {}}}`, i, i))
		activities = append(activities, fmt.Sprintf(`a%d: {openapi: {spec: s.json, operation: o%d}, cache: 1m}`, i, i))
	}
	f, findings := Read(diag.NewFile("f.yaml", []byte("openapi: [{spec: s.json, cache: 1m}]\nactivities: {"+strings.Join(activities, ", ")+"}")))
	reads := 0
	f.ReadFile = func(string) ([]byte, error) {
		reads++
		return []byte(`{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": "https://a.example"}], "paths": {` + strings.Join(paths, ",") + `}}`), nil
	}
	c, _, more := Catalogue(f)
	if findings = append(findings, more...); findings.HasErrors() || c.Len() != 30 || reads != 1 {
		t.Errorf("%d tools, %d reads, %v", c.Len(), reads, findings)
	}
}

// An operation is known by its method and path, unless two services have it; no tool takes another
// name that way.
func TestNamesOfOperations(t *testing.T) {
	doc := func(id string) string {
		return `{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": "https://` + id + `.example"}], "paths": {
			"/orders": {"get": {"operationId": "` + id + `Orders", "responses": {}}}, "/` + id + `": {"get": {"operationId": "` + id + `", "responses": {}}}}}`
	}
	f, findings := Read(diag.NewFile("f.yaml", []byte("openapi: [{spec: shop}, {spec: bank}]\ntools: {pay: {x-operation: look}}")))
	f.ReadFile = func(name string) ([]byte, error) { return []byte(doc(name)), nil }
	c, _, more := Catalogue(f)
	if findings = append(findings, more...); findings.HasErrors() {
		t.Fatal(findings.Err())
	}
	for name, want := range map[string]string{"GET /shop": "shop", "GET /bank": "bank", "GET /orders": "", "look": "", "shopOrders": "shopOrders"} {
		got := ""
		if tool, ok := c.Lookup(name); ok {
			got = tool.Definition.Name
		}
		if got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// A public key that is none is reported in its place: it would refuse every approval.
func TestPublicKeys(t *testing.T) {
	const good = `"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="`
	for keys, want := range map[string]int{"": 0, good: 0, good + `, "AAAA"`: 1, `"", "not base64!"`: 2, `7`: 1} {
		_, findings := Read(diag.NewFile("tools.yaml", []byte(`{"policy": {"approvalKeys": [`+keys+`]}}`)))
		if len(findings) != want {
			t.Errorf("approvalKeys [%s]: %v", keys, findings)
		}
		for _, f := range findings {
			if int(f.Loc.Span.Start) < len(`{"policy": {"approvalKeys": [`) {
				t.Errorf("approvalKeys [%s]: %s is at %d", keys, f.Message, f.Loc.Span.Start)
			}
		}
	}
}
