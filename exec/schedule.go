package exec

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/plc-lang/plc/tool"
)

// How calls are scheduled. Each node of the program's graph has a counter of the nodes that it
// still waits for. When a call settles, the counters of its successors go down. A call whose
// counter reaches zero is ready; a junction whose counter reaches zero counts down its own
// successors at once. The ready calls are in a heap, and workers take them (worker.go): a chain
// runs in one goroutine, calls that wait run side by side, and for calls that never wait hardly
// more goroutines are made than there are processors.
//
// A write waits, outside any slot, until the earlier calls that may write what
// it overlaps have settled (plan-language §6).

// entry is a call of a scheduler that is ready.
type entry struct {
	s *scheduler
	i int32
}

// before orders the calls that are ready. What was begun is finished first: calls of deeper
// schedulers come before those of schedulers above them, and calls of older schedulers before those
// of younger ones. Within one scheduler, the call with the longest way below it comes first, then
// the earlier call.
func (a entry) before(b entry) bool {
	switch {
	case a.s == b.s:
		if r := a.s.rank; r != nil && r[a.i] != r[b.i] {
			return r[a.i] > r[b.i]
		}
		return a.i < b.i
	case a.s.depth != b.s.depth:
		return a.s.depth > b.s.depth
	}
	return a.s.number < b.s.number
}

// toolLimit bounds the calls of one tool.
type toolLimit struct {
	parallel int // 0 means no limit
	running  int
	waiting  []entry       // ready calls that wait for a place
	rate     *rate.Limiter // nil means no limit
}

func newToolLimit(l tool.Limits) *toolLimit {
	t := &toolLimit{parallel: l.Parallel}
	if l.PerSecond > 0 {
		t.rate = rate.NewLimiter(rate.Limit(l.PerSecond), max(1, int(l.PerSecond)))
	}
	return t
}

// push makes a call ready, unless Options.Hold makes it wait until no more calls come; count then
// finds it.
func (s *scheduler) push(i int32) {
	if s.open && s.opts.Hold != nil && s.opts.Hold(&s.prog().Calls[i]) {
		return
	}
	c := s.call(i)
	c.ready()
	s.sendCall(i, s.callEvent(CallReady, Ready))
	s.enqueue(i)
}

// enqueue makes a ready call wait for a slot.
func (s *scheduler) enqueue(i int32) {
	s.waiting++
	s.ready.push(entry{s, i})
}

// take takes a slot and the next ready call, if there are both. The caller holds mu.
func (p *pool) take() (entry, bool) {
	for len(p.ready) > 0 && p.active < p.opts.MaxParallel && !p.inTurn() && !p.full() {
		e := p.ready.pop()
		s, i := e.s, e.i
		s.waiting--
		if s.closed || !s.mayTake(i) {
			p.wake(p.tools[s.prog().Calls[i].Target]) // its place is for another
			s.checkIdle()
			continue
		}
		if !s.admit(i) {
			continue
		}
		if p.opts.Limiter != nil {
			slot, ok := p.opts.Limiter.Acquire()
			if !ok && p.active > 0 {
				s.unadmit(i)
				s.enqueue(i)
				return entry{}, false
			}
			s.call(i).slot = slot
		}
		p.active++
		s.busy++
		return e, true
	}
	return entry{}, false
}

// full reports whether the params of the attempts under way have as many bytes as all results of
// the run may have. No other call then starts until one of the attempts is answered.
func (p *pool) full() bool { return p.active > 0 && int64(p.paramBytes) >= p.opts.MaxBytes }

// inTurn reports whether a sequential run waits for the next attempt of a call, which no other call
// may overtake.
func (p *pool) inTurn() bool { return p.opts.Schedule == Sequential && p.timed > 0 }

// admit takes a place for a call within the limits of its tool. If there is none, it makes the call
// wait for one and returns false.
func (s *scheduler) admit(i int32) bool {
	t := s.tools[s.prog().Calls[i].Target]
	if t == nil || s.known(i) {
		return true
	}
	if t.parallel > 0 && t.running >= t.parallel {
		s.waiting++
		t.waiting = append(t.waiting, entry{s, i})
		return false
	}
	c := s.call(i)
	if t.rate != nil && !c.ticket {
		now := s.drive.now()
		if wait := t.rate.ReserveN(now, 1).DelayFrom(now); wait > 0 {
			c.ticket = true
			s.after(i, wait)
			return false
		}
	}
	c.ticket = false
	t.running++
	c.limited = t
	return true
}

func (s *scheduler) unadmit(i int32) {
	c := s.call(i)
	if c.limited == nil {
		return
	}
	c.limited.running--
	s.wake(c.limited)
	c.limited = nil
}

// wake lets the first call that waits for a place of a tool, and may still start, try again.
func (p *pool) wake(t *toolLimit) {
	if t == nil {
		return
	}
	for len(t.waiting) > 0 {
		e := t.waiting[0]
		t.waiting[0] = entry{}
		t.waiting = t.waiting[1:]
		e.s.waiting--
		if !e.s.closed && e.s.mayTake(e.i) {
			e.s.enqueue(e.i)
			return
		}
		e.s.checkIdle()
	}
}

// after makes a call ready when some time has passed. The caller holds mu.
func (s *scheduler) after(i int32, wait time.Duration) {
	if s.timers == nil {
		s.timers = map[int32]timer{}
	}
	s.timed++
	s.timers[i] = s.drive.after(wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, ok := s.timers[i]; !ok {
			return // called off
		}
		delete(s.timers, i)
		s.timed--
		s.enqueue(i)
		s.drive.wake()
	})
}

// release gives back the slot of a call, and what else the call held while it ran. The caller holds
// mu.
func (s *scheduler) release(i int32, ok bool) {
	s.active--
	s.unhold(i, ok)
}

// unhold gives back what a call holds besides its slot. The caller holds mu.
func (s *scheduler) unhold(i int32, ok bool) {
	s.unadmit(i)
	if c := s.call(i); c.slot != nil {
		c.slot.Release(ok)
		c.slot = nil
	}
}

// settle notes that a call has come to its end and frees what waits for it. It
// appends to queue the calls whose parked writes may now be applied. The caller holds mu.
func (s *scheduler) settle(i int32, queue []int32) []int32 {
	c := s.call(i)
	c.settle(s.instant())
	s.freed = s.starts.settle(i, s.freed[:0])
	for _, next := range s.freed {
		s.push(next)
	}
	s.freed = s.commits.settle(i, s.freed[:0])
	for _, next := range s.freed {
		if s.call(next).parked != nil {
			queue = append(queue, next)
		}
	}
	return queue
}
