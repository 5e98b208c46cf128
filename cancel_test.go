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
