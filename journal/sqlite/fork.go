package sqlite

import (
	"context"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// Fork implements journal.Store.
func (s *Store) Fork(ctx context.Context, run string, f *journal.Fork) (journal.Run, error) {
	r, err := s.fork(ctx, run, f)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s *Store) fork(ctx context.Context, run string, f *journal.Fork) (*Run, error) {
	given, err := s.Given(ctx, f.Run)
	if err != nil {
		return nil, err
	}
	given = f.Given(given)
	var r *Run
	var held *lock
	err = s.write(ctx, func(tx *tx) error {
		from, err := s.find(tx.ctx, tx.conn, f.Run)
		if err != nil {
			return err
		}
		noted, err := s.noted(from)
		if err != nil {
			return err
		}
		if _, err := s.verify(tx.ctx, tx.conn, from, noted); err != nil {
			return err
		}
		row, err := s.row(tx.ctx, tx.conn, from)
		if err != nil {
			return err
		}
		sum, err := s.summaryOf(row)
		if err == nil {
			err = f.Checked(sum.Summary)
		}
		if err != nil {
			return err
		}
		r, held, err = s.makeFork(tx, run, given, f)
		if err != nil {
			return err
		}
		return tx.copyEvents(r, from, f)
	})
	if err != nil {
		held.drop()
		return nil, err
	}
	return s.enlist(r)
}

// makeFork makes the rows of a fork and of what it was given, and holds it.
func (s *Store) makeFork(tx *tx, run string, g *journal.Given, f *journal.Fork) (*Run, *lock, error) {
	id, err := insertRun(tx, run, g, &journal.Forked{Run: f.Run, Instance: f.Instance, At: f.At, Set: f.Set})
	if err != nil {
		return nil, nil, err
	}
	if err := insertTexts(tx, id, g.AllTexts()); err != nil {
		return nil, nil, err
	}
	if err := tx.sealGiven(id); err != nil {
		return nil, nil, err
	}
	held, err := s.holdNew(tx, id)
	if err != nil {
		return nil, nil, err
	}
	return s.newRun(id, run, held), held, nil
}

// copyEvents copies the events of the forked run that the fork keeps.
func (t *tx) copyEvents(r *Run, from int64, f *journal.Fork) error {
	p := record.NewPart(&r.Held)
	for next := int64(0); ; {
		page, err := readPage(t.ctx, t.conn, from, next)
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
		if err := r.store.writePart(t, p); err != nil {
			return err
		}
		p.Next()
	}
	r.Tally.Fork()
	r.Took(p)
	r.lock.note(record.Link{})
	return nil
}
