package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/plc-lang/plc/exec"
)

// Run is the record of a run that is held; it is an exec.Record. Close gives it
// back.
type Run struct {
	store *Store
	id    int64
	name  string
	lock  *lock
	fresh bool // it has no past

	// What the store's queue guards.
	appended  int64 // the number of the last event
	committed int64 // and that of the last one on disk
	queued    int   // items
	asking    int   // questions that are open, or answered and not closed
	err       error // why no more is taken
	waiting   []waiter
	closed    bool
	settled   *sync.Cond

	tally *tally // of the goroutine that commits

	giving sync.Mutex                        // guards the rest
	given  map[callKey]int64                 // answers that were given, by the numbers of their questions
	before map[string]map[string]exec.Status // to which calls had come before, by instance and path
}

// Create makes a run of this id and holds it. When Create returns, all that the run was given
// is on disk. The error is an *ExistsError when the store has the run.
func (s *Store) Create(run string, given *Given) (*Run, error) {
	if run == "" {
		return nil, errors.New("journal: a run needs an id")
	}
	var id int64
	var held *lock
	err := s.write(context.Background(), func(tx *tx) error {
		var err error
		if id, err = insertRun(tx, run, given, nil); err != nil {
			return err
		}
		if err := insertTexts(tx, id, given.texts()); err != nil {
			return err
		}
		held, err = s.hold(tx, id)
		return err
	})
	if err != nil {
		held.drop()
		return nil, err
	}
	r := s.newRun(id, run, held)
	r.fresh = true
	return s.enlist(r)
}

// insertRun inserts the row of a new run.
func insertRun(tx *tx, run string, g *Given, f *Forked) (int64, error) {
	var exists int
	err := tx.conn.QueryRowContext(tx.ctx, "SELECT count(*) FROM runs WHERE name = ?", run).Scan(&exists)
	if err != nil {
		return 0, err
	}
	if exists > 0 {
		return 0, &ExistsError{run}
	}
	flags, labels, sets := object(g.Flags), object(g.Labels), any(nil)
	var parent, at, instance any
	if f != nil {
		parent, at, instance = f.Run, f.At, f.Instance
		if sets, err = encode(f.Set); err != nil {
			return 0, err
		}
	}
	created := g.Created
	if created.IsZero() {
		created = time.Now()
	}
	res, err := tx.conn.ExecContext(tx.ctx,
		`INSERT INTO runs (name, plan, program, flags, labels, parent, at, instance, sets, created, changed, status)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		run, g.Plan.Name, g.Program, flags, labels, parent, at, instance, sets, micros(created), micros(created), string(exec.Pending))
	if err != nil {
		return 0, err
	}
	return res.LastInsertId()
}

// object is a map as a JSON object.
func object(m map[string]string) string {
	if len(m) == 0 {
		return "{}"
	}
	text, err := encode(m)
	if err != nil {
		panic(err) // strings
	}
	return text
}

// hold takes the lock of a run and notes who did.
func (s *Store) hold(tx *tx, id int64) (*lock, error) {
	held, err := s.lock(id)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	_, err = tx.exec("UPDATE runs SET pid = ?, host = ?, since = ? WHERE id = ?", os.Getpid(), host, micros(time.Now()), id)
	return held, err
}

// drop frees a lock if there is one.
func (l *lock) drop() {
	if l != nil {
		l.free()
	}
}

// Resume holds a run that the store has. The error is a *MissingError when it has not,
// and a *HeldError when another process, or this one, holds it.
func (s *Store) Resume(run string) (*Run, error) {
	var r *Run
	var held *lock
	err := s.write(context.Background(), func(tx *tx) error {
		id, err := s.find(tx.ctx, tx.conn, run)
		if err != nil {
			return err
		}
		held, err = s.hold(tx, id)
		if errors.Is(err, errHeld) {
			return s.heldError(tx.ctx, tx.conn, run, id)
		}
		if err != nil {
			return err
		}
		r = s.newRun(id, run, held)
		return r.load(tx)
	})
	if err != nil {
		held.drop()
		return nil, err
	}
	return s.enlist(r)
}

func (s *Store) newRun(id int64, name string, held *lock) *Run {
	r := &Run{store: s, id: id, name: name, lock: held, tally: newTally(), given: map[callKey]int64{}, before: map[string]map[string]exec.Status{}}
	r.settled = sync.NewCond(&s.queue.mu)
	return r
}

// enlist makes a run one that is closed with its store.
func (s *Store) enlist(r *Run) (*Run, error) {
	q := s.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		r.lock.free()
		return nil, &Error{Path: s.path, Fault: Closed}
	}
	q.runs = append(q.runs, r)
	return r, nil
}

// load reads what the row of a run says.
func (r *Run) load(tx *tx) error {
	var calls, status string
	var changed int64
	var finished sql.NullInt64
	t := r.tally
	err := tx.conn.QueryRowContext(tx.ctx, "SELECT last, status, reason, changed, finished, calls FROM summaries WHERE id = ?", r.id).
		Scan(&t.last, &status, &t.reason, &changed, &finished, &calls)
	if err != nil {
		return err
	}
	t.status, t.changed = exec.Status(status), time.UnixMicro(changed)
	if finished.Valid {
		t.finished = time.UnixMicro(finished.Int64)
	}
	if err := json.Unmarshal([]byte(calls), &t.ended); err != nil {
		return undecodable(fmt.Sprintf("the row of the run %q", r.name), err)
	}
	for status := range t.ended {
		if !settledStatus(status) { // of the process that was there before
			delete(t.ended, status)
		}
	}
	if err := r.loadQuestions(tx); err != nil {
		return err
	}
	return r.takeAnswers(tx)
}

func (r *Run) loadQuestions(tx *tx) error {
	rows, err := tx.conn.QueryContext(tx.ctx, "SELECT instance, path FROM questions WHERE run = ? AND closed = 0", r.id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key callKey
		if err := rows.Scan(&key.instance, &key.path); err != nil {
			return err
		}
		r.tally.open[key] = true
	}
	return rows.Err()
}

// takeAnswers makes events of the answers that were put while nobody held the run.
func (r *Run) takeAnswers(tx *tx) error {
	events, err := tx.answers(r.id)
	if err != nil {
		return err
	}
	p := newPart(r)
	for i, e := range events {
		p.add(&item{run: r, seq: r.tally.last + 1, event: e})
		if p.err != nil {
			return p.err
		}
		if i == len(events)-1 {
			p.summary = r.tally.summary()
		}
	}
	r.appended, r.committed, r.asking = p.last, p.last, len(r.tally.open)
	return p.write(tx)
}

// settledStatus reports whether a call that has this status has ended.
func settledStatus(s exec.Status) bool {
	switch s {
	case exec.Completed, exec.Failed, exec.Skipped, exec.Blocked, exec.Cancelled, exec.Rejected:
		return true
	}
	return false
}

// querier is a connection or the readers.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// find is the row of a run.
func (s *Store) find(ctx context.Context, q querier, run string) (id int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT id FROM runs WHERE name = ? AND status <> ?", run, deleted).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, &MissingError{run}
	}
	return id, err
}

// heldError says who holds a run.
func (s *Store) heldError(ctx context.Context, q querier, run string, id int64) error {
	var pid, since sql.NullInt64
	var host sql.NullString
	err := q.QueryRowContext(ctx, "SELECT pid, host, since FROM runs WHERE id = ?", id).Scan(&pid, &host, &since)
	if err != nil {
		return err
	}
	e := &HeldError{Run: run}
	if pid.Valid {
		e.Holder = Holder{int(pid.Int64), host.String, time.UnixMicro(since.Int64)}
	}
	return e
}

// ID is the run's id.
func (r *Run) ID() string { return r.name }

// Append implements exec.Record. It costs no more than adding to a list, unless the disk
// is far behind; then it waits.
func (r *Run) Append(e *exec.Event) int64 {
	return r.store.queue.put(item{run: r, event: e})
}

// Sync implements exec.Record. An error stays: what was appended after what could not be
// written is not written either, and each Sync from then on returns it at once.
func (r *Run) Sync(seq int64) error {
	q := r.store.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.committed < seq && r.err == nil {
		w := waiter{min(seq, r.appended), make(chan struct{})}
		r.waiting = append(r.waiting, w)
		q.waiting++
		q.mu.Unlock()
		r.store.commitNow()
		<-w.done
		q.mu.Lock()
	}
	if r.committed >= min(seq, r.appended) {
		return nil
	}
	return r.err
}

// waiter is somebody who waits until the event of a number is on disk.
type waiter struct {
	seq  int64
	done chan struct{} // closed when it is, or never will be
}

// Ended is an instance that has ended.
type Ended struct {
	Instance string
	Status   exec.Status
	Result   json.RawMessage // what is to be known of it later; nil is nothing
}

// End notes that an instance has ended, so that it is not run again when the run is
// resumed. It is on disk with, or after, the events that were appended before, and soon;
// an error is that of the next Sync, and of Close.
func (r *Run) End(e *Ended) {
	r.forget(e.Instance)
	r.store.queue.put(item{run: r, ended: e})
}

// Done is how an instance ended; nil when it has not yet. What was not committed
// counts as not ended.
func (r *Run) Done(instance string) (*Ended, error) {
	if r.fresh {
		return nil, nil
	}
	e := &Ended{Instance: instance}
	var result sql.NullString
	err := r.store.readers.QueryRowContext(context.Background(),
		"SELECT status, result FROM instances WHERE run = ? AND name = ?", r.id, instance).Scan(&e.Status, &result)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, r.store.fault(err)
	case result.Valid:
		e.Result = json.RawMessage(result.String)
	}
	return e, nil
}

// Close waits until all that was appended is on disk, and gives the run back. The error is
// that of what could not be written. A second Close does nothing.
func (r *Run) Close() error {
	q := r.store.queue
	q.mu.Lock()
	if r.closed {
		q.mu.Unlock()
		return nil
	}
	r.closed = true
	r.settled.Broadcast()
	for r.queued > 0 {
		signal(q.urgent)
		r.settled.Wait()
	}
	err := r.err
	if err == nil {
		r.err = &Error{Path: r.store.path, Fault: Closed, Err: fmt.Errorf("the run %q was given back", r.name)}
	}
	q.delist(r)
	q.mu.Unlock()
	r.store.watch.tell()
	err = errors.Join(err, r.release())
	r.lock.free()
	return err
}

// delist removes a run from those that are held. The caller holds mu.
func (q *queue) delist(r *Run) {
	for i, other := range q.runs {
		if other == r {
			q.runs = append(q.runs[:i], q.runs[i+1:]...)
			return
		}
	}
}

// release notes that nobody holds the run, with the durations that are not written.
func (r *Run) release() error {
	return r.store.write(context.Background(), func(tx *tx) error {
		if _, err := tx.exec("UPDATE runs SET pid = NULL, host = NULL, since = NULL WHERE id = ?", r.id); err != nil {
			return err
		}
		return writeSamples(tx, r.tally.samples())
	})
}
