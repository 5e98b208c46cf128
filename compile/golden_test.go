package compile_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
)

var update = flag.Bool("update", false, "rewrite what testdata/compile wants")

// TestGolden compiles the plan of each archive of testdata/compile, against its
// tools.yaml or else those of testdata/check, and shows what came of it: the assembly,
// the edges, which writes wait for which calls to settle, and the findings. A line
// "options: …" of the archive's comment is as in testdata/check.
func TestGolden(t *testing.T) {
	names, err := filepath.Glob("../testdata/compile/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			prog, findings := goldenCase(t, archive).check()
			want := archive.Files
			archive.Files = nil
			for _, f := range want {
				if !strings.HasPrefix(f.Name, "want.") {
					archive.Files = append(archive.Files, f)
				}
			}
			archive.Files = append(archive.Files, shown(prog, findings)...)
			if *update {
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(text(want), text(archive.Files)); d != "" {
				t.Errorf("(-want +got; -update accepts it)\n%s", d)
			}
		})
	}
}

func text(files []txtar.File) string { return string(txtar.Format(&txtar.Archive{Files: files})) }

// goldenCase is the plan of an archive, as a case of findings.
func goldenCase(t *testing.T, archive *txtar.Archive) *checkCase {
	c := &checkCase{opts: fileTools(t, checkDir+"/tools.yaml")}
	for _, f := range archive.Files {
		switch f.Name {
		case "plan.json":
			c.src = diag.NewFile("plan.json", f.Data)
		case "tools.yaml":
			c.opts = sourceTools(t, diag.NewFile(f.Name, f.Data))
		}
	}
	for line := range strings.Lines(string(archive.Comment)) {
		if words, ok := strings.CutPrefix(line, "options: "); ok {
			for word := range strings.FieldsSeq(words) {
				if err := c.option(word); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return c
}

// shown is what is shown of a program, without what is empty.
func shown(p *compile.Program, findings diag.List) (files []txtar.File) {
	var edges, commits, found bytes.Buffer
	for e := range p.Edges() {
		fmt.Fprintf(&edges, "%s → %s\t%s", e.From.ID, e.To.ID, e.Kind)
		if e.Kind == compile.Data {
			fmt.Fprintf(&edges, " %s", e.Path)
		}
		edges.WriteByte('\n')
	}
	if p.Commits != nil {
		p.Commits.Direct(func(from, to int32) bool {
			fmt.Fprintf(&commits, "%s → %s\n", p.Calls[from].ID, p.Calls[to].ID)
			return true
		})
	}
	for i := range findings {
		fmt.Fprintf(&found, "%s\n", &findings[i])
	}
	for _, f := range []txtar.File{
		{Name: "want.assembly", Data: []byte(p.String())},
		{Name: "want.edges", Data: edges.Bytes()},
		{Name: "want.commits", Data: commits.Bytes()},
		{Name: "want.findings", Data: found.Bytes()},
	} {
		if len(f.Data) > 0 {
			files = append(files, f)
		}
	}
	return files
}
