package plc_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/memory"
)

// endingStore is a store in which each run is given back just after its summary was read once.
type endingStore struct {
	journal.Store
	read map[string]bool
}

func (s *endingStore) Summary(ctx context.Context, run string) (*journal.Summary, error) {
	sum, err := s.Store.Summary(ctx, run)
	if err == nil && !s.read[run] {
		s.read[run] = true
		sum.Holder = &journal.Holder{}
	}
	return sum, err
}

// A run that ends just before it is cancelled stays as it ended.
func TestCancelOfARunThatEnds(t *testing.T) {
	e := plc.New(plc.Config{Store: &endingStore{memory.New(), map[string]bool{}}})
	defer e.Close()
	res, err := e.Run(t.Context(), plc.Spec{Plan: plc.Text(`[]`)})
	if err != nil || res.Status != exec.Completed {
		t.Fatal(res, err)
	}
	var ended *plc.EndedError
	if err := e.Cancel(t.Context(), res.Run, ""); !errors.As(err, &ended) || ended.Status != exec.Completed {
		t.Errorf("it is cancelled: %v", err)
	}
	if sum, err := e.Summary(t.Context(), res.Run); err != nil || sum.Status != exec.Completed {
		t.Errorf("%+v, %v", sum, err)
	}
}

// undoingStore is a store in which a process holds each run to undo it.
type undoingStore struct{ journal.Store }

func (s undoingStore) Summary(ctx context.Context, run string) (*journal.Summary, error) {
	sum, err := s.Store.Summary(ctx, run)
	if err == nil {
		sum.Status, sum.Finished, sum.Holder = exec.Undoing, time.Time{}, &journal.Holder{}
	}
	return sum, err
}

func (undoingStore) Resume(_ context.Context, run string) (journal.Run, error) {
	return nil, &journal.HeldError{Run: run}
}

// A run that is being undone is not cancelled, though a process holds it.
func TestCancelOfARunThatIsUndone(t *testing.T) {
	e := plc.New(plc.Config{Store: undoingStore{memory.New()}})
	defer e.Close()
	res, err := e.Run(t.Context(), plc.Spec{Plan: plc.Text(`[]`)})
	if err != nil {
		t.Fatal(err)
	}
	var ended *plc.EndedError
	if err := e.Cancel(t.Context(), res.Run, ""); !errors.As(err, &ended) || ended.Status != exec.Undoing {
		t.Errorf("it is cancelled: %v", err)
	}
}

// A run that goes on just before it is cancelled is undone if its plan says so by then.
func TestCancelOfARunThatGoesOn(t *testing.T) {
	store := &meanwhileStore{Store: memory.New()}
	defer store.Close()
	const calls = `[{"_tool": "book", "what": "room"}, {"_tool": "book", "_id": "b", "what": "car", "_approve": "a car"}]`
	eng, r, err := begunUndoing(t, store, calls, "")
	if err != nil {
		t.Fatal(err)
	}
	if res, err := r.Do(t.Context()); err != nil || r.Close() != nil || res.Status != exec.Paused {
		t.Fatal(res, err)
	}
	store.do = func() {
		next := plc.Text(`{"onFailure": "undo", "calls": ` + calls + `}`)
		if res, err := eng.Resume(t.Context(), r.ID(), plc.Change{Plan: next}); err != nil || res.Status != exec.Paused {
			t.Errorf("%v, %+v", err, res)
		}
	}
	if err := eng.Cancel(t.Context(), r.ID(), ""); err != nil {
		t.Fatal(err)
	}
	if sum, err := eng.Summary(t.Context(), r.ID()); err != nil || sum.Status != exec.Undoing {
		t.Errorf("%+v, %v", sum, err)
	}
}

// A lazy plan that was approved, and runs just before somebody rejects it, is not rejected.
func TestRejectOfAPlanThatRuns(t *testing.T) {
	store := &meanwhileStore{Store: memory.New()}
	defer store.Close()
	eng, r, err := begunUndoing(t, store, `{"type": "plan", "mode": "lazy", "plan": [{"_tool": "book", "what": "room"}, {"_tool": "fails", "_dependsOn": ["book"]}]}`, plc.Ask)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := r.Do(t.Context()); err != nil || r.Close() != nil || res.Status != exec.Paused {
		t.Fatal(res, err)
	}
	store.do = func() {
		p, err := eng.PendingPlan(t.Context(), r.ID())
		if err == nil {
			err = eng.ApprovePlan(t.Context(), r.ID(), p.Digest())
		}
		if err != nil {
			t.Fatal(err)
		}
		if res, err := eng.Resume(t.Context(), r.ID(), plc.Change{}); err != nil || res.Status != exec.Paused {
			t.Errorf("%v, %+v", err, res)
		}
	}
	if err := eng.RejectPlan(t.Context(), r.ID(), ""); !errors.As(err, new(*plc.NotWaitingError)) {
		t.Errorf("it is rejected: %v", err)
	}
	if sum, err := eng.Summary(t.Context(), r.ID()); err != nil || sum.Status != exec.Paused || sum.Holder != nil {
		t.Errorf("%+v, %v", sum, err)
	}
}
