package journal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/exec"
)

// Summary is what a store knows of a run at a glance.
type Summary struct {
	Run      string
	Plan     string // the name of its file
	Program  string // its digest
	Labels   map[string]string
	Parent   string // the run that it is a fork of
	Status   exec.Status
	Reason   string
	Created  time.Time
	Changed  time.Time // when its last event was
	Finished time.Time // zero when it has not
	// Calls says how many calls have each status, of those that were started or have
	// ended.
	Calls     map[exec.Status]int
	Questions int   // that are open
	Events    int64 // their number
	Holder    *Holder
}

// Interrupted is the status of a run that nobody holds and that has neither ended nor
// paused: its process was killed, or lost its store.
const Interrupted exec.Status = "interrupted"

// deleted is the status of a run that is being deleted.
const deleted = "deleted"

// Filter says which runs are meant. The zero value is all.
type Filter struct {
	Status []exec.Status
	Plan   string            // the name of its file
	Labels map[string]string // all of which it has
	Before time.Time         // when it was changed last
	After  time.Time
	Limit  int // the newest; 0 is all
}

// Runs are the runs of a store, the newest first. It costs a row for each, and the
// events of none.
func (s *Store) Runs(f Filter) ([]*Summary, error) {
	all, err := s.runs(context.Background(), f)
	return all, s.fault(err)
}

// Run is the summary of one run.
func (s *Store) Run(run string) (*Summary, error) {
	id, err := s.find(context.Background(), s.readers, run)
	if err != nil {
		return nil, s.fault(err)
	}
	found, err := s.summaries(context.Background(), "id = ?", []any{id}, Filter{})
	if err == nil && len(found) == 0 {
		err = &MissingError{run}
	}
	if err != nil {
		return nil, s.fault(err)
	}
	return found[0].Summary, nil
}

func (s *Store) runs(ctx context.Context, f Filter) ([]*Summary, error) {
	where, args := f.where()
	found, err := s.summaries(ctx, where, args, f)
	all := make([]*Summary, len(found))
	for i, r := range found {
		all[i] = r.Summary
	}
	return all, err
}

// where is the part of a filter that the database applies.
func (f *Filter) where() (string, []any) {
	conds, args := []string{"status <> ?"}, []any{deleted}
	if f.Plan != "" {
		conds, args = append(conds, "plan = ?"), append(args, f.Plan)
	}
	if !f.Before.IsZero() {
		conds, args = append(conds, "changed < ?"), append(args, micros(f.Before))
	}
	if !f.After.IsZero() {
		conds, args = append(conds, "changed > ?"), append(args, micros(f.After))
	}
	if len(f.Status) > 0 {
		stored := map[exec.Status]bool{}
		for _, s := range f.Status {
			if s == Interrupted { // what it is called as long as its process does not say otherwise
				stored[exec.Running], stored[exec.Pending] = true, true
			}
			stored[s] = true
		}
		conds = append(conds, "status IN (?"+strings.Repeat(",?", len(stored)-1)+")")
		for s := range stored {
			args = append(args, string(s))
		}
	}
	return strings.Join(conds, " AND "), args
}

// has reports whether a run is one that is meant, as far as the database could not tell.
func (f *Filter) has(r *Summary) bool {
	for name, value := range f.Labels {
		if r.Labels[name] != value {
			return false
		}
	}
	if len(f.Status) == 0 {
		return true
	}
	for _, s := range f.Status {
		if r.Status == s {
			return true
		}
	}
	return false
}

// found is a run with its row.
type found struct {
	*Summary
	id int64
}

func (s *Store) summaries(ctx context.Context, where string, args []any, f Filter) ([]found, error) {
	rows, err := s.readers.QueryContext(ctx, `SELECT id, name, plan, program, labels, parent, status, reason, created, changed, finished,
		calls, asking, last, pid, host, since FROM summaries WHERE `+where+` ORDER BY id DESC`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []found
	for rows.Next() && (f.Limit == 0 || len(all) < f.Limit) {
		r, err := s.scanRun(rows)
		if err != nil {
			return nil, err
		}
		if f.has(r.Summary) {
			all = append(all, r)
		}
	}
	return all, rows.Err()
}

func (s *Store) scanRun(rows *sql.Rows) (found, error) {
	r := found{Summary: &Summary{}}
	var labels, calls []byte
	var parent, host sql.NullString
	var created, changed int64
	var finished, pid, since sql.NullInt64
	err := rows.Scan(&r.id, &r.Run, &r.Plan, &r.Program, &labels, &parent, &r.Status, &r.Reason, &created, &changed, &finished,
		&calls, &r.Questions, &r.Events, &pid, &host, &since)
	if err != nil {
		return r, err
	}
	r.Parent, r.Created, r.Changed = parent.String, time.UnixMicro(created), time.UnixMicro(changed)
	if finished.Valid {
		r.Finished = time.UnixMicro(finished.Int64)
	}
	for text, to := range map[string]any{string(labels): &r.Labels, string(calls): &r.Calls} {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			return r, undecodable(fmt.Sprintf("the row of the run %q", r.Run), err)
		}
	}
	if pid.Valid && s.held(r.id) {
		r.Holder = &Holder{int(pid.Int64), host.String, time.UnixMicro(since.Int64)}
	}
	if r.Holder == nil && (r.Status == exec.Running || r.Status == exec.Pending && pid.Valid) {
		r.Status = Interrupted
	}
	return r, nil
}

// Entry is an event as it is kept.
type Entry struct {
	Seq  int64
	Body json.RawMessage // with members of newer versions, if it has any
}

// Event is the event, as far as this version knows it.
func (e *Entry) Event() (*exec.Event, error) { return decode(e.Seq, e.Body) }

// pageSize is how many rows of events are read at once: no transaction lasts while who reads is
// busy with them.
const pageSize = 128

// Events yields the events of a run from the number from on, in order. With follow it waits
// for more until the run has finished or ctx is done. An error comes alone and last.
func (s *Store) Events(ctx context.Context, run string, from int64, follow bool) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		id, err := s.find(ctx, s.readers, run)
		if err == nil && follow {
			s.watch.join()
			defer s.watch.leave()
		}
		for err == nil {
			var more bool
			if from, more, err = s.yieldEvents(ctx, id, from, follow, yield); !more {
				return
			}
		}
		if ctx.Err() == nil {
			yield(nil, s.fault(err))
		}
	}
}

// yieldEvents yields what there is from a number on, and then waits if more is to come. It
// returns the number to go on with, and false when that is all.
func (s *Store) yieldEvents(ctx context.Context, id, from int64, follow bool, yield func(*Entry, error) bool) (int64, bool, error) {
	changed, err := s.watch.next()
	if err != nil && follow {
		return from, true, err
	}
	finished := !follow
	if follow {
		if finished, err = s.finished(ctx, id); err != nil {
			return from, true, err
		}
	}
	page, err := readPage(ctx, s.readers, id, from)
	if err != nil {
		return from, true, err
	}
	for _, e := range page {
		if !yield(e, nil) {
			return from, false, nil
		}
		from = e.Seq + 1
	}
	if len(page) > 0 {
		return from, true, nil
	}
	if finished {
		return from, false, nil
	}
	select {
	case <-ctx.Done():
		return from, false, nil
	case <-changed:
		return from, true, nil
	}
}

// finished reports whether a run has ended, so that no more events come unless it is resumed.
func (s *Store) finished(ctx context.Context, id int64) (bool, error) {
	var at sql.NullInt64
	err := s.readers.QueryRowContext(ctx, "SELECT finished FROM runs WHERE id = ?", id).Scan(&at)
	if err == sql.ErrNoRows { // deleted meanwhile
		return true, nil
	}
	return at.Valid, err
}

// readPage reads rows of events, from the one that has the event of a number.
func readPage(ctx context.Context, q querier, id, from int64) ([]*Entry, error) {
	from = max(from, 0)
	rows, err := q.QueryContext(ctx, "SELECT id, body FROM events WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
		eventID(id, from), eventID(id+1, 0), pageSize)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var page []*Entry
	for rows.Next() {
		var key int64
		var body []byte
		if err := rows.Scan(&key, &body); err != nil {
			return nil, err
		}
		entries := entriesOf(key, body)
		first := entries[0].Seq
		if key < eventID(id, from) || key >= eventID(id+1, 0) || len(page) > 0 && first < from || first < 1 { // a broken file may say anything
			return nil, undecodable("the order of the events", errors.New("they are not in it"))
		}
		if first < from {
			entries = entries[from-first:]
		}
		page = append(page, entries...)
		from = seqOf(key) + 1
	}
	return page, rows.Err()
}

// entriesOf are the events of a row.
func entriesOf(id int64, body []byte) []*Entry {
	n := bytes.Count(body, []byte("\n")) + 1
	entries := make([]*Entry, 0, n)
	for line := range bytes.SplitSeq(body, []byte("\n")) {
		entries = append(entries, &Entry{Seq: seqOf(id) - int64(n-1-len(entries)), Body: slices.Clip(line)})
	}
	return entries
}
