package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/exec"
)

// past is what the events of an instance say of its calls, by their paths.
type past map[string]*exec.Past

// add takes the next event in.
func (p past) add(e *exec.Event) {
	if e.Call == "" {
		return
	}
	if p[e.Call] == nil {
		p[e.Call] = &exec.Past{}
	}
	p[e.Call].Take(e)
}

// writeLine is how the line of a write begins.
const writeLine = `{"type":"` + exec.Written + `"`

// addRow takes the events of a row in, but for writes.
func (p past) addRow(id int64, body []byte) error {
	for _, entry := range entriesOf(id, body) {
		if bytes.HasPrefix(entry.Body, []byte(writeLine)) {
			continue
		}
		e, err := entry.Event()
		if err != nil {
			return err
		}
		p.add(e)
	}
	return nil
}

// Past implements exec.Record. It costs what the instance has, and nothing for a run that is
// new.
func (r *Run) Past(instance string) (map[string]*exec.Past, error) {
	if r.fresh {
		return nil, nil
	}
	p, err := r.store.past(context.Background(), r.id, instance)
	if err != nil {
		return nil, r.store.fault(err)
	}
	if p != nil {
		r.settledBefore(instance, p)
	}
	return p, nil
}

// pastOf is the query for the events of an instance. What works on none is found in all of the
// run, in their order; there is an index of the others only.
func pastOf(instance string) string {
	const events = "SELECT id, iif(type = ?1, NULL, body) FROM events "
	if instance == "" {
		return events + "WHERE id >= ?2 << 32 AND id < (?2 + 1) << 32 AND instance = ?3 ORDER BY id"
	}
	return events + "WHERE run = ?2 AND instance = ?3 AND instance <> '' ORDER BY id"
}

// past is nil for an instance that has no events. What a call has written is in what it
// returned as well, so those events, which may be large, are not read.
func (s *Store) past(ctx context.Context, run int64, instance string) (past, error) {
	rows, err := s.readers.QueryContext(ctx, pastOf(instance), string(exec.Written), run, instance)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var p past
	for rows.Next() {
		var id int64
		var body []byte
		if err := rows.Scan(&id, &body); err != nil {
			return nil, err
		}
		if p == nil {
			p = past{}
		}
		if body == nil {
			continue
		}
		if err := p.addRow(id, body); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil || p == nil {
		return nil, err
	}
	return p, nil
}

// decode is the event of a row.
func decode(id int64, body []byte) (*exec.Event, error) {
	e := &exec.Event{}
	if err := json.Unmarshal(body, e); err != nil {
		return nil, undecodable(fmt.Sprintf("event %d", seqOf(id)), err)
	}
	return e, nil
}

// settledBefore notes the calls that had come to an end before, so that they are not counted
// twice when they come to another. What it notes is a small part of the past.
func (r *Run) settledBefore(instance string, p past) {
	r.giving.Lock()
	defer r.giving.Unlock()
	of := map[string]exec.Status{}
	for path, c := range p {
		if c.Settled != "" {
			of[path] = c.Settled
		}
	}
	r.before[instance] = of
}

// wasSettled is the status to which a call had come before; it is asked once.
func (r *Run) wasSettled(key callKey) exec.Status {
	r.giving.Lock()
	defer r.giving.Unlock()
	status := r.before[key.instance][key.path]
	delete(r.before[key.instance], key.path)
	return status
}

// forget drops what was noted of the calls of an instance, which has come to its end.
func (r *Run) forget(instance string) {
	r.giving.Lock()
	defer r.giving.Unlock()
	delete(r.before, instance)
}
