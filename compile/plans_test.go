package compile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

const plansDir = "../testdata/plans"

// readPlan reads a plan and its tools.
func readPlan(t testing.TB, name string) (*lang.Document, compile.Options) {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, findings := lang.Parse(diag.NewFile(name, text), nil)
	for i := range findings {
		t.Errorf("%s", &findings[i])
	}
	return doc, fileTools(t, strings.TrimSuffix(name, ".json")+".tools.yaml")
}

// TestSoundPlans compiles plans of the size and kind that agents make, in which
// nothing is wrong: nothing but information may be found, whatever effects are taken for.
func TestSoundPlans(t *testing.T) {
	names, err := filepath.Glob(plansDir + "/*.json")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d plans: %v", len(names), err)
	}
	for _, name := range names {
		doc, opts := readPlan(t, name)
		for _, effects := range []compile.Effects{compile.DeclaredEffects, compile.StrictEffects, compile.NoEffects} {
			opts.Effects = effects
			prog, findings := compile.Compile(doc, &opts)
			for i := range findings {
				if f := &findings[i]; f.Severity != diag.Info {
					t.Errorf("effects %d: %s", effects, f)
				}
			}
			if len(prog.Calls) != len(doc.Calls) || prog.Starts.Len() < len(doc.Calls) {
				t.Errorf("%s: %d calls and %d nodes of %d", name, len(prog.Calls), prog.Starts.Len(), len(doc.Calls))
			}
		}
	}
}
