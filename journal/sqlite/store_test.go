package sqlite

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/storetest"
)

func TestStore(t *testing.T) {
	storetest.Test(t, storetest.Maker{
		New: func(t *testing.T) journal.Store { return reopen(t, filepath.Join(t.TempDir(), "runs.db")) },
		Again: func(t *testing.T, s journal.Store) journal.Store {
			return reopen(t, s.(*Store).path)
		},
		Kill: func(s journal.Store) { s.(*Store).abandon() },
	})
}

// abandon ends a store as the end of its process does, as far as that can be done within one:
// nothing is written any more, and its locks are free. TestKills kills processes.
func (s *Store) abandon() {
	s.queue.Abandon(func(r io.Closer) { r.(*Run).lock.leave() })
	for l := range s.loops {
		l.lock.leave()
		l.lock = nil
	}
	clear(s.loops)
	s.Close()
}
