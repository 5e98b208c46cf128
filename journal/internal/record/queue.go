package record

import (
	"io"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/exec"
)

// MaxQueued limits, roughly, the bytes in memory for commits: those that wait and those that are
// being written. An append above the limit waits, so that a slow disk slows the run down and does
// not fill memory. A larger limit would gain nothing, since a commit of some megabytes costs little
// more than its rows do.
const MaxQueued = 8 << 20

// Committer writes the events that runs append, in shared commits.
type Committer struct {
	// Delay is the longest time for which an event that nobody waits for may be only in memory.
	Delay time.Duration
	// Write writes parts in one transaction: all of them, or nothing.
	Write func([]*Part) error
	// OfPart reports whether an error is about the data that is written, and not about the store.
	// Each part is then written by itself, so that the other parts are not affected.
	OfPart func(error) bool
	// Changed is called after each commit with the numbers of the runs whose parts were written.
	Changed func(runs ...int64)
	// Fault returns an error as one of the store. Closed returns the error for a store, or for a
	// run with this id, that was closed.
	Fault  func(error) error
	Closed func(run string) error
}

// A Queue holds the events that were appended and are not durable yet, of all runs that a store
// holds. One goroutine commits them in groups.
type Queue struct {
	Committer

	turn sync.Mutex // held by the goroutine that commits

	mu     sync.Mutex
	items  []item
	bytes  int // in items and in the commit under way
	taken  int // of these, in the commit under way
	closed bool
	runs   []*Held
	room   *sync.Cond // signals that bytes has shrunk or that the queue was closed

	waiting  int           // number of goroutines that wait for a commit
	released int           // number that the last commit released
	took     time.Duration // duration of the last commit

	filled chan struct{} // signals that there are items
	urgent chan struct{} // signals that somebody waits for them
	done   chan struct{} // closed after the last commit
}

// item is an event of a run.
type item struct {
	run   *Held
	seq   int64
	event *exec.Event
}

// size returns roughly how many bytes an item keeps in memory until it is on disk: its event, the
// row made from it, and the values in both.
func (it *item) size() int {
	const fixed = 1 << 10
	if it.event.Answer != nil {
		return fixed + 2*(len(it.event.Value)+len(it.event.Answer.Params)+len(it.event.Answer.Result))
	}
	return fixed + 2*len(it.event.Value)
}

// NewQueue returns a queue and starts its goroutine.
func NewQueue(c Committer) *Queue {
	q := &Queue{Committer: c, filled: make(chan struct{}, 1), urgent: make(chan struct{}, 1), done: make(chan struct{})}
	q.room = sync.NewCond(&q.mu)
	go q.commitAll()
	return q
}

// signal wakes the goroutine that waits for a channel, unless a signal is already pending.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Enlist adds a run, which run.Close closes, to the queue. It returns an error if the queue is
// closed.
func (q *Queue) Enlist(h *Held, run io.Closer) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return q.Closed("")
	}
	h.closer = run
	q.runs = append(q.runs, h)
	return nil
}

// Open returns the runs that are held.
func (q *Queue) Open() []*Held {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.runs)
}

// CloseRuns closes the runs that are still held and then, after its items are durable, the queue.
// It returns the errors of events that could not be written.
func (q *Queue) CloseRuns() (errs []error) {
	for _, h := range q.Open() {
		errs = append(errs, h.closer.Close())
	}
	q.mu.Lock()
	q.closed = true
	q.room.Broadcast()
	q.mu.Unlock()
	signal(q.filled)
	signal(q.urgent)
	<-q.done
	return errs
}

// Abandon drops everything that is not durable, as the end of the process does. Before that it
// calls free for each run, with the closer of Enlist.
func (q *Queue) Abandon(free func(run io.Closer)) {
	q.turn.Lock()
	defer q.turn.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, h := range q.runs {
		free(h.closer)
		h.err, h.closed, h.queued = q.Closed(""), true, 0
		h.wakeWaiters()
		h.settled.Broadcast()
	}
	q.runs, q.items = nil, nil
}

// Bytes returns the number of bytes in memory for commits, and how many of them are being written.
func (q *Queue) Bytes() (all, written int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes, q.taken
}

// put adds an item of a run, and returns the number of its event. It drops the item if the run
// accepts no more.
func (q *Queue) put(it item) int64 {
	size := it.size()
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes > MaxQueued && it.run.err == nil && !q.closed {
		q.room.Wait()
	}
	r := it.run
	r.appended++
	if r.err == nil && q.closed {
		r.err = q.Closed("")
	}
	if r.err != nil {
		return r.appended
	}
	it.seq = r.appended
	r.queued++
	q.items = append(q.items, it)
	q.bytes += size
	signal(q.filled)
	if q.bytes-q.taken > MaxQueued/2 {
		signal(q.urgent)
	}
	return r.appended
}

// take removes and returns the items to commit. The caller holds turn.
func (q *Queue) take() []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gather()
	items := q.items
	q.items, q.taken = nil, q.bytes
	// Nothing may follow an event that could not be written.
	return slices.DeleteFunc(items, func(it item) bool {
		if it.run.err == nil {
			return false
		}
		it.run.queued--
		it.run.wakeWaiters()
		it.run.settled.Broadcast()
		return true
	})
}

// gather waits for the goroutines that waited for the last commit: they all went on at once and are
// probably about to append again. It does not wait longer than a commit takes, since they may have
// other things to do. The caller holds mu.
func (q *Queue) gather() {
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

// wait waits until there is something to commit: until the delay is over or, if a goroutine waits
// for the commit, no longer. It returns false if the queue was closed and is empty.
func (q *Queue) wait(delay time.Duration) bool {
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

// waitFilled waits until there are items. It returns false if there will be none any more.
func (q *Queue) waitFilled() bool {
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

// commitAll commits items in groups until the queue is closed. A group has all items that came
// while the one before it was written.
func (q *Queue) commitAll() {
	defer close(q.done)
	for q.wait(q.Delay) {
		q.turn.Lock()
		q.commitQueued()
		q.turn.Unlock()
	}
}

// commitNow commits the items for a goroutine that waits for them, in that goroutine: a switch to
// commitAll and back would take longer than many commits. If a commit is under way, commitAll makes
// the next one.
func (q *Queue) commitNow() {
	if !q.turn.TryLock() {
		signal(q.urgent)
		return
	}
	q.commitQueued()
	q.turn.Unlock()
}

// commitQueued commits the items. The caller holds turn.
func (q *Queue) commitQueued() {
	if items := q.take(); len(items) > 0 {
		q.commitItems(items)
	}
	q.written()
}

// written releases the bytes of the items of the last commit, which are on disk or never will be.
func (q *Queue) written() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes, q.taken = q.bytes-q.taken, 0
	q.room.Broadcast()
}

func (q *Queue) commitItems(items []item) {
	start := time.Now()
	q.mu.Lock()
	q.released = 0
	q.mu.Unlock()
	parts := byRun(items)
	q.commit(parts)
	q.mu.Lock()
	q.took = time.Since(start)
	q.mu.Unlock()
	runs := make([]int64, len(parts))
	for i, p := range parts {
		runs[i] = p.Held.Number
	}
	q.Changed(runs...)
}

// byRun returns a part for each run, with its items in order.
func byRun(items []item) []*Part {
	var parts []*Part
	of := map[*Held]*Part{}
	for _, it := range items {
		p := of[it.run]
		if p == nil {
			p = NewPart(it.run)
			of[it.run] = p
			parts = append(parts, p)
		}
		p.Add(it.event, it.seq)
	}
	for _, p := range parts {
		p.Summary = SummaryOf(p.Held.Tally)
	}
	return parts
}

// commit writes the parts in one transaction. If the part of one run can't be written, it writes
// each part by itself, so that the others are not affected.
func (q *Queue) commit(parts []*Part) {
	parts = slices.DeleteFunc(parts, func(p *Part) bool {
		if p.err == nil || len(p.Rows) > 0 {
			return false
		}
		q.settle(p, p.err)
		return true
	})
	if len(parts) == 0 {
		return
	}
	err := q.Write(parts)
	if len(parts) > 1 && q.OfPart(err) {
		for _, p := range parts {
			q.settle(p, q.Write([]*Part{p}))
		}
		return
	}
	for _, p := range parts {
		q.settle(p, err)
	}
}

// settle wakes the goroutines that wait for a part, after it was written or has failed.
func (q *Queue) settle(p *Part, err error) {
	r := p.Held
	p.leave()
	if err == nil {
		r.sum = p.Sum
		if r.Written != nil {
			r.Written(Link{p.Last, p.Sum})
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	r.queued -= p.items
	if err == nil {
		r.committed = max(r.committed, p.Last)
		r.asking = p.Asking
		err = p.err
	}
	if r.err == nil {
		r.err = err
	}
	r.wakeWaiters()
	r.settled.Broadcast()
	q.room.Broadcast()
}

// wakeWaiters wakes the goroutines whose events are on disk, or never will be. The caller holds mu.
func (r *Held) wakeWaiters() {
	q := r.queue
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
