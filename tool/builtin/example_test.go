package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/builtin"
)

func ExampleNew() {
	t, err := builtin.New("text.template", builtin.Config{})
	if err != nil {
		panic(err)
	}
	fmt.Println(t.Definition.Signature())
	res, err := t.Activity.Call(context.Background(), &tool.Request{
		Params: json.RawMessage(`{"template": "Dear {name},", "values": {"name": "Ada"}}`),
	})
	fmt.Println(string(res.Value), err)
	// Output:
	// text.template(template: string, values: object | object[], join?: string) → string
	// "Dear Ada," <nil>
}
