package flow_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool/file"
)

// TestCases checks the plan of each archive of testdata/flow under the policy of its tools.yaml.
// "want" has a line for each sink: the call, the param and the verdict.
func TestCases(t *testing.T) {
	names, err := filepath.Glob("../../testdata/flow/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := fstest.MapFS{}
			for _, f := range archive.Files {
				files[f.Name] = &fstest.MapFile{Data: f.Data}
			}
			tools, found := file.Read(diag.NewFile("tools.yaml", files["tools.yaml"].Data))
			catalogue, _, more := file.Catalogue(tools)
			found = append(append(found, more...), file.UnmatchedPolicy(catalogue, tools)...)
			doc, more := lang.Parse(diag.NewFile("plan.json", files["plan.json"].Data), nil)
			found = append(found, more...)
			prog, more := compile.Compile(doc, &compile.Options{Catalogue: catalogue, Delegates: files, Predicates: cel.New()})
			if found = append(found, more...); found.HasErrors() {
				t.Fatal(found.Err())
			}
			report, _ := flow.Check(prog, tools.Flow)
			var got strings.Builder
			for _, s := range report.Sinks {
				call := "-"
				if s.Call != nil {
					call = s.Call.ID
				}
				fmt.Fprintf(&got, "%s %s %s\n", call, s.Param, s.Verdict())
			}
			if d := cmp.Diff(string(files["want"].Data), got.String()); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}
