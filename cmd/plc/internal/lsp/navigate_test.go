package lsp_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

const linked = `[
  {"_tool": "resolve", "_id": "first", "revision": "HEAD", "_outputPath": "†state.commit"},
  {"_tool": "countCommits", "commit": "†state.commit", "_outputPath": "†state.n", "_dependsOn": ["first"]},
  {"_tool": "subjects", "range": "𝛼 †{state.commit} ö", "most": "†state.n", "_outputPath": "†state.commit2"}
]`

// ask makes a request about the place that is marked by a | in a text.
func ask[R any](c *client, uri protocol.URI, method, marked string, more map[string]any) (R, error) {
	c.t.Helper()
	params := map[string]any{"textDocument": map[string]any{"uri": uri}, "position": c.at(uri, marked)}
	for k, v := range more {
		params[k] = v
	}
	var r R
	return r, c.try(method, params, &r)
}

func mark(text, before string) string { return strings.Replace(text, before, before+"|", 1) }

// lines returns the lines of locations, from 1, with the names of their files.
func places(l []protocol.Location) string {
	var all []string
	for _, at := range l {
		all = append(all, filepath.Base(string(at.URI))+":"+string(must(at.Range.Start.Line+1)))
	}
	return strings.Join(all, " ")
}

func must(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

func TestNavigation(t *testing.T) {
	dir := project(t)
	c := start(t, dir, `{"capabilities": {"general": {"positionEncodings": ["utf-32"]}}}`)
	uri := fileURI(filepath.Join(dir, "new.plan.json"))
	write(t, filepath.Join(dir, "other.json"), `[{"_tool": "subjects", "range": "a", "most": 1, "_outputPath": "†state.x"}]`)

	for marked, want := range map[string]string{
		mark(linked, `"commit": "†state.com`):           "new.plan.json:2",
		mark(linked, `†{state.com`):                     "new.plan.json:2",
		mark(linked, `"_tool": "countC`):                "tools.yaml:17",
		mark(linked, `"_dependsOn": ["fi`):              "new.plan.json:2",
		mark(linked, `"_outputPath": "†state.commit2"`): "",
	} {
		got, err := ask[[]protocol.Location](c, uri, "textDocument/definition", marked, nil)
		if err != nil || places(got) != want {
			t.Errorf("definition: %s, %v; want %s", places(got), err, want)
		}
	}
	declared := map[string]any{"context": map[string]any{"includeDeclaration": true}}
	for marked, want := range map[string]string{
		mark(linked, `"_outputPath": "†state.com`): "new.plan.json:2 new.plan.json:3 new.plan.json:4",
		mark(linked, `"_id": "fi`):                 "new.plan.json:2 new.plan.json:3",
		mark(linked, `"_tool": "subj`):             "tools.yaml:30 new.plan.json:4 faulty.json:4 other.json:1 plan.json:12 plan.json:19",
	} {
		got, err := ask[[]protocol.Location](c, uri, "textDocument/references", marked, declared)
		if err != nil || places(got) != want {
			t.Errorf("references: %s, %v; want %s", places(got), err, want)
		}
	}
	h, err := ask[protocol.Hover](c, uri, "textDocument/hover", mark(linked, `"commit": "†state.com`), nil)
	if err != nil || !strings.Contains(h.Contents.Value, "†state.commit: string") || !strings.Contains(h.Contents.Value, "written by `first`, line 2") {
		t.Errorf("hover: %+v, %v", h, err)
	}
	h, err = ask[protocol.Hover](c, uri, "textDocument/hover", mark(linked, `"_tool": "countC`), nil)
	if err != nil || !strings.Contains(h.Contents.Value, "countCommits(commit: string)") || !strings.Contains(h.Contents.Value, "waits for `first`") {
		t.Errorf("hover: %+v, %v", h, err)
	}
}

// A delegate leads to its document and back, from plans in both notations.
func TestDelegatesAcrossFiles(t *testing.T) {
	dir := folder(t, "plc.yaml", "tools: [tools.yaml]\n", "tools.yaml", read(t, history+"tools.yaml"),
		"parts/part.json", `[{"_tool": "resolve", "revision": "HEAD", "_outputPath": "†state.x"}]`,
		"other.plan.yaml", "- _tool: far\n  _delegate: ./parts/part.json\n  _outputPath: †state.y\n")
	c := start(t, dir)
	for name, text := range map[string]string{
		"a.plan.json": `[{"_tool": "near", "_delegate": "parts/pa|rt.json", "_outputPath": "†state.y"}]`,
		"a.plan.yaml": "- _tool: near\n  _delegate: parts/pa|rt.json\n  _outputPath: †state.y\n",
	} {
		uri := fileURI(filepath.Join(dir, name))
		got, err := ask[[]protocol.Location](c, uri, "textDocument/definition", text, nil)
		if err != nil || places(got) != "part.json:1" {
			t.Errorf("%s: definition %s, %v", name, places(got), err)
		}
		got, err = ask[[]protocol.Location](c, uri, "textDocument/references", text, map[string]any{"context": map[string]any{}})
		if err != nil || !strings.Contains(places(got), "other.plan.yaml:2") || !strings.Contains(places(got), name) {
			t.Errorf("%s: references %s, %v", name, places(got), err)
		}
	}
}

// Hover tells the labels that a policy gives to values, and what a param has to be.
func TestHoverHasLabels(t *testing.T) {
	dir := folder(t, "plc.yaml", "tools: [tools.yaml]\n", "tools.yaml", `tools:
  read: {properties: {file: {type: string}}, effects: {openWorld: false}}
  pay: {properties: {iban: {type: string}}, effects: {openWorld: false}}
activities: {read: {return: a}, pay: {return: b}}
flow:
  given: {input: {trust: user, secrecy: internal}}
  tools:
    read: {gives: {trust: untrusted}}
    pay: {takes: {iban: {trust: user}}}
`)
	c := start(t, dir)
	uri := fileURI(filepath.Join(dir, "new.plan.json"))
	const plan = `[
  {"_tool": "read", "file": "bill.txt", "_outputPath": "†state.bill"},
  {"_tool": "pay", "iban": "†state.bill"},
  {"_tool": "pay", "iban": "†input.iban"}
]`
	for at, want := range map[string]string{
		`"_outputPath": "†state.b`:        "label by the policy of the tool files: untrusted, secret, from read (untrusted, secret); the plan (user, public)",
		`"_tool": "re`:                    "label by the policy of the tool files: untrusted, secret, from read",
		`"iban": "†state.b`:               "label by the policy of the tool files: untrusted, secret, from read",
		`"iban": "†input.ib`:              "label by the policy of the tool files: user, internal, from †input (user, internal)",
		"{\"_tool\": \"pay\", \"ib":       "forbidden by the policy of the tool files: may be untrusted, secret, and has to be at least user",
		"\n  {\"_tool\": \"pay\", \"iban": "forbidden by the policy",
	} {
		h, err := ask[protocol.Hover](c, uri, "textDocument/hover", mark(plan, at), nil)
		if err != nil || !strings.Contains(h.Contents.Value, want) {
			t.Errorf("%s: %v\n%s\nwithout %s", at, err, h.Contents.Value, want)
		}
	}
	h, err := ask[protocol.Hover](c, uri, "textDocument/hover", mark(strings.Replace(plan, "pay", "pey", 1), `"iban": "†state.b`), nil)
	if err != nil || strings.Contains(h.Contents.Value, "label") {
		t.Errorf("of a plan with other errors: %v, %s", err, h.Contents.Value)
	}
}

func TestRename(t *testing.T) {
	dir := project(t)
	c := start(t, dir)
	uri := fileURI(filepath.Join(dir, "new.plan.json"))
	for _, test := range []struct{ marked, name, want string }{
		{mark(linked, `"commit": "†state.com`), "hash", strings.NewReplacer("state.commit2", "state.commit2", "state.commit", "state.hash").Replace(linked)},
		{mark(linked, `"commit": "†state.com`), `odd "name`, strings.NewReplacer("state.commit2", "state.commit2", "state.commit", `state[\"odd \\\"name\"]`).Replace(linked)},
		{mark(linked, `"_dependsOn": ["fi`), "start", strings.ReplaceAll(linked, `"first"`, `"start"`)},
		{mark(linked, `"most": "†sta`), "x", ""},
		{mark(linked, `"_tool": "countC`), "x", ""},
		{mark(linked, `"commit": "†state.com`), "commit2", ""}, // which is another one
	} {
		edit, err := ask[protocol.WorkspaceEdit](c, uri, "textDocument/rename", test.marked, map[string]any{"newName": test.name})
		got := ""
		if err == nil {
			got = applied(t, c.texts[uri], edit.Changes[uri])
		}
		if got != test.want {
			t.Errorf("rename to %s: %v\n%s\nwant\n%s", test.name, err, got, test.want)
		}
	}
}

// applied makes edits of a text, as a client that counts UTF-16 does.
func applied(t testing.TB, text string, edits []protocol.TextEdit) string {
	t.Helper()
	for i := len(edits) - 1; i >= 0; i-- {
		for j := range i { // they come in the order of the text
			if a, b := edits[j].Range.Start, edits[i].Range.Start; a.Line > b.Line || a.Line == b.Line && a.Character > b.Character {
				edits[i], edits[j] = edits[j], edits[i]
			}
		}
	}
	for i := len(edits) - 1; i >= 0; i-- {
		from, to := offsetOf(text, edits[i].Range.Start), offsetOf(text, edits[i].Range.End)
		text = text[:from] + edits[i].NewText + text[to:]
	}
	return text
}

// offsetOf is the offset of a position in UTF-16, found in the plainest way.
func offsetOf(text string, p protocol.Position) int {
	line, character := 0, 0
	for i := 0; i < len(text); {
		if line == p.Line && character >= p.Character {
			return i
		}
		r := []rune(text[i:min(len(text), i+4)])[0]
		size := len(string(r))
		switch {
		case r == '\n' && line == p.Line:
			return i
		case r == '\n':
			line, character = line+1, 0
		case r > 0xFFFF:
			character += 2
		default:
			character++
		}
		i += size
	}
	return len(text)
}

func TestHintsLensesAndCommands(t *testing.T) {
	dir := project(t)
	c := start(t, dir)
	uri := fileURI(filepath.Join(dir, "new.plan.json"))
	c.open(uri, "json", linked)
	var hints []protocol.InlayHint
	c.call("textDocument/inlayHint", map[string]any{"textDocument": map[string]any{"uri": uri}, "range": protocol.Range{End: protocol.Position{Line: 2, Character: 200}}}, &hints)
	if len(hints) != 3 || hints[0].Label != ": string /^[0-9a-f]+$/" || hints[2].Label != ": integer >= 1" {
		t.Errorf("hints %+v", hints)
	}
	var lenses []protocol.CodeLens
	c.call("textDocument/codeLens", map[string]any{"textDocument": map[string]any{"uri": uri}}, &lenses)
	var titles []string
	for _, l := range lenses {
		titles = append(titles, l.Command.Title)
	}
	if got := strings.Join(titles, ", "); got != "preview, graph, only reads, waits for first · only reads, waits for countCommits, first · only reads" {
		t.Errorf("lenses %s", got)
	}
	var out string
	c.call("workspace/executeCommand", map[string]any{"command": "plc.graph", "arguments": []any{uri}}, &out)
	if !strings.Contains(out, "<svg") {
		t.Errorf("graph %.100s", out)
	}
	c.call("workspace/executeCommand", map[string]any{"command": "plc.preview", "arguments": []any{uri}}, &out)
	if !strings.Contains(out, "| first | resolve | completed | only reads |") {
		t.Errorf("preview %s", out)
	}
	var links []protocol.DocumentLink
	c.call("textDocument/documentLink", map[string]any{"textDocument": map[string]any{"uri": c.openFile(filepath.Join(dir, "plc.yaml"))}}, &links)
	if len(links) != 1 || links[0].Target != fileURI(filepath.Join(dir, "tools.yaml")) {
		t.Errorf("links %+v", links)
	}
}
