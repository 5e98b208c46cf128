package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// errKey is the reason if a row can't be found by its key.
var errKey = errors.New("its key is another one")

// Damage examines all runs of the store. It returns what can be kept of each, the oldest first, and
// what is wrong with the store as a whole. It writes nothing. It returns an error if the store
// can't be read at all.
func (s *Store) Damage(ctx context.Context) (all []*journal.Repair, faults []error, err error) {
	if _, err := s.Runs(ctx, journal.Filter{}); err != nil {
		if isAway(err) {
			return nil, nil, err
		}
		faults = append(faults, err)
	}
	if _, err := s.Loops(ctx); err != nil {
		faults = append(faults, err)
	}
	more, err := s.damagedRows(ctx)
	if err != nil {
		return nil, nil, err
	}
	faults = append(faults, more...)
	err = s.look(ctx, func(q querier) error {
		all = nil
		_, err := q.run(ctx, func(v []any) error {
			all = append(all, &journal.Repair{Number: v[0].(int64), Run: v[1].(string)})
			return nil
		}, "SELECT id, name FROM runs WHERE status <> '"+deleted+"' ORDER BY id")
		return err
	})
	for _, r := range all {
		if err == nil {
			err = s.damageOf(ctx, r)
		}
	}
	return all, faults, err
}

// damagedRows checks the rows that have their own sums, and their keys. It returns the first fault
// of each table.
func (s *Store) damagedRows(ctx context.Context) (faults []error, err error) {
	for _, t := range []struct {
		what, query string
		key         func(text string) int64 // of the row's second value; nil if there is none
	}{
		{record.AnApproval, "SELECT key, id, digest, created, expires, run, sum FROM approvals", approvalKey},
		{record.ADuration, "SELECT key, number, tool, length, sum FROM durations", toolKey},
		{record.ACancel, "SELECT NULL::bigint, run, reason, sum FROM cancels", nil},
	} {
		err := s.look(ctx, func(q querier) error {
			_, err := q.run(ctx, func(v []any) error {
				text, _ := v[2].(string)
				if t.key != nil && v[0] != any(t.key(text)) {
					return record.Broken(t.what, errKey)
				}
				return record.CheckRow(t.what, v[1:])
			}, t.query)
			return err
		})
		switch {
		case errors.Is(err, journal.ErrBroken):
			faults = append(faults, err)
		case err != nil:
			return nil, err
		}
	}
	return faults, nil
}

// damageOf finds what can be kept of a run.
func (s *Store) damageOf(ctx context.Context, r *journal.Repair) error {
	return s.read(ctx, func(q querier) error {
		row, err := row(ctx, q, r.Number)
		if err == nil {
			_, err = given(ctx, q, r.Number)
		}
		var chain *record.Chain
		if err == nil {
			chain = row.chain()
			r.Fault = follow(ctx, q, chain)
		} else {
			r.Fault, r.Fatal = err, true
		}
		if r.Fault != nil && !errors.Is(r.Fault, journal.ErrBroken) {
			return r.Fault // of the connection
		}
		if chain != nil {
			r.Kept = chain.Last
		}
		r.Whole = r.Fault == nil
		return nil
	})
}

// Salvage copies what can be kept of the runs to another store, which must have none of them. Of a
// damaged run it keeps a prefix of the events, with the status Cut: such a run can be inspected but
// not resumed, since what it did after that is not known. Undamaged approvals are kept. Durations
// of calls are computed from the events. Loops are not kept. Salvage returns a *HeldError if a
// process executes a run.
func (s *Store) Salvage(ctx context.Context, runs []*journal.Repair, to journal.Store) error {
	for _, r := range runs {
		if sum, err := s.Summary(ctx, r.Run); err == nil && sum.Holder != nil {
			return &journal.HeldError{Run: r.Run, Holder: *sum.Holder}
		}
	}
	for _, r := range runs {
		if r.Fatal {
			continue
		}
		if err := s.salvage(ctx, r, to); err != nil {
			return err
		}
	}
	return s.salvageApprovals(ctx, to)
}

// salvageApprovals copies the undamaged approvals. Approvals that were used stay used, since a row
// means the same for both.
func (s *Store) salvageApprovals(ctx context.Context, to journal.Store) error {
	var all [][2]string
	err := s.look(ctx, func(q querier) error {
		all = nil
		_, err := q.run(ctx, func(v []any) error {
			digest, _ := v[1].(string)
			if run, ok := v[4].(string); ok && record.CheckRow("an approval", v) == nil {
				all = append(all, [2]string{run, digest})
			}
			return nil
		}, approvalRows+" ORDER BY id")
		return err
	})
	for _, a := range all {
		if err == nil {
			err = to.Approve(ctx, a[0], a[1])
		}
	}
	return err
}

// salvage copies what can be kept of a run.
func (s *Store) salvage(ctx context.Context, r *journal.Repair, to journal.Store) error {
	g, err := s.Given(ctx, r.Run)
	if err != nil {
		return err
	}
	run, err := to.Create(ctx, r.Run, g)
	if err != nil {
		return err
	}
	for from := int64(1); from <= r.Kept && err == nil; {
		var page []*journal.Entry
		err = s.look(ctx, func(q querier) error {
			page, err = readPage(ctx, q, r.Number, from)
			return err
		})
		for _, entry := range page {
			if from = entry.Seq + 1; entry.Seq > r.Kept || err != nil {
				break
			}
			e := &exec.Event{}
			if err = json.Unmarshal(entry.Body, e); err == nil {
				run.Append(e)
			}
		}
		if len(page) == 0 {
			break
		}
	}
	if !r.Whole {
		run.Append(&exec.Event{
			Type: exec.RunFinished, Time: time.Now(), Run: r.Run, Status: journal.Cut,
			Reason: fmt.Sprintf("its record was damaged, and what it did after event %d is not known", r.Kept),
		})
	}
	return errors.Join(err, run.Close())
}
