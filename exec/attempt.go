package exec

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plc-lang/plc/tool"
)

// errTimeout is the cause of the context of an attempt that took too long.
var errTimeout = errors.New("timed out")

// attempt is an attempt of a call. It is the context and the clock of the activity, and holds its
// request. Most activities neither wait for the end of their context nor ask for its cause, so what
// that needs (attention) is made on demand.
type attempt struct {
	s        *scheduler
	i, turn  int32 // the call, and the value of its life.turn
	timeout  time.Duration
	request  tool.Request
	over     atomic.Bool
	fallback bool                      // it calls the fallback
	more     atomic.Pointer[attention] // nil until it is needed
}

// attention holds the parts of an attempt that only few need: a context of its own for activities
// that wait for its end, the pauses of its clock, and the time of its latest progress.
type attention struct {
	lastProgress time.Duration // when progress was last reported, since the start of the run; mu of the pool guards it

	mu      sync.Mutex
	pauses  int           // number of pauses under way
	paused  time.Time     // when the first of them began
	without time.Duration // length of past pauses that have not moved a deadline yet
	held    *deadline     // that came during a pause; nil if there is none

	own    context.Context // nil until an activity waits for it
	cancel context.CancelCauseFunc
}

// attended returns the attention of an attempt, which it makes the first time.
func (a *attempt) attended() *attention {
	if m := a.more.Load(); m != nil {
		return m
	}
	a.more.CompareAndSwap(nil, &attention{lastProgress: -progressPause})
	return a.more.Load()
}

// Deadline returns the deadline of the scheduler's context.
func (a *attempt) Deadline() (time.Time, bool) { return a.s.ctx.Deadline() }

// Done returns a channel that is closed when the attempt, its time or the run is over.
func (a *attempt) Done() <-chan struct{} {
	m := a.attended()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.make(a)
	if a.over.Load() { // else its end finds the context
		m.cancel(nil)
	}
	return m.own.Done()
}

// make makes own unless it has been made. The caller holds mu.
func (m *attention) make(a *attempt) {
	if m.own == nil {
		m.own, m.cancel = context.WithCancelCause(a.s.ctx)
	}
}

// context returns the context that was made for the attempt, or nil.
func (a *attempt) context() context.Context {
	m := a.more.Load()
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.own
}

// Err returns nil until Done is closed.
func (a *attempt) Err() error {
	over := a.over.Load()
	if own := a.context(); own != nil {
		return own.Err()
	}
	if over {
		return context.Canceled
	}
	return a.s.ctx.Err()
}

// Value returns the value of the scheduler's context. Package context uses it to find the context
// that cancels this one, which Done has made by then.
func (a *attempt) Value(key any) any {
	if own := a.context(); own != nil {
		return own.Value(key)
	}
	return a.s.ctx.Value(key)
}

// timeOut cancels the context of an attempt whose time is over. The activity may ignore that.
func (a *attempt) timeOut() {
	m := a.attended()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !a.over.Load() {
		m.make(a)
		m.cancel(errTimeout)
	}
}

// timedOut reports whether the attempt ran out of time before anything else ended it.
func (a *attempt) timedOut() bool {
	own := a.context()
	return own != nil && context.Cause(own) == errTimeout
}

// Pause stops the clock of the attempt until resume is called, for example while a person is asked,
// who may take long. It implements tool.Clock.
func (a *attempt) Pause() (resume func()) {
	m := a.attended()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pauses++; m.pauses == 1 {
		m.paused = time.Now()
	}
	return sync.OnceFunc(func() { a.local().resume(m) })
}

// local returns the driver that makes the attempt.
func (a *attempt) local() *local { return a.s.drive.(*local) }

// resume ends a pause of an attempt.
func (l *local) resume(m *attention) {
	m.mu.Lock()
	var held *deadline
	if m.pauses--; m.pauses == 0 {
		m.without += time.Since(m.paused)
		held, m.held = m.held, nil
	}
	m.mu.Unlock()
	if held != nil {
		l.mu.Lock()
		l.await(*held)
		l.mu.Unlock()
	}
}

// pause returns how much later the deadline is because of pauses, and counts each pause once. held
// reports that a pause is under way; resume then adds the deadline again. The caller holds mu of
// the pool.
func (d deadline) pause() (later time.Duration, held bool) {
	m := d.more.Load()
	if d.grace || m == nil {
		return 0, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pauses > 0 {
		m.held = &d
		return 0, true
	}
	later, m.without = m.without, 0
	return later, false
}

// end ends the attempt.
func (a *attempt) end() {
	a.over.Store(true)
	m := a.more.Load()
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.own != nil {
		m.cancel(nil)
	}
}

// deadline is the time at which an attempt runs out of time, or at which the grace after that is
// over.
type deadline struct {
	*attempt
	grace bool
	at    time.Duration // into the run
}

func (d deadline) before(e deadline) bool { return d.at < e.at }

// deadlines holds the deadlines of a run, which share one timer. Deadlines of attempts that have
// ended are removed when they are the majority or their params are large. mu of the pool guards it.
type deadlines struct {
	heap  heap[deadline]
	going int           // number of attempts that have not ended
	held  int           // bytes of the params of attempts that ended since the last removal
	timer *time.Timer   // nil until the first
	next  time.Duration // when the timer fires, since the start of the run; 0 is never
}

// Up to this many deadlines of ended attempts, with params of this many bytes, are not removed
// early.
const (
	fewDeadlines = 64
	fewBytes     = 16 << 20
)

func (l *local) watch(a *attempt, now time.Time) {
	l.due.going++
	l.await(deadline{attempt: a, at: after(now.Sub(l.begun), a.timeout)})
}

func (l *local) answered(a *attempt) {
	l.due.going--
	l.due.held += len(a.request.Params)
}

// after returns now+wait, or the largest duration if that overflows.
func after(now, wait time.Duration) time.Duration { return now + min(wait, math.MaxInt64-now) }

// await adds a deadline. The caller holds mu.
func (l *local) await(d deadline) {
	if l.root.closed {
		return
	}
	l.due.heap.push(d)
	if len(l.due.heap) > fewDeadlines+2*l.due.going || l.due.held > fewBytes {
		l.due.held = 0
		l.due.heap = slices.DeleteFunc(l.due.heap, func(d deadline) bool { return d.over.Load() })
		l.due.heap.order()
	}
	l.arm()
}

// arm sets the timer to the next deadline. The caller holds mu.
func (l *local) arm() {
	due := &l.due
	if len(due.heap) == 0 || due.next > 0 && due.heap[0].at >= due.next {
		return
	}
	due.next = due.heap[0].at
	if wait := due.next - time.Since(l.begun); due.timer == nil {
		due.timer = time.AfterFunc(wait, l.ring)
	} else {
		due.timer.Reset(wait)
	}
}

// disarm forgets all deadlines: the run has ended. The caller holds mu.
func (l *local) disarm() {
	if l.due.timer != nil {
		l.due.timer.Stop()
	}
	l.due.heap = nil
}

// ring cancels the attempts whose time is over, and gives up on those whose grace is over as well.
func (l *local) ring() {
	defer l.crash()
	now := time.Since(l.begun)
	for _, d := range l.late(now) {
		if d.grace {
			go func() {
				defer l.crash()
				d.overdue()
			}()
			continue
		}
		d.timeOut()
		d.grace, d.at = true, after(now, l.opts.Grace)
		l.mu.Lock()
		l.await(d)
		l.mu.Unlock()
	}
}

// late removes and returns the deadlines that have come, of attempts that have not ended. It puts
// off those that pauses delay.
func (l *local) late(now time.Duration) (late []deadline) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.due.heap) > 0 && l.due.heap[0].at <= now {
		d := l.due.heap.pop()
		if d.over.Load() {
			continue
		}
		switch later, held := d.pause(); {
		case held:
		case later > 0:
			d.at = after(d.at, later)
			l.due.heap.push(d)
		default:
			late = append(late, d)
		}
	}
	l.due.next = 0
	l.arm()
	return late
}
