package http

import (
	"encoding/json"
	"errors"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/plc-lang/plc/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// seen is a request as a server got it.
type seen struct {
	method, uri, body string
	header            nethttp.Header
	host              string
}

// server answers every request with an answer and keeps what it was asked.
func server(t testing.TB, answer nethttp.HandlerFunc) (base string, got *[]seen) {
	t.Helper()
	got = new([]seen)
	s := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		*got = append(*got, seen{r.Method, r.RequestURI, string(body), r.Header.Clone(), r.Host})
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, got
}

func ok(w nethttp.ResponseWriter, _ *nethttp.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"ok":true}`)
}

// activity returns one that may ask the test servers.
func activity(t testing.TB, cfg Config) *Activity {
	t.Helper()
	switch {
	case cfg.AllowHosts == nil:
		cfg.AllowHosts = []string{"127.0.0.1"}
	case len(cfg.AllowHosts) == 0: // the host of the URL
		cfg.AllowHosts = nil
	}
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a
}

func call(t testing.TB, a *Activity, params string) (string, error) {
	t.Helper()
	result, err := a.Call(t.Context(), &tool.Request{Params: json.RawMessage(params)})
	return string(result.Value), err
}

func toolError(t testing.TB, err error) *tool.Error {
	t.Helper()
	var e *tool.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is no tool.Error", err)
	}
	return e
}

// named is the same server by a name: another host to whoever compares hosts, and one
// that must be resolved.
func named(base string) string { return strings.Replace(base, "127.0.0.1", "localhost", 1) }

func mustParse(t testing.TB, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
