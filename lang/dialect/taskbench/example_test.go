package taskbench_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/taskbench"
)

func Example() {
	doc, findings := taskbench.Notation().Parse(diag.NewFile("plan", []byte(`{"task_nodes": [
	{"task": "Image Downloader", "arguments": ["https://a.example/1.jpg"]},
	{"task": "Image-to-Text", "arguments": ["<node-0>"]}],
	"task_links": [{"source": "Image Downloader", "target": "Image-to-Text"}]}`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"Image Downloader","_id":"node-0","arg1":"https://a.example/1.jpg","_outputPath":"†state.node-0"}
	// {"_tool":"Image-to-Text","_id":"node-1","arg1":"†state.node-0","_outputPath":"†state.node-1"}
}
