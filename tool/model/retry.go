package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// The bounds of Retry.
const (
	DefaultTries   = 5
	firstDelay     = 500 * time.Millisecond
	longestDelay   = 30 * time.Second
	mostRetryAfter = 10 * time.Minute // a failure that asks for a longer wait is final
)

// Retry returns a converser that asks again if next fails in a way that may be temporary (a rate
// limit, a busy server, a lost connection). It tries this many times in all; 0 is DefaultTries. Its
// waits grow from half a second to 30 seconds, with full jitter, and are never shorter than the
// provider says. It does not ask again after a piece of the reply was passed to OnText, since
// another reply would not continue it, or if ctx would be done before. The error is that of the
// last try.
func Retry(next Converser, tries int) Converser {
	if tries <= 0 {
		tries = DefaultTries
	}
	return &retrying{next, tries}
}

type retrying struct {
	next  Converser
	tries int
}

// Converse implements Converser.
func (r *retrying) Converse(ctx context.Context, turn *Turn) (*Reply, error) {
	told := false
	attempt := *turn
	if turn.OnText != nil {
		attempt.OnText = func(piece string) error { told = true; return turn.OnText(piece) }
	}
	for n := 1; ; n++ {
		reply, err := r.next.Converse(ctx, &attempt)
		wait, again := delay(err, n)
		if !again || n == r.tries || told || ctx.Err() != nil || late(ctx, wait) {
			return reply, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, driver.Stopped(ctx, false)
		}
	}
}

// delay returns how long to wait after the n-th try, and whether another try makes sense.
func delay(err error, n int) (wait time.Duration, again bool) {
	var te *tool.Error
	if !errors.As(err, &te) || te.Permanent || te.RetryAfter > mostRetryAfter {
		return 0, false
	}
	most := longestDelay
	if n < 7 { // 500 ms · 2⁶ is more
		most = min(most, firstDelay<<(n-1))
	}
	return max(rand.N(most+1), te.RetryAfter), true
}

// late reports whether ctx is done before a wait ends.
func late(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= wait
}
