package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// ApprovalError says why an approval of a whole plan can't be used.
type ApprovalError struct {
	Digest  string
	Used    string    // by this run; "" if it was not
	Expired time.Time // zero if it was not
}

func (e *ApprovalError) Error() string {
	switch {
	case e.Used != "":
		return fmt.Sprintf("journal: the approval of %s was used by the run %q; approve it again", e.Digest, e.Used)
	case !e.Expired.IsZero():
		return fmt.Sprintf("journal: the approval of %s has expired at %s; approve it again", e.Digest, e.Expired.Format(time.RFC3339))
	}
	return fmt.Sprintf("journal: there is no approval of %s; approve it first", e.Digest)
}

// Approve approves a plan as a whole, by the digest of what was shown, for one run that
// begins before it expires; the zero time is never.
func (s *Store) Approve(digest string, expires time.Time) error {
	var until any
	if !expires.IsZero() {
		until = micros(expires)
	}
	return s.write(context.Background(), func(tx *tx) error {
		_, err := tx.exec("INSERT INTO approvals (digest, created, expires) VALUES (?, ?, ?)", digest, micros(time.Now()), until)
		return err
	})
}

// UseApproval uses an approval up for a run: of several that ask at once, one gets it. A run
// that has used one gets it again. The error is an *ApprovalError when there is none.
func (s *Store) UseApproval(digest, run string) error {
	return s.write(context.Background(), func(tx *tx) error {
		n, err := tx.exec(`UPDATE approvals SET run = ?1 WHERE id = (
			SELECT id FROM approvals WHERE digest = ?2 AND (run = ?1 OR run IS NULL AND (expires IS NULL OR expires > ?3))
			ORDER BY run IS NULL, id LIMIT 1)`, run, digest, micros(time.Now()))
		if err != nil || n > 0 {
			return err
		}
		return tx.noApproval(digest)
	})
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
	e := &ApprovalError{Digest: digest, Used: used.String}
	if expires.Valid && !used.Valid {
		e.Expired = time.UnixMicro(expires.Int64)
	}
	return e
}
