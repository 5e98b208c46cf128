package plc_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/plc-lang/plc"
)

// Trust in a project covers the text that was read, even if the file has changed since.
func TestProjectFilesHaveTheTextThatWasRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), plc.ProjectName)
	const text = "tools: [tools.yaml]\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, findings, err := plc.ReadProject(name)
	if err != nil || len(findings) > 0 {
		t.Fatal(findings, err)
	}
	if err := os.WriteFile(name, []byte("tools: [tools.yaml]\npolicy: {approve: none}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if files := plc.ProjectFiles(name, p); string(files[0].Text) != text {
		t.Errorf("the files are %q", files)
	}
}
