package loop_test

import (
	"context"
	"fmt"

	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
)

type customer struct {
	ID string `json:"id"`
}

type refund struct {
	Order  string  `json:"order"`
	Amount float64 `json:"amount"`
}

// A model plans with two Go functions. In a program the planner is a client of package
// tool/model/openai or anthropic; here its answers are given.
func ExampleSolve() {
	lastOrder := tool.Func("lastOrder", "The last order of a customer.", func(_ context.Context, c customer) (refund, error) {
		return refund{"A-17", 50}, nil
	})
	lastOrder.Definition.Effects.ReadOnly = tool.Yes
	issueRefund := tool.Func("issueRefund", "Pays an order back.", func(_ context.Context, r refund) (string, error) {
		return "refunded " + r.Order, nil
	})
	result, err := loop.Solve(context.Background(), &loop.Task{
		Goal:      "Refund the last order of cust_123.",
		Catalogue: tool.NewCatalogue(lastOrder, issueRefund),
		Planner: loop.Say(`{"calls": [
			{"_tool": "lastOrder", "id": "cust_123", "_outputPath": "†state.order"},
			{"_tool": "issueRefund", "order": "†state.order.order", "amount": "†state.order.amount", "_outputPath": "†state.done"}
		], "output": "†state.done"}`),
	}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Status, string(result.Output))
	// Output: completed "refunded A-17"
}
