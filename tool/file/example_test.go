package file_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/file"
)

func ExampleRead() {
	f, findings := file.Read(diag.NewFile("tools.yaml", []byte(`
tools:
  greet:
    properties: {name: {type: string}}
    required: [name]
activities:
  greet: {process: {command: [echo, "hello {name}"]}}
`)))
	if err := findings.Err(); err != nil {
		panic(err)
	}
	cat, _, findings := file.Catalogue(f)
	t, _ := cat.Lookup("greet")
	fmt.Println(t.Definition.Signature(), t.Driver, findings.Err())

	_, findings = file.Read(diag.NewFile("tools.yaml", []byte("tolls: {}")))
	fmt.Println(findings[0].Message)
	// Output:
	// greet(name: string) process <nil>
	// the tool file has no member "tolls"; did you mean "tools"?
}
