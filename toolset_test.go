package plc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile/report"
)

// A plan makes the definitions of the operations that it uses and of no others, and only their
// faults are faults of the plan. The digest of a plan changes with the document.
func TestOperationsArePreparedWhenUsed(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	service := func(about string) string {
		var paths []string
		for i := range 20 {
			minimum := "0"
			if i == 7 {
				minimum = `"many"`
			}
			paths = append(paths, fmt.Sprintf(`"/a%d":{"get":{"operationId":"get%d","description":%q,"parameters":[{"name":"n","in":"query","schema":{"type":"integer","minimum":%s}}]}}`, i, i, about, minimum))
		}
		return `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://a.example"}],"paths":{` + strings.Join(paths, ",") + `}}`
	}
	check := func(tool string) *Plan {
		t.Helper()
		p, err := New(Config{}).Check(t.Context(), Spec{
			Plan:    Source{Name: "plan", Text: `[{"_tool":"` + tool + `","n":3,"_outputPath":"†state.x"}]`},
			Toolset: Toolset{Files: []Source{File(filepath.Join(dir, "tools.json"))}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	write("tools.json", `{"openapi":[{"spec":`+fmt.Sprintf("%q", write("service.json", service("one")))+`}]}`)
	var digests []string
	for _, tool := range []string{"get3", "GET /a3"} {
		p := check(tool)
		if err := p.Err(); err != nil {
			t.Fatal(err)
		}
		made := 0
		for o := range p.Checker().Catalogue.Listed() {
			if o.Later != nil && o.Later.Done() {
				made++
			}
		}
		if made != 1 {
			t.Errorf("%s: %d definitions are made", tool, made)
		}
		digests = append(digests, report.Digest(p.Program, nil))
	}
	if err := check("get7").Err(); err == nil || !strings.Contains(err.Error(), "minimum is a number") {
		t.Errorf("the fault of an operation that is used: %v", err)
	}
	write("service.json", service("other"))
	if report.Digest(check("get3").Program, nil) == digests[0] {
		t.Error("the digest is the same for another document")
	}
}
