package cel_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/schemas"
)

func ExampleChecker_Check() {
	number, err := schemas.Compile(json.RawMessage(`{"type": "number"}`), nil)
	if err != nil {
		panic(err)
	}
	p, err := cel.New().Check("value > 10", map[string]*schemas.Schema{"value": number}, nil)
	if err != nil {
		panic(err)
	}
	holds, err := p.Holds(context.Background(), map[string]json.RawMessage{"value": json.RawMessage("12.5")})
	fmt.Println(holds, err)
	_, err = cel.New().Check("value > 'ten'", map[string]*schemas.Schema{"value": number}, nil)
	fmt.Println(err != nil)
	// Output:
	// true <nil>
	// true
}
