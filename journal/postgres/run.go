package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// Run is a journal.Run.
type Run struct {
	record.Held
	store *Store
	hold  *hold
	fresh bool        // it has no past
	lost  atomic.Bool // another process has it
}

// newRun returns a run that is held.
func (s *Store) newRun(h *hold) *Run {
	r := &Run{store: s, hold: h}
	s.queue.Hold(&r.Held, h.id, h.name)
	h.lost = r.markLost
	return r
}

// markLost makes a run fail because another process has taken it over.
func (r *Run) markLost(err error) {
	r.lost.Store(true)
	r.Fail(err)
	r.store.watch.Tell(r.Number) // waiters for an answer, or for the end of the run, look again
}

// enlist adds a run to those that are closed with the store and whose holds are renewed.
func (s *Store) enlist(r *Run) (journal.Run, error) {
	if err := s.queue.Enlist(&r.Held, r); err != nil {
		_ = r.release()
		return nil, err
	}
	s.keep(r.hold)
	return r, nil
}

// maxName limits the bytes of the id of a run or loop, since the id is in an index.
const maxName = 1000

func checkName(what, name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("journal: a %s needs an id of 1 to %d bytes, not of %d", what, maxName, len(name))
	}
	return nil
}

// Create implements journal.Store.
func (s *Store) Create(ctx context.Context, run string, g *journal.Given) (journal.Run, error) {
	if err := checkName("run", run); err != nil {
		return nil, err
	}
	var h *hold
	err := s.write(ctx, s.opts.Busy, func(tx *tx) (err error) {
		h, err = s.insertRun(tx, run, g, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	r := s.newRun(h)
	r.fresh = true
	return s.enlist(r)
}

// insertRun makes the rows of a run and of what it was given, and holds it.
func (s *Store) insertRun(tx *tx, run string, g *journal.Given, f *journal.Forked) (*hold, error) {
	newest, err := storeRow(tx.ctx, tx, forUpdate)
	if err != nil {
		return nil, err
	}
	v, err := tx.one("SELECT nextval('ids'), (SELECT count(*) FROM runs WHERE name = $1)", run)
	if err != nil {
		return nil, err
	}
	if v[1] != any(int64(0)) {
		return nil, &journal.ExistsError{Run: run}
	}
	id := v[0].(int64)
	settings, labels, sets := string(g.Settings), "{}", any(nil)
	if settings == "" {
		settings = "{}"
	}
	if len(g.Labels) > 0 {
		if labels, err = record.Encode(g.Labels); err != nil {
			return nil, err
		}
	}
	var parent, at, instance any
	if f != nil {
		parent, at, instance = f.Run, f.At, f.Instance
		if sets, err = record.Encode(f.Set); err != nil {
			return nil, err
		}
	}
	created := g.Created
	if created.IsZero() {
		created = time.Now()
	}
	err = tx.add(`INSERT INTO runs (id, name, plan, program, settings, labels, parent, at, instance, sets, created, status, reason, asking, given, asked, prev, sum)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, '', 0, 0, 0, $13, 0)`,
		id, run, g.Plan.Name, g.Program, settings, labels, parent, at, instance, sets, record.Micros(created), string(exec.Pending), newest)
	if err == nil {
		err = insertTexts(tx, id, 0, g.AllTexts())
	}
	if err == nil {
		err = tx.seal(id, true, true)
	}
	if err == nil {
		err = tx.setNewest(id)
	}
	if err != nil {
		return nil, err
	}
	return s.insertHold(tx, id, run, record.Micros(created))
}

// Resume implements journal.Store.
func (s *Store) Resume(ctx context.Context, run string) (journal.Run, error) {
	var h *hold
	err := s.write(ctx, s.opts.Busy, func(tx *tx) error {
		id, err := find(tx.ctx, tx, run)
		if err == nil {
			h, err = s.takeHold(tx, id, run)
		}
		if err == nil { // it may have been deleted since
			_, err = find(tx.ctx, tx, run)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var r *Run
	err = s.read(ctx, func(q querier) error { return verify(ctx, q, h.id) })
	if err == nil {
		err = s.write(ctx, s.opts.Busy, func(tx *tx) error {
			r = s.newRun(h)
			return r.load(tx)
		})
	}
	if err != nil {
		_ = s.write(ctx, 0, h.giveBack)
		return nil, err
	}
	return s.enlist(r)
}

// load reads the row of a run, and turns the answers that came while no process held the run into
// events.
func (r *Run) load(tx *tx) error {
	if err := r.hold.mustHold(tx); err != nil {
		return err
	}
	if _, err := findBy(tx.ctx, tx, r.Name, forUpdate); err != nil { // no answer can come now
		return err
	}
	row, err := row(tx.ctx, tx, r.Number)
	if err != nil {
		return err
	}
	r.At(record.Link{Last: row.last, Sum: row.head})
	t := r.Tally
	t.Reason, t.Status, t.Changed = row.reason, exec.Status(row.status), time.UnixMicro(row.changed)
	if row.finished.Valid {
		t.Finished = time.UnixMicro(row.finished.Int64)
	}
	if err := json.Unmarshal([]byte(row.calls), &t.Ended); err != nil {
		return record.Broken(fmt.Sprintf("the row of the run %q", r.Name), err)
	}
	for status := range t.Ended {
		if !record.Ended(status) { // a call of the process that held the run before
			delete(t.Ended, status)
		}
	}
	open, err := rows(tx.ctx, tx, "SELECT instance, path FROM questions WHERE run = $1 AND closed = 0", r.Number)
	if err != nil {
		return err
	}
	for _, v := range open {
		t.Open[record.Key{Instance: v[0].(string), Path: v[1].(string)}] = true
	}
	return r.takeAnswers(tx)
}

// takeAnswers turns the answers that came while no process held the run into events.
func (r *Run) takeAnswers(tx *tx) error {
	all, err := rows(tx.ctx, tx, `SELECT events.id, body, answer FROM questions q JOIN events ON events.id = (q.run << 32 | q.seq)
		WHERE q.run = $1 AND closed = 0 AND answer IS NOT NULL ORDER BY q.seq`, r.Number)
	if err != nil {
		return err
	}
	p := record.NewPart(&r.Held)
	for _, v := range all {
		asked, err := decode(v)
		if err != nil {
			return err
		}
		a := &journal.Answer{}
		if err := json.Unmarshal([]byte(v[2].(string)), &a.Answer); err != nil {
			return record.Broken(fmt.Sprintf("the answer about %q", asked.Call), err)
		}
		p.Add(a.Given(asked), r.Tally.Last+1)
		if err := p.Err(); err != nil {
			return err
		}
	}
	if len(p.Rows) > 0 {
		p.Summary = record.SummaryOf(r.Tally)
		if err := r.writePart(tx, p); err != nil {
			return err
		}
	}
	r.Took(p)
	return nil
}

// Fork implements journal.Store.
func (s *Store) Fork(ctx context.Context, run string, f *journal.Fork) (journal.Run, error) {
	if err := checkName("run", run); err != nil {
		return nil, err
	}
	given, err := s.Given(ctx, f.Run)
	if err != nil {
		return nil, err
	}
	var r *Run
	err = s.write(ctx, s.opts.Busy, func(tx *tx) error {
		h, err := s.insertRun(tx, run, f.Given(given), &journal.Forked{Run: f.Run, Instance: f.Instance, At: f.At, Set: f.Set})
		if err != nil {
			return err
		}
		from, err := findBy(tx.ctx, tx, f.Run, forUpdate)
		if err == nil {
			err = verify(tx.ctx, tx, from)
		}
		if err != nil {
			return err
		}
		row, err := row(tx.ctx, tx, from)
		if err != nil {
			return err
		}
		sum, err := row.summary()
		if err == nil {
			err = f.Checked(sum)
		}
		if err != nil {
			return err
		}
		r = s.newRun(h)
		return r.copyEvents(tx, from, f)
	})
	if err != nil {
		return nil, err
	}
	return s.enlist(r)
}

// copyEvents copies the events of the forked run that the fork keeps.
func (r *Run) copyEvents(tx *tx, from int64, f *journal.Fork) error {
	p := record.NewPart(&r.Held)
	for next := int64(0); ; {
		page, err := readPage(tx.ctx, tx, from, next)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		for _, entry := range page {
			next = entry.Seq + 1
			if err := p.Copy(entry, f); err != nil {
				return err
			}
		}
		if len(p.Rows) > 0 {
			if err := r.writePart(tx, p); err != nil {
				return err
			}
			p.Next()
		}
	}
	r.Tally.Fork()
	r.Took(p)
	return nil
}

// Close waits until all appended events are durable, and releases the run. It returns an error if
// some could not be written. A second Close does nothing.
func (r *Run) Close() error {
	first, err := r.Finish()
	if !first {
		return nil
	}
	r.store.drop(r.hold)
	r.store.tell(r.Number)
	if failed := r.release(); failed != nil && err == nil {
		err = failed
	}
	return err
}

// release notes that no process holds the run, and stores the durations that are not stored yet.
func (r *Run) release() error {
	samples := r.Tally.Samples()
	return r.store.write(context.Background(), r.store.opts.Busy, func(tx *tx) error {
		if err := r.hold.mustHold(tx); err != nil {
			return err
		}
		if err := r.hold.giveBack(tx); err != nil {
			return err
		}
		return writeSamples(tx, samples)
	})
}

// Revise implements journal.Run.
func (r *Run) Revise(ctx context.Context, g *journal.Given) error {
	return r.store.write(ctx, r.store.opts.Busy, func(tx *tx) error {
		if _, err := storeRow(tx.ctx, tx, forUpdate); err != nil {
			return err
		}
		if err := r.hold.mustHold(tx); err != nil {
			return err
		}
		last, err := tx.one("SELECT coalesce(max(number), -1) FROM given WHERE run = $1", r.Number)
		if err != nil {
			return err
		}
		if err := tx.add("UPDATE runs SET plan = $2, program = $3 WHERE id = $1", r.Number, g.Plan.Name, g.Program); err != nil {
			return err
		}
		if err := insertTexts(tx, r.Number, last[0].(int64)+1, g.AllTexts()); err != nil {
			return err
		}
		return tx.seal(r.Number, false, true)
	})
}

// Past implements exec.Record. It reads all events of the instance. For a new run it reads nothing.
func (r *Run) Past(instance string) (map[string]*exec.Past, error) {
	if r.fresh {
		return nil, nil
	}
	p, err := r.store.past(context.Background(), r.Number, instance)
	if p == nil || err != nil {
		return nil, err
	}
	r.Tally.Settled(instance, p)
	return p, nil
}

// past returns nil for an instance that has no events. It does not read writes, which may be large:
// the results of the calls have the written values as well.
func (s *Store) past(ctx context.Context, run int64, instance string) (p record.Past, err error) {
	query, args := "id >= $1 AND id < $2 AND key IS NULL", []any{record.EventID(run, 0), record.EventID(run+1, 0)}
	if instance != "" {
		query, args = "key = $1 AND instance = $2", []any{instanceKey(run, instance), instance}
	}
	err = s.look(ctx, func(q querier) error {
		p = nil
		_, err := q.run(ctx, func(v []any) error {
			if p == nil {
				p = record.Past{}
			}
			body, ok := v[1].(string)
			if !ok {
				return nil
			}
			return p.AddRow(v[0].(int64), []byte(body))
		}, "SELECT id, CASE WHEN type = '"+string(exec.Written)+"' THEN NULL ELSE body END FROM events WHERE "+query+" ORDER BY id", args...)
		return err
	})
	return p, err
}

// reader is an exec.Record of a run that is only read.
type reader struct {
	store *Store
	id    int64
}

// Reader implements journal.Store.
func (s *Store) Reader(ctx context.Context, run string) (exec.Record, error) {
	id, err := s.findVerified(ctx, run)
	if err != nil {
		return nil, err
	}
	return &reader{s, id}, nil
}

// findVerified finds a run, and checks everything that the store has of it. A process may hold the
// run.
func (s *Store) findVerified(ctx context.Context, run string) (id int64, err error) {
	err = s.read(ctx, func(q querier) (err error) {
		if id, err = find(ctx, q, run); err == nil {
			err = verify(ctx, q, id)
		}
		return err
	})
	var cut *journal.CutError
	if errors.As(err, &cut) { // such a run may be inspected
		return id, nil
	}
	return id, err
}

// Append implements exec.Record: it keeps nothing.
func (r *reader) Append(*exec.Event) int64 { return 0 }

// Sync implements exec.Record.
func (r *reader) Sync(int64) error { return nil }

// Past implements exec.Record.
func (r *reader) Past(instance string) (map[string]*exec.Past, error) {
	p, err := r.store.past(context.Background(), r.id, instance)
	if p == nil || err != nil {
		return nil, err
	}
	return p, nil
}
