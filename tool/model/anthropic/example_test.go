package anthropic_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/anthropic"
)

func ExampleClient_Complete() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id": "m", "type": "message", "role": "assistant", "model": "some-model", "content": [{"type": "tool_use", "id": "t", "name": "answer", "input": {"_value": "hello"}}], "stop_reason": "tool_use", "usage": {"input_tokens": 3, "output_tokens": 1}}`)
	}))
	defer server.Close()
	c, err := anthropic.New(model.Config{Model: "some-model", BaseURL: server.URL, APIKey: "secret"})
	if err != nil {
		panic(err)
	}
	answer, err := c.Complete(context.Background(), &model.Request{Prompt: "Say hello.", Schema: json.RawMessage(`{"type": "object"}`)})
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Text, answer.Input, answer.Output)
	// Output: {"_value": "hello"} 3 1
}
