package loop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
)

// A person changes a lazy plan: the first change is faulty and is told, the second one is put to
// the person, who approves it, and runs.
func TestEditedPlan(t *testing.T) {
	var greeted []string
	greet := tool.Func("greet", "", func(_ context.Context, p struct {
		Name string `json:"name"`
	}) (string, error) {
		greeted = append(greeted, p.Name)
		return "hello " + p.Name, nil
	})
	edits := []string{
		`{"calls":[{"_tool":"great","name":"Bo","_outputPath":"†state.x"}],"output":"†state.x"}`,
		`{"calls":[{"_tool":"greet","name":"Bo","_outputPath":"†state.x"}],"output":"†state.x"}`,
	}
	var seen, faults []string
	result, err := loop.Solve(t.Context(), &loop.Task{
		Goal: "greet", Catalogue: tool.NewCatalogue(greet),
		Planner: loop.Say(`{"calls":[{"_tool":"greet","name":"Al","_outputPath":"†state.x"}],"output":"†state.x"}`),
	}, &loop.Options{
		Lazy: true,
		OnPlan: func(prog *compile.Program) error {
			seen = append(seen, string(loop.SolutionOf(prog)))
			if len(edits) == 0 {
				return nil
			}
			next := edits[0]
			edits = edits[1:]
			return &loop.EditedError{Solution: []byte(next)}
		},
		OnEvent: func(e *loop.Event) {
			if e.Type == loop.Faulty {
				faults = append(faults, e.Findings[0].Message)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if result.Status != exec.Completed || string(result.Output) != `"hello Bo"` || strings.Join(greeted, " ") != "Bo" {
		t.Errorf("%s: %s, output %s, greeted %v", result.Status, result.Reason, result.Output, greeted)
	}
	if len(seen) != 3 || seen[0] != seen[1] || !strings.Contains(seen[2], "Bo") {
		t.Errorf("the person was shown %q", seen)
	}
	if len(faults) != 1 || !strings.Contains(faults[0], "great") {
		t.Errorf("the faults of the first change: %q", faults)
	}
}
