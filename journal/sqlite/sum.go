package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/plc-lang/plc/journal/internal/record"
)

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
	a := record.NewAdder()
	for rows.Next() {
		values, err := scanValues(columns, rows.Scan)
		if err != nil {
			return 0, err
		}
		a.Add(values...)
	}
	return a.Sum(), rows.Err()
}

// The queries for the rows that the sum of a run's row covers besides the row itself.
const (
	givenOfRun = `SELECT number, role, name, notation, digest, role <> 'instances' AND EXISTS (SELECT 1 FROM texts WHERE texts.digest = given.digest)
		FROM given WHERE run = ? ORDER BY number`
	questionsOfRun = "SELECT instance, path, digest, seq, answer, closed FROM questions WHERE run = ? ORDER BY instance, path"
)

// runColumns are the columns of a run's row r that its sum covers, and that sum.
const (
	runColumns = `r.id, r.name, r.plan, r.program, r.flags, r.labels, r.parent, r.at, r.instance, r.sets, r.created, r.changed, r.finished,
		r.status, r.reason, r.last, r.calls, r.asking, r.pid, r.host, r.since, r.born, r.head, r.given, r.asked, r.prev, r.sum`
	runWidth = 27
)

// seal recomputes the sums of a run after its questions were changed. It must not be called
// otherwise, since a damaged question would become valid.
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

// sealRow recomputes the sum of a run's row, which was valid before it was changed.
func (t *tx) sealRow(id int64) error {
	values, err := scanValues(runWidth, t.conn.QueryRowContext(t.ctx, "SELECT "+runColumns+" FROM runs r WHERE id = ?", id).Scan)
	if err != nil {
		return err
	}
	_, err = t.exec("UPDATE runs SET sum = ? WHERE id = ?", record.SumRow(values[:runWidth-1]...), id)
	return err
}

// sealGiven computes the sum of what a run was given, and that of its row.
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

// checkParts returns an error if what a run was given, or its questions, are not what was written.
func (s *Store) checkParts(ctx context.Context, q querier, r *runRow) error {
	given, err := sumRows(ctx, q, 6, givenOfRun, r.id)
	if err == nil && given != r.given {
		err = record.Broken(fmt.Sprintf("what the run %q was given", r.name), record.ErrSum)
	}
	if err != nil {
		return err
	}
	asked, err := sumRows(ctx, q, 6, questionsOfRun, r.id)
	if err == nil && asked != r.asked {
		err = record.Broken(fmt.Sprintf("a question of the run %q", r.name), record.ErrSum)
	}
	return err
}

// chain follows the rows of events of a run, and the index of its instances.
type chain struct {
	record.Chain
	index int64 // sum of the rows of instances, independent of their order
}

// newChain returns the chain of a run that must have these links.
func newChain(run int64, name string, known []record.Link) *chain {
	return &chain{Chain: record.Chain{Run: run, Name: name, Known: known}}
}

// follow reads all events of a run and checks them. It calls each with every row.
func (c *chain) follow(ctx context.Context, q querier, each func(id int64, instance, kind string, body []byte) error) error {
	rows, err := q.QueryContext(ctx, "SELECT id, instance, path, type, time, body, tally, sum FROM events WHERE id >= ? AND id < ? ORDER BY id",
		record.EventID(c.Run, 0), record.EventID(c.Run+1, 0))
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
		if err := c.Take(id, instance, path, kind, time, body, tally, sum, record.CountLines(body)); err != nil {
			return err
		}
		if instance != "" {
			c.index ^= record.SumRow(id, instance)
		}
		if err := each(id, instance, kind, body); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := c.End(); err != nil {
		return err
	}
	return c.checkIndex(ctx, q)
}

// checkIndex checks that the index of instances leads to all rows of instances and to no others.
func (c *chain) checkIndex(ctx context.Context, q querier) error {
	rows, err := q.QueryContext(ctx, "SELECT id, instance FROM events INDEXED BY events_instance WHERE run = ? AND instance <> ''", c.Run)
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
		index ^= record.SumRow(id, instance)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if index != c.index {
		return record.Broken(fmt.Sprintf("the index of the instances of the run %q", c.Name), errors.New("it does not lead to their events"))
	}
	return nil
}

// sealedRows yields the rows of a query. For a row whose sum, in the last column, is wrong, or that
// can't be read, it yields an error. what names a row in errors.
func sealedRows(ctx context.Context, q querier, what string, width int, query string) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		rows, err := q.QueryContext(ctx, query)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			values, err := scanValues(width, rows.Scan)
			if err == nil {
				err = record.CheckRow(what, values)
			}
			if !yield(values, err) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
