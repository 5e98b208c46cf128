package plc_test

import (
	"context"
	"errors"
	"testing"

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
