// Package adaptive says how many calls of a run may go on at once: it starts with
// one and grows while calls do not take longer for it and do not fail (execution §1).
//
//	opts := &exec.Options{Schedule: exec.Adaptive, Limiter: adaptive.New(64)}
//
// The limiter is that of failsafe-go: a gradient over recent and older durations,
// after TCP Vegas.
package adaptive

import (
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"

	"github.com/plc-lang/plc/exec"
)

// How soon the limit follows what is seen: runs are short.
const (
	shortestWindow = 20 * time.Millisecond
	longestWindow  = time.Second
	fewestSamples  = 2
)

// Limiter is an exec.Limiter. One may serve several runs at once.
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

// Release gives the slot back. How long a call took that failed says nothing.
func (s slot) Release(ok bool) {
	if ok {
		s.permit.Record()
	} else {
		s.permit.Drop()
	}
}
