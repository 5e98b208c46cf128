package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// The table approvals says which plans were approved for which runs, by their digests, and what
// runs have used that may be used once, by its name. Earlier versions also kept approvals there
// that no run had used: they count for nothing.

const approvalRows = "SELECT id, digest, created, expires, run, sum FROM approvals NOT INDEXED"

// Approve implements journal.Store.
func (s *Store) Approve(ctx context.Context, run string, digests ...string) error {
	return s.write(ctx, func(tx *tx) error {
		for _, digest := range digests {
			ok, err := approved(tx.ctx, tx.conn, run, digest)
			if err == nil && !ok {
				err = tx.addApproval(run, digest)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Approved implements journal.Store.
func (s *Store) Approved(ctx context.Context, run, digest string) (bool, error) {
	ok, err := approved(ctx, s.readers, run, digest)
	return ok, s.fault(err)
}

func approved(ctx context.Context, q querier, run, digest string) (bool, error) {
	values, err := scanValues(6, q.QueryRowContext(ctx, `SELECT id, digest, created, expires, run, sum FROM approvals
		WHERE digest = ? AND run = ? ORDER BY id LIMIT 1`, digest, run).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		err = record.CheckRow("an approval", values)
	}
	return err == nil, err
}

// Use implements journal.Store.
func (s *Store) Use(ctx context.Context, run, name string) error {
	return s.write(ctx, func(tx *tx) error {
		by, err := tx.usedBy(name)
		switch {
		case err != nil || by == run:
			return err
		case by != "":
			return &journal.UsedError{Name: name, Run: by}
		}
		return tx.addApproval(run, name)
	})
}

// usedBy returns the run that has used what has this name; "" is none. It looks at all rows,
// since one that is damaged may have been that of the name.
func (t *tx) usedBy(name string) (run string, err error) {
	for values, err := range sealedRows(t.ctx, t.conn, "an approval", 6, approvalRows) {
		if err != nil {
			return "", err
		}
		if by, ok := values[4].(string); ok && values[1] == any(name) {
			run = by
		}
	}
	return run, nil
}

// addApproval adds a row for a run, with its sum.
func (t *tx) addApproval(run, name string) error {
	created := record.Micros(time.Now())
	res, err := t.conn.ExecContext(t.ctx, "INSERT INTO approvals (digest, created, run) VALUES (?, ?, ?)", name, created, run)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err == nil {
		_, err = t.exec("UPDATE approvals SET sum = ? WHERE id = ?", record.SumRow(id, name, created, nil, run), id)
	}
	return err
}
