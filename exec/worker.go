package exec

import (
	"time"

	"github.com/plc-lang/plc/state"
)

// worker is a goroutine that runs calls, one after the other. It steps aside while it waits, or may
// wait, for something outside the run: a tool, the record, a hook. As long as there are a slot and
// a ready call, there is a worker that has not stepped aside. There are at most as many of those as
// processors, or two, since such workers keep processors busy.
//
// A nil worker stands for any other goroutine that advances a call, such as that of a timer or an
// answer.
type worker struct {
	l     *local
	reads placeReader // of the call that it runs
	away  bool        // it has stepped aside
	since time.Time   // when it last called a tool
	quick bool        // the tool that it called last took hardly any time
	moved bool        // it has left the call that it ran, and taken the next
	next  entry
	more  bool // there is a next one
}

// workers counts the workers of a run. mu of the pool guards it.
type workers struct {
	most     int  // most that may be here: the processors, but at least two, so that a worker that comes back has a place beside one that was started meanwhile
	here     int  // number that are not away, including the one that is starting
	starting bool // a worker was started and has not taken a call yet
}

// wake starts a worker if one is wanted, and there seem to be a slot and a ready call for it. That
// worker starts the next one.
func (l *local) wake() {
	if !l.starting && l.here < l.workers.most && len(l.ready) > 0 && l.active < l.opts.MaxParallel && !l.inTurn() {
		l.starting = true
		l.here++
		go l.serve()
	}
}

// spread starts a worker beside the caller, which will soon have ended its call and take one of the
// ready calls itself. busy says that the caller has more to do before that. If calls run one at a
// time, spread starts none: what follows from the caller's call comes first. The caller holds mu.
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

// quickCall is roughly the time that it takes to start a worker. Workers whose calls take longer
// are kept even if there are enough others, since they will wait again.
const quickCall = 20 * time.Microsecond

// take takes the next call. The worker ends if there is none, or if there are enough other workers
// and its last call was quick. The caller holds mu.
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

// back notes that the worker no longer waits. The caller holds mu.
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

// aside notes that a worker will wait, and starts another one if that leaves none. The caller holds
// mu.
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

// returned notes that its tool has returned, at this time, and that the worker no longer waits. The
// caller holds mu.
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
