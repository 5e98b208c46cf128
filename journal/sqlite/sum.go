package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
)

// What is in a store has checksums, so that a disk which gives back other bytes than it was given
// is noticed before anything is decided by them (execution §5):
//
//   - a row of events has the sum of itself and of the row before, so that the rows of a run
//     are a chain. The row of the run knows the last link of when the run began, paused, ended or
//     was given back, and its lock that of the last commit;
//   - the row of a run has the sum of itself, of what the run was given and of its questions. Each
//     names the run before it, and the row of the store the newest one;
//   - rows of instances, durations and approvals have their own.
//
// They find damage, not forgery: who can write the file can make sums as well.

// adder makes a sum.
type adder struct {
	h     hash.Hash
	space [9]byte
}

func newAdder() *adder { return &adder{h: sha256.New()} }

// text adds a text, with its length.
func (a *adder) text(kind byte, s string) {
	a.number(kind, int64(len(s)))
	a.h.Write([]byte(s))
}

func (a *adder) number(kind byte, n int64) {
	a.space[0] = kind
	binary.BigEndian.PutUint64(a.space[1:], uint64(n))
	a.h.Write(a.space[:])
}

// add adds a value as the database has it.
func (a *adder) add(values ...any) *adder {
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			a.number('n', 0)
		case int64:
			a.number('i', v)
		case int:
			a.number('i', int64(v))
		case string:
			a.text('t', v)
		case []byte:
			a.text('b', string(v))
		default:
			a.text('?', fmt.Sprint(v))
		}
	}
	return a
}

func (a *adder) sum() int64 {
	var space [sha256.Size]byte
	return int64(binary.BigEndian.Uint64(a.h.Sum(space[:0])))
}

// sumRow returns the sum of a row.
func sumRow(values ...any) int64 { return newAdder().add(values...).sum() }

// errSum is why a row whose sum is another is broken.
var errSum = errors.New("its sum is another one")

// link is a row of events in the chain of its run: the number of its last event, and its sum.
type link struct{ last, sum int64 }

// checkRow reports a row, whose last value is its sum, that is not what was written.
func checkRow(what string, values []any) error {
	n := len(values) - 1
	if sum, ok := values[n].(int64); !ok || sum != sumRow(values[:n]...) {
		return undecodable(what, errSum)
	}
	return nil
}

// scanValues reads a row of n values.
func scanValues(n int, scan func(...any) error) ([]any, error) {
	values, to := make([]any, n), make([]any, n)
	for i := range values {
		to[i] = &values[i]
	}
	return values, scan(to...)
}

// sumRows returns the sum of all rows that a query yields, in its order.
func sumRows(ctx context.Context, q querier, columns int, query string, args ...any) (int64, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	a := newAdder()
	for rows.Next() {
		values, err := scanValues(columns, rows.Scan)
		if err != nil {
			return 0, err
		}
		a.add(values...)
	}
	return a.sum(), rows.Err()
}

// The queries for what the sum of a run's row covers besides itself.
const (
	givenOfRun = `SELECT number, role, name, notation, digest, role <> 'instances' AND EXISTS (SELECT 1 FROM texts WHERE texts.digest = given.digest)
		FROM given WHERE run = ? ORDER BY number`
	questionsOfRun = "SELECT instance, path, digest, seq, answer, closed FROM questions WHERE run = ? ORDER BY instance, path"
)

// runColumns are those of a run's row r that its sum covers, with that sum.
const (
	runColumns = `r.id, r.name, r.plan, r.program, r.flags, r.labels, r.parent, r.at, r.instance, r.sets, r.created, r.changed, r.finished,
		r.status, r.reason, r.last, r.calls, r.asking, r.pid, r.host, r.since, r.born, r.head, r.given, r.asked, r.prev, r.sum`
	runWidth = 27
)

// seal renews the sums of a run whose questions were changed. Whoever has not changed them must not
// do this: it would make a damaged question a sound one.
func (t *tx) seal(id int64) error {
	asked, err := sumRows(t.ctx, t.conn, 6, questionsOfRun, id)
	if err != nil {
		return err
	}
	if _, err := t.exec("UPDATE runs SET asked = ? WHERE id = ?", asked, id); err != nil {
		return err
	}
	return t.sealRow(id)
}

// sealRow renews the sum of a run's row, which was changed and was sound before.
func (t *tx) sealRow(id int64) error {
	values, err := scanValues(runWidth, t.conn.QueryRowContext(t.ctx, "SELECT "+runColumns+" FROM runs r WHERE id = ?", id).Scan)
	if err != nil {
		return err
	}
	_, err = t.exec("UPDATE runs SET sum = ? WHERE id = ?", sumRow(values[:runWidth-1]...), id)
	return err
}

// sealGiven makes the sum of what a run was given, and that of its row.
func (t *tx) sealGiven(id int64) error {
	given, err := sumRows(t.ctx, t.conn, 6, givenOfRun, id)
	if err != nil {
		return err
	}
	if _, err := t.exec("UPDATE runs SET given = ? WHERE id = ?", given, id); err != nil {
		return err
	}
	return t.seal(id)
}

// checkParts reports what a run was given, and its questions, if they are not what was written.
func (s *Store) checkParts(ctx context.Context, q querier, r *runRow) error {
	given, err := sumRows(ctx, q, 6, givenOfRun, r.id)
	if err == nil && given != r.given {
		err = undecodable(fmt.Sprintf("what the run %q was given", r.name), errSum)
	}
	if err != nil {
		return err
	}
	asked, err := sumRows(ctx, q, 6, questionsOfRun, r.id)
	if err == nil && asked != r.asked {
		err = undecodable(fmt.Sprintf("a question of the run %q", r.name), errSum)
	}
	return err
}

// eventSum returns the sum of a row of events that follows one with the sum before.
func eventSum(before, id int64, instance, path, kind string, time int64, body []byte, tally any) int64 {
	a := newAdder().add(before, id, instance, path, kind, time)
	a.number('t', int64(len(body)))
	a.h.Write(body)
	return a.add(tally).sum()
}

// chain follows the rows of events of a run, from its first.
type chain struct {
	run   int64
	name  string
	known []link // that there have to be
	link         // of the last row
	index int64  // of rows of instances, whatever their order
}

// take checks the next row.
func (c *chain) take(id int64, instance, path, kind string, time int64, body []byte, tally any, sum any, lines int64) error {
	seq := seqOf(id)
	want := eventSum(c.sum, id, instance, path, kind, time, body, tally)
	have, ok := sum.(int64)
	if !ok || have != want || id>>32 != c.run || seq-lines != c.last {
		return c.broken(errSum)
	}
	c.last, c.sum = seq, want
	for _, l := range c.known {
		if l.last == seq && l.sum != want {
			return c.broken(errSum)
		}
	}
	if instance != "" {
		c.index ^= sumRow(id, instance)
	}
	return nil
}

// end checks that the last row was one.
func (c *chain) end() error {
	for _, l := range c.known {
		if l.last > c.last {
			return c.broken(fmt.Errorf("%d events were written", l.last))
		}
	}
	return nil
}

// broken returns the error of the row that comes next.
func (c *chain) broken(why error) error {
	return undecodable(fmt.Sprintf("event %d of the run %q", c.last+1, c.name), why)
}

// follow reads all events of a run and checks them. each gets every row.
func (c *chain) follow(ctx context.Context, q querier, each func(id int64, instance, kind string, body []byte) error) error {
	rows, err := q.QueryContext(ctx, "SELECT id, instance, path, type, time, body, tally, sum FROM events WHERE id >= ? AND id < ? ORDER BY id",
		eventID(c.run, 0), eventID(c.run+1, 0))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, time int64
		var instance, path, kind string
		var body []byte
		var tally, sum any
		if err := rows.Scan(&id, &instance, &path, &kind, &time, &body, &tally, &sum); err != nil {
			return err
		}
		if err := c.take(id, instance, path, kind, time, body, tally, sum, countLines(body)); err != nil {
			return err
		}
		if err := each(id, instance, kind, body); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := c.end(); err != nil {
		return err
	}
	return c.checkIndex(ctx, q)
}

// checkIndex checks that the index of instances leads to all their rows and to no others.
func (c *chain) checkIndex(ctx context.Context, q querier) error {
	rows, err := q.QueryContext(ctx, "SELECT id, instance FROM events INDEXED BY events_instance WHERE run = ? AND instance <> ''", c.run)
	if err != nil {
		return err
	}
	defer rows.Close()
	var index int64
	for rows.Next() {
		var id int64
		var instance string
		if err := rows.Scan(&id, &instance); err != nil {
			return err
		}
		index ^= sumRow(id, instance)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if index != c.index {
		return undecodable(fmt.Sprintf("the index of the instances of the run %q", c.name), errors.New("it does not lead to their events"))
	}
	return nil
}
