package lsp_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// A plan in YAML is checked, and its names lead somewhere.
func TestPlanInYAML(t *testing.T) {
	dir := folder(t, "plc.yaml", "tools: [tools.yaml]\n", "tools.yaml", read(t, history+"tools.yaml"), "notes.yaml",
		"# what to do\n- _tool: resolve\n  revision: 'x'\n  _outputPath: †state.commit\n- _tool: athor\n  commit: †state.commit\n  _outputPath: †state.who\n")
	c := start(t, dir)
	uri := c.openFile(filepath.Join(dir, "notes.yaml"))
	list := c.diagnostics(uri)
	at := protocol.Range{Start: protocol.Position{Line: 4, Character: 9}, End: protocol.Position{Line: 4, Character: 14}}
	if len(list) != 1 || list[0].Code != "PLC201" || list[0].Range != at {
		t.Errorf("diagnostics %+v", list)
	}
	place := map[string]any{"textDocument": map[string]any{"uri": uri}, "position": protocol.Position{Line: 5, Character: 20}}
	var to []protocol.Location
	if c.call("textDocument/definition", place, &to); len(to) != 1 || to[0].Range.Start.Line != 3 {
		t.Errorf("the definition is at %+v", to)
	}
}

// A plan in YAML is formatted as plc fmt does it; one that is broken is not.
func TestFormatYAML(t *testing.T) {
	dir := project(t)
	c := start(t, dir)
	uri := fileURI(filepath.Join(dir, "new.plan.yaml"))
	c.open(uri, "yaml", "calls:\n- _tool:  resolve # it\n  revision: †input.x||'HEAD'\n")
	var edits []protocol.TextEdit
	c.call("textDocument/formatting", about(uri), &edits)
	if got, want := applied(t, c.texts[uri], edits), "calls:\n  - _tool: resolve # it\n    revision: †input.x || 'HEAD'\n"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	c.change(uri, "- _tool: a\n  x: \"\n")
	if err := c.try("textDocument/formatting", about(uri), nil); code(err) != protocol.RequestFailed {
		t.Errorf("a broken text: %v", err)
	}
}

// yamlHead are two calls in YAML.
const yamlHead = `- _tool: resolve
  revision: HEAD
  _outputPath: †state.commit
- _tool: countCommits
  commit: †state.commit
  _outputPath: †state.count
`

// asLines is a client that knows snippets and leaves the lines of what it puts in as they are.
const asLines = `{"capabilities": {"textDocument": {"completion": {"completionItem": {"snippetSupport": true, "insertTextModeSupport": {"valueSet": [1]}}}}}}`

func TestCompletionInYAML(t *testing.T) {
	dir := project(t)
	c, clever := start(t, dir), start(t, dir, asLines)
	uri := fileURI(filepath.Join(dir, "new.plan.yaml"))
	for _, test := range []struct {
		at    string
		first string // the line of the place when the first completion was chosen
		has   string // labels that are among the others, with spaces between
		none  string // labels that are not there
	}{
		{"- |", "- _tool: ", "_outputPath", ""},
		{"- _t|", "- _tool: ", "", ""},
		{yamlHead + "|", "- _tool: author", "subjects", "_tool"},
		{yamlHead + "- _tool: su|", "- _tool: author", "subjects", "_tool range"},
		{yamlHead + "- _tool: |", "- _tool: author", "subjects", "_tool range"},
		{yamlHead + "- _tool: subjects\n  |", "  range: ", "most _outputPath", "_tool"},
		{yamlHead + "- |\n  _tool: subjects\n  range: x", "- most: ", "_outputPath", "_tool range"},
		{yamlHead + "- _tool: subjects\n  ra|\n  most: 1\n", "  range: ", "_outputPath", "most"},
		{yamlHead + "- _tool: subjects\n  mo|: 1\n", "  range: 1", "most", ""},
		{yamlHead + "- _tool: subjects\n  range:|", "  range: †state.commit", "†state.count", ""},
		{yamlHead + "- _tool: subjects\n  range: |", "  range: †state.commit", "†state.count", ""},
		{yamlHead + "- _tool: subjects\n  range: \"|", "  range: \"†state.commit\"", "", ""},
		{yamlHead + "- _tool: subjects\n  range: '$s|'\n  most: 1\n", "  range: '†state.commit'", "", ""},
		{yamlHead + "- _tool: subjects\n  most: $s|", "  most: †state.count", "", ""},
		{yamlHead + "- _tool: subjects\n  most: t.|\n", "  most: †state.count", "", ""},
		{yamlHead + "- _tool: subjects\n  most: +| # so many\n", "  most: †state.count # so many", "", ""},
		{yamlHead + "- _tool: subjects\n  range: from †{state.|}\n", "  range: from †{state.count}", "†state.commit", ""},
		{yamlHead + "- _tool: subjects\n  range: from $s|\n", "  range: from †{state.count}", "", ""},
		{yamlHead + "- _tool: subjects\n  range: >-\n    from $s|\n    on\n", "    from †{state.count}", "", ""},
		{yamlHead + "- {_tool: subjects, range: $|}\n", "- {_tool: subjects, range: †state.commit}", "", ""},
		{yamlHead + "- {_tool: subjects, range: from $|}\n", `- {_tool: subjects, range: "from †{state.count}"}`, "", ""},
		{yamlHead + "- {_tool: subjects,\n   |, range: x}\n", "   most: , range: x}", "", "range _tool"},
		{yamlHead + "- {_tool: |\n", "- {_tool: author", "", ""},
		{yamlHead + "- _tool: subjects\n  _dependsOn: [|]\n", "  _dependsOn: [resolve]", "countCommits", "subjects"},
		{yamlHead + "- _tool: subjects\n  _dependsOn:\n  - |\n", "  - resolve", "countCommits", ""},
		{yamlHead + "- _tool: subjects\n  _dependsOn:\n    - co|\n", "    - resolve", "countCommits", ""},
		{yamlHead + "- _tool: subjects\n  _approve: |\n", "  _approve: true", "false", ""},
		{yamlHead + "- _tool: subjects\n  _retry:\n    |\n", "    delay: ", "max", "_tool"},
		{yamlHead + "- _tool: subjects\n  _onFailure: |\n", "  _onFailure: abort", "skip", ""},
		{yamlHead + "- _tool: author\n  _outputPath: |\n- _tool: author\n  commit: †state.who\n", "  _outputPath: †state.who", "†state.author", ""},
		{"calls:\n  - _tool: resolve\n    revision: x\n    _outputPath: †state.commit\noutput: |", "output: †state.commit", "", ""},
		{"calls:\n  - _tool: resolve\n    _outputPath: †state.commit\noutput:\n  x: $|", "  x: †state.commit", "", ""},
		{"calls: []\nout|", "context: ", "output", "calls"},
	} {
		items := c.completions(uri, test.at)
		got := labels(items)
		line := ""
		if len(items) > 0 {
			before, _, _ := strings.Cut(test.at, "|")
			text := applied(t, c.texts[uri], []protocol.TextEdit{*items[0].TextEdit})
			line = strings.Split(text, "\n")[strings.Count(before, "\n")]
		}
		if line != test.first {
			t.Errorf("%s\noffers %q\nand makes %q of it, not %q", strings.TrimPrefix(test.at, yamlHead), got, line, test.first)
		}
		for _, want := range strings.Fields(test.has) {
			if !strings.Contains(" "+strings.Join(got, " ")+" ", " "+want+" ") {
				t.Errorf("%s\noffers %q\nwithout %s", strings.TrimPrefix(test.at, yamlHead), got, want)
			}
		}
		for _, no := range strings.Fields(test.none) {
			if strings.Contains(" "+strings.Join(got, " ")+" ", " "+no+" ") {
				t.Errorf("%s\noffers %q\nwith %s", strings.TrimPrefix(test.at, yamlHead), got, no)
			}
		}
	}
	for at, want := range map[string]string{
		yamlHead + "|":              yamlHead + "- _tool: subjects\n  range: $1\n  most: †$2",
		yamlHead + "- _tool: su|\n": yamlHead + "- _tool: subjects\n  range: $1\n  most: †$2\n",
		yamlHead + "- {_tool: su|}": yamlHead + "- {_tool: subjects, range: $1, most: †$2}",
		"calls:\n    - _tool: |\n":  "calls:\n    - _tool: subjects\n      range: $1\n      most: †$2\n",
	} {
		for _, item := range clever.completions(uri, at) {
			if item.Label != "subjects" {
				continue
			}
			if got := applied(t, clever.texts[uri], []protocol.TextEdit{*item.TextEdit}); got != want || item.InsertTextFormat != protocol.Snippet {
				t.Errorf("%s\nbecomes\n%s\nwant\n%s", at, got, want)
			}
		}
	}
}

// A plan in YAML that is broken in one place keeps its other findings, and is completed there.
func TestBrokenYAMLKeepsItsFindings(t *testing.T) {
	dir := project(t)
	c := start(t, dir)
	uri := fileURI(filepath.Join(dir, "new.plan.yaml"))
	for _, broken := range []string{
		"  range: \"†sta\n", "  range: 'it is\n", "  range: [a, b\n", "  range: {a: 1\n", "  ran\n", "  range: a: b\n", "  range: x\n  range: y\n", "  range: &x a\n", "\trange: x\n", "  range: @x\n",
	} {
		text := yamlHead + "- _tool: subjects\n" + broken + "- _tool: athor\n  commit: †state.commit\n"
		c.at(uri, text+"|")
		found := codes(c.diagnostics(uri))
		if !strings.Contains(found, "PLC201") || found == "PLC201" {
			t.Errorf("%q: %s", broken, found)
		}
	}
}

// Names are changed in plans in YAML in every kind of scalar, or not at all.
func TestRenameInYAML(t *testing.T) {
	dir := project(t)
	c := start(t, dir)
	uri := fileURI(filepath.Join(dir, "new.plan.yaml"))
	plan := `# é𝛼
- _tool: resolve
  _id: first
  revision: HEAD
  _outputPath: †state.commit
- _tool: countCommits
  commit: "\t†state.commit"
  _outputPath: '†state.count'
  _dependsOn: ["first"]
- {_tool: subjects, range: '†{state.commit} é', most: †state.count, _dependsOn: [first]}
- _tool: subjects
  range: >-
    what †{state.commit}

    is
  most: 5
`
	for _, test := range []struct{ at, name, want string }{
		{"_id: fir", "start", strings.ReplaceAll(plan, "first", "start")},
		{`["fir`, "start", strings.ReplaceAll(plan, "first", "start")},
		{"†state.com", "hash", strings.ReplaceAll(plan, "state.commit", "state.hash")},
		{"what †{state.com", "hash", strings.ReplaceAll(plan, "state.commit", "state.hash")},
		{"'†state.cou", "n", strings.ReplaceAll(plan, "state.count", "state.n")},
		{"_id: fir", "a: b", ""},
		{"_id: fir", "true", ""},
		{"†state.com", "a b", ""},
		{"†state.com", "count", ""}, // which is another one
		{"- _tool: reso", "x", ""},
	} {
		edit, err := ask[protocol.WorkspaceEdit](c, uri, "textDocument/rename", mark(plan, test.at), map[string]any{"newName": test.name})
		got := ""
		if err == nil {
			got = applied(t, c.texts[uri], edit.Changes[uri])
		}
		if got != test.want {
			t.Errorf("%s becomes %s: %v\n%s", test.at, test.name, err, got)
		}
	}
}

// Completion in tool files and the project file knows what may stand there. Of the environment it
// has names, never values.
func TestCompletionInFiles(t *testing.T) {
	t.Setenv("PLC_TEST_NAME", "the-value-of-it")
	dir := project(t)
	c := start(t, dir)
	for _, test := range []struct{ name, at, has, none string }{
		{"tools.yaml", "|", "tools activities mcpServers policy", ""},
		{"tools.yaml", "tools:\n  a:\n    |\n", "description properties required effects", "tools"},
		{"tools.yaml", "tools:\n  a:\n    effects: {|}\n", "readOnly destructive", ""},
		{"tools.yaml", "tools:\n  a:\n    effects: {readOnly: |}\n", "true false", ""},
		{"tools.yaml", "tools: {a: {}}\nactivities:\n  |\n", "a", ""},
		{"tools.yaml", "tools: {a: {}}\nactivities:\n  a:\n    |\n", "process http mcp return timeout", "a"},
		{"tools.yaml", "tools: {a: {}}\nactivities:\n  a:\n    process:\n      |\n      stdin: none", "command output", "stdin"},
		{"tools.yaml", "tools: {a: {}}\nactivities:\n  a:\n    process: {command: [git],\n      output: |}\n", "text lines", ""},
		{"tools.yaml", "tools: {a: {}}\nactivities:\n  a:\n    process:\n      inheritEnv:\n        - PLC|\n", "PLC_TEST_NAME", ""},
		{"tools.yaml", "tools: {a: {}}\nactivities:\n  a:\n    process: {command: [git], inheritEnv: [|]}\n", "PLC_TEST_NAME", ""},
		{"tools.yaml", "mcpServers:\n  files: {command: npx}\ntools: {a: {}}\nactivities:\n  a: {mcp: {server: |}}\n", "files", ""},
		{"plc.yaml", "|", "tools mcp lock ignore policy", ""},
		{"plc.yaml", "tools: [|]", "tools.yaml", "plc.yaml"},
		{"plc.yaml", "tools: [tools.yaml]\npolicy:\n  deny:\n    - |\n", "", ""},
		{"plc.yaml", "ignore:\n  - PLC|\n", "PLC309", "PLC101"},
		{"plc.yaml", "policies: [|]", "tools.yaml", ""},
		{"order.test.yaml", "tests:\n  a:\n    expect:\n      |\n", "status calls effects", "tests"},
		{"order.test.yaml", "plan: |\ntests: {}\n", "plan.json", ""},
		{"order.test.yaml", "standIns:\n  |\ntests: {}\n", "", "tests"},
		{"order.test.yaml", "tests:\n  a: {expect: {status: |}}\n", "completed paused", ""},
		{"order.test.yaml", "settings:\n  |\n", "", "timeout"}, // which has no tests: another program's
		{"bank.policytest.yaml", "tests:\n  a:\n    |\n", "plan expect given", "tests"},
		{"bank.policytest.yaml", "tests:\n  a: {expect: {verdict: |}}\n", "allow reject", ""},
		{"other.tools.json", `{"tools": {"a": {"|"}}}`, "description properties", ""},
		{"other.tools.json", `{"activities": {"a": {"process": {"inheritEnv": ["|"]}}}}`, "PLC_TEST_NAME", ""},
	} {
		items := c.completions(fileURI(filepath.Join(dir, test.name)), test.at)
		got := " " + strings.Join(labels(items), " ") + " "
		for _, want := range strings.Fields(test.has) {
			if !strings.Contains(got, " "+want+" ") {
				t.Errorf("%s: %s\noffers %s\nwithout %s", test.name, test.at, got, want)
			}
		}
		for _, no := range strings.Fields(test.none) {
			if strings.Contains(got, " "+no+" ") {
				t.Errorf("%s: %s\noffers %s\nwith %s", test.name, test.at, got, no)
			}
		}
		if strings.Contains(string(must(items)), "the-value-of-it") {
			t.Errorf("%s: %s\noffers a value of the environment", test.name, test.at)
		}
	}
}

// Files of tests have the findings of their readers.
func TestFilesOfTests(t *testing.T) {
	dir := project(t)
	c := start(t, dir)
	for name, text := range map[string]string{
		"a.test.yaml":       "tests:\n  a: {expect: {status: done}}\n",
		"a.policytest.json": `{"tests": {"a": {"plan": [], "expect": "perhaps"}}}`,
	} {
		uri := fileURI(filepath.Join(dir, name))
		c.open(uri, "yaml", text)
		if list := c.diagnostics(uri); len(list) != 1 || !strings.Contains(list[0].Message, "is one of") {
			t.Errorf("%s: %+v", name, list)
		}
	}
	uri := fileURI(filepath.Join(dir, "other.test.yaml"))
	c.open(uri, "yaml", "name: of another program\n")
	if list := c.diagnostics(uri); len(list) > 0 {
		t.Errorf("%+v", list)
	}
}
