package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A fileForm is a form of file that plc reads.
type fileForm struct {
	name  string
	flags []string // those that take such a file; "" is the argument of plc check
	file  string
	text  string                     // a file that has each member of the form somewhere
	args  func(file string) []string // of the command that reads it
	// free are the places, by their pointers with * for any step, whose members have names of the
	// user's own, or are for others.
	free    []string
	part    bool               // another form is tried with all members
	also    []string           // members that the example of another form has
	prepare func(t *testing.T) // makes what else the command reads; nil is nothing
	says    string             // what is said instead of the name; "" is nothing else
}

const unknownName = "zqxj"

// TestNothingIsUnread puts an unknown member into each object of each form of file, and wants to be
// told, with --verbose where nothing is wrong with it. The forms are complete: each flag of a file
// has one or a reason, and each member that a message says an object has is in the form's example.
func TestNothingIsUnread(t *testing.T) {
	forms := fileForms()
	known := map[string]bool{}
	for _, f := range forms {
		for _, flag := range f.flags {
			known[flag] = true
		}
	}
	// Files whose members are values, that plc alone writes, or whose form is that of others.
	for _, flag := range []string{
		"input", "state", "context", "params", "result", "store", "to", "model-record", "model-replay", "record", "replay",
		"events", "results", "output", "key", "tls-cert", "tls-key", "tokens", "jsonl", "openapi", "instances", "svg", "graph", // where any other member makes an object an input
	} {
		known[flag] = true
	}
	eachFileFlag(rootCommand(&environment{}), func(command, flag string) {
		if !known[flag] {
			t.Errorf("plc %s --%s takes a file of no form that is tried", command, flag)
		}
	})
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) { f.try(t) })
	}
}

// eachFileFlag calls f with the flags that take a file, by the endings that completion offers.
func eachFileFlag(c *cobra.Command, f func(command, flag string)) {
	c.Flags().VisitAll(func(fl *pflag.Flag) {
		if _, ok := fl.Annotations[cobra.BashCompFilenameExt]; ok {
			f(c.Name(), fl.Name)
		}
	})
	for _, sub := range c.Commands() {
		eachFileFlag(sub, f)
	}
}

func (f *fileForm) try(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"tools.yaml": "tools: {a: {properties: {x: {}}, additionalProperties: false, effects: {readOnly: true}}, b: {properties: {x: {}}, additionalProperties: false, effects: {readOnly: true}}}\nactivities: {a: {echo: true}, b: {echo: true}}\n" +
			"models: {default: {provider: openai, model: m, replay: r.jsonl}}\n",
		"r.jsonl":   "",
		"plan.json": `[{"_tool": "a", "x": 1, "_outputPath": "†state.a"}]`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if f.prepare != nil {
		f.prepare(t)
	}
	if f.text == "" {
		text, err := os.ReadFile(f.file)
		if err != nil {
			t.Fatal(err)
		}
		f.text = string(text)
	}
	var value any
	if err := json.Unmarshal([]byte(f.text), &value); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	said := map[string]bool{}
	objects := 0
	walkObjects(value, "", func(at string, o map[string]any) {
		for name := range o {
			names[name] = true
		}
		if slices.ContainsFunc(f.free, func(p string) bool { return matchesPlace(p, at) }) {
			return
		}
		objects++
		o[unknownName] = 1
		text, err := json.Marshal(value)
		delete(o, unknownName)
		if err != nil {
			t.Fatal(err)
		}
		out := f.told(t, text)
		if !strings.Contains(out, unknownName) && (f.says == "" || !strings.Contains(out, f.says)) {
			t.Errorf("an unknown member of the object at %q: not a word\n%s", at, out)
		}
		for _, list := range regexp.MustCompile(unknownName+`\\?"[^"]*; (?:it|there) (?:has|are) ([\w, $-]*[\w$])`).FindAllStringSubmatch(out, -1) {
			for name := range strings.SplitSeq(strings.ReplaceAll(list[1], " and ", ", "), ", ") {
				said[name] = true
			}
		}
	})
	if objects == 0 {
		t.Error("there is no object")
	}
	for name := range said {
		if !f.part && !names[name] && !slices.Contains(f.also, name) {
			t.Errorf("the example has no %q, which messages say there is", name)
		}
	}
}

// told returns what the command says of a file.
func (f *fileForm) told(t *testing.T, text []byte) string {
	if err := os.WriteFile(f.file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	run(f.args(f.file), strings.NewReader(""), &out, &out)
	return out.String()
}

// walkObjects calls f with each object in a value, whose members f may change.
func walkObjects(v any, at string, f func(at string, o map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		f(at, v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			walkObjects(v[name], at+"/"+name, f)
		}
	case []any:
		for i := range v {
			walkObjects(v[i], at+"/"+strconv.Itoa(i), f)
		}
	}
}

// matchesPlace reports whether a place is one of those of a pattern, in which * is any step, and **
// any number of them.
func matchesPlace(pattern, at string) bool {
	return matchesSteps(strings.Split(pattern, "/"), strings.Split(at, "/"))
}

func matchesSteps(want, steps []string) bool {
	switch {
	case len(want) == 0:
		return len(steps) == 0
	case want[0] == "**":
		return matchesSteps(want[1:], steps) || len(steps) > 0 && matchesSteps(want, steps[1:])
	}
	return len(steps) > 0 && (want[0] == "*" || want[0] == steps[0]) && matchesSteps(want[1:], steps[1:])
}

// checkPlan are the arguments that check a plan.
func checkPlan(more ...string) func(string) []string {
	return func(file string) []string {
		args := []string{"check", "plan.json", "--verbose"}
		for _, arg := range more {
			args = append(args, strings.ReplaceAll(arg, "FILE", file))
		}
		return args
	}
}

const schemaExample = `{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "title": "t",
  "properties": {"a": {"type": "array", "items": {"type": "string"}, "contains": {"type": "string"}}, "b": {"anyOf": [{"const": 1}, {"not": {"type": "null"}}]}},
  "patternProperties": {"^p": {"type": "string"}}, "additionalProperties": {"type": "integer"}, "propertyNames": {"maxLength": 9},
  "$defs": {"d": {"type": "string"}}, "if": {"required": ["c"]}, "then": {"minProperties": 1}, "x-mine": {"free": 1}}`

// freeInSchemas are the free places of a schema at a place.
func freeInSchemas(at string) (all []string) {
	for _, name := range []string{"properties", "patternProperties", "$defs"} {
		all = append(all, at+"/"+name)
	}
	return append(all, at+"/x-mine")
}

func fileForms() []*fileForm {
	call := `{"_tool": "a", "_id": "i", "x": {"own": 1}, "_outputPath": "†state.a", "_outputMethod": "set", "_errorPath": "†state.e",
	  "_scopes": ["state"], "_dependsOn": [], "_when": "true", "_retry": {"max": 1, "delay": 1, "factor": 1, "maxDelay": 1, "jitter": true, "on": ["e"]},
	  "_timeout": 1, "_fallback": {"_tool": "b", "x": 1}, "_onFailure": "skip", "_approve": true, "_description": "d", "_reasoningForCall": "r",
	  "_expect": {"type": "object"}, "_estimatedTokens": 1, "_estimatedCost": 1}`
	second := `{"_tool": "a", "_id": "j", "x": 1, "_output": {"own": 1}}`
	check := func(file string) []string {
		return []string{"check", file, "--verbose", "--tools", "tools.yaml"}
	}
	plan := func(name, text string, free ...string) *fileForm {
		return &fileForm{name: "plan/" + name, flags: []string{"plan"}, file: "doc.json", text: text, args: check,
			free: append(free, "/**/x", "/**/_output")}
	}
	forms := []*fileForm{
		plan("list", "["+call+", "+second+"]"),
		plan("message", `{"type": "plan", "mode": "lazy", "onFailure": "abort", "description": "d", "_call": 1, "_date": 1, "_outputMethod": "set", "plan": [`+call+`]}`),
		plan("message of calls", `{"type": "plan", "mode": "lazy", "onFailure": "abort", "description": "d", "_call": 1, "_date": 1, "_outputMethod": "set", "plan": {"calls": [`+call+`], "output": {"own": 1}, "meta": {"own": 1}}}`, "/plan/output", "/plan/meta"),
		plan("solution", `{"onFailure": "abort", "calls": [`+call+`], "output": {"own": 1}, "meta": {"own": 1}}`, "/output", "/meta"),
		plan("request", `{"type": "request", "description": "d", "context": [{"type": "input", "input": {"own": 1}, "schema": `+schemaExample+`},
		  {"type": "tool", "tool": {"name": "k", "description": "d", "effects": {"readOnly": true}, "inputSchema": `+schemaExample+`, "outputSchema": {"type": "object"}, "annotations": {"title": "t"}}},
		  {"type": "tool", "tool": {"m": {"properties": {"a": {"type": "string"}, "_output": {"type": "string"}}, "_outcomes": {"ok": {"type": "string"}}}}},
		  {"type": "tool", "tool": {"type": "function", "function": {"name": "n", "parameters": `+schemaExample+`}}},
		  {"type": "data", "kind": "z", "data": {"own": 1}}, {"type": "text", "text": "for people"}],
		  "schema": {"type": "object"}, "solution": {"onFailure": "abort", "calls": [`+call+`], "output": "†state.a", "meta": 1}}`,
			slices.Concat([]string{"/context/0/input", "/context/0", "/context/4", "/context/4/data", "/context/5", "/context/2/tool", "/context/2/tool/m/properties", "/context/2/tool/m/_outcomes",
				"/context/1", "/context/2", "/context/3"},
				freeInSchemas("/context/0/schema"), freeInSchemas("/context/1/tool/inputSchema"), freeInSchemas("/context/3/tool/function/parameters"))...),
		plan("request of calls", `{"context": [], "schema": {"type": "object"}, "onFailure": "abort", "calls": [`+call+`], "output": "†state.a", "meta": 1, "type": "request", "description": "d"}`),
		{name: "schemas", flags: []string{"input-schema", "state-schema", "schema"}, file: "schema.json", text: schemaExample,
			args: checkPlan("--state-schema", "FILE"), free: freeInSchemas("")},
		toolFileForm(),
		{name: "tools with $defs", file: "t.json", part: true, args: checkPlan("--tools", "FILE"), free: []string{"/$defs", "/tools", "/tools/a/properties", "/activities"},
			text: `{"$defs": {"d": {"type": "integer"}}, "tools": {"a": {"type": "object", "properties": {"x": {"$ref": "#/$defs/d"}}, "effects": {"readOnly": true}}}, "activities": {"a": {"echo": true}}}`},
		{name: "project", file: "plc.yaml", text: `{"tools": ["tools.yaml"], "mcp": [], "policies": [], "lock": "l", "store": "none", "ignore": ["PLC309"], "strict": true,
		  "severities": {"PLC309": "error"}, "policy": {"approve": "all", "deny": [], "allow": ["*"], "hosts": [], "paths": [], "pinPrograms": true, "approvalKeys": []}}`,
			args: checkPlan("--trust"), free: []string{"/severities"}},
		{name: "assumptions", flags: []string{"assume"}, file: "assume.json", text: `{"tools": {"a": {"fails": 0.1, "takes": "1s..2s",
		  "fail": {"code": "c", "message": "m", "permanent": true, "uncertain": true, "retryAfter": 1}}}, "calls": {"a": {"takes": [1]}},
		  "answers": {"a": {"approve": true, "skip": true, "reject": "r", "result": 1, "params": {"own": 1}}}}`,
			args: func(file string) []string {
				return []string{"simulate", "plan.json", "--tools", "tools.yaml", "--store", "none", "--runs", "1", "--assume", file}
			}, free: []string{"/tools", "/calls", "/answers", "/answers/a/params"}},
		{name: "mcp", flags: []string{"mcp"}, file: "mcp.json", text: `{"$schema": "s", "inputs": [], "mcpServers": {"s": {"command": "c", "args": [], "env": {"own": "1"}, "alwaysAllow": [], "tools": {"one": {"effects": {"readOnly": true}}}}},
		  "servers": {"v": {"url": "http://127.0.0.1:1/", "type": "http", "headers": {"own": "1"}}}}`, args: checkPlan("--mcp", "FILE"),
			free: []string{"/mcpServers", "/servers", "/mcpServers/s/env", "/servers/v/headers", "/mcpServers/s/tools", "/mcpServers/s/tools/**"}},
		{name: "agents", flags: []string{"agents"}, file: "agents.json", text: `{"roles": {"r": {"tools": [], "deny": [], "approve": "all", "lazy": true, "session": {"steps": 1, "tokens": 1, "cost": 1}}}}`,
			args: func(file string) []string { return []string{"mcp", "--role", "other", "--agents", file} }, free: []string{"/roles"}},
		{name: "oidc", flags: []string{"oidc"}, file: "oidc.json", text: `{"issuer": "https://login.example", "audience": "plc", "name": "sub", "clientId": "pages",
		  "clientSecretFrom": "PLC_NO_SUCH_SECRET", "scopes": ["email"], "claim": "groups", "roles": {"everybody": ["read"]}}`,
			args: func(file string) []string {
				return []string{"serve", "--listen", "127.0.0.1:0", "--store", "s.db", "--tokens", "tokens.json", "--webhooks", "nosuch.json", "--oidc", file}
			}, free: []string{"/roles"}},
		{name: "webhooks", flags: []string{"webhooks"}, file: "hooks.json", text: `{"webhooks": [{"name": "a", "url": "https://a.example", "urlFrom": "PLC_NO_SUCH_URL",
		  "secretsFrom": ["PLC_NO_SUCH_SECRET"], "events": ["run.ended"], "format": "standard", "allowPrivate": false}]}`,
			args: func(file string) []string {
				return []string{"serve", "--listen", "127.0.0.1:0", "--store", "s.db", "--tokens", "tokens.json", "--webhooks", file}
			}},
		{name: "lock", flags: []string{"lock"}, file: "lock.json", text: `{"plc": "lock", "version": 1, "servers": {"s": {"tools": [{"name": "t", "digest": "d", "definition": {"own": 1}}]}}}`,
			args: checkPlan("--mcp", "servers.json", "--lock", "FILE"), free: []string{"/servers", "/servers/s/tools/0/definition"},
			prepare: func(t *testing.T) {
				if err := os.WriteFile("servers.json", []byte(`{"mcpServers": {"s": {"command": "nothing"}}}`), 0o600); err != nil {
					t.Fatal(err)
				}
			}},
	}
	for _, style := range []string{"flux", "tea", "agentframework", "planning"} {
		forms = append(forms, &fileForm{name: "style " + style, flags: []string{"style-options"}, file: "o.json", text: `{}`, part: true,
			args: func(file string) []string {
				return []string{"solve", "goal", "--style", style, "--style-options", file, "--tools", "tools.yaml"}
			}})
	}
	return append(forms, &fileForm{name: "approval", flags: []string{"approval"}, file: "a.json", says: "was edited",
		args: func(file string) []string {
			return []string{"run", "plan.json", "--tools", "tools.yaml", "--store", "none", "--approval", file}
		},
		prepare: func(t *testing.T) {
			var out bytes.Buffer
			if code := run([]string{"plan", "plan.json", "--tools", "tools.yaml", "-o", "a.json"}, strings.NewReader(""), &out, &out); code != exitDone {
				t.Fatal(out.String())
			}
		}})
}

// toolFileForm is that of tool files, which has all drivers, and the policy.
func toolFileForm() *fileForm {
	around := `"cache": "1s", "breaker": {"failures": 1, "pause": "1s"}, "maxOutput": 5, "timeout": "1s"`
	auth := `"auth": {"key": "k", "basic": {"username": "u", "password": {"env": "E"}}}`
	return &fileForm{
		prepare: func(t *testing.T) {
			doc := `{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "k"}, "basic": {"type": "http", "scheme": "basic"}}}, "paths": {"/": {"get": {"operationId": "get", "responses": {"200": {"description": "d"}}}}}}`
			if err := os.WriteFile("o.json", []byte(doc), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		name: "tools", flags: []string{"tools"}, file: "t.json", args: checkPlan("--tools", "FILE"),
		also: []string{"$defs"},
		text: `{"$schema": "s",
  "tools": {"a": {"description": "d", "properties": {"x": {}, "_output": {"type": "object", "properties": {"own": {"type": "string"}}}},
    "effects": {"readOnly": true, "destructive": false, "idempotent": true, "pure": false, "domain": "x"}, "annotations": {"title": "t"}, "x-mine": {"own": 1}},
    "b": {"properties": {"x": {}}}, "fn": {"function": {"name": "fn", "parameters": ` + schemaExample + `}},
    "in": {"inputSchema": ` + schemaExample + `, "outputSchema": {"type": "object"}, "_outcomes": {"ok": {"type": "string"}}}},
  "activities": {
    "a": {"process": {"command": ["cat"], "dir": ".", "env": {"own": {"env": "HOME"}, "other": {"file": "plan.json"}}, "inheritEnv": [], "stdin": "none", "output": "text", "allowDash": [], "allowCode": [],
      "okExit": [], "maxOutput": 1, "maxStderr": 1, "grace": "1s"}, "queue": "q", "offer": true, "effects": {"readOnly": true}, ` + around + `},
    "b": {"http": {"method": "POST", "url": "https://api.example/", "query": {"own": "1"}, "headers": {"own": "1"}, "body": {"own": 1}, "timeout": "1s", "maxBytes": 1,
      "allowHosts": ["api.example"], "allowPrivate": true, "result": "json", "proxy": "http://127.0.0.1:1"}},
    "fn": {"return": {"own": 1}, "returnEach": {"own": {"own": 1}}, "echo": false, "sample": false, "after": "1ms", "jitter": "1ms",
      "fail": {"code": "c", "message": "m", "permanent": true, "uncertain": true, "retryAfter": "1s"}, "failTimes": 1},
    "in": {"latent": {"model": "default"}},
    "far": {"mcp": {"server": "s", "tool": "t"}},
    "op": {"openapi": {"spec": "o.json", "server": "https://api.example", ` + auth + `, "allowPrivate": true, "maxBytes": 1, "operation": "get"}}},
  "limits": {"a": {"parallel": 1, "perSecond": 1}},
  "policy": {"approve": "all", "hosts": ["api.example", "127.0.0.1"], "paths": ["."], "allow": ["*"], "deny": [], "pinPrograms": false, "approvalKeys": []},
  "flow": {"trust": "untrusted < partner < user", "secrecy": ["internal < team < secret"], "categories": ["c"], "plan": {"trust": "user", "secrecy": "public", "categories": []}, "default": {"trust": "untrusted"},
    "given": {"input": {"trust": "user"}}, "tools": {"a": {"gives": {"trust": "untrusted"}, "parts": {"own": {"trust": "user"}}, "takes": {"x": {"trust": "user", "secrecy": "team", "categories": ["c"], "in": "input.l", "or": "params.x == 1"}},
      "endorses": "e", "declassifies": "d", "leaves": true, "violation": "warn"}},
    "output": {"secrecy": "secret"}, "rules": [{"rule": "count(a) <= 3", "violation": "warn"}], "strict": true, "violation": "reject"},
  "openapi": [{"spec": "o.json", "server": "https://api.example", ` + auth + `, "allowPrivate": true, "maxBytes": 1, "only": [], "prefix": "p", "effects": {"get": {"readOnly": true}}, ` + around + `}],
  "models": {"default": {"provider": "openai", "model": "m", "baseURL": "https://models.example/v1", "apiKey": {"env": "E"}, "temperature": 1, "maxTokens": 1, "batch": 1,
    "prices": {"input": 1, "output": 1}, "record": "r.jsonl"}, "other": {"provider": "openai", "model": "m", "replay": "r.jsonl"}},
  "mcpServers": {"s": {"command": "nothing", "args": [], "dir": ".", "cwd": ".", "env": {"own": "1"}, "trust": true, "type": "stdio", ` + around + `,
    "tools": {"one": {"parallel": 1, "perSecond": 1, "effects": {"readOnly": true}, ` + around + `}}}, "web": {"url": "http://127.0.0.1:1/", "headers": {"own": "1"}}},
  "builtin": []}`,
		free: slices.Concat([]string{"/$defs", "/tools", "/tools/a/properties", "/tools/a/properties/_output/properties", "/tools/b/properties", "/tools/a/x-mine", "/tools/in/_outcomes",
			"/activities", "/activities/a/process/env", "/activities/b/http/query", "/activities/b/http/headers", "/activities/b/http/body",
			"/activities/fn/return", "/activities/fn/returnEach", "/activities/fn/returnEach/own", "/**/auth", "/limits", "/openapi/*/effects", "/models", "/flow/given", "/flow/tools", "/flow/tools/a/parts", "/flow/tools/a/takes", "/mcpServers", "/mcpServers/*/env",
			"/mcpServers/*/headers", "/mcpServers/*/tools"},
			freeInSchemas("/tools/fn/function/parameters"), freeInSchemas("/tools/in/inputSchema")),
	}
}
