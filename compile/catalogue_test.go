package compile_test

import (
	"bytes"
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

const catalogues = "../testdata/catalogues/"

// TestCatalogues checks plans against the tools of real servers and interfaces, and
// compares what users are told, to the letter. The archives hold pairs of CATALOGUE/NAME.json
// and .want; plans of sound.txtar have no errors.
func TestCatalogues(t *testing.T) {
	for _, name := range []string{"faulty", "sound"} {
		archive, err := txtar.ParseFile(catalogues + name + ".txtar")
		if err != nil {
			t.Fatal(err)
		}
		got := &txtar.Archive{Comment: archive.Comment}
		tools := map[string]compile.Options{}
		for _, f := range archive.Files {
			folder, _, _ := strings.Cut(f.Name, "/")
			base, isPlan := strings.CutSuffix(f.Name, ".json")
			if !isPlan {
				continue
			}
			if _, ok := tools[folder]; !ok {
				tools[folder] = fileTools(t, catalogues+folder+".json")
			}
			findings := catalogueFindings(f, tools[folder])
			if findings.HasErrors() != (name == "faulty") {
				t.Errorf("%s: %s has errors: %v", name, f.Name, findings.HasErrors())
			}
			got.Files = append(got.Files, f)
			if text := told(findings); len(text) > 0 {
				got.Files = append(got.Files, txtar.File{Name: base + ".want", Data: text})
			}
		}
		if *update {
			if err := os.WriteFile(catalogues+name+".txtar", txtar.Format(got), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if d := cmp.Diff(text(archive.Files), text(got.Files)); d != "" {
			t.Errorf("%s: (-want +got; -update accepts it)\n%s", name, d)
		}
	}
}

func catalogueFindings(f txtar.File, opts compile.Options) diag.List {
	opts.Lazy = true // so that latent calls may have alternatives
	c := &checkCase{src: diag.NewFile(f.Name[strings.LastIndexByte(f.Name, '/')+1:], f.Data), opts: opts}
	_, findings := c.check()
	return findings
}

// told is what users are told about types: each finding with the text it is at, the
// related places and the fix.
func told(findings diag.List) []byte {
	var b bytes.Buffer
	for i := range findings {
		f := &findings[i]
		if f.Code == diag.ResultDropped || f.Code == diag.EffectOrder {
			continue // nearly all of these plans have them
		}
		fmt.Fprintf(&b, "%s\n\tat %s\n", f, textAt(f.Loc))
		for _, r := range f.Related {
			at := r.Loc.File.Position(int(r.Loc.Span.Start))
			fmt.Fprintf(&b, "\t%s:%d: %s: %s\n", filepath.Base(r.Loc.File.Name), at.Line, r.Message, textAt(r.Loc))
		}
		if f.Fix != nil {
			for _, e := range f.Fix.Edits {
				fmt.Fprintf(&b, "\tfix: %s\n", e.Text)
			}
		}
	}
	return b.Bytes()
}

// textAt is the text at a place, or its first line.
func textAt(l diag.Loc) string {
	line, _, _ := strings.Cut(string(l.File.Text[l.Span.Start:l.Span.End]), "\n")
	return line
}
