package journal

import (
	"context"
	"database/sql"
	"fmt"
)

// applicationID is in the header of each store, so that another program's database is
// not taken for one ("plc1").
const applicationID = 0x706c6331

// schemas are the steps by which a store comes to this version: schemas()[n] takes it
// from user_version n to n+1. A step that was released does not change any more.
func schemas() []string { return []string{schema1, schema2, schema3} }

// schema1 is the first version. Times are microseconds since 1970, flags, labels, calls
// and sets are JSON objects.
const schema1 = `
CREATE TABLE runs (
	id       INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
	name     TEXT NOT NULL UNIQUE,              -- the run's id
	plan     TEXT NOT NULL,                     -- the name of the plan's file
	program  TEXT NOT NULL,                     -- its digest
	flags    TEXT NOT NULL,
	labels   TEXT NOT NULL,
	parent   TEXT,                              -- the run that it is a fork of,
	at       TEXT,                              -- from this call on,
	instance TEXT,                              -- of this instance,
	sets     TEXT,                              -- with these values
	created  INTEGER NOT NULL,
	changed  INTEGER NOT NULL,
	finished INTEGER,
	status   TEXT NOT NULL,
	reason   TEXT NOT NULL DEFAULT '',
	last     INTEGER NOT NULL DEFAULT 0,        -- the number of its last event
	calls    TEXT NOT NULL DEFAULT '{}',        -- how many have each status
	asking   INTEGER NOT NULL DEFAULT 0,        -- open questions
	pid      INTEGER,                           -- who holds it; only a lock tells whether that still lives
	host     TEXT,
	since    INTEGER
) STRICT;
CREATE INDEX runs_status ON runs (status);

CREATE TABLE texts (
	digest TEXT NOT NULL UNIQUE, -- SHA-256, hexadecimal
	body   BLOB NOT NULL
) STRICT;

CREATE TABLE given (
	run      INTEGER NOT NULL,
	number   INTEGER NOT NULL,
	role     TEXT NOT NULL,
	name     TEXT NOT NULL,
	notation TEXT NOT NULL,
	digest   TEXT NOT NULL,   -- texts may have it, or not
	PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX given_digest ON given (digest);

-- One index besides the table: a run's events lie together, in their order, and those
-- of an instance are found by the run, its name and that order.
CREATE TABLE events (
	id       INTEGER PRIMARY KEY, -- run * 2^32 + seq
	run      INTEGER GENERATED ALWAYS AS (id >> 32) VIRTUAL,
	seq      INTEGER GENERATED ALWAYS AS (id & 4294967295) VIRTUAL,
	instance TEXT NOT NULL,
	path     TEXT NOT NULL,       -- of the call
	type     TEXT NOT NULL,
	time     INTEGER NOT NULL,
	body     TEXT NOT NULL        -- the event as JSON
) STRICT;
CREATE INDEX events_instance ON events (run, instance);

CREATE TABLE questions ( -- the last one of each call
	run      INTEGER NOT NULL,
	instance TEXT NOT NULL,
	path     TEXT NOT NULL,
	digest   TEXT NOT NULL,
	seq      INTEGER NOT NULL, -- the event that asks it
	answer   TEXT,             -- JSON
	closed   INTEGER NOT NULL, -- the call went on: by the answer, or without
	PRIMARY KEY (run, instance, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE instances ( -- those that have ended
	run    INTEGER NOT NULL,
	name   TEXT NOT NULL,
	status TEXT NOT NULL,
	result TEXT,
	PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE durations (
	tool   TEXT NOT NULL,
	number INTEGER NOT NULL,
	length INTEGER NOT NULL, -- nanoseconds
	PRIMARY KEY (tool, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE approvals (
	id      INTEGER PRIMARY KEY,
	digest  TEXT NOT NULL,
	created INTEGER NOT NULL,
	expires INTEGER,          -- never
	run     TEXT              -- that used it
) STRICT;
CREATE INDEX approvals_digest ON approvals (digest);
`

// schema2 has commits write few pages: with what calls did, only events change. The row of a run
// does with the events of the run itself; in between, the last event of each commit has what
// would be in it. Runs without instances have no index of them.
const schema2 = `
ALTER TABLE events ADD COLUMN tally TEXT; -- how many calls have each status, after it; NULL when runs has that

CREATE VIEW summaries AS
	SELECT r.id, name, plan, program, labels, parent, status, reason, created, finished, asking, pid, host, since,
		iif(tally IS NULL, changed, time) AS changed,
		iif(tally IS NULL, last, seq) AS last,
		coalesce(tally, calls) AS calls
	FROM runs r LEFT JOIN events e ON e.id =
		iif(finished IS NULL, (SELECT max(id) FROM events WHERE id >= r.id << 32 AND id < (r.id + 1) << 32), NULL);

DROP INDEX events_instance;
CREATE INDEX events_instance ON events (run, instance) WHERE instance <> '';
`

// schema3 has several events in a row, a line of its body each, when they are of one instance and were
// committed together: its id, time and tally are those of the last one, its path and type are empty.
// What there is already stays: rows of one event.
const schema3 = "SELECT 'only what rows say is new'"

// migrate brings a store to this version, in one transaction. A file without anything
// in it becomes a store.
func (s *Store) migrate(ctx context.Context) error {
	return s.write(ctx, func(tx *tx) error {
		version, err := s.version(ctx, tx.conn)
		if err != nil {
			return err
		}
		steps := schemas()
		for _, step := range steps[version:] {
			if _, err := tx.conn.ExecContext(ctx, step); err != nil {
				return err
			}
		}
		if version == len(steps) {
			return nil
		}
		_, err = tx.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(steps)))
		return err
	})
}

// version is that of a store's file: 0 for one that has nothing in it. It is an error
// if the file is something else, or newer.
func (s *Store) version(ctx context.Context, conn *sql.Conn) (int, error) {
	var application, version, tables int
	err := conn.QueryRowContext(ctx,
		"SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").
		Scan(&application, &version, &tables)
	switch {
	case err != nil:
		return 0, err
	case application == 0 && version == 0 && tables == 0:
		return 0, nil
	case application != applicationID:
		return 0, &Error{Path: s.path, Fault: Foreign, Err: fmt.Errorf("it is a database of another program")}
	case version > len(schemas()):
		return 0, &Error{Path: s.path, Fault: Newer, Err: fmt.Errorf("its version is %d, the last one known is %d", version, len(schemas()))}
	case version < 1:
		return 0, &Error{Path: s.path, Fault: Damaged, Err: fmt.Errorf("its version is %d", version)}
	}
	return version, nil
}
