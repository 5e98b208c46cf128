package openapi_test

import (
	"fmt"

	"github.com/plc-lang/plc/tool/openapi"
)

func ExampleDocument_Tools() {
	doc, err := openapi.Read([]byte(`
openapi: 3.1.0
info: {title: Pets, version: "1"}
servers: [{url: https://pets.example}]
paths:
  /pets/{id}:
    get:
      operationId: getPet
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {200: {description: the pet, content: {application/json: {schema: {type: object}}}}}
`))
	if err != nil {
		panic(err)
	}
	tools, err := doc.Tools(openapi.Config{})
	if err != nil {
		panic(err)
	}
	for _, t := range tools {
		fmt.Println(t.Definition.Signature(), t.Definition.Effects.ReadOnly)
	}
	// Output: getPet(…) yes
}
