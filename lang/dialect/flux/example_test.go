package flux_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/flux"
)

func Example() {
	doc, findings := flux.Notation().Parse(diag.NewFile("plan", []byte(`[{"name": "collect", "description": "Collect the figures"},
	{"name": "report", "description": "Write the report", "depends_on": ["collect"]}]`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"step","_id":"collect","description":"Collect the figures","_outputPath":"†state.collect"}
	// {"_tool":"step","_id":"report","description":"Write the report","_dependsOn":["collect"],"_outputPath":"†state.report"}
}
