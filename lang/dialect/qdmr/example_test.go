package qdmr_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/qdmr"
)

func Example() {
	doc, findings := qdmr.Notation().Parse(diag.NewFile("plan", []byte(`return flights ;return #1 from denver ;return the lowest price of #2`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"step","_id":"1","description":"flights","_outputPath":"†state.1"}
	// {"_tool":"step","_id":"2","description":"†{state.1} from denver","_outputPath":"†state.2"}
	// {"_tool":"step","_id":"3","description":"the lowest price of †{state.2}","_outputPath":"†state.3"}
}
