package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tamperedFiles are what the approved plan of TestTamperedPlan is made of.
var tamperedFiles = map[string]string{
	"plan.json": `{"type": "plan", "mode": "lazy", "plan": [
	{"_tool": "note", "_id": "first", "text": "†input.text", "_retry": {"max": 1, "delay": 0}, "_timeout": "9s", "_outputPath": "†state.first",
	 "_fallback": {"_tool": "fetch", "page": "a"}},
	{"_tool": "other", "_id": "found", "query": "†state.topic", "_outputPath": "†state.found"},
	{"_tool": "note", "_id": "inside", "text": "x", "_delegate": "sub.json", "_when": "†state.first", "_outputPath": "†state.inside"},
	{"_tool": "other", "_id": "last", "_activity": "said", "text": "bye", "_dependsOn": ["first"]},
	{"_tool": "choose", "value": 1, "when": {"yes": "value > 0"}, "_outputPath": "†state.yes || †state.no"},
	{"_tool": "getPage", "_fallback": "other", "_when": "†state.no"}]}`,
	"sub.json": `{"calls": [{"_tool": "note", "text": "inner"}], "output": 1}`,
	"tools.yaml": `
tools:
  note: {description: Writes a note., properties: {text: {type: string, maxLength: 9}}, effects: {destructive: true}}
  fetch: {properties: {page: {type: string}}, effects: {readOnly: true}}
  other: {effects: {destructive: true}}
openapi: [{spec: api.json}]
activities:
  note: {process: {command: [tell.sh, one], env: {MODE: fast, KEY: {env: HOME}}, stdin: "{text}", output: text}, timeout: 8s}
  fetch: {http: {url: "https://api.example/{page}", headers: {X-Who: plc}}}
  other: {return: 1}
  said: {return: 2}
limits: {note: {parallel: 2}}
policy: {pinPrograms: true, hosts: [api.example], deny: [nobody]}
`,
	"api.json":           apiDocument,
	"bin/tell.sh":        "#!/bin/sh\ntee -a effects\n",
	"elsewhere/tell.sh":  "#!/bin/sh\ntee -a effects\n",
	"input.json":         `{"text": "hello"}`,
	"state.json":         `{"topic": "plans"}`,
	"schema.json":        `{"properties": {"found": {}}}`,
	"more.yaml":          "{}\n",
	"elsewhere/api.json": apiDocument,
	"key.pem":            "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIGpvHZyWh/nwOXlzuVF2sb6mF01w0BAF9a1g1g/h+WtF\n-----END PRIVATE KEY-----\n",
}

const apiDocument = `{"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": "https://api.example"}],
	"paths": {"/x": {"get": {"operationId": "getPage", "responses": {"200": {"description": "ok"}}}}}}`

// servedFiles are what the plan is made of that calls the tool of a server.
var servedFiles = map[string]string{
	"plan.json":           `{"type": "plan", "mode": "lazy", "plan": [{"_tool": "web.web_pay", "to": "ada"}, {"_tool": "web.search", "query": "x", "_outputPath": "†state.found"}]}`,
	"tools.yaml":          "mcpServers: {web: {command: ./server.sh}}\npolicy: {pinPrograms: true}\n",
	"server.sh":           "#!/bin/sh\nexec mcpserver web\n",
	"elsewhere/server.sh": "#!/bin/sh\nexec mcpserver web\n",
	"elsewhere/web.json":  `{"description": "Searches."}`,
	"web.json":            `{"description": "Searches."}`,
}

// A tamper changes one thing after a plan was approved: a text in a file, or how it is run.
type tamper struct {
	name, file, old, new string
	all                  bool // wherever old is in the file
	args                 []string
	env                  [2]string
	dir                  string
}

var tampers = []tamper{
	{name: "a param", file: "plan.json", old: `"a"`, new: `"b"`},
	{name: "where a param comes from", file: "plan.json", old: `†input.text`, new: `†state.topic`},
	{name: "type of a param", file: "plan.json", old: `"bye"`, new: `5`},
	{name: "spelling of a number", file: "plan.json", old: `"value": 1`, new: `"value": 1.0`},
	{name: "another call", file: "plan.json", old: `}]}`, new: `}, {"_tool": "note", "text": "more"}]}`},
	{name: "a call less", file: "plan.json", old: `{"_tool": "other", "_id": "last", "_activity": "said", "text": "bye", "_dependsOn": ["first"]},`, new: ``},
	{name: "the name of a call", file: "plan.json", old: `"last"`, new: `"end"`},
	{name: "the tool", file: "plan.json", old: `"_tool": "other"`, new: `"_tool": "fetch"`},
	{name: "the order", file: "plan.json", old: `"_dependsOn": ["first"]`, new: `"_dependsOn": []`},
	{name: "the condition", file: "plan.json", old: `"_when": "†state.first"`, new: `"_when": "†state.topic"`},
	{name: "the predicate", file: "plan.json", old: `value > 0`, new: `value < 0`},
	{name: "the output path", file: "plan.json", old: `†state.found`, new: `†state.topic`},
	{name: "the fallback's params", file: "plan.json", old: `"page": "a"`, new: `"page": "z"`},
	{name: "the fallback's tool", file: "plan.json", old: `"_tool": "fetch", "page": "a"`, new: `"_tool": "note", "text": "a"`},
	{name: "no fallback", file: "plan.json", old: ",\n\t \"_fallback\": {\"_tool\": \"fetch\", \"page\": \"a\"}", new: ""},
	{name: "the fallback's activity", file: "plan.json", old: `{"_tool": "fetch",`, new: `{"_tool": "fetch", "_activity": "said",`},
	{name: "the activity", file: "plan.json", old: `"_activity": "said"`, new: `"_activity": "other"`},
	{name: "no activity", file: "plan.json", old: `"_activity": "said", `, new: ``},
	{name: "retries", file: "plan.json", old: `"max": 1`, new: `"max": 2`},
	{name: "the delay of retries", file: "plan.json", old: `"delay": 0`, new: `"delay": 1`},
	{name: "the timeout", file: "plan.json", old: `"9s"`, new: `"7s"`},
	{name: "the delegate", file: "plan.json", old: `"sub.json"`, new: `"./sub.json"`},
	{name: "no approval", file: "plan.json", old: `"text": "bye"`, new: `"text": "bye", "_approve": false`},
	{name: "a definition of the plan", file: "plan.json", old: `{"type": "plan"`, new: `{"tools": {}, "type": "plan"`},
	{name: "the document of the delegate", file: "sub.json", old: `inner`, new: `other`},
	{name: "the output of the delegate", file: "sub.json", old: `"output": 1`, new: `"output": 2`},
	{name: "a tool's description", file: "tools.yaml", old: `Writes a note.`, new: `Writes it.`},
	{name: "a tool's schema", file: "tools.yaml", old: `maxLength: 9`, new: `maxLength: 99`},
	{name: "a tool's effects", file: "tools.yaml", old: `effects: {destructive: true}}
  fetch`, new: `effects: {readOnly: true}}
  fetch`},
	{name: "the program's arguments", file: "tools.yaml", old: `tell.sh, one`, new: `tell.sh, two`},
	{name: "the program's environment", file: "tools.yaml", old: `MODE: fast`, new: `MODE: slow`},
	{name: "the name of a secret", file: "tools.yaml", old: `{env: HOME}`, new: `{env: PATH}`},
	{name: "its standard input", file: "tools.yaml", old: `stdin: "{text}"`, new: `stdin: "!{text}"`},
	{name: "its folder", file: "tools.yaml", old: `output: text}`, new: `output: text, dir: elsewhere}`},
	{name: "its timeout", file: "tools.yaml", old: `8s`, new: `80s`},
	{name: "a result to be cached", file: "tools.yaml", old: `fetch: {http`, new: `fetch: {cache: 1h, http`},
	{name: "the URL", file: "tools.yaml", old: `api.example/{page}`, new: `api.example/v2/{page}`},
	{name: "a header", file: "tools.yaml", old: `X-Who: plc`, new: `X-Who: me`},
	{name: "a stand-in", file: "tools.yaml", old: `return: 2`, new: `return: 3`},
	{name: "limits", file: "tools.yaml", old: `parallel: 2`, new: `parallel: 3`},
	{name: "hosts", file: "tools.yaml", old: `hosts: [api.example]`, new: `hosts: [api.example, evil.example]`},
	{name: "who is denied", file: "tools.yaml", old: `deny: [nobody]`, new: `deny: []`},
	{name: "no pins", file: "tools.yaml", old: `pinPrograms: true`, new: `pinPrograms: false`},
	{name: "a second tool file", file: "more.yaml", old: `{}`, new: `policy: {approve: none}`},
	{name: "a key that may sign", file: "more.yaml", old: `{}`, new: `policy: {approvalKeys: ["AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]}`},
	{name: "where an operation is", file: "api.json", old: `"url": "https://api.example"`, new: `"url": "https://api.example/v2"`},
	{name: "the operation", file: "api.json", old: `"get"`, new: `"put"`},
	{name: "the content of the program", file: "bin/tell.sh", old: `tee -a`, new: `tee -a -i`},
	{name: "the program that is found", env: [2]string{"PATH", "$DIR/elsewhere:$PATH"}},
	{name: "the input", file: "input.json", old: `hello`, new: `hullo`},
	{name: "an input more", args: []string{"--input", "more=1"}},
	{name: "the state", file: "state.json", old: `plans`, new: `plots`},
	{name: "the schema of the state", file: "schema.json", old: `{}`, new: `{"type": ["object", "string", "number"]}`},
	{name: "which calls ask", args: []string{"--approve", "none"}},
	{name: "what a failure does", args: []string{"--on-failure", "continue"}},
	{name: "what a lost answer does", args: []string{"--on-uncertain", "retry"}},
	{name: "the default timeout", args: []string{"--timeout", "99s"}},
	{name: "what a missing value does", args: []string{"--refs", "lenient"}},
	{name: "a denial", args: []string{"--deny", "x*"}},
	{name: "the working folder", dir: "elsewhere"},
	{name: "who approved", file: "a.json", old: `"approvedBy": "`, new: `"approvedBy": "not `},
	{name: "the digest", file: "a.json", old: `"digest": "`, new: `"digest": "0`},
	{name: "what is listed", file: "a.json", old: `maxLength`, new: `minLength`},
	{name: "the signature", file: "a.json", old: `"signature": "`, new: `"signature": "A`},
	{name: "who signed", file: "a.json", old: `"key": "`, new: `"key": "A`},
	{name: "when it expires", file: "a.json", old: `"expires": "2`, new: `"expires": "3`},
}

// servedTampers are those of a plan that calls the tools of a server.
var servedTampers = []tamper{
	{name: "the server's working folder", dir: "elsewhere"},
	{name: "the content of the server's program", file: "server.sh", old: "exec", new: "true; exec"},
	{name: "the server's command", file: "tools.yaml", old: `server.sh}`, new: `server.sh, env: {A: b}}`},
	{name: "the server's description", file: "web.json", old: `Searches.`, new: `Sends it.`},
	{name: "the server's schema", file: "web.json", old: `"description"`, new: `"inputSchema": {"type": "object", "properties": {"query": {"type": "string"}, "cc": {}}}, "description"`},
	{name: "the server's annotation", file: "web.json", old: `"description"`, new: `"annotations": {"readOnlyHint": false, "destructiveHint": true}, "description"`},
	{name: "the server's result", file: "web.json", old: `"description"`, new: `"outputSchema": {"type": "object"}, "description"`},
}

// folderFiles are what a plan is made of that writes a file in the folder in which it runs.
var folderFiles = map[string]string{
	"plan.json":       `{"type": "plan", "mode": "lazy", "plan": [{"_tool": "file.write", "path": "out/effects", "text": "written"}, {"_tool": "dir.list", "path": "out"}]}`,
	"tools.yaml":      "builtin: [file.write, dir.list]\npolicy: {paths: [out]}\n",
	"out/.keep":       "",
	"elsewhere/.keep": "",
}

var folderTampers = []tamper{
	{name: "the folder", dir: "elsewhere"},
	{name: "the path", file: "plan.json", old: `"out/effects"`, new: `"out/other"`},
	{name: "the paths of the policy", file: "tools.yaml", old: "[out]", new: "[out, elsewhere]"},
	{name: "another activity in its place", file: "tools.yaml", old: "policy", new: "activities: {file.write: {return: 1}}\npolicy"},
}

// Whatever changes after a plan was approved, it does not run; as it was, it does.
func TestTamperedPlan(t *testing.T) {
	checkTampers(t, tamperedFiles, tampers, "effects", "helloinner",
		"--tools", "more.yaml", "--input", "input.json", "--state", "state.json", "--state-schema", "schema.json")
	checkTampers(t, servedFiles, servedTampers, "paid.txt", "true\n")
	checkTampers(t, folderFiles, folderTampers, "out/effects", "written")
	t.Logf("%d tampers refused", len(tampers)+len(servedTampers)+len(folderTampers))
}

// checkTampers has a plan approved that is made of files, and wants it to run as it was, with this
// effect, and not after any of the tampers.
func checkTampers(t *testing.T, files map[string]string, tampers []tamper, effect, want string, flags ...string) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, at(name), text)
		if err := os.Chmod(at(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", at("bin")+":"+os.Getenv("PATH"))
	plc := func(c *tamper, command string, args ...string) outcome {
		t.Helper()
		all := []string{command, at("plan.json"), "--tools", at("tools.yaml")}
		for _, f := range flags {
			if filepath.Ext(f) != "" {
				f = at(f)
			}
			all = append(all, f)
		}
		return runHere(t, at(c.dir), append(append(all, args...), c.args...)...)
	}
	effects := func() string { text, _ := os.ReadFile(at(effect)); return string(text) }
	if o := plc(&tamper{}, "plan", "-o", "a.json", "--expires", "1h"); o.code != exitDone {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	var sign []string
	if files["key.pem"] != "" {
		sign = []string{"--key", at("key.pem")}
	}
	if o := runHere(t, dir, append([]string{"approve", "a.json", "--yes", "--as", "ada"}, sign...)...); o.code != exitDone {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	for i := range tampers {
		c := &tampers[i]
		undo := c.apply(t, dir)
		if o := plc(c, "run", "--approval", at("a.json"), "--store", "none", "--yes"); o.code != exitRejected || effects() != "" {
			t.Errorf("%s: exit %d, effects %q\n%s%s", c.name, o.code, effects(), o.stdout, o.stderr)
			if _ = os.Remove(at(effect)); o.code == exitDone {
				return // the approval is used up
			}
		}
		undo()
	}
	if o := plc(&tamper{}, "run", "--approval", "a.json", "--store", "none", "--yes"); o.code != exitDone || effects() != want {
		t.Errorf("untampered: exit %d, effects %q\n%s", o.code, effects(), o.stderr)
	}
}

// apply changes what the tamper says, and returns what changes it back.
func (c *tamper) apply(t *testing.T, dir string) (undo func()) {
	if c.env[0] != "" {
		was := os.Getenv(c.env[0])
		t.Setenv(c.env[0], strings.NewReplacer("$DIR", dir, "$PATH", was).Replace(c.env[1]))
		return func() { t.Setenv(c.env[0], was) }
	}
	if c.file == "" {
		return func() {}
	}
	file := filepath.Join(dir, c.file)
	was, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(was), c.old) {
		t.Fatalf("%s: %s has no %q (%v)", c.name, c.file, c.old, err)
	}
	n := 1
	if c.all {
		n = -1
	}
	write(t, file, strings.Replace(string(was), c.old, c.new, n))
	return func() { write(t, file, string(was)) }
}
