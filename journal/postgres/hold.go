package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// now is the SQL for the time of the database.
const now = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// givenBack returns the reason why a closed run accepts no events.
func givenBack(run string) error { return fmt.Errorf("the run %q was given back", run) }

// joined joins errors.
func joined(errs []error) error { return errors.Join(errs...) }

// hold is a lease of a run or of a loop.
type hold struct {
	id    int64
	name  string
	epoch int64
	lost  func(error) // called when another process has taken it over
}

// lostError returns the error for a hold that another process has taken over.
func (h *hold) lostError() error { return &journal.LostError{Run: h.name} }

// checkChanged tests a statement that changes the row of a hold if the hold is still this one: it
// must have changed a row.
func (h *hold) checkChanged(changed int64) error {
	if changed == 0 {
		return h.lostError()
	}
	return nil
}

// mustHold makes a transaction fail unless the hold is still this one, and keeps others from taking
// it over until the transaction has ended.
func (h *hold) mustHold(tx *tx) error {
	return tx.must(h.checkChanged, "SELECT 1::bigint FROM holds WHERE id = $1 AND epoch = $2 FOR SHARE", h.id, h.epoch)
}

// insertHold makes the hold of a run or loop that was just made, which nobody else knows yet.
func (s *Store) insertHold(tx *tx, id int64, name string, changed int64) (*hold, error) {
	h := &hold{id: id, name: name, epoch: 1}
	const calls = "{}"
	err := tx.add(`INSERT INTO holds (id, epoch, pid, host, place, born, since, until, last, head, changed, calls, sum)
		VALUES ($1, 1, $2, $3, $4, $5, `+now+`, `+now+` + $6, 0, 0, $7, $8, $9)`,
		id, os.Getpid(), record.Hostname(), record.Place(), record.BornAt(os.Getpid()), s.opts.Lease.Microseconds(),
		changed, calls, record.SumRow(id, int64(0), int64(0), changed, calls))
	return h, err
}

// takeHold takes a hold that no process has, or whose lease has expired. It returns a
// *journal.HeldError if a process has it.
func (s *Store) takeHold(tx *tx, id int64, name string) (*hold, error) {
	row, err := tx.one("SELECT pid, host, place, born, since, until, until > "+now+", epoch FROM holds WHERE id = $1 FOR UPDATE", id)
	switch {
	case err != nil:
		return nil, err
	case row == nil:
		return nil, record.Broken(fmt.Sprintf("the hold of %q", name), errors.New("it is not there"))
	}
	if by := holder(row[:7]); by != nil {
		return nil, &journal.HeldError{Run: name, Holder: *by}
	}
	h := &hold{id: id, name: name}
	h.epoch, _ = row[7].(int64)
	h.epoch++
	return h, tx.add("UPDATE holds SET epoch = $2, pid = $3, host = $4, place = $5, born = $6, since = "+now+", until = "+now+" + $7 WHERE id = $1",
		id, h.epoch, os.Getpid(), record.Hostname(), record.Place(), record.BornAt(os.Getpid()), s.opts.Lease.Microseconds())
}

// giveBack releases a hold, if it is still this one.
func (h *hold) giveBack(tx *tx) error {
	return tx.add("UPDATE holds SET pid = NULL, host = NULL, place = NULL, born = NULL, since = NULL, until = 0 WHERE id = $1 AND epoch = $2", h.id, h.epoch)
}

// holder returns the process that holds something with these values of pid, host, place, born,
// since, until and whether until is in the future; nil if none does. A process of this machine that
// is gone holds nothing.
func holder(row []any) *journal.Holder {
	pid, has := row[0].(int64)
	if !has || row[6] != any(int64(1)) {
		return nil
	}
	host, _ := row[1].(string)
	place, _ := row[2].(string)
	born, _ := row[3].(int64)
	since, _ := row[4].(int64)
	until, _ := row[5].(int64)
	if place != "" && place == record.Place() && born != 0 && record.BornAt(int(pid)) != born {
		return nil
	}
	return &journal.Holder{PID: int(pid), Host: host, Since: time.UnixMicro(since), Until: time.UnixMicro(until)}
}

// keep makes the store renew a hold until drop is called.
func (s *Store) keep(h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held[h] = true
}

// drop stops renewing a hold.
func (s *Store) drop(h *hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, h)
}

// renew renews the holds of the store until ctx is done. If the server is away, it tries again: the
// epoch, not the lease, prevents two processes from writing.
func (s *Store) renew(ctx context.Context) {
	ticker := time.NewTicker(s.opts.Lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		s.mu.Lock()
		held := slices.Collect(maps.Keys(s.held))
		s.mu.Unlock()
		for _, h := range s.renewAll(ctx, held) {
			s.drop(h)
			h.lost(h.lostError())
		}
	}
}

// renewAll renews holds, and returns those that other processes have taken over.
func (s *Store) renewAll(ctx context.Context, held []*hold) []*hold {
	if len(held) == 0 || s.opts.ReadOnly {
		return nil
	}
	slices.SortFunc(held, func(a, b *hold) int { return int(a.id - b.id) }) // all processes lock holds in this order
	var lost []*hold
	err := s.write(ctx, 0, func(tx *tx) error {
		lost = nil
		for _, h := range held {
			if err := tx.must(func(changed int64) error {
				if changed == 0 {
					lost = append(lost, h)
				}
				return nil
			}, "UPDATE holds SET until = "+now+" + $3 WHERE id = $1 AND epoch = $2", h.id, h.epoch, s.opts.Lease.Microseconds()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return lost
}
