package standin_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/standin"
)

func ExampleNew() {
	a, err := standin.New(standin.Config{Return: json.RawMessage(`"ok"`), FailTimes: 1})
	if err != nil {
		panic(err)
	}
	for attempt := 1; attempt <= 2; attempt++ {
		res, err := a.Call(context.Background(), &tool.Request{Attempt: attempt})
		fmt.Println(string(res.Value), err)
	}
	// Output:
	// stand-in: the first 1 attempts fail
	// "ok" <nil>
}
