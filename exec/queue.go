package exec

import (
	"iter"
	"sync"
)

// eventQueue passes events from a run to an iterator. It never makes the run wait.
type eventQueue struct {
	also func(*Event)

	mu     sync.Mutex
	more   *sync.Cond
	events []*Event
	closed bool
}

func newEventQueue(also func(*Event)) *eventQueue {
	q := &eventQueue{also: also}
	q.more = sync.NewCond(&q.mu)
	return q
}

func (q *eventQueue) put(e *Event) {
	if q.also != nil {
		q.also(e)
	}
	q.mu.Lock()
	q.events = append(q.events, e)
	q.mu.Unlock()
	q.more.Signal()
}

func (q *eventQueue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.more.Signal()
}

// all yields the events until the queue is closed and empty.
func (q *eventQueue) all() iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		for {
			q.mu.Lock()
			for len(q.events) == 0 && !q.closed {
				q.more.Wait()
			}
			batch := q.events
			q.events = nil
			q.mu.Unlock()
			if batch == nil {
				return
			}
			for _, e := range batch {
				if !yield(e) {
					return
				}
			}
		}
	}
}
