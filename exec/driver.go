package exec

import (
	"time"

	"github.com/plc-lang/plc/tool"
)

// A driver makes a run go on. The schedulers of a run decide what happens: they start no
// goroutine, read no clock and call no tool. What they want done they ask their driver for.
// There are two: local, with goroutines and timers, and Stepper, which somebody else drives.
//
// Methods are called while mu is held, except attempt and now. What a driver calls back takes
// mu itself, and is never called before the method has returned.
type driver interface {
	// now returns the time. It may be called with or without mu.
	now() time.Time
	// after calls f once, when some time has passed, unless the timer is stopped before.
	after(wait time.Duration, f func()) timer
	// soon calls f once, before any call that is ready is taken where one call runs at a time.
	soon(f func())
	// wake says that there may be calls to take (pool.take).
	wake()
	// attempt makes an attempt that was started, and has the scheduler go on with its answer:
	// see scheduler.answered. It reports whether that is done, and done by the caller: then the
	// caller leaves the call; otherwise whoever brings the answer does.
	attempt(a *attempt, act tool.Activity, by *worker) bool
	// watch begins the time of an attempt; answered ends it.
	watch(a *attempt, now time.Time)
	answered(a *attempt)
	// attended reports whether there is somebody to ask. It may be called with or without mu.
	attended() bool
	// ask puts a question to somebody, which counts in asking of the scheduler until it is
	// answered or withdrawn.
	ask(a *asking)
	// calledOff says that contexts of schedulers were cancelled.
	calledOff()
	// ended says that nothing goes on any more: the result can be made.
	ended()
}

// timer is a call that a driver makes later.
type timer interface {
	// Stop prevents the call; it reports whether it did.
	Stop() bool
}
