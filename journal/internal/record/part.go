package record

import (
	"bytes"
	"slices"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// A Part holds what a transaction writes for one run. It is made before the transaction, so that it
// can be written again if another process was in the way.
type Part struct {
	Held    *Held
	Last    int64 // the number of its last event
	Before  int64 // the sum of the last event before it
	Sum     int64 // the sum of its last event, once it is written
	Lines   Lines // the lines of its events
	Rows    []Row
	Asking  int // number of open questions after it
	Summary Summary
	Effects Effects // if Turned, the row of the run changes

	items int
	err   error // why later events are not in it
}

// Row is a row of the table of events. It holds the line of one event, or of several events of one
// instance in succession. Readers of events get them one by one (Entries).
type Row struct {
	ID         int64 // key of the last event
	Instance   string
	Path, Kind string // of the only event; "" if there are several
	Time       int64  // of the last event
	Start, End int    // of its lines in Part.Lines
	alone      bool   // no other event is added to it
}

// Micros returns a time as stores keep it.
func Micros(t time.Time) int64 { return t.UnixMicro() }

// MaxRow is the maximum size in bytes of a row with several events. A longer event has a row of its
// own, so that nobody has to read it to get another event.
const MaxRow = 16 << 10

// NewPart returns a part for the events that follow the durable ones of a run.
func NewPart(r *Held) *Part {
	return &Part{Held: r, Lines: r.room[:0], Last: r.Tally.Last, Before: r.sum, Sum: r.sum, Asking: len(r.Tally.Open)}
}

// Err returns why an event could not be added.
func (p *Part) Err() error { return p.err }

// Add adds an event to the part. After an event that can't be encoded it adds no more, so that the
// store always has a prefix of the events.
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

// addRow adds an event, whose line follows the first before bytes of the lines, to the last row or
// as a new one. A question has a row of its own, since it is found by its number.
func (p *Part) addRow(e *exec.Event, seq int64, before int) {
	r := Row{EventID(p.Held.Number, seq), e.Instance, e.Call, string(e.Type), Micros(e.Time), before, len(p.Lines), e.Type == exec.ApprovalAsked}
	if r.Start > 0 {
		r.Start++ // skip the line end
	}
	if n := len(p.Rows); n > 0 && p.Rows[n-1].merges(&r) {
		last := &p.Rows[n-1]
		last.ID, last.Path, last.Kind, last.Time, last.End = r.ID, "", "", r.Time, r.End
	} else {
		p.Rows = append(p.Rows, r)
	}
	p.Last = seq
	p.Held.Tally.Add(e, seq, &p.Effects)
	p.Asking = len(p.Held.Tally.Open)
}

// Copy adds an event of the forked run to the part, if the fork keeps it.
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

// Next empties a part that was written, for the events that follow.
func (p *Part) Next() {
	p.Lines, p.Rows, p.Effects, p.Before = nil, nil, Effects{}, p.Sum
}

// maxRoom is the maximum number of bytes that a run keeps allocated for the lines of its next
// commit.
const maxRoom = 64 << 10

// leave returns the buffer of the lines to the run, after they were written.
func (p *Part) leave() {
	if cap(p.Lines) <= maxRoom {
		p.Held.room = p.Lines[:0]
	}
}

// merges reports whether the events of the next row can be added to this one.
func (r *Row) merges(next *Row) bool {
	return r.Instance == next.Instance && !r.alone && !next.alone && next.End-r.Start <= MaxRow
}

// AnswerText returns an answer as the value of a column; nil if there is none.
func AnswerText(a *exec.Answer) any {
	if a == nil {
		return nil
	}
	body, err := Encode(a)
	if err != nil { // its event was encoded before
		return nil
	}
	return body
}

// CountLines returns the number of events in the body of a row.
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

// AddRow adds the events of a row, except writes.
func (p Past) AddRow(id int64, body []byte) error {
	for _, entry := range Entries(id, body) {
		if err := p.AddEntry(entry); err != nil {
			return err
		}
	}
	return nil
}

// A Summary is a tally in the form in which it is stored.
type Summary struct {
	Status   exec.Status
	Reason   string
	Changed  int64
	Finished any
	Calls    string
}

// SummaryOf returns the summary of a tally.
func SummaryOf(t *Tally) Summary {
	s := Summary{Status: t.Status, Reason: t.Reason, Changed: Micros(t.Changed), Calls: Counts(t.Calls())}
	if !t.Finished.IsZero() {
		s.Finished = Micros(t.Finished)
	}
	return s
}

// Ended reports whether a call with this status has ended.
func Ended(s exec.Status) bool {
	switch s {
	case exec.Completed, exec.Failed, exec.Skipped, exec.Blocked, exec.Cancelled, exec.Rejected:
		return true
	}
	return false
}
