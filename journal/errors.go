package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Fault says what is wrong with a store's file.
type Fault uint8

// The faults.
const (
	Unusable Fault = iota // it can't be read or written; Error.Err says why
	Damaged               // it is a store, and its content is broken
	Foreign               // it is something else
	Newer                 // a newer version made it
	ReadOnly              // it can't be written
	Locked                // another process was writing for too long
	Full                  // no space is left
	Denied                // permission is missing
	Absent                // it is not there, and was not to be made
	Closed                // the store, or the run, was closed
)

// cure is what to do about a fault.
func (f Fault) cure() (what, cure string) {
	switch f {
	case Damaged:
		return "is damaged", "restore it from a copy, or move it away and a new one is made"
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
	}
	return "can't be used", "see to its disk, or name another file"
}

// Error is a fault of a store's file.
type Error struct {
	Path  string // of the file
	Fault Fault
	Err   error // the cause; nil when the fault says all
}

func (e *Error) Error() string {
	what, cure := e.Fault.cure()
	cause := ""
	if e.Err != nil {
		cause = ": " + e.Err.Error()
	}
	return fmt.Sprintf("journal: %s %s%s; %s", e.Path, what, cause, cure)
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// HeldError is that of a run which another process, or another part of this one,
// holds.
type HeldError struct {
	Run    string
	Holder Holder // zero when it is just being taken
}

// Holder is the process that holds a run.
type Holder struct {
	PID   int
	Host  string
	Since time.Time
}

func (e *HeldError) Error() string {
	if e.Holder.PID == 0 {
		return fmt.Sprintf("journal: the run %q is held by another process; wait until it has ended", e.Run)
	}
	return fmt.Sprintf("journal: the run %q is held by process %d on %s since %s; wait until it has ended, or end it",
		e.Run, e.Holder.PID, e.Holder.Host, e.Holder.Since.Format(time.RFC3339))
}

// MissingError is that of a run which the store does not have.
type MissingError struct{ Run string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("journal: there is no run %q in the store", e.Run)
}

// ExistsError is that of a new run whose id the store has already.
type ExistsError struct{ Run string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("journal: the run %q is in the store already; resume it, or give the new one another id", e.Run)
}

// fault wraps an error of the database, of the file or of reading its content.
// Errors that are typed already stay as they are.
func (s *Store) fault(err error) error {
	var own *Error
	if err == nil || errors.As(err, &own) || typed(err) {
		return err
	}
	return &Error{Path: s.path, Fault: faultOf(err), Err: err}
}

// typed reports whether an error is one of this package's about runs.
func typed(err error) bool {
	switch err.(type) {
	case *HeldError, *MissingError, *ExistsError, *AnswerError, *ApprovalError:
		return true
	}
	return false
}

func faultOf(err error) Fault {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return Full
	case errors.Is(err, syscall.EROFS):
		return ReadOnly
	case errors.Is(err, fs.ErrPermission):
		return Denied
	case errors.Is(err, fs.ErrNotExist):
		return Absent
	case errors.Is(err, errDecode):
		return Damaged
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return Unusable
	}
	switch e.Code() & 0xff { // extended codes have the plain one in their lowest byte
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return Locked
	case sqlite3.SQLITE_CORRUPT:
		return Damaged
	case sqlite3.SQLITE_NOTADB:
		return Foreign
	case sqlite3.SQLITE_READONLY:
		return ReadOnly
	case sqlite3.SQLITE_FULL:
		return Full
	case sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return Denied
	}
	return Unusable
}

// busy reports whether another process was writing.
func busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// errDecode is what a row that is not what was written there is an instance of.
var errDecode = errors.New("not what was written")

// undecodable is the error of a row whose content is broken.
func undecodable(what string, err error) error {
	return fmt.Errorf("%s is %w: %w", what, errDecode, err)
}
