package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// SQLite lets the process write that happens to try at the right moment, so that one of many may
// wait for very long. So processes first queue for a lock of the operating system, which they get
// in the order in which they came. That only decides which is next. SQLite's own lock still ensures
// that only one process writes at a time, even if some programs do not queue.

func (s *Store) turnPath() string { return filepath.Join(s.path+".locks", "turn") }

// takeTurn waits, for at most Options.Busy, until it is this store's turn to write. It returns a
// function that ends the turn. Where queueing is not possible, the store is written without a turn.
// The caller holds writing.
func (s *Store) takeTurn(ctx context.Context) (end func()) {
	if s.turn == nil {
		if os.MkdirAll(filepath.Dir(s.turnPath()), 0o700) != nil {
			return func() {}
		}
		f, err := os.OpenFile(s.turnPath(), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return func() {}
		}
		s.turn = f
	}
	if tryLock(s.turn, true) == nil || s.waitTurn(ctx) {
		f := s.turn
		return func() { _ = unlock(f) }
	}
	return func() {}
}

// waitTurn waits for the lock of the turn. Such a wait can't be cancelled: when the time is over,
// it is left to wait on the file, and the store opens another one for its next turn.
func (s *Store) waitTurn(ctx context.Context) bool {
	f, locked := s.turn, make(chan bool, 1)
	go func() { locked <- waitLock(f) == nil }()
	timer := time.NewTimer(s.opts.Busy)
	defer timer.Stop()
	select {
	case ok := <-locked:
		return ok
	case <-ctx.Done():
	case <-timer.C:
	}
	s.turn = nil
	go func() {
		<-locked
		f.Close()
	}()
	return false
}

// closeTurn closes the file of the turn, and deletes it together with the log.
func (s *Store) closeTurn() {
	if s.turn != nil {
		s.turn.Close()
		s.turn = nil
	}
	if !exists(s.path + "-wal") {
		os.Remove(s.turnPath())
	}
}
