package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/plc-lang/plc/tool"
)

// Open is the code of calls that a breaker does not let through.
const Open = "circuit-open"

// Breaker stops calls for the pause after this many failures in a row. Then it lets one call
// through: if that succeeds, calls go through again, and if it fails there is another pause.
// Permanent failures don't count, since the service answered, and neither do calls that were
// cancelled. Calls that are stopped fail with the code Open; they may be tried again when the pause
// is over.
//
//	closed ──failures──▶ open ──pause──▶ trying ──success──▶ closed
//	                      ▲                │
//	                      └────failure─────┘
func Breaker(failures int, pause time.Duration) tool.Middleware {
	return func(next tool.Activity) tool.Activity {
		return &breaker{next: next, failures: failures, pause: pause}
	}
}

// breaker is an activity that Breaker has wrapped.
type breaker struct {
	next     tool.Activity
	failures int
	pause    time.Duration

	mu     sync.Mutex
	failed int       // in a row
	until  time.Time // the end of the pause; zero if calls go through
	trying bool
}

// Call calls the activity, or returns an error with the code Open during a pause.
func (b *breaker) Call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	trial, err := b.enter()
	if err != nil {
		return tool.Result{}, err
	}
	v := verdict(unknown)
	defer func() { b.leave(trial, v) }() // also when the activity panics
	result, err := b.next.Call(ctx, req)
	v = judge(ctx, err)
	return result, err
}

// enter returns an error if the call must not go through; trial reports that it is the one call
// after a pause.
func (b *breaker) enter() (trial bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return false, nil
	}
	left := time.Until(b.until)
	if left <= 0 && !b.trying {
		b.trying = true
		return true, nil
	}
	return false, &tool.Error{
		Code: Open, RetryAfter: max(left, 0),
		Message: fmt.Sprintf("not called: the last %d calls failed, and there is a pause of %v", b.failed, b.pause),
	}
}

// leave records how a call ended.
func (b *breaker) leave(trial bool, v verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		b.trying = false
	}
	switch {
	case v == good && (trial || b.until.IsZero()):
		b.failed, b.until = 0, time.Time{}
	case v != bad:
	default:
		b.failed++
		if trial || b.until.IsZero() && b.failed >= b.failures {
			b.until = time.Now().Add(b.pause)
		}
	}
}

// verdict says whether a call shows that the service works.
type verdict uint8

const (
	unknown verdict = iota
	good
	bad
)

func judge(ctx context.Context, err error) verdict {
	var e *tool.Error
	switch {
	case err == nil:
		return good
	case errors.Is(ctx.Err(), context.Canceled):
		return unknown
	case errors.As(err, &e) && e.Permanent:
		return good // it answered
	}
	return bad
}
