package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// committer returns how the store commits.
func (s *Store) committer() record.Committer {
	return record.Committer{
		Delay: s.opts.Delay, Write: s.writeParts, OfPart: ofStatement, Changed: s.watch.Tell, Fault: s.fault,
		Closed: func(run string) error {
			e := &journal.Error{Path: s.path, Fault: journal.Closed}
			if run != "" {
				e.Err = fmt.Errorf("the run %q was given back", run)
			}
			return e
		},
	}
}

// ofStatement reports whether an error is about the data that is written, and not about the file.
func ofStatement(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE, sqlite3.SQLITE_NOMEM:
		return true
	}
	return false
}

func (s *Store) writeParts(parts []*record.Part) error {
	return s.write(context.Background(), func(tx *tx) error {
		for _, p := range parts {
			if err := s.writePart(tx, p); err != nil {
				return err
			}
		}
		return nil
	})
}
