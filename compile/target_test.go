package compile_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool/file"
)

// targetTools is a tool file in which an activity belongs to two tools, one to none, and others are
// offered to plans.
const targetTools = `{
	"tools": {
		"lookup": {"properties": {"key": {"type": "string"}}, "effects": {"readOnly": true}},
		"deleteAll": {"properties": {"_activity": {"const": "wiper"}, "sure": {"const": true}}, "required": ["sure"], "effects": {"destructive": true}},
		"web": {"properties": {"q": {"type": "string"}}, "effects": {"readOnly": true}},
		"think": {"effects": {"readOnly": true}}
	},
	"models": {"small": {"provider": "openai", "model": "m", "baseURL": "http://localhost:1/v1"}},
	"activities": {
		"lookup": {"return": 1},
		"wiper": {"process": ["./wipe.sh", "--all"]},
		"web": {"http": {"url": "https://api.example/search?q={q}"}},
		"think": {"latent": {"model": "small"}},
		"orphan": {"echo": true}
	}
}`

// compiledWith compiles a plan against a tool file.
func compiledWith(t *testing.T, tools, plan string, opts compile.Options) (*compile.Program, diag.List) {
	t.Helper()
	f, findings := file.Read(diag.NewFile("tools.json", []byte(tools)))
	cat, policy, more := file.Catalogue(f)
	if all := append(findings, more...); all.HasErrors() {
		t.Fatal(all)
	}
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	opts.Catalogue = cat
	if opts.Allow == nil && opts.Deny == nil {
		opts.Allow, opts.Deny = policy.Allow, policy.Deny
	}
	return compile.Compile(doc, &opts)
}

// What runs is told by the target of a call, whichever way it is named.
func TestTargetWords(t *testing.T) {
	for _, c := range []struct{ call, words, origin string }{
		{`{"_tool": "lookup"}`, `a stand-in, which calls nothing`, `the tool file "tools.json"`},
		{`{"_tool": "deleteAll", "sure": true}`, `the program "./wipe.sh" "--all" in the folder DIR, the activity "wiper"`, `the tool file "tools.json"`},
		{`{"_tool": "lookup", "_activity": "wiper", "sure": true}`, `the program "./wipe.sh" "--all" in the folder DIR, the activity "wiper"`, `the tool file "tools.json"`},
		{`{"_tool": "web", "q": "x"}`, `the request GET "https://api.example/search?q={q}" to the host "api.example"`, `the tool file "tools.json"`},
		{`{"_tool": "think"}`, `the model "small"`, `the tool file "tools.json"`},
		{`{"_tool": "lookup", "_activity": ""}`, `a model`, `the tool file "tools.json"`},
		{`{"_tool": "choose", "value": 1, "when": {"a": "true"}, "_outputPath": "†state.a || †state.b"}`, `part of the language`, `the language`},
	} {
		prog, _ := compiledWith(t, targetTools, "["+c.call+"]", compile.Options{})
		x := prog.Calls[0].Target
		if x == nil {
			t.Errorf("%s: no target", c.call)
			continue
		}
		dir, _ := filepath.Abs(".")
		if got := strings.ReplaceAll(x.Words(), strconv.Quote(dir), "DIR"); got != c.words {
			t.Errorf("%s: runs %s, want %s", c.call, got, c.words)
		}
		if got := x.Origin.String(); got != c.origin {
			t.Errorf("%s: from %s, want %s", c.call, got, c.origin)
		}
	}
}
