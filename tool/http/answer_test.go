package http

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log"
	"math"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
	"github.com/plc-lang/plc/tool/internal/secret"
)

// says answers with a status, a type and a body.
func says(status int, contentType, body string) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		w.Header()["Content-Type"] = nil
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestResult(t *testing.T) {
	for _, c := range []struct {
		result, contentType string
		status              int
		body, want          string
	}{
		{"", "application/json; charset=utf-8", 200, ` {"a": 1.0} `, `{"a": 1.0}`},
		{"", "application/problem+json", 201, `[1]`, `[1]`},
		{"", "text/plain", 200, "a\nb", `"a\nb"`},
		{"", "", 200, `{"a":1}`, `"{\"a\":1}"`},
		{"", "text/plain", 204, "", ""},
		{"", "image/png", 200, "", ""},
		{"json", "text/plain", 200, `{"a":1}`, `{"a":1}`},
		{"json", "", 200, "", ""},
		{"text", "application/json", 200, `{"a":1}`, `"{\"a\":1}"`},
		{"text", "", 200, "", `""`},
	} {
		base, _ := server(t, says(c.status, c.contentType, c.body))
		got, err := call(t, activity(t, Config{URL: base, Result: c.result}), "")
		if err != nil || got != c.want {
			t.Errorf("%s of %s %q: %s, %v; want %s", c.result, c.contentType, c.body, got, err, c.want)
		}
	}
}

func TestFullResult(t *testing.T) {
	base, _ := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Set-Cookie", "session=secret")
		w.Header().Add("X-A", "1")
		w.Header().Add("X-A", "2")
		ok(w, r)
	})
	text, err := call(t, activity(t, Config{URL: base, Result: "full"}), "")
	if err != nil {
		t.Fatal(err)
	}
	var got full
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Status != 200 || string(got.Body) != `{"ok":true}` || got.Headers["x-a"] != "1, 2" || strings.Contains(text, "secret") {
		t.Errorf("%s", text)
	}
}

// What a server says in the names of headers, or over several headers of a name, is redacted.
func TestFullResultWithoutSecrets(t *testing.T) {
	const key = "K9x/Token-Of-Ada.Lovelace"
	half := base64.StdEncoding.EncodeToString([]byte(key))
	base, _ := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("X-"+strings.ReplaceAll(key, "/", "-"), "1")
		w.Header().Set("Y-"+strings.ReplaceAll(key, "/", "-"), "2")
		w.Header().Set("X-"+hex.EncodeToString([]byte(key)), "3")
		w.Header().Add("X-Half", half[:9])
		w.Header().Add("X-Half", half[9:])
		ok(w, r)
	})
	ctx := driver.WithRedactor(t.Context(), secret.New(key, strings.ReplaceAll(key, "/", "-")))
	got, err := activity(t, Config{URL: base, Result: "full"}).Call(ctx, &tool.Request{})
	text := strings.ToLower(string(got.Value))
	for _, part := range []string{"lovelace", hex.EncodeToString([]byte("Lovelace")), strings.ToLower(half[9:])} {
		if err != nil || strings.Contains(text, part) || strings.Count(text, "•••") != 3 {
			t.Errorf("%s, %v", text, err)
		}
	}
}

func TestAnswerThatIsNoResult(t *testing.T) {
	for _, c := range []struct{ method, result, contentType, body, want string }{
		{"GET", "", "application/json", "<html>", `begins with "<html>"`},
		{"POST", "json", "text/html", "<html>", "text/html"},
		{"POST", "", "application/json", `{"a":1,"a":2}`, "JSON"},
		{"PUT", "", "image/png", "\x89PNG", "image/png"},
		{"GET", "text", "text/plain; charset=iso-8859-1", "caf\xe9", "byte 3"},
	} {
		base, _ := server(t, says(200, c.contentType, c.body))
		_, err := call(t, activity(t, Config{URL: base, Result: c.result, Method: c.method}), "")
		e := toolError(t, err)
		if e.Code != "bad-output" || !e.Permanent || e.Uncertain != (c.method == "POST") || !strings.Contains(e.Message, c.want) {
			t.Errorf("%+v: %+v", c, e)
		}
	}
}

func TestStatus(t *testing.T) {
	for _, c := range []struct {
		status     int
		retryAfter string
		want       tool.Error
	}{
		{503, "7", tool.Error{Code: "http-503", RetryAfter: 7 * time.Second}},
		{429, "Fri, 31 Dec 1999 23:59:59 GMT", tool.Error{Code: "http-429"}},
		{500, "soon", tool.Error{Code: "http-500"}},
		{408, "", tool.Error{Code: "http-408"}},
		{425, "99999999999999999999", tool.Error{Code: "http-425"}},
		{503, "9223372036854775807", tool.Error{Code: "http-503", RetryAfter: 365 * 24 * time.Hour}},
		{502, "", tool.Error{Code: "http-502", Uncertain: true}},
		{504, "1", tool.Error{Code: "http-504", Uncertain: true, RetryAfter: time.Second}},
		{400, "5", tool.Error{Code: "http-400", Permanent: true}},
		{404, "", tool.Error{Code: "http-404", Permanent: true}},
		{304, "", tool.Error{Code: "http-304", Permanent: true}},
	} {
		base, _ := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
			w.Header().Set("Retry-After", c.retryAfter)
			says(c.status, "text/plain", "why\x1b[0m"+strings.Repeat("!", 100_000))(w, r)
		})
		_, err := call(t, activity(t, Config{URL: base, Method: "POST"}), "")
		e := *toolError(t, err)
		if len(e.Message) > quoted+100 || c.status != 304 && !strings.Contains(e.Message, ": why [0m!!!") {
			t.Errorf("%d: message %q", c.status, e.Message)
		}
		if e.Message = ""; e != c.want {
			t.Errorf("%d: %+v, want %+v", c.status, e, c.want)
		}
	}
	base, _ := server(t, says(502, "", ""))
	if _, err := call(t, activity(t, Config{URL: base}), ""); toolError(t, err).Uncertain {
		t.Errorf("a GET that a gateway lost is uncertain: %v", err)
	}
}

func TestRetryAfterDate(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"Fri, 02 Jan 2026 03:05:05 GMT": time.Minute,
		"Fri, 02 Jan 2026 03:03:05 GMT": 0,
		"Fri, 02 Jan 9999 03:03:05 GMT": 365 * 24 * time.Hour,
		"-1":                            0,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

func TestTooLarge(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(make([]byte, 10<<20))
	_ = z.Close()
	endless := func(w nethttp.ResponseWriter, _ *nethttp.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}
	for name, answer := range map[string]nethttp.HandlerFunc{
		"announced": says(200, "text/plain", strings.Repeat("x", 1<<10+1)),
		"endless":   endless,
		"gzip bomb": func(w nethttp.ResponseWriter, _ *nethttp.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		},
	} {
		base, _ := server(t, answer)
		_, err := call(t, activity(t, Config{URL: base, MaxBytes: 1 << 10, Method: "POST"}), "")
		if e := toolError(t, err); e.Code != "output-too-large" || !e.Permanent || !e.Uncertain || !strings.Contains(e.Message, "maxBytes") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	base, _ := server(t, says(200, "text/plain", strings.Repeat("x", 1<<10)))
	for _, limit := range []int64{1 << 10, math.MaxInt64} {
		if got, err := call(t, activity(t, Config{URL: base, MaxBytes: limit}), ""); err != nil || len(got) != 1<<10+2 {
			t.Errorf("as much as is allowed, %d: %d bytes, %v", limit, len(got), err)
		}
	}
}

// hangUp closes the connection without an answer.
func hangUp(w nethttp.ResponseWriter, _ *nethttp.Request) {
	conn, _, err := w.(nethttp.Hijacker).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

func TestLostConnection(t *testing.T) {
	half := func(w nethttp.ResponseWriter, r *nethttp.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "{")
		w.(nethttp.Flusher).Flush()
		hangUp(w, r)
	}
	for name, answer := range map[string]nethttp.HandlerFunc{"at once": hangUp, "half way": half} {
		for method, uncertain := range map[string]bool{"GET": false, "PUT": false, "DELETE": false, "POST": true, "PATCH": true} {
			base, _ := server(t, answer)
			_, err := call(t, activity(t, Config{URL: base + "/?secret=x", Method: method}), "")
			e := toolError(t, err)
			if e.Code != "connection-lost" || e.Permanent || e.Uncertain != uncertain || strings.Contains(e.Message, "secret") {
				t.Errorf("%s, %s: %+v", name, method, e)
			}
		}
	}
}

// net/http sends a POST again by itself when a kept connection turns out to be dead
// and it takes the request for idempotent; the key must not make it think so.
func TestPostIsNeverSentTwice(t *testing.T) {
	for _, body := range []string{`""`, `"x"`} {
		var posts atomic.Int32
		base, _ := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
			if posts.Add(1) > 1 {
				hangUp(w, r)
				return
			}
			ok(w, r)
		})
		a := activity(t, Config{URL: base, Method: "POST", Body: json.RawMessage(body)})
		req := &tool.Request{Key: "run/pay"}
		if _, err := a.Call(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		_, err := a.Call(t.Context(), req)
		if e := toolError(t, err); e.Code != "connection-lost" || !e.Uncertain {
			t.Errorf("body %s: %+v", body, e)
		}
		if n := posts.Load(); n != 2 {
			t.Errorf("body %s: the server got %d requests for 2 calls", body, n)
		}
	}
}

func TestConnectionRefused(t *testing.T) {
	_, err := call(t, activity(t, Config{URL: "http://127.0.0.1:1/?key=secret", Method: "POST"}), "")
	if e := toolError(t, err); e.Code != "connect" || e.Permanent || e.Uncertain || strings.Contains(e.Error(), "secret") {
		t.Errorf("%+v", e)
	}
}

func TestTimeoutAndCancel(t *testing.T) {
	arrived := make(chan struct{}, 1)
	release := make(chan struct{})
	slow := func(w nethttp.ResponseWriter, r *nethttp.Request) {
		arrived <- struct{}{}
		<-release
	}
	slowBody := func(w nethttp.ResponseWriter, r *nethttp.Request) {
		_, _ = io.WriteString(w, "half")
		w.(nethttp.Flusher).Flush()
		slow(w, r)
	}
	slowBase, _ := server(t, slow)
	bodyBase, _ := server(t, slowBody)
	defer close(release)
	for _, base := range []string{slowBase, bodyBase} {
		var err error
		for limit, came := 100*time.Millisecond, false; !came; limit *= 2 { // until it is enough for the request to arrive
			_, err = call(t, activity(t, Config{URL: base, Timeout: limit}), "")
			select {
			case <-arrived:
				came = true
			default:
			}
		}
		if e := toolError(t, err); e.Code != "timeout" || !e.Uncertain || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("timeout: %+v", e)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-arrived
			cancel()
		}()
		_, err = activity(t, Config{URL: base}).Call(ctx, &tool.Request{})
		if e := toolError(t, err); e.Code != "cancelled" || !e.Uncertain || !errors.Is(err, context.Canceled) {
			t.Errorf("cancel: %+v", e)
		}
		_, err = activity(t, Config{URL: base}).Call(ctx, &tool.Request{})
		if e := toolError(t, err); e.Code != "cancelled" || e.Uncertain {
			t.Errorf("cancelled before: %+v", e)
		}
	}
}

func TestBadCertificate(t *testing.T) {
	s := httptest.NewUnstartedServer(nethttp.HandlerFunc(ok))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	_, err := call(t, activity(t, Config{URL: s.URL, Method: "POST"}), "")
	if e := toolError(t, err); e.Code != "bad-certificate" || !e.Permanent || e.Uncertain {
		t.Errorf("%+v", e)
	}
	var cause *tls.CertificateVerificationError
	if !errors.As(err, &cause) {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestHTTP2(t *testing.T) {
	var proto, key string
	s := httptest.NewUnstartedServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		proto, key = r.Proto, r.Header.Get("Idempotency-Key")
		ok(w, r)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	a := activity(t, Config{URL: s.URL, Method: "POST"})
	a.transport.TLSClientConfig = s.Client().Transport.(*nethttp.Transport).TLSClientConfig
	_, err := a.Call(t.Context(), &tool.Request{Key: "run/pay"})
	if err != nil || proto != "HTTP/2.0" || key != "run/pay" {
		t.Errorf("%s with key %q, %v", proto, key, err)
	}
	_ = a.Close()
}

func BenchmarkCall(b *testing.B) {
	s := httptest.NewServer(nethttp.HandlerFunc(ok))
	defer s.Close()
	a := activity(b, Config{URL: s.URL + "/weather/{city}"})
	req := &tool.Request{Params: json.RawMessage(`{"city": "Paris", "units": "si"}`)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Call(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBareClient is what there is to compare with.
func BenchmarkBareClient(b *testing.B) {
	s := httptest.NewServer(nethttp.HandlerFunc(ok))
	defer s.Close()
	c := s.Client()
	b.ReportAllocs()
	for b.Loop() {
		resp, err := c.Get(s.URL + "/weather/Paris?units=si")
		if err != nil {
			b.Fatal(err)
		}
		_, err = io.ReadAll(resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			b.Fatal(err)
		}
	}
}
