package lang_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

func ExampleParse() {
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(`[
		{"_tool": "fetch", "name": "Ada", "_outputPath": "†state.profile"}, // who
		{"_tool": "greet", "_id": "hello", "text": "Dear †{state.profile.name}"},
	]`)), nil)
	fmt.Println(findings.Err())
	for _, c := range doc.Calls {
		fmt.Println(c.ID, c.Tool, c.Params[0].Name, string(c.Params[0].Value.AppendJSON(nil)))
	}
	// Output:
	// <nil>
	// fetch fetch name "Ada"
	// hello greet text "Dear †{state.profile.name}"
}
