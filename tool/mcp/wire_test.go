package mcp

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

var messages = []string{
	`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":12345678901234567890},"_meta":{"x":1}}}`,
	`{"jsonrpc":"2.0","id":"a","result":{"tools":[{"name":"t"}],"nextCursor":"c"}}`,
	`{"jsonrpc":"2.0","id":1,"result":{"content":[], "isError": true}}`,
	`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info"}}`,
	`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}`,
	`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":"\ud800"}}`,
	`{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`,
	`{"jsonrpc":"2.0","result":{"tools":[{"a":1`,
	`{"level":"info"}`, `hello`, ``, `[1]`, "\xef\xbb\xbf{}",
}

// Whatever comes, what is handed on is a message; a result has its own text within.
func FuzzFaithful(f *testing.F) {
	for _, m := range messages {
		f.Add([]byte(m))
	}
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"_meta":{"a":1},"requestedSchema":{"b":1.0,"a":2}}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"x":{"params":{}}}}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		got, err := faithful(message, hider{})
		if err != nil {
			return
		}
		if jsonscan.Check(got, jsonscan.Limits{MaxBytes: 8*len(message) + 1000}) != nil {
			t.Fatalf("%q becomes %q", message, got)
		}
		was := gjson.GetBytes(message, "result")
		var is struct {
			Result struct {
				Meta map[string]any `json:"_meta"`
			}
		}
		if json.Unmarshal(got, &is) != nil || is.Result.Meta[rawKey] == nil || jsonscan.Check(message, jsonscan.Limits{}) != nil {
			return
		}
		if was.Get("tools").IsArray() && raw(is.Result.Meta).Raw != was.Raw {
			t.Fatalf("%q has the text %q", was.Raw, raw(is.Result.Meta).Raw)
		}
	})
}

func TestFaithful(t *testing.T) {
	for i, want := range []error{nil, nil, nil, nil, nil, nil, nil} {
		if got, err := faithful([]byte(messages[i]), hider{}); err != want || !json.Valid(got) {
			t.Errorf("%s: %s, %v", messages[i], got, err)
		}
	}
	for _, m := range messages[8:] {
		if _, err := faithful([]byte(m), hider{}); !errors.Is(err, errNoise) {
			t.Errorf("%s: %v", m, err)
		}
	}
	if _, err := faithful([]byte(messages[7]), hider{}); err == nil || errors.Is(err, errNoise) {
		t.Error(err)
	}
}

// Events come out as they went in, with their data in one line.
func TestEvents(t *testing.T) {
	in := ": hi\nid: 7\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\ndata: noise\n\nevent: x\r\n\r\n"
	want := ": hi\nid: 7\ndata: {\"jsonrpc\":\"2.0\", \"id\":1,\"result\":{}}\n\n\nevent: x\n\n"
	got, err := io.ReadAll(newEvents(io.NopCloser(strings.NewReader(in)), hider{}))
	if err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}
