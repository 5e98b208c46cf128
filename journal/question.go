package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/plc-lang/plc/exec"
)

// Question is a question of a run that is open: a call waits for a person.
type Question struct {
	Run      string
	Instance string
	Path     string // of the call
	Tool     string
	Kind     exec.QuestionKind
	Digest   string // of what is asked; an answer names it
	Params   json.RawMessage
	Reason   string
	Failure  *exec.Failure
	Asked    time.Time
}

// AnswerError says why an answer was not taken.
type AnswerError struct {
	Run, Instance, Path string
	Refused             Refused
}

// Refused is why an answer was not taken.
type Refused uint8

// The reasons.
const (
	NotAsked Refused = iota // no question is open
	Changed                 // what is asked is not what was answered
	Answered                // somebody has answered
)

func (e *AnswerError) Error() string {
	call := fmt.Sprintf("the call %q of the run %q", e.Path, e.Run)
	if e.Instance != "" {
		call += fmt.Sprintf(" (instance %q)", e.Instance)
	}
	switch e.Refused {
	case Changed:
		return "journal: what is asked about " + call + " is not what was answered; look at it again"
	case Answered:
		return "journal: " + call + " was answered already"
	}
	return "journal: " + call + " waits for no answer"
}

// Questions are the open questions of a run, by instance and path: calls that are ready
// together are asked about in any order.
func (s *Store) Questions(run string) ([]*Question, error) {
	all, err := s.questions(context.Background(), run)
	return all, s.fault(err)
}

func (s *Store) questions(ctx context.Context, run string) ([]*Question, error) {
	id, err := s.find(ctx, s.readers, run)
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
	var all []*Question
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
		all = append(all, &Question{
			Run: run, Instance: e.Instance, Path: e.Call, Tool: e.Tool, Kind: e.Question, Digest: e.Digest,
			Params: e.Value, Reason: e.Reason, Failure: e.Error, Asked: e.Time,
		})
	}
	return all, rows.Err()
}

// Answer puts an answer to an open question. When it returns nil, the answer is on disk, and the
// process that holds the run goes on by it (Run.Answers), or the next one: then it is an event
// from the moment when the run is resumed. Of several answers one wins. Who answers for the process itself, at its terminal, does it
// here as well. The error is an *AnswerError when no question is open, what is asked is not what
// answer.Digest names ("" is any), or it was answered already.
func (s *Store) Answer(run, instance, path string, answer exec.Answer) error {
	body, err := encode(answer)
	if err != nil {
		return fmt.Errorf("journal: the answer about %q is not JSON: %w", path, err)
	}
	err = s.write(context.Background(), func(tx *tx) error {
		id, err := s.find(tx.ctx, tx.conn, run)
		if err != nil {
			return err
		}
		if err := tx.answerable(id, &AnswerError{Run: run, Instance: instance, Path: path}, answer.Digest); err != nil {
			return err
		}
		_, err = tx.exec("UPDATE questions SET answer = ? WHERE run = ? AND instance = ? AND path = ?", body, id, instance, path)
		if err != nil {
			return err
		}
		return tx.run(tx.asking, id)
	})
	if err != nil {
		return err
	}
	s.watch.tell()
	return nil
}

// answerable returns refusal, with its reason, unless the question is open and is the one
// that was answered.
func (t *tx) answerable(run int64, refusal *AnswerError, digest string) error {
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
		refusal.Refused = Changed
		return refusal
	case answered:
		refusal.Refused = Answered
		return refusal
	case closed:
		return refusal
	}
	return nil
}

// Answer is an answer that was put to a question of a run.
type Answer struct {
	Instance string
	Path     string // of the call
	Answer   exec.Answer
}

// Answers yields the answers that are put to questions of the run, by any process, until ctx
// is done or the run is closed; each once, and first those that it has not taken yet. The
// file is looked at only while questions are open.
func (r *Run) Answers(ctx context.Context) iter.Seq2[*Answer, error] {
	return func(yield func(*Answer, error) bool) {
		w := r.store.watch
		for {
			if !r.waitAsked(ctx) {
				return
			}
			w.join()
			more := r.yieldAnswers(ctx, yield)
			w.leave()
			if !more {
				return
			}
		}
	}
}

// answers are the answers that a run has not taken, as events.
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
		a := &exec.Answer{}
		if err := json.Unmarshal(answer, a); err != nil {
			return nil, undecodable(fmt.Sprintf("the answer about %q", asked.Call), err)
		}
		all = append(all, &exec.Event{
			Type: exec.ApprovalGiven, Time: time.Now(), Run: asked.Run, Instance: asked.Instance, Call: asked.Call, Tool: asked.Tool,
			Answer: a, Question: asked.Question, Digest: asked.Digest,
		})
	}
	return all, rows.Err()
}

// Withdraw opens the question again to which an answer was put that can't be followed,
// because it is not what the call takes.
func (r *Run) Withdraw(a *Answer) error {
	err := r.store.write(context.Background(), func(tx *tx) error {
		_, err := tx.exec("UPDATE questions SET answer = NULL WHERE run = ? AND instance = ? AND path = ? AND closed = 0", r.id, a.Instance, a.Path)
		if err != nil {
			return err
		}
		return tx.run(tx.asking, r.id)
	})
	r.giving.Lock()
	delete(r.given, callKey{a.Instance, a.Path})
	r.giving.Unlock()
	r.store.watch.tell()
	return err
}

// waitAsked waits until a question is open; it reports false when ctx is done or the run
// was closed.
func (r *Run) waitAsked(ctx context.Context) bool {
	q := r.store.queue
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		r.settled.Broadcast()
	})
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for r.asking == 0 && !r.closed && ctx.Err() == nil {
		r.settled.Wait()
	}
	return !r.closed && ctx.Err() == nil
}

// yieldAnswers yields answers as long as questions are open. It reports false when there
// will be no more.
func (r *Run) yieldAnswers(ctx context.Context, yield func(*Answer, error) bool) bool {
	for {
		changed, err := r.store.watch.next()
		if err != nil {
			yield(nil, err)
			return false
		}
		answers, err := r.answers(ctx)
		if err != nil {
			if ctx.Err() == nil {
				yield(nil, r.store.fault(err))
			}
			return false
		}
		for _, a := range answers {
			if !yield(a, nil) {
				return false
			}
		}
		if !r.isAsking() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		}
	}
}

// isAsking reports whether a question is open; if none is, what was given is forgotten.
func (r *Run) isAsking() bool {
	r.store.queue.mu.Lock()
	asking := r.asking > 0 && !r.closed
	r.store.queue.mu.Unlock()
	if !asking {
		r.giving.Lock()
		clear(r.given)
		r.giving.Unlock()
	}
	return asking
}

// answers are those that are not taken and were not given before.
func (r *Run) answers(ctx context.Context) ([]*Answer, error) {
	r.giving.Lock()
	defer r.giving.Unlock()
	rows, err := r.store.readers.QueryContext(ctx,
		"SELECT instance, path, seq, answer FROM questions WHERE run = ? AND closed = 0 AND answer IS NOT NULL ORDER BY seq", r.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []*Answer
	for rows.Next() {
		a := &Answer{}
		var seq int64
		var body []byte
		if err := rows.Scan(&a.Instance, &a.Path, &seq, &body); err != nil {
			return nil, err
		}
		key := callKey{a.Instance, a.Path}
		if r.given[key] == seq {
			continue
		}
		if err := json.Unmarshal(body, &a.Answer); err != nil {
			return nil, undecodable(fmt.Sprintf("the answer about %q", a.Path), err)
		}
		r.given[key] = seq
		all = append(all, a)
	}
	return all, rows.Err()
}
