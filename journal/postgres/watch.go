package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plc-lang/plc/journal/internal/record"
)

// How soon others know that something was written. Each NOTIFY takes a lock of the whole database
// when it commits, so that it is not part of the commits of runs, and not sent for each of them.
const (
	notifyEvery = 25 * time.Millisecond // a notification is sent, or followed, at most
	lookEvery   = time.Second           // who waits looks without one
)

// channel returns the name under which the processes of a store notify each other.
func (s *Store) channel() string {
	return fmt.Sprintf("plc_%016x", uint64(record.SumRow(s.at.schema)))
}

// tell says that something of these runs was written: to this process at once, and soon to the
// others.
func (s *Store) tell(runs ...int64) {
	s.watch.Tell(runs...)
	signal(s.changed)
}

// signal wakes the reader of a channel, unless it was woken already.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// notify notifies other processes until ctx is done, and then once more. When that fails, they find
// out by themselves.
func (s *Store) notify(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			select {
			case <-s.changed:
				s.notifyNow()
			default:
			}
			return
		case <-s.changed:
		}
		s.notifyNow()
		select {
		case <-ctx.Done():
		case <-time.After(notifyEvery):
		}
	}
}

// notifyNow sends a notification, for which nobody has to wait until it is on disk.
func (s *Store) notifyNow() {
	ctx, cancel := context.WithTimeout(context.Background(), connectTime)
	defer cancel()
	_ = s.reading(ctx, func(q querier) error {
		_, err := q.(*conn).pg.Exec(ctx, "BEGIN; SET LOCAL synchronous_commit = off; NOTIFY "+s.channel()+"; COMMIT").ReadAll()
		return err
	})
}

// listen tells a watch what other processes write, until ctx is done. Without a connection it only
// looks now and then.
func (s *Store) listen(ctx context.Context, w *record.Watch) error {
	notified := make(chan struct{}, 1)
	go s.hear(ctx, notified)
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-notified:
		case <-ticker.C:
		}
		w.TellAll()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(notifyEvery):
		}
	}
}

// hear listens to notifications, and connects again when it has lost its connection.
func (s *Store) hear(ctx context.Context, notified chan struct{}) {
	for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 5*time.Second) {
		c, err := s.pool.connect(ctx, func(*pgconn.PgConn, *pgconn.Notification) { signal(notified) })
		if err == nil {
			_, err = c.pg.Exec(ctx, "LISTEN "+s.channel()).ReadAll()
			signal(notified) // of what was written before
			for err == nil {
				wait = 50 * time.Millisecond
				err = c.pg.WaitForNotification(ctx)
			}
			c.close()
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}
