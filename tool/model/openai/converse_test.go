package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/modeltest"
	"github.com/plc-lang/plc/tool/model/openai"
)

// conversation has all that a turn can hold.
var conversation = model.Turn{
	System: "be brief",
	Messages: []model.Message{
		{Role: model.User, Text: "hello"},
		{Role: model.Assistant, Text: "Let me see.", Calls: []model.FunctionCall{{ID: "c1", Name: "fs.read", Params: `{"n": 1.50}`}, {ID: "c2", Name: "now"}, {ID: "c3", Name: "now", Params: `oops`}}},
		{Role: model.Returned, ID: "c1", Text: "text"},
		{Role: model.Returned, ID: "c2"},
		{Role: model.Returned, ID: "c3", Text: "no such time", Error: true},
		{Role: model.User},
		{Role: model.Assistant},
		{Role: model.User, Text: "<†>"},
	},
	Functions: []model.Function{
		{Name: "fs.read", Description: "Reads.", Params: json.RawMessage(`{"type": "object", "properties": {"n": {"type": "number", "maximum": 1.50}}}`)},
		{Name: "now"},
	},
	Schema: json.RawMessage(`{"type": "object", "properties": {"b": {}, "a": {}}}`), Strict: true, Attempt: 3,
}

func TestConverseRequest(t *testing.T) {
	const (
		messages = `{"role":"user","content":"hello"},` +
			`{"role":"assistant","content":"Let me see.","tool_calls":[{"id":"c1","type":"function","function":{"name":"fs_read","arguments":"{\"n\": 1.50}"}},{"id":"c2","type":"function","function":{"name":"now","arguments":"{}"}},{"id":"c3","type":"function","function":{"name":"now","arguments":"oops"}}]},` +
			`{"role":"tool","content":"text","tool_call_id":"c1"},{"role":"tool","content":"\"\"","tool_call_id":"c2"},{"role":"tool","content":"no such time","tool_call_id":"c3"},` +
			`{"role":"user","content":"<†>"}]`
		tools = `"tools":[{"function":{"name":"fs_read","description":"Reads.","parameters":{"type":"object","properties":{"n":{"type":"number","maximum":1.50}}}},"type":"function"},` +
			`{"function":{"name":"now","parameters":{"type":"object","properties":{}}},"type":"function"}]`
		format = `"response_format":{"type":"json_schema","json_schema":{"name":"result","schema":{"type":"object","properties":{"b":{},"a":{}}},"strict":true}}`
		system = `{"role":"system","content":"be brief\n\nAn answer meets this JSON Schema: {\"type\": \"object\", \"properties\": {\"b\": {}, \"a\": {}}}"}`
	)
	warm, hot := 0.5, 1.25
	for _, c := range []struct {
		stream      bool
		temperature *float64
		want        string
	}{
		{false, &hot, `{"model":"some-model","messages":[` + system + `,` + messages + `,"max_tokens":50,"temperature":1.25,"stream":false,` + format + `,` + tools + `}`},
		{true, nil, `{"model":"some-model","messages":[` + system + `,` + messages + `,"max_tokens":50,"temperature":0.5,"stream":true,` + format + `,` + tools + `,"stream_options":{"include_usage":true}}`},
	} {
		s := modeltest.New(t, modeltest.Say("{}"))
		config := s.OpenAI()
		config.MaxTokens, config.Temperature = 50, &warm
		turn := conversation
		turn.Temperature = c.temperature
		if c.stream {
			turn.OnText = func(string) error { return nil }
		}
		client, err := openai.New(config)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Converse(t.Context(), &turn); err != nil {
			t.Fatal(err)
		}
		got := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(s.Requests()[0].Body))
		if got != c.want {
			t.Errorf("asked\n%s\nwant\n%s", got, c.want)
		}
	}
}

// What the provider does not take is said without asking it, and for good.
func TestModelsThatCannotBeAskedSo(t *testing.T) {
	s := modeltest.New(t)
	config := s.OpenAI()
	config.Model, config.MaxTokens = "gpt-5", 50
	c, err := openai.New(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Converse(t.Context(), &model.Turn{Messages: []model.Message{{Role: model.User, Text: "x"}}})
	var te *tool.Error
	if !errors.As(err, &te) || te.Code != model.BadTurn || !te.Permanent || !strings.Contains(te.Message, "gpt-5") || len(s.Requests()) > 0 {
		t.Errorf("%v", err)
	}
}

// Servers write their streams in several ways.
func TestStreams(t *testing.T) {
	delta := func(d string) string {
		return `data: {"choices":[{"index":0,"delta":{` + d + `},"finish_reason":null}]}` + "\n\n"
	}
	const end = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	call := func(name, id, params string) model.FunctionCall {
		return model.FunctionCall{ID: id, Name: name, Params: params}
	}
	for _, c := range []struct {
		name, body string
		want       model.Reply
	}{
		{"comments and lines of Windows", ": hi\r\n\r\nretry: 10\r\nid: 1\r\n" + strings.ReplaceAll(delta(`"content":"a"`)+end, "\n", "\r\n"), model.Reply{Text: "a"}},
		{"a thousand comments", strings.Repeat(": still there\n\n", 1000) + delta(`"content":"a"`) + end, model.Reply{Text: "a"}},
		{"no space, nor an end", strings.ReplaceAll(delta(`"content":"a"`)+end, "data: ", "data:"), model.Reply{Text: "a"}},
		{"usage with the last choice", `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":9}},"error":null}` + "\n\ndata: [DONE]\n\n", model.Reply{Text: "a", Input: 5, Output: 2, Cached: 5}},
		{"usage in each chunk", `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1}}` + "\n\n" + delta(`"content":"a"`) + end + `data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}` + "\n\n", model.Reply{Text: "a", Input: 5, Output: 2}},
		{"usage below zero", delta(`"content":"a"`) + end + `data: {"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":-1,"prompt_tokens_details":{"cached_tokens":-1}}}` + "\n\n", model.Reply{Text: "a"}},
		{"another choice", strings.ReplaceAll(delta(`"content":"b"`), `"index":0`, `"index":1`) + delta(`"content":"a"`) + end, model.Reply{Text: "a"}},
		{"words of the thoughts", delta(`"reasoning_content":"hm"`) + delta(`"content":"a"`) + end, model.Reply{Text: "a"}},
		{"a filter", delta(`"content":"a"`) + strings.ReplaceAll(end, "stop", "content_filter"), model.Reply{Text: "a", Stop: model.Refusal}},
		{"calls with their pieces mixed", delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g"}}]`) +
			delta(`"tool_calls":[{"index":1,"function":{"arguments":"{"}}]`) + delta(`"tool_calls":[{"index":0,"function":{"arguments":"["}}]`) + delta(`"tool_calls":[{"index":1,"function":{"arguments":"}"}}]`) + end,
			model.Reply{Calls: []model.FunctionCall{call("f", "a", "["), call("g", "b", "{}")}}},
		{"calls without an index", delta(`"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{"}}]`) + delta(`"tool_calls":[{"function":{"arguments":"}"}}]`) + delta(`"tool_calls":[{"id":"b","function":{"name":"g","arguments":"{}"}}]`) + end,
			model.Reply{Calls: []model.FunctionCall{call("f", "a", "{}"), call("g", "b", "{}")}}},
		{"calls of one index", delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]`) + delta(`"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]`) + end,
			model.Reply{Calls: []model.FunctionCall{call("f", "a", "{}"), call("g", "b", "{}")}}},
		{"an id in each piece", delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]`) + delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"}"}}]`) + end,
			model.Reply{Calls: []model.FunctionCall{call("f", "a", "{}")}}},
		{"no ids, and far indexes", delta(`"tool_calls":[{"index":1000000000,"function":{"name":"f","arguments":"{}"}}]`) + delta(`"tool_calls":[{"index":-7,"function":{"name":"g","arguments":"{}"}}]`) + end,
			model.Reply{Calls: []model.FunctionCall{call("f", "call_1", "{}"), call("g", "call_2", "{}")}}},
		{"one id for all", delta(`"tool_calls":[{"index":0,"id":"x","function":{"name":"f"}},{"index":1,"id":"x","function":{"name":"g"}}]`) + end,
			model.Reply{Calls: []model.FunctionCall{call("f", "x", ""), call("g", "call_2", "")}}},
	} {
		got, err := modeltest.Stream(t, open(t, modeltest.New(t, modeltest.Reply{Raw: c.body})), greeting)
		if err != nil || !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
}

// greeting is the smallest turn.
var greeting = model.Turn{Messages: []model.Message{{Role: model.User, Text: "hello"}}}

// open returns a client of a server.
func open(t testing.TB, s *modeltest.Server) *openai.Client {
	t.Helper()
	c, err := openai.New(s.OpenAI())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A piece is told before the next one comes: the server waits for it.
func TestPiecesAreToldAsTheyCome(t *testing.T) {
	next := make(chan bool)
	url, _ := answers(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 5 {
			for _, b := range []byte(fmt.Sprintf("data: {\"choices\":[{\"delta\":{\"content\":\"%d†\"}}]}\n\n", i)) { // drip by drip
				w.Write([]byte{b})
				http.NewResponseController(w).Flush()
			}
			<-next
		}
		io.WriteString(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
	})
	c, err := openai.New(model.Config{Model: "m", APIKey: key, BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Converse(t.Context(), &model.Turn{
		Messages: []model.Message{{Role: model.User, Text: "x"}},
		OnText:   func(string) error { next <- true; return nil },
	})
	if err != nil || r.Text != "0†1†2†3†4†" {
		t.Errorf("%+v, %v", r, err)
	}
}

// Whatever a server streams is a reply whose text was told, or a *tool.Error.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n",
		"data: {\"error\":{\"message\":\"no\"}}\n\n", "event: error\ndata: x\n\n", ": c\r\n\r\n", "data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n",
	} {
		f.Add(s)
	}
	raw := "" // of the next answer; one process asks for one at a time
	c := open(f, modeltest.Func(f, func(int, *modeltest.Request) modeltest.Reply { return modeltest.Reply{Raw: raw} }))
	f.Fuzz(func(t *testing.T, body string) {
		raw = body + "\n"
		r, err := modeltest.Stream(t, c, greeting)
		var te *tool.Error
		if err != nil && (!errors.As(err, &te) || te.Uncertain) || err == nil && r == nil {
			t.Errorf("%q is %+v, %v", body, r, err)
		}
	})
}

func BenchmarkStream(b *testing.B) {
	modeltest.BenchmarkStream(b, func(s *modeltest.Server) model.Converser { return open(b, s) })
}
