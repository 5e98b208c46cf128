package plc_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/internal/texttree"
)

// TestHooks wants the hooks for pre-commit to be given plans, and nothing else; the one that is
// given no files also starts for tool files and the project file.
func TestHooks(t *testing.T) {
	text, err := os.ReadFile(".pre-commit-hooks.yaml")
	if err != nil {
		t.Fatal(err)
	}
	root, fault := texttree.YAML{What: "hooks", MaxDepth: 8}.Parse(text)
	if fault != nil {
		t.Fatal(fault)
	}
	var hooks []struct{ ID, Entry, Language, Files string }
	if err := json.Unmarshal(root.JSON(), &hooks); err != nil {
		t.Fatal(err)
	}
	const (
		plans = "plan.json a/plan.jsonc x.plan.json a/b/x.plan.jsonc plan.yaml a/plan.yml x.plan.yaml a/x.plan.yml"
		tools = " tools.yaml a/tools.yml tools.json x.tools.yaml a/x.tools.jsonc plc.yaml a/plc.yaml"
	)
	want := map[string]string{"plc-check": plans, "plc-check-all": plans + tools, "plc-fmt": plans}
	others := strings.Fields(plans + tools + " myplan.json plan.json.txt plan.txt aplc.yaml plc.yaml.bak x.planx.json order.test.yaml package.json plan/x.json mytools.yaml")
	for _, h := range hooks {
		files := regexp.MustCompile(h.Files)
		given := strings.Fields(want[h.ID])
		for _, name := range others {
			if files.MatchString(name) != slices.Contains(given, name) {
				t.Errorf("%s and %s: %v", h.ID, name, files.MatchString(name))
			}
		}
		if h.Language != "golang" || !strings.HasPrefix(h.Entry, "plc ") {
			t.Errorf("%s: %+v", h.ID, h)
		}
		delete(want, h.ID)
	}
	if len(want) > 0 {
		t.Errorf("there is no hook %q", slices.Sorted(maps.Keys(want)))
	}
}
