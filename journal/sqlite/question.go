package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"

	"github.com/plc-lang/plc/exec"
)

// Questions implements journal.Store.
func (s *Store) Questions(ctx context.Context, run string) ([]*journal.Question, error) {
	all, err := s.questions(ctx, run)
	return all, s.fault(err)
}

func (s *Store) questions(ctx context.Context, run string) ([]*journal.Question, error) {
	id, err := s.find(ctx, s.readers, run)
	if err == nil {
		err = s.verifyNow(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	rows, err := s.readers.QueryContext(ctx, `SELECT events.id, body FROM questions q
		JOIN events ON events.id = (q.run << 32 | q.seq)
		WHERE q.run = ? AND closed = 0 AND answer IS NULL ORDER BY q.instance, q.path`, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []*journal.Question
	for rows.Next() {
		var id int64
		var body []byte
		if err := rows.Scan(&id, &body); err != nil {
			return nil, err
		}
		e, err := decode(id, body)
		if err != nil {
			return nil, err
		}
		all = append(all, journal.QuestionOf(run, e))
	}
	return all, rows.Err()
}

// checkQuestions checks the questions of a run, and what the run was given.
func (s *Store) checkQuestions(ctx context.Context, q querier, id int64) error {
	r, err := s.row(ctx, q, id)
	if err != nil {
		return err
	}
	return s.checkParts(ctx, q, r)
}

// Answer implements journal.Store.
func (s *Store) Answer(ctx context.Context, run, instance, path string, answer exec.Answer) error {
	body, err := record.Encode(answer)
	if err != nil {
		return fmt.Errorf("journal: the answer about %q is not JSON: %w", path, err)
	}
	var id int64
	err = s.write(ctx, func(tx *tx) (err error) {
		if id, err = s.find(tx.ctx, tx.conn, run); err != nil {
			return err
		}
		if err := s.checkQuestions(tx.ctx, tx.conn, id); err != nil {
			return err
		}
		if err := tx.answerable(id, &journal.AnswerError{Run: run, Instance: instance, Path: path}, answer.Digest); err != nil {
			return err
		}
		_, err = tx.exec("UPDATE questions SET answer = ? WHERE run = ? AND instance = ? AND path = ?", body, id, instance, path)
		if err != nil {
			return err
		}
		if err := tx.run(tx.asking, id); err != nil {
			return err
		}
		return tx.seal(id)
	})
	if err != nil {
		return err
	}
	s.watch.Tell(id)
	return nil
}

// answerable returns refusal, with its reason set, unless the question is open and is the one that
// was answered.
func (t *tx) answerable(run int64, refusal *journal.AnswerError, digest string) error {
	var asked string
	var answered, closed bool
	err := t.conn.QueryRowContext(t.ctx, "SELECT digest, answer IS NOT NULL, closed FROM questions WHERE run = ? AND instance = ? AND path = ?",
		run, refusal.Instance, refusal.Path).Scan(&asked, &answered, &closed)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return refusal
	case err != nil:
		return err
	case digest != "" && digest != asked:
		refusal.Refused = journal.Changed
		return refusal
	case answered:
		refusal.Refused = journal.Answered
		return refusal
	case closed:
		return refusal
	}
	return nil
}

// Answers implements journal.Run. It reads the file only while questions are open.
func (r *Run) Answers(ctx context.Context) iter.Seq2[*journal.Answer, error] {
	return r.Held.Answers(ctx, r.store.watch, r.answers)
}

// answers returns the answers that a run has not taken, as events.
func (t *tx) answers(run int64) ([]*exec.Event, error) {
	rows, err := t.conn.QueryContext(t.ctx, `SELECT events.id, body, answer FROM questions q
		JOIN events ON events.id = (q.run << 32 | q.seq)
		WHERE q.run = ? AND closed = 0 AND answer IS NOT NULL ORDER BY q.seq`, run)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []*exec.Event
	for rows.Next() {
		var id int64
		var body, answer []byte
		if err := rows.Scan(&id, &body, &answer); err != nil {
			return nil, err
		}
		asked, err := decode(id, body)
		if err != nil {
			return nil, err
		}
		a := &journal.Answer{}
		if err := json.Unmarshal(answer, &a.Answer); err != nil {
			return nil, record.Broken(fmt.Sprintf("the answer about %q", asked.Call), err)
		}
		all = append(all, a.Given(asked))
	}
	return all, rows.Err()
}

// Withdraw implements journal.Run.
func (r *Run) Withdraw(ctx context.Context, a *journal.Answer) error {
	err := r.store.write(ctx, func(tx *tx) error {
		_, err := tx.exec("UPDATE questions SET answer = NULL WHERE run = ? AND instance = ? AND path = ? AND closed = 0", r.Number, a.Instance, a.Path)
		if err != nil {
			return err
		}
		if err := tx.run(tx.asking, r.Number); err != nil {
			return err
		}
		return tx.seal(r.Number)
	})
	r.Withdrawn(record.Key{Instance: a.Instance, Path: a.Path})
	r.store.watch.Tell(r.Number)
	return err
}

// answers returns the answers that the run has not taken.
func (r *Run) answers(ctx context.Context) ([]record.PutAnswer, error) {
	rows, err := r.store.readers.QueryContext(ctx,
		"SELECT instance, path, seq, answer FROM questions WHERE run = ? AND closed = 0 AND answer IS NOT NULL ORDER BY seq", r.Number)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []record.PutAnswer
	for rows.Next() {
		var a record.PutAnswer
		if err := rows.Scan(&a.Instance, &a.Path, &a.Seq, &a.Body); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, rows.Err()
}
