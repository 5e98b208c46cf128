package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/plc-lang/plc/journal/internal/record"
)

// pollEvery is the interval at which the file is checked for writes of other processes while
// somebody in this one waits for them.
const pollEvery = 100 * time.Millisecond

// newWatch returns a watch that checks the file.
func (s *Store) newWatch() *record.Watch {
	return record.NewWatch(func(ctx context.Context, w *record.Watch) error { return s.fault(s.look(ctx, w)) })
}

// look wakes a watch after writes of other processes.
func (s *Store) look(ctx context.Context, w *record.Watch) error {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	version, err := dataVersion(ctx, conn)
	if err != nil {
		return err
	}
	w.TellAll() // something may have been written before the first look
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
			w.TellAll()
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
