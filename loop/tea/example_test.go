package tea_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/tea"
	"github.com/plc-lang/plc/tool"
)

// A goal is decomposed by a model, and its subtasks are done by a tool that is told what each is
// about.
func Example() {
	search := tool.Func("search", "Searches for sources.", func(_ context.Context, p struct {
		For  string `json:"for"`
		With string `json:"with"`
	}) (map[string]string, error) {
		return map[string]string{"content": fmt.Sprintf("%s (%s)", p.For, p.With)}, nil
	})
	planner := loop.Say(`{"subtasks": [
		{"id": "search", "description": "Search for relevant sources", "dependencies": []},
		{"id": "analyze", "description": "Analyze found sources", "dependencies": ["search"]}]}`)
	actions, err := tea.New(&loop.Task{Catalogue: tool.NewCatalogue(search), Planner: planner}, nil)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := actions.Decompose(ctx, &tea.DecomposeParams{Goal: "Research and summarize topic X", Strategy: tea.Hierarchical}); err != nil {
		panic(err)
	}
	done, err := actions.Execute(ctx, &tea.ExecuteParams{
		Parallel: true, OnSubtaskFailure: tea.Replan,
		SubtaskExecutor: &tea.Executor{Action: "search", With: json.RawMessage(`{"for": "{{ subtask.description }}", "with": "{{ subtask_results.search }}"}`)},
	})
	if err != nil {
		panic(err)
	}
	for _, r := range done.SubtaskResults {
		fmt.Printf("%s: %s\n", r.Name, r.Value)
	}
	status, err := actions.Status(&tea.StatusParams{})
	fmt.Println(status.Progress, status.Status.Completed, err)
	// Output:
	// search: "Search for relevant sources ()"
	// analyze: "Analyze found sources (Search for relevant sources ())"
	// 1 2 <nil>
}
