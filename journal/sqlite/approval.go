package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// Approve implements journal.Store.
func (s *Store) Approve(ctx context.Context, digest string, expires time.Time) error {
	var until any
	if !expires.IsZero() {
		until = record.Micros(expires)
	}
	return s.write(ctx, func(tx *tx) error {
		res, err := tx.conn.ExecContext(tx.ctx, "INSERT INTO approvals (digest, created, expires) VALUES (?, ?, ?)", digest, record.Micros(time.Now()), until)
		if err != nil {
			return err
		}
		id, err := res.LastInsertId()
		if err != nil {
			return err
		}
		return tx.sealApproval(id)
	})
}

// UseApproval implements journal.Store.
func (s *Store) UseApproval(ctx context.Context, digest, run string) error {
	return s.write(ctx, func(tx *tx) error {
		values, err := scanValues(6, tx.conn.QueryRowContext(tx.ctx, `SELECT id, digest, created, expires, run, sum FROM approvals
			WHERE digest = ?2 AND (run = ?1 OR run IS NULL AND (expires IS NULL OR expires > ?3))
			ORDER BY run IS NULL, id LIMIT 1`, run, digest, record.Micros(time.Now())).Scan)
		if errors.Is(err, sql.ErrNoRows) {
			return tx.noApproval(digest)
		}
		if err == nil {
			err = record.CheckRow("an approval", values)
		}
		var id int64
		if err == nil {
			err = record.Assign(&id, values[0])
		}
		if err == nil {
			_, err = tx.exec("UPDATE approvals SET run = ? WHERE id = ?", run, id)
		}
		if err != nil {
			return err
		}
		return tx.sealApproval(id)
	})
}

// sealApproval makes the sum of an approval.
func (t *tx) sealApproval(id int64) error {
	values, err := scanValues(5, t.conn.QueryRowContext(t.ctx, "SELECT id, digest, created, expires, run FROM approvals WHERE id = ?", id).Scan)
	if err == nil {
		_, err = t.exec("UPDATE approvals SET sum = ? WHERE id = ?", record.SumRow(values...), id)
	}
	return err
}

// noApproval says why no approval of a digest can be used: what became of the last.
func (t *tx) noApproval(digest string) error {
	var used sql.NullString
	var expires sql.NullInt64
	err := t.conn.QueryRowContext(t.ctx, "SELECT run, expires FROM approvals WHERE digest = ? ORDER BY id DESC LIMIT 1", digest).
		Scan(&used, &expires)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	e := &journal.ApprovalError{Digest: digest, Used: used.String}
	if expires.Valid && !used.Valid {
		e.Expired = time.UnixMicro(expires.Int64)
	}
	return e
}
