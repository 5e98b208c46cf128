package nestful_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/nestful"
)

func Example() {
	doc, findings := nestful.Notation().Parse(diag.NewFile("plan", []byte(`[{"name": "rate", "arguments": {"from": "ETH"}, "label": "$var_1"},
	{"name": "add", "arguments": {"text": "5 * $var_1.Exchange Rate$"}, "label": "$var_2"},
	{"name": "var_result", "arguments": {"sum": "$var_2.result$"}}]`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"rate","_id":"var_1","from":"ETH","_outputPath":"†state.var_1"}
	// {"_tool":"add","_id":"var_2","text":"5 * †{state.var_1[\"Exchange Rate\"]}","_outputPath":"†state.var_2"}
}
