package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// Options controls how a store is opened. The zero value is the default.
type Options struct {
	// Lease is the time after which a process that does not renew its hold, because it was killed,
	// stopped or cut off, no longer holds a run; 0 is 15 s.
	Lease time.Duration
	// Away is the longest time for which events wait in memory while the server is away. After that
	// the run ends; 0 is 10 minutes.
	Away time.Duration
	// Busy limits how long everything else waits for the server, or for another process; 0 is 5 s.
	Busy time.Duration
	// Delay limits how long an event that nobody waits for is only in memory; 0 is 10 ms.
	Delay time.Duration
	// ReadOnly allows only reading, and makes no tables.
	ReadOnly bool

	steps []string // the schema, in tests
}

// The defaults of Options.
const (
	DefaultLease = 15 * time.Second
	DefaultAway  = 10 * time.Minute
	DefaultBusy  = 5 * time.Second
	DefaultDelay = 10 * time.Millisecond
)

// Store holds the records of runs in a schema of a database. It must be closed after the runs that
// it has made or resumed.
type Store struct {
	at    *address
	opts  Options
	pool  *pool
	steps []string

	queue   *record.Queue
	watch   *record.Watch
	cancels cancels
	changed chan struct{} // signals that something was written and other processes were not notified

	stop context.CancelFunc // ends the goroutines
	done sync.WaitGroup

	mu     sync.Mutex
	closed bool
	held   map[*hold]bool // holds whose leases are renewed
	loops  map[*loop]bool
}

// Open opens the store at a URL, and makes its schema and tables if they do not exist. Its error is
// a *journal.Error, which contains no password.
func Open(url string, opts *Options) (*Store, error) {
	at, err := parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{at: at, pool: newPool(at), changed: make(chan struct{}, 1), held: map[*hold]bool{}, loops: map[*loop]bool{}}
	if opts != nil {
		s.opts = *opts
	}
	for _, o := range []struct {
		value   *time.Duration
		usually time.Duration
	}{{&s.opts.Lease, DefaultLease}, {&s.opts.Away, DefaultAway}, {&s.opts.Busy, DefaultBusy}, {&s.opts.Delay, DefaultDelay}} {
		if *o.value == 0 {
			*o.value = o.usually
		}
	}
	if s.steps = s.opts.steps; s.steps == nil {
		s.steps = schemas()
	}
	if err := s.migrate(context.Background()); err != nil {
		s.pool.close()
		return nil, err
	}
	s.watch = record.NewWatch(s.listen)
	s.queue = record.NewQueue(record.Committer{
		Delay: s.opts.Delay, Write: s.writeParts, OfPart: ofPart, Changed: s.tell, Fault: s.fault,
		Closed: func(run string) error { return s.closedError(run) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	s.done.Go(func() { s.renew(ctx) })
	s.done.Go(func() { s.notify(ctx) })
	return s, nil
}

// closedError returns the error for a store, or for a run, that was closed.
func (s *Store) closedError(run string) error {
	e := &journal.Error{Path: s.at.name, Fault: journal.Closed}
	if run != "" {
		e.Err = givenBack(run)
	}
	return e
}

// usable returns an error if the store was closed.
func (s *Store) usable() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return s.closedError("")
	}
	return nil
}

// Close implements journal.Store.
func (s *Store) Close() error {
	errs := s.queue.CloseRuns()
	s.closeLoops()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.watch.Close(s.closedError(""))
	s.stop()
	s.done.Wait()
	s.pool.close()
	return joined(errs)
}
