package exec

import (
	"time"

	"github.com/plc-lang/plc/state"
)

// worker is a goroutine that runs calls, one after the other. It steps aside while it waits, or may
// wait, for what is not ours: the tool, the record, a hook. The pool sees to it that there is
// always a worker that has not, as long as there are a slot and a ready call; and, since what
// workers do otherwise takes processors, that there are not more than those, or two.
//
// A nil worker is whoever else brings a call on: a timer, a person's answer.
type worker struct {
	l     *local
	reads placeReader // of the call that it runs
	away  bool        // it stepped aside
	since time.Time   // when it did so last, for a tool
	quick bool        // the tool that it called last took hardly any time
	moved bool        // it has left the call that it ran, and taken the next
	next  entry
	more  bool // there is a next one
}

// workers counts the workers of a run. mu of the pool guards it.
type workers struct {
	most     int  // that are not away: the processors, or two, so that who comes back finds a place beside who was started meanwhile
	here     int  // that are not away, with the one that is starting
	starting bool // one was started and has not come to take a call
}

// wake starts a worker if one is wanted, and there seem to be a slot and a ready call for
// it. It starts the next one when it runs.
func (l *local) wake() {
	if !l.starting && l.here < l.workers.most && len(l.ready) > 0 && l.active < l.opts.MaxParallel && !l.inTurn() {
		l.starting = true
		l.here++
		go l.serve()
	}
}

// spread starts a worker beside the caller, who comes to an end soon and takes one of the
// ready calls; with more to do before, it leaves it to others. When one call runs at a time, the
// caller's end comes first, and with it what follows from it above. The caller holds mu.
func (p *pool) spread(busy bool) {
	if p.opts.MaxParallel > 1 && (busy || len(p.ready) > 1) {
		p.drive.wake()
	}
}

// serve runs a worker that was started.
func (l *local) serve() {
	defer l.crash()
	w := &worker{l: l}
	l.mu.Lock()
	l.starting = false
	w.take()
	l.mu.Unlock()
	for w.more {
		w.moved = false
		s := w.next.s
		leave := s.perform(w.next.i, w)
		if w.moved {
			continue
		}
		if !leave {
			w.stepAside() // and does not come back
			return
		}
		s.mu.Lock()
		w.moveOn(s)
		s.mu.Unlock()
	}
}

// moveOn leaves the call of a scheduler and takes the next that is ready. The caller holds mu.
func (w *worker) moveOn(s *scheduler) {
	s.busy--
	s.checkIdle() // first: what follows from its end comes before what is ready
	w.back()
	w.moved = true
	w.take()
}

// quickCall is roughly the time that it takes to start a worker. Those whose calls take longer are
// kept though there are others enough: they will wait again.
const quickCall = 20 * time.Microsecond

// take takes the next call; without one, or when there are others enough, the worker ends. The
// caller holds mu.
func (w *worker) take() {
	l := w.l
	w.more = false
	if l.here <= l.workers.most || !w.quick {
		w.next, w.more = l.pool.take()
	}
	w.quick = false
	if !w.more {
		l.here--
		return
	}
	l.wake()
}

// back notes that the worker waits no more. The caller holds mu.
func (w *worker) back() {
	if w.away {
		w.away = false
		w.l.here++
	}
}

// stepAside takes mu and calls aside.
func (w *worker) stepAside() {
	if w == nil {
		return
	}
	w.l.mu.Lock()
	w.aside()
	w.l.mu.Unlock()
}

// aside notes that a worker will wait, and starts another one when nobody else is here. The
// caller holds mu.
func (w *worker) aside() {
	if w == nil || w.away {
		return
	}
	w.away = true
	if w.l.here--; w.l.here == 0 {
		w.l.wake()
	}
}

// called notes when a worker calls a tool. The caller holds mu.
func (w *worker) called(now time.Time) {
	if w != nil {
		w.since = now
	}
}

// returned notes when its tool has returned, and that it waits no more. The caller holds mu.
func (w *worker) returned(now time.Time) {
	if w != nil {
		w.back()
		w.quick = now.Sub(w.since) < quickCall
	}
}

// reader returns a reader of the whiteboard as of a place.
func (w *worker) reader(s *scheduler, before state.Place) *placeReader {
	if w == nil {
		return &placeReader{s: s, before: before}
	}
	w.reads = placeReader{s: s, before: before}
	return &w.reads
}
