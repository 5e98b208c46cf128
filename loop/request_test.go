package loop_test

import (
	"context"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

func TestParseContext(t *testing.T) {
	const hi = `[{"type":"input","request":"hi"}]`
	for name, c := range map[string]struct{ text, context, schema, fault string }{
		"a list":              {text: hi, context: hi},
		"JavaScript":          {text: "// Agent.Request(config, schema, context)\n{\n  schema: { type: 'object' },\n  context: [ { type: 'input', request: 'hi' }, ],\n}", context: hi, schema: `{"type":"object"}`},
		"a list in that":      {text: "[ { type: 'input', request: 'hi' } ] // so", context: hi},
		"schema of solution":  {text: `{"schema":{"properties":{"calls":{"type":"array"},"output":{"type":"string"}}},"context":` + hi + `}`, context: hi, schema: `{"type":"string"}`},
		"output is left out":  {text: `{"schema":{"properties":{"calls":{"type":"array"}}},"context":` + hi + `}`, context: hi},
		"its definitions":     {text: `{"schema":{"$defs":{"a":{"type":"null"}},"properties":{"calls":{},"output":{"$ref":"#/$defs/a"}}},"context":` + hi + `}`, context: hi, schema: `{"$defs":{"a":{"type":"null"}},"$ref":"#/$defs/a"}`},
		"calls in the output": {text: `{"schema":{"properties":{"calls":{"type":"integer"}}},"context":` + hi + `}`, context: hi, schema: `{"properties":{"calls":{"type":"integer"}}}`},
		"think in a string":   {text: `[{"type":"text","text":"a </think> b"}]`, context: `[{"type":"text","text":"a </think> b"}]`},
		"an object":           {text: `{"type":"input"}`, fault: "not a list of messages"},
		"cut off":             {text: `[{"type":`, fault: "ends inside"},
	} {
		context, schema, findings := loop.ParseContext(diag.NewFile("x", []byte(c.text)))
		fault := ""
		if err := findings.Err(); err != nil {
			fault = err.Error()
		}
		if string(context) != c.context || string(schema) != c.schema || (fault == "") != (c.fault == "") || !strings.Contains(fault, c.fault) {
			t.Errorf("%s: context %s, schema %s, findings %v", name, context, schema, findings)
		}
	}
}

// The schema of an answer accepts references below a param that is an object.
func TestReferenceInsideParam(t *testing.T) {
	type mail struct {
		To     string `json:"to"`
		Copies int    `json:"copies"`
	}
	send := tool.Func("send", "", func(_ context.Context, p struct {
		Mail mail `json:"mail"`
	}) (string, error) {
		return p.Mail.To, nil
	})
	const answer = `{"calls":[{"_tool":"send","mail":{"to":"†input.who","copies":"†input.n"},"_outputPath":"†state.to"}],"output":{"sent":"†state.to"}}`
	script := loop.Say(answer)
	script.OnTurn = func(turn *model.Turn) {
		s, err := schemas.Compile(turn.Schema, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate([]byte(answer)); err != nil {
			t.Error(err)
		}
		if s.Validate([]byte(strings.Replace(answer, `"†input.n"`, `"many"`, 1))) == nil {
			t.Error("a text stands for a number")
		}
	}
	result, err := loop.Solve(t.Context(), &loop.Task{
		Context:   []byte(`[{"type":"input","who":"a@b.c","n":2}]`),
		Schema:    []byte(`{"type":"object","properties":{"sent":{"type":"string"}}}`),
		Catalogue: tool.NewCatalogue(send), Planner: script,
	}, nil)
	if err != nil || string(result.Output) != `{"sent":"a@b.c"}` {
		t.Errorf("%v: %+v", err, result)
	}
}
