package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/journal"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/plc-lang/plc/exec"
)

// maxQueued is how many bytes may be in memory for a commit, roughly: those that wait for it and
// those that are written in it. Who appends more has to wait: a disk that is slower than the
// run slows it down, and does not fill memory. A commit of some megabytes costs little
// more than its rows do, so that more would gain nothing.
const maxQueued = 8 << 20

// queue is what has been appended and is not on disk yet, of all runs of a store.
type queue struct {
	turn sync.Mutex // held by who commits

	mu     sync.Mutex
	items  []item
	bytes  int // of the items, and of those that are being written
	taken  int // of these, those that are being written
	closed bool
	runs   []*Run     // that are held
	room   *sync.Cond // fewer bytes wait, or the queue was closed

	waiting  int           // that wait for a commit
	released int           // that the last commit let go
	took     time.Duration // the last commit

	filled chan struct{} // something is there
	urgent chan struct{} // and somebody waits for it
	done   chan struct{} // closed when nothing is committed any more
}

// item is an event of a run.
type item struct {
	run   *Run
	seq   int64
	event *exec.Event
}

// size returns about how many bytes an item keeps in memory until it is on disk: its event, the
// row made of it, and the values in both.
func (it *item) size() int {
	const fixed = 1 << 10
	if it.event.Answer != nil {
		return fixed + 2*(len(it.event.Value)+len(it.event.Answer.Params)+len(it.event.Answer.Result))
	}
	return fixed + 2*len(it.event.Value)
}

func newQueue() *queue {
	q := &queue{filled: make(chan struct{}, 1), urgent: make(chan struct{}, 1), done: make(chan struct{})}
	q.room = sync.NewCond(&q.mu)
	return q
}

// signal tells who waits for a channel, unless it was told already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// open returns the runs that are held.
func (q *queue) open() []*Run {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.runs)
}

// close ends the commits when what is queued is on disk.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.room.Broadcast()
	q.mu.Unlock()
	signal(q.filled)
	signal(q.urgent)
}

// put adds an item of a run; it gives events their numbers. What a run appends that
// takes no more is dropped.
func (q *queue) put(it item) int64 {
	size := it.size()
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes > maxQueued && it.run.err == nil && !q.closed {
		q.room.Wait()
	}
	r := it.run
	r.appended++
	if r.err == nil && q.closed {
		r.err = &journal.Error{Path: r.store.path, Fault: journal.Closed}
	}
	if r.err != nil {
		return r.appended
	}
	it.seq = r.appended
	r.queued++
	q.items = append(q.items, it)
	q.bytes += size
	signal(q.filled)
	if q.bytes-q.taken > maxQueued/2 {
		signal(q.urgent)
	}
	return r.appended
}

// take takes what is to be committed. The caller has its turn.
func (q *queue) take() []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gather()
	items := q.items
	q.items, q.taken = nil, q.bytes
	// After what could not be written nothing may follow.
	return slices.DeleteFunc(items, func(it item) bool {
		if it.run.err == nil {
			return false
		}
		it.run.queued--
		it.run.letGo()
		it.run.settled.Broadcast()
		return true
	})
}

// gather waits for those who waited for the last commit and are about to append again, since
// they all went on at once; not for long, measured by what a commit costs, as they may
// have other things to do. The caller holds mu.
func (q *queue) gather() {
	if q.waiting >= q.released {
		return
	}
	timer := time.NewTimer(min(q.took/4, time.Millisecond))
	defer timer.Stop()
	for q.waiting < q.released && !q.closed {
		q.mu.Unlock()
		more := true
		select {
		case <-q.urgent:
		case <-timer.C:
			more = false
		}
		q.mu.Lock()
		if !more {
			return
		}
	}
}

// wait waits until something is to be committed: at once when somebody waits for it, otherwise
// after the delay. It reports false when the queue was closed and is empty.
func (q *queue) wait(delay time.Duration) bool {
	if !q.waitFilled() {
		return false
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-q.urgent:
	case <-timer.C:
	}
	return true
}

// waitFilled waits until something is there; false: nothing will be any more.
func (q *queue) waitFilled() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 {
		if q.closed {
			return false
		}
		q.mu.Unlock()
		<-q.filled
		q.mu.Lock()
	}
	if q.closed {
		signal(q.urgent)
	}
	return true
}

// commitAll commits what is queued, in groups, until the queue is closed. A group is all
// that came while the one before was written.
func (s *Store) commitAll() {
	defer close(s.queue.done)
	for s.queue.wait(s.opts.Delay) {
		s.queue.turn.Lock()
		s.commitQueued()
		s.queue.turn.Unlock()
	}
}

// commitNow commits what is queued for somebody who waits for it, unless a commit is under way:
// then commitAll does, after it. To hand it over and back would take longer than many a
// commit does.
func (s *Store) commitNow() {
	q := s.queue
	if !q.turn.TryLock() {
		signal(q.urgent)
		return
	}
	s.commitQueued()
	q.turn.Unlock()
}

// commitQueued commits what is queued. The caller has its turn.
func (s *Store) commitQueued() {
	if items := s.queue.take(); len(items) > 0 {
		s.commitItems(items)
	}
	s.queue.written()
}

// written makes room, since what was taken is on disk, or never will be.
func (q *queue) written() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes, q.taken = q.bytes-q.taken, 0
	q.room.Broadcast()
}

func (s *Store) commitItems(items []item) {
	q := s.queue
	start := time.Now()
	q.mu.Lock()
	q.released = 0
	q.mu.Unlock()
	s.commit(byRun(items))
	q.mu.Lock()
	q.took = time.Since(start)
	q.mu.Unlock()
	s.watch.tell()
}

// byRun returns the items of each run, in order.
func byRun(items []item) []*part {
	var parts []*part
	of := map[*Run]*part{}
	for _, it := range items {
		p := of[it.run]
		if p == nil {
			p = newPart(it.run)
			of[it.run] = p
			parts = append(parts, p)
		}
		p.add(&it)
	}
	for _, p := range parts {
		p.summary = summaryOf(p.run.tally)
	}
	return parts
}

// commit writes the parts in one transaction. When one run's part is what can't be
// written, the others must not suffer: then each is written by itself.
func (s *Store) commit(parts []*part) {
	parts = slices.DeleteFunc(parts, func(p *part) bool {
		if p.err == nil || len(p.rows) > 0 {
			return false
		}
		s.settle(p, p.err)
		return true
	})
	if len(parts) == 0 {
		return
	}
	err := s.writeParts(parts)
	if len(parts) > 1 && ofStatement(err) {
		for _, p := range parts {
			s.settle(p, s.writeParts([]*part{p}))
		}
		return
	}
	for _, p := range parts {
		s.settle(p, err)
	}
}

// ofStatement reports whether an error comes from what is written, and not from the file.
func ofStatement(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_NOMEM:
		return true
	}
	return false
}

func (s *Store) writeParts(parts []*part) error {
	return s.write(context.Background(), func(tx *tx) error {
		for _, p := range parts {
			if err := p.write(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// settle tells those who wait for a part that it is on disk, or that it never will be.
func (s *Store) settle(p *part, err error) {
	q, r := s.queue, p.run
	p.leave()
	if err == nil {
		r.sum = p.sum
		r.lock.note(link{p.last, p.sum})
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	r.queued -= p.items
	if err == nil {
		r.committed = max(r.committed, p.last)
		r.asking = p.open
		err = p.err
	}
	if r.err == nil {
		r.err = err
	}
	r.letGo()
	r.settled.Broadcast()
	q.room.Broadcast()
}

// letGo lets those go on whose events are on disk, or never will be. The caller holds mu.
func (r *Run) letGo() {
	q := r.store.queue
	r.waiting = slices.DeleteFunc(r.waiting, func(w waiter) bool {
		if w.seq > r.committed && r.err == nil {
			return false
		}
		close(w.done)
		q.waiting--
		q.released++
		return true
	})
}
