package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/openai"
)

func ExampleClient_Complete() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}`)
	}))
	defer server.Close()
	c, err := openai.New(model.Config{Model: "some-model", BaseURL: server.URL + "/v1", APIKey: "secret"})
	if err != nil {
		panic(err)
	}
	answer, err := c.Complete(context.Background(), &model.Request{Prompt: "Say hello.", Schema: json.RawMessage(`{"type": "object"}`)})
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Text, answer.Input, answer.Output)
	// Output: hello 3 1
}
