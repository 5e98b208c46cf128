package mnms_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/mnms"
)

func Example() {
	doc, findings := mnms.Notation().Parse(diag.NewFile("plan", []byte(`[{"id": 0, "name": "image captioning", "args": {"image": "1.jpg"}},
	{"id": 1, "name": "text summarization", "args": {"text": "<node-0>.text"}}]`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"image captioning","_id":"0","image":"1.jpg","_outputPath":"†state.0"}
	// {"_tool":"text summarization","_id":"1","text":"†state.0.text","_outputPath":"†state.1"}
}
