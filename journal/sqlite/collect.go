package sqlite

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// Collect implements journal.Store, and makes the file smaller. A run whose deletion was
// interrupted is no longer visible, and the next Collect completes the deletion. Other processes
// may read and write meanwhile, but must wait at the end, while the file is rewritten, which takes
// as much space again.
func (s *Store) Collect(ctx context.Context, c *journal.Collect) (journal.Collected, error) {
	var done journal.Collected
	before, err := s.size(ctx)
	if err != nil {
		return done, s.fault(err)
	}
	victims, err := s.victims(ctx, c)
	if err != nil {
		return done, s.fault(err)
	}
	for _, v := range victims {
		ok, err := s.delete(ctx, v)
		if err != nil {
			return done, err
		}
		if ok {
			done.Runs++
		}
	}
	if err := s.compact(ctx); err != nil {
		return done, err
	}
	after, err := s.size(ctx)
	done.Bytes = max(0, before-after)
	return done, s.fault(err)
}

// victim is a run that is to be deleted.
type victim struct {
	id     int64
	events int64 // when its deletion was decided; -1 if the deletion was interrupted
}

// victims returns the runs to delete, and those whose deletion was interrupted.
func (s *Store) victims(ctx context.Context, c *journal.Collect) (all []victim, err error) {
	f := c.Filter
	f.Limit, f.From = 0, ""
	runs, err := s.summaries(ctx, f, func(id int64) { all = append(all, victim{id, -1}) })
	if err != nil {
		return nil, err
	}
	for i, r := range runs {
		if c.Takes(i, r.Summary) {
			all = append(all, victim{r.id, r.Events})
		}
	}
	slices.SortFunc(all, func(a, b victim) int { return cmp.Compare(a.id, b.id) })
	return all, err
}

// errWentOn is the error if a run has gone on since its deletion was decided.
var errWentOn = errors.New("the run has gone on")

// delete deletes a run, unless a process holds it or it has gone on.
func (s *Store) delete(ctx context.Context, v victim) (bool, error) {
	id := v.id
	held, err := s.lock(id)
	if errors.Is(err, errHeld) {
		return false, nil
	}
	if err != nil {
		return false, s.fault(err)
	}
	defer held.free()
	err = s.write(ctx, func(tx *tx) error {
		var last int64
		err := tx.conn.QueryRowContext(tx.ctx, "SELECT coalesce(max(id), 0) FROM events WHERE id >= ? AND id < ?", record.EventID(id, 0), record.EventID(id+1, 0)).Scan(&last)
		if err == nil && v.events >= 0 && record.SeqOf(last) != v.events {
			err = errWentOn
		}
		if err == nil {
			_, err = tx.exec("UPDATE runs SET status = ? WHERE id = ?", deleted, id)
		}
		if err != nil {
			return err
		}
		return tx.sealRow(id)
	})
	if errors.Is(err, errWentOn) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for more := true; more; {
		if more, err = s.deleteEvents(ctx, id); err != nil {
			return false, err
		}
	}
	return true, s.write(ctx, func(tx *tx) error { return tx.deleteRun(id) })
}

// deleteEvents deletes some events of a run, so that no other writer waits long. It reports whether
// there may be more.
func (s *Store) deleteEvents(ctx context.Context, id int64) (more bool, err error) {
	const most = 2000
	err = s.write(ctx, func(tx *tx) error {
		n, err := tx.exec("DELETE FROM events WHERE id IN (SELECT id FROM events WHERE id >= ? AND id < ? LIMIT ?)",
			record.EventID(id, 0), record.EventID(id+1, 0), most)
		more = n == most
		return err
	})
	return more, err
}

// deleteRun deletes everything of a run except its events.
func (t *tx) deleteRun(id int64) error {
	if err := t.unlink(id); err != nil {
		return err
	}
	for _, query := range []string{
		"DELETE FROM questions WHERE run = ?",
		"DELETE FROM instances WHERE run = ?",
		dropCancel,
		`DELETE FROM texts WHERE digest IN (SELECT digest FROM given WHERE run = ?1)
			AND NOT EXISTS (SELECT 1 FROM given WHERE given.digest = texts.digest AND run <> ?1)`,
		"DELETE FROM given WHERE run = ?",
		"DELETE FROM runs WHERE id = ?",
	} {
		if _, err := t.exec(query, id); err != nil {
			return err
		}
	}
	return nil
}

// compact rewrites the file without what was deleted.
func (s *Store) compact(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	return s.fault(s.retry(ctx, func() error {
		_, err := s.writer.conn.ExecContext(ctx, "VACUUM")
		if err == nil {
			_, err = s.writer.conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
		}
		return err
	}))
}

// size returns the size of the contents in bytes.
func (s *Store) size(ctx context.Context) (n int64, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").Scan(&n)
	return n, err
}
