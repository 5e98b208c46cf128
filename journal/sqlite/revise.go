package sqlite

import (
	"context"

	"github.com/plc-lang/plc/journal"

	"github.com/plc-lang/plc/exec"
)

// Revise implements journal.Run.
func (r *Run) Revise(ctx context.Context, g *journal.Given) error {
	return r.store.write(ctx, func(tx *tx) error {
		var last int
		err := tx.conn.QueryRowContext(tx.ctx, "SELECT coalesce(max(number), -1) FROM given WHERE run = ?", r.Number).Scan(&last)
		if err != nil {
			return err
		}
		if err := insertTextsFrom(tx, r.Number, last+1, g.AllTexts()); err != nil {
			return err
		}
		if _, err := tx.exec("UPDATE runs SET plan = ?, program = ? WHERE id = ?", g.Plan.Name, g.Program, r.Number); err != nil {
			return err
		}
		return tx.sealGiven(r.Number)
	})
}

// reader is an exec.Record for reading a run.
type reader struct {
	store *Store
	id    int64
}

// Reader implements journal.Store.
func (s *Store) Reader(ctx context.Context, run string) (exec.Record, error) {
	id, err := s.find(ctx, s.readers, run)
	if err == nil {
		err = s.verifyNow(ctx, id)
	}
	if err != nil {
		return nil, s.fault(err)
	}
	return &reader{s, id}, nil
}

// Append implements exec.Record. It keeps nothing.
func (r *reader) Append(*exec.Event) int64 { return 0 }

// Sync implements exec.Record.
func (r *reader) Sync(int64) error { return nil }

// Past implements exec.Record.
func (r *reader) Past(instance string) (map[string]*exec.Past, error) {
	p, err := r.store.past(context.Background(), r.id, instance)
	return p, r.store.fault(err)
}
