package journal

import (
	"errors"
	"fmt"
	"time"
)

// Fault says what is wrong with a store: with its file or its server.
type Fault uint8

// The faults.
const (
	Unusable Fault = iota // it can't be read or written; Error.Err has the reason
	Damaged               // it is a store, and its content is broken
	Foreign               // it is something else
	Newer                 // a newer version made it
	ReadOnly              // it can't be written
	Locked                // another process was writing for too long
	Full                  // no space is left
	Denied                // permission is missing
	Absent                // it does not exist, and was not to be created
	Closed                // the store, or the run, was closed
	Aliased               // its file has several names, and was created under another one
	Moved                 // its file was renamed, replaced or removed while it was in use
	Away                  // its server does not answer
	Mounted               // its file is mounted without its folder
)

// String describes the fault in words, such as "is damaged".
func (f Fault) String() string {
	what, _ := f.cure()
	return what
}

// cure returns what is wrong with a store, and what to do about it.
func (f Fault) cure() (what, cure string) {
	switch f {
	case Damaged:
		return "is damaged", "plc runs repair shows what can be kept; or restore it from a copy"
	case Foreign:
		return "is not a store of runs", "name another file"
	case Newer:
		return "was made by a newer version", "use that version, or name another file"
	case ReadOnly:
		return "can't be written", "make the file and its folder writable, or name another file"
	case Locked:
		return "is locked by another process", "try again when it has ended"
	case Full:
		return "has no space left on its disk", "make room, then resume the run"
	case Denied:
		return "may not be opened", "change its permissions or those of its folder, or name another file"
	case Absent:
		return "does not exist", "name the store that has the run"
	case Closed:
		return "was closed", "open it again"
	case Aliased:
		return "is a second name of a store", "name that one, or make a copy; a link by name is safe (ln -s)"
	case Moved:
		return "was renamed, replaced or removed while it was in use", "give it back the name that it had; what was written last is in the -wal file beside that name"
	case Mounted:
		return "is mounted without its folder", "mount the folder: files beside the store belong to it"
	case Away:
		return "does not answer", "start its server, then resume the run"
	}
	return "can't be used", "see to its disk, or name another file"
}

// An Error is a fault of a store as a whole: of its file, its disk or its server.
type Error struct {
	Path  string // of the file, or the name of another kind of store
	Fault Fault
	Err   error // the cause; nil if there is no more to say
	// Cure says what to do about the fault; "" is the usual cure for a file.
	Cure string
}

func (e *Error) Error() string {
	what, cure := e.Fault.cure()
	if e.Cure != "" {
		cure = e.Cure
	}
	cause := ""
	if e.Err != nil {
		cause = ": " + e.Err.Error()
	}
	return fmt.Sprintf("journal: %s %s%s; %s", e.Path, what, cause, cure)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// A HeldError is the error for a run, or a loop, that another process holds.
type HeldError struct {
	Run    string
	Holder Holder // zero while the hold is being taken
}

// A Holder is the process that holds a run.
type Holder struct {
	PID   int
	Host  string
	Since time.Time
	// Until is when the hold ends unless it is renewed; zero if it ends with the process.
	Until time.Time
}

func (e *HeldError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("journal: the run %q is held by another process; wait until it has ended", e.Run)
	}
	return fmt.Sprintf("journal: the run %q is held by process %d on %s since %s; wait until it has ended, or end it",
		e.Run, e.Holder.PID, e.Holder.Host, e.Holder.Since.Format(time.RFC3339))
}

// A LostError is the error for a run whose hold was lost, since another process has taken it over
// or it could not be renewed. Events that were appended since then are not written.
type LostError struct{ Run string }

func (e *LostError) Error() string {
	return fmt.Sprintf("journal: the run %q is not held any more; resume it", e.Run)
}

// A CutError is the error for a run whose record was damaged and repaired. What the run did after
// the events that could be kept is not known, so it can't be resumed.
type CutError struct{ Run, Reason string }

func (e *CutError) Error() string {
	return fmt.Sprintf("journal: the run %q can't go on: %s; look at it with plc show, and run its plan again", e.Run, e.Reason)
}

// A MissingError is the error for a run, or a loop, that the store doesn't have.
type MissingError struct{ Run string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("journal: there is no run %q in the store", e.Run)
}

// An ExistsError is the error for a new run, or loop, whose id the store has already.
type ExistsError struct{ Run string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("journal: the run %q is in the store already; resume it, or give the new one another id", e.Run)
}

// ErrBroken is wrapped by errors about data that differs from what was written.
var ErrBroken = errors.New("not what was written")

// Typed reports whether an error has one of the types of this package.
func Typed(err error) bool {
	var own *Error
	switch err.(type) {
	case *HeldError, *LostError, *CutError, *MissingError, *ExistsError, *AnswerError, *UsedError:
		return true
	}
	return errors.As(err, &own)
}
