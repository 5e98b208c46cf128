package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/plc-lang/plc/journal/internal/record"
)

// runRow is the row of a run, after it was checked.
type runRow struct {
	id                                                        int64
	name, plan, program, flags, labels, status, reason, calls string
	parent, at, instance, sets                                sql.NullString
	created, changed                                          int64
	finished                                                  sql.NullInt64
	heldBy
	chained
}

// heldBy is the process that holds a run.
type heldBy struct {
	pid, since, born sql.NullInt64
	host             sql.NullString
}

// chained holds how far a run has come, with the sums that bind its row to other rows.
type chained struct {
	last, asking             int64
	given, asked, head, prev int64
}

// tailColumns are the columns of the last event of a run that has not ended, and the sum of the
// event before it; runTail joins them.
const (
	tailColumns = `, e.id, e.instance, e.path, e.type, e.time, e.body, e.tally, e.sum,
		(SELECT sum FROM events b WHERE b.id < e.id AND b.id >= r.id << 32 ORDER BY b.id DESC LIMIT 1)`
	tailWidth = 9
	runTail   = ` LEFT JOIN events e ON e.id =
		iif(r.finished IS NULL, (SELECT max(id) FROM events WHERE id >= r.id << 32 AND id < (r.id + 1) << 32), NULL)`
)

// scanRunRow reads the row of a run, with the columns of its tail, and checks it.
func scanRunRow(scan func(...any) error) (*runRow, error) {
	values, err := scanValues(runWidth+tailWidth, scan)
	if err != nil {
		return nil, err
	}
	name, _ := values[1].(string)
	what := fmt.Sprintf("the row of the run %q", name)
	if err := record.CheckRow(what, values[:runWidth]); err != nil {
		return nil, err
	}
	r := &runRow{}
	to := []any{
		&r.id, &r.name, &r.plan, &r.program, &r.flags, &r.labels, &r.parent, &r.at, &r.instance, &r.sets, &r.created, &r.changed, &r.finished,
		&r.status, &r.reason, &r.last, &r.calls, &r.asking, &r.pid, &r.host, &r.since, &r.born, &r.head, &r.given, &r.asked, &r.prev,
	}
	for i, p := range to {
		if err := record.Assign(p, values[i]); err != nil {
			return nil, record.Broken(what, err)
		}
	}
	return r, r.takeTail(values[runWidth:])
}

// takeTail applies the last event of a run: between the events about the run itself, that event has
// the counts, and not the row.
func (r *runRow) takeTail(v []any) error {
	if v[0] == nil {
		if r.last > 0 && !r.finished.Valid {
			return record.Broken(fmt.Sprintf("event %d of the run %q", 1, r.name), errors.New("it is not there"))
		}
		return nil
	}
	var id, time, before int64
	var instance, path, kind string
	body, _ := v[5].(string)
	for i, p := range []any{&id, &instance, &path, &kind, &time} {
		if err := record.Assign(p, v[i]); err != nil {
			return record.Broken(fmt.Sprintf("the last event of the run %q", r.name), err)
		}
	}
	if err := record.Assign(&before, v[8]); err != nil {
		return record.Broken(fmt.Sprintf("the last event of the run %q", r.name), err)
	}
	sum := record.EventSum(before, id, instance, path, kind, time, []byte(body), v[6])
	if seq := record.SeqOf(id); v[7] != any(sum) || seq < r.last || seq == r.last && sum != r.head {
		return record.Broken(fmt.Sprintf("event %d of the run %q", seq, r.name), record.ErrSum)
	}
	tally, ok := v[6].(string)
	if record.SeqOf(id) > r.last && !ok {
		return record.Broken(fmt.Sprintf("event %d of the run %q", record.SeqOf(id)+1, r.name), errors.New("it is not there"))
	}
	if ok {
		r.changed, r.last, r.calls, r.head = time, record.SeqOf(id), tally, sum
	}
	return nil
}

// row returns the row of a run.
func (s *Store) row(ctx context.Context, q querier, id int64) (*runRow, error) {
	r, err := scanRunRow(q.QueryRowContext(ctx, "SELECT "+runColumns+tailColumns+" FROM runs r"+runTail+" WHERE r.id = ?", id).Scan)
	if err == nil && r.id != id {
		err = record.Broken(fmt.Sprintf("the row of the run %q", r.name), errors.New("it is another's"))
	}
	return r, err
}

// links returns the links that the events of a run must have.
func (r *runRow) links(noted *record.Link) []record.Link {
	all := []record.Link{{Last: r.last, Sum: r.head}}
	if noted != nil {
		all = append(all, *noted)
	}
	return all
}
