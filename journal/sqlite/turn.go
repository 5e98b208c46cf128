package sqlite

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// SQLite lets whoever asks at the right moment write, so that one of many processes may wait for
// very long. They queue for a lock of the operating system first, which gives each its turn in the
// order in which they came. That decides only who is next. SQLite's own lock still sees to it that
// there is one writer at a time, also among programs that do not queue.

func (s *Store) turnPath() string { return filepath.Join(s.path+".locks", "turn") }

// takeTurn waits until it is this store's turn to write, for at most Options.Busy, and returns what
// ends the turn. Where nobody can queue the store is written without a turn. The caller holds
// writing.
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

// waitTurn waits for the lock of the turn. Nothing can call off such a wait: when the time is over
// the file is left to it, and the store opens another one for its next turn.
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

// closeTurn closes the file of the turn, and removes it with the log.
func (s *Store) closeTurn() {
	if s.turn != nil {
		s.turn.Close()
		s.turn = nil
	}
	if !exists(s.path + "-wal") {
		os.Remove(s.turnPath())
	}
}
