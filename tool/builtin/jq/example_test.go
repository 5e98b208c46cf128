package jq_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/builtin/jq"
)

func ExampleTool() {
	res, err := jq.Tool().Activity.Call(context.Background(), &tool.Request{
		Params: json.RawMessage(`{"query": "[.[] | select(. > 1)]", "value": [1, 2, 3]}`),
	})
	fmt.Println(string(res.Value), err)
	// Output: [2,3] <nil>
}
