package postgres

import (
	"context"
	"slices"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// The statements of a commit.
const (
	updateHold = "UPDATE holds SET last = $3, head = $4, changed = $5, calls = $6, sum = $7 WHERE id = $1 AND epoch = $2"

	insertEvents = "INSERT INTO events (id, key, instance, path, type, time, body, sum) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"

	updateRun = "UPDATE runs SET finished = $2, status = $3, reason = $4 WHERE id = $1"

	// If a resumed run asks the same question again, the first asking is kept, with any answer that
	// was not taken yet.
	upsertQuestion = `INSERT INTO questions (run, key, instance, path, digest, seq, closed) VALUES ($1, $2, $3, $4, $5, $6, 0)
		ON CONFLICT (run, key) DO UPDATE SET digest = excluded.digest, closed = 0,
			seq = CASE WHEN questions.closed = 0 AND questions.digest = excluded.digest THEN questions.seq ELSE excluded.seq END,
			answer = CASE WHEN questions.closed = 0 AND questions.digest = excluded.digest THEN questions.answer END`

	closeQuestion = "UPDATE questions SET closed = 1, answer = coalesce($3, answer) WHERE run = $1 AND key = $2"

	lockRun = "SELECT 1::bigint FROM runs WHERE id = $1 FOR UPDATE"
)

// instanceKey and questionKey return the keys by which the rows of an instance, and of a question,
// are found.
func instanceKey(run int64, instance string) int64 { return record.SumRow(run, instance) }
func questionKey(k record.Key) int64               { return record.SumRow(k.Instance, k.Path) }

// writeParts writes parts in one transaction, if this store still has all their holds.
func (s *Store) writeParts(parts []*record.Part) error {
	slices.SortFunc(parts, func(a, b *record.Part) int { return int(a.Held.Number - b.Held.Number) }) // this order prevents deadlocks
	return s.write(context.Background(), s.opts.Away, func(tx *tx) error {
		for _, p := range parts {
			if err := p.Held.Run().(*Run).writePart(tx, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// writePart writes the events that were appended to a run.
func (r *Run) writePart(tx *tx, p *record.Part) error {
	p.Sum = p.Before
	sums := make([]int64, len(p.Rows))
	for i, row := range p.Rows {
		p.Sum = record.EventSum(p.Sum, row.ID, row.Instance, row.Path, row.Kind, row.Time, p.Lines[row.Start:row.End], nil)
		sums[i] = p.Sum
	}
	to, id := p.Summary, r.Number
	if err := tx.must(r.hold.checkChanged, updateHold, id, r.hold.epoch, p.Last, p.Sum, to.Changed, to.Calls,
		record.SumRow(id, p.Last, p.Sum, to.Changed, to.Calls)); err != nil {
		return err
	}
	for i, row := range p.Rows {
		var key any
		if row.Instance != "" {
			key = instanceKey(id, row.Instance)
		}
		if err := tx.add(insertEvents, row.ID, key, row.Instance, row.Path, row.Kind, row.Time, []byte(p.Lines[row.Start:row.End]), sums[i]); err != nil {
			return err
		}
	}
	if err := r.writeRow(tx, p); err != nil {
		return err
	}
	return writeSamples(tx, p.Effects.Samples)
}

// writeRow updates the row of a run and its questions, if they have changed.
func (r *Run) writeRow(tx *tx, p *record.Part) error {
	if !p.Effects.Turned && len(p.Effects.Questions) == 0 {
		return nil
	}
	if err := tx.add(lockRun, r.Number); err != nil {
		return err
	}
	for _, q := range p.Effects.Questions {
		var err error
		if q.Asked {
			err = tx.add(upsertQuestion, r.Number, questionKey(q.Key), q.Instance, q.Path, q.Digest, q.Seq)
		} else {
			err = tx.add(closeQuestion, r.Number, questionKey(q.Key), record.AnswerText(q.Answer))
		}
		if err != nil {
			return err
		}
	}
	if p.Effects.Turned {
		if err := tx.add(updateRun, r.Number, p.Summary.Finished, string(p.Summary.Status), p.Summary.Reason); err != nil {
			return err
		}
		if p.Summary.Finished != nil {
			if err := tx.add("DELETE FROM cancels WHERE run = $1", r.Number); err != nil {
				return err
			}
		}
	}
	return tx.seal(r.Number, len(p.Effects.Questions) > 0, false)
}

// toolKey returns the key of the durations of a tool.
func toolKey(tool string) int64 { return record.SumRow(tool) }

// writeSamples adds durations, and deletes the oldest if there are too many.
func writeSamples(tx *tx, all []record.Samples) error {
	for _, s := range all {
		key := toolKey(s.Tool)
		numbers, err := rows(tx.ctx, tx, "SELECT nextval('ids') FROM generate_series(1, $1::bigint)", len(s.Lengths))
		if err != nil {
			return err
		}
		for i, d := range s.Lengths {
			number, _ := numbers[i][0].(int64)
			if err := tx.add("INSERT INTO durations (number, key, tool, length, sum) VALUES ($1, $2, $3, $4, $5)",
				number, key, s.Tool, int64(d), record.SumRow(number, s.Tool, int64(d))); err != nil {
				return err
			}
		}
		if err := tx.add(`DELETE FROM durations WHERE key = $1 AND number <= (SELECT number FROM durations WHERE key = $1 ORDER BY number DESC OFFSET $2::bigint LIMIT 1)`,
			key, journal.MaxDurations); err != nil {
			return err
		}
	}
	return nil
}

// decode returns the event of a row with one event, from its first two columns.
func decode(v []any) (*exec.Event, error) {
	id, _ := v[0].(int64)
	body, _ := v[1].(string)
	return (&journal.Entry{Seq: record.SeqOf(id), Body: []byte(body)}).Event()
}
