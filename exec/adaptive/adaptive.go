// Package adaptive says how many calls of a run may go on at once: it starts with one, and grows as
// long as that does not make calls slower or fail (execution §1).
//
//	opts := &exec.Options{Schedule: exec.Adaptive, Limiter: adaptive.New(64)}
//
// It uses the adaptive limiter of failsafe-go: a gradient over recent and older durations, after
// TCP Vegas.
package adaptive

import (
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"

	"github.com/plc-lang/plc/exec"
)

// These make the limit react quickly, since runs are short.
const (
	shortestWindow = 20 * time.Millisecond
	longestWindow  = time.Second
	fewestSamples  = 2
)

// Limiter is an exec.Limiter. Several runs may share one.
type Limiter struct {
	limiter adaptivelimiter.AdaptiveLimiter[any]
}

// New makes a limiter of at most this many calls at once; 0 is exec.DefaultMaxParallel.
func New(most int) *Limiter {
	if most <= 0 {
		most = exec.DefaultMaxParallel
	}
	return &Limiter{adaptivelimiter.NewBuilder[any]().
		WithLimits(1, uint(most), 1).
		WithRecentWindow(shortestWindow, longestWindow, fewestSamples).
		Build()}
}

// Acquire takes a slot if there is one.
func (l *Limiter) Acquire() (exec.Slot, bool) {
	p, ok := l.limiter.TryAcquirePermit()
	if !ok {
		return nil, false
	}
	return slot{p}, true
}

// Limit returns how many calls may go on at once just now.
func (l *Limiter) Limit() int { return l.limiter.Limit() }

type slot struct{ permit adaptivelimiter.Permit }

// Release gives the slot back. The duration of a call that failed does not count.
func (s slot) Release(ok bool) {
	if ok {
		s.permit.Record()
	} else {
		s.permit.Drop()
	}
}
