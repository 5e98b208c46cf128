package model_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// parrot is a model that always says the same.
type parrot struct{}

func (parrot) Complete(context.Context, *model.Request) (*model.Answer, error) {
	return &model.Answer{Text: `{"_value": "a poem"}`}, nil
}

func ExampleNew() {
	def, _ := tool.ParseDefinition(json.RawMessage(`{"_output": {"type": "string"}}`), "poem", diag.Loc{})
	res, err := model.New(parrot{}, nil).Call(context.Background(), &tool.Request{
		Tool: "poem", Params: json.RawMessage(`{"about": "rain"}`), Definition: def,
	})
	fmt.Println(string(res.Value), err)
	// Output: "a poem" <nil>
}
