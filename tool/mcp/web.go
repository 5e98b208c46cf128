package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	nethttp "net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

const (
	dialTimeout    = 15 * time.Second
	idleTimeout    = 30 * time.Second
	maxHeaderBytes = 256 << 10
	maxStream      = 1 << 30 // bytes of one stream of events
	maxRefusal     = 1 << 20 // bytes of an answer without success
	maxReconnects  = 3       // attempts in a row to continue a lost stream
)

// web sends requests to a server over HTTP: only to its host and with its headers. It bounds the
// size of answers and makes them faithful.
type web struct {
	address   *url.URL
	headers   nethttp.Header
	hide      hider
	transport *nethttp.Transport

	mu   sync.Mutex
	last *sent // the last request that failed
}

func newWeb(s *Server, hide hider) (*web, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil, errors.New("its url is not one with http or https and a host")
	}
	w := &web{address: u, headers: nethttp.Header{}, hide: hide, transport: &nethttp.Transport{
		ForceAttemptHTTP2: true, IdleConnTimeout: idleTimeout, TLSHandshakeTimeout: dialTimeout,
		MaxIdleConnsPerHost: 16, MaxResponseHeaderBytes: maxHeaderBytes,
		DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext,
	}}
	for name, value := range s.Headers {
		w.headers.Set(name, value)
	}
	return w, nil
}

// sent is the outcome of a request. For a call it is the outcome of the request that sent the call,
// and not of requests for the rest of an answer or about other things.
type sent struct {
	begun  bool // some of it may have been sent
	status int
	said   string // the beginning of an answer without success
	cure   string // what to do about the status; "" if unknown
	err    error  // there was no answer
}

// sentKey is the key of the *sent of a call in a context.
type sentKey struct{}

// redirect refuses to leave the host: headers may be secrets, and params are for this
// server only.
func (w *web) redirect(req *nethttp.Request, via []*nethttp.Request) error {
	if req.URL.Host != w.address.Host || req.URL.Scheme != w.address.Scheme {
		return fmt.Errorf("it redirects to %s://%s; if that is the server, give its address as the url", req.URL.Scheme, req.URL.Host)
	}
	if len(via) > 5 {
		return errors.New("it redirects more than five times")
	}
	return nil
}

// RoundTrip sends a request (http.RoundTripper).
func (w *web) RoundTrip(req *nethttp.Request) (*nethttp.Response, error) {
	if req.URL.Host != w.address.Host || req.URL.Scheme != w.address.Scheme {
		return nil, fmt.Errorf("a request to %s, which is another host", req.URL.Host)
	}
	w.begin(req)
	own := req.Clone(req.Context())
	for name, values := range w.headers {
		own.Header[name] = values
	}
	res, err := w.transport.RoundTrip(own)
	if err != nil {
		w.note(req, sent{begun: true, err: err})
		return nil, err
	}
	if res.StatusCode >= 400 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
		_ = res.Body.Close()
		text = w.hide.clean(text)
		text = text[:min(len(text), maxStderr)]
		w.note(req, sent{begun: true, status: res.StatusCode, said: driver.Head(text, shownBytes), cure: w.cure(res)})
		res.Body = io.NopCloser(bytes.NewReader(text))
		return res, nil
	}
	switch kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind {
	case "application/json":
		res.Request = req
		return w.whole(res)
	case "text/event-stream":
		res.Body = newEvents(res.Body, w.hide)
	default:
		res.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(res.Body, maxMessage), res.Body}
	}
	res.ContentLength = -1
	return res, nil
}

// whole returns an answer with one message.
func (w *web) whole(res *nethttp.Response) (*nethttp.Response, error) {
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxMessage+1))
	if err == nil && len(text) > maxMessage {
		err = fmt.Errorf("an answer of more than %d MiB", maxMessage>>20)
	}
	if err == nil && len(bytes.TrimSpace(text)) > 0 {
		text, err = faithful(text, w.hide)
	}
	if err != nil {
		w.note(res.Request, sent{begun: true, err: err})
		return nil, err
	}
	res.Body, res.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return res, nil
}

// cure returns what to do if a server requires authentication.
func (w *web) cure(res *nethttp.Response) string {
	switch _, given := w.headers["Authorization"]; {
	case res.StatusCode == nethttp.StatusForbidden && given:
		return "its token, the Authorization of its headers, does not allow this"
	case res.StatusCode != nethttp.StatusUnauthorized && res.StatusCode != nethttp.StatusForbidden:
		return ""
	case given:
		return "its token, the Authorization of its headers, does not hold, or not any more; get another one"
	case strings.Contains(strings.Join(res.Header.Values("WWW-Authenticate"), " "), "resource_metadata"):
		return `it wants OAuth, by which plc can't sign in; get a token and give it to headers: {"Authorization": {"env": "NAME"}}, where NAME is set to "Bearer …"`
	}
	return `give its headers a token: {"Authorization": {"env": "NAME"}}, where NAME is set to "Bearer …"`
}

// begin notes that from now on the request of a call may have been sent.
func (w *web) begin(req *nethttp.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if mine := callOf(req); mine != nil {
		mine.begun = true
	}
}

// note keeps the outcome of a request for the goroutine that waits for it.
func (w *web) note(req *nethttp.Request, s sent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = &s
	if mine := callOf(req); mine != nil {
		*mine = s
	}
}

// callOf returns the state of the call that a request sends; nil if it is another request.
func callOf(req *nethttp.Request) *sent {
	mine, _ := req.Context().Value(sentKey{}).(*sent)
	if req.Method != nethttp.MethodPost {
		return nil // for the rest of an answer
	}
	return mine
}

// explain returns why there is no session.
func (w *web) explain(err error) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.last; s != nil && s.err == nil {
		return httpError(s).Message
	}
	if s := w.last; s != nil {
		return w.plain(s.err)
	}
	return w.plain(err)
}

// plain returns the text of an error without the URL, which may have a secret in its query.
func (w *web) plain(err error) string {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	return strings.ReplaceAll(err.Error(), w.address.String(), w.address.Host)
}

// rejected is the code of an error that the SDK itself makes from an HTTP status.
const rejected = -32005

// errUnsent says that a call was not sent, or that the server did not look at it.
var errUnsent = errors.New("not sent")

// call calls a tool. A failure that HTTP explains is a *tool.Error. Over HTTP the error is
// errUnsent or "no-server" only if the server can't have begun the call; failures of other
// requests, such as those for the rest of the answer, don't count.
func (l *link) call(ctx context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, error) {
	if l.web == nil {
		return l.session.CallTool(ctx, params)
	}
	var s sent
	res, err := l.session.CallTool(context.WithValue(ctx, sentKey{}, &s), params)
	if err == nil || ctx.Err() != nil {
		return res, err
	}
	l.web.mu.Lock()
	defer l.web.mu.Unlock()
	var rpcErr *jsonrpc.Error
	var dial *net.OpError
	switch {
	case !s.begun, s.status == nethttp.StatusNotFound && errors.Is(err, mcp.ErrSessionMissing):
		return nil, fmt.Errorf("%w: %w", errUnsent, err)
	case errors.As(err, &rpcErr) && rpcErr.Code != rejected:
		return nil, err
	case s.status != 0:
		return nil, httpError(&s)
	case errors.As(s.err, &dial) && dial.Op == "dial":
		return nil, &tool.Error{Code: "no-server", Message: l.web.plain(s.err), Err: s.err}
	}
	return nil, l.lost(cmp.Or(s.err, err))
}

// lost returns the error of a call whose answer was lost on the way.
func (l *link) lost(err error) error {
	text := l.web.plain(err)
	if id := l.session.ID(); id != "" {
		text = strings.ReplaceAll(text, id, "…")
	}
	return &tool.Error{
		Code: "connection-lost", Uncertain: true, Err: err,
		Message: "the connection was lost before the answer came: " + text,
	}
}

// events is a stream of events whose messages are made faithful. Lines of data that belong
// together become one.
type events struct {
	hide hider
	in   *bufio.Reader
	body io.Closer
	data []byte // of the event that is being read
	out  bytes.Buffer
	read int64
	err  error
}

func newEvents(body io.ReadCloser, hide hider) *events {
	return &events{hide: hide, in: bufio.NewReaderSize(body, 64<<10), body: body}
}

// Close ends the stream (io.Closer).
func (e *events) Close() error { return e.body.Close() }

// Read reads what was made of whole lines (io.Reader).
func (e *events) Read(p []byte) (int, error) {
	for e.out.Len() == 0 && e.err == nil {
		e.err = e.step()
	}
	if e.out.Len() > 0 {
		return e.out.Read(p)
	}
	return 0, e.err
}

// step takes one line.
func (e *events) step() error {
	text, err := readLine(e.in)
	if err != nil {
		return err
	}
	if e.read += int64(len(text)); e.read > maxStream {
		return fmt.Errorf("a stream of more than %d MiB", maxStream>>20)
	}
	text = bytes.TrimRight(text, "\r\n")
	if data, ok := bytes.CutPrefix(text, []byte("data:")); ok {
		if len(e.data)+len(data) > maxMessage {
			return fmt.Errorf("a message of more than %d MiB", maxMessage>>20)
		}
		e.data = append(append(e.data, bytes.TrimPrefix(data, []byte(" "))...), ' ')
		return nil
	}
	if len(text) == 0 && len(e.data) > 0 {
		message, err := faithful(e.data, e.hide)
		switch {
		case errors.Is(err, errNoise): // nothing for anybody
		case err != nil:
			return err
		default:
			e.out.WriteString("data: ")
			e.out.Write(message)
			e.out.WriteByte('\n')
		}
		e.data = e.data[:0]
	}
	e.out.Write(text)
	e.out.WriteByte('\n')
	return nil
}
