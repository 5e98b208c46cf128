package compile_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

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

// The members that a tool fixes or limits also hold for calls that pick its activity, and for calls
// that have it as their fallback.
func TestFixedHoldsForBorrowedWork(t *testing.T) {
	const tools = `{
		"tools": {
			"broken": {"effects": {"readOnly": true}},
			"timed": {"properties": {"_timeout": {"const": "2s"}}, "effects": {"readOnly": true}},
			"guarded": {"properties": {"_when": {"const": "†input.allowed"}, "_timeout": {"const": "2s"}}, "effects": {"readOnly": false}},
			"alike": {"properties": {"_when": {"const": "†input.allowed"}, "_timeout": {"const": "2s"}}, "effects": {"readOnly": false}},
			"limited": {"properties": {"_onFailure": {"enum": ["abort", "ask"]}, "_expect": {"const": "a number"}}, "effects": {"readOnly": true}},
			"reasoned": {"properties": {"_reasoningForCall": {"type": "string"}}, "required": ["_reasoningForCall"], "effects": {"readOnly": true}}
		},
		"activities": {"broken": {"return": 1}, "timed": {"return": 1}, "guarded": {"return": 1}, "alike": {"return": 1}, "limited": {"return": 1}, "reasoned": {"return": 1}}
	}`
	const allowed = `"_when": "†input.allowed"`
	for call, want := range map[string][]string{
		`"_fallback": "guarded"`:                                              {`the tool "guarded" fixes _when to "†input.allowed"`},
		allowed + `, "_fallback": "guarded"`:                                  nil,
		allowed + `, "_fallback": {"_tool": "guarded", "_timeout": "1h"}`:     {`the tool "guarded" does not allow this _timeout`},
		`"_when": "†input.other", "_fallback": "guarded"`:                     {`the tool "guarded" does not allow this _when`},
		`"_fallback": "timed"`:                                                nil,
		`"_fallback": {"_tool": "broken", "_activity": "guarded"}`:            {`the tool "guarded" fixes _when to`},
		`"_activity": "guarded"`:                                              {`fixes _timeout to "2s"`, `fixes _when to`},
		`"_activity": "guarded", "_timeout": "3s", "_when": "†input.allowed"`: {`does not allow this _timeout`},
		`"_activity": "guarded", "_timeout": "2s", "_when": "†input.allowed"`: nil,
		`"_activity": "limited", "_onFailure": "skip", "_expect": "a number"`: {`does not allow this _onFailure`},
		`"_activity": "limited", "_expect": "a number"`:                       nil,
		`"_fallback": "limited", "_expect": "a number", "_onFailure": "skip"`: {`does not allow this _onFailure`},
		`"_activity": "reasoned"`:                                             {`requires calls to set _reasoningForCall`},
		`"_fallback": "reasoned"`:                                             nil,
	} {
		_, findings := compiledWith(t, tools, `[{"type": "input", "input": {"allowed": true, "other": true}}, {"type": "plan", "plan": [{"_tool": "broken", `+call+`}]}]`, compile.Options{})
		checkMessages(t, call, findings, want)
	}
	prog, findings := compiledWith(t, tools, `[{"type": "input", "input": {"allowed": true}}, {"type": "plan", "plan": [{"_tool": "alike", "_activity": "guarded"}, {"_tool": "broken", "_fallback": "timed"}]}]`, compile.Options{})
	checkMessages(t, "a tool that fixes the same", findings, nil)
	if got := prog.Calls[1].Fallback.Timeout; got != 2*time.Second {
		t.Errorf("the fallback has the timeout %s, want that of its tool, 2s", got)
	}
}

// checkMessages wants an error with each of these texts, and no other.
func checkMessages(t *testing.T, name string, findings diag.List, want []string) {
	t.Helper()
	var got []string
	for _, f := range findings {
		if f.Severity == diag.Error {
			got = append(got, f.Message)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d errors, want %d: %q", name, len(got), len(want), got)
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("%s: got %q, want %q", name, got[i], want[i])
		}
	}
}
