package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// Questions implements journal.Store.
func (s *Store) Questions(ctx context.Context, run string) (all []*journal.Question, err error) {
	err = s.read(ctx, func(q querier) error {
		all = nil
		id, err := find(ctx, q, run)
		if err == nil {
			err = verify(ctx, q, id)
		}
		var cut *journal.CutError
		if err != nil && !errors.As(err, &cut) {
			return err
		}
		_, err = q.run(ctx, func(v []any) error {
			e, err := decode(v)
			if err == nil {
				all = append(all, journal.QuestionOf(run, e))
			}
			return err
		}, `SELECT events.id, body FROM questions q JOIN events ON events.id = (q.run << 32 | q.seq)
			WHERE q.run = $1 AND closed = 0 AND answer IS NULL ORDER BY q.instance, q.path`, id)
		return err
	})
	return all, err
}

// Answer implements journal.Store.
func (s *Store) Answer(ctx context.Context, run, instance, path string, answer exec.Answer) error {
	body, err := record.Encode(answer)
	if err != nil {
		return fmt.Errorf("journal: the answer about %q is not JSON: %w", path, err)
	}
	key := questionKey(record.Key{Instance: instance, Path: path})
	var id int64
	err = s.write(ctx, s.opts.Busy, func(tx *tx) (err error) {
		if id, err = findBy(tx.ctx, tx, run, forUpdate); err != nil {
			return err
		}
		r, err := row(tx.ctx, tx, id)
		if err == nil {
			err = checkParts(tx.ctx, tx, r)
		}
		if err == nil {
			err = tx.answerable(id, key, &journal.AnswerError{Run: run, Instance: instance, Path: path}, answer.Digest)
		}
		if err == nil {
			err = tx.add("UPDATE questions SET answer = $3 WHERE run = $1 AND key = $2", id, key, body)
		}
		if err != nil {
			return err
		}
		return tx.seal(id, true, false)
	})
	if err == nil {
		s.tell(id)
	}
	return err
}

// answerable returns refusal, with its reason set, unless the question is open and is the one that
// was answered.
func (t *tx) answerable(run, key int64, refusal *journal.AnswerError, digest string) error {
	v, err := t.one("SELECT digest, answer IS NOT NULL, closed FROM questions WHERE run = $1 AND key = $2", run, key)
	switch {
	case err != nil:
		return err
	case v == nil:
		return refusal
	case digest != "" && v[0] != any(digest):
		refusal.Refused = journal.Changed
		return refusal
	case v[1] != any(int64(0)):
		refusal.Refused = journal.Answered
		return refusal
	case v[2] != any(int64(0)):
		return refusal
	}
	return nil
}

// Answers implements journal.Run. It queries the database only while questions are open.
func (r *Run) Answers(ctx context.Context) iter.Seq2[*journal.Answer, error] {
	return r.Held.Answers(ctx, r.store.watch, r.answers)
}

// answers returns the answers that the run has not taken.
func (r *Run) answers(ctx context.Context) (all []record.PutAnswer, err error) {
	err = r.store.look(ctx, func(q querier) error {
		all = nil
		_, err := q.run(ctx, func(v []any) error {
			var a record.PutAnswer
			var body string
			err := errors.Join(record.Assign(&a.Instance, v[0]), record.Assign(&a.Path, v[1]), record.Assign(&a.Seq, v[2]), record.Assign(&body, v[3]))
			a.Body = []byte(body)
			all = append(all, a)
			return err
		}, "SELECT instance, path, seq, answer FROM questions WHERE run = $1 AND closed = 0 AND answer IS NOT NULL ORDER BY seq", r.Number)
		return err
	})
	if isAway(err) { // there are no answers meanwhile
		return nil, nil
	}
	return all, err
}

// Withdraw implements journal.Run.
func (r *Run) Withdraw(ctx context.Context, a *journal.Answer) error {
	key := record.Key{Instance: a.Instance, Path: a.Path}
	err := r.store.write(ctx, r.store.opts.Busy, func(tx *tx) error {
		if err := r.hold.mustHold(tx); err != nil {
			return err
		}
		if err := tx.add(lockRun, r.Number); err != nil {
			return err
		}
		if err := tx.add("UPDATE questions SET answer = NULL WHERE run = $1 AND key = $2 AND closed = 0", r.Number, questionKey(key)); err != nil {
			return err
		}
		return tx.seal(r.Number, true, false)
	})
	r.Withdrawn(key)
	r.store.tell(r.Number)
	return err
}

// Cancel implements journal.Store.
func (s *Store) Cancel(ctx context.Context, run, reason string) error {
	var id int64
	err := s.write(ctx, s.opts.Busy, func(tx *tx) (err error) {
		if id, err = findBy(tx.ctx, tx, run, forUpdate); err != nil {
			return err
		}
		return tx.add("INSERT INTO cancels (run, reason, sum) VALUES ($1, $2, $3) ON CONFLICT (run) DO UPDATE SET reason = excluded.reason, sum = excluded.sum",
			id, reason, record.SumRow(id, reason))
	})
	if err == nil {
		s.tell(id)
	}
	return err
}

// cancels holds the requests to end runs, as they were last read. All runs of this process share
// them.
type cancels struct {
	mu      sync.Mutex
	at      time.Time
	reasons map[int64]string
}

// cancelsEvery is the shortest time between two queries for requests to end runs.
const cancelsEvery = 50 * time.Millisecond

// cancelled returns the reason of a request to end a run, if there is one.
func (s *Store) cancelled(ctx context.Context, run int64) (reason string, ok bool, err error) {
	c := &s.cancels
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.reasons[run]; ok || time.Since(c.at) >= cancelsEvery { // the request may have been carried out since
		all := map[int64]string{}
		err := s.look(ctx, func(q querier) error {
			_, err := q.run(ctx, func(v []any) error {
				if err := record.CheckRow(record.ACancel, v); err != nil {
					return err
				}
				all[v[0].(int64)] = v[1].(string)
				return nil
			}, "SELECT run, reason, sum FROM cancels")
			return err
		})
		if err != nil {
			return "", false, err
		}
		c.reasons, c.at = all, time.Now()
	}
	reason, ok = c.reasons[run]
	return reason, ok, nil
}

// isAway reports whether an error says that the server is away.
func isAway(err error) bool {
	var fault *journal.Error
	return errors.As(err, &fault) && fault.Fault == journal.Away
}

// WaitCancel implements journal.Run. It also ends a run whose hold was lost. While the server is
// away, runs are not cancelled.
func (r *Run) WaitCancel(ctx context.Context) (reason string, err error) {
	w := r.store.watch
	w.Join()
	defer w.Leave()
	for {
		changed, err := w.Next(r.Number)
		if err != nil {
			return "", err
		}
		if r.IsClosed() {
			return "", r.store.closedError("")
		}
		if r.lost.Load() {
			return "another process has the run", nil
		}
		reason, ok, err := r.store.cancelled(ctx, r.Number)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case isAway(err):
		case ok || err != nil:
			return reason, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-changed:
		}
		select { // most changes are commits of the run itself
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(cancelsEvery):
		}
	}
}

// approvalKey returns the key of the approvals of a digest.
func approvalKey(digest string) int64 { return record.SumRow("plc approval", digest) }

// lockApprovals lets only one transaction at a time use the approvals of a digest, and returns the
// key by which they are found.
func (t *tx) lockApprovals(digest string) (int64, error) {
	key := approvalKey(digest)
	_, err := t.one("SELECT pg_advisory_xact_lock($1)", key)
	return key, err
}

// Approve implements journal.Store.
func (s *Store) Approve(ctx context.Context, run string, digests ...string) error {
	digests = slices.Sorted(slices.Values(digests)) // this order prevents deadlocks
	return s.write(ctx, s.opts.Busy, func(tx *tx) error {
		for _, digest := range digests {
			key, err := tx.lockApprovals(digest)
			if err != nil {
				return err
			}
			ok, err := approved(tx.ctx, tx, key, run, digest)
			if err == nil && !ok {
				err = tx.addApproval(key, run, digest)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Approved implements journal.Store.
func (s *Store) Approved(ctx context.Context, run, digest string) (ok bool, err error) {
	err = s.look(ctx, func(q querier) error {
		ok, err = approved(ctx, q, approvalKey(digest), run, digest)
		return err
	})
	return ok, err
}

func approved(ctx context.Context, q querier, key int64, run, digest string) (bool, error) {
	v, err := one(ctx, q, approvalRows+" WHERE key = $1 AND digest = $2 AND run = $3 ORDER BY id LIMIT 1", key, digest, run)
	if err == nil && v != nil {
		err = record.CheckRow("an approval", v)
	}
	return err == nil && v != nil, err
}

// Use implements journal.Store.
func (s *Store) Use(ctx context.Context, run, name string) error {
	return s.write(ctx, s.opts.Busy, func(tx *tx) error {
		key, err := tx.lockApprovals(name)
		if err != nil {
			return err
		}
		by, err := tx.usedBy(name)
		switch {
		case err != nil || by == run:
			return err
		case by != "":
			return &journal.UsedError{Name: name, Run: by}
		}
		return tx.addApproval(key, run, name)
	})
}

const approvalRows = "SELECT id, digest, created, expires, run, sum FROM approvals"

// usedBy returns the run that has used a name; "" if none has. It reads all rows, and not only
// those with its key, since a damaged row may be the one with the name.
func (t *tx) usedBy(name string) (run string, err error) {
	_, err = t.run(t.ctx, func(v []any) error {
		if by, ok := v[4].(string); ok && v[1] == any(name) {
			run = by
		}
		return record.CheckRow("an approval", v)
	}, approvalRows)
	return run, err
}

// addApproval adds a row for a run, with its sum.
func (t *tx) addApproval(key int64, run, name string) error {
	v, err := t.one("SELECT nextval('ids')")
	if err != nil {
		return err
	}
	created := record.Micros(time.Now())
	return t.add("INSERT INTO approvals (id, key, digest, created, run, sum) VALUES ($1, $2, $3, $4, $5, $6)",
		v[0], key, name, created, run, record.SumRow(v[0], name, created, nil, run))
}
