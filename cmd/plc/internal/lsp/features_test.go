package lsp_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// about is the params of a request about a whole document.
func about(uri protocol.URI) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": uri}}
}

func TestFolding(t *testing.T) {
	c := start(t, project(t))
	for name, test := range map[string]struct{ text, want string }{
		"a.plan.json": {"[\n  {\n    \"_tool\": \"a\",\n    \"x\": [\n      1,\n      2\n    ]\n  },\n  {\"_tool\": \"b\"}\n]\n", "3-5 1-6 0-8"},
		"b.plan.json": {"/* what\n   it does */\n[\n {\"_tool\": \"a ] \\\" }\",\n  \"y\": 1\n }\n]", "0-1 comment 3-4 2-5"},
		"c.plan.json": {"[{\n\"_tool\": \"a\n}\n]]]}\n{", "0-1 0-2"}, // broken
		"d.plan.json": {"", ""},
		"e.plan.json": {"[{}]", ""},
		"tools.yaml":  {"tools:\n  a:\n    x: 1\n\n    # so\n    y: 2\n  b: {}\n\nactivities:\n  a: {return: 1}\n", "1-5 0-6 8-9"},
	} {
		uri := protocol.URI("file:///nowhere/" + name)
		language := "json"
		if filepath.Ext(name) == ".yaml" {
			language = "yaml"
		}
		c.open(uri, language, test.text)
		var ranges []protocol.FoldingRange
		c.call("textDocument/foldingRange", about(uri), &ranges)
		var got []string
		for _, r := range ranges {
			got = append(got, strings.TrimSpace(fmt.Sprintf("%d-%d %s", r.StartLine, r.EndLine, r.Kind)))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %s; want %s", name, strings.Join(got, " "), test.want)
		}
	}
}

// Names of files lead to them: of delegates' documents in plans, and of what settings and tool files
// name. What looks like a name and is none leads nowhere.
func TestDocumentLinks(t *testing.T) {
	dir := folder(t,
		"plc.yaml", "# not tools.yaml\ntools: [ \"./tools.yaml\", more.tools.yaml ]\nlock: plc.lock.json\n",
		"tools.yaml", "openapi:\n  - spec: 'pets.yaml' # and not tools.yaml\n    server: https://pets.example\n",
		"more.tools.yaml", "activities: {x: {return: pets.yml}}\n",
		"pets.yaml", petstore, "plc.lock.json", read(t, "examples/mcp/plc.lock.json"), "parts/ö part.json", `[]`)
	c := start(t, dir)
	texts := map[string]string{}
	for name, want := range map[string]string{
		"plc.yaml":        "./tools.yaml → tools.yaml, more.tools.yaml → more.tools.yaml, plc.lock.json → plc.lock.json",
		"tools.yaml":      "pets.yaml → pets.yaml",
		"more.tools.yaml": "",
	} {
		uri := c.openFile(filepath.Join(dir, name))
		texts[name] = c.texts[uri]
		if got := c.links(uri); got != want {
			t.Errorf("%s: %s; want %s", name, got, want)
		}
	}
	yaml := fileURI(filepath.Join(dir, "new.plan.yaml"))
	c.open(yaml, "yaml", "- {_tool: a, _delegate: parts/ö part.json}\n- _tool: b\n  _delegate: 'parts/ö part.json'\n")
	if got, want := c.links(yaml), `parts/ö part.json → parts/ö part.json, parts/ö part.json → parts/ö part.json`; got != want {
		t.Errorf("plan in YAML: %s; want %s", got, want)
	}
	uri := fileURI(filepath.Join(dir, "new.plan.json"))
	c.open(uri, "json", `[{"_tool": "a", "_delegate": "parts/ö part.json"}, {"_tool": "b", "_delegate": "https://pets.example/x.json"}, {"_tool": "c"}]`)
	want := `parts/ö part.json → parts/ö part.json, https://pets.example/x.json → https://pets.example/x.json`
	if got := c.links(uri); got != want {
		t.Errorf("plan: %s; want %s", got, want)
	}
}

// links returns the links of a document, as the text that they are at and what they lead to.
func (c *client) links(uri protocol.URI) string {
	c.t.Helper()
	var links []protocol.DocumentLink
	c.call("textDocument/documentLink", about(uri), &links)
	dir := string(uri[:strings.LastIndex(string(uri), "/")+1])
	var all []string
	for _, l := range links {
		at := c.texts[uri][offsetOf(c.texts[uri], l.Range.Start):offsetOf(c.texts[uri], l.Range.End)]
		target := strings.NewReplacer("%C3%B6", "ö", "%20", " ").Replace(strings.TrimPrefix(string(l.Target), dir))
		all = append(all, at+" → "+target)
	}
	return strings.Join(all, ", ")
}

// "Fix all" makes the fixes that are sure, and those that show when they are made, as plc check
// --fix does; and nothing when there are none.
func TestFixAll(t *testing.T) {
	dir := project(t)
	c := start(t, dir)
	fixAll := func(uri protocol.URI, only ...string) []protocol.CodeAction {
		params := about(uri)
		params["range"], params["context"] = protocol.Range{}, map[string]any{"diagnostics": []any{}, "only": only}
		var actions []protocol.CodeAction
		c.call("textDocument/codeAction", params, &actions)
		return slices.DeleteFunc(actions, func(a protocol.CodeAction) bool { return a.Kind != "source.fixAll.plc" })
	}
	uri := c.openFile(filepath.Join(dir, "faulty.json"))
	for _, only := range []string{"source", "source.fixAll", "source.fixAll.plc"} {
		actions := fixAll(uri, only)
		if len(actions) != 1 {
			t.Fatalf("%s: %+v", only, actions)
		}
		want := strings.NewReplacer(`"countCommit"`, `"countCommits"`, "†state.comit\"", "†state.commit\"", `"most": "†state.commit"`, `"most": "†state.commits"`).Replace(c.texts[uri])
		if got := applied(t, c.texts[uri], actions[0].Edit.Changes[uri]); got != want {
			t.Errorf("%s: %s\nwant\n%s", only, got, want)
		}
	}
	if got := fixAll(uri, "quickfix"); len(got) > 0 {
		t.Errorf("quick fixes have %+v", got)
	}
	for _, name := range []string{"plan.json", "tools.yaml"} {
		if got := fixAll(c.openFile(filepath.Join(dir, name)), "source.fixAll"); len(got) > 0 {
			t.Errorf("%s has nothing to fix: %+v", name, got)
		}
	}
	broken := fileURI(filepath.Join(dir, "broken.plan.json"))
	c.open(broken, "json", "[{\"_tool\": \"resolv\",")
	fixAll(broken, "source.fixAll") // whatever it gives, it answers
}

// What a hover says of a tool and its calls draws nothing but text, whatever they are called.
func TestHoverOfOthers(t *testing.T) {
	dir := folder(t, "plc.yaml", "tools: [tools.yaml]\n",
		"tools.yaml", "tools: {a: {description: '<img src=x> [c](command:d)'}}\nactivities: {a: {return: 1}}\n",
		"plan.json", "[{\"_tool\": \"a\", \"_id\": \"x`[y](command:z)\", \"_description\": \"**bold**\", \"_outputPath\": \"†state.x\"},\n {\"_tool\": \"a\", \"x\": \"†state.x\"}]")
	c := start(t, dir)
	uri := c.openFile(filepath.Join(dir, "plan.json"))
	for at, want := range map[protocol.Position]string{
		{Line: 0, Character: 12}: `\<img src=x\> \[c\](command:d)`,
		{Line: 1, Character: 25}: "`` x`[y](command:z) ``",
	} {
		params := about(uri)
		params["position"] = at
		var h protocol.Hover
		c.call("textDocument/hover", params, &h)
		if !strings.Contains(h.Contents.Value, want) || strings.Contains(h.Contents.Value, "\n<img") || strings.Contains(h.Contents.Value, "\n**bold") {
			t.Errorf("%v: %s", at, h.Contents.Value)
		}
	}
}
