package model

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// A stream of events goes to the libraries of the providers line by line, as it comes. Since they
// report faults in different ways, faults never reach them: a connection that broke, a stream
// without an end, an error in the middle. The stream that they get is bounded and has only whole
// lines.

const (
	eventStream = "text/event-stream"
	// maxStream is the maximum size of a stream in bytes. Each piece of an answer has some hundred
	// bytes around it.
	maxStream = 4 * maxAnswer
	// longestSilence is the longest time for which a stream may send nothing, not even a comment.
	longestSilence = 10 * time.Minute
	// statusOverloaded is not a standard status.
	statusOverloaded = 529
)

// mediaType returns the media type of an answer, without parameters.
func mediaType(resp *http.Response) string {
	header := resp.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(header); err == nil {
		return kind
	}
	return header
}

// events is the body of an answer that is a stream of events.
type events struct {
	ctx       context.Context // of the request
	transport *transport
	body      io.Closer
	lines     *bufio.Reader
	silence   *time.Timer // closes the body

	size  int64
	event string // the kind of the event that is read
	line  []byte // the part of the line that is not read yet
	err   error  // the error after the line
}

// newEvents returns the body of an answer to a request of this context.
func newEvents(ctx context.Context, t *transport, body io.ReadCloser) *events {
	return &events{
		ctx: ctx, transport: t, body: body, lines: bufio.NewReader(body),
		silence: time.AfterFunc(longestSilence, func() { body.Close() }),
	}
}

// Read implements io.Reader. Its errors other than io.EOF are *tool.Errors.
func (e *events) Read(p []byte) (int, error) {
	if len(e.line) == 0 && e.err == nil {
		e.line, e.err = e.next()
	}
	if len(e.line) == 0 {
		return 0, e.err
	}
	n := copy(p, e.line)
	e.line = e.line[n:]
	return n, nil
}

// Close implements io.Closer: it ends the answer.
func (e *events) Close() error {
	e.silence.Stop()
	return e.body.Close()
}

// next returns the next line. It drops a last line without a line end.
func (e *events) next() ([]byte, error) {
	var line []byte
	for {
		e.silence.Reset(longestSilence)
		part, err := e.lines.ReadSlice('\n')
		silent := !e.silence.Stop()
		if e.size += int64(len(part)); e.size > maxStream || len(line)+len(part) > maxAnswer {
			return nil, &tool.Error{Code: driver.TooLarge, Permanent: true, Message: fmt.Sprintf(
				"the answer has more than %d bytes, or an event of more than %d", maxStream, maxAnswer)}
		}
		line = append(line, part...)
		switch {
		case err == nil:
			if err := e.fault(line); err != nil {
				return nil, err
			}
			return []byte(e.transport.known.Text(string(line))), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case e.ctx.Err() != nil:
			return nil, driver.Stopped(e.ctx, false)
		case errors.Is(err, io.EOF):
			return nil, io.EOF
		case silent:
			return nil, &tool.Error{Code: "timeout", Message: fmt.Sprintf("the answer broke off: nothing came for %v", longestSilence), Err: err}
		default:
			return nil, &tool.Error{Code: "connection-lost", Message: "the answer broke off: " + e.transport.known.Message(err.Error()), Err: err}
		}
	}
}

// fault returns the error that a line reports, or nil.
func (e *events) fault(line []byte) error {
	name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
	value = bytes.TrimSpace(value)
	switch string(name) {
	case "":
		if len(value) == 0 { // an empty line ends the event; other lines here are comments
			e.event = ""
		}
	case "event":
		e.event = string(value)
	case "data":
		said := gjson.GetBytes(value, "error")
		if e.event == "error" || said.IsObject() || said.Type == gjson.String && said.Str != "" {
			return e.transport.refusal(statusOf(value), "the answer ended with an error", value)
		}
	}
	return nil
}

// statusOf returns the HTTP status that an error in a stream would have had before the answer
// began. Providers send it as a number or a name.
func statusOf(data []byte) int {
	code := gjson.GetBytes(data, "error.code")
	if status := code.Int(); status >= 400 && status <= 599 {
		return int(status)
	}
	for _, name := range []string{gjson.GetBytes(data, "error.type").Str, code.Str} {
		if status := statusNamed(name); status != 0 {
			return status
		}
	}
	return http.StatusInternalServerError
}

// statusNamed returns the status for a name that providers use; 0 if the name is unknown.
func statusNamed(name string) int {
	switch name {
	case "invalid_request_error":
		return http.StatusBadRequest
	case "authentication_error":
		return http.StatusUnauthorized
	case "billing_error":
		return http.StatusPaymentRequired
	case "permission_error":
		return http.StatusForbidden
	case "not_found_error":
		return http.StatusNotFound
	case "request_too_large":
		return http.StatusRequestEntityTooLarge
	case "rate_limit_error", "rate_limit_exceeded", "insufficient_quota":
		return http.StatusTooManyRequests
	case "timeout_error":
		return http.StatusGatewayTimeout
	case "overloaded_error":
		return statusOverloaded
	}
	return 0
}
