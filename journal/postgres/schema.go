package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// schemas returns the steps that bring a store to this version: schemas()[n] takes it from version
// n to n+1. A step that was released must not change.
func schemas() []string { return []string{schema1} }

// schema1 is the first version. Times are microseconds since 1970. Names that users choose are
// BYTEA: TEXT allows no zero bytes, and is compared according to the locale. Long names are found
// by a part of their digest (key), since an index entry has at most 2.7 KB. The sums are those of
// package record.
const schema1 = `
CREATE TABLE store (
	version BIGINT NOT NULL,
	newest  BIGINT NOT NULL, -- run
	sum     BIGINT NOT NULL  -- of newest
);
INSERT INTO store (version, newest, sum) VALUES (0, 0, 0);

CREATE SEQUENCE ids;

CREATE TABLE runs (
	id       BIGINT PRIMARY KEY,
	name     BYTEA NOT NULL UNIQUE, -- the run's id
	plan     BYTEA NOT NULL,        -- the name of the plan's file
	program  BYTEA NOT NULL,        -- its digest
	settings BYTEA NOT NULL,        -- JSON, as labels and sets
	labels   BYTEA NOT NULL,
	parent   BYTEA,                 -- the run that it is a fork of,
	at       BYTEA,                 -- from this call on,
	instance BYTEA,                 -- of this instance,
	sets     BYTEA,                 -- with these values
	created  BIGINT NOT NULL,
	finished BIGINT,
	status   TEXT NOT NULL,
	reason   BYTEA NOT NULL,
	asking   BIGINT NOT NULL,       -- open questions
	given    BIGINT NOT NULL,       -- the sum of what it was given
	asked    BIGINT NOT NULL,       -- and of its questions
	prev     BIGINT NOT NULL,       -- the run before it
	sum      BIGINT NOT NULL        -- of this row
);
CREATE INDEX runs_status ON runs (status);

CREATE TABLE holds ( -- of runs and of loops: who has it, and how far the events of a run have come
	id      BIGINT PRIMARY KEY,
	epoch   BIGINT NOT NULL, -- how often it was taken
	pid     BIGINT,          -- of the process that has it, or had it when it was killed
	host    BYTEA,
	place   BYTEA,           -- the machine on which pid means something
	born    BIGINT,          -- when the process began
	since   BIGINT,
	until   BIGINT NOT NULL, -- when the lease ends
	last    BIGINT NOT NULL, -- the number of the last event
	head    BIGINT NOT NULL, -- its sum
	changed BIGINT NOT NULL,
	calls   BYTEA NOT NULL,  -- how many have each status, as JSON
	sum     BIGINT NOT NULL  -- of id, last, head, changed and calls
);

CREATE TABLE texts (
	digest TEXT PRIMARY KEY, -- SHA-256, hexadecimal
	body   BYTEA NOT NULL
);

CREATE TABLE given (
	run      BIGINT NOT NULL,
	number   BIGINT NOT NULL,
	role     TEXT NOT NULL,
	name     BYTEA NOT NULL,
	notation BYTEA NOT NULL,
	digest   TEXT NOT NULL,   -- texts may have it, or not
	PRIMARY KEY (run, number)
);
CREATE INDEX given_digest ON given (digest);

CREATE TABLE events ( -- a row of one, or of several of an instance that came one after the other
	id       BIGINT PRIMARY KEY, -- of the last one: run * 2^32 + its number
	key      BIGINT,             -- of the run and the instance; NULL without one
	instance BYTEA NOT NULL,
	path     BYTEA NOT NULL,     -- of the call
	type     TEXT NOT NULL,
	time     BIGINT NOT NULL,
	body     BYTEA NOT NULL,     -- a line of JSON for each
	sum      BIGINT NOT NULL     -- of this row and the one before it of its run
);
CREATE INDEX events_instance ON events (key) WHERE key IS NOT NULL;

CREATE TABLE questions ( -- the last one of each call
	run      BIGINT NOT NULL,
	key      BIGINT NOT NULL, -- of the instance and the path
	instance BYTEA NOT NULL,
	path     BYTEA NOT NULL,
	digest   BYTEA NOT NULL,
	seq      BIGINT NOT NULL, -- the event that asks it
	answer   BYTEA,           -- JSON
	closed   BIGINT NOT NULL, -- the call went on: by the answer, or without
	PRIMARY KEY (run, key)
);

CREATE TABLE cancels (
	run    BIGINT PRIMARY KEY, -- that somebody wants to end
	reason BYTEA NOT NULL,
	sum    BIGINT NOT NULL
);

CREATE TABLE durations (
	number BIGINT PRIMARY KEY,
	key    BIGINT NOT NULL,    -- of the tool
	tool   BYTEA NOT NULL,
	length BIGINT NOT NULL,    -- nanoseconds
	sum    BIGINT NOT NULL
);
CREATE INDEX durations_key ON durations (key, number);

CREATE TABLE approvals (
	id      BIGINT PRIMARY KEY,
	key     BIGINT NOT NULL,    -- of the digest
	digest  BYTEA NOT NULL,
	created BIGINT NOT NULL,
	expires BIGINT,             -- never
	run     BYTEA,              -- that used it
	sum     BIGINT NOT NULL
);
CREATE INDEX approvals_key ON approvals (key);

CREATE TABLE loops (
	id      BIGINT PRIMARY KEY,
	name    BYTEA NOT NULL UNIQUE,
	created BIGINT NOT NULL,
	given   BYTEA NOT NULL,  -- JSON
	last    BIGINT NOT NULL, -- how many entries it has
	head    BIGINT NOT NULL, -- the sum of the last one
	sum     BIGINT NOT NULL
);

CREATE TABLE entries (
	loop   BIGINT NOT NULL,
	number BIGINT NOT NULL, -- from 1
	body   BYTEA NOT NULL,  -- JSON
	sum    BIGINT NOT NULL, -- of this row and the one before it
	PRIMARY KEY (loop, number)
);
`

// version returns the version of the store; 0 if there is none yet.
func (s *Store) version(ctx context.Context, q querier) (int, error) {
	row, err := one(ctx, q, "SELECT count(*), count(*) FILTER (WHERE tablename = 'store') FROM pg_tables WHERE schemaname::text = $1::text", s.at.schema)
	switch {
	case err != nil:
		return 0, err
	case row[0] == any(int64(0)):
		return 0, nil
	case row[1] == any(int64(0)):
		return 0, s.foreign()
	}
	row, err = one(ctx, q, "SELECT version FROM store")
	switch version, ok := int64(0), false; {
	case codeOf(err) == "42703": // undefined_column
		return 0, s.foreign()
	case err != nil:
		return 0, err
	case row == nil:
		return 0, &journal.Error{Path: s.at.name, Fault: journal.Damaged, Err: errors.New("it has no version"), Cure: cureDamage}
	default:
		if version, ok = row[0].(int64); !ok {
			return 0, s.foreign()
		}
		if version > int64(len(s.steps)) {
			return 0, &journal.Error{Path: s.at.name, Fault: journal.Newer, Err: fmt.Errorf("its version is %d, the last one known is %d", version, len(s.steps)),
				Cure: "use that version of plc, or name another schema (search_path=NAME in the URL)"}
		}
		if version < 1 {
			return 0, &journal.Error{Path: s.at.name, Fault: journal.Damaged, Err: fmt.Errorf("its version is %d", version), Cure: cureDamage}
		}
		return int(version), nil
	}
}

func (s *Store) foreign() error {
	return &journal.Error{Path: s.at.name, Fault: journal.Foreign, Err: fmt.Errorf("the schema %q has tables of another program", s.at.schema),
		Cure: "name another schema (search_path=NAME in the URL)"}
}

// migrate brings the store to this version, in one transaction that other processes wait for. It
// fails if a process of an older version holds a run.
func (s *Store) migrate(ctx context.Context) error {
	version := 0
	err := s.read(ctx, func(q querier) (err error) {
		version, err = s.version(ctx, q)
		return err
	})
	switch {
	case err != nil || version == len(s.steps):
		return err
	case s.opts.ReadOnly && version == 0:
		return &journal.Error{Path: s.at.name, Fault: journal.Absent, Err: fmt.Errorf("the schema %q has no tables", s.at.schema), Cure: "a run makes them; or name the store that has the run"}
	case s.opts.ReadOnly:
		return &journal.Error{Path: s.at.name, Fault: journal.ReadOnly, Err: errors.New("its version is an older one, and has to be brought to this one"), Cure: cureWrite}
	}
	return s.write(ctx, s.opts.Busy, func(tx *tx) error {
		if _, err := tx.one("SELECT pg_advisory_xact_lock($1)", record.SumRow("plc schema", s.at.schema)); err != nil {
			return err
		}
		version, err := s.version(tx.ctx, tx)
		if err != nil || version == len(s.steps) {
			return err
		}
		if version == 0 {
			if err := s.makeSchema(tx); err != nil {
				return err
			}
		} else if err := s.nobodyHolds(tx); err != nil {
			return err
		}
		for _, step := range s.steps[version:] {
			if _, err := tx.conn.pg.Exec(tx.ctx, step).ReadAll(); err != nil {
				return tx.conn.broke(err)
			}
		}
		if version == 0 {
			if err := tx.add("UPDATE store SET sum = $1", record.SumRow(int64(0))); err != nil {
				return err
			}
		}
		return tx.add("UPDATE store SET version = $1", len(s.steps))
	})
}

// makeSchema makes the schema, unless an administrator has made it.
func (s *Store) makeSchema(tx *tx) error {
	row, err := tx.one("SELECT count(*) FROM pg_namespace WHERE nspname::text = $1::text", s.at.schema)
	if err != nil || row[0] != any(int64(0)) {
		return err
	}
	_, err = tx.conn.pg.Exec(tx.ctx, `CREATE SCHEMA "`+s.at.schema+`"`).ReadAll()
	return tx.conn.broke(err)
}

// nobodyHolds returns an error if processes of an older version use the tables.
func (s *Store) nobodyHolds(tx *tx) error {
	row, err := tx.one("SELECT count(*) FROM holds WHERE pid IS NOT NULL AND until > " + now)
	if err == nil && row[0] != any(int64(0)) {
		err = &journal.Error{Path: s.at.name, Fault: journal.Locked, Err: fmt.Errorf("it has to be brought to this version, and processes of an older one hold %d runs", row[0]),
			Cure: "end them first"}
	}
	return err
}
