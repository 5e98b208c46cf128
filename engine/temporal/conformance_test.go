package temporal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
)

// The plans of testdata/conformance give the same in a workflow and in one process.
func TestConformance(t *testing.T) {
	names, err := filepath.Glob("../../testdata/conformance/*.json")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var c struct {
			ID, Cmd string
			Args    []string
			Files   map[string]json.RawMessage
		}
		if err := json.Unmarshal(text, &c); err != nil {
			t.Fatal(err)
		}
		spec, ok := conformanceSpec(t, c.Args, c.Files)
		if !ok || c.Cmd != "run" {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			eng := plc.New(plc.Config{Store: memory.New()})
			p, err := eng.Prepare(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			b, err := p.Bundle()
			if err != nil {
				t.Skip(err) // it has errors, or is not for engines
			}
			want, err := eng.Run(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			if want.Status == exec.Paused {
				t.Skip("it waits for somebody")
			}
			ran++
			got, err := inSuite(t, b, &tool.Tool{Definition: &tool.Definition{Name: "none"}}).run()
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
		})
	}
	if ran < 40 {
		t.Errorf("%d plans ran", ran)
	}
}

// conformanceSpec returns the Spec of a case, if its arguments are known here.
func conformanceSpec(t *testing.T, args []string, files map[string]json.RawMessage) (spec plc.Spec, ok bool) {
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return spec, false // in a folder
		}
	}
	spec = plc.Spec{Plan: plc.File(filepath.Join(dir, "plan.json")), Seed: 7, OnUncertain: plc.FailUncertain} // else somebody is asked here
	if files["tools.json"] != nil {
		spec.Toolset.Files = []plc.Source{plc.File(filepath.Join(dir, "tools.json"))}
	}
	if files["input.json"] != nil {
		spec.Values.Input = []plc.Source{plc.File(filepath.Join(dir, "input.json"))}
	}
	for i := 0; i+1 < len(args); i += 2 {
		switch args[i] {
		case "--on-failure":
			spec.OnFailure = plc.OnFailure(args[i+1])
		case "--input", "--tools":
			if !strings.HasSuffix(args[i+1], ".json") {
				return spec, false
			}
		default:
			return spec, false
		}
	}
	return spec, len(args)%2 == 0
}
