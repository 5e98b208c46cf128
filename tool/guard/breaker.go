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

// Breaker lets no call through for the pause when so many calls in a row have failed. Then one goes
// through, to try: when it succeeds all do again, when it fails there is another pause. A failure
// that is permanent says nothing of the service (it answered), nor does one of a call that was
// cancelled. Calls that are not let through fail with the code Open; they may be tried again when
// the pause is over.
//
//	closed ──failures──▶ open ──pause──▶ trying ──success──▶ closed
//	                      ▲                │
//	                      └────failure─────┘
func Breaker(failures int, pause time.Duration) tool.Middleware {
	return func(next tool.Activity) tool.Activity {
		return &breaker{next: next, failures: failures, pause: pause}
	}
}

// breaker is an activity with a breaker.
type breaker struct {
	next     tool.Activity
	failures int
	pause    time.Duration

	mu     sync.Mutex
	failed int       // in a row
	until  time.Time // of the pause; zero is closed
	trying bool
}

// Call returns the activity's, or the error of a breaker that is open.
func (b *breaker) Call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	trial, err := b.enter()
	if err != nil {
		return tool.Result{}, err
	}
	told := verdict(unknown)
	defer func() { b.leave(trial, told) }() // also when the activity panics
	result, err := b.next.Call(ctx, req)
	told = judge(ctx, err)
	return result, err
}

// enter asks to be let through; trial says that this call is the one that tries.
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

// leave notes how a call went.
func (b *breaker) leave(trial bool, told verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		b.trying = false
	}
	switch {
	case told == good && (trial || b.until.IsZero()):
		b.failed, b.until = 0, time.Time{}
	case told != bad:
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
