package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/openai"
)

const key = "sk-test-0123456789"

// answers returns a server that answers every request in the same way, and the body of the last.
func answers(t *testing.T, f http.HandlerFunc) (url string, asked *string) {
	asked = new(string)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		*asked = string(body)
		if r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+key {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, r.Header.Get("Authorization"))
			return
		}
		f(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", asked
}

// says returns a chat completion.
func says(content, more string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		text, _ := json.Marshal(content)
		fmt.Fprintf(w, `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":%s%s}}],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}}`, text, more)
	}
}

func status(code int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

func client(t *testing.T, c model.Config) model.Client {
	t.Helper()
	if c.Model == "" {
		c.Model = "some-model"
	}
	if c.APIKey == "" {
		c.APIKey = key
	}
	got, err := openai.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

var request = &model.Request{System: "be brief", Prompt: `{"tool":"think"}`, Schema: json.RawMessage(`{"type":"object"}`), Strict: true, Attempt: 1}

func TestRequest(t *testing.T) {
	zero, warm := 0.0, 0.7
	for _, c := range []struct {
		config model.Config
		want   map[string]string
	}{
		{model.Config{}, map[string]string{
			"model": "some-model", "messages.0.role": "system", "messages.1.content": `{"tool":"think"}`, "temperature": "", "max_tokens": "",
			"response_format.type": "json_schema", "response_format.json_schema.strict": "true", "response_format.json_schema.schema.type": "object",
		}},
		{model.Config{Temperature: &warm, MaxTokens: 50}, map[string]string{"temperature": "0.7", "max_tokens": "50"}},
	} {
		url, asked := answers(t, says(`{"_value":1}`, ""))
		c.config.BaseURL = url
		a, err := client(t, c.config).Complete(t.Context(), request)
		if err != nil || a.Text != `{"_value":1}` || a.Input != 12 || a.Output != 3 || a.Stop != "" {
			t.Fatalf("the answer is %+v, %v", a, err)
		}
		for path, want := range c.want {
			if got := gjson.Get(*asked, path).String(); got != want {
				t.Errorf("%s is %q, want %q in %s", path, got, want, *asked)
			}
		}
	}
	url, asked := answers(t, says(`{}`, ""))
	if _, err := client(t, model.Config{BaseURL: url, Temperature: &zero}).Complete(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if got := gjson.Get(*asked, "temperature"); !got.Exists() || got.Num > 1e-30 {
		t.Errorf("a temperature of 0 is sent as %s", got.Raw)
	}
}

func TestNoAnswers(t *testing.T) {
	url, _ := answers(t, says("", `,"refusal":"I would rather not"`))
	if a, err := client(t, model.Config{BaseURL: url}).Complete(t.Context(), request); err != nil || a.Stop != model.Refusal || a.Reason != "I would rather not" {
		t.Errorf("a refusal is %+v, %v", a, err)
	}
	url, _ = answers(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"choices":[{"message":{"content":"{\"_va"},"finish_reason":"length"}],"usage":{"completion_tokens":5}}`)
	})
	if a, err := client(t, model.Config{BaseURL: url}).Complete(t.Context(), request); err != nil || a.Stop != model.Length || a.Output != 5 {
		t.Errorf("one that was cut off is %+v, %v", a, err)
	}
	url, _ = answers(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, `{"choices":[]}`) })
	if a, err := client(t, model.Config{BaseURL: url}).Complete(t.Context(), request); err != nil || a.Text != "" {
		t.Errorf("none is %+v, %v", a, err)
	}
}

func TestFailures(t *testing.T) {
	flood := func(w http.ResponseWriter, _ *http.Request) {
		chunk := []byte(strings.Repeat("x", 1<<20))
		for range 20 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	dies := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, `{"choices":[`)
	}
	for _, c := range []struct {
		name      string
		f         http.HandlerFunc
		code      string
		permanent bool
		after     time.Duration
		says      string
	}{
		{"rate limit", status(429, "Retry-After: 7", `{"error":{"message":"slow down"}}`), "http-429", false, 7 * time.Second, "slow down"},
		{"rate limit in milliseconds", status(429, "Retry-After-Ms: 250", ``), "http-429", false, 250 * time.Millisecond, ""},
		{"overloaded", status(503, "Retry-After: 0.5", `<html>`), "http-503", false, 500 * time.Millisecond, "<html>"},
		{"fault", status(500, "", ``), "http-500", false, 0, "500"},
		{"bad request", status(400, "", `{"error":{"message":"no such model"}}`), "http-400", true, 0, "no such model"},
		{"elsewhere", status(302, "Location: http://example.invalid/", ``), "http-302", true, 0, ""},
		{"not JSON", says2("<html>hello"), "bad-output", false, 0, "can't be read"},
		{"nothing", says2(""), "bad-output", false, 0, ""},
		{"deep", says2(strings.Repeat("[", 100000)), "bad-output", false, 0, ""},
		{"flood", flood, "output-too-large", true, 0, "16777216"},
		{"dies", dies, "connection-lost", false, 0, ""},
	} {
		url, _ := answers(t, c.f)
		_, err := client(t, model.Config{BaseURL: url}).Complete(t.Context(), request)
		var te *tool.Error
		if !errors.As(err, &te) || te.Code != c.code || te.Permanent != c.permanent || te.RetryAfter != c.after || te.Uncertain || !strings.Contains(te.Message, c.says) {
			t.Errorf("%s: %+v", c.name, err)
		}
	}
}

func says2(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

// No error holds the key, whoever says it.
func TestErrorsHoldNoKey(t *testing.T) {
	url, _ := answers(t, nil)
	wrong := key + `"<&x`
	_, err := client(t, model.Config{BaseURL: url, APIKey: wrong}).Complete(t.Context(), request)
	var te *tool.Error
	if !errors.As(err, &te) || te.Code != "http-401" || !te.Permanent {
		t.Fatalf("a wrong key is %+v", err)
	}
	if strings.Contains(fmt.Sprintf("%+v %v", te, err), "0123456789") {
		t.Errorf("the error holds the key: %v", err)
	}
}

func TestSlowServers(t *testing.T) {
	began := make(chan struct{})
	url, _ := answers(t, func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	_, err := client(t, model.Config{BaseURL: url}).Complete(ctx, request)
	var te *tool.Error
	if !errors.As(err, &te) || te.Code != "cancelled" {
		t.Errorf("a request that was cancelled is %+v", err)
	}
	_, err = client(t, model.Config{BaseURL: "http://127.0.0.1:1/v1"}).Complete(t.Context(), request)
	if !errors.As(err, &te) || te.Code != "connect" || te.Permanent {
		t.Errorf("nobody there is %+v", err)
	}
}

func TestBadConfigs(t *testing.T) {
	for _, c := range []model.Config{{}, {Model: "m", BaseURL: "models.example"}, {Model: "m", BaseURL: "ftp://x"}, {Model: "m", BaseURL: "https://u:p@x/v1"}, {Model: "m", BaseURL: "https://x/v1?k=1"}} {
		if _, err := openai.New(c); err == nil {
			t.Errorf("%+v can be used", c)
		}
	}
}
