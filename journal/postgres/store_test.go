package postgres

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/plc-lang/plc/internal/pgtest"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/storetest"
)

// server is the one of all tests that don't stop it; nil where there is no Postgres.
var server *pgtest.Server

func TestMain(m *testing.M) {
	var err error
	if server, err = pgtest.New(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if server != nil {
		server.Remove()
	}
	os.Exit(code)
}

var schemaNumber atomic.Int64

// newURL returns the URL of a schema that is not there.
func newURL(t testing.TB) string {
	t.Helper()
	if server == nil {
		t.Skip("no Postgres here; on Debian: apt-get install postgresql")
	}
	return server.URL(fmt.Sprintf("s%d", schemaNumber.Add(1)))
}

// open opens a store that is closed when the test ends.
func open(t testing.TB, url string, opts *Options) *Store {
	t.Helper()
	s, err := Open(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	urls := map[journal.Store]string{}
	damage := func(set string) func(*testing.T, journal.Store) {
		return func(t *testing.T, s journal.Store) {
			err := s.(*Store).write(t.Context(), time.Second, func(tx *tx) error { return tx.add("UPDATE approvals SET " + set) })
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	storetest.Test(t, storetest.Maker{
		New: func(t *testing.T) journal.Store {
			url := newURL(t)
			s := open(t, url, nil)
			urls[s] = url
			return s
		},
		Again: func(t *testing.T, s journal.Store) journal.Store {
			again := open(t, urls[s], nil)
			urls[again] = urls[s]
			return again
		},
		Kill: func(s journal.Store) { s.(*Store).abandon() },
		Damage: []func(*testing.T, journal.Store){
			damage("digest = digest || 'x'"), damage("sum = sum + 1"), damage("run = 'other'"), damage("run = NULL"), damage("key = key + 1"),
		},
		Salvage: func(t *testing.T, s journal.Store) ([]error, journal.Store) {
			runs, faults, err := s.(*Store).Damage(t.Context())
			kept := open(t, newURL(t), nil)
			if err == nil {
				err = s.(*Store).Salvage(t.Context(), runs, kept)
			}
			if err != nil {
				t.Fatal(err)
			}
			return faults, kept
		},
	})
}

// abandon ends a store as the end of its process does, some time later: nothing is written any more,
// and its leases have passed. TestKilledProcess kills a process.
func (s *Store) abandon() {
	var ids []int64
	s.queue.Abandon(func(r io.Closer) { ids = append(ids, r.(*Run).hold.id) })
	s.mu.Lock()
	for l := range s.loops {
		ids = append(ids, l.hold.id)
		l.closed = true
	}
	clear(s.loops)
	clear(s.held)
	s.mu.Unlock()
	err := s.write(context.Background(), time.Second, func(tx *tx) error {
		for _, id := range ids {
			if err := tx.add("UPDATE holds SET until = 0 WHERE id = $1", id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	s.Close()
}
