package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
	"github.com/plc-lang/plc/tool/internal/secret"
)

// maxAnswer is the maximum size of an answer in bytes, decompressed.
const maxAnswer = 16 << 20

// HTTPClient returns the HTTP client with which a Client sends its requests. It follows no
// redirects, uses no proxy, and reads an answer to its end, at most 16 MiB. For requests that
// accept only a stream of events, it reads the stream as it comes, at most 64 MiB. Failures are
// *tool.Errors: "http-N" for a status, which is permanent unless it is 408, 409, 425, 429 or 5xx;
// "connect", "connection-lost", "timeout", "cancelled", "output-too-large". Neither errors nor
// answers contain the key. No failure is uncertain: a model may always be asked again.
func HTTPClient(key string) *http.Client {
	next := &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 30 * time.Second, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 1 << 20,
	}
	return &http.Client{Transport: &transport{next: next, known: secret.New(key)}}
}

// ErrWhole says that a server does not stream: it sends whole answers even if the request asks for
// a stream.
var ErrWhole = errors.New("the server answers whole")

type transport struct {
	next  http.RoundTripper
	known *secret.Redactor // the key
}

// RoundTrip implements http.RoundTripper, but returns an error for a status that is not a success.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err != nil {
		return nil, t.unsent(req.Context(), err)
	}
	if resp.StatusCode/100 == 2 && req.Header.Get("Accept") == eventStream && mediaType(resp) == eventStream {
		resp.Body = newEvents(req.Context(), t, resp.Body)
		return resp, nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil && req.Context().Err() != nil:
		return nil, driver.Stopped(req.Context(), false)
	case len(body) > maxAnswer:
		return nil, &tool.Error{Code: driver.TooLarge, Message: fmt.Sprintf("the answer has more than %d bytes", maxAnswer), Permanent: true}
	case resp.StatusCode/100 != 2:
		return nil, t.status(resp, body)
	case err != nil:
		return nil, &tool.Error{Code: "connection-lost", Message: "the answer broke off: " + t.known.Message(err.Error()), Err: err}
	case req.Header.Get("Accept") == eventStream:
		e := &tool.Error{Code: driver.BadOutput, Message: fmt.Sprintf(
			"the server was asked for a stream of events, and answers with %q: %s", shorten(t.known.Text(resp.Header.Get("Content-Type"))), shorten(t.known.Text(string(body))))}
		if mediaType(resp) == "application/json" {
			e.Err = ErrWhole
		}
		return nil, e
	}
	body = t.known.Value(body)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// unsent returns the error of a request that got no answer.
func (t *transport) unsent(ctx context.Context, err error) error {
	var op *net.OpError
	switch {
	case ctx.Err() != nil:
		return driver.Stopped(ctx, false)
	case errors.As(err, &op) && op.Op == "dial":
		return &tool.Error{Code: "connect", Message: t.known.Message(err.Error()), Err: err}
	}
	return &tool.Error{Code: "connection-lost", Message: t.known.Message(err.Error()), Err: err}
}

// status returns the error for an answer whose status is not a success.
func (t *transport) status(resp *http.Response, body []byte) error {
	e := t.refusal(resp.StatusCode, t.known.Text(resp.Status), body)
	if !e.Permanent {
		e.RetryAfter = retryAfter(resp.Header, time.Now())
	}
	return e
}

// refusal returns the error for a status, with the message in the body.
func (t *transport) refusal(status int, message string, body []byte) *tool.Error {
	clean := string(t.known.Value(body))
	if said := gjson.Get(clean, "error.message"); said.Type == gjson.String {
		clean = said.Str
	}
	if clean = shorten(clean); clean != "" {
		message += ": " + clean
	}
	again := []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests}
	return &tool.Error{
		Code: "http-" + strconv.Itoa(status), Message: message,
		Permanent: status < 500 && !slices.Contains(again, status),
	}
}

// retryAfter returns how long the server wants us to wait: it gives milliseconds, seconds, or a
// date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const longest = 365 * 24 * time.Hour
	if ms, err := strconv.ParseUint(h.Get("Retry-After-Ms"), 10, 63); err == nil {
		return time.Duration(min(ms, uint64(longest/time.Millisecond))) * time.Millisecond
	}
	header := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, longest.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(max(at.Sub(now), 0), longest)
	}
	return 0
}

// Failure converts the error of a library that used an HTTPClient to an error of plc.
func Failure(ctx context.Context, err error) error {
	var te *tool.Error
	switch {
	case errors.As(err, &te):
		return te
	case ctx.Err() != nil:
		return driver.Stopped(ctx, false)
	}
	return &tool.Error{Code: driver.BadOutput, Message: "the server's answer can't be read: " + shorten(err.Error()), Err: err}
}
