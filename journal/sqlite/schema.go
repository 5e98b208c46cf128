package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// applicationID is in the header of each store, so that another program's database is
// not taken for one ("plc1").
const applicationID = 0x706c6331

// schemas returns the steps that bring a store to this version: schemas()[n] takes it from
// user_version n to n+1. A step that was released must not change.
func schemas() []string { return []string{schema1, schema2, schema3, schema4, schema5} }

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

// schema2 makes commits write fewer pages: for what calls do, only the table of events changes. The
// row of a run only changes with events about the run itself; in between, the last event of each
// commit has what would be in the row. Only events of instances are indexed.
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

// schema3 allows several events in a row, one in each line of its body, if they are of one instance
// and were committed together. The id, time and tally of the row are those of the last event; its
// path and type are empty. Existing rows stay rows of one event.
const schema3 = "SELECT 'only what rows say is new'"

// schema4 adds sums: see sum.go.
const schema4 = `
ALTER TABLE events ADD COLUMN sum INTEGER;       -- of this row and the one before it of its run
ALTER TABLE runs ADD COLUMN born INTEGER;        -- when the process that holds it began, as the system counts
ALTER TABLE runs ADD COLUMN head INTEGER;        -- the sum of its last event, the one of last
ALTER TABLE runs ADD COLUMN given INTEGER;       -- the sum of what it was given
ALTER TABLE runs ADD COLUMN asked INTEGER;       -- and of its questions
ALTER TABLE runs ADD COLUMN prev INTEGER;        -- the run before it
ALTER TABLE runs ADD COLUMN sum INTEGER;         -- of its row
ALTER TABLE instances ADD COLUMN sum INTEGER;
ALTER TABLE durations ADD COLUMN sum INTEGER;
ALTER TABLE approvals ADD COLUMN sum INTEGER;
CREATE TABLE store (
	path   TEXT NOT NULL,    -- of the file, the only name by which it may be opened while it has several
	newest INTEGER NOT NULL, -- run
	sum    INTEGER NOT NULL
) STRICT;
`

// schema5 adds loops, and requests to end runs.
const schema5 = `
CREATE TABLE loops (
	id      INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again
	name    TEXT NOT NULL UNIQUE,              -- the loop's id
	created INTEGER NOT NULL,
	given   TEXT NOT NULL,                     -- JSON
	last    INTEGER NOT NULL,                  -- how many entries it has
	head    INTEGER NOT NULL,                  -- the sum of the last one
	sum     INTEGER NOT NULL                   -- of this row
) STRICT;

CREATE TABLE entries (
	loop   INTEGER NOT NULL,
	number INTEGER NOT NULL, -- from 1
	body   TEXT NOT NULL,    -- JSON
	sum    INTEGER NOT NULL, -- of this row and the one before it
	PRIMARY KEY (loop, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE cancels (
	run    INTEGER PRIMARY KEY, -- that somebody wants to end
	reason TEXT NOT NULL,
	sum    INTEGER NOT NULL
) STRICT;
`

// schemaSum is the sum of the SQL of this version's tables.
const schemaSum = 0x96a99b2a8fe1696

// migrate brings a store to this version, in one transaction. An empty file becomes a store.
func (s *Store) migrate(ctx context.Context) error {
	made := false
	err := s.write(ctx, func(tx *tx) error {
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
		if version < 4 {
			if err := tx.sumAll(s.path); err != nil {
				return err
			}
		}
		_, err = tx.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(steps)))
		made = true
		return err
	})
	if err == nil && made { // into the file itself, so that processes that use another name see it
		_, err = s.writer.conn.ExecContext(ctx, "PRAGMA wal_checkpoint")
	}
	return err
}

// version returns the version of a store's file; 0 if it is empty. It returns an error if the file
// is something else, or was made by a newer version.
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
		return 0, &journal.Error{Path: s.path, Fault: journal.Foreign, Err: fmt.Errorf("it is a database of another program")}
	case version > len(schemas()):
		return 0, &journal.Error{Path: s.path, Fault: journal.Newer, Err: fmt.Errorf("its version is %d, the last one known is %d", version, len(schemas()))}
	case version < 1:
		return 0, &journal.Error{Path: s.path, Fault: journal.Damaged, Err: fmt.Errorf("its version is %d", version)}
	}
	return version, nil
}

// checkSchema returns an error if the tables are not those of this version.
func (s *Store) checkSchema(ctx context.Context, q querier) error {
	sum, err := sumRows(ctx, q, 4, "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name")
	if err == nil && sum != schemaSum {
		err = &journal.Error{Path: s.path, Fault: journal.Damaged, Err: fmt.Errorf("its tables are not those of its version (%#x)", sum)}
	}
	return err
}

// sumAll computes the sums of a store that has none yet.
func (t *tx) sumAll(path string) error {
	ids, err := t.ids("SELECT id FROM runs ORDER BY id")
	if err != nil {
		return err
	}
	prev := int64(0)
	for _, id := range ids {
		if err := t.sumEvents(id); err != nil {
			return err
		}
		if _, err := t.exec("UPDATE runs SET prev = ?1, head = (SELECT sum FROM events WHERE events.id = (?2 << 32 | last)) WHERE id = ?2", prev, id); err != nil {
			return err
		}
		if err := t.sealGiven(id); err != nil {
			return err
		}
		prev = id
	}
	if err := t.sumOthers(); err != nil {
		return err
	}
	_, err = t.exec("INSERT INTO store (path, newest, sum) VALUES (?, ?, ?)", path, prev, record.SumRow(path, prev))
	return err
}

// ids returns the numbers that a query returns.
func (t *tx) ids(query string, args ...any) (ids []int64, err error) {
	rows, err := t.conn.QueryContext(t.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// sumEvents computes the sums of the events of a run.
func (t *tx) sumEvents(run int64) error {
	sum := int64(0)
	for from := record.EventID(run, 0); ; {
		ids, err := t.ids("SELECT id FROM events WHERE id >= ? AND id < ? ORDER BY id LIMIT 1000", from, record.EventID(run+1, 0))
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			var instance, path, kind string
			var time int64
			var body []byte
			var tally any
			err := t.conn.QueryRowContext(t.ctx, "SELECT instance, path, type, time, body, tally FROM events WHERE id = ?", id).
				Scan(&instance, &path, &kind, &time, &body, &tally)
			if err != nil {
				return err
			}
			sum = record.EventSum(sum, id, instance, path, kind, time, body, tally)
			if _, err := t.exec("UPDATE events SET sum = ? WHERE id = ?", sum, id); err != nil {
				return err
			}
			from = id + 1
		}
	}
}

// sumOthers computes the sums of the other rows.
func (t *tx) sumOthers() error {
	for _, of := range []struct {
		columns int
		read    string
		write   string
	}{
		{4, "SELECT run, name, status, result FROM instances", "UPDATE instances SET sum = ? WHERE run = ? AND name = ?"},
		{3, "SELECT tool, number, length FROM durations", "UPDATE durations SET sum = ? WHERE tool = ? AND number = ?"},
		{5, "SELECT id, digest, created, expires, run FROM approvals", "UPDATE approvals SET sum = ? WHERE id = ? AND digest = ?"},
	} {
		rows, err := t.conn.QueryContext(t.ctx, of.read)
		if err != nil {
			return err
		}
		var all [][]any
		for rows.Next() {
			values, err := scanValues(of.columns, rows.Scan)
			if err != nil {
				rows.Close()
				return err
			}
			all = append(all, []any{record.SumRow(values...), values[0], values[1]})
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		for _, args := range all {
			if _, err := t.exec(of.write, args...); err != nil {
				return err
			}
		}
	}
	return nil
}
