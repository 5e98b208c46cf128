// Resume runs a plan with a record. When it was killed, the next start resumes the run.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/journal/sqlite"
	"github.com/plc-lang/plc/tool"
)

const plan = `[{"_tool": "copy", "page": 1, "_outputPath": "†state.first"},
	{"_tool": "copy", "page": 2, "_outputPath": "†state.second", "_dependsOn": ["copy"]}]`

func main() {
	ctx, tools := context.Background(), []*tool.Tool{tool.Func("copy", "Copies a page.", copyPage)}
	store, err := sqlite.Open("runs.db", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	eng := plc.New(plc.Config{Store: store, Tools: tools})
	defer eng.Close()
	res, err := eng.RunAs(ctx, "pages", plc.Spec{Plan: plc.Text(plan), OnUncertain: plc.RetryUncertain})
	if err != nil {
		log.Fatal(err) // a faulty plan is a *plc.PlanError with findings
	}
	fmt.Println(res.Status, string(res.State))
}
