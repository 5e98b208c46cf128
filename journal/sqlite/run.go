package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"

	"github.com/plc-lang/plc/exec"
)

// Run is a journal.Run.
type Run struct {
	record.Held
	store *Store
	lock  *lock
	fresh bool // it has no past
}

// Create implements journal.Store.
func (s *Store) Create(ctx context.Context, run string, given *journal.Given) (journal.Run, error) {
	r, err := s.create(ctx, run, given)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s *Store) create(ctx context.Context, run string, given *journal.Given) (*Run, error) {
	if run == "" {
		return nil, errors.New("journal: a run needs an id")
	}
	var id int64
	var held *lock
	err := s.write(ctx, func(tx *tx) error {
		var err error
		if id, err = insertRun(tx, run, given, given.Fork); err != nil {
			return err
		}
		if err := insertTexts(tx, id, given.AllTexts()); err != nil {
			return err
		}
		if err := tx.sealGiven(id); err != nil {
			return err
		}
		held, err = s.holdNew(tx, id)
		return err
	})
	if err != nil {
		held.drop()
		return nil, err
	}
	r := s.newRun(id, run, held)
	held.note(record.Link{})
	r.fresh = true
	return s.enlist(r)
}

// insertRun inserts the row of a new run.
func insertRun(tx *tx, run string, g *journal.Given, f *journal.Forked) (int64, error) {
	var exists int
	err := tx.conn.QueryRowContext(tx.ctx, "SELECT count(*) FROM runs WHERE name = ?", run).Scan(&exists)
	if err != nil {
		return 0, err
	}
	if exists > 0 {
		return 0, &journal.ExistsError{Run: run}
	}
	settings, labels, sets := string(g.Settings), object(g.Labels), any(nil)
	if settings == "" {
		settings = "{}"
	}
	var parent, at, instance any
	if f != nil {
		parent, at, instance = f.Run, f.At, f.Instance
		if sets, err = record.Encode(f.Set); err != nil {
			return 0, err
		}
	}
	created := g.Created
	if created.IsZero() {
		created = time.Now()
	}
	newest, err := tx.newest()
	if err != nil {
		return 0, err
	}
	res, err := tx.conn.ExecContext(tx.ctx,
		`INSERT INTO runs (name, plan, program, flags, labels, parent, at, instance, sets, created, changed, status, prev)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		run, g.Plan.Name, g.Program, settings, labels, parent, at, instance, sets, record.Micros(created), record.Micros(created), string(exec.Pending), newest)
	if err != nil {
		return 0, err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return 0, err
	}
	return id, tx.setNewest(id)
}

// object returns a map as a JSON object.
func object(m map[string]string) string {
	if len(m) == 0 {
		return "{}"
	}
	text, err := record.Encode(m)
	if err != nil {
		panic(err) // strings
	}
	return text
}

// hold notes that this process holds a run whose lock was taken. It returns errHeld if another
// process holds it, even though its lock is gone, or is not on this machine.
func (s *Store) hold(tx *tx, id int64) error {
	r, err := s.row(tx.ctx, tx.conn, id)
	if err == nil && r.alive() {
		err = errHeld
	}
	if err != nil {
		return err
	}
	_, err = tx.exec("UPDATE runs SET pid = ?, host = ?, since = ?, born = ? WHERE id = ?", os.Getpid(), record.Hostname(), record.Micros(time.Now()), record.BornAt(os.Getpid()), id)
	if err == nil {
		err = tx.sealRow(id)
	}
	return err
}

// holdNew holds a run that was just made, of which there can be no old lock file.
func (s *Store) holdNew(tx *tx, id int64) (*lock, error) {
	held, err := s.lock(id)
	if err != nil {
		return nil, err
	}
	if err = s.hold(tx, id); err == nil {
		var noted *record.Link
		if noted, err = held.noted(); err != nil || noted != nil {
			err = &journal.Error{Path: s.path, Fault: journal.Damaged, Err: fmt.Errorf("the run number %d was lost", id)}
		}
	}
	if err != nil {
		held.closeKeepingNote()
		return nil, err
	}
	return held, nil
}

// drop frees a lock if there is one.
func (l *lock) drop() {
	if l != nil {
		l.free()
	}
}

// Resume implements journal.Store.
func (s *Store) Resume(ctx context.Context, run string) (journal.Run, error) {
	r, err := s.resume(ctx, run)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s *Store) resume(ctx context.Context, run string) (*Run, error) {
	r, err := s.take(ctx, run)
	if err == nil {
		err = r.verify(ctx) // the run can't change any more, and other processes may write
	}
	if err == nil {
		err = s.write(ctx, r.load)
	}
	if err != nil {
		if r != nil {
			r.lock.closeKeepingNote() // what it notes is evidence
		}
		return nil, s.fault(err)
	}
	return s.enlist(r)
}

// take takes the lock of a run, for which it may wait, and then notes in a transaction that this
// process holds it.
func (s *Store) take(ctx context.Context, run string) (*Run, error) {
	s.writing.Lock()
	err := s.writable()
	s.writing.Unlock()
	if err != nil {
		return nil, err
	}
	id, err := s.find(ctx, s.readers, run)
	if err != nil {
		return nil, err
	}
	held, err := s.lock(id)
	if errors.Is(err, errHeld) {
		return nil, s.heldError(ctx, s.readers, run, id)
	}
	if err != nil {
		return nil, err
	}
	err = s.write(ctx, func(tx *tx) error {
		if _, err := s.find(tx.ctx, tx.conn, run); err != nil { // it was deleted meanwhile
			return err
		}
		err := s.hold(tx, id)
		if errors.Is(err, errHeld) {
			return s.heldError(tx.ctx, tx.conn, run, id)
		}
		return err
	})
	if err != nil {
		held.closeKeepingNote()
		return nil, err
	}
	return s.newRun(id, run, held), nil
}

// verify checks everything that a resumed run depends on.
func (r *Run) verify(ctx context.Context) error {
	noted, err := r.lock.noted()
	if err != nil {
		return err
	}
	return r.store.snapshot(ctx, func(q querier) error {
		_, err := r.store.verify(ctx, q, r.Number, noted)
		return err
	})
}

// verify checks everything that the store has of a run: its row, what it was given, its questions
// and its events. If noted is not nil, the events that the lock notes must be there.
func (s *Store) verify(ctx context.Context, q querier, id int64, noted *record.Link) (record.Link, error) {
	row, err := s.row(ctx, q, id)
	if err != nil {
		return record.Link{}, err
	}
	if row.status == string(journal.Cut) {
		return record.Link{}, &journal.CutError{Run: row.name, Reason: row.reason}
	}
	if err := s.checkParts(ctx, q, row); err != nil {
		return record.Link{}, err
	}
	c := newChain(id, row.name, row.links(noted))
	err = c.follow(ctx, q, func(int64, string, string, []byte) error { return nil })
	return c.Link, err
}

func (s *Store) newRun(id int64, name string, held *lock) *Run {
	r := &Run{store: s, lock: held}
	s.queue.Hold(&r.Held, id, name)
	r.Written = held.note
	return r
}

// enlist adds a run to those that are closed with the store.
func (s *Store) enlist(r *Run) (*Run, error) {
	if err := s.queue.Enlist(&r.Held, r); err != nil {
		r.lock.free()
		return nil, err
	}
	return r, nil
}

// load reads the row of a run.
func (r *Run) load(tx *tx) error {
	t := r.Tally
	row, err := r.store.row(tx.ctx, tx.conn, r.Number)
	if err != nil {
		return err
	}
	r.At(record.Link{Last: row.last, Sum: row.head})
	t.Reason, t.Status, t.Changed = row.reason, exec.Status(row.status), time.UnixMicro(row.changed)
	if row.finished.Valid {
		t.Finished = time.UnixMicro(row.finished.Int64)
	}
	r.lock.note(record.Link{Last: row.last, Sum: row.head})
	if err := json.Unmarshal([]byte(row.calls), &t.Ended); err != nil {
		return record.Broken(fmt.Sprintf("the row of the run %q", r.Name), err)
	}
	for status := range t.Ended {
		if !record.Ended(status) { // a call of the process that held the run before
			delete(t.Ended, status)
		}
	}
	if err := r.loadQuestions(tx); err != nil {
		return err
	}
	return r.takeAnswers(tx)
}

func (r *Run) loadQuestions(tx *tx) error {
	rows, err := tx.conn.QueryContext(tx.ctx, "SELECT instance, path FROM questions WHERE run = ? AND closed = 0", r.Number)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key record.Key
		if err := rows.Scan(&key.Instance, &key.Path); err != nil {
			return err
		}
		r.Tally.Open[key] = true
	}
	return rows.Err()
}

// takeAnswers turns the answers that came while no process held the run into events.
func (r *Run) takeAnswers(tx *tx) error {
	events, err := tx.answers(r.Number)
	if err != nil {
		return err
	}
	p := record.NewPart(&r.Held)
	for _, e := range events {
		p.Add(e, r.Tally.Last+1)
		if err := p.Err(); err != nil {
			return err
		}
	}
	p.Summary = record.SummaryOf(r.Tally)
	err = r.store.writePart(tx, p)
	r.Took(p)
	return err
}

// querier is a connection or the readers.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// find returns the number of a run.
func (s *Store) find(ctx context.Context, q querier, run string) (id int64, err error) {
	err = q.QueryRowContext(ctx, "SELECT id FROM runs WHERE name = ? AND status <> ?", run, deleted).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, &journal.MissingError{Run: run}
	}
	return id, err
}

// heldError returns the error that says which process holds a run.
func (s *Store) heldError(ctx context.Context, q querier, run string, id int64) error {
	var pid, since sql.NullInt64
	var host sql.NullString
	err := q.QueryRowContext(ctx, "SELECT pid, host, since FROM runs WHERE id = ?", id).Scan(&pid, &host, &since)
	if err != nil {
		return err
	}
	e := &journal.HeldError{Run: run}
	if pid.Valid {
		e.Holder = journal.Holder{PID: int(pid.Int64), Host: host.String, Since: time.UnixMicro(since.Int64)}
	}
	return e
}

// Close waits until all appended events are on disk, and releases the run. It returns an error if
// some could not be written. A second Close does nothing.
func (r *Run) Close() error {
	first, err := r.Finish()
	if !first {
		return nil
	}
	r.store.watch.Tell(r.Number)
	if lost := r.release(); lost != nil {
		r.lock.closeKeepingNote() // the row does not have what the note says
		return errors.Join(err, lost)
	}
	r.lock.free()
	return err
}

// release notes that no process holds the run, and stores the durations that are not stored yet.
func (r *Run) release() error {
	at := r.Committed()
	return r.store.write(context.Background(), func(tx *tx) error {
		if _, err := tx.exec("UPDATE runs SET pid = NULL, host = NULL, since = NULL, born = NULL, last = ?, head = ? WHERE id = ?", at.Last, at.Sum, r.Number); err != nil {
			return err
		}
		if err := tx.sealRow(r.Number); err != nil {
			return err
		}
		return writeSamples(tx, r.Tally.Samples())
	})
}
