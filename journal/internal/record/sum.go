package record

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math"

	"github.com/plc-lang/plc/journal"
)

// The contents of a store have checksums, so that it is noticed if a disk returns other bytes than
// were written, before any decision is based on them (execution §5):
//
//   - a row of events has the sum of itself and of the row before, so that the rows of a run
//     are a chain. The row of the run knows the last link of when the run began, paused, ended or
//     was given back, and the run's hold that of the last commit;
//   - the row of a run has the sum of itself, of what the run was given and of its questions. Each
//     names the run before it, and the row of the store the newest one;
//   - rows of durations and approvals have their own.
//
// They detect damage, not forgery: whoever can write the store can also compute sums.

// An Adder computes the sum of values as a database returns them.
type Adder struct {
	h     hash.Hash
	space [9]byte
}

// NewAdder returns an Adder that has added nothing.
func NewAdder() *Adder { return &Adder{h: sha256.New()} }

// text adds a text, with its length.
func (a *Adder) text(kind byte, s string) {
	a.number(kind, int64(len(s)))
	a.h.Write([]byte(s))
}

func (a *Adder) number(kind byte, n int64) {
	a.space[0] = kind
	binary.BigEndian.PutUint64(a.space[1:], uint64(n))
	a.h.Write(a.space[:])
}

// Add adds values as the database has them.
func (a *Adder) Add(values ...any) *Adder {
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			a.number('n', 0)
		case int64:
			a.number('i', v)
		case int:
			a.number('i', int64(v))
		case string:
			a.text('t', v)
		case []byte:
			a.text('b', string(v))
		default:
			a.text('?', fmt.Sprint(v))
		}
	}
	return a
}

// Sum returns the sum of what was added.
func (a *Adder) Sum() int64 {
	var space [sha256.Size]byte
	return int64(binary.BigEndian.Uint64(a.h.Sum(space[:0])))
}

// SumRow returns the sum of a row.
func SumRow(values ...any) int64 { return NewAdder().Add(values...).Sum() }

// ErrSum is the reason if the sum of a row is wrong.
var ErrSum = errors.New("its sum is another one")

// Broken returns the error of a row whose content is broken.
func Broken(what string, err error) error {
	return fmt.Errorf("%s is %w: %w", what, journal.ErrBroken, err)
}

// The names of rows that have their own sums, for reports of damage.
const (
	AnApproval = "an approval (what it approved may be approved again, or its file be used again)"
	ADuration  = "a duration of calls"
	ACancel    = "a request to end a run"
)

// CheckRow returns an error if a row, whose last value is its sum, is not what was written.
func CheckRow(what string, values []any) error {
	n := len(values) - 1
	if sum, ok := values[n].(int64); !ok || sum != SumRow(values[:n]...) {
		return Broken(what, ErrSum)
	}
	return nil
}

// Assign assigns a value of the database to a variable. Null leaves a number unchanged.
func Assign(to, value any) error {
	ok := false
	switch to := to.(type) {
	case *int64:
		if value == nil {
			return nil
		}
		*to, ok = value.(int64)
	case *string:
		*to, ok = value.(string)
	case *sql.NullString:
		return to.Scan(value)
	case *sql.NullInt64:
		return to.Scan(value)
	}
	if !ok {
		return errors.New("it has another type")
	}
	return nil
}

// EventID returns the key of an event. The keys of the events of a run are consecutive and in
// order. A number that is too large counts as the largest.
func EventID(run, seq int64) int64 { return run<<32 | min(seq, math.MaxUint32) }

// SeqOf returns the number of the event that has this key.
func SeqOf(id int64) int64 { return id & (1<<32 - 1) }

// EventSum returns the sum of a row of events that follows one with the sum before.
func EventSum(before, id int64, instance, path, kind string, time int64, body []byte, tally any) int64 {
	a := NewAdder().Add(before, id, instance, path, kind, time)
	a.number('t', int64(len(body)))
	a.h.Write(body)
	return a.Add(tally).Sum()
}

// A Link is a row of events in the chain of its run: the number of its last event, and its sum.
type Link struct{ Last, Sum int64 }

// A Chain follows the rows of events of a run, from its first.
type Chain struct {
	Run   int64
	Name  string
	Known []Link // links that must be in the chain
	Link         // of the last row
}

// Take checks the next row, which holds this many events.
func (c *Chain) Take(id int64, instance, path, kind string, time int64, body []byte, tally any, sum any, lines int64) error {
	seq := SeqOf(id)
	want := EventSum(c.Sum, id, instance, path, kind, time, body, tally)
	have, ok := sum.(int64)
	if !ok || have != want || id>>32 != c.Run || seq-lines != c.Last {
		return c.broken(ErrSum)
	}
	c.Last, c.Sum = seq, want
	for _, l := range c.Known {
		if l.Last == seq && l.Sum != want {
			return c.broken(ErrSum)
		}
	}
	return nil
}

// End checks that the row of Take was the last one.
func (c *Chain) End() error {
	for _, l := range c.Known {
		if l.Last > c.Last {
			return c.broken(fmt.Errorf("%d events were written", l.Last))
		}
	}
	return nil
}

// broken returns the error for the row that comes next.
func (c *Chain) broken(why error) error {
	return Broken(fmt.Sprintf("event %d of the run %q", c.Last+1, c.Name), why)
}
