package http

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	nethttp "net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

const (
	// quoted is the maximum number of bytes of an error's body that its message quotes.
	quoted = 500

	// searched is the maximum number of bytes of the body that are searched for secrets. It is
	// larger than quoted, so that a secret at the end of the quote is found as a whole.
	searched = 64 << 10
)

// failure returns the error of a request without an answer. It leaves out the URL, which may
// contain a secret.
func (a *Activity) failure(ctx context.Context, err error, sent bool) error {
	var refused *tool.Error
	if errors.As(err, &refused) {
		if sent { // after a redirect
			e := *refused
			e.Uncertain = !a.repeatable()
			return &e
		}
		return refused
	}
	if ctx.Err() != nil {
		return driver.Stopped(ctx, sent)
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	e := &tool.Error{Code: "connection-lost", Message: driver.Head(driver.Clean(ctx, []byte(err.Error())), quoted), Err: err}
	var untrusted *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.As(err, &untrusted):
		e.Code, e.Permanent = "bad-certificate", true
	case !sent, errors.As(err, &op) && op.Op == "dial":
		e.Code = "connect"
	}
	e.Uncertain = sent && !a.repeatable() && !e.Permanent
	return e
}

// answer returns the result or the error of a response.
func (a *Activity) answer(ctx context.Context, resp *nethttp.Response) (tool.Result, error) {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return tool.Result{}, a.statusError(ctx, resp)
	}
	if resp.ContentLength > a.maxBytes {
		return tool.Result{}, a.tooLarge()
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, a.maxBytes+1))
	switch {
	case err != nil:
		return tool.Result{}, a.failure(ctx, err, true)
	case int64(len(text)) > a.maxBytes:
		return tool.Result{}, a.tooLarge()
	}
	value, err := a.value(ctx, resp, text)
	if err != nil {
		return tool.Result{}, &tool.Error{
			Code: driver.BadOutput, Message: err.Error(), Permanent: true, Uncertain: !a.repeatable(), Err: err,
		}
	}
	return tool.Result{Value: value}, nil
}

func (a *Activity) tooLarge() error {
	return &tool.Error{
		Code: driver.TooLarge, Permanent: true, Uncertain: !a.repeatable(),
		Message: fmt.Sprintf("the answer has more than %d bytes; ask for less, or raise maxBytes", a.maxBytes),
	}
}

// value returns the body as the result.
func (a *Activity) value(ctx context.Context, resp *nethttp.Response, text []byte) (json.RawMessage, error) {
	contentType := resp.Header.Get("Content-Type")
	var value json.RawMessage
	var err error
	switch {
	case a.result == "json" || a.result != "text" && (len(text) == 0 || isJSON(contentType)):
		value, err = driver.JSON(ctx, text)
	default:
		value, err = driver.Text(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%w (Content-Type %q)", err, contentType)
	}
	if a.result != "full" {
		return value, nil
	}
	return json.Marshal(full{resp.StatusCode, plainHeaders(ctx, resp.Header), value})
}

// full is the result "full".
type full struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
}

// plainHeaders returns the headers by their names in lower case. Cookies are left out: they are for
// the client, and may be secrets. Other secrets are removed before names become equal and before
// values are joined.
func plainHeaders(ctx context.Context, h nethttp.Header) map[string]string {
	plain := make(map[string]string, len(h))
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if name == "Set-Cookie" {
			continue
		}
		values := strings.ReplaceAll(string(driver.Clean(ctx, []byte(strings.Join(h[name], "\n")))), "\n", ", ")
		name = strings.ToLower(driver.CleanFolded(ctx, name))
		if other, ok := plain[name]; ok { // another name that had a secret in the same place
			values = other + ", " + values
		}
		plain[name] = values
	}
	return plain
}

// statusError returns the error that a server reported.
func (a *Activity) statusError(ctx context.Context, resp *nethttp.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, searched)) // with an error, show what arrived
	status := resp.StatusCode
	message := strings.TrimSpace(strconv.Itoa(status) + " " + nethttp.StatusText(status))
	if said := driver.Head(driver.Clean(ctx, text), quoted); said != "" {
		message += ": " + said
	}
	e := &tool.Error{Code: "http-" + strconv.Itoa(status), Message: message}
	switch {
	case status == nethttp.StatusBadGateway || status == nethttp.StatusGatewayTimeout:
		e.Uncertain = !a.repeatable()
	case status == nethttp.StatusRequestTimeout || status == nethttp.StatusTooEarly || status == nethttp.StatusTooManyRequests || status >= 500:
	default:
		e.Permanent = true
	}
	if !e.Permanent {
		e.RetryAfter = retryAfter(resp.Header.Get("Retry-After"), time.Now())
	}
	return e
}

// retryAfter reads the header: seconds, or a date.
func retryAfter(header string, now time.Time) time.Duration {
	const longest = 365 * 24 * time.Hour
	if seconds, err := strconv.ParseUint(header, 10, 63); err == nil {
		return time.Duration(min(seconds, uint64(longest/time.Second))) * time.Second
	}
	if at, err := nethttp.ParseTime(header); err == nil {
		return min(max(at.Sub(now), 0), longest)
	}
	return 0
}
