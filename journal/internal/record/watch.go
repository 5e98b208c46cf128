package record

import (
	"context"
	"iter"
	"sync"

	"github.com/plc-lang/plc/journal"
)

// A Watch wakes goroutines that wait for changes of a run: at once after writes of its own store,
// and soon after writes of others. It does nothing while nobody waits.
type Watch struct {
	// look calls TellAll when others have written, until ctx is done.
	look func(ctx context.Context, w *Watch) error

	mu      sync.Mutex
	changed map[int64]chan struct{} // by run: closed, and deleted, when something was written
	waiting int
	cancel  context.CancelFunc // of the goroutine that looks
	err     error              // why it does not look any more
	done    sync.WaitGroup
}

// NewWatch returns a watch that calls look in a goroutine while somebody waits. After look has
// returned an error, Next returns that error.
func NewWatch(look func(ctx context.Context, w *Watch) error) *Watch {
	return &Watch{look: look, changed: map[int64]chan struct{}{}}
}

// Tell wakes all who wait for one of the runs with these numbers.
func (w *Watch) Tell(runs ...int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, run := range runs {
		if c, ok := w.changed[run]; ok {
			close(c)
			delete(w.changed, run)
		}
	}
}

// TellAll wakes all who wait.
func (w *Watch) TellAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.changed {
		close(c)
	}
	clear(w.changed)
}

// Join registers a waiter, which must call Leave later.
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

// Leave removes a waiter.
func (w *Watch) Leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting--
	if w.waiting == 0 {
		w.cancel()
		clear(w.changed)
	}
}

// Next returns a channel that is closed when something about a run may have been written from now
// on. After calling it, the caller must look for what is there already.
func (w *Watch) Next(run int64) (<-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.changed[run]
	if !ok {
		c = make(chan struct{})
		w.changed[run] = c
	}
	return c, w.err
}

// Close wakes all waiters. From now on Next returns this error.
func (w *Watch) Close(err error) {
	w.mu.Lock()
	if w.cancel != nil {
		w.cancel()
	}
	w.err = err
	w.mu.Unlock()
	w.TellAll()
	w.done.Wait()
}

// poll looks until nobody waits. If looking fails, it wakes the waiters with the error.
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
	w.TellAll()
}

// Events reads the events of a run from a store.
type Events struct {
	Run int64 // its number

	// Page returns some events, beginning with number from. Finished reports whether no more will
	// come unless the run is resumed.
	Page     func(ctx context.Context, from int64) ([]*journal.Entry, error)
	Finished func(ctx context.Context) (bool, error)
	Watch    *Watch
	Fault    func(error) error
}

// From yields the events, beginning with number from, as journal.Store says. With follow, the
// caller must have joined the watch.
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

// some yields the events that there are, beginning with number from, and then waits if more may
// come. It returns the number to continue with, and false if there are no more.
func (e *Events) some(ctx context.Context, from int64, follow bool, yield func(*journal.Entry, error) bool) (int64, bool, error) {
	var changed <-chan struct{}
	finished := !follow
	if follow {
		var err error
		if changed, err = e.Watch.Next(e.Run); err != nil {
			return from, true, err
		}
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
