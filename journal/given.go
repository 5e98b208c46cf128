package journal

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Given is what a run was given. It must hold no secret: of a tool file, its text as it was
// written, with references to secrets and not their values (execution §5).
type Given struct {
	Plan    Text
	Texts   []Text            // everything else, in the order in which it counts
	Program string            // the digest of the compiled program
	Flags   map[string]string // that change what the run means
	Labels  map[string]string // for people
	Created time.Time         // zero is now
	Fork    *Forked           // nil for a run that is not one; Create takes no notice of it

	// Revision says how often the plan was replaced: Plan is the last one. Create takes no
	// notice of it; see Run.Revise.
	Revision int
}

// Text is a file or a value that a run was given.
type Text struct {
	Role     Role
	Name     string // of the file; of a value, its kind
	Notation string // of a plan or a document: what --from says
	// Digest is the SHA-256 of Bytes, in hexadecimal; it is made of them unless they
	// are nil: then it is all that is kept.
	Digest string
	Bytes  []byte
}

// Role is what a text is for.
type Role string

// The roles.
const (
	Plan     Role = "plan"
	Document Role = "document" // that a call delegates to
	Tools    Role = "tools"
	Input    Role = "input"
	State    Role = "state"
	Schema   Role = "schema"

	Instances Role = "instances" // by their digest, when they are too many to be kept
)

// Forked is where a fork begins.
type Forked struct {
	Run      string // that it is a fork of
	Instance string // of the call
	At       string // the path of the call that is the first to be run again
	Set      map[string]json.RawMessage
}

// texts are all texts, the plan first.
func (g *Given) texts() []Text {
	all := append([]Text{g.Plan}, g.Texts...)
	all[0].Role = Plan
	return all
}

// digestOf is the digest of a text.
func digestOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// insertTexts keeps the texts of a run; a text that some run was given before is there
// already.
func insertTexts(tx *tx, run int64, texts []Text) error { return insertTextsFrom(tx, run, 0, texts) }

// insertTextsFrom gives the texts numbers from first on.
func insertTextsFrom(tx *tx, run int64, first int, texts []Text) error {
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

// Given is what a run was given.
func (s *Store) Given(run string) (*Given, error) {
	g, err := s.given(context.Background(), run)
	if err != nil {
		return nil, s.fault(err)
	}
	return g, nil
}

func (s *Store) given(ctx context.Context, run string) (*Given, error) {
	id, err := s.find(ctx, s.readers, run)
	if err != nil {
		return nil, err
	}
	g, err := s.givenRow(ctx, run, id)
	if err != nil {
		return nil, err
	}
	rows, err := s.readers.QueryContext(ctx, `SELECT role, name, notation, digest, body FROM given
		LEFT JOIN texts USING (digest) WHERE run = ? ORDER BY number`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t Text
		if err := rows.Scan(&t.Role, &t.Name, &t.Notation, &t.Digest, &t.Bytes); err != nil {
			return nil, err
		}
		if t.Bytes != nil && digestOf(t.Bytes) != t.Digest {
			return nil, undecodable(fmt.Sprintf("the text %q", t.Name), errors.New("its digest is another"))
		}
		if t.Role == Plan {
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

// givenRow is what the row of a run has of it.
func (s *Store) givenRow(ctx context.Context, run string, id int64) (*Given, error) {
	g := &Given{}
	var flags, labels string
	var parent, at, instance, sets sql.NullString
	var created int64
	err := s.readers.QueryRowContext(ctx, "SELECT program, flags, labels, parent, at, instance, sets, created FROM runs WHERE id = ?", id).
		Scan(&g.Program, &flags, &labels, &parent, &at, &instance, &sets, &created)
	if err != nil {
		return nil, err
	}
	g.Created = time.UnixMicro(created)
	if err := errors.Join(json.Unmarshal([]byte(flags), &g.Flags), json.Unmarshal([]byte(labels), &g.Labels)); err != nil {
		return nil, undecodable(fmt.Sprintf("the row of the run %q", run), err)
	}
	if parent.Valid {
		g.Fork = &Forked{Run: parent.String, At: at.String, Instance: instance.String}
		if err := json.Unmarshal([]byte(sets.String), &g.Fork.Set); err != nil {
			return nil, undecodable(fmt.Sprintf("the row of the run %q", run), err)
		}
	}
	return g, nil
}
