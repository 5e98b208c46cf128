//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plc-lang/plc/internal/effort"
)

// losing is a server over HTTP, written by hand, that loses answers. It is of the protocol
// that has sessions.
type losing struct {
	*httptest.Server
	how     string
	once    sync.Once
	refused chan struct{} // closed when a stream was not resumed
	calls   atomic.Int64  // that it has taken

	mu       sync.Mutex
	sessions int
	streams  []chan struct{} // closed to cut the streams that clients have opened
}

func newLosing(t *testing.T, how string) *losing {
	l := &losing{how: how, refused: make(chan struct{})}
	l.Server = httptest.NewServer(l)
	t.Cleanup(l.Close)
	t.Cleanup(l.cut)
	return l
}

// cut ends the streams.
func (l *losing) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.streams {
		close(s)
	}
	l.streams = nil
}

func (l *losing) ServeHTTP(w nethttp.ResponseWriter, r *nethttp.Request) {
	switch r.Method {
	case nethttp.MethodGet:
		l.get(w, r)
		return
	case nethttp.MethodDelete:
		return
	}
	var req struct {
		ID     json.RawMessage
		Method string
	}
	if json.NewDecoder(r.Body).Decode(&req) != nil || req.ID == nil {
		w.WriteHeader(nethttp.StatusAccepted)
		return
	}
	answer := func(what string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, req.ID, what)
	}
	switch req.Method {
	case "initialize":
		l.mu.Lock()
		l.sessions++
		w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", l.sessions))
		l.mu.Unlock()
		answer(`"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"l","version":"1"}}`)
	case "tools/list":
		answer(`"result":{"tools":[{"name":"pay","inputSchema":{"type":"object"}}]}`)
	case "tools/call":
		l.call(w, r, answer)
	default:
		answer(`"error":{"code":-32601,"message":"method not found"}`)
	}
}

func (l *losing) call(w nethttp.ResponseWriter, r *nethttp.Request, answer func(string)) {
	if l.how == "another session" && r.Header.Get("Mcp-Session-Id") == "s1" {
		w.WriteHeader(nethttp.StatusNotFound)
		return
	}
	l.calls.Add(1)
	switch kind, _, _ := strings.Cut(l.how, ","); kind {
	case "no answer":
	case "half an answer":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":`)
	case "a stream":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": here\n\n")
	case "a stream that can be resumed":
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: 1\nretry: 10\ndata: \n\n")
	case "another stream is lost":
		l.cut()
		<-l.refused
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, ": here\n\n")
		w.(nethttp.Flusher).Flush()
		<-r.Context().Done()
	default:
		answer(`"result":{"content":[{"type":"text","text":"paid"}]}`)
		return
	}
	if f, ok := w.(nethttp.Flusher); ok && !strings.HasPrefix(l.how, "no answer") {
		f.Flush()
	}
	if strings.HasSuffix(l.how, "then it is gone") {
		_ = l.Listener.Close()
	}
	panic(nethttp.ErrAbortHandler)
}

// get is a stream for what the server says by itself, or one that is resumed.
func (l *losing) get(w nethttp.ResponseWriter, r *nethttp.Request) {
	statuses := map[string]int{"then status 404": 404, "then status 401": 401, "then status 503": 503}
	_, then, _ := strings.Cut(l.how, ", ")
	switch status := statuses[then]; {
	case l.calls.Load() > 0 && status != 0:
		w.WriteHeader(status)
	case l.how == "another stream is lost" && l.calls.Load() == 0:
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "id: 7\nretry: 10\ndata: \n\n")
		w.(nethttp.Flusher).Flush()
		cut := make(chan struct{})
		l.mu.Lock()
		if l.calls.Load() > 0 { // the call came meanwhile and has cut the others
			close(cut)
		} else {
			l.streams = append(l.streams, cut)
		}
		l.mu.Unlock()
		select {
		case <-cut:
		case <-r.Context().Done():
		}
	case l.how == "another stream is lost":
		w.WriteHeader(nethttp.StatusNotFound)
		l.once.Do(func() { close(l.refused) })
	default:
		w.WriteHeader(nethttp.StatusMethodNotAllowed)
	}
}

// An answer that was lost is never a reason to call again, in whatever way it was lost.
func TestLostAnswers(t *testing.T) {
	for _, how := range []string{
		"no answer", "no answer, then it is gone",
		"half an answer", "half an answer, then it is gone",
		"a stream", "a stream, then it is gone",
		"a stream that can be resumed, then it is gone",
		"a stream that can be resumed, then status 401",
		"a stream that can be resumed, then status 404",
		"a stream that can be resumed, then status 503",
		"another stream is lost",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			l := newLosing(t, how)
			p := open(t, &Options{Ask: func(context.Context, *Question) (*Answer, error) { return &Answer{}, nil }}, Server{Name: "test", URL: l.URL})
			_, err := call(t, p, "pay", `{}`)
			e := failed(t, err)
			if e.Code != "connection-lost" || !e.Uncertain || l.calls.Load() != 1 {
				t.Errorf("%d calls, %+v", l.calls.Load(), e)
			}
			if !strings.Contains(e.Message, "lost before the answer came") || strings.Contains(e.Message, "Bad Request") {
				t.Errorf("%s", e.Message)
			}
		})
	}
}

// A call that the server did not take is made in another session.
func TestLostSession(t *testing.T) {
	l := newLosing(t, "another session")
	p := open(t, nil, Server{Name: "test", URL: l.URL})
	got, err := call(t, p, "pay", `{}`)
	if err != nil || got != `"paid"` || l.calls.Load() != 1 || l.sessions != 2 {
		t.Errorf("%s, %v; %d calls, %d sessions", got, err, l.calls.Load(), l.sessions)
	}
	l.Close()
	_, _ = call(t, p, "pay", `{}`) // over a connection whose end is not known yet
	_, err = call(t, p, "pay", `{}`)
	if e := failed(t, err); e.Code != "no-server" || e.Uncertain || e.Permanent {
		t.Errorf("%+v", e)
	}
}

// A server that knows server/discover but was too slow to answer it can be used: it takes the older
// handshake as well or, when it refuses that, is started again and given more time.
func TestSlowToStart(t *testing.T) {
	for late := 1; late <= 2; late++ {
		if late == 2 && !effort.Long() {
			break // the second time it has 5 s
		}
		c := newClient(stdio("late", "MARKER="+filepath.Join(t.TempDir(), "started"), "LATE="+strconv.Itoa(late)), &Options{Environ: os.Environ()})
		c.patience = time.Millisecond
		l, err := c.connected(t.Context())
		if err != nil {
			t.Fatal(late, err)
		}
		if tools, err := l.session.ListTools(t.Context(), nil); err != nil || len(tools.Tools) == 0 {
			t.Errorf("%v, %v", tools, err)
		}
		c.close()
	}
}
