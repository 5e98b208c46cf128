package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/mcp"
)

func ExampleOpen() {
	type in struct {
		Name string `json:"name"`
	}
	server := sdk.NewServer(&sdk.Implementation{Name: "greeter", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "greet"}, func(_ context.Context, _ *sdk.CallToolRequest, p in) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "hello " + p.Name}}}, nil, nil
	})
	service := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	defer service.Close()

	pool := mcp.Open(context.Background(), []mcp.Server{{Name: "greeter", URL: service.URL}}, nil)
	defer pool.Close()
	t, err := pool.Tool("greeter", "greet")
	if err != nil {
		panic(err)
	}
	res, err := t.Activity.Call(context.Background(), &tool.Request{Tool: "greet", Params: json.RawMessage(`{"name": "Ada"}`)})
	fmt.Println(t.Definition.Signature(), string(res.Value), err)
	// Output: greet(name: string) "hello Ada" <nil>
}
