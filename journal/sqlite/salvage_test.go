package sqlite

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// A store that is made of what can be kept has the approvals, used or not, how long tools took, and
// what a run is a fork of.
func TestSalvageKeepsWhatIsWhole(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "runs.db"), filepath.Join(dir, "kept.db")
	old, err := Open(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	given := &journal.Given{Plan: journal.Text{Role: journal.Plan, Name: "plan.json", Bytes: []byte("[]")}}
	one, err := old.Create(t.Context(), "one", given)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	one.Append(&exec.Event{Type: exec.RunFinished, Time: now, Run: "one", Status: exec.Completed})
	two, err := old.Fork(t.Context(), "two", &journal.Fork{Run: "one", At: "pay", Drop: func(string, string) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(old.Approve(t.Context(), "one", "digest"), old.Use(t.Context(), "one", "used"), one.Close(), two.Close()); err != nil {
		t.Fatal(err)
	}
	if err := old.write(t.Context(), func(tx *tx) error {
		_, err := tx.exec("INSERT INTO durations (tool, number, length, sum) VALUES ('pay', 1, 5, ?)", record.SumRow("pay", int64(1), int64(5)))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}

	if _, err := Salvage(t.Context(), from, to); err != nil {
		t.Fatal(err)
	}
	s, err := Open(to, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if sum, err := s.Summary(t.Context(), "two"); err != nil || sum.Parent != "one" {
		t.Errorf("the fork is %+v (%v)", sum, err)
	}
	if took, err := s.Durations(t.Context(), "pay"); err != nil || len(took) != 1 || took[0] != 5 {
		t.Errorf("calls took %v (%v)", took, err)
	}
	var used *journal.UsedError
	if err := s.Use(t.Context(), "three", "used"); !errors.As(err, &used) || used.Run != "one" {
		t.Errorf("an approval that was used: %v", err)
	}
	if ok, err := s.Approved(t.Context(), "one", "digest"); !ok || err != nil {
		t.Errorf("an approval of a plan: %v, %v", ok, err)
	}
}

// Whoever waits for a run that is held keeps no other process from writing.
func TestWaitingForARunBlocksNobody(t *testing.T) {
	name := filepath.Join(t.TempDir(), "runs.db")
	s, err := Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run, err := s.Create(t.Context(), "one", &journal.Given{Plan: journal.Text{Role: journal.Plan, Name: "plan.json", Bytes: []byte("[]")}})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	other, err := Open(name, &Options{Busy: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			_, err := s.Resume(t.Context(), "one")
			var held *journal.HeldError
			if !errors.As(err, &held) {
				done <- err
				return
			}
		}
	}()
	for range 100 {
		if err := other.Use(t.Context(), "other", "once"); err != nil {
			t.Error(err)
			break
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("a run that is held is resumed: %v", err)
	}
}

// A run that a process executes is not copied: whoever resumed the copy would do again what the
// process does from then on.
func TestSalvageOfARunThatGoesOn(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "old.db"), filepath.Join(dir, "new.db")
	s, err := Open(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Create(t.Context(), "one", &journal.Given{})
	if err != nil {
		t.Fatal(err)
	}
	var held *journal.HeldError
	if _, err := Salvage(t.Context(), from, to); !errors.As(err, &held) || held.Run != "one" || exists(to) {
		t.Errorf("it is copied: %v, %v", err, exists(to))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Salvage(t.Context(), from, to); err != nil {
		t.Error(err)
	}
}

// What Collect had not finished when its process was killed is no damage, and is not copied.
func TestDamageOfARunThatIsBeingDeleted(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "old.db"), filepath.Join(dir, "new.db")
	s, err := Open(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"one", "two"} {
		r, err := s.Create(t.Context(), name, &journal.Given{Plan: journal.Text{Role: journal.Plan, Name: "plan.json", Bytes: []byte("[]")}})
		if err != nil {
			t.Fatal(err)
		}
		r.Append(&exec.Event{Type: exec.RunFinished, Time: time.Now(), Run: name, Status: exec.Completed})
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	id, err := s.find(t.Context(), s.readers, "one")
	if err != nil {
		t.Fatal(err)
	}
	change := func(f func(*tx) error) {
		t.Helper()
		if err := s.write(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	change(func(tx *tx) error {
		_, err := tx.exec("UPDATE runs SET status = ? WHERE id = ?", deleted, id)
		return err
	})
	runs, faults, err := Damage(t.Context(), from)
	if err != nil || len(runs) != 2 || runs[0].Whole || len(faults) == 0 {
		t.Errorf("a status that was changed: %v %v %v", runs, faults, err)
	}
	change(func(tx *tx) error { return tx.sealRow(id) })
	if more, err := s.deleteEvents(t.Context(), id); more || err != nil {
		t.Fatal(more, err)
	}
	runs, faults, err = Damage(t.Context(), from)
	if err != nil || len(runs) != 1 || runs[0].Run != "two" || !runs[0].Whole || len(faults) != 0 {
		t.Errorf("%v %v %v", runs, faults, err)
	}
	if runs, err = Salvage(t.Context(), from, to); err != nil || len(runs) != 1 {
		t.Errorf("%v %v", runs, err)
	}
	if done, err := s.Collect(t.Context(), &journal.Collect{Filter: journal.Filter{Plan: "none"}}); err != nil || done.Runs != 1 {
		t.Errorf("%+v %v", done, err)
	}
}
