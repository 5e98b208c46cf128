package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal/internal/record"
)

// runRow is the row of a run, as it was read and checked.
type runRow struct {
	id                                                 int64
	name, plan, program, flags, labels, status, reason string
	calls                                              string
	parent, at, instance, sets, host                   sql.NullString
	created, changed, last, asking                     int64
	finished, pid, since, born                         sql.NullInt64
	given, asked                                       int64
	head                                               int64
	prev                                               int64
}

// tailColumns are those of the last event of a run that has not ended, and the sum of the one
// before it; runTail joins it.
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
	if err := checkRow(what, values[:runWidth]); err != nil {
		return nil, err
	}
	r := &runRow{}
	to := []any{
		&r.id, &r.name, &r.plan, &r.program, &r.flags, &r.labels, &r.parent, &r.at, &r.instance, &r.sets, &r.created, &r.changed, &r.finished,
		&r.status, &r.reason, &r.last, &r.calls, &r.asking, &r.pid, &r.host, &r.since, &r.born, &r.head, &r.given, &r.asked, &r.prev,
	}
	for i, p := range to {
		if err := assign(p, values[i]); err != nil {
			return nil, undecodable(what, err)
		}
	}
	return r, r.takeTail(values[runWidth:])
}

// assign puts a value of the database into a variable.
func assign(to, value any) error {
	ok := false
	switch to := to.(type) {
	case *int64:
		if value == nil {
			return nil
		}
		*to, ok = value.(int64)
	case *string:
		*to, ok = value.(string)
	case *sql.NullString:
		return to.Scan(value)
	case *sql.NullInt64:
		return to.Scan(value)
	}
	if !ok {
		return errors.New("it has another type")
	}
	return nil
}

// takeTail takes the last event of a run in: in between the events of the run itself, it has the
// counts, and not the row.
func (r *runRow) takeTail(v []any) error {
	if v[0] == nil {
		if r.last > 0 && !r.finished.Valid {
			return undecodable(fmt.Sprintf("event %d of the run %q", 1, r.name), errors.New("it is not there"))
		}
		return nil
	}
	var id, time, before int64
	var instance, path, kind string
	body, _ := v[5].(string)
	for i, p := range []any{&id, &instance, &path, &kind, &time} {
		if err := assign(p, v[i]); err != nil {
			return undecodable(fmt.Sprintf("the last event of the run %q", r.name), err)
		}
	}
	if err := assign(&before, v[8]); err != nil {
		return undecodable(fmt.Sprintf("the last event of the run %q", r.name), err)
	}
	sum := eventSum(before, id, instance, path, kind, time, []byte(body), v[6])
	if seq := seqOf(id); v[7] != any(sum) || seq < r.last || seq == r.last && sum != r.head {
		return undecodable(fmt.Sprintf("event %d of the run %q", seq, r.name), errSum)
	}
	tally, ok := v[6].(string)
	if seqOf(id) > r.last && !ok {
		return undecodable(fmt.Sprintf("event %d of the run %q", seqOf(id)+1, r.name), errors.New("it is not there"))
	}
	if ok {
		r.changed, r.last, r.calls, r.head = time, seqOf(id), tally, sum
	}
	return nil
}

// row returns the row of a run.
func (s *Store) row(ctx context.Context, q querier, id int64) (*runRow, error) {
	r, err := scanRunRow(q.QueryRowContext(ctx, "SELECT "+runColumns+tailColumns+" FROM runs r"+runTail+" WHERE r.id = ?", id).Scan)
	if err == nil && r.id != id {
		err = undecodable(fmt.Sprintf("the row of the run %q", r.name), errors.New("it is another's"))
	}
	return r, err
}

// links returns those that the events of a run must have.
func (r *runRow) links(noted *link) []link {
	all := []link{{r.last, r.head}}
	if noted != nil {
		all = append(all, *noted)
	}
	return all
}

// summary is a tally as it is written.
type summary struct {
	status   exec.Status
	reason   string
	changed  int64
	finished any
	calls    string
}

func summaryOf(t *record.Tally) summary {
	s := summary{status: t.Status, reason: t.Reason, changed: micros(t.Changed), calls: record.Counts(t.Calls())}
	if !t.Finished.IsZero() {
		s.finished = micros(t.Finished)
	}
	return s
}
