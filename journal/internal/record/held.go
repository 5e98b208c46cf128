package record

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// Held is the part of a held run that does not depend on the store: which events were appended, and
// which are durable.
type Held struct {
	Number int64  // of the run in its store
	Name   string // the id of the run
	// Written is called with the last event of each commit; it may be nil.
	Written func(Link)
	// Tally belongs to the goroutine that commits.
	Tally *Tally

	queue  *Queue
	closer io.Closer

	// What the queue guards.
	appended  int64 // the number of the last event
	committed int64 // and that of the last one on disk
	queued    int   // items
	asking    int   // number of questions that are open, or answered and not closed
	err       error // why no more events are accepted
	waiting   []waiter
	closed    bool
	settled   *sync.Cond

	// Of the goroutine that commits:
	sum  int64 // of the last event on disk
	room Lines // buffer for the lines of the next commit

	giving sync.Mutex    // guards the rest
	given  map[Key]int64 // number of the question, for each answer that was yielded
}

// waiter waits until the event with this number is on disk.
type waiter struct {
	seq  int64
	done chan struct{} // closed when it is on disk, or never will be
}

// Hold prepares h as a run without events.
func (q *Queue) Hold(h *Held, number int64, name string) {
	h.Number, h.Name, h.queue = number, name, q
	h.Tally = NewTally()
	h.given = map[Key]int64{}
	h.settled = sync.NewCond(&q.mu)
}

// Took sets the events of the run to those up to the end of a part that was written without the
// queue.
func (r *Held) Took(p *Part) {
	r.appended, r.committed, r.asking, r.sum = p.Last, p.Last, len(r.Tally.Open), p.Sum
}

// At sets the last event that the run has, before anything is appended.
func (r *Held) At(l Link) { r.Tally.Last, r.sum = l.Last, l.Sum }

// Run returns the closer with which the run was enlisted.
func (r *Held) Run() io.Closer { return r.closer }

// Committed returns the last durable event. It must be called after the last commit.
func (r *Held) Committed() Link { return Link{r.committed, r.sum} }

// Events returns how many events were appended.
func (r *Held) Events() int64 {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	return r.appended
}

// Undurable returns the number of events that are only in memory.
func (r *Held) Undurable() int64 {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	return r.appended - r.committed
}

// ID implements journal.Run.
func (r *Held) ID() string { return r.Name }

// Append implements exec.Record. It only adds to a list, unless the disk is far behind; then it
// waits.
func (r *Held) Append(e *exec.Event) int64 {
	return r.queue.put(item{run: r, event: e})
}

// Sync implements exec.Record. After an event could not be written, no later event is written
// either, and each further Sync returns the error at once.
func (r *Held) Sync(seq int64) error {
	q := r.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.committed < seq && r.err == nil {
		w := waiter{min(seq, r.appended), make(chan struct{})}
		r.waiting = append(r.waiting, w)
		q.waiting++
		q.mu.Unlock()
		q.commitNow()
		<-w.done
		q.mu.Lock()
	}
	if r.committed >= min(seq, r.appended) {
		return nil
	}
	return r.err
}

// Fail makes the run accept no more events, unless it already accepts none.
func (r *Held) Fail(err error) {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
}

// Finish waits until all appended events are durable, and makes the run accept no more. It returns
// the error if some could not be written. first is false if the run was closed before.
func (r *Held) Finish() (first bool, err error) {
	q := r.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.closed {
		return false, nil
	}
	r.closed = true
	r.settled.Broadcast()
	for r.queued > 0 {
		signal(q.urgent)
		r.settled.Wait()
	}
	err = r.err
	if err == nil {
		r.err = q.Closed(r.Name)
	}
	q.delist(r)
	return true, err
}

// Delist removes a run from the queue without closing it.
func (q *Queue) Delist(r *Held) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.delist(r)
}

// delist does what Delist does. The caller holds mu.
func (q *Queue) delist(r *Held) {
	for i, other := range q.runs {
		if other == r {
			q.runs = append(q.runs[:i], q.runs[i+1:]...)
			return
		}
	}
}

// IsClosed reports whether the run was closed.
func (r *Held) IsClosed() bool {
	r.queue.mu.Lock()
	defer r.queue.mu.Unlock()
	return r.closed
}

// A PutAnswer is an answer to a question of a run that the run has not taken yet.
type PutAnswer struct {
	Key
	Seq  int64 // of the question
	Body []byte
}

// Answers yields the answers to questions of the run, which read returns, as journal.Run says. It
// calls read only while questions are open, and when the watch says that something has changed.
func (r *Held) Answers(ctx context.Context, w *Watch, read func(context.Context) ([]PutAnswer, error)) iter.Seq2[*journal.Answer, error] {
	return func(yield func(*journal.Answer, error) bool) {
		for {
			if !r.waitAsked(ctx) {
				return
			}
			w.Join()
			more := r.yieldAnswers(ctx, w, read, yield)
			w.Leave()
			if !more {
				return
			}
		}
	}
}

// waitAsked waits until a question is open; it reports false when ctx is done or the run
// was closed.
func (r *Held) waitAsked(ctx context.Context) bool {
	q := r.queue
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		r.settled.Broadcast()
	})
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for r.asking == 0 && !r.closed && ctx.Err() == nil {
		r.settled.Wait()
	}
	return !r.closed && ctx.Err() == nil
}

// yieldAnswers yields answers as long as questions are open. It reports false when there
// will be no more.
func (r *Held) yieldAnswers(ctx context.Context, w *Watch, read func(context.Context) ([]PutAnswer, error), yield func(*journal.Answer, error) bool) bool {
	for {
		changed, err := w.Next(r.Number)
		if err != nil {
			yield(nil, err)
			return false
		}
		answers, err := r.answers(ctx, read)
		if err != nil {
			if ctx.Err() == nil {
				yield(nil, r.queue.Fault(err))
			}
			return false
		}
		for _, a := range answers {
			if !yield(a, nil) {
				return false
			}
		}
		if !r.isAsking() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

// isAsking reports whether a question is open. If none is, it forgets which answers were yielded.
func (r *Held) isAsking() bool {
	r.queue.mu.Lock()
	asking := r.asking > 0 && !r.closed
	r.queue.mu.Unlock()
	if !asking {
		r.giving.Lock()
		clear(r.given)
		r.giving.Unlock()
	}
	return asking
}

// answers returns the answers that were not taken and not yielded before.
func (r *Held) answers(ctx context.Context, read func(context.Context) ([]PutAnswer, error)) ([]*journal.Answer, error) {
	r.giving.Lock()
	defer r.giving.Unlock()
	put, err := read(ctx)
	if err != nil {
		return nil, err
	}
	var all []*journal.Answer
	for _, p := range put {
		if r.given[p.Key] == p.Seq {
			continue
		}
		a := &journal.Answer{Instance: p.Instance, Path: p.Path}
		if err := json.Unmarshal(p.Body, &a.Answer); err != nil {
			return nil, Broken(fmt.Sprintf("the answer about %q", p.Path), err)
		}
		r.given[p.Key] = p.Seq
		all = append(all, a)
	}
	return all, nil
}

// Withdrawn notes that the answer to a question was withdrawn, so that the next answer is yielded.
func (r *Held) Withdrawn(key Key) {
	r.giving.Lock()
	defer r.giving.Unlock()
	delete(r.given, key)
}
