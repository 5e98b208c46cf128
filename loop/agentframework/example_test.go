package agentframework_test

import (
	"context"
	"fmt"

	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/agentframework"
	"github.com/plc-lang/plc/tool"
)

type player struct {
	ID string `json:"id"`
}

type move struct {
	Name     string `json:"name"`
	Location string `json:"location"`
}

// An agent plans with two Go functions. In a program the planner is a client of package
// tool/model/openai or anthropic; here its decisions are given.
func ExampleSolve() {
	lookup := tool.Func("player_lookup", "Who a player is.", func(_ context.Context, p player) (move, error) {
		return move{"Bo", "the harbour"}, nil
	})
	step := tool.Func("movePlayer", "Moves a player.", func(_ context.Context, m move) (string, error) {
		return m.Name + " leaves " + m.Location, nil
	})
	result, err := agentframework.Solve(context.Background(), &loop.Task{
		Goal:      "Move player p1.",
		Catalogue: tool.NewCatalogue(lookup, step),
		Planner: loop.Say(`{"kind": "submit_plan", "message": "look first", "plan": [
			{"id": "who", "kind": "call_tool", "tool_name": "player_lookup", "parameters": {"id": "p1"}},
			{"id": "go", "kind": "call_tool", "tool_name": "movePlayer", "depends_on": ["who"],
			 "parameters": {"name": "{{who.name}}", "location": "{{ who.location }}"}}
		]}`, `{"kind": "final_message", "message": "Moved.", "response": {"done": true}}`),
	}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Status, string(result.Output))
	fmt.Println(string(result.State))
	// Output:
	// completed {"done":true}
	// {"who":{"name":"Bo","location":"the harbour"},"go":"Bo leaves the harbour"}
}
