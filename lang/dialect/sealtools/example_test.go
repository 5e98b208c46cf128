package sealtools_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/sealtools"
)

func Example() {
	doc, findings := sealtools.Notation().Parse(diag.NewFile("plan", []byte(`[{"api": "getGene", "parameters": {"name": "EGFR"}, "responses": ["API_call_0", "API_call_1"]},
	{"api": "explain", "parameters": {"text": "API_call_1"}, "responses": ["API_call_2"]}]`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"getGene","_id":"API_call_0","name":"EGFR","_outputPath":"†state.API_call_0 && †state.API_call_1"}
	// {"_tool":"explain","_id":"API_call_2","text":"†state.API_call_1","_outputPath":"†state.API_call_2"}
}
