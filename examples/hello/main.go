// Hello runs a plan with a Go function as its tool.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/tool"
)

const plan = `[{"_tool": "greet", "name": "world", "_outputPath": "†state.greeting"}]`

type person struct {
	Name string `json:"name"`
}

func greet(_ context.Context, p person) (string, error) { return "Hello, " + p.Name + "!", nil }

func main() {
	eng := plc.New(plc.Config{Tools: []*tool.Tool{tool.Func("greet", "Greets somebody.", greet)}})
	defer eng.Close()
	res, err := eng.Run(context.Background(), plc.Spec{Plan: plc.Text(plan)})
	if err != nil {
		log.Fatal(err) // a plan with an error never runs
	}
	fmt.Println(res.Status, string(res.State))
}
