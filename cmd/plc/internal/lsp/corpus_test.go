package lsp_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/diag"
)

// checker is what plc check checks plans in a folder with.
func checker(t *testing.T, dir string, tools ...string) *plc.Checker {
	t.Helper()
	eng := plc.New(plc.Config{})
	t.Cleanup(func() { _ = eng.Close() })
	var spec plc.Spec
	for _, tool := range tools {
		spec.Toolset.Files = append(spec.Toolset.Files, plc.File(filepath.Join(dir, tool)))
	}
	c, err := eng.Checker(context.Background(), spec, plc.ToCheck)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checked is what plc check finds in a file, as lines that can be compared with diagnostics.
func checked(c *plc.Checker, dir, name, text string) (lines []string) {
	plan := c.CheckFile(diag.NewFile(filepath.Join(dir, name), []byte(text)), filepath.Join(dir, name))
	for i := range plan.Findings {
		f := plan.Findings[i].Origin()
		if f.Loc.File == nil || f.Loc.File.Name != filepath.Join(dir, name) {
			continue
		}
		from, to := f.Loc.File.Position(int(f.Loc.Span.Start)), f.Loc.File.Position(int(f.Loc.Span.End))
		lines = append(lines, fmt.Sprintf("%d:%d-%d:%d %d %s %s", from.Line, from.Column, to.Line, to.Column, f.Severity+1, f.Code, f.Message))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// shown is the diagnostics of a document as such lines. The client counts code points.
func shown(list []protocol.Diagnostic) (lines []string) {
	for _, d := range list {
		r := d.Range
		lines = append(lines, fmt.Sprintf("%d:%d-%d:%d %d %s %s", r.Start.Line+1, r.Start.Character+1, r.End.Line+1, r.End.Character+1, d.Severity, d.Code, d.Message))
	}
	slices.Sort(lines)
	return lines
}

// documents returns the plans of testdata/check, by the place that they begin at.
func documents(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../../../testdata/check/*.jsonc")
	if err != nil || len(names) == 0 {
		t.Fatal("no cases", err)
	}
	cases := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split("\n"+string(text), "\n// case: ")[1:] {
			_, body, _ := strings.Cut(part, "\n")
			cases[fmt.Sprintf("%s:%d", filepath.Base(name), i+1)] = body
		}
	}
	return cases
}

const codePoints = `{"capabilities": {"general": {"positionEncodings": ["utf-32"]}}}`

// What the server says of each plan of testdata/check is what plc check says, with the same
// places. Of a text that is no JSON it may say more.
func TestCorpusIsAsChecked(t *testing.T) {
	dir := folder(t, "plc.yaml", "tools: [tools.yaml, types.tools.yaml]\n",
		"tools.yaml", read(t, "testdata/check/tools.yaml"), "types.tools.yaml", read(t, "testdata/check/types.tools.yaml"))
	check := checker(t, dir, "tools.yaml", "types.tools.yaml")
	c := start(t, dir, codePoints)
	uri := fileURI(filepath.Join(dir, "case.plan.json"))
	c.open(uri, "json", "[]")
	n := 0
	for name, text := range documents(t) {
		if len(text) > 1<<20 {
			continue
		}
		c.change(uri, text)
		got, want := shown(c.diagnostics(uri)), checked(check, dir, "case.plan.json", text)
		if strings.Contains(strings.Join(want, "\n"), "PLC101") {
			got = slices.DeleteFunc(got, func(line string) bool { return !slices.Contains(want, line) })
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\ngot  %s\nwant %s", name, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
		}
		n++
	}
	t.Logf("%d plans", n)
}

// Each fix of each plan of testdata/check is a code action that makes of the text what the fix makes
// of it. Those that plc check --fix makes are preferred.
func TestFixesOfCorpusAreActions(t *testing.T) {
	dir := folder(t, "plc.yaml", "tools: [tools.yaml, types.tools.yaml]\n",
		"tools.yaml", read(t, "testdata/check/tools.yaml"), "types.tools.yaml", read(t, "testdata/check/types.tools.yaml"))
	check := checker(t, dir, "tools.yaml", "types.tools.yaml")
	c := start(t, dir)
	uri := fileURI(filepath.Join(dir, "case.plan.json"))
	c.open(uri, "json", "[]")
	n := 0
	for name, text := range documents(t) {
		if len(text) > 1<<20 {
			continue
		}
		var want, sure []string
		plan := check.CheckFile(diag.NewFile(filepath.Join(dir, "case.plan.json"), []byte(text)), filepath.Join(dir, "case.plan.json"))
		fixed := func(f diag.Finding) string {
			after, err := diag.ApplyFixes([]byte(text), []*diag.Fix{f.Fix})
			if err != nil {
				t.Fatal(name, err)
			}
			return string(after)
		}
		for _, f := range plan.Fixes() {
			sure = append(sure, fixed(f))
		}
		for _, f := range plan.Findings {
			if f = f.Origin(); f.Fix != nil && !f.Sure() {
				want = append(want, fixed(f))
			}
		}
		want = append(want, sure...)
		c.change(uri, text)
		params := about(uri)
		params["range"] = protocol.Range{End: protocol.Position{Line: 1 << 20}}
		params["context"] = map[string]any{"only": []string{"quickfix"}}
		var actions []protocol.CodeAction
		c.call("textDocument/codeAction", params, &actions)
		var got []string
		for _, a := range actions {
			got = append(got, applied(t, text, a.Edit.Changes[uri]))
			if a.IsPreferred != slices.Contains(sure, got[len(got)-1]) {
				t.Errorf("%s: %q is preferred: %v", name, a.Title, a.IsPreferred)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if n += len(got); !slices.Equal(got, want) {
			t.Errorf("%s: %d actions make\n%s\nand %d fixes\n%s", name, len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
		}
	}
	t.Logf("%d fixes", n)
}

// The example of each code that a check of one plan finds has that code in the editor, and each of
// its fixes, made as a code action, mends it.
func TestExamplesOfCodes(t *testing.T) {
	examples, fixes := 0, 0
	for code := diag.Code(100); code < 1000; code++ {
		page, ok := diag.Explain(code)
		if !ok || len(page.Files) == 0 || len(page.Args) < 2 || page.Args[0] != "check" || filepath.Ext(page.Args[1]) != ".json" {
			continue
		}
		project, usual := "", true
		for i := 2; i < len(page.Args); i++ {
			if page.Args[i] == "--tools" && i+1 < len(page.Args) {
				i++
				project += "tools: [" + page.Args[i] + "]\n"
			} else if page.Args[i] == "--strict" {
				project += "strict: true\n"
			} else {
				usual = false // a flag that editors have no setting for
			}
		}
		if !usual {
			continue
		}
		var files []string
		if project != "" {
			files = []string{"plc.yaml", project}
		}
		for _, f := range page.Files {
			files = append(files, f.Name, f.Text)
		}
		dir := folder(t, files...)
		c := start(t, dir)
		uri := c.openFile(filepath.Join(dir, page.Args[1]))
		list := c.until(uri, func(p *protocol.PublishDiagnosticsParams) bool { return p.Version != nil })
		if !strings.Contains(c.allCodes(), code.String()) {
			t.Errorf("%s: the editor shows %s", code, c.allCodes())
			continue
		}
		examples++
		for _, d := range list {
			var actions []protocol.CodeAction
			c.call("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": uri}, "range": d.Range, "context": map[string]any{"only": []string{"quickfix"}}}, &actions)
			for _, a := range actions {
				if len(a.Diagnostics) != 1 || a.Diagnostics[0].Code != d.Code || a.Diagnostics[0].Message != d.Message {
					continue
				}
				old := c.texts[uri]
				c.change(uri, applied(t, old, a.Edit.Changes[uri]))
				for _, still := range c.diagnostics(uri) {
					if still.Message == d.Message && still.Range == d.Range {
						t.Errorf("%s: %q does not mend %s", code, a.Title, d.Message)
					}
				}
				c.change(uri, old)
				c.diagnostics(uri)
				fixes++
			}
		}
	}
	t.Logf("%d examples, %d fixes", examples, fixes)
	if examples < 40 || fixes < 5 {
		t.Error("that is too few: what is tested has changed its form")
	}
}

// allCodes returns the codes that were published, of all documents.
func (c *client) allCodes() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for _, p := range c.published {
		all = append(all, codes(p.Diagnostics))
	}
	return strings.Join(all, " ")
}

// A document may be called anything.
func TestOddNames(t *testing.T) {
	dir := project(t)
	c := start(t, dir)
	name := filepath.Join(dir, "ünï %41#?.plan.json")
	uri := protocol.URI((&url.URL{Scheme: "file", Path: name}).String())
	c.open(uri, "json", `[{"_tool": "nothing"}]`)
	if got := codes(c.diagnostics(uri)); got != "PLC201" {
		t.Error(got)
	}
	c.open("untitled:Untitled-1", "plc", `[{"_tool": "nothing"}]`)
	if got := codes(c.diagnostics("untitled:Untitled-1")); got != "PLC201" {
		t.Error(got)
	}
}
