package math_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/math"
)

func ExampleTools() {
	t, _ := tool.NewCatalogue(math.Tools()...).Lookup("divide")
	res, err := t.Activity.Call(context.Background(), &tool.Request{Params: json.RawMessage(`{"a": 1, "b": 8}`)})
	fmt.Println(t.Definition.Signature())
	fmt.Println(string(res.Value), err)
	// Output:
	// divide(a: number, b: number) → number
	// 0.125 <nil>
}
