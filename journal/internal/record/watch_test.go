package record

import (
	"context"
	"errors"
	"testing"
)

// Who waits for a run is woken by what was written of it or may have been, and not by other runs.
func TestWatch(t *testing.T) {
	w := NewWatch(func(ctx context.Context, _ *Watch) error { <-ctx.Done(); return nil })
	w.Join()
	next := func(run int64) <-chan struct{} {
		c, err := w.Next(run)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	woken := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	one, also, two := next(1), next(1), next(2)
	w.Tell(1, 3)
	if !woken(one) || !woken(also) || woken(two) || woken(next(1)) {
		t.Error("run 1 was written: not the two who wait for it are woken")
	}
	one = next(1)
	w.TellAll()
	if !woken(one) || !woken(two) {
		t.Error("any run may have been written: not all are woken")
	}
	one = next(1)
	w.Leave()
	if len(w.changed) > 0 {
		t.Error("nobody waits, and the runs that were waited for are kept")
	}
	w.Join()
	one = next(1)
	w.Close(errors.New("closed"))
	if _, err := w.Next(1); !woken(one) || err == nil {
		t.Error("who waits does not learn that the store was closed")
	}
	w.Leave()
}
