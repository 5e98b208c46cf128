package sqlite

import "github.com/plc-lang/plc/journal/internal/record"

// The statements of a commit.
const (
	insertEvents = "INSERT INTO events (id, instance, path, type, time, body, tally, sum) VALUES " // and eventRow for each
	eventRow     = "(?, ?, ?, ?, ?, ?, ?, ?)"

	updateRun = "UPDATE runs SET changed = ?, finished = ?, status = ?, reason = ?, last = ?, calls = ?, head = ? WHERE id = ?"

	// If a resumed run asks the same question again, the first asking is kept, with any answer that
	// was not taken yet.
	upsertQuestion = `INSERT INTO questions (run, instance, path, digest, seq, closed) VALUES (?, ?, ?, ?, ?, 0)
		ON CONFLICT DO UPDATE SET answer = iif(closed = 0 AND digest = excluded.digest, answer, NULL),
			seq = iif(closed = 0 AND digest = excluded.digest, seq, excluded.seq), digest = excluded.digest, closed = 0`

	closeQuestion = "UPDATE questions SET closed = 1, answer = coalesce(?, answer) WHERE run = ? AND instance = ? AND path = ?"

	dropCancel = "DELETE FROM cancels WHERE run = ?" // of a run that has finished

	countQuestions = `UPDATE runs SET asking = (SELECT count(*) FROM questions WHERE run = ?1 AND closed = 0 AND answer IS NULL)
		WHERE id = ?1`
)

// writePart writes the part of a run.
func (s *Store) writePart(tx *tx, p *record.Part) error {
	if err := writeEvents(tx, p); err != nil {
		return err
	}
	if err := writeQuestions(tx, p); err != nil {
		return err
	}
	if p.Effects.Turned {
		to := p.Summary
		if err := tx.run(tx.summary, to.Changed, to.Finished, string(to.Status), to.Reason, p.Last, to.Calls, p.Sum, p.Held.Number); err != nil {
			return err
		}
		if to.Finished != nil {
			if err := tx.run(tx.ended, p.Held.Number); err != nil {
				return err
			}
		}
	}
	seal := tx.sealRow
	if len(p.Effects.Questions) > 0 {
		seal = tx.seal
	}
	if p.Effects.Turned || len(p.Effects.Questions) > 0 {
		if err := seal(p.Held.Number); err != nil {
			return err
		}
	}
	return writeSamples(tx, p.Effects.Samples)
}

// writeEvents inserts the events, many in one statement, since one statement for each event costs
// half as much again.
func writeEvents(tx *tx, p *record.Part) error {
	rest, texts := p.Rows, string(p.Lines)
	p.Sum = p.Before
	var args []any
	for _, insert := range tx.events {
		for len(rest) >= insert.rows {
			args = args[:0]
			for i := range insert.rows {
				r := &rest[i]
				var tally any
				if i == len(rest)-1 && !p.Effects.Turned {
					tally = p.Summary.Calls
				}
				p.Sum = record.EventSum(p.Sum, r.ID, r.Instance, r.Path, r.Kind, r.Time, p.Lines[r.Start:r.End], tally)
				args = append(args, r.ID, r.Instance, r.Path, r.Kind, r.Time, texts[r.Start:r.End], tally, p.Sum)
			}
			if err := tx.run(insert.stmt, args...); err != nil {
				return err
			}
			rest = rest[insert.rows:]
		}
	}
	return nil
}

func writeQuestions(tx *tx, p *record.Part) error {
	if len(p.Effects.Questions) == 0 {
		return nil
	}
	for _, q := range p.Effects.Questions {
		var err error
		if q.Asked {
			err = tx.run(tx.question, p.Held.Number, q.Instance, q.Path, q.Digest, q.Seq)
		} else {
			err = tx.run(tx.closing, record.AnswerText(q.Answer), p.Held.Number, q.Instance, q.Path)
		}
		if err != nil {
			return err
		}
	}
	return tx.run(tx.asking, p.Held.Number)
}
