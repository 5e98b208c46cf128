package anthropic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/anthropic"
	"github.com/plc-lang/plc/tool/model/modeltest"
)

var greeting = []model.Message{{Role: model.User, Text: "hello"}}

// conversation has all that a turn can hold.
var conversation = model.Turn{
	System: "be brief",
	Messages: []model.Message{
		{Role: model.User, Text: "hello"},
		{Role: model.User, Text: "there"},
		{Role: model.Assistant, Text: "Let me see.", Calls: []model.FunctionCall{{ID: "call/1", Name: "fs.read", Params: `{"n": 1.50}`}, {ID: "c2", Name: "now"}, {ID: "c3", Name: "now", Params: `oops`}}},
		{Role: model.Returned, ID: "call/1", Text: "text"},
		{Role: model.Returned, ID: "c2"},
		{Role: model.Returned, ID: "c3", Text: "no such time", Error: true},
		{Role: model.Assistant, Text: " \n"},
		{Role: model.User, Text: "<†>"},
	},
	Functions: []model.Function{
		{Name: "fs.read", Description: "Reads.", Params: json.RawMessage(`{"type": "object", "properties": {"n": {"type": "number", "maximum": 1.50}}, "required": ["n"], "additionalProperties": false}`)},
		{Name: "now"}, {Name: "answer"},
	},
}

func TestConverseRequest(t *testing.T) {
	const (
		messages = `"messages":[{"content":[{"text":"hello","type":"text"},{"text":"there","type":"text"}],"role":"user"},` +
			`{"content":[{"text":"Let me see.","type":"text"},{"id":"call_1","input":{"n":1.50},"name":"fs_read","type":"tool_use"},{"id":"c2","input":{},"name":"now","type":"tool_use"},{"id":"c3","input":{"_params":"oops"},"name":"now","type":"tool_use"}],"role":"assistant"},` +
			`{"content":[{"tool_use_id":"call_1","is_error":false,"content":[{"text":"text","type":"text"}],"type":"tool_result"},{"tool_use_id":"c2","is_error":false,"type":"tool_result"},{"tool_use_id":"c3","is_error":true,"content":[{"text":"no such time","type":"text"}],"type":"tool_result"},{"text":"<†>","type":"text"}],"role":"user"}]`
		head  = `{"max_tokens":8192,` + messages + `,"model":"some-model","system":[{"text":"be brief","type":"text"}]`
		read  = `{"input_schema":{"type":"object","properties":{"n":{"type":"number","maximum":1.50}},"required":["n"],"additionalProperties":false},"name":"fs_read","description":"Reads."}`
		takes = `{"input_schema":{"type":"object","properties":{"b":{},"a":{}}}`
		rest  = `{"input_schema":{"type":"object"},"name":"now"},{"input_schema":{"type":"object"},"name":"answer"}`
	)
	schema := json.RawMessage(`{"type": "object", "properties": {"b": {}, "a": {}}}`)
	for _, c := range []struct {
		schema    json.RawMessage
		functions []model.Function
		stream    bool
		want      string
	}{
		{nil, nil, false, head + `,"temperature":0.25}`},
		{nil, nil, true, head + `,"stream":true}`},
		{nil, conversation.Functions, false, head + `,"tools":[` + read + `,` + rest + `]}`},
		{schema, nil, false, head + `,"tool_choice":{"name":"answer","disable_parallel_tool_use":true,"type":"tool"},"tools":[` + takes + `,"name":"answer","description":"Takes the answer."}]}`},
		{schema, conversation.Functions, true, head + `,"tool_choice":{"type":"any"},"tools":[` + read + `,` + rest + `,` + takes + `,"name":"answer_2","eager_input_streaming":true,"description":"Takes the answer."}],"stream":true}`},
	} {
		s := modeltest.New(t, modeltest.Say("{}"))
		turn := conversation
		turn.Schema, turn.Functions = c.schema, c.functions
		if c.schema == nil && c.functions == nil && !c.stream {
			turn.Temperature = new(0.25)
		}
		if c.stream {
			turn.OnText = func(string) error { return nil }
		}
		client, err := anthropic.New(s.Anthropic())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Converse(t.Context(), &turn); err != nil {
			t.Fatal(err)
		}
		got := string(s.Requests()[0].Body)
		if same := new(any); json.Unmarshal([]byte(got), same) != nil {
			t.Errorf("asked %s", got)
		}
		if !equal(got, c.want) {
			t.Errorf("asked\n%s\nwant\n%s", got, c.want)
		}
	}
}

// equal reports whether two texts are the same JSON, but for the order of members; numbers keep
// their digits.
func equal(a, b string) bool {
	read := func(text string) (v any) {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if d.Decode(&v) != nil {
			return text
		}
		return v
	}
	return reflect.DeepEqual(read(a), read(b))
}

// event returns an event of a stream.
func event(kind, more string) string {
	return fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, more)
}

func TestStreams(t *testing.T) {
	start := event("message_start", `,"message":{"usage":{"input_tokens":5,"cache_creation_input_tokens":10,"cache_read_input_tokens":20,"output_tokens":1}}`)
	text := event("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`)
	says := event("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"a†"}`)
	end := event("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}`) + event("message_stop", "")
	use := func(index int, id, name, input string) string {
		return event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":%s}`, index, id, name, input))
	}
	part := func(index int, piece string) string {
		return event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":{"type":"input_json_delta","partial_json":%q}`, index, piece))
	}
	said := model.Reply{Text: "a†", Input: 35, Cached: 20, Output: 7}
	called := func(list ...model.FunctionCall) model.Reply {
		return model.Reply{Calls: list, Input: 35, Cached: 20, Output: 7}
	}
	schema := json.RawMessage(`{"type":"object"}`)
	for _, c := range []struct {
		name, body string
		schema     json.RawMessage
		want       model.Reply
	}{
		{"pings, comments and lines of Windows", strings.ReplaceAll(": hi\n\n"+start+event("ping", "")+text+says+event("content_block_stop", `,"index":0`)+end, "\n", "\r\n"), nil, said},
		{"events of times to come", start + event("something", `,"delta":{"text":"x"}`) + text + says + end, nil, said},
		{"what comes after the end", start + text + says + end + says, nil, said},
		{"thoughts", start + event("content_block_start", `,"index":9,"content_block":{"type":"thinking","thinking":""}`) +
			event("content_block_delta", `,"index":9,"delta":{"type":"thinking_delta","thinking":"hm"}`) + event("content_block_delta", `,"index":9,"delta":{"type":"signature_delta","signature":"x"}`) + text + says + end, nil, said},
		{"counts at the end", start + text + says + event("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":6,"cache_read_input_tokens":21,"cache_creation_input_tokens":null,"output_tokens":8}`) + event("message_stop", ""), nil,
			model.Reply{Text: "a†", Input: 37, Cached: 21, Output: 8}},
		{"no counts", text + says + event("message_stop", ""), nil, model.Reply{Text: "a†"}},
		{"a context that is full", start + text + says + strings.ReplaceAll(end, "end_turn", "model_context_window_exceeded"), nil, model.Reply{Text: "a†", Stop: model.Length, Input: 35, Cached: 20, Output: 7}},
		{"calls with their pieces mixed", start + use(0, "a", "f", "{}") + use(1, "b", "g", "{}") + part(1, `{"x"`) + part(0, "{") + part(1, ":1}") + end, nil,
			called(model.FunctionCall{ID: "a", Name: "f", Params: "{"}, model.FunctionCall{ID: "b", Name: "g", Params: `{"x":1}`})},
		{"calls without params, and with all at once", start + use(0, "a", "f", "{}") + use(1, "", "g", `{"x":1.50}`) + end, nil,
			called(model.FunctionCall{ID: "a", Name: "f", Params: "{}"}, model.FunctionCall{ID: "call_2", Name: "g", Params: `{"x":1.50}`})},
		{"tools of the server", start + event("content_block_start", `,"index":3,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}`) + part(3, "{}") + text + says + end, nil, said},
		{"an answer after prose", start + text + says + use(1, "t", "answer", "{}") + part(1, `{"a":`) + part(1, `"x"}`) + end, schema, model.Reply{Text: `{"a":"x"}`, Input: 35, Cached: 20, Output: 7}},
		{"of two answers the first", start + use(0, "t", "answer", "{}") + use(1, "u", "answer", "{}") + part(1, `{"b":1}`) + part(0, `{"a":1}`) + end, schema, model.Reply{Text: `{"a":1}`, Input: 35, Cached: 20, Output: 7}},
		{"an empty answer", start + use(0, "t", "answer", "{}") + end, schema, model.Reply{Text: `{}`, Input: 35, Cached: 20, Output: 7}},
		{"prose for an answer", start + text + says + end, schema, said},
		{"an answer that is cut off", start + use(0, "t", "answer", "{}") + part(0, `{"a`) + strings.ReplaceAll(end, "end_turn", "max_tokens"), schema, model.Reply{Text: `{"a`, Stop: model.Length, Input: 35, Cached: 20, Output: 7}},
	} {
		got, err := modeltest.Stream(t, open(t, modeltest.New(t, modeltest.Reply{Raw: c.body})), model.Turn{Messages: greeting, Schema: c.schema})
		if err != nil || !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: %+v, %v\nwant %+v", c.name, got, err, c.want)
		}
	}
	for _, body := range []string{says, start + says + end, start + part(-1, "x")} {
		_, err := modeltest.Stream(t, open(t, modeltest.New(t, modeltest.Reply{Raw: body})), model.Turn{Messages: greeting})
		if te := (*tool.Error)(nil); !errors.As(err, &te) || te.Code != "bad-output" {
			t.Errorf("%q: %v", body, err)
		}
	}
}

// open returns a client of a server.
func open(t testing.TB, s *modeltest.Server) *anthropic.Client {
	t.Helper()
	c, err := anthropic.New(s.Anthropic())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A piece is told before the next one comes: the server waits for it.
func TestPiecesAreToldAsTheyCome(t *testing.T) {
	next := make(chan bool)
	client, _ := answers(t, model.Config{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		drip := func(event string) {
			for _, b := range []byte(event) {
				w.Write([]byte{b})
				http.NewResponseController(w).Flush()
			}
		}
		drip(event("content_block_start", `,"index":0,"content_block":{"type":"tool_use","name":"answer","input":{}}`))
		for i := range 5 {
			drip(event("content_block_delta", fmt.Sprintf(`,"index":0,"delta":{"type":"input_json_delta","partial_json":"%d†"}`, i)))
			<-next
		}
		drip(event("message_stop", ""))
	})
	r, err := client.(model.Converser).Converse(t.Context(), &model.Turn{
		Messages: greeting, Schema: json.RawMessage(`{}`),
		OnText: func(string) error { next <- true; return nil },
	})
	if err != nil || r.Text != "0†1†2†3†4†" {
		t.Errorf("%+v, %v", r, err)
	}
}

// Whatever a server streams is a reply whose text was told, or a *tool.Error.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		event("content_block_start", `,"index":0,"content_block":{"type":"text","text":"a"}`) + event("message_stop", ""),
		event("content_block_start", `,"index":0,"content_block":{"type":"tool_use","name":"answer","input":{"a":1}}`) + event("content_block_delta", `,"index":0,"delta":{"partial_json":"{"}`) + event("message_stop", ""),
		event("message_delta", `,"delta":{"stop_reason":"refusal","stop_details":{"explanation":"no"}},"usage":{"input_tokens":-1}`),
		event("error", `,"error":{"type":"overloaded_error","message":"no"}`), "event: message_start\ndata: [\n\n", "data: \xff\n\n",
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	raw := "" // of the next answer; one process asks for one at a time
	c := open(f, modeltest.Func(f, func(int, *modeltest.Request) modeltest.Reply { return modeltest.Reply{Raw: raw} }))
	f.Fuzz(func(t *testing.T, body string, structured bool) {
		var schema json.RawMessage
		if structured {
			schema = json.RawMessage(`{}`)
		}
		raw = body + "\n"
		r, err := modeltest.Stream(t, c, model.Turn{Messages: greeting, Schema: schema})
		var te *tool.Error
		if err != nil && (!errors.As(err, &te) || te.Uncertain) || err == nil && r == nil {
			t.Errorf("%q is %+v, %v", body, r, err)
		}
	})
}

func BenchmarkStream(b *testing.B) {
	modeltest.BenchmarkStream(b, func(s *modeltest.Server) model.Converser { return open(b, s) })
}
