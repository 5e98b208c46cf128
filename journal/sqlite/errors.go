package sqlite

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/plc-lang/plc/journal"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// fault wraps an error of the database, of the file or of reading its contents. It returns errors
// that have a type already unchanged.
func (s *Store) fault(err error) error {
	if err == nil || journal.Typed(err) {
		return err
	}
	return &journal.Error{Path: s.path, Fault: faultOf(err), Err: err}
}

func faultOf(err error) journal.Fault {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return journal.Full
	case errors.Is(err, syscall.EROFS):
		return journal.ReadOnly
	case errors.Is(err, fs.ErrPermission):
		return journal.Denied
	case errors.Is(err, fs.ErrNotExist):
		return journal.Absent
	case errors.Is(err, journal.ErrBroken):
		return journal.Damaged
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return journal.Unusable
	}
	switch e.Code() & 0xff { // the lowest byte of an extended code is the plain one
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return journal.Locked
	case sqlite3.SQLITE_CORRUPT:
		return journal.Damaged
	case sqlite3.SQLITE_NOTADB:
		return journal.Foreign
	case sqlite3.SQLITE_READONLY:
		return journal.ReadOnly
	case sqlite3.SQLITE_FULL:
		return journal.Full
	case sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return journal.Denied
	}
	return journal.Unusable
}

// busy reports whether another process was writing.
func busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}
