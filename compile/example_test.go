package compile_test

import (
	"fmt"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// A plan with two faults. All of them are found, each with its place.
func ExampleCompile() {
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(`[
  {"type": "tool", "tool": {"greet": {"required": ["name"]}}},
  {"type": "plan", "plan": [
    {"_tool": "greet", "name": "Ada", "_outputPath": "†state.ada"},
    {"_tool": "gret", "name": "†state.ada"},
    {"_tool": "greet", "name": "†state.bob", "_dependsOn": ["greet"]}
  ]}
]`)), nil)
	_, more := compile.Compile(doc, nil)
	for _, f := range append(findings, more...) {
		fmt.Printf("%s: %s\n", f.Code, f.Message)
	}
	// Output: PLC201: unknown tool "gret"; did you mean "greet"?
	// PLC302: nobody writes †state.bob, and nothing holds it; did you mean †state.ada?
}

// The program as assembly: behind @ is the place of the write that ends the
// binding of a reference.
func ExampleProgram_String() {
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(`[
  {"type": "tool", "tool": {"fetch": {}, "sum": {}}},
  {"type": "plan", "plan": [
    {"_tool": "sum", "text": "†state.page", "_outputPath": "†state.summary"},
    {"_tool": "fetch", "url": "https://example.org", "_outputPath": "†state.page"}
  ]}
]`)), nil)
	prog, _ := compile.Compile(doc, nil)
	fmt.Print(prog)
	// Output:
	// 1	fetch	fetch {"url":"https://example.org"}	set †state.page
	// 2	sum	sum {"text":†state.page@1}	set †state.summary	after 1
}

// What waits for what, and why.
func ExampleProgram_Edges() {
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(`[
  {"type": "tool", "tool": {"check": {}, "refund": {"effects": {"readOnly": false}}}},
  {"type": "plan", "plan": [
    {"_tool": "check", "_id": "order", "_outputPath": "†state.order"},
    {"_tool": "check", "_id": "stock"},
    {"_tool": "refund", "amount": "†state.order.amount"},
    {"_tool": "check", "_id": "again", "_dependsOn": ["stock"]}
  ]}
]`)), nil)
	prog, _ := compile.Compile(doc, nil)
	for e := range prog.Edges() {
		fmt.Println(e.From.ID, "→", e.To.ID, e.Kind)
	}
	// Output:
	// order → refund data
	// stock → refund effect
	// stock → again order
	// refund → again effect
}
