package record

import (
	"io"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/exec"
)

// MaxQueued limits, roughly, the bytes in memory for commits: those that wait and those that are
// being written. Who appends more has to wait: a disk that is slower than the run slows it down,
// and does not fill memory. A commit of some megabytes costs little more than its rows do, so that
// more would gain nothing.
const MaxQueued = 8 << 20

// Committer writes what runs append, in commits that they share.
type Committer struct {
	// Delay is the longest time that an event nobody waits for may be in memory only.
	Delay time.Duration
	// Write writes parts in one transaction: all of them, or nothing.
	Write func([]*Part) error
	// OfPart reports whether an error comes from what is written, and not from the store. Then
	// each part is written by itself, so that the others don't suffer.
	OfPart func(error) bool
	// Changed is called after each commit, with the numbers of the runs that it was of.
	Changed func(runs ...int64)
	// Fault returns an error as one of the store's, and Closed the one of a store, or of a run with
	// this id, that was closed.
	Fault  func(error) error
	Closed func(run string) error
}

// A Queue has what has been appended and is not durable yet, of all runs that a store holds. One
// goroutine commits it in groups.
type Queue struct {
	Committer

	turn sync.Mutex // held by who commits

	mu     sync.Mutex
	items  []item
	bytes  int // of the items, and of those that are being written
	taken  int // of these, those that are being written
	closed bool
	runs   []*Held
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
	run   *Held
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

// NewQueue returns a queue whose goroutine has started.
func NewQueue(c Committer) *Queue {
	q := &Queue{Committer: c, filled: make(chan struct{}, 1), urgent: make(chan struct{}, 1), done: make(chan struct{})}
	q.room = sync.NewCond(&q.mu)
	go q.commitAll()
	return q
}

// signal wakes the goroutine that waits for a channel, unless a signal is already there.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Enlist makes a run one that is closed, by run, with the queue. The error is that of a queue which
// is closed.
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

// CloseRuns closes the runs that are still held, and then the queue, when what it has is durable.
// The errors say what could not be written.
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

// Abandon drops all that is not durable, as the end of the process does, after it has called free
// for each run, as it was enlisted.
func (q *Queue) Abandon(free func(run io.Closer)) {
	q.turn.Lock()
	defer q.turn.Unlock()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, h := range q.runs {
		free(h.closer)
		h.err, h.closed, h.queued = q.Closed(""), true, 0
		h.letGo()
		h.settled.Broadcast()
	}
	q.runs, q.items = nil, nil
}

// Bytes returns how many bytes are in memory for a commit, and how many of them are being written.
func (q *Queue) Bytes() (all, written int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes, q.taken
}

// put adds an item of a run; it gives events their numbers. What a run appends that
// takes no more is dropped.
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

// take takes what is to be committed. The caller has its turn.
func (q *Queue) take() []item {
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

// wait waits until something is to be committed: at once when somebody waits for it, otherwise
// after the delay. It reports false when the queue was closed and is empty.
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

// waitFilled waits until something is there; false: nothing will be any more.
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

// commitAll commits what is queued, in groups, until the queue is closed. A group is all
// that came while the one before was written.
func (q *Queue) commitAll() {
	defer close(q.done)
	for q.wait(q.Delay) {
		q.turn.Lock()
		q.commitQueued()
		q.turn.Unlock()
	}
}

// commitNow commits what is queued for somebody who waits for it, unless a commit is under way:
// then commitAll does, after it. To hand it over and back would take longer than many a
// commit does.
func (q *Queue) commitNow() {
	if !q.turn.TryLock() {
		signal(q.urgent)
		return
	}
	q.commitQueued()
	q.turn.Unlock()
}

// commitQueued commits what is queued. The caller has its turn.
func (q *Queue) commitQueued() {
	if items := q.take(); len(items) > 0 {
		q.commitItems(items)
	}
	q.written()
}

// written makes room, since what was taken is on disk, or never will be.
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

// byRun returns the items of each run, in order.
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

// commit writes the parts in one transaction. When one run's part is what can't be
// written, the others must not suffer: then each is written by itself.
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

// settle tells those who wait for a part that it is on disk, or that it never will be.
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
	r.letGo()
	r.settled.Broadcast()
	q.room.Broadcast()
}

// letGo lets those go on whose events are on disk, or never will be. The caller holds mu.
func (r *Held) letGo() {
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
