package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// loop is a journal.Loop. Its lock is a file next to those of the runs.
type loop struct {
	store *Store
	id    int64
	name  string
	given json.RawMessage

	mu          sync.Mutex // guards the rest
	lock        *lock      // nil after it was released
	record.Link            // of its last entry
}

// lockLoop takes the lock of a loop, which need not exist.
func (s *Store) lockLoop(name string) (*lock, error) {
	if name == "" || name != filepath.Base(name) {
		return nil, fmt.Errorf("journal: %q can't be the id of a loop", name)
	}
	s.writing.Lock()
	err := s.writable()
	s.writing.Unlock()
	if err != nil {
		return nil, err
	}
	held, err := lockFile(filepath.Join(s.path+".locks", "loop-"+name))
	if errors.Is(err, errHeld) {
		err = &journal.HeldError{Run: name}
	}
	return held, s.fault(err)
}

// CreateLoop implements journal.Store.
func (s *Store) CreateLoop(ctx context.Context, name string, given json.RawMessage) (journal.Loop, error) {
	held, err := s.lockLoop(name)
	if err != nil {
		return nil, err
	}
	l := &loop{store: s, name: name, lock: held}
	if err = l.create(ctx, given); err != nil {
		held.free()
		return nil, err
	}
	s.enlistLoop(l)
	return l, nil
}

// create makes the row of a loop.
func (l *loop) create(ctx context.Context, given json.RawMessage) error {
	l.given = given
	return l.store.write(ctx, func(tx *tx) error {
		var exists int
		err := tx.conn.QueryRowContext(tx.ctx, "SELECT count(*) FROM loops WHERE name = ?", l.name).Scan(&exists)
		if err == nil && exists > 0 {
			err = &journal.ExistsError{Run: l.name}
		}
		if err != nil {
			return err
		}
		res, err := tx.conn.ExecContext(tx.ctx, "INSERT INTO loops (name, created, given, last, head, sum) VALUES (?, ?, ?, 0, 0, 0)",
			l.name, record.Micros(time.Now()), string(given))
		if err != nil {
			return err
		}
		if l.id, err = res.LastInsertId(); err != nil {
			return err
		}
		return tx.sealLoop(l.id)
	})
}

// loopColumns are the columns of a loop's row, with its sum.
const (
	loopColumns = "id, name, created, given, last, head, sum"
	loopWidth   = 7
)

// sealLoop computes the sum of a loop's row.
func (t *tx) sealLoop(id int64) error {
	values, err := scanValues(loopWidth, t.conn.QueryRowContext(t.ctx, "SELECT "+loopColumns+" FROM loops WHERE id = ?", id).Scan)
	if err == nil {
		_, err = t.exec("UPDATE loops SET sum = ? WHERE id = ?", record.SumRow(values[:loopWidth-1]...), id)
	}
	return err
}

// ResumeLoop implements journal.Store.
func (s *Store) ResumeLoop(ctx context.Context, name string) (journal.Loop, error) {
	held, err := s.lockLoop(name)
	if err != nil {
		return nil, err
	}
	l := &loop{store: s, name: name, lock: held}
	noted, err := held.noted() // the note of a process that was killed
	if err == nil {
		err = s.takeOver(ctx, name)
	}
	if err == nil {
		err = l.load(ctx)
	}
	if err == nil && noted != nil && noted.Last > l.Last {
		err = record.Broken(fmt.Sprintf("the loop %q", name), fmt.Errorf("%d entries were written", noted.Last))
	}
	if err != nil {
		if noted == nil {
			held.free()
		} else {
			held.closeKeepingNote() // keep the note as evidence
		}
		return nil, s.fault(err)
	}
	s.enlistLoop(l)
	return l, nil
}

// enlistLoop makes the store release a loop when the store is closed.
func (s *Store) enlistLoop(l *loop) {
	s.holding.Lock()
	defer s.holding.Unlock()
	s.loops[l] = true
}

// closeLoops releases the loops that are still held.
func (s *Store) closeLoops() {
	s.holding.Lock()
	all := slices.Collect(maps.Keys(s.loops))
	s.holding.Unlock()
	for _, l := range all {
		l.Close()
	}
}

// load reads the row of a loop.
func (l *loop) load(ctx context.Context) error {
	values, err := scanValues(loopWidth, l.store.readers.QueryRowContext(ctx, "SELECT "+loopColumns+" FROM loops NOT INDEXED WHERE name = ?", l.name).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return &journal.MissingError{Run: l.name}
	}
	if err == nil {
		err = record.CheckRow(fmt.Sprintf("the loop %q", l.name), values)
	}
	if err != nil {
		return err
	}
	var given string
	err = errors.Join(record.Assign(&l.id, values[0]), record.Assign(&given, values[3]), record.Assign(&l.Last, values[4]), record.Assign(&l.Sum, values[5]))
	l.given = json.RawMessage(given)
	return err
}

// LoopEntries implements journal.Store.
func (s *Store) LoopEntries(ctx context.Context, name string) ([]json.RawMessage, error) {
	l := &loop{store: s, name: name}
	for {
		if err := l.load(ctx); err != nil {
			return nil, s.fault(err)
		}
		all, err := l.entries(ctx)
		before := l.Link
		if err == nil || l.load(ctx) != nil || l.Link == before { // otherwise an entry was added meanwhile
			return all, s.fault(err)
		}
	}
}

// DeleteLoop implements journal.Store.
func (s *Store) DeleteLoop(ctx context.Context, name string) error {
	held, err := s.lockLoop(name)
	if err != nil {
		return err
	}
	defer held.free()
	return s.write(ctx, func(tx *tx) error {
		if _, err := tx.exec("DELETE FROM entries WHERE loop IN (SELECT id FROM loops WHERE name = ?)", name); err != nil {
			return err
		}
		n, err := tx.exec("DELETE FROM loops WHERE name = ?", name)
		if err == nil && n == 0 {
			err = &journal.MissingError{Run: name}
		}
		return err
	})
}

// Loops implements journal.Store.
func (s *Store) Loops(ctx context.Context) ([]string, error) {
	rows, err := s.readers.QueryContext(ctx, "SELECT "+loopColumns+" FROM loops NOT INDEXED ORDER BY id DESC")
	if err != nil {
		return nil, s.fault(err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		values, err := scanValues(loopWidth, rows.Scan)
		if err == nil {
			err = record.CheckRow("a loop", values)
		}
		if err != nil {
			return nil, s.fault(err)
		}
		names = append(names, values[1].(string))
	}
	if err := rows.Err(); err != nil {
		return nil, s.fault(err)
	}
	old, err := s.oldLoops()
	for _, name := range old {
		if !slices.Contains(names, name) { // otherwise it was copied only in part
			names = append(names, name)
		}
	}
	return names, s.fault(err)
}

// ID implements journal.Loop.
func (l *loop) ID() string { return l.name }

// Given implements journal.Loop.
func (l *loop) Given() json.RawMessage { return l.given }

// Entries implements journal.Loop.
func (l *loop) Entries(ctx context.Context) ([]json.RawMessage, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	all, err := l.entries(ctx)
	return all, l.store.fault(err)
}

func (l *loop) entries(ctx context.Context) ([]json.RawMessage, error) {
	rows, err := l.store.readers.QueryContext(ctx, "SELECT number, body, sum FROM entries WHERE loop = ? ORDER BY number", l.id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []json.RawMessage
	var at record.Link
	for rows.Next() {
		var number, sum int64
		var body string
		if err := rows.Scan(&number, &body, &sum); err != nil {
			return nil, err
		}
		if number != at.Last+1 || sum != record.SumRow(at.Sum, l.id, number, body) {
			return nil, record.Broken(fmt.Sprintf("entry %d of the loop %q", at.Last+1, l.name), record.ErrSum)
		}
		at = record.Link{Last: number, Sum: sum}
		all = append(all, json.RawMessage(body))
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if at != l.Link {
		return nil, record.Broken(fmt.Sprintf("the loop %q", l.name), fmt.Errorf("%d entries were written", l.Last))
	}
	return all, nil
}

// Append implements journal.Loop.
func (l *loop) Append(ctx context.Context, entry json.RawMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lock == nil {
		return &journal.Error{Path: l.store.path, Fault: journal.Closed, Err: fmt.Errorf("the loop %q was given back", l.name)}
	}
	number := l.Last + 1
	next := record.Link{Last: number, Sum: record.SumRow(l.Sum, l.id, number, string(entry))}
	err := l.store.write(ctx, func(tx *tx) error {
		if _, err := tx.exec("INSERT INTO entries (loop, number, body, sum) VALUES (?, ?, ?, ?)", l.id, number, string(entry), next.Sum); err != nil {
			return err
		}
		if _, err := tx.exec("UPDATE loops SET last = ?, head = ? WHERE id = ?", next.Last, next.Sum, l.id); err != nil {
			return err
		}
		return tx.sealLoop(l.id)
	})
	if err == nil {
		l.Link = next
		l.lock.note(next)
	}
	return err
}

// Close implements journal.Loop.
func (l *loop) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lock.drop()
	l.lock = nil
	l.store.holding.Lock()
	defer l.store.holding.Unlock()
	delete(l.store.loops, l)
	return nil
}
