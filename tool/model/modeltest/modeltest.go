// Package modeltest has a server for tests that sends given replies in the formats of both
// providers, whole and streamed:
//
//	server := modeltest.New(t, modeltest.Say("hello"), modeltest.Reply{Status: 429, RetryAfter: "1"})
//	client, err := openai.New(server.OpenAI())
//	…
//	if got := server.Requests(); gjson.GetBytes(got[0].Body, "stream").Bool() { … }
//
// The format of a Reply depends on the path of the request: /v1/chat/completions or /v1/messages.
package modeltest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool/model"
)

// Key is the API key that the server requires.
const Key = "sk-test-0123456789"

// Reply is an answer of the server. The zero Reply is the empty reply of a model.
type Reply struct {
	model.Reply
	// Piece is the number of bytes of each piece into which a stream cuts the text and the params
	// of calls, at ends of characters; 0 does not cut them.
	Piece int
	// Status is the status of a refusal, whose message is the text; 0 and 200 are a normal answer.
	Status     int
	RetryAfter string // the header; "" sends none
	// Cut is the number of bytes of the body after which the connection is closed; 0 sends the
	// whole body.
	Cut int
	// Raw, if not "", is the whole body, which replaces everything above except Status and Cut.
	Raw string
	// Type is the content type; "" is the one that fits the body.
	Type string
}

// Say returns a reply of this text.
func Say(text string) Reply { return Reply{Reply: model.Reply{Text: text, Input: 100, Output: 20}} }

// Call returns a reply that calls one function.
func Call(id, name, params string) Reply {
	return Reply{Reply: model.Reply{Calls: []model.FunctionCall{{ID: id, Name: name, Params: params}}, Input: 100, Output: 20}}
}

// Request is a request that the server got.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Streams reports whether it wants a stream.
func (r *Request) Streams() bool { return gjson.GetBytes(r.Body, "stream").Bool() }

// Server is a model behind HTTP. It may be used by several goroutines.
type Server struct {
	URL string // without a path

	answer func(n int, r *Request) Reply
	mu     sync.Mutex
	asked  []*Request
}

// New returns a server that sends these replies, in order, and then the status 500. It ends with
// the test.
func New(t testing.TB, replies ...Reply) *Server {
	return Func(t, func(n int, _ *Request) Reply {
		if n >= len(replies) {
			return Reply{Status: http.StatusInternalServerError, Reply: model.Reply{
				Text: fmt.Sprintf("the script has %d replies, and was asked for one more", len(replies))}}
		}
		return replies[n]
	})
}

// Func returns a server that sends the replies of answer, which is called with the number of the
// request, from 0.
func Func(t testing.TB, answer func(n int, r *Request) Reply) *Server {
	s := &Server{answer: answer}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// OpenAI returns the config of an OpenAI client for this server.
func (s *Server) OpenAI() model.Config {
	return model.Config{Model: "some-model", BaseURL: s.URL + "/v1", APIKey: Key}
}

// Anthropic returns the config of an Anthropic client for this server.
func (s *Server) Anthropic() model.Config {
	return model.Config{Model: "some-model", BaseURL: s.URL, APIKey: Key}
}

// Requests returns the requests so far.
func (s *Server) Requests() []*Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Request(nil), s.asked...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	req := &Request{r.URL.Path, r.Header.Clone(), body}
	s.mu.Lock()
	n := len(s.asked)
	s.asked = append(s.asked, req)
	s.mu.Unlock()
	give := openAI
	switch {
	case req.Path == "/v1/messages":
		give = anthropic
	case req.Path != "/v1/chat/completions":
		refuse(w, http.StatusNotFound, "there is nothing at "+req.Path)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+Key && r.Header.Get("X-Api-Key") != Key {
		refuse(w, http.StatusUnauthorized, "invalid key: "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"))
		return
	}
	reply := s.answer(n, req)
	reply.write(w, req, give(req, &reply))
}

// refuse answers with an error, which both providers write alike.
func refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"error","error":{"type":"error","message":%s}}`, quote(message))
}

// write sends these parts of a body one by one.
func (r *Reply) write(w http.ResponseWriter, req *Request, parts []string) {
	if r.RetryAfter != "" {
		w.Header().Set("Retry-After", r.RetryAfter)
	}
	kind := "application/json"
	if req.Streams() {
		kind = "text/event-stream"
	}
	if r.Type != "" {
		kind = r.Type
	}
	status := max(r.Status, http.StatusOK)
	if r.Raw != "" {
		parts = []string{r.Raw}
	} else if status != http.StatusOK {
		refuse(w, status, r.Text)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	left := r.Cut
	for _, part := range parts {
		if r.Cut > 0 && len(part) >= left {
			io.WriteString(w, part[:left])
			http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler) // closes the connection
		}
		left -= len(part)
		io.WriteString(w, part)
		http.NewResponseController(w).Flush()
	}
}

// pieces returns a text in pieces of the reply's size.
func (r *Reply) pieces(text string) []string {
	if r.Piece <= 0 {
		return []string{text}
	}
	var list []string
	for text != "" {
		n := min(r.Piece, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		list, text = append(list, text[:n]), text[n:]
	}
	return list
}

// quote returns a text as JSON.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Stream requests a reply in pieces, and checks that together they are its text.
func Stream(t testing.TB, c model.Converser, turn model.Turn) (*model.Reply, error) {
	t.Helper()
	told := ""
	turn.OnText = func(piece string) error { told += piece; return nil }
	reply, err := c.Converse(t.Context(), &turn)
	if err == nil && told != reply.Text {
		t.Errorf("told %q of %q", told, reply.Text)
	}
	return reply, err
}

// BenchmarkStream streams a long text in small pieces to a client of the server.
func BenchmarkStream(b *testing.B, open func(*Server) model.Converser) {
	reply := Say(strings.Repeat("four", 10000))
	reply.Piece = 4
	c := open(Func(b, func(int, *Request) Reply { return reply }))
	turn := &model.Turn{Messages: []model.Message{{Role: model.User, Text: "x"}}, OnText: func(string) error { return nil }}
	b.ReportAllocs()
	b.SetBytes(int64(len(reply.Text)))
	for b.Loop() {
		if _, err := c.Converse(b.Context(), turn); err != nil {
			b.Fatal(err)
		}
	}
}
