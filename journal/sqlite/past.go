package sqlite

import (
	"context"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// Past implements exec.Record. It reads all events of the instance. For a new run it reads nothing.
func (r *Run) Past(instance string) (map[string]*exec.Past, error) {
	if r.fresh {
		return nil, nil
	}
	p, err := r.store.past(context.Background(), r.Number, instance)
	if err != nil {
		return nil, r.store.fault(err)
	}
	if p != nil {
		r.Tally.Settled(instance, p)
	}
	return p, nil
}

// pastOf returns the query for the events of an instance. Calls that work on no instance are found
// by reading all events of the run in order, since there is an index only for those of instances.
func pastOf(instance string) string {
	const events = "SELECT id, iif(type = ?1, NULL, body) FROM events "
	if instance == "" {
		return events + "WHERE id >= ?2 << 32 AND id < (?2 + 1) << 32 AND instance = ?3 ORDER BY id"
	}
	return events + "WHERE run = ?2 AND instance = ?3 AND instance <> '' ORDER BY id"
}

// past returns nil for an instance that has no events. It does not read writes, which may be large:
// the results of the calls have the written values as well.
func (s *Store) past(ctx context.Context, run int64, instance string) (record.Past, error) {
	rows, err := s.readers.QueryContext(ctx, pastOf(instance), string(exec.Written), run, instance)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var p record.Past
	for rows.Next() {
		var id int64
		var body []byte
		if err := rows.Scan(&id, &body); err != nil {
			return nil, err
		}
		if p == nil {
			p = record.Past{}
		}
		if body == nil {
			continue
		}
		if err := p.AddRow(id, body); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil || p == nil {
		return nil, err
	}
	return p, nil
}

// decode returns the event of a row.
func decode(id int64, body []byte) (*exec.Event, error) {
	return (&journal.Entry{Seq: record.SeqOf(id), Body: body}).Event()
}
