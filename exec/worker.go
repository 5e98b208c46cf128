package exec

import "time"

// worker is a goroutine that runs calls, one after the other. It steps aside while it waits,
// or may wait, for what is not ours: the tool, the record, a hook. The pool sees to it that
// there is always a worker that has not, as long as there are a slot and a ready call; and, since what
// workers do otherwise takes processors, that there are not more than those, or two.
type worker struct {
	reads placeReader // of the call that it runs
	away  bool        // it stepped aside
	since time.Time   // when it did so last, for a tool
	quick bool        // the tool that it called last took hardly any time
	moved bool        // it has left the call that it ran, and taken the next
	next  entry
	more  bool // there is a next one
}

// workers counts the workers of a pool. mu of the pool guards it.
type workers struct {
	most     int  // that are not away: the processors, or two, so that who comes back finds a place beside who was started meanwhile
	here     int  // that are not away, with the one that is starting
	starting bool // one was started and has not come to take a call
}

// dispatch starts a worker if one is wanted, and there seem to be a slot and a ready call for
// it. It starts the next one when it runs. The caller holds mu.
func (p *pool) dispatch() {
	if !p.starting && p.here < p.workers.most && len(p.ready) > 0 && p.active < p.opts.MaxParallel && !p.inTurn() {
		p.starting = true
		p.here++
		go p.serve()
	}
}

// spread starts a worker beside the caller, who comes to an end soon and takes one of the
// ready calls; with more to do before, it leaves it to others. When one call runs at a time, the
// caller's end comes first, and with it what follows from it above. The caller holds mu.
func (p *pool) spread(busy bool) {
	if p.opts.MaxParallel > 1 && (busy || len(p.ready) > 1) {
		p.dispatch()
	}
}

// serve is a worker that was started.
func (p *pool) serve() {
	w := new(worker)
	p.mu.Lock()
	p.starting = false
	w.take(p)
	p.mu.Unlock()
	for w.more {
		w.moved = false
		s := w.next.s
		goOn := s.perform(w.next.i, w)
		if w.moved {
			continue
		}
		if !goOn {
			w.stepAside(p) // and does not come back
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
	w.back(s.pool)
	w.moved = true
	w.take(s.pool)
}

// quickCall is what it costs about to start a worker. Those whose calls take longer are kept
// though there are others enough: they will wait again.
const quickCall = 20 * time.Microsecond

// take takes the next call; without one, or when there are others enough, the worker ends. The
// caller holds mu.
func (w *worker) take(p *pool) {
	w.more = false
	if p.here <= p.workers.most || !w.quick {
		w.next, w.more = p.take()
	}
	w.quick = false
	if !w.more {
		p.here--
		return
	}
	p.dispatch()
}

// back notes that the worker waits no more. The caller holds mu.
func (w *worker) back(p *pool) {
	if w.away {
		w.away = false
		p.here++
	}
}

// stepAside is aside for those that do not hold mu.
func (w *worker) stepAside(p *pool) {
	p.mu.Lock()
	p.aside(w)
	p.mu.Unlock()
}

// aside notes that a worker will wait, and starts another one when nobody else is here. The
// caller holds mu.
func (p *pool) aside(w *worker) {
	if w.away {
		return
	}
	w.away = true
	if p.here--; p.here == 0 {
		p.dispatch()
	}
}
