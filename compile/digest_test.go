package compile_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
)

// TestDigest changes one thing of a plan and wants to be told that one thing.
func TestDigest(t *testing.T) {
	for _, c := range []struct{ about, old, new, want string }{
		{"nothing", "", "", ``},
		{"white space and comments", "[\n", "[ // the plan\n\n", ``},
		{"the order of members", `{"x": 1, "y": "†{state.b} and †state.c"}`, `{"y": "†{state.b} and †state.c", "x": 1}`, ``},
		{"a number spelled otherwise", `"x": 1`, `"x": 10.0e-1`, `call "a": v.x was 1, is 10.0e-1`},
		{"an escape", `and †state.c`, `\u0061nd \u2020state.c`, ``},
		{"a dagger that may be left out", `†{state.b}`, `†{ †state.b }`, ``},
		{"another spelling of ||", `†state.a || 'none'`, ` †state.a <|> \"none\"`, ``},
		{"a number that a float has not", `"x": 1`, `"x": 1.0000000000000000000001`, `call "a": v.x was 1, is 1.0000000000000000000001`},
		{"text that looks like an expression", `†{state.b}`, `††{state.b}`, `call "a": v.y was "†{†state.b} and ††state.c", is "††{state.b} and ††state.c"; call "a": reads is gone, it was {"†state.b":"b"}`},
		{"a tool", `"_tool": "send"`, `"_tool": "get"`, `call "c": _tool was "send", is "get"; call "c": effects was "readOnly: false", is "readOnly: true"`},
		{"a default that is said", `"_id": "c"`, `"_id": "c", "_outputMethod": "set"`, `call "c": _outputMethod is new: "set"`},
		{"what people are told", `"_id": "c"`, `"_id": "c", "_description": "x"`, `call "c": _description is new: "x"`},
		{"a binding", `"†state.b", "_retry"`, `"†state.d", "_retry"`, `call "a": reads is gone, it was {"†state.b":"b"}; call "b": _outputPath was "†state.b", is "†state.d"; call "c": reads is gone, it was {"†state.a":"a"}`},
		{"a call more with a number", `"†input.go"}`, `"†input.go"}, {"_tool": "use", "n": 1.0}`, `call "use" is new: {"call":{"_id":"use","_tool":"use","n":1.0},"effects":"independent: true","target":"use"}`},
		{"a call more", `"†input.go"}`, `"†input.go"}, {"_tool": "use"}`, `call "use" is new: {"call":{"_id":"use","_tool":"use"},"effects":"independent: true","target":"use"}`},
	} {
		t.Run(c.about, func(t *testing.T) {
			old, changed := report.Of(diffed(t, diffBase), nil), report.Of(diffed(t, strings.Replace(diffBase, c.old, c.new, 1)), nil)
			var got []string
			for _, d := range old.Differences(changed) {
				got = append(got, d.String())
			}
			if text := strings.Join(got, "; "); text != c.want {
				t.Errorf("%s\nwant %s", text, c.want)
			}
			if same := old.Digest() == changed.Digest(); same != (c.want == "") {
				t.Errorf("same digest: %v", same)
			}
		})
	}
}

// A number that is spelled otherwise, and objects that look like its form in a manifest, differ.
func TestDigestOfNumbers(t *testing.T) {
	digests, spelled := map[string]string{}, map[string]string{}
	for _, v := range []string{`1`, `1.0`, `{"†spelled": "1.0"}`, `{"††spelled": "1.0"}`, `{"†††spelled": "1.0"}`, `[1.0]`, `{"†spelled": 1.0}`} {
		d := report.Of(diffed(t, strings.Replace(diffBase, `"x": 1`, `"x": `+v, 1)), nil).Digest()
		s := string(report.Spelled(json.RawMessage(v)))
		if digests[d] != "" || spelled[s] != "" {
			t.Errorf("%s is %s and %s", v, digests[d], spelled[s])
		}
		digests[d], spelled[s] = v, v
		shown := string(report.Manifest(`{"initial":{"data":` + s + `},"tools":` + s + `}`).Shown())
		if want := `{"initial":{"data":` + strings.ReplaceAll(v, " ", "") + `},"tools":` + s + `}`; shown != want {
			t.Errorf("%s is shown as %s, want %s", v, shown, want)
		}
	}
	if got := string(report.Spelled(json.RawMessage(`{"\u2020spelled": "1.0"}`))); got != `{"††spelled":"1.0"}` {
		t.Errorf("an escaped name is %s", got)
	}
}

// What undoes a call, or its fallback, is bound as what the call runs.
func TestDigestOfUndoing(t *testing.T) {
	manifest := func(plan, effects, source string) (report.Manifest, []string) {
		var tools []*tool.Tool
		for name, text := range map[string]string{"do": `{"effects": {"readOnly": false}}`, "back": `{"effects": ` + effects + `}`} {
			def, _ := tool.ParseDefinition(json.RawMessage(text), name, diag.Loc{})
			tools = append(tools, &tool.Tool{Definition: def, Source: map[string]string{"back": source}[name]})
		}
		doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
		prog, findings := compile.Compile(doc, &compile.Options{Catalogue: tool.NewCatalogue(tools...)})
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, x := range prog.Targets() {
			names = append(names, x.Tool.Definition.Name)
		}
		return report.Of(prog, nil), names
	}
	for _, plan := range []string{
		`[{"_tool": "do", "_undo": {"tool": "back"}}]`,
		`[{"_tool": "do", "_fallback": {"_tool": "do", "_undo": {"tool": "back"}}}]`,
	} {
		shown, names := manifest(plan, `{"readOnly": false}`, "mcp:bank")
		now, _ := manifest(plan, `{"destructive": true}`, "mcp:bank")
		if names[len(names)-1] != "back" || shown.Digest() == now.Digest() {
			t.Errorf("%s: the targets are %v", plan, names)
		}
		if d := shown.Differences(now); len(d) == 0 || !strings.Contains(d[0].String(), "back") {
			t.Errorf("%s: %v", plan, d)
		}
	}
}

// What a run takes from elsewhere is bound as well, and tools and the whiteboard are.
func TestDigestOfTheRest(t *testing.T) {
	manifest := func(tools, state, flag string) report.Manifest {
		doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(`[{"_tool": "t", "_outputPath": "†state.x"}]`)), nil)
		f, _ := file.Read(diag.NewFile("tools.json", []byte(tools)))
		f.Secrets = &file.Secrets{LookupEnv: func(string) (string, bool) { return "never in a manifest", true }}
		cat, _, findings := file.Catalogue(f)
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		opts := compile.Options{Catalogue: cat}
		opts.Values = map[string]compile.Given{"state": {JSON: json.RawMessage(state)}}
		prog, _ := compile.Compile(doc, &opts)
		m := report.Of(prog, map[string]json.RawMessage{"flags": json.RawMessage(`{"effects":` + flag + `}`)})
		if strings.Contains(string(m), "never") {
			t.Errorf("a secret: %s", m)
		}
		return m
	}
	const tools = `{"tools": {"t": {"description": "d", "properties": {"a": {"type": "string"}}}}, "activities": {"t": {"http": {"url": "https://a.example/x", "headers": {"X": {"env": "HOME"}}}, "timeout": "3s"}}, "limits": {"t": {"parallel": 2}}}`
	base := manifest(tools, `{"n": 1}`, `"declared"`)
	for _, c := range []struct {
		is   report.Manifest
		want string
	}{
		{manifest(strings.ReplaceAll(tools, " ", "\n"), `{"n": 1}`, `"declared"`), ``},
		{manifest(tools, `{"n": 1.0}`, `"declared"`), `state: n was 1, is 1.0`},
		{manifest(tools, `{"n": 2}`, `"declared"`), `state: n was 1, is 2`},
		{manifest(tools, `{"n": 1}`, `"none"`), `--effects was "declared", is "none"`},
		{manifest(strings.Replace(tools, `"a"`, `"b"`, 1), `{"n": 1}`, `"declared"`), `tool "t": definition.properties.a is gone, it was {"type":"string"}`},
		{manifest(strings.Replace(tools, `a.example`, `b.example`, 1), `{"n": 1}`, `"declared"`), `activity "t": http.url was "https://a.example/x", is "https://b.example/x"`},
		{manifest(strings.Replace(tools, `"HOME"`, `"PATH"`, 1), `{"n": 1}`, `"declared"`), `activity "t": http.headers.X.env was "HOME", is "PATH"`},
		{manifest(strings.Replace(tools, `3s`, `4s`, 1), `{"n": 1}`, `"declared"`), `activity "t": timeout was "3s", is "4s"`},
		{manifest(strings.Replace(tools, `"parallel": 2`, `"parallel": 3`, 1), `{"n": 1}`, `"declared"`), `tool "t": limits was "parallel 2, perSecond 0", is "parallel 3, perSecond 0"`},
	} {
		got := ""
		if d := base.Differences(c.is); len(d) > 0 {
			got = d[0].String()
		}
		if got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// What a program gives is as strict as what a document holds.
func TestGivenIsJSON(t *testing.T) {
	for _, text := range []string{`{"n":{"a":1,"a":2}}`, `{"a":`, "{\"a\":\"\xff\"}", `{} {}`} {
		doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(`[{"_tool":"e","v":"†input.n"}]`)), nil)
		_, findings := compile.Compile(doc, &compile.Options{Catalogue: catalogue(t), Run: true, Values: map[string]compile.Given{"input": {JSON: json.RawMessage(text)}}})
		if !slices.ContainsFunc(findings, func(f diag.Finding) bool { return f.Code == diag.BadInput && f.Severity == diag.Error }) {
			t.Errorf("%s: %v", text, findings.Err())
		}
	}
}
