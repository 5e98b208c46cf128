package lsp_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// at opens a text as a document, with the place of the cursor marked by a | that is left out, and
// returns its position.
func (c *client) at(uri protocol.URI, marked string) protocol.Position {
	c.t.Helper()
	before, after, ok := strings.Cut(marked, "|")
	if !ok {
		c.t.Fatal("no | in the text")
	}
	if _, open := c.texts[uri]; open {
		c.change(uri, before+after)
	} else {
		language := "json"
		if strings.HasSuffix(string(uri), ".yaml") {
			language = "yaml"
		}
		c.open(uri, language, before+after)
	}
	line := strings.Count(before, "\n")
	return protocol.Position{Line: line, Character: len([]rune(before[strings.LastIndex(before, "\n")+1:]))}
}

// completions returns what is offered at a place, as the text is afterwards on the line.
func (c *client) completions(uri protocol.URI, marked string) []protocol.CompletionItem {
	c.t.Helper()
	pos := c.at(uri, marked)
	var list protocol.CompletionList
	c.call("textDocument/completion", map[string]any{"textDocument": map[string]any{"uri": uri}, "position": pos}, &list)
	return list.Items
}

// labels returns the labels of completions.
func labels(items []protocol.CompletionItem) []string {
	var all []string
	for _, i := range items {
		all = append(all, i.Label)
	}
	return all
}

func TestCompletion(t *testing.T) {
	dir := project(t)
	c := start(t, dir)
	uri := fileURI(filepath.Join(dir, "new.plan.json"))
	head := `[
  {"_tool": "resolve", "revision": "HEAD", "_outputPath": "†state.commit"},
  {"_tool": "countCommits", "commit": "†state.commit", "_outputPath": "†state.count"},
`
	for _, test := range []struct {
		at    string
		first []string // labels that come first
		none  []string // labels that are not there
	}{
		{head + `  {"|"}]`, []string{"_tool", "_outputPath"}, nil},
		{head + `  {"|`, []string{"_tool"}, nil},
		{head + `  {"_tool": "|"}]`, []string{"author", "countCommits", "latestTag", "resolve", "subjects"}, nil},
		{head + `  {"_tool": "subjects", "|"}]`, []string{"range", "most", "_outputPath"}, []string{"_tool"}},
		{head + `  {"_tool": "subjects", "|", "range": "x"}]`, []string{"most"}, []string{"range"}},
		{head + `  {"_tool": "subjects", "range": "|"}]`, []string{"†state.commit"}, nil},
		{head + `  {"_tool": "subjects", "most": "†|"}]`, []string{"†state.count"}, nil},
		{head + `  {"_tool": "subjects", "most": "$s|`, []string{"†state.count"}, nil},
		{head + `  {"_tool": "subjects", "most": "+|"}]`, []string{"†state.count"}, nil},
		{head + `  {"_tool": "subjects", "most": "t.|"}]`, []string{"†state.count"}, nil},
		{head + `  {"_tool": "subjects", "range": "from †{state.|}"}]`, []string{"†state.count", "†state.commit"}, nil},
		{head + `  {"_tool": "subjects", "_dependsOn": ["|"]}]`, []string{"resolve", "countCommits"}, []string{"subjects"}},
		{head + `  {"_tool": "subjects", "_onFailure": "|"}]`, []string{"abort", "skip"}, nil},
		{head + `  {"_tool": "subjects", "_retry": {"|"}}]`, []string{"delay", "factor", "jitter"}, nil},
		{head + `  {"_tool": "subjects", "_approve": |}]`, []string{"true", "false"}, nil},
		{head + `  {"_tool": "author", "_outputPath": "†|"}, {"_tool": "author", "commit": "†state.who"}]`, []string{"†state.who", "†state.author"}, nil},
		{head + `  |]`, []string{"author", "countCommits"}, nil},
		{`{"calls": [{"_tool": "resolve", "revision": "x", "_outputPath": "†state.commit"}], "output": "†|"}`, []string{"†state.commit"}, nil},
		{`{"calls": [], "|": 1}`, nil, []string{"calls"}},
	} {
		got := labels(c.completions(uri, test.at))
		for i, want := range test.first {
			if i >= len(got) || got[i] != want {
				t.Errorf("%s\noffers %q\nwant first %q", test.at[strings.LastIndex(test.at, "\n")+1:], got, test.first)
				break
			}
		}
		for _, no := range test.none {
			if strings.Contains(strings.Join(got, " ")+" ", no+" ") {
				t.Errorf("%s\noffers %q\nwith %s", test.at, got, no)
			}
		}
	}
}
