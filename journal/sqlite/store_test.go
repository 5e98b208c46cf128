package sqlite

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/storetest"
)

func TestStore(t *testing.T) {
	damage := func(set string) func(*testing.T, journal.Store) {
		return func(t *testing.T, s journal.Store) {
			err := s.(*Store).write(t.Context(), func(tx *tx) error {
				_, err := tx.exec("UPDATE approvals SET " + set)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	storetest.Test(t, storetest.Maker{
		New: func(t *testing.T) journal.Store { return reopen(t, filepath.Join(t.TempDir(), "runs.db")) },
		Again: func(t *testing.T, s journal.Store) journal.Store {
			return reopen(t, s.(*Store).path)
		},
		Kill:   func(s journal.Store) { s.(*Store).abandon() },
		Damage: []func(*testing.T, journal.Store){damage("digest = digest || 'x'"), damage("sum = sum + 1"), damage("run = 'other'")},
		Salvage: func(t *testing.T, s journal.Store) ([]error, journal.Store) {
			from, to := s.(*Store).path, filepath.Join(t.TempDir(), "new.db")
			_, faults, err := Damage(t.Context(), from)
			if err == nil {
				_, err = Salvage(t.Context(), from, to)
			}
			if err != nil {
				t.Fatal(err)
			}
			return faults, reopen(t, to)
		},
	})
}

// abandon ends a store as the end of its process does, as far as that can be done within one:
// nothing is written any more, and its locks are free. TestKills kills processes.
func (s *Store) abandon() {
	s.queue.Abandon(func(r io.Closer) { r.(*Run).lock.closeKeepingNote() })
	for l := range s.loops {
		l.lock.closeKeepingNote()
		l.lock = nil
	}
	clear(s.loops)
	s.Close()
}
