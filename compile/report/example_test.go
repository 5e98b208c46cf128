package report_test

import (
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

func program(text string) *compile.Program {
	def, _ := tool.ParseDefinition(json.RawMessage(`{"properties": {"amount": {"type": "number"}}}`), "pay", diag.Loc{})
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(text)), nil)
	prog, findings := compile.Compile(doc, &compile.Options{Catalogue: tool.NewCatalogue(&tool.Tool{Definition: def})})
	if err := findings.Err(); err != nil {
		panic(err)
	}
	return prog
}

func Example() {
	shown, now := program(`[{"_tool": "pay", "amount": 5}]`), program(`[{"_tool": "pay", "amount": 6}]`)
	for _, d := range report.Of(shown, nil).Differences(report.Of(now, nil)) {
		fmt.Println(d)
	}
	for _, c := range report.Compare(shown, now).Changed {
		fmt.Printf("%s: %s was %s, is %s\n", c.Call, c.What, c.Old, c.New)
	}
	// Output:
	// call "pay": amount was 5, is 6
	// pay: params was {"amount":5}, is {"amount":6}
}
