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
	Changed  time.Time // when its last event happened
	Finished time.Time // zero if it has not finished
	// Calls holds the number of calls with each status, of those that were started or have ended,
	// including Uncertain ones.
	Calls     map[exec.Status]int
	Questions int     // number of open questions
	Events    int64   // number of events
	Holder    *Holder // nil if no process holds the run
}

const (
	// Interrupted is the status of a run that no process holds and that has neither ended nor
	// paused: its process was killed, or lost its store.
	Interrupted exec.Status = "interrupted"

	// Uncertain is the status of a call that was started in a run that no process holds, and that
	// has no answer: it may have done its work.
	Uncertain exec.Status = "uncertain"

	// Delegating is the status of a call that was started and whose document has calls that were
	// started: they do the work, and not the call itself.
	Delegating exec.Status = "delegating"

	// Cut is the status of a run of which a repair kept only a prefix.
	Cut exec.Status = "damaged"
)

// Left changes the status of the run, and of its calls, to what it means if no process holds the
// run. begun reports that a process has held it.
func (s *Summary) Left(begun bool) {
	if s.Status == exec.Running || s.Status == exec.Pending && begun {
		s.Status = Interrupted
	}
	if n := s.Calls[exec.Running]; n > 0 {
		delete(s.Calls, exec.Running)
		s.Calls[Uncertain] = n
	}
}

// Filter selects runs. The zero value selects all.
type Filter struct {
	Status []exec.Status     // one of these; empty allows any
	Plan   string            // the name of its file
	Labels map[string]string // the run has all of these
	Before time.Time         // the last change was before this
	After  time.Time
	// From is the last run of the previous page: only runs that were made before it are selected.
	// Store.Runs returns a *MissingError if it no longer exists.
	From  string
	Limit int // only this many, the newest; 0 is all
}

// Has reports whether a run is selected, as far as its summary tells; From and Limit are about the
// list.
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

// Entry is a stored event.
type Entry struct {
	Seq  int64           // its number in the run, from 1
	Body json.RawMessage // may have members of newer versions
}

// Event returns the event, without members that this version does not know.
func (e *Entry) Event() (*exec.Event, error) {
	event := &exec.Event{}
	if err := json.Unmarshal(e.Body, event); err != nil {
		return nil, fmt.Errorf("event %d is %w: %w", e.Seq, ErrBroken, err)
	}
	return event, nil
}

// Collect selects the runs that are deleted. Runs that are held are never deleted.
type Collect struct {
	Filter     // the runs that may be deleted; its Limit is ignored
	Keep   int // number of the newest of these that are kept
	// Spare, if not nil, reports whether a run that would be deleted is kept.
	Spare func(*Summary) bool
}

// Takes reports whether a run that the filter selects is deleted. newer is the number of newer runs
// that the filter selects.
func (c *Collect) Takes(newer int, s *Summary) bool {
	return newer >= c.Keep && s.Holder == nil && (c.Spare == nil || !c.Spare(s))
}

// Collected counts what was deleted.
type Collected struct {
	Runs  int
	Bytes int64 // how much smaller the store became
}
