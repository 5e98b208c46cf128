package postgres

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/plc-lang/plc/journal"
)

// fault wraps an error of the database, of the network or of reading stored data. It returns errors
// that have a type already unchanged.
func (s *Store) fault(err error) error {
	if err == nil || journal.Typed(err) || errors.Is(err, context.Canceled) {
		return err
	}
	e := &journal.Error{Path: s.at.name, Err: &cleaned{text: s.clean(err.Error()), err: err}}
	e.Fault, e.Cure = faultOf(err)
	return e
}

// cleaned is an error whose text has no secrets.
type cleaned struct {
	text string
	err  error
}

func (c *cleaned) Error() string { return c.text }
func (c *cleaned) Unwrap() error { return c.err }

// clean removes secrets from a text, and puts it on one line.
func (s *Store) clean(text string) string {
	for _, secret := range s.at.secrets() {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return strings.Join(strings.Fields(text), " ")
}

// The cures of faults that differ from those for a file.
const (
	cureAway   = "start it, or see to the network and the URL; then resume the run"
	cureWrite  = "name the server that can be written, not a standby, and let the user write"
	cureFull   = "make room on the server, then resume the run"
	cureDenied = "give the user its password (PGPASSWORD or ~/.pgpass) and its rights on the database and the schema"
	cureAbsent = "make the database (createdb), or name another one"
	cureBusy   = "try again when what keeps it locked has ended"
	cureDamage = "plc runs repair shows what can be kept; or restore it from a copy"
	cureOther  = "see to the server, or name another store"
)

// faultOf returns what kind of fault an error is, and what to do about it.
func faultOf(err error) (journal.Fault, string) {
	if errors.Is(err, journal.ErrBroken) {
		return journal.Damaged, cureDamage
	}
	switch code := codeOf(err); code {
	case "53100": // disk_full
		return journal.Full, cureFull
	case "25006": // read_only_sql_transaction
		return journal.ReadOnly, cureWrite
	case "42501", "28000", "28P01": // insufficient_privilege, invalid authorization, invalid password
		return journal.Denied, cureDenied
	case "3D000": // invalid_catalog_name
		return journal.Absent, cureAbsent
	case "40001", "40P01", "55P03": // serialization_failure, deadlock_detected, lock_not_available
		return journal.Locked, cureBusy
	case "XX001", "XX002", "42P01", "42703": // data_corrupted, index_corrupted, undefined table and column
		return journal.Damaged, cureDamage
	}
	if away(err) {
		return journal.Away, cureAway
	}
	return journal.Unusable, cureOther
}

// codeOf returns the code of an error of the server; "" for any other error.
func codeOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// away reports whether an error is about a connection, so that the same may succeed with another
// one.
func away(err error) bool {
	switch code := codeOf(err); {
	case errors.Is(err, errBadConnection):
		return true
	case strings.HasPrefix(code, "08"): // connection exceptions
		return true
	case code == "57P01", code == "57P02", code == "57P03", code == "57P05", code == "25P03", code == "25P04", code == "53300":
		// shutdowns, a server that starts, timeouts of idle sessions, too many connections
		return true
	case code != "":
		return false
	}
	var connect *pgconn.ConnectError
	return errors.As(err, &connect)
}

// mayRetry reports whether a transaction that failed with this error may succeed if it is repeated.
func mayRetry(err error) bool {
	code := codeOf(err)
	return away(err) || code == "40001" || code == "40P01"
}

// ofPart reports whether an error is about the data that is written for one run, and not about the
// store.
func ofPart(err error) bool {
	var lost *journal.LostError
	if errors.As(err, &lost) {
		return true
	}
	switch code := codeOf(err); {
	case strings.HasPrefix(code, "22"), strings.HasPrefix(code, "23"), strings.HasPrefix(code, "54"): // data, constraints, limits
		return true
	}
	return false
}
