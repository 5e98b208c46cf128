package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/anthropic"
	"github.com/plc-lang/plc/tool/model/modeltest"
	"github.com/plc-lang/plc/tool/model/openai"
)

// providers are the clients of all providers, of a server.
var providers = map[string]func(t *testing.T, s *modeltest.Server) model.Converser{
	"openai": func(t *testing.T, s *modeltest.Server) model.Converser {
		c, err := openai.New(s.OpenAI())
		if err != nil {
			t.Fatal(err)
		}
		return c
	},
	"anthropic": func(t *testing.T, s *modeltest.Server) model.Converser {
		c, err := anthropic.New(s.Anthropic())
		if err != nil {
			t.Fatal(err)
		}
		return c
	},
}

// each runs a test with each provider, whole and streamed.
func each(t *testing.T, f func(t *testing.T, streamed bool, open func(*modeltest.Server) model.Converser)) {
	for name, open := range providers {
		for _, streamed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/streamed=%t", name, streamed), func(t *testing.T) {
				f(t, streamed, func(s *modeltest.Server) model.Converser { return open(t, s) })
			})
		}
	}
}

// ask asks, and checks that the pieces of a stream are the text.
func ask(ctx context.Context, c model.Converser, turn model.Turn, streamed bool) (*model.Reply, error) {
	var told strings.Builder
	if streamed {
		turn.OnText = func(piece string) error { told.WriteString(piece); return nil }
	}
	r, err := c.Converse(ctx, &turn)
	if err == nil && streamed && told.String() != r.Text {
		return r, fmt.Errorf("told %q, the text is %q", told.String(), r.Text)
	}
	return r, err
}

const answerSchema = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`

var (
	weather = model.Function{Name: "weather", Description: "The weather.", Params: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)}
	files   = model.Function{Name: "fs.read/â", Params: json.RawMessage(`{"type":"object"}`)}
	hello   = []model.Message{{Role: model.User, Text: "hello"}}
)

// A reply is the same whole and streamed, in pieces of any size, from both providers.
func TestReplies(t *testing.T) {
	calls := []model.FunctionCall{
		{ID: "call_a", Name: "weather", Params: `{"city":"Z\u00fcrich, \"†\" <&> 👩‍🚀"}`},
		{ID: "call_b", Name: "weather", Params: `{"city":"Paris"}`},
	}
	tests := []struct {
		name  string
		turn  model.Turn
		reply model.Reply
	}{
		{"prose", model.Turn{System: "be brief", Messages: hello}, model.Reply{Text: "Grüezi † 👩‍🚀\n\"<&>\\", Input: 12, Output: 3, Cached: 5}},
		{"nothing", model.Turn{Messages: hello}, model.Reply{Input: 1}},
		{"structured", model.Turn{Messages: hello, Schema: json.RawMessage(answerSchema), Strict: true}, model.Reply{Text: `{"a": "† 👩‍🚀", "n": 1.50}`, Output: 3}},
		{"structured, but prose", model.Turn{Messages: hello, Schema: json.RawMessage(answerSchema)}, model.Reply{Text: "I think that …"}},
		{"structured, and a function", model.Turn{Messages: hello, Schema: json.RawMessage(answerSchema), Functions: []model.Function{weather}}, model.Reply{Text: `{"a":"x"}`}},
		{"a function instead of an answer", model.Turn{Messages: hello, Schema: json.RawMessage(answerSchema), Functions: []model.Function{weather}}, model.Reply{Calls: calls[:1]}},
		{"calls", model.Turn{Messages: hello, Functions: []model.Function{weather}}, model.Reply{Text: "Let me see.", Calls: calls, Input: 9, Output: 9}},
		{"cut off", model.Turn{Messages: hello}, model.Reply{Text: "It is beca", Stop: model.Length, Output: 3}},
		{"refused", model.Turn{Messages: hello}, model.Reply{Stop: model.Refusal, Reason: "I would rather not: †"}},
	}
	each(t, func(t *testing.T, streamed bool, open func(*modeltest.Server) model.Converser) {
		for _, test := range tests {
			for _, piece := range []int{0, 1, 7} {
				s := modeltest.New(t, modeltest.Reply{Reply: test.reply, Piece: piece})
				got, err := ask(t.Context(), open(s), test.turn, streamed)
				if err != nil || !reflect.DeepEqual(*got, test.reply) {
					t.Errorf("%s, in pieces of %d: %+v, %v\nwant %+v", test.name, piece, got, err, test.reply)
				}
				if s.Requests()[0].Streams() != streamed {
					t.Errorf("%s: asked %s", test.name, s.Requests()[0].Body)
				}
			}
		}
	})
}

// Functions may have any name, and are called by it.
func TestNamesOfFunctions(t *testing.T) {
	turn := model.Turn{Functions: []model.Function{{Name: "fs_read"}, {Name: "fs.read"}, files, {Name: "answer"}, {Name: strings.Repeat("x", 100)}, {Name: strings.Repeat("x", 101)}},
		Schema: json.RawMessage(answerSchema)}
	for _, f := range turn.Functions {
		turn.Messages = append(turn.Messages,
			model.Message{Role: model.Assistant, Calls: []model.FunctionCall{{ID: "of " + f.Name, Name: f.Name}}},
			model.Message{Role: model.Returned, ID: "of " + f.Name})
	}
	each(t, func(t *testing.T, streamed bool, open func(*modeltest.Server) model.Converser) {
		s := modeltest.Func(t, func(_ int, r *modeltest.Request) modeltest.Reply {
			var reply modeltest.Reply // calls all functions that it was given
			for i := range turn.Functions {
				tool := gjson.GetBytes(r.Body, fmt.Sprint("tools.", i))
				name := tool.Get("name").Str + tool.Get("function.name").Str
				if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || len(name) > 64 {
					t.Errorf("the name %q is sent", name)
				}
				reply.Calls = append(reply.Calls, model.FunctionCall{Name: name, Params: "{}"})
			}
			return reply
		})
		got, err := ask(t.Context(), open(s), turn, streamed)
		if err != nil || len(got.Calls) != len(turn.Functions) {
			t.Fatalf("%+v, %v", got, err)
		}
		seen := map[string]bool{"": true}
		for i, c := range got.Calls {
			if c.Name != turn.Functions[i].Name || seen[c.ID] {
				t.Errorf("call %d is %+v", i, c)
			}
			seen[c.ID] = true
		}
	})
}

func code(err error) string {
	var te *tool.Error
	if errors.As(err, &te) {
		return te.Code
	}
	return fmt.Sprint(err)
}

// What a server says instead of a reply is an error that tells what to do about it.
func TestConverseFailures(t *testing.T) {
	tests := []struct {
		name      string
		reply     modeltest.Reply
		code      string
		permanent bool
		after     time.Duration
		says      string
	}{
		{"rate limit", modeltest.Reply{Status: 429, RetryAfter: "7", Reply: model.Reply{Text: "slow down"}}, "http-429", false, 7 * time.Second, "slow down"},
		{"busy", modeltest.Reply{Status: 529, Reply: model.Reply{Text: "overloaded"}}, "http-529", false, 0, "overloaded"},
		{"fault", modeltest.Reply{Status: 500, Raw: "<html>" + modeltest.Key}, "http-500", false, 0, "<html>•••"},
		{"bad request", modeltest.Reply{Status: 400, Reply: model.Reply{Text: "no such model"}}, "http-400", true, 0, "no such model"},
		{"another type", modeltest.Reply{Raw: "<html>", Type: "text/html"}, "bad-output", false, 0, ""},
		{"not JSON", modeltest.Reply{Raw: "data: oops\n\nevent: message_start\ndata: oops\n\n"}, "bad-output", false, 0, "can't be read"},
		{"deep", modeltest.Reply{Raw: "event: message_start\ndata: " + strings.Repeat("[", 9<<20) + "\n\n"}, "bad-output", false, 0, ""},
		{"flood of a line", modeltest.Reply{Raw: "data: \"" + strings.Repeat("x", 17<<20)}, "output-too-large", true, 0, "16777216"},
	}
	each(t, func(t *testing.T, streamed bool, open func(*modeltest.Server) model.Converser) {
		for _, test := range tests {
			_, err := ask(t.Context(), open(modeltest.New(t, test.reply)), model.Turn{Messages: hello}, streamed)
			var te *tool.Error
			if !errors.As(err, &te) || te.Code != test.code || te.Permanent != test.permanent || te.RetryAfter != test.after || te.Uncertain || !strings.Contains(te.Message, test.says) {
				t.Errorf("%s: %.500v", test.name, err)
			}
			if shown := fmt.Sprintf("%v %+v %#v", err, err, te.Err); strings.Contains(shown, modeltest.Key) || len(te.Message) > 1000 {
				t.Errorf("%s: the error is %.2000s", test.name, shown)
			}
		}
	})
}

// A stream may be cut off after any byte: in an event, in a character, between events.
func TestStreamsThatAreCutOff(t *testing.T) {
	reply := model.Reply{Text: "Gr† 👩‍🚀", Calls: []model.FunctionCall{{ID: "c", Name: "weather", Params: `{"city":"†"}`}}}
	for name, open := range providers {
		t.Run(name, func(t *testing.T) {
			cut := 0
			s := modeltest.Func(t, func(int, *modeltest.Request) modeltest.Reply {
				return modeltest.Reply{Reply: reply, Piece: 3, Cut: cut}
			})
			client := open(t, s)
			for cut = 1; ; cut += 13 {
				told := ""
				_, err := client.Converse(t.Context(), &model.Turn{Messages: hello, Functions: []model.Function{weather}, OnText: func(p string) error { told += p; return nil }})
				if !strings.HasPrefix(reply.Text, told) {
					t.Fatalf("after %d bytes it told %q", cut, told)
				}
				if err == nil {
					break
				}
				if te := (*tool.Error)(nil); !errors.As(err, &te) || te.Code != "connection-lost" || te.Permanent || te.Uncertain {
					t.Fatalf("after %d bytes: %v", cut, err)
				}
			}
			if cut < 500 {
				t.Errorf("a stream of %d bytes is whole", cut)
			}
		})
	}
}

// A stream that ends in good order, but before the model does, is cut off as well.
func TestStreamsThatEndEarly(t *testing.T) {
	bodies := []string{"\n", ": nothing\n\n", "data: [DONE]\n\n", "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n",
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n", "data: {\"choices\":[{\"index\":0,\"del"}
	for name, open := range providers {
		for _, body := range bodies {
			s := modeltest.New(t, modeltest.Reply{Raw: body})
			_, err := ask(t.Context(), open(t, s), model.Turn{Messages: hello}, true)
			if code(err) != "connection-lost" {
				t.Errorf("%s: %q is %v", name, body, err)
			}
		}
	}
}

// An error in the middle of a stream is what it would have been before.
func TestErrorsInStreams(t *testing.T) {
	for _, test := range []struct {
		event     string
		code      string
		permanent bool
		says      string
	}{
		{"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}\n\n", "http-529", false, "busy"},
		{"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no\"}}\n\n", "http-400", true, "no"},
		{"event: error\ndata: oops " + modeltest.Key + "\n\n", "http-500", false, "oops •••"},
		{"data: {\"error\":{\"message\":\"the key \\u0073k-test-0123456789\",\"type\":\"server_error\"}}\n\n", "http-500", false, "the key •••"},
		{"data: {\"error\":{\"message\":\"slow\",\"code\":\"rate_limit_exceeded\"}}\n\n", "http-429", false, "slow"},
		{"data: {\"id\":1,\"error\":{\"message\":\"gateway\",\"code\":502},\"choices\":[]}\n\n", "http-502", false, "gateway"},
		{"data: {\"error\":\"nothing works\"}\n\n", "http-500", false, "nothing works"},
	} {
		for name, open := range providers {
			s := modeltest.New(t, modeltest.Reply{Raw: test.event + strings.Repeat(": more\n", 3)})
			_, err := ask(t.Context(), open(t, s), model.Turn{Messages: hello}, true)
			var te *tool.Error
			if !errors.As(err, &te) || te.Code != test.code || te.Permanent != test.permanent || !strings.Contains(te.Message, test.says) || strings.Contains(fmt.Sprintf("%+v", te), modeltest.Key) {
				t.Errorf("%s: %q is %v", name, test.event, err)
			}
		}
	}
}

// A wrong key is said, and not shown.
func TestWrongKeys(t *testing.T) {
	s := modeltest.New(t)
	config := s.OpenAI()
	config.APIKey = "sk-wrong-0123456789"
	a, _ := openai.New(config)
	config.BaseURL = s.URL
	b, _ := anthropic.New(config)
	for _, c := range []model.Converser{a, b} {
		for _, streamed := range []bool{false, true} {
			_, err := ask(t.Context(), c, model.Turn{Messages: hello}, streamed)
			var te *tool.Error
			if !errors.As(err, &te) || te.Code != "http-401" || !te.Permanent || strings.Contains(fmt.Sprintf("%+v %v", te, err), "0123456789") {
				t.Errorf("%+v", err)
			}
		}
	}
}

// An error of OnText ends the reply at once, also one that would never end.
func TestOnTextEndsReplies(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\"}}\n\n")
		text := strings.Repeat("ab", 1<<16)
		event := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + text + "\"}}]}\n\n"
		if strings.HasSuffix(r.URL.Path, "messages") {
			event = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"" + text + "\"}}\n\n"
		}
		for r.Context().Err() == nil {
			io.WriteString(w, event)
			http.NewResponseController(w).Flush()
		}
	}
	server := httptest.NewServer(http.HandlerFunc(endless))
	defer server.Close()
	for name, open := range providers {
		c := open(t, &modeltest.Server{URL: server.URL})
		enough := errors.New("enough")
		n := 0
		turn := &model.Turn{Messages: hello, OnText: func(string) error {
			if n++; n == 3 {
				return enough
			}
			return nil
		}}
		if _, err := c.Converse(t.Context(), turn); !errors.Is(err, enough) || n != 3 {
			t.Errorf("%s: %v after %d pieces", name, err, n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		turn.OnText = func(string) error { cancel(); return nil }
		if _, err := c.Converse(ctx, turn); code(err) != "cancelled" {
			t.Errorf("%s: a turn that is cancelled is %v", name, err)
		}
		if !effort.Long() {
			continue // 64 MiB from each
		}
		turn.OnText = func(string) error { return nil }
		if _, err := c.Converse(t.Context(), turn); code(err) != "output-too-large" {
			t.Errorf("%s: a stream without end is %v", name, err)
		}
	}
}

func TestTurnsThatCannotBeSent(t *testing.T) {
	for _, turn := range []model.Turn{
		{}, {Messages: []model.Message{{Role: "system", Text: "x"}}},
		{Messages: hello, Schema: json.RawMessage(`{`)}, {Messages: hello, Schema: json.RawMessage(`{"type":"array"}`)}, {Messages: hello, Schema: json.RawMessage(`true`)},
		{Messages: hello, Functions: []model.Function{{}}}, {Messages: hello, Functions: []model.Function{weather, weather}},
		{Messages: hello, Functions: []model.Function{{Name: "x", Params: json.RawMessage(`[]`)}}},
		{Messages: hello, Temperature: new(-0.1)}, {Messages: hello, Temperature: new(2.5)}, {Messages: hello, Temperature: new(math.NaN())},
	} {
		for name, open := range providers {
			s := modeltest.New(t)
			if _, err := open(t, s).Converse(t.Context(), &turn); code(err) != model.BadTurn || len(s.Requests()) > 0 {
				t.Errorf("%s: %+v is sent: %v", name, turn, err)
			}
		}
	}
}

// A server that does not stream is asked again, once for all, without a stream.
func TestServersThatAnswerWhole(t *testing.T) {
	each(t, func(t *testing.T, streamed bool, open func(*modeltest.Server) model.Converser) {
		if !streamed {
			return
		}
		s := modeltest.Func(t, func(_ int, r *modeltest.Request) modeltest.Reply {
			if r.Streams() {
				return modeltest.Reply{Raw: `{"hello": "there"}`, Type: "application/json"}
			}
			return modeltest.Say("hello")
		})
		c := open(s)
		for range 2 {
			var said string
			turn := &model.Turn{Messages: []model.Message{{Role: model.User, Text: "hi"}}, Attempt: 1, OnText: func(p string) error { said += p; return nil }}
			if r, err := c.Converse(t.Context(), turn); err != nil || r.Text != "hello" || said != "hello" {
				t.Errorf("%v, %+v, said %q", err, r, said)
			}
		}
		if n := len(s.Requests()); n != 3 {
			t.Errorf("%d requests", n)
		}
	})
}
