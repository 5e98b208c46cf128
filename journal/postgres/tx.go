package postgres

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/plc-lang/plc/journal"
)

// statementTime limits how long the server may take to answer the statements of a transaction.
// After that the connection counts as broken.
const statementTime = 2 * time.Minute

// tx is a transaction that writes. Statements without results are queued, and sent together with
// the next statement that has some.
type tx struct {
	ctx   context.Context
	conn  *conn
	batch *pgconn.Batch
	tests []func(changed int64) error // for the queued statements; nil allows any number
	id    string                      // the number of the transaction
}

// add queues a statement.
func (t *tx) add(sql string, args ...any) error { return t.must(nil, sql, args...) }

// must queues a statement, and tests how many rows it changes.
func (t *tx) must(test func(changed int64) error, sql string, args ...any) error {
	s, err := t.conn.prepare(t.ctx, sql)
	if err != nil {
		return err
	}
	values, formats, err := parameters(s, args)
	if err != nil {
		return err
	}
	t.batch.ExecStatement(s, values, formats, binaryResults)
	t.tests = append(t.tests, test)
	return nil
}

// begin begins a transaction, and reads its number, by which it can be found out later whether it
// was committed.
func (t *tx) begin() error {
	if err := t.add("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"); err != nil {
		return err
	}
	return t.add("SELECT pg_current_xact_id()::text")
}

// flush executes the queued statements.
func (t *tx) flush() error {
	if len(t.tests) == 0 {
		return nil
	}
	tests, batch := t.tests, t.batch
	t.tests, t.batch = nil, &pgconn.Batch{}
	results := t.conn.pg.ExecBatch(t.ctx, batch)
	var failed error
	for i := 0; results.NextResult(); i++ {
		changed, err := read(results.ResultReader(), func(row []any) error {
			if t.id == "" && i == 1 {
				t.id, _ = row[0].(string)
			}
			return nil
		})
		if err == nil && tests[i] != nil {
			err = tests[i](changed)
		}
		if failed == nil {
			failed = err
		}
	}
	if err := results.Close(); err != nil && (failed == nil || codeOf(failed) == "") {
		failed = err
	}
	return t.conn.broke(failed)
}

// run executes a statement at once, after the queued ones.
func (t *tx) run(_ context.Context, each func(row []any) error, sql string, args ...any) (int64, error) {
	if err := t.flush(); err != nil {
		return 0, err
	}
	return t.conn.run(t.ctx, each, sql, args...)
}

// one returns the row that a query returns; nil if there is none.
func (t *tx) one(sql string, args ...any) ([]any, error) { return one(t.ctx, t, sql, args...) }

// write calls f in a transaction. When write returns nil, everything that f did is durable;
// otherwise nothing of it is stored. f may be called several times: if the connection breaks, write
// tries again until wait is over.
func (s *Store) write(ctx context.Context, wait time.Duration, f func(*tx) error) error {
	if s.opts.ReadOnly {
		return &journal.Error{Path: s.at.name, Fault: journal.ReadOnly, Err: errors.New("it was opened for reading only"), Cure: cureOther}
	}
	if err := s.usable(); err != nil {
		return err
	}
	return s.fault(s.retry(ctx, wait, mayRetry, func() error { return s.try(ctx, wait, f) }))
}

// retry calls f until it returns nil, or an error that transient does not report, or until the time
// is over.
func (s *Store) retry(ctx context.Context, most time.Duration, transient func(error) bool, f func() error) error {
	start := time.Now()
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := f()
		if err == nil || !transient(err) || time.Since(start) > most {
			return err
		}
		if away(err) {
			s.pool.forget()
		}
		timer := time.NewTimer(wait/2 + rand.N(wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return err
		case <-timer.C:
		}
	}
}

// try calls f in a transaction once.
func (s *Store) try(ctx context.Context, wait time.Duration, f func(*tx) error) error {
	c, err := s.pool.get(ctx)
	if err != nil {
		return err
	}
	// A transaction that has begun is completed, so that its outcome is certain.
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTime)
	defer cancel()
	t := &tx{ctx: limited, conn: c, batch: &pgconn.Batch{}}
	if err = t.begin(); err == nil {
		err = f(t)
	}
	if err == nil {
		err = t.flush()
	}
	if err != nil {
		if !c.pg.IsClosed() {
			_, _ = c.pg.Exec(limited, "ROLLBACK").ReadAll()
		}
		s.pool.put(c)
		return err
	}
	results, err := c.pg.Exec(limited, "COMMIT").ReadAll()
	if err == nil && results[0].CommandTag.String() != "COMMIT" { // f ignored an error
		err = errors.New("the transaction was rolled back")
	}
	err = c.broke(err)
	s.pool.put(c)
	if err != nil && away(err) {
		return s.outcome(ctx, wait, t.id, err)
	}
	return err
}

// outcome finds out whether a transaction was committed if there was no answer to its commit. It
// returns nil if it was, and otherwise the error with which it is tried again.
func (s *Store) outcome(ctx context.Context, wait time.Duration, id string, lost error) error {
	status := ""
	unknown := func(err error) bool { return away(err) || errors.Is(err, errUnknown) }
	err := s.retry(ctx, wait, unknown, func() error {
		return s.withConn(ctx, func(q querier) error {
			row, err := one(ctx, q, "SELECT pg_xact_status($1::text::xid8)", id)
			if err != nil {
				return err
			}
			if status, _ = row[0].(string); status == "in progress" {
				return errUnknown
			}
			return nil
		})
	})
	switch {
	case err != nil:
		return err
	case status == "committed":
		return nil
	}
	return lost
}

// errUnknown is the error while a transaction has not ended.
var errUnknown = errors.New("a transaction whose connection broke has not ended")

// withConn calls f with a connection for reading.
func (s *Store) withConn(ctx context.Context, f func(querier) error) error {
	c, err := s.pool.get(ctx)
	if err != nil {
		return err
	}
	defer s.pool.put(c)
	return f(c)
}

// read calls f with a snapshot of the store. It calls f again if the connection breaks.
func (s *Store) read(ctx context.Context, f func(querier) error) error {
	if err := s.usable(); err != nil {
		return err
	}
	err := s.retry(ctx, s.opts.Busy, mayRetry, func() error {
		return s.withConn(ctx, func(q querier) error {
			c := q.(*conn)
			if _, err := c.pg.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").ReadAll(); err != nil {
				return c.broke(err)
			}
			err := f(q)
			if !c.pg.IsClosed() {
				_, _ = c.pg.Exec(context.WithoutCancel(ctx), "ROLLBACK").ReadAll()
			}
			return err
		})
	})
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return s.fault(err)
}
