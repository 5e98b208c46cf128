package diag_test

import (
	"os"

	"github.com/plc-lang/plc/diag"
)

func ExampleWriteText() {
	file := diag.NewFile("plan.json", []byte(`[{"_tool": "gret"}]`))
	found := diag.List{{
		Code: diag.UnknownTool, Severity: diag.Error, Loc: diag.Loc{File: file, Span: diag.Span{Start: 11, End: 17}},
		Message: `unknown tool "gret"; did you mean "greet"?`,
	}}
	if err := diag.WriteText(os.Stdout, found, nil); err != nil {
		panic(err)
	}
	// Output:
	// plan.json:1:12: error: unknown tool "gret"; did you mean "greet"? [PLC201]
	//     1 | [{"_tool": "gret"}]
	//       |            ^^^^^^
}
