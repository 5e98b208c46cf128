package rewoo_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/rewoo"
)

func Example() {
	doc, findings := rewoo.Notation().Parse(diag.NewFile("plan", []byte(`Plan: Find the animal. #E1 = Search[fastest land animal]
Plan: How fast is it? #E2 = LLM[What is the speed of #E1?]`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"Search","_id":"E1","_reasoningForCall":"Find the animal.","input":"fastest land animal","_outputPath":"†state.E1"}
	// {"_tool":"LLM","_id":"E2","_reasoningForCall":"How fast is it?","input":"What is the speed of †{state.E1}?","_outputPath":"†state.E2"}
}
