package journal

import (
	"context"

	"github.com/plc-lang/plc/exec"
)

// Revise replaces the plan of the run by g.Plan, for those who resume it from now on; what
// was given before is kept. Of g, the plan, the texts that come with it and the digest of the
// program count. It is on disk when Revise returns.
func (r *Run) Revise(g *Given) error {
	return r.store.write(context.Background(), func(tx *tx) error {
		var last int
		err := tx.conn.QueryRowContext(tx.ctx, "SELECT coalesce(max(number), -1) FROM given WHERE run = ?", r.id).Scan(&last)
		if err != nil {
			return err
		}
		if err := insertTextsFrom(tx, r.id, last+1, g.texts()); err != nil {
			return err
		}
		_, err = tx.exec("UPDATE runs SET plan = ?, program = ? WHERE id = ?", g.Plan.Name, g.Program, r.id)
		return err
	})
}

// Reader is an exec.Record of a run that is only read, by whoever looks at it or replays it,
// while another process may hold it. Past is what it was when it is asked for.
type Reader struct {
	store *Store
	id    int64
}

// Reader is a reader of a run. The error is a *MissingError when the store has not the run.
func (s *Store) Reader(run string) (*Reader, error) {
	id, err := s.find(context.Background(), s.readers, run)
	if err != nil {
		return nil, s.fault(err)
	}
	return &Reader{s, id}, nil
}

// Append implements exec.Record: it keeps nothing.
func (r *Reader) Append(*exec.Event) int64 { return 0 }

// Sync implements exec.Record.
func (r *Reader) Sync(int64) error { return nil }

// Past implements exec.Record.
func (r *Reader) Past(instance string) (map[string]*exec.Past, error) {
	p, err := r.store.past(context.Background(), r.id, instance)
	return p, r.store.fault(err)
}
