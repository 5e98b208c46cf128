package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// deleted is the status of a run that is being deleted.
const deleted = "deleted"

// runRow holds the rows of a run and of its hold, after they were checked.
type runRow struct {
	id                                                   int64
	name, plan, program, settings, labels, status, calls string
	reason                                               string
	parent, at, instance, sets                           sql.NullString
	finished                                             sql.NullInt64
	created, asking, given, asked, prev                  int64
	last, head, changed                                  int64

	begun  bool            // a process holds it, or held it when it was killed
	holder *journal.Holder // nil if no process holds it
}

// The columns of a run's row r that its sum covers, with that sum, and those of its hold h.
const (
	runColumns = `r.id, r.name, r.plan, r.program, r.settings, r.labels, r.parent, r.at, r.instance, r.sets, r.created, r.finished,
		r.status, r.reason, r.asking, r.given, r.asked, r.prev, r.sum`
	runWidth    = 19
	holdColumns = "h.id, h.last, h.head, h.changed, h.calls, h.sum, h.pid, h.host, h.place, h.born, h.since, h.until, h.until > " + now
	holdSums    = 6 // of these are covered by the sum of a hold
	fromRuns    = "SELECT " + runColumns + ", " + holdColumns + " FROM runs r JOIN holds h ON h.id = r.id "
)

// checkedRow reads the rows of a run and its hold.
func checkedRow(v []any) (*runRow, error) {
	name, _ := v[1].(string)
	what := fmt.Sprintf("the row of the run %q", name)
	run, hold := v[:runWidth], v[runWidth:]
	if err := errors.Join(record.CheckRow(what, run), record.CheckRow(fmt.Sprintf("the hold of the run %q", name), hold[:holdSums])); err != nil {
		return nil, err
	}
	r := &runRow{}
	for i, to := range []any{
		&r.id, &r.name, &r.plan, &r.program, &r.settings, &r.labels, &r.parent, &r.at, &r.instance, &r.sets, &r.created, &r.finished,
		&r.status, &r.reason, &r.asking, &r.given, &r.asked, &r.prev,
	} {
		if err := record.Assign(to, run[i]); err != nil {
			return nil, record.Broken(what, err)
		}
	}
	for i, to := range []any{&r.last, &r.head, &r.changed, &r.calls} {
		if err := record.Assign(to, hold[1+i]); err != nil {
			return nil, record.Broken(what, err)
		}
	}
	r.begun, r.holder = hold[6] != nil, holder(hold[6:])
	return r, nil
}

// row returns the row of a run by its number.
func row(ctx context.Context, q querier, id int64) (*runRow, error) {
	v, err := one(ctx, q, fromRuns+"WHERE r.id = $1", id)
	switch {
	case err != nil:
		return nil, err
	case v == nil:
		return nil, record.Broken(fmt.Sprintf("the run number %d", id), errors.New("it, or its hold, is not there"))
	}
	return checkedRow(v)
}

// find returns the number of a run.
func find(ctx context.Context, q querier, run string) (int64, error) { return findBy(ctx, q, run, "") }

// findBy returns the number of a run, and locks its row with the clause lock.
func findBy(ctx context.Context, q querier, run, lock string) (int64, error) {
	v, err := one(ctx, q, "SELECT id FROM runs WHERE name = $1 AND status <> '"+deleted+"' "+lock, run)
	switch {
	case err != nil:
		return 0, err
	case v == nil:
		return 0, &journal.MissingError{Run: run}
	}
	return v[0].(int64), nil
}

// summary returns the summary of a run.
func (r *runRow) summary() (*journal.Summary, error) {
	sum := &journal.Summary{
		Run: r.name, Plan: r.plan, Program: r.program, Parent: r.parent.String, Status: exec.Status(r.status), Reason: r.reason,
		Created: time.UnixMicro(r.created), Changed: time.UnixMicro(r.changed), Questions: int(r.asking), Events: r.last, Holder: r.holder,
	}
	if r.finished.Valid {
		sum.Finished = time.UnixMicro(r.finished.Int64)
	}
	if err := errors.Join(json.Unmarshal([]byte(r.labels), &sum.Labels), json.Unmarshal([]byte(r.calls), &sum.Calls)); err != nil {
		return nil, record.Broken(fmt.Sprintf("the row of the run %q", r.name), err)
	}
	if sum.Holder == nil {
		sum.Left(r.begun)
	}
	return sum, nil
}

// storeRow returns the newest run. With lock, no run is made or deleted until the transaction has
// ended, so that texts of other runs are kept while a run is made.
func storeRow(ctx context.Context, q querier, lock string) (newest int64, err error) {
	v, err := one(ctx, q, "SELECT newest, sum FROM store "+lock)
	if err == nil && v == nil {
		err = record.Broken("the row of the store", errors.New("it is not there"))
	}
	if err == nil {
		err = record.CheckRow("the row of the store", v)
	}
	if err == nil {
		err = record.Assign(&newest, v[0])
	}
	return newest, err
}

// forUpdate is a clause that locks rows until the transaction has ended.
const forUpdate = "FOR UPDATE"

func (t *tx) setNewest(id int64) error {
	return t.add("UPDATE store SET newest = $1, sum = $2", id, record.SumRow(id))
}

// The queries for the rows that the sum of a run's row covers besides the row itself.
const (
	givenOfRun = `SELECT number, role, name, notation, digest, role <> 'instances' AND EXISTS (SELECT 1 FROM texts WHERE texts.digest = given.digest)
		FROM given WHERE run = $1 ORDER BY number`
	questionsOfRun = "SELECT instance, path, digest, seq, answer, closed FROM questions WHERE run = $1 ORDER BY key"
)

// sumRows returns the sum of all rows that a query yields, in its order.
func sumRows(ctx context.Context, q querier, query string, args ...any) (int64, error) {
	a := record.NewAdder()
	_, err := q.run(ctx, func(row []any) error { a.Add(row...); return nil }, query, args...)
	return a.Sum(), err
}

// checkParts returns an error if what a run was given, or its questions, are not what was written.
func checkParts(ctx context.Context, q querier, r *runRow) error {
	given, err := sumRows(ctx, q, givenOfRun, r.id)
	if err == nil && given != r.given {
		err = record.Broken(fmt.Sprintf("what the run %q was given", r.name), record.ErrSum)
	}
	if err != nil {
		return err
	}
	asked, err := sumRows(ctx, q, questionsOfRun, r.id)
	if err == nil && asked != r.asked {
		err = record.Broken(fmt.Sprintf("a question of the run %q", r.name), record.ErrSum)
	}
	return err
}

// seal recomputes the sums of a run, which the transaction has locked. questions must only be true
// if the transaction has changed the questions: otherwise a damaged question would become valid.
func (t *tx) seal(id int64, questions, given bool) error {
	if given {
		sum, err := sumRows(t.ctx, t, givenOfRun, id)
		if err == nil {
			err = t.add("UPDATE runs SET given = $2 WHERE id = $1", id, sum)
		}
		if err != nil {
			return err
		}
	}
	if questions {
		sum, err := sumRows(t.ctx, t, questionsOfRun, id)
		if err == nil {
			err = t.add(`UPDATE runs SET asked = $2, asking = (SELECT count(*) FROM questions WHERE run = $1 AND closed = 0 AND answer IS NULL) WHERE id = $1`, id, sum)
		}
		if err != nil {
			return err
		}
	}
	v, err := t.one("SELECT "+runColumns+" FROM runs r WHERE id = $1", id)
	if err != nil {
		return err
	}
	return t.add("UPDATE runs SET sum = $2 WHERE id = $1", id, record.SumRow(v[:runWidth-1]...))
}

// verify checks everything that the store has of a run: its row, what it was given, its questions
// and its events.
func verify(ctx context.Context, q querier, id int64) error {
	r, err := row(ctx, q, id)
	if err != nil {
		return err
	}
	if r.status == string(journal.Cut) {
		return &journal.CutError{Run: r.name, Reason: r.reason}
	}
	if err := checkParts(ctx, q, r); err != nil {
		return err
	}
	return follow(ctx, q, r.chain())
}

// chain returns the chain of a run's events.
func (r *runRow) chain() *record.Chain {
	return &record.Chain{Run: r.id, Name: r.name, Known: []record.Link{{Last: r.last, Sum: r.head}}}
}

// follow reads all events of a run and checks them.
func follow(ctx context.Context, q querier, c *record.Chain) error {
	_, err := q.run(ctx, func(v []any) error {
		var id, time int64
		var instance, path, kind, body string
		for i, to := range []any{&id, &instance, &path, &kind, &time, &body} {
			if err := record.Assign(to, v[i]); err != nil {
				return record.Broken(fmt.Sprintf("event %d of the run %q", c.Last+1, c.Name), err)
			}
		}
		return c.Take(id, instance, path, kind, time, []byte(body), nil, v[6], record.CountLines([]byte(body)))
	}, "SELECT id, instance, path, type, time, body, sum FROM events WHERE id >= $1 AND id < $2 ORDER BY id", record.EventID(c.Run, 0), record.EventID(c.Run+1, 0))
	if err != nil {
		return err
	}
	return c.End()
}
