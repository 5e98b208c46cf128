package postgres

import (
	"context"
	"crypto/sha256"
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

// insertTexts stores the texts of a run, numbered from first on. A text that another run was given
// is stored already. The transaction has locked the row of the store, so that nobody deletes that
// text.
func insertTexts(tx *tx, run, first int64, texts []journal.Text) error {
	for i, t := range texts {
		digest := t.Digest
		if t.Bytes != nil {
			digest = digestOf(t.Bytes)
			if err := tx.add("INSERT INTO texts (digest, body) VALUES ($1, $2) ON CONFLICT DO NOTHING", digest, t.Bytes); err != nil {
				return err
			}
		}
		if err := tx.add("INSERT INTO given (run, number, role, name, notation, digest) VALUES ($1, $2, $3, $4, $5, $6)",
			run, first+int64(i), string(t.Role), t.Name, t.Notation, digest); err != nil {
			return err
		}
	}
	return nil
}

// Given implements journal.Store.
func (s *Store) Given(ctx context.Context, run string) (g *journal.Given, err error) {
	err = s.read(ctx, func(q querier) (err error) {
		id, err := find(ctx, q, run)
		if err == nil {
			g, err = given(ctx, q, id)
		}
		return err
	})
	return g, err
}

func given(ctx context.Context, q querier, id int64) (*journal.Given, error) {
	r, err := row(ctx, q, id)
	if err == nil {
		err = checkParts(ctx, q, r)
	}
	if err != nil {
		return nil, err
	}
	g := &journal.Given{Program: r.program, Created: time.UnixMicro(r.created)}
	if err := errors.Join(json.Unmarshal([]byte(r.settings), &g.Settings), json.Unmarshal([]byte(r.labels), &g.Labels)); err != nil {
		return nil, record.Broken(fmt.Sprintf("the row of the run %q", r.name), err)
	}
	if r.parent.Valid {
		g.Fork = &journal.Forked{Run: r.parent.String, At: r.at.String, Instance: r.instance.String}
		if err := json.Unmarshal([]byte(r.sets.String), &g.Fork.Set); err != nil {
			return nil, record.Broken(fmt.Sprintf("the row of the run %q", r.name), err)
		}
	}
	_, err = q.run(ctx, func(v []any) error { return addText(g, v) },
		"SELECT role, name, notation, digest, body FROM given LEFT JOIN texts USING (digest) WHERE run = $1 ORDER BY number", id)
	return g, err
}

// addText adds a text, from its columns role, name, notation, digest and body.
func addText(g *journal.Given, v []any) error {
	var t journal.Text
	var role string
	for i, to := range []any{&role, &t.Name, &t.Notation, &t.Digest} {
		if err := record.Assign(to, v[i]); err != nil {
			return err
		}
	}
	t.Role = journal.Role(role)
	if body, kept := v[4].(string); kept {
		t.Bytes = append([]byte{}, body...)
		if digestOf(t.Bytes) != t.Digest {
			return record.Broken(fmt.Sprintf("the text %q", t.Name), errors.New("its digest is another"))
		}
	}
	if t.Role != journal.Plan {
		g.Texts = append(g.Texts, t)
		return nil
	}
	if g.Plan.Role != "" {
		g.Revision++
	}
	g.Plan = t
	return nil
}
