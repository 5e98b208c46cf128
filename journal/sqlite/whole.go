package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// verifyNow checks everything that the store has of a run, which a process may hold.
func (s *Store) verifyNow(ctx context.Context, id int64) error {
	noted, err := s.noted(id) // first, since events are only added
	if err != nil {
		return err
	}
	err = s.snapshot(ctx, func(q querier) error {
		_, err := s.verify(ctx, q, id, noted)
		return err
	})
	var cut *journal.CutError
	if errors.As(err, &cut) { // such a run may be inspected
		return nil
	}
	return err
}

// snapshot calls f with a snapshot of the store, so that no write comes between reading a sum and
// what it covers.
func (s *Store) snapshot(ctx context.Context, f func(q querier) error) error {
	tx, err := s.readers.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it reads
	return f(tx)
}

// storeRow returns the row of the store.
func storeRow(ctx context.Context, q querier) (path string, newest int64, err error) {
	values, err := scanValues(3, q.QueryRowContext(ctx, "SELECT path, newest, sum FROM store").Scan)
	if err == nil {
		err = record.CheckRow("the row of the store", values)
	}
	if err == nil {
		err = errors.Join(record.Assign(&path, values[0]), record.Assign(&newest, values[1]))
	}
	return path, newest, err
}

// newest returns the newest run.
func (t *tx) newest() (int64, error) {
	_, newest, err := storeRow(t.ctx, t.conn)
	return newest, err
}

func (t *tx) setNewest(id int64) error {
	path, _, err := storeRow(t.ctx, t.conn)
	if err == nil {
		_, err = t.exec("UPDATE store SET newest = ?, sum = ?", id, record.SumRow(path, id))
	}
	return err
}

// unlink removes a run from the chain of runs.
func (t *tx) unlink(id int64) error {
	var prev int64
	err := t.conn.QueryRowContext(t.ctx, "SELECT prev FROM runs WHERE id = ?", id).Scan(&prev)
	if err != nil {
		return err
	}
	next, err := t.ids("SELECT id FROM runs WHERE id > ? ORDER BY id LIMIT 1", id)
	switch {
	case err != nil:
		return err
	case len(next) == 0:
		return t.setNewest(prev)
	}
	values, err := scanValues(runWidth, t.conn.QueryRowContext(t.ctx, "SELECT "+runColumns+" FROM runs r WHERE id = ?", next[0]).Scan)
	if err == nil {
		err = record.CheckRow(fmt.Sprintf("the row of the run number %d", next[0]), values)
	}
	if err != nil {
		return err
	}
	if _, err := t.exec("UPDATE runs SET prev = ? WHERE id = ?", prev, next[0]); err != nil {
		return err
	}
	return t.sealRow(next[0])
}

// checkLocked checks that no run is missing that a process holds, or held when it was killed.
func (s *Store) checkLocked(ctx context.Context) error {
	locked, err := s.lockedRuns()
	if err != nil {
		return err
	}
	for _, id := range locked {
		noted, err := s.noted(id)
		if err != nil {
			return err
		}
		var there int
		if err := s.readers.QueryRowContext(ctx, "SELECT count(*) FROM runs WHERE id = ?", id).Scan(&there); err != nil {
			return err
		}
		if noted != nil && there == 0 {
			return record.Broken("the list of the runs", fmt.Errorf("number %d is missing, which a process held", id))
		}
	}
	return nil
}

// lockedRuns returns the runs that have lock files, even if no process holds them.
func (s *Store) lockedRuns() (locked []int64, err error) {
	names, err := os.ReadDir(s.path + ".locks")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	for _, name := range names {
		if id, err := strconv.ParseInt(name.Name(), 10, 64); err == nil {
			locked = append(locked, id)
		}
	}
	return locked, err
}

// realPath returns the path of a file without symbolic links, as far as its parts exist.
func realPath(path string) (string, error) {
	for range 40 {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return real, nil
		}
		if !errors.Is(err, fs.ErrNotExist) { // opening it will return the error
			return path, nil
		}
		to, err := os.Readlink(path) // a link to nothing
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path, nil
	}
	dir, err := realPath(dir)
	return filepath.Join(dir, filepath.Base(path)), err
}

// checkName returns an error for a file with several names that is opened under another name than
// the one under which it was made: for each name there is another write-ahead log, and other locks,
// which users of another name do not see.
func (s *Store) checkName(ctx context.Context, q querier) error {
	path, _, err := storeRow(ctx, q)
	if err != nil || path == s.path {
		return err
	}
	if hasOtherNames(s.path) {
		return &journal.Error{Path: s.path, Fault: journal.Aliased, Err: fmt.Errorf("it is %s", path)}
	}
	if !exists(path) && exists(path+"-wal") { // the file was moved while it was in use
		return &journal.Error{Path: s.path, Fault: journal.Moved, Err: fmt.Errorf("it was %s", path)}
	}
	if s.opts.ReadOnly {
		return nil
	}
	return s.write(ctx, func(tx *tx) error { // the file was moved, or copied
		newest, err := tx.newest()
		if err == nil {
			_, err = tx.exec("UPDATE store SET path = ?, sum = ?", s.path, record.SumRow(s.path, newest))
		}
		return err
	})
}
