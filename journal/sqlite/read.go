package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"

	"github.com/plc-lang/plc/exec"
)

// deleted is the status of a run that is being deleted.
const deleted = "deleted"

// Runs implements journal.Store.
func (s *Store) Runs(ctx context.Context, f journal.Filter) ([]*journal.Summary, error) {
	all, err := s.runs(ctx, f)
	return all, s.fault(err)
}

// Summary implements journal.Store.
func (s *Store) Summary(ctx context.Context, run string) (*journal.Summary, error) {
	id, err := s.find(ctx, s.readers, run)
	if err != nil {
		return nil, s.fault(err)
	}
	row, err := s.row(ctx, s.readers, id)
	if errors.Is(err, sql.ErrNoRows) {
		err = &journal.MissingError{Run: run}
	}
	if err != nil {
		return nil, s.fault(err)
	}
	found, err := s.summaryOf(row)
	return found.Summary, s.fault(err)
}

func (s *Store) runs(ctx context.Context, f journal.Filter) ([]*journal.Summary, error) {
	if err := s.checkLocked(ctx); err != nil {
		return nil, err
	}
	found, err := s.summaries(ctx, f, nil)
	all := make([]*journal.Summary, len(found))
	for i, r := range found {
		all[i] = r.Summary
	}
	return all, err
}

// found is a run with its row.
type found struct {
	*journal.Summary
	id int64
}

// summaries returns the runs that a filter admits, the newest first. It reads all rows and follows
// the chain of runs, since an index, or a damaged row, might hide some. onDeleted, if not nil, is
// called for each run whose deletion was interrupted.
func (s *Store) summaries(ctx context.Context, f journal.Filter, onDeleted func(id int64)) ([]found, error) {
	tx, err := s.readers.BeginTx(ctx, nil) // so that no run is added in between
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() //nolint:errcheck // it reads
	_, next, err := storeRow(ctx, tx)
	if err != nil {
		return nil, err
	}
	if f.From != "" {
		id, err := s.find(ctx, tx, f.From)
		if err != nil {
			return nil, err
		}
		from, err := s.row(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		next = from.prev
	}
	rows, err := tx.QueryContext(ctx, "SELECT "+runColumns+tailColumns+" FROM runs r NOT INDEXED"+runTail+" WHERE r.id <= ? ORDER BY r.id DESC", next)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []found
	for rows.Next() {
		row, err := scanRunRow(rows.Scan)
		switch {
		case err != nil:
			return nil, err
		case row.id != next: // each names the one before it
			return nil, record.Broken("the list of the runs", fmt.Errorf("number %d comes where %d should", row.id, next))
		}
		if next = row.prev; row.status == deleted {
			if onDeleted != nil {
				onDeleted(row.id)
			}
			continue
		}
		r, err := s.summaryOf(row)
		if err != nil {
			return nil, err
		}
		if f.Has(r.Summary) {
			list = append(list, r)
		}
		if len(list) == f.Limit && f.Limit > 0 {
			return list, nil
		}
	}
	if err := rows.Err(); err != nil || next == 0 {
		return list, err
	}
	return nil, record.Broken("the list of the runs", fmt.Errorf("number %d is missing", next))
}

// summaryOf returns the summary of a run from its row.
func (s *Store) summaryOf(row *runRow) (found, error) {
	r := found{id: row.id, Summary: &journal.Summary{
		Run: row.name, Plan: row.plan, Program: row.program, Parent: row.parent.String, Status: exec.Status(row.status), Reason: row.reason,
		Created: time.UnixMicro(row.created), Changed: time.UnixMicro(row.changed), Questions: int(row.asking), Events: row.last,
	}}
	if row.finished.Valid {
		r.Finished = time.UnixMicro(row.finished.Int64)
	}
	if err := errors.Join(json.Unmarshal([]byte(row.labels), &r.Labels), json.Unmarshal([]byte(row.calls), &r.Calls)); err != nil {
		return r, record.Broken(fmt.Sprintf("the row of the run %q", r.Run), err)
	}
	if row.pid.Valid && (s.held(r.id) || row.alive()) {
		r.Holder = &journal.Holder{PID: int(row.pid.Int64), Host: row.host.String, Since: time.UnixMicro(row.since.Int64)}
	}
	if r.Holder == nil {
		return r, s.left(row, r.Summary)
	}
	return r, nil
}

// left completes the summary of a run that no process holds. It returns an error if its last events
// are missing.
func (s *Store) left(row *runRow, r *journal.Summary) error {
	r.Left(row.pid.Valid)
	if row.finished.Valid && !row.pid.Valid {
		return nil
	}
	noted, err := s.noted(row.id)
	if err == nil && noted != nil && noted.Last > row.last && !s.hasNow(row.id, noted.Last) {
		err = record.Broken(fmt.Sprintf("event %d of the run %q", row.last+1, row.name), fmt.Errorf("%d events were written", noted.Last))
	}
	return err
}

// hasNow reports whether a run has an event with this number by now: it may have gone on since its
// row was read.
func (s *Store) hasNow(id, seq int64) bool {
	var n int
	err := s.readers.QueryRow("SELECT count(*) FROM events WHERE id = ?", record.EventID(id, seq)).Scan(&n)
	return err == nil && n > 0
}

// pageSize limits the number of rows of events that are read at once, so that no transaction stays
// open while the caller handles them.
const pageSize = 128

// Events implements journal.Store.
func (s *Store) Events(ctx context.Context, run string, from int64, follow bool) iter.Seq2[*journal.Entry, error] {
	return func(yield func(*journal.Entry, error) bool) {
		id, err := s.find(ctx, s.readers, run)
		if err == nil && follow {
			s.watch.Join()
			defer s.watch.Leave()
		}
		if err == nil {
			err = s.verifyNow(ctx, id)
		}
		if err != nil {
			if ctx.Err() == nil {
				yield(nil, s.fault(err))
			}
			return
		}
		events := record.Events{
			Run: id,
			Page: func(ctx context.Context, from int64) ([]*journal.Entry, error) {
				return readPage(ctx, s.readers, id, from)
			},
			Finished: func(ctx context.Context) (bool, error) { return s.finished(ctx, id) },
			Watch:    s.watch, Fault: s.fault,
		}
		events.From(ctx, from, follow)(yield)
	}
}

// finished reports whether a run has ended, so that no more events come unless it is resumed.
func (s *Store) finished(ctx context.Context, id int64) (bool, error) {
	var finished bool
	err := s.readers.QueryRowContext(ctx, "SELECT finished IS NOT NULL FROM runs WHERE id = ?", id).Scan(&finished)
	if errors.Is(err, sql.ErrNoRows) { // deleted meanwhile
		return true, nil
	}
	return finished, err
}

// readPage reads rows of events, beginning with the row of event number from.
func readPage(ctx context.Context, q querier, id, from int64) ([]*journal.Entry, error) {
	from = max(from, 0)
	rows, err := q.QueryContext(ctx, "SELECT id, body FROM events WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
		record.EventID(id, from), record.EventID(id+1, 0), pageSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []*journal.Entry
	for rows.Next() {
		var key int64
		var body []byte
		if err := rows.Scan(&key, &body); err != nil {
			return nil, err
		}
		entries := record.Entries(key, body)
		first := entries[0].Seq
		if key < record.EventID(id, from) || key >= record.EventID(id+1, 0) || len(page) > 0 && first < from || first < 1 { // a broken file may contain anything
			return nil, record.Broken("the order of the events", errors.New("they are not in it"))
		}
		if first < from {
			entries = entries[from-first:]
		}
		page = append(page, entries...)
		from = record.SeqOf(key) + 1
	}
	return page, rows.Err()
}
