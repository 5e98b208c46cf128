package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Limits of the exporter.
const (
	queued     = 1 << 14 // most spans that wait to be sent; further ones are dropped
	batched    = 512     // most spans in a request
	period     = 5 * time.Second
	lastFlush  = 5 * time.Second // time for the rest at the end
	mostTries  = 3               // attempts of a request
	firstPause = 500 * time.Millisecond
	maxAnswer  = 1 << 16
)

// Lost describes the spans that a collector didn't get.
type Lost struct {
	Spans, Of int   // number of lost spans, and of all spans
	Dropped   int   // how many of Spans were dropped because the queue was full
	Err       error // first reason for the others, or nil; it names the host and contains no header
}

// Error returns a one-line description.
func (l *Lost) Error() string {
	text := fmt.Sprintf("%d of %d spans were not sent", l.Spans, l.Of)
	if l.Dropped > 0 {
		text += fmt.Sprintf(", %d of them since they came faster than the collector took them", l.Dropped)
	}
	if l.Err != nil {
		text += ": " + l.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (l *Lost) Unwrap() error { return l.Err }

// exporter sends spans, from a goroutine that runs from the first span until close.
type exporter struct {
	config   Config
	client   *http.Client
	resource attributes
	ctx      context.Context // for all requests; done when the time of the last flush is over
	cancel   context.CancelCauseFunc
	wake     chan struct{} // signals that a batch is ready
	quit     chan struct{}
	ended    chan struct{}

	mu      sync.Mutex
	queue   []span
	started bool
	closed  bool
	came    int
	lost    Lost
}

// errLate is the reason why requests end for which the last flush has no time left.
var errLate = errors.New("the collector did not take them in time")

func newExporter(c *Config) *exporter {
	e := &exporter{config: *c, wake: make(chan struct{}, 1), quit: make(chan struct{}), ended: make(chan struct{})}
	e.ctx, e.cancel = context.WithCancelCause(context.Background())
	if e.config.Timeout <= 0 {
		e.config.Timeout = defaultTimeout
	}
	transport := http.RoundTripper(&http.Transport{MaxIdleConns: 1, IdleConnTimeout: time.Minute})
	if c.Client != nil && c.Client.Transport != nil {
		transport = c.Client.Transport
	}
	e.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resource := map[string]string{"service.name": "plc", "telemetry.sdk.name": "plc", "telemetry.sdk.language": "go"}
	if c.Version != "" {
		resource["service.version"] = c.Version
	}
	maps.Copy(resource, c.Resource)
	for _, name := range slices.Sorted(maps.Keys(resource)) {
		e.resource.set(name, resource[name])
	}
	return e
}

// add puts a span into the queue, or drops it.
func (e *exporter) add(s span) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.came++
	if len(e.queue) >= queued || e.closed {
		e.lost.Dropped++
		return
	}
	e.queue = append(e.queue, s)
	if !e.started {
		e.started = true
		go e.work()
	}
	if len(e.queue) >= batched {
		select {
		case e.wake <- struct{}{}:
		default:
		}
	}
}

// work sends spans in batches, until none are left after quit is closed.
func (e *exporter) work() {
	defer close(e.ended)
	tick := time.NewTicker(period)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-e.wake:
		case <-tick.C:
		case <-e.quit:
			open = false
		}
		for batch := e.take(); len(batch) > 0; batch = e.take() {
			e.send(batch)
		}
	}
}

// take removes a batch from the queue.
func (e *exporter) take() []span {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := min(len(e.queue), batched)
	batch := e.queue[:n:n]
	e.queue = e.queue[n:]
	if len(e.queue) == 0 {
		e.queue = nil
	}
	return batch
}

// close sends the remaining spans and returns what was lost.
func (e *exporter) close() *Lost {
	e.mu.Lock()
	started := e.started && !e.closed
	if !e.closed {
		e.closed = true
		close(e.quit)
	}
	e.mu.Unlock()
	if started {
		late := time.AfterFunc(lastFlush, func() { e.cancel(errLate) })
		<-e.ended
		late.Stop()
	}
	e.cancel(nil)
	e.client.CloseIdleConnections()
	e.mu.Lock()
	defer e.mu.Unlock()
	lost := e.lost
	lost.Spans, lost.Of = lost.Spans+lost.Dropped, e.came
	if lost.Spans == 0 {
		return nil
	}
	return &lost
}

// send sends a batch, and records which part of it was lost.
func (e *exporter) send(batch []span) {
	body := encode(e.resource, e.config.Version, batch)
	pause := firstPause
	for try := 1; ; try++ {
		rejected, wait, err := e.post(body)
		if err == nil && rejected == 0 {
			return
		}
		if err == nil {
			e.drop(min(rejected, len(batch)), errors.New("the collector rejected them"))
			return
		}
		if wait < 0 || try == mostTries || !e.pause(max(wait, pause)) {
			e.drop(len(batch), err)
			return
		}
		pause *= 2
	}
}

// pause waits for d; it returns false if there is no time for that.
func (e *exporter) pause(d time.Duration) bool {
	if d > lastFlush {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.quit: // the run has ended, so don't wait to retry
		return false
	case <-e.ctx.Done():
		return false
	}
}

func (e *exporter) drop(n int, why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lost.Spans += n
	if e.lost.Err == nil {
		e.lost.Err = why
	}
}

// post sends a request. It returns how many spans the collector rejected, or the error and how long
// to wait before a retry; if the wait is negative, the request must not be retried.
func (e *exporter) post(body []byte) (rejected int, wait time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(e.ctx, e.config.Timeout, errLate)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.config.Endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, -1, errors.New("the endpoint is no URL")
	}
	for name, value := range e.config.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "plc/"+e.config.Version)
	res, err := e.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return 0, -1, e.at(req, context.Cause(ctx))
		}
		return 0, 0, e.at(req, err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case res.StatusCode >= 200 && res.StatusCode < 300 && err == nil:
		return rejectedOf(answer), 0, nil
	case res.StatusCode >= 200 && res.StatusCode < 300: // accepted
		return 0, 0, nil
	}
	wait = -1
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		wait = 0
		if s, err := strconv.ParseUint(res.Header.Get("Retry-After"), 10, 16); err == nil {
			wait = time.Duration(s) * time.Second
		}
	}
	return 0, wait, e.at(req, fmt.Errorf("status %d %s", res.StatusCode, http.StatusText(res.StatusCode)))
}

// at wraps an error with the collector's name, leaving out parts of its URL that may be secret.
func (e *exporter) at(req *http.Request, err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	return fmt.Errorf("%s://%s: %w", req.URL.Scheme, req.URL.Host, err)
}

// rejectedOf returns how many spans a response reports as rejected.
func rejectedOf(answer []byte) int {
	var said struct {
		PartialSuccess struct {
			RejectedSpans json.Number `json:"rejectedSpans"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(answer, &said) != nil {
		return 0
	}
	n, err := strconv.Atoi(string(said.PartialSuccess.RejectedSpans))
	if err != nil || n < 0 {
		return 0
	}
	return n
}
