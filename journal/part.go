package journal

import (
	"encoding/json"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// The statements of a commit.
const (
	insertEvents = "INSERT INTO events (id, instance, path, type, time, body, tally) VALUES " // and eventRow for each
	eventRow     = "(?, ?, ?, ?, ?, ?, ?)"

	updateRun = "UPDATE runs SET changed = ?, finished = ?, status = ?, reason = ?, last = ?, calls = ? WHERE id = ?"

	// An answer that was put to the same question and not taken yet stays: whoever resumed
	// the run asks again, and somebody was quicker.
	upsertQuestion = `INSERT INTO questions (run, instance, path, digest, seq, closed) VALUES (?, ?, ?, ?, ?, 0)
		ON CONFLICT DO UPDATE SET answer = iif(closed = 0 AND digest = excluded.digest, answer, NULL),
			digest = excluded.digest, seq = excluded.seq, closed = 0`

	closeQuestion = "UPDATE questions SET closed = 1, answer = coalesce(?, answer) WHERE run = ? AND instance = ? AND path = ?"

	countQuestions = `UPDATE runs SET asking = (SELECT count(*) FROM questions WHERE run = ?1 AND closed = 0 AND answer IS NULL)
		WHERE id = ?1`

	upsertInstance = "INSERT OR REPLACE INTO instances (run, name, status, result) VALUES (?, ?, ?, ?)"
)

// part is what a transaction writes of one run. It is made before the transaction, so
// that it can be written again when another process was in the way.
type part struct {
	run       *Run
	items     int
	last      int64 // the number of its last event
	lines     lines // of its events
	rows      []row
	questions []question
	open      int // questions, after it
	ended     []*Ended
	summary   summary
	turned    bool // an event is of the run itself, so that its row changes
	samples   []samples
	err       error // why what follows is not in it
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

// maxRow is how many bytes a row of several events has at most. What is longer is alone: nobody has to
// read it for the sake of another.
const maxRow = 16 << 10

// question is a question that is asked, or closed.
type question struct {
	callKey
	asked  bool
	digest string
	seq    int64
	answer any // JSON text, or nil
}

// callKey names a call of a run.
type callKey struct{ instance, path string }

func newPart(r *Run) *part {
	return &part{run: r, lines: r.tally.room[:0], last: r.tally.last, open: len(r.tally.open)}
}

// add takes an item into the part. After one that can't be encoded nothing is taken, so
// that what is on disk stays a beginning.
func (p *part) add(it *item) {
	p.items++
	if p.err != nil {
		return
	}
	if it.ended != nil {
		p.ended = append(p.ended, it.ended)
		return
	}
	before := len(p.lines)
	if err := p.lines.add(it.event); err != nil {
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
	p.run.tally.add(e, seq, p)
	p.open = len(p.run.tally.open)
}

// maxRoom is how many bytes a run keeps for the lines of its next commit.
const maxRoom = 64 << 10

// leave gives the room of the lines back, when they are written.
func (p *part) leave() {
	if cap(p.lines) <= maxRoom {
		p.run.tally.room = p.lines[:0]
	}
}

// takes reports whether the events of a row that comes next go into this one.
func (r *row) takes(next *row) bool {
	return r.instance == next.instance && !r.alone && !next.alone && next.end-r.start <= maxRow
}

// encode is JSON, with <, > and & as they are.
func encode(v any) (string, error) {
	text, err := jsonscan.Marshal(v)
	return string(text), err
}

// eventID is the key of an event: all of a run together, in order.
func eventID(run, seq int64) int64 { return run<<32 | seq }

// seqOf is the number of the event that has this key.
func seqOf(id int64) int64 { return id & (1<<32 - 1) }

// write writes the part.
func (p *part) write(tx *tx) error {
	if err := p.writeEvents(tx); err != nil {
		return err
	}
	if err := p.writeQuestions(tx); err != nil {
		return err
	}
	for _, e := range p.ended {
		if err := tx.run(tx.instance, p.run.id, e.Instance, string(e.Status), text(e.Result)); err != nil {
			return err
		}
	}
	if p.turned {
		s := p.summary
		if err := tx.run(tx.summary, s.changed, s.finished, string(s.status), s.reason, p.last, s.calls, p.run.id); err != nil {
			return err
		}
	}
	return writeSamples(tx, p.samples)
}

// writeEvents inserts the events, many in one statement: one for each costs half as much again.
func (p *part) writeEvents(tx *tx) error {
	rest, texts := p.rows, string(p.lines)
	var args []any
	for _, insert := range tx.events {
		for len(rest) >= insert.rows {
			args = args[:0]
			for i := range insert.rows {
				r := &rest[i]
				var tally any
				if i == len(rest)-1 && !p.turned {
					tally = p.summary.calls
				}
				args = append(args, r.id, r.instance, r.path, r.kind, r.time, texts[r.start:r.end], tally)
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
	if len(p.questions) == 0 {
		return nil
	}
	for _, q := range p.questions {
		var err error
		if q.asked {
			err = tx.run(tx.question, p.run.id, q.instance, q.path, q.digest, q.seq)
		} else {
			err = tx.run(tx.closing, q.answer, p.run.id, q.instance, q.path)
		}
		if err != nil {
			return err
		}
	}
	return tx.run(tx.asking, p.run.id)
}

// text is JSON as a parameter: NULL when there is none.
func text(raw json.RawMessage) any {
	if raw == nil {
		return nil
	}
	return string(raw)
}

// answerText is an answer as a parameter.
func answerText(a *exec.Answer) any {
	if a == nil {
		return nil
	}
	body, err := encode(a)
	if err != nil { // its event could not be encoded either
		return nil
	}
	return body
}
