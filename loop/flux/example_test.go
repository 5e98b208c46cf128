package flux_test

import (
	"context"
	"fmt"

	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/flux"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

type question struct {
	Q string `json:"q"`
}

func ExampleSolve() {
	tools := tool.NewCatalogue(tool.Func("search", "Searches.", func(_ context.Context, q question) (string, error) {
		return "found " + q.Q, nil
	}))
	planner := &loop.Script{Replies: []model.Reply{ // in a program: a client of a model
		{Calls: []model.FunctionCall{{ID: "1", Name: "create_plan", Params: `{"steps": "[{\"name\": \"look\", \"description\": \"Look it up.\"}, {\"name\": \"tell\", \"description\": \"Tell it.\", \"depends_on\": [\"look\"]}]"}`}}},
		{Calls: []model.FunctionCall{{ID: "2", Name: "search", Params: `{"q": "plc"}`}, {ID: "3", Name: "mark_step_done", Params: `{"step_name": "look", "result": "found"}`}}},
		{Text: "plc is a compiler for plans."},
	}}
	result, err := flux.Solve(context.Background(), &loop.Task{Goal: "What is plc?", Catalogue: tools, Planner: planner}, &flux.Options{
		MaxToolCalls: 30,
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Status, string(result.Output))
	// Output: completed "plc is a compiler for plans."
}
