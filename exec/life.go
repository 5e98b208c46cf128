package exec

import (
	"fmt"
	"time"
)

// life is the state of a call (execution §1). Only its methods change it, each of them by one
// transition. A transition that is not in the diagram is a bug of this package, and panics.
//
//	           ┌────────── a retry or the rate of its tool waits ─────────┐
//	           ↓                                                          │
//	pending → ready → running ── its write waits for its turn ──→ completed, failed (→ skipped)
//	   ↑        │  ↑     │
//	   │        │  └─ awaiting a person ──→ completed, failed, skipped
//	   └────────┴────────┘ the run stops, and may go on another time
//
//	from each status that is not final: skipped (not pending), cancelled, blocked
type life struct {
	status    Status
	attempts  int      // number of attempts of its tool
	spared    int      // number of those that do not count as retries
	turn      int32    // number of the attempt that runs, of the tool or the fallback; answers of older ones are dropped
	calling   bool     // its tool is being called, and the answer is waited for
	settled   bool     // it has come to its end, and what waits for it may go on
	handled   bool     // it failed, and the failure was written where the plan says
	byFailure bool     // it was skipped because something failed
	failure   *Failure // of its last attempt, or of the call
	reason    string   // why it was skipped, blocked or cancelled, or what a person is asked
	begun     time.Time
	ended     time.Time
}

// to changes the status. It panics if there is no such transition.
func (l *life) to(next Status) {
	if l.settled || !mayBecome(l.status, next) {
		panic(fmt.Sprintf("a call that is %s becomes %s (settled: %v)", l.status, next, l.settled))
	}
	l.status = next
}

// mayBecome reports whether a call may change from one status to another.
func mayBecome(from, to Status) bool {
	switch from {
	case Pending:
		return to == Ready || to == Cancelled || to == Blocked
	case Ready:
		return to != Ready
	case Running:
		return true
	case Awaiting:
		return to != Pending && to != Running
	case Failed:
		return to == Skipped // by its strategy, before it settles
	}
	return false // a final status
}

// ready notes that the call waits for nothing but a slot.
func (l *life) ready() { l.to(Ready) }

// notStarted notes that a call that was taken, or whose runs were paused, is left for another time.
func (l *life) notStarted() { l.to(Pending) }

// start counts an attempt that begins now.
func (l *life) start(now time.Time) {
	if l.attempts == 0 {
		l.begun = now
	}
	l.attempts++
	l.startFallback()
}

// startFallback begins a call of the fallback, which is no attempt of the tool.
func (l *life) startFallback() {
	l.to(Running)
	l.turn++
	l.calling = true
}

// answered notes that the attempt of this turn has its answer. It returns false if nobody waits for
// that answer any more.
func (l *life) answered(turn int32) bool {
	if l.turn != turn {
		return false
	}
	l.calling = false
	return true
}

// giveUp stops waiting for the answer of the attempt, which is dropped when it comes.
func (l *life) giveUp() {
	l.turn++
	l.calling = false
}

// retry notes that the call waits for its next attempt.
func (l *life) retry(f *Failure) {
	l.failure = f
	l.to(Ready)
}

// repeatLost notes that an attempt whose answer was lost is made again, which does not count as a
// retry.
func (l *life) repeatLost(fallback bool) {
	if !fallback {
		l.spared++
	}
	l.to(Ready)
}

// await notes that a person is asked about the call.
func (l *life) await(reason string) {
	l.to(Awaiting)
	l.reason = reason
}

// resume sets the numbers of attempts that another process had made.
func (l *life) resume(attempts, spared int) { l.attempts, l.spared = attempts, spared }

// complete ends the call with its result.
func (l *life) complete() { l.to(Completed) }

// fail ends the call with its failure.
func (l *life) fail(handled bool) {
	l.to(Failed)
	l.handled = handled
}

// failLost ends a call that was not taken, with its failure, since another process had started it.
func (l *life) failLost() {
	if l.status == Pending {
		l.ready()
	}
	l.fail(false)
	l.reason = ""
}

// skip ends a call that does not run or whose failure counts as that.
func (l *life) skip(reason string, byFailure bool) {
	l.to(Skipped)
	l.reason, l.byFailure = reason, byFailure
}

// cancel ends a call together with the run. No other call goes on because of it.
func (l *life) cancel(f *Failure, reason string) {
	l.to(Cancelled)
	l.failure, l.reason = f, reason
}

// block ends a call whose inputs can no longer come.
func (l *life) block() {
	l.to(Blocked)
	l.reason = "what it needs failed"
}

// settle notes that the call has come to its end.
func (l *life) settle(now time.Time) {
	l.settled = true
	if l.status != Skipped {
		l.ended = now
	}
}
