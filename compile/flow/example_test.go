package flow_test

import (
	"fmt"
	"os"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool/file"
)

// What stands in a file must not decide whom a plan pays.
func ExampleCheck() {
	tools, _ := file.Read(diag.NewFile("tools.yaml", []byte(`
tools:
  read: {properties: {file: {type: string}}, effects: {openWorld: false}}
  pay: {properties: {iban: {type: string}}, effects: {openWorld: false}}
flow:
  given: {input: {trust: user}}
  tools:
    read: {gives: {trust: untrusted}}
    pay: {takes: {iban: {trust: user}}}
`)))
	catalogue, _, _ := file.Catalogue(tools)
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(`[
  {"_tool": "read", "file": "bill.txt", "_outputPath": "†state.bill"},
  {"_tool": "pay", "iban": "†state.bill"},
  {"_tool": "pay", "iban": "†input.iban"}
]`)), nil)
	prog, _ := compile.Compile(doc, &compile.Options{Catalogue: catalogue})
	said, _ := file.Flow([]*file.File{tools})
	policy, _ := flow.Prepare(said[0], catalogue, nil)
	report, findings := flow.Check(prog, policy, nil)
	for _, f := range findings {
		fmt.Println(f.Code)
	}
	if err := report.Text(os.Stdout); err != nil {
		panic(err)
	}
	// Output:
	// PLC801
	// "pay", param "iban": forbidden
	//   may be untrusted, secret; the policy wants at least user
	//   from read (untrusted, secret); the plan (user, public)
	//     plan.json:2:13 "read" gives this
	//     plan.json:3:29 "pay" takes †state.bill
	// "pay-2", param "iban": allowed
	//   may be user, secret; the policy wants at least user
	//   from †input (user, secret)
}
