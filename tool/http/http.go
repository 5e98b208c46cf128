package http

import (
	"bytes"
	"context"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// Activity makes an HTTP request. It is immutable; calls may run at once and share
// its connections. Make it with New.
type Activity struct {
	method    string
	url       address
	query     []field
	headers   []field // canonical names
	body      body
	used      []string // the params that have placeholders
	timeout   time.Duration
	maxBytes  int64
	hosts     hosts
	private   bool
	proxied   bool
	result    string
	client    *nethttp.Client
	transport *nethttp.Transport
	resolver  *net.Resolver // for tests; nil is the system's
}

var _ tool.Activity = (*Activity)(nil)

// Params returns the names of the placeholders, sorted: the tool must declare them.
func (a *Activity) Params() []string { return slices.Clone(a.used) }

func (a *Activity) templates() []driver.Template {
	all := append(a.url.templates(), a.body.templates()...)
	for _, f := range a.query {
		all = append(all, f.value)
	}
	for _, f := range a.headers {
		all = append(all, f.value)
	}
	return all
}

// Close closes the idle connections. It returns nil; calls may still be made.
func (a *Activity) Close() error {
	a.transport.CloseIdleConnections()
	return nil
}

// Call makes the request once. The header Idempotency-Key has the key of the request, unless
// Headers sets it or the method is GET, HEAD or OPTIONS. Scopes are not sent.
//
// If the context has a trace (tool.TraceOf), the headers traceparent and tracestate have it, unless
// Headers sets them.
//
// Any 2xx is a result: JSON, or a string; an empty body is null. Errors are *tool.Error. In the
// list, "sent" means that there was a connection to write the request to, and "unsafe" that the
// method is not GET, HEAD, OPTIONS, PUT or DELETE, which may be repeated without further effect.
// The codes:
//
//   - "http-N": status N, with the beginning of the body. Permanent, except for 408, 425, 429 and
//     5xx, which may have a Retry-After; uncertain for 502 and 504 if unsafe: the server behind the
//     gateway may have done its work.
//   - "connect": no connection; "bad-certificate": permanent.
//   - "connection-lost": uncertain if sent and unsafe.
//   - "timeout", "cancelled": ctx is done, or Timeout has passed; uncertain if sent.
//   - "bad-output", "output-too-large": permanent, uncertain if unsafe.
//   - "bad-params", "host-not-allowed", "private-address", "too-many-redirects",
//     "insecure-redirect": refused here; permanent.
func (a *Activity) Call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	return a.attempt(ctx, func(ctx context.Context) (*nethttp.Request, error) { return a.request(ctx, req) })
}

// attempt makes the request that write returns.
func (a *Activity) attempt(ctx context.Context, write func(context.Context) (*nethttp.Request, error)) (tool.Result, error) {
	if a.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.timeout)
		defer cancel()
	}
	if ctx.Err() != nil {
		return tool.Result{}, driver.Stopped(ctx, false)
	}
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }}
	out, err := write(httptrace.WithClientTrace(ctx, trace))
	if err != nil {
		return tool.Result{}, err
	}
	resp, err := a.client.Do(out)
	if err != nil {
		return tool.Result{}, a.failure(ctx, err, sent.Load())
	}
	defer func() { _ = resp.Body.Close() }()
	tool.Annotate(ctx, "http.response.status_code", resp.StatusCode)
	return a.answer(ctx, resp)
}

// request makes the request of one attempt.
func (a *Activity) request(ctx context.Context, req *tool.Request) (*nethttp.Request, error) {
	params := driver.ReadParams(req.Params)
	u, text, err := a.fill(params)
	if err != nil {
		return nil, driver.Refuse("%v", err)
	}
	if err := a.checkHost(u); err != nil {
		return nil, err
	}
	out := a.newRequest(ctx, u, req.Key)
	if text != nil {
		setBody(out, text)
		out.Header.Set("Content-Type", a.body.kind)
		if !a.body.given {
			out.Header.Set("Content-Type", typeJSON)
		}
	}
	return out, a.setHeaders(out.Header, params)
}

// newRequest makes a request without a body. The header for idempotency is written in lower case,
// here and in setHeaders. To every server that is the same, but it hides the header from net/http,
// which would otherwise repeat a POST by itself (Request.isReplayable).
func (a *Activity) newRequest(ctx context.Context, u *url.URL, key string) *nethttp.Request {
	h := nethttp.Header{"Accept": {"application/json, text/plain;q=0.9, */*;q=0.5"}, "User-Agent": {"plc"}}
	if key != "" && !a.safe() {
		h["idempotency-key"] = []string{headerKey(key)}
	}
	trace := tool.TraceOf(ctx)
	if trace.Parent != "" {
		h.Set("Traceparent", trace.Parent)
		if trace.State != "" {
			h.Set("Tracestate", trace.State)
		}
	}
	tool.Annotate(ctx, "http.request.method", a.method)
	if a.url.host.Literal() && a.url.host.String() == u.Host { // and does not depend on params
		tool.Annotate(ctx, "server.address", u.Hostname())
	}
	return (&nethttp.Request{Method: a.method, URL: u, Host: u.Host, Header: h}).WithContext(ctx)
}

// setBody sets a body that a redirect may send again.
func setBody(req *nethttp.Request, text []byte) {
	req.ContentLength = int64(len(text))
	if len(text) == 0 {
		req.Body = nethttp.NoBody
		return
	}
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	req.Body, _ = req.GetBody()
}

// fill makes the URL and the body; a nil body is none.
func (a *Activity) fill(p driver.Params) (*url.URL, []byte, error) {
	var more []string
	for _, f := range a.query {
		if text, missing := f.value.Fill(p.Text); missing == "" {
			more = append(more, url.QueryEscape(f.name)+"="+url.QueryEscape(text))
		}
	}
	var text []byte
	var err error
	switch {
	case a.body.given:
		text, err = a.body.fill(p)
	case a.inQuery():
		more = append(more, a.restQuery(p)...)
	default:
		text = a.restBody(p)
	}
	if err != nil {
		return nil, nil, err
	}
	u, err := a.url.fill(p.Text, more)
	return u, text, err
}

// inQuery reports whether the params that no placeholder uses go into the query.
func (a *Activity) inQuery() bool { return a.safe() || a.method == nethttp.MethodDelete }

// safe reports whether the method only reads.
func (a *Activity) safe() bool {
	return a.method == nethttp.MethodGet || a.method == nethttp.MethodHead || a.method == nethttp.MethodOptions
}

// repeatable reports whether repeating the method has no further effect (RFC 9110 §9.2.2).
func (a *Activity) repeatable() bool {
	return a.safe() || a.method == nethttp.MethodPut || a.method == nethttp.MethodDelete
}

func (a *Activity) restQuery(p driver.Params) []string {
	var pairs []string
	for name := range p.All() {
		if text, ok := p.Text(name); ok && !slices.Contains(a.used, name) {
			pairs = append(pairs, url.QueryEscape(name)+"="+url.QueryEscape(text))
		}
	}
	return pairs
}

// restBody returns an object of the params that no placeholder uses, even if there are none, since
// servers that expect JSON rarely accept an empty body.
func (a *Activity) restBody(p driver.Params) []byte {
	object := []byte{'{'}
	for name, raw := range p.All() {
		if slices.Contains(a.used, name) {
			continue
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(gjson.AppendJSONString(object, name), ':')
		object = append(object, raw...)
	}
	return append(object, '}')
}

// setHeaders fills the headers.
func (a *Activity) setHeaders(h nethttp.Header, p driver.Params) error {
	for _, f := range a.headers {
		text, missing := f.value.Fill(p.Text)
		if missing != "" {
			continue
		}
		if err := setHeader(h, f.name, text); err != nil {
			return err
		}
	}
	return nil
}

func setHeader(h nethttp.Header, name, value string) error {
	if !line(value) {
		return driver.Refuse("the header %s would hold a line end or another control character", name)
	}
	switch lower := strings.ToLower(name); lower {
	case "idempotency-key", "x-idempotency-key":
		h[lower] = []string{value}
	default:
		h[name] = []string{value}
	}
	return nil
}

// headerKey returns the key in a form that a header can have, since ids of calls may contain
// anything.
func headerKey(key string) string {
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return url.PathEscape(key)
	}
	return key
}
