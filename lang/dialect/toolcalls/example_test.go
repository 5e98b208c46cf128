package toolcalls_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/toolcalls"
)

func Example() {
	doc, findings := toolcalls.Notation().Parse(diag.NewFile("plan", []byte(`{"role": "assistant", "tool_calls": [
	{"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{\"q\": \"x\"}"}}]}`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output: {"_tool":"search","_id":"call_1","q":"x","_outputPath":"†state.call_1"}
}
