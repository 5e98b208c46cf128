package exec

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/tool"
)

// errTimeout is why the context of an attempt that took too long is done.
var errTimeout = errors.New("timed out")

// attempt is an attempt of a call: the context and the request that its activity gets.
// Most activities ask neither whether their context is done nor when, so a context that can
// be cancelled is made when somebody does.
type attempt struct {
	s       *scheduler
	i, turn int32 // the call, and of it which attempt
	timeout time.Duration
	told    time.Duration // into the run: when it was last said how far it is; mu of the pool guards it
	request tool.Request

	mu      sync.Mutex
	pauses  int           // that go on
	paused  time.Time     // when the first of them began
	without time.Duration // how long pauses took that deadlines do not know of
	held    *deadline     // that came in a pause

	own    context.Context // nil until somebody waits for it
	cancel context.CancelCauseFunc
	over   bool
}

// Deadline is that of the scheduler's context.
func (a *attempt) Deadline() (time.Time, bool) { return a.s.ctx.Deadline() }

// Done is closed when the attempt, its time or the run is over.
func (a *attempt) Done() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.make()
	if a.over {
		a.cancel(nil)
	}
	return a.own.Done()
}

// make makes the context. The caller holds mu.
func (a *attempt) make() {
	if a.own == nil {
		a.own, a.cancel = context.WithCancelCause(a.s.ctx)
	}
}

// Err is nil until Done is closed.
func (a *attempt) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.own != nil:
		return a.own.Err()
	case a.over:
		return context.Canceled
	}
	return a.s.ctx.Err()
}

// Value is that of the scheduler's context. It leads package context to what cancels this
// one, which is there when it looks for it.
func (a *attempt) Value(key any) any {
	a.mu.Lock()
	in := a.own
	a.mu.Unlock()
	if in == nil {
		in = a.s.ctx
	}
	return in.Value(key)
}

// timeOut ends the time of the attempt, which may go on all the same.
func (a *attempt) timeOut() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.make()
		a.cancel(errTimeout)
	}
}

// Pause stops the time of the attempt until resume is called: a person is asked, who may
// take long. It implements tool.Clock.
func (a *attempt) Pause() (resume func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pauses++; a.pauses == 1 {
		a.paused = time.Now()
	}
	return sync.OnceFunc(a.resume)
}

// resume ends a pause.
func (a *attempt) resume() {
	a.mu.Lock()
	var held *deadline
	if a.pauses--; a.pauses == 0 {
		a.without += time.Since(a.paused)
		held, a.held = a.held, nil
	}
	a.mu.Unlock()
	if held != nil {
		a.s.mu.Lock()
		a.s.await(*held)
		a.s.mu.Unlock()
	}
}

// pause is how much later than at the deadline is for pauses that were; held is that one goes
// on, and resume awaits it. It is no later a second time. The caller holds mu of the pool.
func (d deadline) pause() (later time.Duration, held bool) {
	a := d.attempt
	if d.grace {
		return 0, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pauses > 0 {
		a.held = &d
		return 0, true
	}
	later, a.without = a.without, 0
	return later, false
}

// end ends the attempt.
func (a *attempt) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	if a.own != nil {
		a.cancel(nil)
	}
}

func (a *attempt) ended() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.over
}

// deadline is when the time of an attempt is over, or the grace that follows.
type deadline struct {
	*attempt
	grace bool
	at    time.Time
}

func (d deadline) before(e deadline) bool { return d.at.Before(e.at) }

// deadlines are those of a run, with one timer. Those of attempts that ended are swept out
// when they are most. mu of the pool guards them.
type deadlines struct {
	heap  heap[deadline]
	going int         // of attempts that have not ended
	timer *time.Timer // nil until the first
	next  time.Time   // when it rings; zero is never
}

// fewDeadlines are not worth sweeping.
const fewDeadlines = 64

// expect notes that an attempt was started. The caller holds mu.
func (p *pool) expect(a *attempt, now time.Time) {
	p.due.going++
	p.await(deadline{attempt: a, at: now.Add(a.timeout)})
}

// await adds a deadline. The caller holds mu.
func (p *pool) await(d deadline) {
	if p.root.closed {
		return
	}
	p.due.heap.push(d)
	if len(p.due.heap) > fewDeadlines+2*p.due.going {
		p.due.heap = slices.DeleteFunc(p.due.heap, func(d deadline) bool { return d.ended() })
		p.due.heap.order()
	}
	p.arm()
}

// arm sets the timer to the next deadline. The caller holds mu.
func (p *pool) arm() {
	due := &p.due
	if len(due.heap) == 0 || !due.next.IsZero() && !due.heap[0].at.Before(due.next) {
		return
	}
	due.next = due.heap[0].at
	if wait := time.Until(due.next); due.timer == nil {
		due.timer = time.AfterFunc(wait, p.ring)
	} else {
		due.timer.Reset(wait)
	}
}

// disarm forgets all deadlines: the run has ended. The caller holds mu.
func (p *pool) disarm() {
	if p.due.timer != nil {
		p.due.timer.Stop()
	}
	p.due.heap = nil
}

// ring ends what has had its time.
func (p *pool) ring() {
	now := time.Now()
	for _, d := range p.late(now) {
		if d.grace {
			go d.overdue()
			continue
		}
		d.timeOut()
		d.grace, d.at = true, now.Add(p.opts.Grace)
		p.mu.Lock()
		p.await(d)
		p.mu.Unlock()
	}
}

// late takes the deadlines that have come, of attempts that still go on.
func (p *pool) late(now time.Time) (late []deadline) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.due.heap) > 0 && !p.due.heap[0].at.After(now) {
		d := p.due.heap.pop()
		if d.ended() {
			continue
		}
		switch later, held := d.pause(); {
		case held:
		case later > 0:
			d.at = d.at.Add(later)
			p.due.heap.push(d)
		default:
			late = append(late, d)
		}
	}
	p.due.next = time.Time{}
	p.arm()
	return late
}
