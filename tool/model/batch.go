package model

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// gather is the time that a request waits for others. Calls that become ready at the same time
// arrive within less.
const gather = 10 * time.Millisecond

// several is added to the prompt of a model that gets several requests in one.
const several = ` Here are several of these objects, by number, in one: they have nothing to do with each other. ` +
	`Answer each as if it were alone, and answer with one JSON object that has, by the same numbers, the answer to each.`

// Batch returns a client that sends up to most requests that come within 10 ms to next as one
// request. Each gets its own answer, which is checked as if it had been alone, and an equal part of
// the usage. A missing or wrong answer fails only its own request. If the combined request fails,
// all of them fail. A second attempt is made alone. If the combined request is refused because of
// its content (http-400, http-413, http-422, too long an answer), any of the requests may be the
// reason, so each is sent alone. Put a Tape around the batch, not into it, so that its record does
// not depend on which requests came together.
func Batch(next Client, most int) Client {
	if most < 2 {
		return next
	}
	return &batcher{next: next, most: most, open: map[string]*batch{}}
}

type batcher struct {
	next Client
	most int

	mu   sync.Mutex
	open map[string]*batch // batches that accept more requests, by the prompt of the model
}

// batch holds requests that are sent as one.
type batch struct {
	cancel   context.CancelFunc
	full     chan struct{} // closed when it has the maximum number of requests
	done     chan struct{} // closed when answers or errs are set
	requests []*Request
	waiting  int // the number of callers that wait for an answer
	answers  []*Answer
	errs     []error // of each request, if there are no answers
}

// Complete implements Client.
func (b *batcher) Complete(ctx context.Context, req *Request) (*Answer, error) {
	if req.Attempt > 1 {
		return b.next.Complete(ctx, req)
	}
	in, n := b.join(ctx, req)
	select {
	case <-in.done:
		return in.answers[n], in.errs[n]
	case <-ctx.Done():
		b.leave(in)
		return nil, driver.Stopped(ctx, false)
	}
}

// join adds a request to a batch, as its n-th.
func (b *batcher) join(ctx context.Context, req *Request) (in *batch, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in = b.open[req.System]
	if in == nil {
		shared, cancel := context.WithCancel(context.WithoutCancel(ctx))
		in = &batch{cancel: cancel, full: make(chan struct{}), done: make(chan struct{})}
		b.open[req.System] = in
		go b.send(shared, in, req.System)
	}
	in.requests = append(in.requests, req)
	in.waiting++
	if len(in.requests) == b.most {
		delete(b.open, req.System)
		close(in.full)
	}
	return in, len(in.requests) - 1
}

// leave removes a caller that waits. If nobody waits, the request is not sent.
func (b *batcher) leave(in *batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if in.waiting--; in.waiting == 0 {
		in.cancel()
		for system, open := range b.open {
			if open == in {
				delete(b.open, system)
			}
		}
	}
}

// send sends the request of a batch, once it is full or the time for others has passed.
func (b *batcher) send(ctx context.Context, in *batch, system string) {
	defer in.cancel()
	defer close(in.done)
	timer := time.NewTimer(gather)
	defer timer.Stop()
	select {
	case <-in.full:
	case <-timer.C:
	case <-ctx.Done():
	}
	b.mu.Lock()
	if b.open[system] == in {
		delete(b.open, system)
	}
	b.mu.Unlock()
	in.answers, in.errs = make([]*Answer, len(in.requests)), make([]error, len(in.requests))
	if len(in.requests) == 1 {
		b.each(ctx, in)
		return
	}
	a, err := b.next.Complete(ctx, together(in.requests))
	switch {
	case err == nil:
		in.answers = a.split(len(in.requests))
	case ctx.Err() == nil && becauseOf(err):
		b.each(ctx, in)
	default:
		for i := range in.errs {
			in.errs[i] = err
		}
	}
}

// each sends every request of a batch by itself, all at the same time.
func (b *batcher) each(ctx context.Context, in *batch) {
	var all sync.WaitGroup
	for i, req := range in.requests {
		all.Go(func() { in.answers[i], in.errs[i] = b.next.Complete(ctx, req) })
	}
	all.Wait()
}

// becauseOf reports whether an error may be caused by one of several requests, or by their number.
func becauseOf(err error) bool {
	var te *tool.Error
	return errors.As(err, &te) && slices.Contains([]string{"http-400", "http-413", "http-422", driver.TooLarge}, te.Code)
}

// together returns one request for several.
func together(requests []*Request) *Request {
	var bundle schemas.Bundle
	prompts, properties := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	var names []string
	for i, req := range requests {
		name := strconv.Itoa(i + 1)
		names = append(names, name)
		prompts[name] = json.RawMessage(req.Prompt)
		s, err := schemas.Compile(req.Schema, nil)
		if err != nil {
			s = nil // accept anything here: the answer is checked later
		}
		properties[name] = bundle.Add(s)
	}
	schema := jsonscan.Encode(struct {
		Type       string                     `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Closed     bool                       `json:"additionalProperties"`
		Defs       map[string]json.RawMessage `json:"$defs,omitempty"`
	}{"object", properties, names, false, bundle.Defs()})
	return &Request{
		System: requests[0].System + several, Prompt: string(jsonscan.Encode(prompts)),
		Schema: schema, Strict: Strict(schema), Attempt: 1, Answers: len(requests),
	}
}

// split returns the answer to each of n requests; a missing one is empty.
func (a *Answer) split(n int) []*Answer {
	all := make([]*Answer, n)
	for i := range all {
		all[i] = &Answer{Stop: a.Stop, Reason: a.Reason, Input: part(a.Input, n, i), Output: part(a.Output, n, i)}
	}
	text := unfenced(a.Text)
	if jsonscan.Check([]byte(text), jsonscan.Limits{}) != nil {
		return all
	}
	gjson.Parse(text).ForEach(func(name, v gjson.Result) bool {
		if i, err := strconv.Atoi(name.Str); err == nil && i >= 1 && i <= n && strconv.Itoa(i) == name.Str {
			all[i-1].Text = v.Raw
		}
		return true
	})
	return all
}

// part returns the i-th of n parts that together are total.
func part(total int64, n, i int) int64 {
	p := total / int64(n)
	if int64(i) < total%int64(n) {
		p++
	}
	return p
}
