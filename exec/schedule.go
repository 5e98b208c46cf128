package exec

import (
	"container/heap"
	"time"

	"golang.org/x/time/rate"

	"github.com/plc-lang/plc/tool"
)

// How calls come to run. Each node of the program's graph has a counter of what
// it still waits for. When a call settles, the counters of what waits for it go down, and
// what comes to zero is ready; a junction that comes to zero passes it on at once. The
// ready calls are in a heap. As long as there is a slot and a ready call, a worker takes it; a
// worker that is done takes the next, so a chain runs in one goroutine and
// no goroutine exists without a slot.
//
//	           ┌─────────────── a timer: retry, rate ───────────────┐
//	           ↓                                                    │
//	pending → ready → running ─→ its write waits its turn ─→ completed, failed
//	   │         │       └─→ awaiting (a person) → ready
//	   └─────────┴──→ skipped, blocked, cancelled
//
// A write waits, outside any slot, until the earlier calls that may write what
// it overlaps have settled (plan-language §6).

// readyHeap orders the calls that are ready: the longest way below first, then
// by place.
type readyHeap struct {
	calls []int32
	rank  []float64 // nil is by place alone
}

func (h *readyHeap) Len() int { return len(h.calls) }
func (h *readyHeap) Less(i, j int) bool {
	a, b := h.calls[i], h.calls[j]
	if h.rank != nil && h.rank[a] != h.rank[b] {
		return h.rank[a] > h.rank[b]
	}
	return a < b
}
func (h *readyHeap) Swap(i, j int) { h.calls[i], h.calls[j] = h.calls[j], h.calls[i] }
func (h *readyHeap) Push(x any)    { h.calls = append(h.calls, x.(int32)) }
func (h *readyHeap) Pop() any {
	n := len(h.calls) - 1
	x := h.calls[n]
	h.calls = h.calls[:n]
	return x
}

// toolLimit bounds the calls of one tool.
type toolLimit struct {
	parallel int // 0 is no bound
	running  int
	waiting  []int32       // ready calls that wait for a place
	rate     *rate.Limiter // nil is no bound
}

func newToolLimit(l tool.Limits) *toolLimit {
	t := &toolLimit{parallel: l.Parallel}
	if l.PerSecond > 0 {
		t.rate = rate.NewLimiter(rate.Limit(l.PerSecond), max(1, int(l.PerSecond)))
	}
	return t
}

// free notes that a node waits for nothing more: a call becomes ready, a
// junction frees what waits for it. The caller holds mu.
func (s *scheduler) free(n int32) {
	if int(n) < len(s.calls()) {
		s.push(n)
		return
	}
	stack := []int32{n}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, next := range s.prog().Starts.Succ(n) {
			if s.starts[next]--; s.starts[next] > 0 {
				continue
			}
			if int(next) < len(s.calls()) {
				s.push(next)
			} else {
				stack = append(stack, next)
			}
		}
	}
}

// push makes a call ready.
func (s *scheduler) push(i int32) {
	c := s.call(i)
	c.status = Ready
	s.emitCall(i, Event{Type: CallReady, Status: Ready})
	heap.Push(&s.ready, i)
}

// dispatch starts workers while there are slots and ready calls. The caller holds mu.
func (s *scheduler) dispatch() {
	for {
		i, ok := s.take()
		if !ok {
			return
		}
		go s.work(i)
	}
}

// take takes a slot and the next ready call, if there are both. The caller holds mu.
func (s *scheduler) take() (int32, bool) {
	for s.stopped.status == "" && !s.closed && len(s.ready.calls) > 0 && s.active < s.opts.MaxParallel && !s.inTurn() {
		i := heap.Pop(&s.ready).(int32)
		if !s.admit(i) {
			continue
		}
		if s.opts.Limiter != nil {
			slot, ok := s.opts.Limiter.Acquire()
			if !ok && s.active > 0 {
				s.unadmit(i)
				heap.Push(&s.ready, i)
				return 0, false
			}
			s.call(i).slot = slot
		}
		s.active++
		s.busy++
		return i, true
	}
	return 0, false
}

// inTurn reports whether a sequential run waits for the next attempt of a call:
// nothing overtakes it.
func (s *scheduler) inTurn() bool { return s.opts.Schedule == Sequential && len(s.timers) > 0 }

// admit takes a place of the call's tool; without one the call waits for it.
func (s *scheduler) admit(i int32) bool {
	t := s.tools[s.prog().Calls[i].Tool]
	if t == nil {
		return true
	}
	if t.parallel > 0 && t.running >= t.parallel {
		t.waiting = append(t.waiting, i)
		return false
	}
	c := s.call(i)
	if t.rate != nil && !c.ticket {
		if wait := t.rate.Reserve().Delay(); wait > 0 {
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
	if n := len(c.limited.waiting); n > 0 {
		next := c.limited.waiting[0]
		c.limited.waiting = c.limited.waiting[1:]
		heap.Push(&s.ready, next)
	}
	c.limited = nil
}

// after makes a call ready when some time has passed. The caller holds mu.
func (s *scheduler) after(i int32, wait time.Duration) {
	s.timers[i] = time.AfterFunc(wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if _, ok := s.timers[i]; !ok {
			return // called off
		}
		delete(s.timers, i)
		heap.Push(&s.ready, i)
		s.dispatch()
		s.checkIdle()
	})
}

// release gives back what a call held while it ran. The caller holds mu.
func (s *scheduler) release(i int32, ok bool) {
	s.active--
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
	c.settled = true
	if c.status != Skipped {
		c.ended = time.Now()
	}
	for _, n := range s.prog().Starts.Succ(i) {
		if s.starts[n]--; s.starts[n] == 0 {
			s.free(n)
		}
	}
	if s.prog().Commits == nil {
		return queue
	}
	stack := []int32{i}
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, next := range s.prog().Commits.Succ(n) {
			if s.commits[next]--; s.commits[next] > 0 {
				continue
			}
			switch {
			case int(next) >= len(s.calls()):
				stack = append(stack, next)
			case s.call(next).parked != nil:
				queue = append(queue, next)
			}
		}
	}
	return queue
}
