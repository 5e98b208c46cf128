package sqlite

import (
	"context"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// Past implements exec.Record. It costs what the instance has, and nothing for a run that is
// new.
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

// pastOf returns the query for the events of an instance. What works on none is found in all of
// the run, in their order; there is an index of the others only.
func pastOf(instance string) string {
	const events = "SELECT id, iif(type = ?1, NULL, body) FROM events "
	if instance == "" {
		return events + "WHERE id >= ?2 << 32 AND id < (?2 + 1) << 32 AND instance = ?3 ORDER BY id"
	}
	return events + "WHERE run = ?2 AND instance = ?3 AND instance <> '' ORDER BY id"
}

// past returns nil for an instance that has no events. What a call has written is in what it
// returned as well, so those events, which may be large, are not read.
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
