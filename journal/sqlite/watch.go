package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/plc-lang/plc/journal"
)

// pollEvery is how often the file is looked at for what other processes write, while
// somebody in this one waits for that.
const pollEvery = 100 * time.Millisecond

// watch tells those who wait that something was written: at once what this store
// wrote, and soon what others did. Nothing goes on while nobody waits.
type watch struct {
	store *Store

	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, when something was written
	waiting int
	cancel  context.CancelFunc // of the goroutine that looks
	err     error              // why it looks no more
	done    sync.WaitGroup
}

func newWatch(s *Store) *watch { return &watch{store: s, changed: make(chan struct{})} }

// tell wakes all who wait.
func (w *watch) tell() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.changed)
	w.changed = make(chan struct{})
}

// join starts to wait; whoever joined has to leave.
func (w *watch) join() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting++
	if w.waiting == 1 {
		ctx, cancel := context.WithCancel(context.Background())
		w.cancel = cancel
		w.done.Go(func() { w.poll(ctx) })
	}
}

func (w *watch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting--
	if w.waiting == 0 {
		w.cancel()
	}
}

// next returns a channel that is closed when something is written from now on. After asking for
// it, the caller has to look for what is there already.
func (w *watch) next() (<-chan struct{}, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed, w.err
}

func (w *watch) close() {
	w.mu.Lock()
	if w.cancel != nil {
		w.cancel()
	}
	w.err = &journal.Error{Path: w.store.path, Fault: journal.Closed}
	w.mu.Unlock()
	w.tell()
	w.done.Wait()
}

// poll looks at the file until nobody waits. An error is told to those who do.
func (w *watch) poll(ctx context.Context) {
	err := w.look(ctx)
	if err == nil || ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	if w.err == nil {
		w.err = w.store.fault(err)
	}
	w.mu.Unlock()
	w.tell()
}

func (w *watch) look(ctx context.Context) error {
	conn, err := w.store.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	version, err := dataVersion(ctx, conn)
	if err != nil {
		return err
	}
	w.tell() // of what was written before the first look
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		now, err := dataVersion(ctx, conn)
		if err != nil {
			return err
		}
		if now != version {
			version = now
			w.tell()
		}
	}
}

// dataVersion returns a number that changes when another connection writes the file.
func dataVersion(ctx context.Context, conn *sql.Conn) (version int64, err error) {
	err = conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version)
	if busy(err) || errors.Is(err, context.Canceled) {
		return 0, nil
	}
	return version, err
}
