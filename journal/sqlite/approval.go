package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// The table approvals holds, by digest, which plans were approved for which runs and, by name,
// which runs have used something that may be used once. Earlier versions also kept approvals that
// no run had used; these are ignored.

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

// usedBy returns the run that has used a name; "" if none has. It reads all rows, since a damaged
// row may be the one with the name.
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
