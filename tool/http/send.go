package http

import (
	"context"
	"fmt"
	nethttp "net/http"
	"net/url"
	"strings"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// Message is a request whose parts are already complete. A driver makes it that knows more about a
// service than templates can express.
type Message struct {
	Method      string            // in capitals
	URL         string            // instead of Config.URL; "" is Config.URL
	Path        string            // added to the path of the URL, escaped: "/pets/4%2F2"; "" adds nothing
	Query       string            // escaped, without the "?"; "" is none
	Header      map[string]string // more headers, by name
	Body        []byte            // nil is none
	ContentType string            // of the body
	Key         string            // for the header Idempotency-Key; "" is none
}

// Send makes a request once: to the URL of the message, or to Config.URL, which must have no
// placeholders then, with the additions of the message. Of the Config it uses only the bounds of
// requests (Timeout, MaxBytes, hosts, Proxy) and Result. Hosts, redirects and errors are handled as
// by Call.
func (a *Activity) Send(ctx context.Context, m *Message) (tool.Result, error) {
	b := *a
	b.method = m.Method
	return b.attempt(ctx, func(ctx context.Context) (*nethttp.Request, error) { return b.written(ctx, m) })
}

// Allows returns an error if Send would refuse to send a request to the host of this URL. It
// returns nil if Send would send it, or if address is not a URL.
func (a *Activity) Allows(address string) error {
	u, err := a.extend(&Message{URL: address})
	if err != nil {
		return nil
	}
	return a.checkHost(u)
}

// written returns the request of a message.
func (a *Activity) written(ctx context.Context, m *Message) (*nethttp.Request, error) {
	u, err := a.extend(m)
	if err != nil {
		return nil, driver.Refuse("%v", err)
	}
	if err := a.checkHost(u); err != nil {
		return nil, err
	}
	out := a.newRequest(ctx, u, m.Key)
	if m.Body != nil {
		setBody(out, m.Body)
		out.Header.Set("Content-Type", m.ContentType)
	}
	for name, value := range m.Header {
		canonical := nethttp.CanonicalHeaderKey(name)
		if !token(name) || ownHeader(canonical) {
			return nil, driver.Refuse("the header %q is for the client alone to set", name)
		}
		if err := setHeader(out.Header, canonical, value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// extend returns the URL with the additions of a message.
func (a *Activity) extend(m *Message) (*url.URL, error) {
	base := a.url
	if m.URL != "" {
		var err error
		if base, err = parseAddress(driver.Escape(m.URL)); err != nil {
			return nil, fmt.Errorf("url %q: %w", driver.Head([]byte(m.URL), 200), err)
		}
	}
	if m.Path != "" {
		more, err := segmentsOf(m.Path)
		if err != nil {
			return nil, err
		}
		last := len(base.path) - 1
		if base.path[last].String() != "" { // otherwise the slash at the end is the first byte of Path
			last++
		}
		base.path = append(base.path[:last:last], more...)
	}
	var query []string
	if m.Query != "" {
		query = []string{m.Query}
	}
	return base.fill(func(string) (string, bool) { return "", false }, query)
}

// segmentsOf returns the segments of an escaped path, none of which leads upwards.
func segmentsOf(path string) ([]driver.Template, error) {
	for escaped := range strings.SplitSeq(path, "/") {
		segment, err := url.PathUnescape(escaped)
		if err != nil {
			return nil, err
		}
		if climbs(segment) {
			return nil, fmt.Errorf("the segment of the path would lead elsewhere: %q", driver.Head([]byte(segment), 60))
		}
	}
	return parseSegments(driver.Escape(strings.TrimPrefix(path, "/")))
}
