package planstep_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/planstep"
)

func Example() {
	doc, findings := planstep.Notation().Parse(diag.NewFile("plan", []byte(`{"goal": "A report", "steps": [
	{"id": "1", "description": "Look it up", "action": "search", "parameters": {"q": "gdp"},
	 "dependencies": [], "expected_output": "a number", "fallback_action": "archive"},
	{"id": "2", "description": "Sum up", "action": "write", "parameters": {"text": "{{1.text}}"},
	 "dependencies": ["1"], "expected_output": "a page"}],
	"success_criteria": ["one page"]}`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"search","_id":"1","_description":"Look it up","q":"gdp","_expect":"a number","_fallback":"archive","_outputPath":"†state.1"}
	// {"_tool":"write","_id":"2","_description":"Sum up","text":"†state.1.text","_dependsOn":["1"],"_expect":"a page","_outputPath":"†state.2"}
}
