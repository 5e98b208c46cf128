package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// Collect implements journal.Store. A run whose deletion was interrupted is no longer visible, and
// the next Collect completes the deletion. The bytes that it reports are those of the events; the
// server reuses their space, and frees it when it likes (autovacuum).
func (s *Store) Collect(ctx context.Context, c *journal.Collect) (journal.Collected, error) {
	var done journal.Collected
	f := c.Filter
	f.Limit, f.From = 0, ""
	seen := map[int64]bool{}
	_, err := s.summaries(ctx, journal.Filter{Status: []exec.Status{deleted}}, func(id int64) { seen[id] = true })
	if err != nil {
		return done, err
	}
	runs, err := s.summaries(ctx, f, nil)
	if err != nil {
		return done, err
	}
	victims := map[int64]victim{}
	for id := range seen {
		victims[id] = victim{fmt.Sprintf("number %d", id), -1}
	}
	for i, r := range runs {
		if c.Takes(i, r.Summary) {
			victims[r.id] = victim{r.Run, r.Events}
		}
	}
	ids := make([]int64, 0, len(victims))
	for id := range victims {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		bytes, err := s.delete(ctx, id, victims[id])
		var held *journal.HeldError
		switch {
		case errors.As(err, &held), errors.Is(err, errWentOn):
			continue
		case err != nil:
			return done, err
		}
		done.Runs++
		done.Bytes += bytes
	}
	return done, nil
}

// victim is a run that is to be deleted.
type victim struct {
	name   string
	events int64 // when its deletion was decided; -1 if the deletion was interrupted
}

// errWentOn is the error if a run has gone on since its deletion was decided.
var errWentOn = errors.New("the run has gone on")

// delete deletes a run, and returns the size of its events in bytes. It returns a
// *journal.HeldError if a process holds the run, and errWentOn if the run has gone on.
func (s *Store) delete(ctx context.Context, id int64, victim victim) (bytes int64, err error) {
	var h *hold
	if err := s.write(ctx, s.opts.Busy, func(tx *tx) (err error) {
		if h, err = s.takeHold(tx, id, victim.name); err != nil {
			return err
		}
		v, err := tx.one("SELECT coalesce(max(id), 0) FROM events WHERE id >= $1 AND id < $2", record.EventID(id, 0), record.EventID(id+1, 0))
		if err != nil {
			return err
		}
		if victim.events >= 0 && record.SeqOf(v[0].(int64)) != victim.events {
			return errWentOn
		}
		if err := tx.add("UPDATE runs SET status = '"+deleted+"' WHERE id = $1", id); err != nil {
			return err
		}
		return tx.seal(id, false, false)
	}); err != nil {
		return 0, err
	}
	for more := true; more; {
		n, size := int64(0), int64(0)
		if err := s.write(ctx, s.opts.Busy, func(tx *tx) error {
			if err := h.mustHold(tx); err != nil {
				return err
			}
			v, err := tx.one(`WITH gone AS (DELETE FROM events WHERE id IN (SELECT id FROM events WHERE id >= $1 AND id < $2 LIMIT 2000) RETURNING octet_length(body) AS size)
				SELECT count(*), coalesce(sum(size), 0)::bigint FROM gone`, record.EventID(id, 0), record.EventID(id+1, 0))
			if err == nil {
				n, size = v[0].(int64), v[1].(int64)
			}
			return err
		}); err != nil {
			return bytes, err
		}
		bytes, more = bytes+size, n == 2000
	}
	return bytes, s.write(ctx, s.opts.Busy, func(tx *tx) error { return tx.deleteRun(h) })
}

// deleteRun deletes everything of a run except its events.
func (t *tx) deleteRun(h *hold) error {
	newest, err := storeRow(t.ctx, t, forUpdate)
	if err != nil {
		return err
	}
	if err := h.mustHold(t); err != nil {
		return err
	}
	if err := t.unlink(h.id, newest); err != nil {
		return err
	}
	for _, query := range []string{
		"DELETE FROM questions WHERE run = $1",
		"DELETE FROM cancels WHERE run = $1",
		`DELETE FROM texts WHERE digest IN (SELECT digest FROM given WHERE run = $1)
			AND NOT EXISTS (SELECT 1 FROM given WHERE given.digest = texts.digest AND run <> $1)`,
		"DELETE FROM given WHERE run = $1",
		"DELETE FROM runs WHERE id = $1",
		"DELETE FROM holds WHERE id = $1",
	} {
		if err := t.add(query, h.id); err != nil {
			return err
		}
	}
	return nil
}

// unlink removes a run from the chain of runs.
func (t *tx) unlink(id, newest int64) error {
	v, err := t.one("SELECT prev, (SELECT id FROM runs n WHERE n.id > $1 ORDER BY n.id LIMIT 1) FROM runs WHERE id = $1", id)
	switch {
	case err != nil:
		return err
	case v == nil:
		return record.Broken(fmt.Sprintf("the run number %d", id), errors.New("it is not there"))
	case v[1] == nil && newest == id:
		return t.setNewest(v[0].(int64))
	case v[1] == nil:
		return record.Broken("the list of the runs", fmt.Errorf("number %d is missing", newest))
	}
	next := v[1].(int64)
	if err := t.add(lockRun, next); err != nil {
		return err
	}
	if _, err := row(t.ctx, t, next); err != nil {
		return err
	}
	if err := t.add("UPDATE runs SET prev = $2 WHERE id = $1", next, v[0]); err != nil {
		return err
	}
	return t.seal(next, false, false)
}
