package arazzo_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/arazzo"
)

func Example() {
	doc, findings := arazzo.Notation().Parse(diag.NewFile("plan", []byte(`arazzo: 1.0.1
info: {title: Pets, version: "1"}
sourceDescriptions: [{name: pets, url: ./pets.yaml, type: openapi}]
workflows:
- workflowId: buy
  steps:
  - stepId: find
    operationId: findPet
    parameters: [{name: tag, in: query, value: $inputs.tag}]
    outputs: {id: $response.body#/0/id}
  - stepId: order
    operationId: order
    requestBody: {payload: {pet: $steps.find.outputs.id}}`)), nil)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// {"_tool":"findPet","_id":"find","tag":"†input.tag","_outputPath":"†state.find"}
	// {"_tool":"order","_id":"order","body":{"pet":"†state.find.0.id"},"_outputPath":"†state.order"}
}
