package agentframework_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/agentframework"
)

func Example() {
	doc, findings := agentframework.Notation().Parse(diag.NewFile("plan", []byte(`{"plan": [
	{"id": "who", "kind": "call_tool", "tool_name": "get_player", "parameters": {"id": 7}},
	{"id": "move", "kind": "call_tool", "tool_name": "go", "parameters": {"name": "{{who.name}}"}, "depends_on": ["who"]}]}`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"get_player","_id":"who","id":7,"_outputPath":"†state.who"}
	// {"_tool":"go","_id":"move","name":"†state.who.name","_dependsOn":["who"],"_outputPath":"†state.move"}
}
