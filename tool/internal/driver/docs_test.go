package driver_test

import (
	"os"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/file"
)

// Every tool file in docs/tools.md is one, and each of its activities can be made.
func TestToolFilesInTheDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```yaml\n")[1:]
	if len(blocks) < 4 {
		t.Fatalf("only %d examples", len(blocks))
	}
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		f, findings := file.Read(diag.NewFile("tools.yaml", []byte(text)))
		f.Secrets = &file.Secrets{LookupEnv: func(name string) (string, bool) { return "value of " + name, true }}
		_, _, more := file.Catalogue(f)
		for _, finding := range append(findings, more...) {
			t.Errorf("%s\nin\n%s", finding.Message, text)
		}
	}
}
