package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/plc-lang/plc/journal/internal/record"
)

// How soon other processes notice writes. A NOTIFY locks the whole database when it commits, so it
// is not part of the commits of runs, and is not sent for each of them.
const (
	notifyEvery = 25 * time.Millisecond // shortest time between two notifications, sent or received
	lookEvery   = time.Second           // interval at which waiters look without a notification
)

// channel returns the name of the channel on which the processes of a store notify each other.
func (s *Store) channel() string {
	return fmt.Sprintf("plc_%016x", uint64(record.SumRow(s.at.schema)))
}

// tell reports that something about these runs was written: to this process at once, and soon to
// other processes.
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

// notify notifies other processes until ctx is done, and then once more. If that fails, they notice
// the writes by themselves.
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

// notifyNow sends a notification, without waiting until it is on disk.
func (s *Store) notifyNow() {
	ctx, cancel := context.WithTimeout(context.Background(), connectTime)
	defer cancel()
	_ = s.withConn(ctx, func(q querier) error {
		_, err := q.(*conn).pg.Exec(ctx, "BEGIN; SET LOCAL synchronous_commit = off; NOTIFY "+s.channel()+"; COMMIT").ReadAll()
		return err
	})
}

// listen wakes a watch after writes of other processes, until ctx is done. Without a connection it
// only does so at intervals.
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

// hear listens to notifications, and reconnects when it has lost its connection.
func (s *Store) hear(ctx context.Context, notified chan struct{}) {
	for wait := 50 * time.Millisecond; ctx.Err() == nil; wait = min(2*wait, 5*time.Second) {
		c, err := s.pool.connect(ctx, func(*pgconn.PgConn, *pgconn.Notification) { signal(notified) })
		if err == nil {
			_, err = c.pg.Exec(ctx, "LISTEN "+s.channel()).ReadAll()
			signal(notified) // something may have been written before
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
