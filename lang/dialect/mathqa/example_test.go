package mathqa_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/mathqa"
)

func Example() {
	doc, findings := mathqa.Notation().Parse(diag.NewFile("plan", []byte(`multiply(n0,const_1000)|divide(#0,const_3600)|`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"multiply","_id":"0","arg1":"†input.n0","arg2":1000,"_outputPath":"†state.0"}
	// {"_tool":"divide","_id":"1","arg1":"†state.0","arg2":3600,"_outputPath":"†state.1"}
}
