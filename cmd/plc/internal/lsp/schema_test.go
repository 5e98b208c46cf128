package lsp

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool/file"
)

// The schemas have the members that the readers know, and no others.
func TestSchemasAreTheReaders(t *testing.T) {
	it := regexp.MustCompile(`has no member "zzz[^"]*"; it has (.*)`)
	for _, path := range []string{
		"", "activities/x", "activities/x/process", "activities/x/http", "activities/x/mcp", "activities/x/openapi",
		"activities/x/breaker", "activities/x/fail", "policy", "models/m", "models/m/prices", "mcpServers/s", "limits/x", "openapi/#", "flow", "flow/plan", "flow/tools/x", "flow/tools/x/takes/y", "project", "project/policy",
	} {
		schema, rest := toolSchema(), path
		read := func(src *diag.File) diag.List {
			f, found := file.Read(src)
			_, more := file.Flow([]*file.File{f})
			return append(found, more...)
		}
		if p, ok := strings.CutPrefix(path, "project"); ok {
			schema, rest = projectSchema(), strings.TrimPrefix(p, "/")
			read = func(f *diag.File) diag.List { _, l := file.ReadProject(f); return l }
		}
		text, steps := `{"zzzzzzzzzzzzzzzz": 1}`, []any{}
		if rest != "" {
			names := strings.Split(rest, "/")
			for _, name := range slices.Backward(names) {
				if text = fmt.Sprintf("{%q: %s}", name, text); name == "#" {
					text = "[" + text[6:len(text)-1] + "]"
				}
			}
			for _, name := range names {
				if steps = append(steps, name); name == "#" {
					steps[len(steps)-1] = 0
				}
			}
		}
		var want []string
		for _, f := range read(diag.NewFile("x.json", []byte(text))) {
			if m := it.FindStringSubmatch(f.Message); m != nil {
				want = strings.Split(strings.ReplaceAll(m[1], " and ", ", "), ", ")
			}
		}
		if got := schema.at(steps).names(); !slices.Equal(got, want) {
			t.Errorf("%s: the schema has %q, and the reader %q", path, got, want)
		}
	}
}

// The schema of a call has the underscore members of the language, and no others.
func TestCallSchemaIsTheLanguage(t *testing.T) {
	has := func(name string) bool {
		_, found := lang.Parse(diag.NewFile("x.json", []byte(fmt.Sprintf(`[{"_tool": "x", %q: "0s"}]`, name))), nil)
		return !slices.ContainsFunc(found, func(f diag.Finding) bool { return f.Code == diag.UnknownMember })
	}
	for _, name := range callMembers() {
		if name != "_tool" && !has(name) {
			t.Errorf("the language has no %s", name)
		}
	}
	if has("_nothing") {
		t.Error("every member is known")
	}
	for code := diag.Code(200); code < 300; code++ { // members that the pages of findings use
		page, _ := diag.Explain(code)
		for _, name := range regexp.MustCompile(`_[a-z][A-Za-z]+`).FindAllString(page.Meaning+page.Cure, -1) {
			if has(name) && !slices.Contains(callMembers(), name) && name != "_outcomes" {
				t.Errorf("the schema has no %s", name)
			}
		}
	}
	if n := len(callMembers()); n != 24 {
		t.Errorf("%d members; the language has 24 (plan-language §2)", n)
	}
}
