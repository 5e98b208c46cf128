package planning_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/planning"
	"github.com/plc-lang/plc/tool"
)

type query struct {
	Q string `json:"q"`
}

// A plan is made, approved and executed; in a program the planner is a client of a model.
func ExamplePattern() {
	search := tool.Func("web_search", "Searches the web.", func(_ context.Context, q query) (string, error) { return "all about " + q.Q, nil })
	search.Definition.Effects.ReadOnly = tool.Yes
	p, err := planning.New(&planning.Options{
		ExecutionMode:       planning.Parallel,
		RequirePlanApproval: true,
		Callbacks: planning.Callbacks{
			OnPlanApproved: func(_ context.Context, plan *planning.Plan) (bool, error) {
				for _, step := range plan.Steps {
					fmt.Println("-", step.Description)
				}
				return true, nil
			},
		},
	})
	if err != nil {
		panic(err)
	}
	result, err := p.Execute(context.Background(), &loop.Task{
		Catalogue: tool.NewCatalogue(search),
		Planner: loop.Say(`{"goal": "Compare Go and Rust", "steps": [
			{"id": "go", "description": "Look for Go.", "action": "web_search", "parameters": {"q": "Go"}, "dependencies": [], "expected_output": "facts"},
			{"id": "both", "description": "Compare.", "action": "web_search", "parameters": {"q": "Rust and {{go}}"}, "dependencies": ["go"], "expected_output": "facts"}
		], "success_criteria": "Both are described."}`),
	}, "Compare Go and Rust")
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Success, *result.FinalOutput)
	// Output:
	// - Look for Go.
	// - Compare.
	// true all about Rust and all about Go
}

// The option table of the pattern, as it stands in a file.
func ExampleParseOptions() {
	o, err := planning.ParseOptions(json.RawMessage(`{"max_steps": 15, "execution_mode": "parallel", "max_parallel": 5, "allow_revision": false}`), nil)
	fmt.Println(o.MaxSteps, o.ExecutionMode, o.MaxParallel, *o.AllowRevision, err)
	_, err = planning.ParseOptions(json.RawMessage(`{"execution_mode": "fast"}`), nil)
	fmt.Println(err)
	// Output:
	// 15 parallel 5 false <nil>
	// planning: "execution_mode" is "fast", and not one of sequential, parallel, adaptive
}
