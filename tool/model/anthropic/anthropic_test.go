package anthropic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/anthropic"
)

const key = "sk-ant-0123456789"

// answers returns a client of a server that answers every request in the same way, and the body
// of the last.
func answers(t *testing.T, c model.Config, f http.HandlerFunc) (client model.Client, asked *string) {
	t.Helper()
	asked = new(string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = string(body)
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != key {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key %s"}}`, r.Header.Get("X-Api-Key"))
			return
		}
		f(w, r)
	}))
	t.Cleanup(s.Close)
	c.BaseURL = s.URL
	if c.Model == "" {
		c.Model = "some-model"
	}
	if c.APIKey == "" {
		c.APIKey = key
	}
	client, err := anthropic.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return client, asked
}

// message returns a message with this content, which stopped for this reason.
func message(content, stop string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"id":"msg_1","type":"message","role":"assistant","model":"some-model","content":[%s],"stop_reason":%q,"stop_sequence":null,"usage":{"input_tokens":12,"cache_read_input_tokens":8,"output_tokens":3}}`, content, stop)
	}
}

const used = `{"type":"text","text":"Let me see."},{"type":"tool_use","id":"t1","name":"answer","input":{"_value":1.50}}`

var request = &model.Request{
	System: "be brief", Prompt: `{"tool":"think"}`, Attempt: 1,
	Schema: json.RawMessage(`{"type":"object","properties":{"_value":{"$ref":"#/$defs/n"}},"required":["_value"],"additionalProperties":false,"$defs":{"n":{"type":"number"}}}`),
}

func TestRequest(t *testing.T) {
	zero := 0.0
	c, asked := answers(t, model.Config{Temperature: &zero, MaxTokens: 50}, message(used, "tool_use"))
	a, err := c.Complete(t.Context(), request)
	if err != nil || a.Text != `{"_value":1.50}` || a.Input != 20 || a.Output != 3 || a.Stop != "" {
		t.Fatalf("the answer is %+v, %v", a, err)
	}
	for path, want := range map[string]string{
		"model": "some-model", "max_tokens": "50", "temperature": "0", "system.0.text": "be brief",
		"messages.#": "1", "messages.0.content.0.text": `{"tool":"think"}`,
		"tool_choice.type": "tool", "tool_choice.name": "answer", "tools.0.name": "answer",
		"tools.0.input_schema.type": "object", "tools.0.input_schema.properties._value.$ref": "#/$defs/n",
		"tools.0.input_schema.$defs.n.type": "number", "tools.0.input_schema.required.0": "_value", "tools.0.input_schema.additionalProperties": "false",
	} {
		if got := gjson.Get(*asked, path).String(); got != want {
			t.Errorf("%s is %q, want %q in %s", path, got, want, *asked)
		}
	}
}

// An answer of any size may be asked for, and nothing is taken from the environment.
func TestDefaults(t *testing.T) {
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "of somebody else")
	os.Unsetenv("ANTHROPIC_API_KEY")
	c, asked := answers(t, model.Config{}, message(used, "tool_use"))
	if _, err := c.Complete(t.Context(), request); err != nil || gjson.Get(*asked, "max_tokens").Int() != 4096 || gjson.Get(*asked, "temperature").Exists() {
		t.Errorf("%v, asked %s", err, *asked)
	}
	c, _ = answers(t, model.Config{MaxTokens: 128000}, message(used, "tool_use"))
	if _, err := c.Complete(t.Context(), request); err != nil {
		t.Error(err)
	}
}

func TestNoAnswers(t *testing.T) {
	for _, c := range []struct {
		content, stop string
		want          model.Stop
		reason        string
	}{
		{`{"type":"text","text":"I would rather not"}`, "refusal", model.Refusal, "I would rather not"},
		{`{"type":"text","text":"It is 4."}`, "end_turn", model.Refusal, "It is 4."},
		{``, "end_turn", model.Refusal, ""},
		{`{"type":"tool_use","id":"t1","name":"other","input":{"_value":1}}`, "tool_use", model.Refusal, ""},
		{used, "max_tokens", model.Length, "Let me see."},
	} {
		client, _ := answers(t, model.Config{}, message(c.content, c.stop))
		a, err := client.Complete(t.Context(), request)
		if err != nil || a.Stop != c.want || a.Reason != c.reason || a.Output != 3 {
			t.Errorf("%s: %+v, %v", c.content, a, err)
		}
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		name, header, body string
		status             int
		code               string
		permanent          bool
		after              time.Duration
	}{
		{"rate limit", "7", `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`, 429, "http-429", false, 7 * time.Second},
		{"overloaded", "", `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, 529, "http-529", false, 0},
		{"bad request", "", `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`, 400, "http-400", true, 0},
		{"not JSON", "", `<html>`, 200, "bad-output", false, 0},
		{"not a message", "", `[1]`, 200, "bad-output", false, 0},
	} {
		calls := 0
		client, _ := answers(t, model.Config{}, func(w http.ResponseWriter, _ *http.Request) {
			calls++
			w.Header().Set("Retry-After", c.header)
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		_, err := client.Complete(t.Context(), request)
		var te *tool.Error
		if !errors.As(err, &te) || te.Code != c.code || te.Permanent != c.permanent || te.RetryAfter != c.after || te.Uncertain {
			t.Errorf("%s: %+v", c.name, err)
		}
		if calls != 1 {
			t.Errorf("%s: asked %d times; the run retries", c.name, calls)
		}
	}
}

// No error holds the key, whoever says it.
func TestErrorsHoldNoKey(t *testing.T) {
	client, _ := answers(t, model.Config{APIKey: "wrong-0123456789"}, nil)
	_, err := client.Complete(t.Context(), request)
	var te *tool.Error
	if !errors.As(err, &te) || te.Code != "http-401" || !te.Permanent || strings.Contains(fmt.Sprintf("%+v %v", te, err), "0123456789") {
		t.Errorf("a wrong key is %+v", err)
	}
}
