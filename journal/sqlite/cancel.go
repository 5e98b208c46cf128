package sqlite

import (
	"context"
	"sync"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// Cancel implements journal.Store.
func (s *Store) Cancel(ctx context.Context, run, reason string) error {
	var id int64
	err := s.write(ctx, func(tx *tx) (err error) {
		if id, err = s.find(tx.ctx, tx.conn, run); err == nil {
			_, err = tx.exec("INSERT OR REPLACE INTO cancels (run, reason, sum) VALUES (?, ?, ?)", id, reason, record.SumRow(id, reason))
		}
		return err
	})
	if err == nil {
		s.watch.Tell(id)
	}
	return err
}

// cancels holds the requests to end runs, as they were last read. All runs of this process share
// them.
type cancels struct {
	mu      sync.Mutex
	at      time.Time
	reasons map[int64]string
}

// cancelled returns the reason of a request to end a run, if there is one.
func (s *Store) cancelled(ctx context.Context, run int64) (reason string, ok bool, err error) {
	c := &s.cancels
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.reasons[run]; ok || time.Since(c.at) >= pollEvery/2 { // the request may have been carried out since
		if c.reasons, err = s.readCancels(ctx); err != nil {
			return "", false, s.fault(err)
		}
		c.at = time.Now()
	}
	reason, ok = c.reasons[run]
	return reason, ok, nil
}

func (s *Store) readCancels(ctx context.Context) (map[int64]string, error) {
	all := map[int64]string{}
	for values, err := range sealedRows(ctx, s.readers, "a request to end a run", 3, "SELECT run, reason, sum FROM cancels") {
		if err != nil {
			return nil, err
		}
		all[values[0].(int64)] = values[1].(string)
	}
	return all, nil
}

// WaitCancel implements journal.Run.
func (r *Run) WaitCancel(ctx context.Context) (reason string, err error) {
	w := r.store.watch
	w.Join()
	defer w.Leave()
	for {
		changed, err := w.Next(r.Number)
		if err != nil {
			return "", err
		}
		if r.IsClosed() {
			return "", &journal.Error{Path: r.store.path, Fault: journal.Closed}
		}
		reason, ok, err := r.store.cancelled(ctx, r.Number)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case ok || err != nil:
			return reason, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-changed:
		}
		select { // most changes are commits of the run itself
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(pollEvery / 2):
		}
	}
}
