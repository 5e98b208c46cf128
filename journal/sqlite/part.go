package sqlite

import (
	"bytes"

	"github.com/plc-lang/plc/journal/internal/record"

	"github.com/plc-lang/plc/exec"
)

// The statements of a commit.
const (
	insertEvents = "INSERT INTO events (id, instance, path, type, time, body, tally, sum) VALUES " // and eventRow for each
	eventRow     = "(?, ?, ?, ?, ?, ?, ?, ?)"

	updateRun = "UPDATE runs SET changed = ?, finished = ?, status = ?, reason = ?, last = ?, calls = ?, head = ? WHERE id = ?"

	// An answer that was put to the same question and not taken yet stays: whoever resumed
	// the run asks again, and somebody was quicker.
	upsertQuestion = `INSERT INTO questions (run, instance, path, digest, seq, closed) VALUES (?, ?, ?, ?, ?, 0)
		ON CONFLICT DO UPDATE SET answer = iif(closed = 0 AND digest = excluded.digest, answer, NULL),
			digest = excluded.digest, seq = excluded.seq, closed = 0`

	closeQuestion = "UPDATE questions SET closed = 1, answer = coalesce(?, answer) WHERE run = ? AND instance = ? AND path = ?"

	dropCancel = "DELETE FROM cancels WHERE run = ?" // of a run that has finished

	countQuestions = `UPDATE runs SET asking = (SELECT count(*) FROM questions WHERE run = ?1 AND closed = 0 AND answer IS NULL)
		WHERE id = ?1`
)

// part is what a transaction writes of one run. It is made before the transaction, so
// that it can be written again when another process was in the way.
type part struct {
	run     *Run
	items   int
	last    int64        // the number of its last event
	before  int64        // the sum of the last event before it
	sum     int64        // and of its last one, when it is written
	lines   record.Lines // of its events
	rows    []row
	open    int // questions, after it
	summary summary
	effects record.Effects // with Turned, the row of the run changes
	err     error          // why what follows is not in it
}

// row is a row of events: a line of one, or of several of an instance that came one after the
// other. Who asks for events has them one by one (Store.Events).
type row struct {
	id         int64 // of the last one
	instance   string
	path, kind string // of the only one; "" of several
	time       int64  // of the last one
	start, end int    // of their lines
	alone      bool   // nothing is added to it
}

// maxRow is how many bytes a row of several events has at most. What is longer is alone: nobody has
// to read it for the sake of another.
const maxRow = 16 << 10

func newPart(r *Run) *part {
	return &part{run: r, lines: r.room[:0], last: r.tally.Last, before: r.sum, sum: r.sum, open: len(r.tally.Open)}
}

// add takes an item into the part. After one that can't be encoded nothing is taken, so
// that what is on disk stays a beginning.
func (p *part) add(it *item) {
	p.items++
	if p.err != nil {
		return
	}
	before := len(p.lines)
	if err := p.lines.Add(it.event); err != nil {
		p.err = p.run.store.fault(err)
		return
	}
	p.addRow(it.event, it.seq, before)
}

// addRow adds an event up whose line is behind what was there before: to the last row, or in a
// new one. A question is found by its number, so that it is alone.
func (p *part) addRow(e *exec.Event, seq int64, before int) {
	r := row{eventID(p.run.id, seq), e.Instance, e.Call, string(e.Type), micros(e.Time), before, len(p.lines), e.Type == exec.ApprovalAsked}
	if r.start > 0 {
		r.start++ // what is between lines
	}
	if n := len(p.rows); n > 0 && p.rows[n-1].takes(&r) {
		last := &p.rows[n-1]
		last.id, last.path, last.kind, last.time, last.end = r.id, "", "", r.time, r.end
	} else {
		p.rows = append(p.rows, r)
	}
	p.last = seq
	p.run.tally.Add(e, seq, &p.effects)
	p.open = len(p.run.tally.Open)
}

// maxRoom is how many bytes a run keeps for the lines of its next commit.
const maxRoom = 64 << 10

// leave gives the room of the lines back, when they are written.
func (p *part) leave() {
	if cap(p.lines) <= maxRoom {
		p.run.room = p.lines[:0]
	}
}

// takes reports whether the events of a row that comes next go into this one.
func (r *row) takes(next *row) bool {
	return r.instance == next.instance && !r.alone && !next.alone && next.end-r.start <= maxRow
}

// eventID returns the key of an event: all of a run together, in order.
func eventID(run, seq int64) int64 { return run<<32 | seq }

// seqOf returns the number of the event that has this key.
func seqOf(id int64) int64 { return id & (1<<32 - 1) }

// write writes the part.
func (p *part) write(tx *tx) error {
	if err := p.writeEvents(tx); err != nil {
		return err
	}
	if err := p.writeQuestions(tx); err != nil {
		return err
	}
	if p.effects.Turned {
		s := p.summary
		if err := tx.run(tx.summary, s.changed, s.finished, string(s.status), s.reason, p.last, s.calls, p.sum, p.run.id); err != nil {
			return err
		}
		if s.finished != nil {
			if err := tx.run(tx.ended, p.run.id); err != nil {
				return err
			}
		}
	}
	seal := tx.sealRow
	if len(p.effects.Questions) > 0 {
		seal = tx.seal
	}
	if p.effects.Turned || len(p.effects.Questions) > 0 {
		if err := seal(p.run.id); err != nil {
			return err
		}
	}
	return writeSamples(tx, p.effects.Samples)
}

// writeEvents inserts the events, many in one statement: one for each costs half as much again.
func (p *part) writeEvents(tx *tx) error {
	rest, texts := p.rows, string(p.lines)
	p.sum = p.before
	var args []any
	for _, insert := range tx.events {
		for len(rest) >= insert.rows {
			args = args[:0]
			for i := range insert.rows {
				r := &rest[i]
				var tally any
				if i == len(rest)-1 && !p.effects.Turned {
					tally = p.summary.calls
				}
				p.sum = eventSum(p.sum, r.id, r.instance, r.path, r.kind, r.time, p.lines[r.start:r.end], tally)
				args = append(args, r.id, r.instance, r.path, r.kind, r.time, texts[r.start:r.end], tally, p.sum)
			}
			if err := tx.run(insert.stmt, args...); err != nil {
				return err
			}
			rest = rest[insert.rows:]
		}
	}
	return nil
}

func (p *part) writeQuestions(tx *tx) error {
	if len(p.effects.Questions) == 0 {
		return nil
	}
	for _, q := range p.effects.Questions {
		var err error
		if q.Asked {
			err = tx.run(tx.question, p.run.id, q.Instance, q.Path, q.Digest, q.Seq)
		} else {
			err = tx.run(tx.closing, answerText(q.Answer), p.run.id, q.Instance, q.Path)
		}
		if err != nil {
			return err
		}
	}
	return tx.run(tx.asking, p.run.id)
}

// answerText returns an answer as a parameter.
func answerText(a *exec.Answer) any {
	if a == nil {
		return nil
	}
	body, err := record.Encode(a)
	if err != nil { // its event could not be encoded either
		return nil
	}
	return body
}

// countLines returns how many lines a row of events has.
func countLines(body []byte) int64 { return int64(bytes.Count(body, []byte("\n")) + 1) }
