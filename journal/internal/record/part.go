package record

import (
	"bytes"
	"slices"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// A Part is what a transaction writes of one run. It is made before the transaction, so
// that it can be written again when another process was in the way.
type Part struct {
	Held    *Held
	Last    int64 // the number of its last event
	Before  int64 // the sum of the last event before it
	Sum     int64 // and of its last one, when it is written
	Lines   Lines // of its events
	Rows    []Row
	Asking  int // questions that are open after it
	Summary Summary
	Effects Effects // with Turned, the row of the run changes

	items int
	err   error // why what follows is not in it
}

// Row is a row of events: a line of one, or of several of an instance that came one after the
// other. Who asks for events has them one by one (Entries).
type Row struct {
	ID         int64 // of the last one
	Instance   string
	Path, Kind string // of the only one; "" of several
	Time       int64  // of the last one
	Start, End int    // of their lines
	alone      bool   // nothing is added to it
}

// Micros returns how times are kept.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// MaxRow is the maximum size in bytes of a row with several events. A longer event has a row of its
// own: nobody has to read it to get at another. What is longer is alone: nobody has to read it for
// the sake of another.
const MaxRow = 16 << 10

// NewPart returns the part that follows what is durable of a run.
func NewPart(r *Held) *Part {
	return &Part{Held: r, Lines: r.room[:0], Last: r.Tally.Last, Before: r.sum, Sum: r.sum, Asking: len(r.Tally.Open)}
}

// Err returns why an event could not be added.
func (p *Part) Err() error { return p.err }

// Add takes an event into the part. After one that can't be encoded nothing is taken, so
// that what is on disk stays a beginning.
func (p *Part) Add(e *exec.Event, seq int64) {
	p.items++
	if p.err != nil {
		return
	}
	before := len(p.Lines)
	if err := p.Lines.Add(e); err != nil {
		p.err = p.Held.queue.Fault(err)
		return
	}
	p.addRow(e, seq, before)
}

// addRow adds an event up whose line is behind what was there before: to the last row, or in a
// new one. A question is found by its number, so that it is alone.
func (p *Part) addRow(e *exec.Event, seq int64, before int) {
	r := Row{EventID(p.Held.Number, seq), e.Instance, e.Call, string(e.Type), Micros(e.Time), before, len(p.Lines), e.Type == exec.ApprovalAsked}
	if r.Start > 0 {
		r.Start++ // what is between lines
	}
	if n := len(p.Rows); n > 0 && p.Rows[n-1].takes(&r) {
		last := &p.Rows[n-1]
		last.ID, last.Path, last.Kind, last.Time, last.End = r.ID, "", "", r.Time, r.End
	} else {
		p.Rows = append(p.Rows, r)
	}
	p.Last = seq
	p.Held.Tally.Add(e, seq, &p.Effects)
	p.Asking = len(p.Held.Tally.Open)
}

// Copy takes an event of the run that is forked into the part, if the fork keeps it.
func (p *Part) Copy(entry *journal.Entry, f *journal.Fork) error {
	e, err := entry.Event()
	if err != nil || !f.Keeps(e) {
		return err
	}
	before := len(p.Lines)
	p.Lines.AddText(entry.Body)
	p.addRow(e, p.Last+1, before)
	p.Summary = SummaryOf(p.Held.Tally)
	return nil
}

// Next empties a part that was written, for what follows.
func (p *Part) Next() {
	p.Lines, p.Rows, p.Effects, p.Before = nil, nil, Effects{}, p.Sum
}

// maxRoom is the maximum number of bytes that a run keeps allocated for the lines of its next
// commit.
const maxRoom = 64 << 10

// leave gives the room of the lines back, when they are written.
func (p *Part) leave() {
	if cap(p.Lines) <= maxRoom {
		p.Held.room = p.Lines[:0]
	}
}

// takes reports whether the events of a row that comes next go into this one.
func (r *Row) takes(next *Row) bool {
	return r.Instance == next.Instance && !r.alone && !next.alone && next.End-r.Start <= MaxRow
}

// AnswerText returns an answer as the value of a column: nil without one.
func AnswerText(a *exec.Answer) any {
	if a == nil {
		return nil
	}
	body, err := Encode(a)
	if err != nil { // its event could not be encoded either
		return nil
	}
	return body
}

// CountLines returns how many lines a row of events has.
func CountLines(body []byte) int64 { return int64(bytes.Count(body, []byte("\n")) + 1) }

// Entries returns the events of a row.
func Entries(id int64, body []byte) []*journal.Entry {
	n := CountLines(body)
	entries := make([]*journal.Entry, 0, n)
	for line := range bytes.SplitSeq(body, []byte("\n")) {
		entries = append(entries, &journal.Entry{Seq: SeqOf(id) - (n - 1 - int64(len(entries))), Body: slices.Clip(line)})
	}
	return entries
}

// AddRow takes the events of a row in, but for writes.
func (p Past) AddRow(id int64, body []byte) error {
	for _, entry := range Entries(id, body) {
		if err := p.AddEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

// A Summary is a tally as it is written.
type Summary struct {
	Status   exec.Status
	Reason   string
	Changed  int64
	Finished any
	Calls    string
}

// SummaryOf returns what is written of a tally.
func SummaryOf(t *Tally) Summary {
	s := Summary{Status: t.Status, Reason: t.Reason, Changed: Micros(t.Changed), Calls: Counts(t.Calls())}
	if !t.Finished.IsZero() {
		s.Finished = Micros(t.Finished)
	}
	return s
}

// Ended reports whether a call that has this status has ended.
func Ended(s exec.Status) bool {
	switch s {
	case exec.Completed, exec.Failed, exec.Skipped, exec.Blocked, exec.Cancelled, exec.Rejected:
		return true
	}
	return false
}
