package tool_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

func ExampleFunc() {
	type In struct {
		City string `json:"city" jsonschema:"where"`
	}
	type Out struct {
		Degrees float64 `json:"degrees"`
	}
	weather := tool.Func("weather", "The weather of a city.",
		func(_ context.Context, in In) (Out, error) { return Out{float64(len(in.City))}, nil })
	weather.Definition.Effects.ReadOnly = tool.Yes

	t, _ := tool.NewCatalogue(weather).Lookup("weather")
	res, err := t.Activity.Call(context.Background(), &tool.Request{Params: json.RawMessage(`{"city": "Paris"}`)})
	fmt.Println(t.Definition.Signature())
	fmt.Println(string(res.Value), err)
	// Output:
	// weather(city: string) → {degrees: number}
	// {"degrees":5} <nil>
}

func ExampleParseDefinition() {
	def, findings := tool.ParseDefinition(json.RawMessage(`{
		"properties": {
			"userName": {"type": "string"},
			"_outputPath": {"const": "†state.profile"},
			"_output": {"type": "object", "properties": {"email": {"type": "string"}}}
		},
		"required": ["userName"],
		"_outcomes": ["found", "unknown"],
		"effects": {"readOnly": true}
	}`), "fetchUserProfile", diag.Loc{})
	fmt.Println(def.Signature(), findings)
	fmt.Println(string(def.Fixed["_outputPath"].Const), def.Effects.ReadOnly)
	// Output:
	// fetchUserProfile(userName: string) → {email?: string} | found | unknown []
	// "†state.profile" yes
}
