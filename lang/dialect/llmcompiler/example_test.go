package llmcompiler_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/llmcompiler"
)

func Example() {
	doc, findings := llmcompiler.Notation().Parse(diag.NewFile("plan", []byte(`1. search("speed of a cheetah")
2. search("speed of a car")
3. math("compare them", ["$1", "${2}"])
4. join()<END_OF_PLAN>`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"search","_id":"1","arg1":"speed of a cheetah","_outputPath":"†state.1"}
	// {"_tool":"search","_id":"2","arg1":"speed of a car","_outputPath":"†state.2"}
	// {"_tool":"math","_id":"3","arg1":"compare them","arg2":["†state.1","†state.2"],"_outputPath":"†state.3"}
	// {"_tool":"join","_id":"4","_dependsOn":["1","2","3"]}
}
