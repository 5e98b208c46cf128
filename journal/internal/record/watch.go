package record

import (
	"context"
	"iter"
	"sync"

	"github.com/plc-lang/plc/journal"
)

// A Watch tells those who wait that something was written: at once what its store wrote, and
// soon what others did. Nothing goes on while nobody waits.
type Watch struct {
	// look calls Tell when others have written, until ctx is done.
	look func(ctx context.Context, w *Watch) error

	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, when something was written
	waiting int
	cancel  context.CancelFunc // of the goroutine that looks
	err     error              // why it looks no more
	done    sync.WaitGroup
}

// NewWatch returns a watch that calls look, in a goroutine, while somebody waits. Its error is that
// of Next from then on.
func NewWatch(look func(ctx context.Context, w *Watch) error) *Watch {
	return &Watch{look: look, changed: make(chan struct{})}
}

// Tell wakes all who wait.
func (w *Watch) Tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
}

// Join starts to wait; whoever joined has to leave.
func (w *Watch) Join() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting++
	if w.waiting == 1 {
		ctx, cancel := context.WithCancel(context.Background())
		w.cancel = cancel
		w.done.Go(func() { w.poll(ctx) })
	}
}

// Leave ends to wait.
func (w *Watch) Leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting--
	if w.waiting == 0 {
		w.cancel()
	}
}

// Next returns a channel that is closed when something is written from now on. After asking for
// it, the caller has to look for what is there already.
func (w *Watch) Next() (<-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed, w.err
}

// Close wakes all who wait, for whom Next returns this error from now on.
func (w *Watch) Close(err error) {
	w.mu.Lock()
	if w.cancel != nil {
		w.cancel()
	}
	w.err = err
	w.mu.Unlock()
	w.Tell()
	w.done.Wait()
}

// poll looks until nobody waits. An error is told to those who do.
func (w *Watch) poll(ctx context.Context) {
	err := w.look(ctx, w)
	if err == nil || ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
	w.mu.Unlock()
	w.Tell()
}

// Events are the events of a run, as a store has them.
type Events struct {
	// Page returns some events from a number on, and Finished reports whether no more come unless
	// the run is resumed.
	Page     func(ctx context.Context, from int64) ([]*journal.Entry, error)
	Finished func(ctx context.Context) (bool, error)
	Watch    *Watch
	Fault    func(error) error
}

// From yields the events from a number on, as journal.Store says. With follow, the caller has
// joined the watch.
func (e *Events) From(ctx context.Context, from int64, follow bool) iter.Seq2[*journal.Entry, error] {
	return func(yield func(*journal.Entry, error) bool) {
		for {
			var more bool
			var err error
			if from, more, err = e.some(ctx, from, follow, yield); !more {
				return
			}
			if err != nil {
				if ctx.Err() == nil {
					yield(nil, e.Fault(err))
				}
				return
			}
		}
	}
}

// some yields the events that there are from a number on, and then waits if more are to come. It
// returns the number to go on with, and false when that is all.
func (e *Events) some(ctx context.Context, from int64, follow bool, yield func(*journal.Entry, error) bool) (int64, bool, error) {
	changed, err := e.Watch.Next()
	if err != nil && follow {
		return from, true, err
	}
	finished := !follow
	if follow {
		if finished, err = e.Finished(ctx); err != nil {
			return from, true, err
		}
	}
	page, err := e.Page(ctx, from)
	if err != nil {
		return from, true, err
	}
	for _, entry := range page {
		if !yield(entry, nil) {
			return from, false, nil
		}
		from = entry.Seq + 1
	}
	if len(page) > 0 {
		return from, true, nil
	}
	if finished {
		return from, false, nil
	}
	select {
	case <-ctx.Done():
		return from, false, nil
	case <-changed:
		return from, true, nil
	}
}
