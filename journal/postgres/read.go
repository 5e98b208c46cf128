package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// look calls f with a connection for reading. It calls f again if the connection breaks.
func (s *Store) look(ctx context.Context, f func(querier) error) error {
	if err := s.usable(); err != nil {
		return err
	}
	err := s.retry(ctx, s.opts.Busy, mayRetry, func() error { return s.withConn(ctx, f) })
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return s.fault(err)
}

// Summary implements journal.Store.
func (s *Store) Summary(ctx context.Context, run string) (sum *journal.Summary, err error) {
	err = s.look(ctx, func(q querier) error {
		v, err := one(ctx, q, fromRuns+"WHERE r.name = $1 AND r.status <> '"+deleted+"'", run)
		switch {
		case err != nil:
			return err
		case v == nil:
			return &journal.MissingError{Run: run}
		}
		r, err := checkedRow(v)
		if err == nil {
			sum, err = r.summary()
		}
		return err
	})
	return sum, err
}

// Runs implements journal.Store.
func (s *Store) Runs(ctx context.Context, f journal.Filter) ([]*journal.Summary, error) {
	found, err := s.summaries(ctx, f, nil)
	all := make([]*journal.Summary, len(found))
	for i, r := range found {
		all[i] = r.Summary
	}
	return all, err
}

// found is a run with its number.
type found struct {
	*journal.Summary
	id int64
}

// pageOfRuns limits the runs that are read at once.
const pageOfRuns = 500

// summaries returns the runs that a filter admits, the newest first. If it reads all runs, it
// follows the chain of runs, since an index, or a damaged row, might hide some. onDeleted, if not
// nil, is called for each run whose deletion was interrupted.
func (s *Store) summaries(ctx context.Context, f journal.Filter, onDeleted func(id int64)) (list []found, err error) {
	err = s.read(ctx, func(q querier) error {
		list = nil
		next, err := storeRow(ctx, q, "")
		if err == nil && f.From != "" {
			var from int64
			if from, err = find(ctx, q, f.From); err == nil {
				var r *runRow
				if r, err = row(ctx, q, from); err == nil {
					next = r.prev
				}
			}
		}
		if err != nil {
			return err
		}
		statuses, chained := kept(f.Status)
		for upTo, full := next, true; full; {
			n := 0
			_, err := q.run(ctx, func(v []any) error {
				r, err := checkedRow(v)
				switch {
				case err != nil:
					return err
				case len(list) == f.Limit && f.Limit > 0:
					return nil
				case chained && r.id != next: // each names the one before it
					return record.Broken("the list of the runs", fmt.Errorf("number %d comes where %d should", r.id, next))
				}
				n, next, upTo = n+1, r.prev, r.id-1
				if r.status == deleted {
					if onDeleted != nil {
						onDeleted(r.id)
					}
					return nil
				}
				sum, err := r.summary()
				if err == nil && f.Has(sum) {
					list = append(list, found{sum, r.id})
				}
				return err
			}, fromRuns+"WHERE r.id <= $1 AND ($2::text = '' OR r.status = ANY (string_to_array($2::text, ','))) ORDER BY r.id DESC LIMIT $3::bigint",
				upTo, statuses, limit(f))
			if err != nil {
				return err
			}
			full = int64(n) == limit(f) && !(len(list) == f.Limit && f.Limit > 0)
			if !full && n < int(limit(f)) && chained && next != 0 && !(len(list) == f.Limit && f.Limit > 0) {
				return record.Broken("the list of the runs", fmt.Errorf("number %d is missing", next))
			}
		}
		return nil
	})
	return list, err
}

// limit returns the number of rows that are read at once.
func limit(f journal.Filter) int64 {
	if f.Limit > 0 && f.Limit < pageOfRuns {
		return int64(max(f.Limit, 20)) // the filter may reject some of them
	}
	return pageOfRuns
}

// kept returns the statuses that rows of runs with one of these statuses may have, separated by
// commas; "" means all. It also reports whether all runs are read.
func kept(statuses []exec.Status) (string, bool) {
	var all []string
	for _, st := range statuses {
		switch st {
		case journal.Interrupted:
			all = append(all, string(exec.Running), string(exec.Pending))
		default:
			all = append(all, string(st))
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), ","), len(all) == 0
}

// Events implements journal.Store.
func (s *Store) Events(ctx context.Context, run string, from int64, follow bool) iter.Seq2[*journal.Entry, error] {
	return func(yield func(*journal.Entry, error) bool) {
		if follow {
			s.watch.Join()
			defer s.watch.Leave()
		}
		id, err := s.findVerified(ctx, run)
		if err != nil {
			if ctx.Err() == nil {
				yield(nil, err)
			}
			return
		}
		events := record.Events{
			Run: id,
			Page: func(ctx context.Context, from int64) (page []*journal.Entry, err error) {
				err = s.look(ctx, func(q querier) error {
					page, err = readPage(ctx, q, id, from)
					return err
				})
				return page, err
			},
			Finished: func(ctx context.Context) (bool, error) { return s.finished(ctx, id) },
			Watch:    s.watch, Fault: s.fault,
		}
		events.From(ctx, from, follow)(yield)
	}
}

// finished reports whether a run has ended, so that no more events come unless it is resumed.
func (s *Store) finished(ctx context.Context, id int64) (ended bool, err error) {
	err = s.look(ctx, func(q querier) error {
		v, err := one(ctx, q, "SELECT finished IS NOT NULL FROM runs WHERE id = $1", id)
		ended = v == nil || v[0] == any(int64(1)) // or the run was deleted
		return err
	})
	return ended, err
}

// pageSize limits the number of rows of events that are read at once, so that no transaction stays
// open while the caller handles them.
const pageSize = 128

// readPage returns events of a run from a number on.
func readPage(ctx context.Context, q querier, id, from int64) (page []*journal.Entry, err error) {
	from = max(from, 1)
	_, err = q.run(ctx, func(v []any) error {
		key, ok := v[0].(int64)
		body, isText := v[1].(string)
		entries := record.Entries(key, []byte(body))
		first := entries[0].Seq
		if !ok || !isText || len(page) > 0 && first < from || first < 1 { // broken rows may contain anything
			return record.Broken("the order of the events", errors.New("they are not in it"))
		}
		if first < from {
			entries = entries[from-first:]
		}
		page = append(page, entries...)
		from = record.SeqOf(key) + 1
		return nil
	}, "SELECT id, body FROM events WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3::bigint", record.EventID(id, from), record.EventID(id+1, 0), pageSize)
	return page, err
}

// Durations implements journal.Store.
func (s *Store) Durations(ctx context.Context, tool string) (all []time.Duration, err error) {
	err = s.look(ctx, func(q querier) error {
		all = nil
		_, err := q.run(ctx, func(v []any) error {
			if err := record.CheckRow(fmt.Sprintf("how long a call of %q took", tool), v); err != nil {
				return err
			}
			all = append(all, time.Duration(v[2].(int64)))
			return nil
		}, "SELECT number, tool, length, sum FROM durations WHERE key = $1 AND tool = $2 ORDER BY number", toolKey(tool), tool)
		return err
	})
	if len(all) > journal.MaxDurations { // several runs ended at once
		all = all[len(all)-journal.MaxDurations:]
	}
	return all, err
}
