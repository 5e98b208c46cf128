package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// says is a model that says one thing, and keeps what it was asked.
type says struct {
	answer model.Answer
	asked  []*model.Request
}

func (s *says) Complete(_ context.Context, req *model.Request) (*model.Answer, error) {
	s.asked = append(s.asked, req)
	a := s.answer
	return &a, nil
}

func define(t testing.TB, text string) *tool.Definition {
	t.Helper()
	def, findings := tool.ParseDefinition([]byte(text), "think", diag.Loc{})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	return def
}

func call(t testing.TB, definition, text string, b *tool.Brief) (*says, tool.Result, error) {
	t.Helper()
	s := &says{answer: model.Answer{Text: text, Input: 1000, Output: 10}}
	res, err := model.New(s, &model.Options{Prices: model.Prices{Input: 1, Output: 100}}).Call(t.Context(), &tool.Request{
		Tool: "think", Definition: define(t, definition), Params: json.RawMessage(`{"n":1.50}`), Attempt: 1, Brief: b,
	})
	return s, res, err
}

func TestAnswers(t *testing.T) {
	const integer = `{"properties":{"_output":{"type":"integer"}}}`
	short, err := schemas.Compile(json.RawMessage(`{"maximum":5}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := []tool.Outcome{{Name: "yes", Schema: short}, {Name: "no"}}
	for _, c := range []struct {
		definition, answer string
		brief              *tool.Brief
		want               string // the outcome and the value, or the code of the failure
	}{
		{integer, `{"_value":3}`, nil, " 3"},
		{integer, " \n{ \"_value\" : 3 }\n", nil, " 3"},
		{integer, "```json\n{\"_value\":3}\n```", nil, " 3"},
		{integer, "```\n{\"_value\":3}```", nil, " 3"},
		{`{}`, `{"_value":1.500}`, nil, " 1.500"},
		{`{}`, `{"_value":{"_outcome":"yes"}}`, nil, ` {"_outcome":"yes"}`},
		{integer, `{"_value":"3"}`, nil, "result"},
		{integer, `3`, nil, "result"},
		{integer, `{"value":3}`, nil, "result"},
		{integer, `{"_value":3`, nil, "result"},
		{integer, `{"_value":3,"_value":4}`, nil, "result"},
		{integer, ``, nil, "result"},
		{integer, "```", nil, "result"},
		{integer, "\xff", nil, "result"},
		{integer, `here: {"_value":3}`, nil, "result"},
		{integer, strings.Repeat("[", 1e6), nil, "result"},
		{integer, `{"_value":9}`, &tool.Brief{Expect: short}, "unexpected"},
		{`{}`, `{"_outcome":"yes","_value":3}`, &tool.Brief{Outcomes: outcomes}, "yes 3"},
		{`{}`, `{"_outcome":"no","_value":9}`, &tool.Brief{Outcomes: outcomes}, "no 9"},
		{`{}`, `{"_outcome":"yes","_value":9}`, &tool.Brief{Outcomes: outcomes}, "result"},
		{`{}`, `{"_outcome":"maybe","_value":9}`, &tool.Brief{Outcomes: outcomes}, "outcome"},
		{`{}`, `{"_value":9}`, &tool.Brief{Outcomes: outcomes}, "outcome"},
	} {
		_, res, err := call(t, c.definition, c.answer, c.brief)
		got := res.Outcome + " " + string(res.Value)
		var te *tool.Error
		if errors.As(err, &te) {
			got = te.Code
			if te.Permanent || te.Uncertain || len(te.Message) > 2000 {
				t.Errorf("%.50q: %+v", c.answer, te)
			}
		}
		if got != c.want {
			t.Errorf("%.50q gives %.200q (%v), want %q", c.answer, got, err, c.want)
		}
		if want := (tool.Usage{Tokens: 1010, Input: 1000, Output: 10, Cost: 0.002}); res.Usage != want {
			t.Errorf("%.50q used %+v", c.answer, res.Usage)
		}
	}
}

func TestAnswersThatStopped(t *testing.T) {
	for stop, code := range map[model.Stop]string{model.Length: "truncated", model.Refusal: "refusal"} {
		c := &says{answer: model.Answer{Text: `{"_value":1}`, Stop: stop, Reason: "no", Output: 7}}
		res, err := model.New(c, nil).Call(t.Context(), &tool.Request{Tool: "think"})
		var te *tool.Error
		if !errors.As(err, &te) || te.Code != code || res.Usage.Tokens != 7 {
			t.Errorf("%s: %+v, %v", stop, res, err)
		}
	}
}

func TestSchemas(t *testing.T) {
	for _, c := range []struct {
		definition string
		value      string // the schema of _value
		strict     bool
	}{
		{`{}`, `{}`, false},
		{`{"properties":{"_output":{"type":"string"}}}`, `{"type":"string"}`, true},
		{`{"properties":{"_output":{"type":"object","properties":{"a":{"type":"number"}}}}}`, `{"type":"object","properties":{"a":{"type":"number"}}}`, false},
		{`{"properties":{"_output":{"type":"object","properties":{"a":{"type":"number"}},"required":["a"],"additionalProperties":false}}}`,
			`{"type":"object","properties":{"a":{"type":"number"}},"required":["a"],"additionalProperties":false}`, true},
		{`{"properties":{"_output":{"type":"array"}}}`, `{"type":"array"}`, false},
		{`{"properties":{"p":{"$ref":"#/$defs/n"},"_output":{"type":"integer"}},"$defs":{"n":{"type":"number"}}}`, `{"type":"integer"}`, true},
		{`{"properties":{"_output":{"type":"array","items":{"$ref":"#/$defs/n"}}},"$defs":{"n":{"type":"number"}}}`, `{"$ref":"#/$defs/schema1/properties/_output"}`, false},
	} {
		s, _, _ := call(t, c.definition, `{"_value":1}`, nil)
		req := s.asked[0]
		if got := gjson.GetBytes(req.Schema, "properties._value").Raw; got != c.value || req.Strict != c.strict {
			t.Errorf("%s: %s (strict: %t) in %s", c.definition, got, req.Strict, req.Schema)
		}
		// What is sent is a schema itself, and means what the definition does.
		schema, err := schemas.Compile(req.Schema, nil)
		if err != nil {
			t.Errorf("%s: %v", req.Schema, err)
		} else if err := schema.Validate(json.RawMessage(`{"_value":["x"]}`)); (err == nil) != (c.definition == `{}` || strings.Contains(c.value, `"array"}`)) {
			t.Errorf("%s takes a list of strings: %v", req.Schema, err)
		}
	}
}

func TestTape(t *testing.T) {
	var file bytes.Buffer
	tape, err := model.ReadTape(nil, &file)
	if err != nil {
		t.Fatal(err)
	}
	live := &says{answer: model.Answer{Text: `{"_value":1}`, Input: 5}}
	warm := 0.5
	config := model.Config{Model: "m", APIKey: "secret", BaseURL: "http://here"}
	ask := func(c model.Client, prompt string, attempt int) error {
		_, err := c.Complete(t.Context(), &model.Request{Prompt: prompt, Schema: json.RawMessage(`{"a": 1.0}`), Attempt: attempt})
		return err
	}
	for range 3 {
		if err := ask(tape.Client(config, live), "a", 1); err != nil {
			t.Fatal(err)
		}
	}
	if len(live.asked) != 3 || strings.Count(file.String(), "\n") != 3 || strings.Contains(file.String(), "secret") || strings.Contains(file.String(), "here") {
		t.Errorf("asked %d times, recorded %s", len(live.asked), file.String())
	}
	again, err := model.ReadTape(bytes.NewReader(file.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	moved := model.Config{Model: "m", BaseURL: "http://elsewhere"}
	if err := ask(again.Client(moved, nil), "a", 1); err != nil {
		t.Errorf("elsewhere: %v", err)
	}
	for name, err := range map[string]error{
		"prompt":      ask(again.Client(moved, nil), "b", 1),
		"attempt":     ask(again.Client(moved, nil), "a", 2),
		"model":       ask(again.Client(model.Config{Model: "n"}, nil), "a", 1),
		"temperature": ask(again.Client(model.Config{Model: "m", Temperature: &warm}, nil), "a", 1),
	} {
		var te *tool.Error
		if !errors.As(err, &te) || te.Code != "no-recording" || !te.Permanent {
			t.Errorf("another %s: %v", name, err)
		}
	}
	for _, text := range []string{
		"{", "[]", `{}`, `{"request":{}}`, `{"request":{},"answer":{"input":-1}}`, `{"request":1,"request":2}`,
		strings.Replace(file.String(), `"attempt":1`, `"attempt":2`, 1), strings.Repeat("[", 1e5), "\xff",
	} {
		if _, err := model.ReadTape(strings.NewReader("\n"+text), nil); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"_value":1}`, "```json\n{\"_value\":1}\n```", `{"_outcome":"a","_value":[]}`, "{", "```"} {
		f.Add(s)
	}
	def := define(f, `{"properties":{"_output":{"type":"integer"}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		res, err := model.New(&says{answer: model.Answer{Text: text}}, nil).Call(t.Context(), &tool.Request{Tool: "think", Definition: def})
		if err == nil && def.Output.Validate(res.Value) != nil {
			t.Errorf("%q gives %s", text, res.Value)
		}
	})
}
