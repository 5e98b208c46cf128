package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// loop is a journal.Loop.
type loop struct {
	store   *Store
	hold    *hold
	given   json.RawMessage
	created int64

	mu          sync.Mutex // guards the rest
	record.Link            // of its last entry
	closed      bool
	err         error // why it accepts no more entries
}

// loopColumns are the columns of a loop's row, with its sum.
const loopColumns = "id, name, created, given, last, head, sum"

// sum returns the sum of the loop's row when its last entry is this one.
func (l *loop) sum(at record.Link) int64 {
	return record.SumRow(l.hold.id, l.hold.name, l.created, string(l.given), at.Last, at.Sum)
}

// heldLoop makes the store close a loop when the store is closed.
func (s *Store) heldLoop(l *loop) *loop {
	l.store = s
	l.hold.lost = func(err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.err = err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[l.hold] = true
	s.loops[l] = true
	return l
}

// closeLoops releases the loops that are still held.
func (s *Store) closeLoops() {
	s.mu.Lock()
	all := slices.Collect(maps.Keys(s.loops))
	s.mu.Unlock()
	for _, l := range all {
		l.Close()
	}
}

// CreateLoop implements journal.Store.
func (s *Store) CreateLoop(ctx context.Context, name string, given json.RawMessage) (journal.Loop, error) {
	if err := checkName("loop", name); err != nil {
		return nil, err
	}
	l := &loop{given: given, created: record.Micros(time.Now())}
	err := s.write(ctx, s.opts.Busy, func(tx *tx) error {
		v, err := tx.one("SELECT nextval('ids'), (SELECT count(*) FROM loops WHERE name = $1)", name)
		switch {
		case err != nil:
			return err
		case v[1] != any(int64(0)):
			return &journal.ExistsError{Run: name}
		}
		if l.hold, err = s.insertHold(tx, v[0].(int64), name, l.created); err != nil {
			return err
		}
		return tx.add("INSERT INTO loops ("+loopColumns+") VALUES ($1, $2, $3, $4, 0, 0, $5)", l.hold.id, name, l.created, string(given), l.sum(record.Link{}))
	})
	if codeOf(err) == "23505" { // another process was quicker
		err = &journal.ExistsError{Run: name}
	}
	if err != nil {
		return nil, err
	}
	return s.heldLoop(l), nil
}

// holdLoop holds the loop with this name.
func (s *Store) holdLoop(tx *tx, name string) (*hold, error) {
	v, err := tx.one("SELECT id FROM loops WHERE name = $1", name)
	switch {
	case err != nil:
		return nil, err
	case v == nil:
		return nil, &journal.MissingError{Run: name}
	}
	return s.takeHold(tx, v[0].(int64), name)
}

// loopRow returns the columns of the loop with this name, which it finds by a condition on arg.
func loopRow(ctx context.Context, q querier, name, condition string, arg any) ([]any, error) {
	v, err := one(ctx, q, "SELECT "+loopColumns+" FROM loops WHERE "+condition, arg)
	switch {
	case err != nil:
		return nil, err
	case v == nil:
		return nil, &journal.MissingError{Run: name}
	}
	return v, record.CheckRow(fmt.Sprintf("the loop %q", name), v)
}

// ResumeLoop implements journal.Store.
func (s *Store) ResumeLoop(ctx context.Context, name string) (journal.Loop, error) {
	var l *loop
	err := s.write(ctx, s.opts.Busy, func(tx *tx) error {
		l = &loop{}
		var err error
		if l.hold, err = s.holdLoop(tx, name); err != nil {
			return err
		}
		v, err := loopRow(ctx, tx, name, "id = $1", l.hold.id)
		if err != nil {
			return err
		}
		l.created, l.given = v[2].(int64), json.RawMessage(v[3].(string))
		l.Link = record.Link{Last: v[4].(int64), Sum: v[5].(int64)}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.heldLoop(l), nil
}

// DeleteLoop implements journal.Store.
func (s *Store) DeleteLoop(ctx context.Context, name string) error {
	return s.write(ctx, s.opts.Busy, func(tx *tx) error {
		held, err := s.holdLoop(tx, name)
		if err != nil {
			return err
		}
		for _, query := range []string{
			"DELETE FROM entries WHERE loop = $1", "DELETE FROM loops WHERE id = $1", "DELETE FROM holds WHERE id = $1",
		} {
			if err := tx.add(query, held.id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Loops implements journal.Store.
func (s *Store) Loops(ctx context.Context) (names []string, err error) {
	err = s.look(ctx, func(q querier) error {
		names = nil
		_, err := q.run(ctx, func(v []any) error {
			if err := record.CheckRow("a loop", v); err != nil {
				return err
			}
			names = append(names, v[1].(string))
			return nil
		}, "SELECT "+loopColumns+" FROM loops ORDER BY id DESC")
		return err
	})
	return names, err
}

// ID implements journal.Loop.
func (l *loop) ID() string { return l.hold.name }

// Given implements journal.Loop.
func (l *loop) Given() json.RawMessage { return l.given }

// Entries implements journal.Loop.
func (l *loop) Entries(ctx context.Context) (all []json.RawMessage, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.store.look(ctx, func(q querier) error {
		var at record.Link
		var err error
		if all, at, err = entriesOf(ctx, q, l.hold.id, l.hold.name); err == nil && at != l.Link && l.err == nil {
			err = missingEntries(l.hold.name, l.Link)
		}
		return err
	})
	return all, err
}

// entriesOf returns the entries of a loop, and the link of the last one.
func entriesOf(ctx context.Context, q querier, id int64, name string) (all []json.RawMessage, at record.Link, err error) {
	_, err = q.run(ctx, func(v []any) error {
		number, _ := v[0].(int64)
		body, _ := v[1].(string)
		if number != at.Last+1 || v[2] != any(record.SumRow(at.Sum, id, number, body)) {
			return record.Broken(fmt.Sprintf("entry %d of the loop %q", at.Last+1, name), record.ErrSum)
		}
		at = record.Link{Last: number, Sum: v[2].(int64)}
		all = append(all, json.RawMessage(body))
		return nil
	}, "SELECT number, body, sum FROM entries WHERE loop = $1 ORDER BY number", id)
	return all, at, err
}

// missingEntries returns the error for a loop that lacks some of its entries.
func missingEntries(name string, last record.Link) error {
	return record.Broken(fmt.Sprintf("the loop %q", name), fmt.Errorf("%d entries were written", last.Last))
}

// LoopEntries implements journal.Store.
func (s *Store) LoopEntries(ctx context.Context, name string) (all []json.RawMessage, err error) {
	err = s.read(ctx, func(q querier) error {
		v, err := loopRow(ctx, q, name, "name = $1", name)
		if err != nil {
			return err
		}
		var at record.Link
		last := record.Link{Last: v[4].(int64), Sum: v[5].(int64)}
		if all, at, err = entriesOf(ctx, q, v[0].(int64), name); err == nil && at != last {
			err = missingEntries(name, last)
		}
		return err
	})
	return all, err
}

// Append implements journal.Loop.
func (l *loop) Append(ctx context.Context, entry json.RawMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return &journal.Error{Path: l.store.at.name, Fault: journal.Closed, Err: fmt.Errorf("the loop %q was given back", l.hold.name)}
	case l.err != nil:
		return l.err
	}
	number := l.Last + 1
	next := record.Link{Last: number, Sum: record.SumRow(l.Sum, l.hold.id, number, string(entry))}
	err := l.store.write(ctx, l.store.opts.Away, func(tx *tx) error {
		if err := l.hold.mustHold(tx); err != nil {
			return err
		}
		if err := tx.add("INSERT INTO entries (loop, number, body, sum) VALUES ($1, $2, $3, $4)", l.hold.id, number, string(entry), next.Sum); err != nil {
			return err
		}
		return tx.add("UPDATE loops SET last = $2, head = $3, sum = $4 WHERE id = $1", l.hold.id, next.Last, next.Sum, l.sum(next))
	})
	if err == nil {
		l.Link = next
	}
	var lost *journal.LostError
	if errors.As(err, &lost) {
		l.err = err
	}
	return err
}

// Close implements journal.Loop.
func (l *loop) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.closed = true
	l.store.mu.Lock()
	delete(l.store.held, l.hold)
	delete(l.store.loops, l)
	l.store.mu.Unlock()
	return l.store.write(context.Background(), l.store.opts.Busy, l.hold.giveBack)
}
