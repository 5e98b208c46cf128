package process_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/process"
)

func ExampleNew() {
	a, err := process.New(process.Config{Command: []string{"printf", "%s", "hello {name}"}, Output: "text"})
	if err != nil {
		panic(err)
	}
	res, err := a.Call(context.Background(), &tool.Request{Params: json.RawMessage(`{"name": "$(reboot)"}`)})
	fmt.Println(string(res.Value), err) // there is no shell
	// Output: "hello $(reboot)" <nil>
}
