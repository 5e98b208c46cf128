package guard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/guard"
)

func ExampleCache() {
	asked := 0
	slow := tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) {
		asked++
		return tool.Result{Value: json.RawMessage(`"an answer"`)}, nil
	})
	fast := guard.Cache(time.Hour)(slow)
	req := &tool.Request{Tool: "ask", Params: json.RawMessage(`{"q": 1}`), Definition: &tool.Definition{Name: "ask", Effects: tool.Effects{ReadOnly: tool.Yes}}}
	for range 3 {
		if _, err := fast.Call(context.Background(), req); err != nil {
			panic(err)
		}
	}
	fmt.Println(asked)
	// Output: 1
}
