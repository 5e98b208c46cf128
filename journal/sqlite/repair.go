package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"

	"github.com/plc-lang/plc/exec"
)

// Damage examines all runs of the store in a file. It returns what can be kept of each, the oldest
// first, and what is wrong with the store as a whole. It writes nothing. It returns an error if the
// store can't be read at all.
func Damage(ctx context.Context, path string) ([]*journal.Repair, []error, error) {
	s, faults, err := openBroken(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer s.closeFile() //nolint:errcheck // it was read
	all, more := s.damage(ctx, s.checkLog())
	return all, append(faults, more...), nil
}

// openBroken opens a store for reading, and returns what is wrong with it as faults.
func openBroken(ctx context.Context, path string) (*Store, []error, error) {
	s := &Store{opts: Options{ReadOnly: true, Busy: DefaultBusy}}
	var err error
	if s.path, err = filepath.Abs(path); err == nil {
		s.path, err = realPath(s.path)
	}
	if err != nil {
		return nil, nil, s.fault(err)
	}
	if err := s.prepareFile(); err != nil {
		return nil, nil, s.fault(err)
	}
	faults := []error{s.checkLog()}
	if s.readers, err = sql.Open("sqlite", s.source(false)); err != nil {
		return nil, nil, s.fault(err)
	}
	var found []error
	for _, err := range append(faults, s.checkSchema(ctx, s.readers)) {
		if err != nil {
			found = append(found, s.fault(err))
		}
	}
	return s, found, nil
}

// damage returns what can be kept of each run. If commits at the end of the log are lost, as
// logFault says, only runs that had completed are certain to be whole.
func (s *Store) damage(ctx context.Context, logFault error) ([]*journal.Repair, []error) {
	var faults []error
	if _, err := s.runs(ctx, journal.Filter{}); err != nil {
		faults = append(faults, s.fault(err))
	}
	rows, err := s.readers.QueryContext(ctx, "SELECT id, name FROM runs NOT INDEXED ORDER BY id")
	if err != nil {
		return nil, append(faults, s.fault(err))
	}
	defer rows.Close()
	var all []*journal.Repair
	for rows.Next() {
		r := &journal.Repair{}
		if err := rows.Scan(&r.Number, &r.Run); err != nil {
			faults = append(faults, s.fault(err))
			break
		}
		all = append(all, r)
	}
	if err := rows.Err(); err != nil {
		faults = append(faults, s.fault(err))
	}
	for _, t := range []struct {
		what, query string
		width       int
	}{
		{record.AnApproval, approvalRows, 6},
		{record.ADuration, "SELECT tool, number, length, sum FROM durations", 4},
		{record.ACancel, "SELECT run, reason, sum FROM cancels", 3},
	} {
		for _, err := range sealedRows(ctx, s.readers, t.what, t.width, t.query) {
			if err != nil {
				faults = append(faults, s.fault(err))
				break
			}
		}
	}
	return slices.DeleteFunc(all, func(r *journal.Repair) bool { return !s.damageOf(ctx, r, logFault) }), faults
}

// damageOf finds what can be kept of a run. It returns false if the row is not that of a run, but
// what is left of a run that is being deleted.
func (s *Store) damageOf(ctx context.Context, r *journal.Repair, logFault error) bool {
	values, err := scanValues(runWidth, s.readers.QueryRowContext(ctx, "SELECT "+runColumns+" FROM runs r WHERE r.id = ?", r.Number).Scan)
	if err == nil {
		err = record.CheckRow(fmt.Sprintf("the row of the run %q", r.Run), values)
	}
	var row runRow
	for i, to := range map[int]any{13: &row.status, 15: &row.last, 22: &row.head, 23: &row.given, 24: &row.asked} {
		if err == nil {
			err = record.Assign(to, values[i])
		}
	}
	row.id, row.name = r.Number, r.Run
	if err == nil && row.status == deleted {
		return false
	}
	if err == nil {
		err = s.checkParts(ctx, s.readers, &row)
	}
	if err == nil {
		_, err = s.given(ctx, r.Run)
	}
	if err != nil {
		r.Fault, r.Fatal = err, true
		return true
	}
	noted, err := s.noted(r.Number)
	c := newChain(r.Number, r.Run, row.links(noted))
	follow := c.follow(ctx, s.readers, func(int64, string, string, []byte) error { return nil })
	r.Kept, r.Fault = c.Last, errors.Join(err, follow)
	if r.Fault == nil && row.status != string(exec.Completed) {
		r.Fault = logFault
	}
	r.Whole = r.Fault == nil
	return true
}

// Salvage makes a new store in the file to from what can be kept of another. Of a damaged run it
// keeps a prefix of the events, with the status Cut: such a run can be inspected but not resumed,
// since what it did after that is not known. Undamaged approvals and durations are kept. Instances
// are computed from the events. Loops are not kept. Salvage returns a *HeldError if a process
// executes a run.
func Salvage(ctx context.Context, from, to string) ([]*journal.Repair, error) {
	if exists(to) {
		return nil, fmt.Errorf("journal: %s is there already; name a file that is not", to)
	}
	old, _, err := openBroken(ctx, from)
	if err != nil {
		return nil, err
	}
	defer old.closeFile() //nolint:errcheck // it was read
	all, _ := old.damage(ctx, old.checkLog())
	for _, r := range all {
		if err := old.underWay(ctx, r); err != nil {
			return nil, err
		}
	}
	s, err := Open(to, nil)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if !r.Fatal {
			err = errors.Join(err, s.salvage(ctx, old, r))
		}
	}
	return all, errors.Join(err, s.salvageApprovals(ctx, old), s.salvageDurations(ctx, old), s.Close())
}

// underWay returns a *HeldError if a process executes a run: if a copy were resumed, it would
// repeat what the run does from then on.
func (s *Store) underWay(ctx context.Context, r *journal.Repair) error {
	var row runRow
	err := s.readers.QueryRowContext(ctx, "SELECT pid, host, born FROM runs WHERE id = ?", r.Number).Scan(&row.pid, &row.host, &row.born)
	if err != nil || !s.held(r.Number) && !row.alive() {
		return nil // rows that can't be read are reported elsewhere
	}
	return s.heldError(ctx, s.readers, r.Run, r.Number)
}

// wholeRows returns those rows of a query that can be read and have the right sum in the last
// column.
func (s *Store) wholeRows(ctx context.Context, width int, query string) (all [][]any) {
	for values, err := range sealedRows(ctx, s.readers, "a row", width, query) {
		if err == nil {
			all = append(all, values)
		}
	}
	return all
}

// salvageApprovals copies the undamaged approvals. Approvals that were used stay used.
func (s *Store) salvageApprovals(ctx context.Context, old *Store) error {
	all := old.wholeRows(ctx, 6, approvalRows+" ORDER BY id")
	return s.write(ctx, func(tx *tx) error {
		for _, values := range all {
			if _, err := tx.exec("INSERT INTO approvals (id, digest, created, expires, run, sum) VALUES (?, ?, ?, ?, ?, ?)", values...); err != nil {
				return err
			}
		}
		return nil
	})
}

// salvageDurations replaces the durations that copying the runs has added by the undamaged ones of
// the other store.
func (s *Store) salvageDurations(ctx context.Context, old *Store) error {
	all := old.wholeRows(ctx, 4, "SELECT tool, number, length, sum FROM durations ORDER BY tool, number")
	return s.write(ctx, func(tx *tx) error {
		if _, err := tx.exec("DELETE FROM durations"); err != nil {
			return err
		}
		for _, values := range all {
			if _, err := tx.exec("INSERT INTO durations (tool, number, length, sum) VALUES (?, ?, ?, ?)", values...); err != nil {
				return err
			}
		}
		return nil
	})
}

// salvage copies what can be kept of a run.
func (s *Store) salvage(ctx context.Context, old *Store, r *journal.Repair) error {
	given, err := old.given(ctx, r.Run)
	if err != nil {
		return err
	}
	run, err := s.create(ctx, r.Run, given)
	if err != nil {
		return err
	}
	for from := int64(0); from <= r.Kept && err == nil; {
		var page []*journal.Entry
		page, err = readPage(ctx, old.readers, r.Number, from)
		if len(page) == 0 {
			break
		}
		for _, entry := range page {
			if from = entry.Seq + 1; entry.Seq > r.Kept {
				break
			}
			e := &exec.Event{}
			if err = json.Unmarshal(entry.Body, e); err == nil {
				run.Append(e)
			}
		}
	}
	if !r.Whole {
		run.Append(&exec.Event{
			Type: exec.RunFinished, Time: time.Now(), Run: r.Run, Status: journal.Cut,
			Reason: fmt.Sprintf("its record was damaged, and what it did after event %d is not known", r.Kept),
		})
	}
	return errors.Join(err, run.Close())
}
