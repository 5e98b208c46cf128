package schemas_test

import (
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/schemas"
)

func schema(text string) *schemas.Schema {
	s, err := schemas.Compile(json.RawMessage(text), nil)
	if err != nil {
		panic(err)
	}
	return s
}

func ExampleSchema_Validate() {
	s := schema(`{"properties": {"age": {"type": "integer", "minimum": 0}}, "required": ["age"]}`)
	fmt.Println(s.Validate(json.RawMessage(`{"age": 36}`)))
	fmt.Println(s.Validate(json.RawMessage(`{"age": -1}`)))
	// Output:
	// <nil>
	// /age: expected at least 0, but got -1
}

func ExampleAssignable() {
	from, to := schema(`{"type": "integer", "minimum": 0}`), schema(`{"type": "number", "maximum": 100}`)
	a := schemas.Assignable(from, to, nil)
	fmt.Println(a.Verdict, string(a.Witness))
	a = schemas.Assignable(from, schema(`{"type": "number"}`), nil)
	fmt.Println(a.Verdict)
	// Output:
	// no 101
	// yes
}
