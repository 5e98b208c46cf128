package exec

import (
	"time"

	"github.com/plc-lang/plc/tool"
)

// A driver drives the schedulers of a run. They decide what happens, but start no goroutine, read
// no clock and call no tool: they ask their driver to. There are two drivers: local, with
// goroutines and timers, and Stepper, which its user drives step by step.
//
// The caller of a method holds mu, unless the method says otherwise. A driver calls functions that
// it was given without holding mu, and only after the method has returned.
type driver interface {
	// now returns the time. It may be called with or without mu.
	now() time.Time
	// after calls f once when the time has passed, unless the timer is stopped before.
	after(wait time.Duration, f func()) timer
	// soon calls f once. If one call runs at a time, f comes before the next ready call.
	soon(f func())
	// wake says that there may be calls for pool.take.
	wake()
	// attempt makes an attempt that was started, and passes its answer to scheduler.answered. If it
	// returns true, the caller must leave the call (leaveIf); otherwise the goroutine that brings
	// the answer does. The caller does not hold mu.
	attempt(a *attempt, act tool.Activity, by *worker) bool
	// watch starts the clock of an attempt, and answered stops it.
	watch(a *attempt, now time.Time)
	answered(a *attempt)
	// attended reports whether there is somebody to ask. It may be called with or without mu.
	attended() bool
	// ask puts a question to a person. The caller has counted it in asking of the scheduler; the
	// driver uncounts it when it is answered or withdrawn.
	ask(a *asking)
	// calledOff says that contexts of schedulers were cancelled.
	calledOff()
	// ended says that nothing goes on any more, so that the result can be made.
	ended()
}

// timer is a function call that a driver makes later.
type timer interface {
	// Stop prevents the call; it reports whether it did.
	Stop() bool
}
