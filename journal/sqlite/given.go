package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// digestOf returns the digest of a text.
func digestOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// insertTexts stores the texts of a run. A text that another run was given is stored already.
func insertTexts(tx *tx, run int64, texts []journal.Text) error {
	return insertTextsFrom(tx, run, 0, texts)
}

// insertTextsFrom stores texts of a run, numbered from first on.
func insertTextsFrom(tx *tx, run int64, first int, texts []journal.Text) error {
	for i, t := range texts {
		digest := t.Digest
		if t.Bytes != nil {
			digest = digestOf(t.Bytes)
			if _, err := tx.exec("INSERT OR IGNORE INTO texts (digest, body) VALUES (?, ?)", digest, t.Bytes); err != nil {
				return err
			}
		}
		_, err := tx.exec("INSERT INTO given (run, number, role, name, notation, digest) VALUES (?, ?, ?, ?, ?, ?)",
			run, first+i, string(t.Role), t.Name, t.Notation, digest)
		if err != nil {
			return err
		}
	}
	return nil
}

// Given implements journal.Store.
func (s *Store) Given(ctx context.Context, run string) (*journal.Given, error) {
	g, err := s.given(ctx, run)
	if err != nil {
		return nil, s.fault(err)
	}
	return g, nil
}

func (s *Store) given(ctx context.Context, run string) (*journal.Given, error) {
	id, err := s.find(ctx, s.readers, run)
	if err != nil {
		return nil, err
	}
	if err := s.snapshot(ctx, func(q querier) error { return s.checkQuestions(ctx, q, id) }); err != nil {
		return nil, err
	}
	g, err := s.givenRow(ctx, run, id)
	if err != nil {
		return nil, err
	}
	rows, err := s.readers.QueryContext(ctx, `SELECT role, name, notation, digest, body, body IS NOT NULL FROM given
		LEFT JOIN texts USING (digest) WHERE run = ? ORDER BY number`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t journal.Text
		var kept bool
		if err := rows.Scan(&t.Role, &t.Name, &t.Notation, &t.Digest, &t.Bytes, &kept); err != nil {
			return nil, err
		}
		if kept && t.Bytes == nil { // the driver returns nil for an empty text
			t.Bytes = []byte{}
		}
		if t.Bytes != nil && digestOf(t.Bytes) != t.Digest {
			return nil, record.Broken(fmt.Sprintf("the text %q", t.Name), errors.New("its digest is another"))
		}
		if t.Role == journal.Plan {
			if g.Plan.Role != "" {
				g.Revision++
			}
			g.Plan = t
		} else {
			g.Texts = append(g.Texts, t)
		}
	}
	return g, rows.Err()
}

// givenRow returns the parts of what a run was given that are in the row of the run.
func (s *Store) givenRow(ctx context.Context, run string, id int64) (*journal.Given, error) {
	g := &journal.Given{}
	var settings, labels string
	var parent, at, instance, sets sql.NullString
	var created int64
	err := s.readers.QueryRowContext(ctx, "SELECT program, flags, labels, parent, at, instance, sets, created FROM runs WHERE id = ?", id).
		Scan(&g.Program, &settings, &labels, &parent, &at, &instance, &sets, &created)
	if err != nil {
		return nil, err
	}
	g.Created = time.UnixMicro(created)
	if err := errors.Join(json.Unmarshal([]byte(settings), &g.Settings), json.Unmarshal([]byte(labels), &g.Labels)); err != nil {
		return nil, record.Broken(fmt.Sprintf("the row of the run %q", run), err)
	}
	if parent.Valid {
		g.Fork = &journal.Forked{Run: parent.String, At: at.String, Instance: instance.String}
		if err := json.Unmarshal([]byte(sets.String), &g.Fork.Set); err != nil {
			return nil, record.Broken(fmt.Sprintf("the row of the run %q", run), err)
		}
	}
	return g, nil
}
