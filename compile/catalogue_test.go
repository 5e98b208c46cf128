package compile_test

import (
	"bytes"
	"os"
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
			if text := told(t, findings); len(text) > 0 {
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
	opts.Models = true // which choose between the alternatives of latent calls
	c := &checkCase{src: diag.NewFile(f.Name[strings.LastIndexByte(f.Name, '/')+1:], f.Data), opts: opts}
	_, findings := c.check()
	return findings
}

// told is what users see. Places in a catalogue are shown by file and line alone: their
// lines are long.
func told(t *testing.T, findings diag.List) []byte {
	var b bytes.Buffer
	for i := range findings {
		if err := diag.WriteText(&b, findings[i:i+1], nil); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}
