package journal

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/plc-lang/plc/exec"
)

// Summary describes a run in a list of runs.
type Summary struct {
	Run      string
	Plan     string // the name of its file
	Program  string // its digest
	Labels   map[string]string
	Parent   string // the run that it is a fork of
	Status   exec.Status
	Reason   string
	Created  time.Time
	Changed  time.Time // when its last event was
	Finished time.Time // zero when it has not
	// Calls says how many calls have each status, of those that were started or have
	// ended: Uncertain ones as well.
	Calls     map[exec.Status]int
	Questions int     // that are open
	Events    int64   // their number
	Holder    *Holder // nil when nobody holds the run
}

const (
	// Interrupted is the status of a run that nobody holds and that has neither ended nor
	// paused: its process was killed, or lost its store.
	Interrupted exec.Status = "interrupted"

	// Uncertain is the status of a call that was started in a run that nobody holds, and that has
	// no answer: it may have done its work.
	Uncertain exec.Status = "uncertain"

	// Delegating is the status of a call that was started and whose document has calls that were
	// started: they, and not it, do work.
	Delegating exec.Status = "delegating"

	// Cut is the status of a run of which a repair kept a beginning only.
	Cut exec.Status = "damaged"
)

// Left returns a summary with what its statuses mean when nobody holds the run.
func (s *Summary) Left(begun bool) {
	if s.Status == exec.Running || s.Status == exec.Pending && begun {
		s.Status = Interrupted
	}
	if n := s.Calls[exec.Running]; n > 0 {
		delete(s.Calls, exec.Running)
		s.Calls[Uncertain] = n
	}
}

// Filter says which runs are meant. The zero value is all.
type Filter struct {
	Status []exec.Status     // one of these; none is any
	Plan   string            // the name of its file
	Labels map[string]string // all of which it has
	Before time.Time         // when it was changed last
	After  time.Time
	// From is the last run of the page before: only runs that were made before it are meant. The
	// error is a *MissingError when it is not there any more.
	From  string
	Limit int // the newest; 0 is all
}

// Has reports whether a run is one that is meant, as far as its summary tells: From and Limit
// are about the list.
func (f *Filter) Has(s *Summary) bool {
	for name, value := range f.Labels {
		if s.Labels[name] != value {
			return false
		}
	}
	switch {
	case f.Plan != "" && s.Plan != f.Plan,
		!f.Before.IsZero() && !s.Changed.Before(f.Before),
		!f.After.IsZero() && !s.Changed.After(f.After):
		return false
	}
	return len(f.Status) == 0 || slices.Contains(f.Status, s.Status)
}

// Entry is an event as it is kept.
type Entry struct {
	Seq  int64           // its number in the run, from 1
	Body json.RawMessage // with members of newer versions, if it has any
}

// Event returns the event, as far as this version knows it.
func (e *Entry) Event() (*exec.Event, error) {
	event := &exec.Event{}
	if err := json.Unmarshal(e.Body, event); err != nil {
		return nil, fmt.Errorf("event %d is %w: %w", e.Seq, ErrBroken, err)
	}
	return event, nil
}

// Collect says which runs are deleted. Runs that are held never are.
type Collect struct {
	Filter     // the runs that may be; its Limit is ignored
	Keep   int // of these, the newest that stay
	// Spare reports whether a run that would be deleted stays; nil spares none.
	Spare func(*Summary) bool
}

// Takes reports whether a run is deleted that the filter admits, as it admits so many newer ones.
func (c *Collect) Takes(newer int, s *Summary) bool {
	return newer >= c.Keep && s.Holder == nil && (c.Spare == nil || !c.Spare(s))
}

// Collected counts what was deleted.
type Collected struct {
	Runs  int
	Bytes int64 // by which the store became smaller
}
