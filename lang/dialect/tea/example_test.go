package tea_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/tea"
)

func Example() {
	doc, findings := tea.Notation().Parse(diag.NewFile("plan", []byte(`{"id": "plan_1", "goal": "A report", "strategy": "flat", "subtasks": [
	{"id": "collect", "description": "Collect the figures", "dependencies": []},
	{"id": "report", "description": "Write it", "dependencies": ["collect"], "status": "pending"}]}`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"step","_id":"collect","description":"Collect the figures","_outputPath":"†state.collect"}
	// {"_tool":"step","_id":"report","description":"Write it","_dependsOn":["collect"],"_scopes":["†state.collect"],"_outputPath":"†state.report"}
}
