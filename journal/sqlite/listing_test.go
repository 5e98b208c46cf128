package sqlite

import (
	"testing"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// A run that goes on between the reading of its row and that of the note about it is not damaged.
func TestRunThatGoesOnWhileItIsListed(t *testing.T) {
	s := open(t)
	run, err := s.Create(t.Context(), "one", &journal.Given{Plan: journal.Text{Role: journal.Plan, Name: "plan.json", Bytes: []byte("[]")}})
	if err != nil {
		t.Fatal(err)
	}
	add := func(r journal.Run, kind exec.EventType) {
		t.Helper()
		if err := r.Sync(r.Append(&exec.Event{Type: kind, Time: time.Now(), Run: "one"})); err != nil {
			t.Fatal(err)
		}
	}
	add(run, exec.RunPaused)
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	id, err := s.find(t.Context(), s.readers, "one")
	if err != nil {
		t.Fatal(err)
	}
	row, err := s.row(t.Context(), s.readers, id)
	if err != nil {
		t.Fatal(err)
	}
	if run, err = s.Resume(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	add(run, exec.RunResumed)
	if sum, err := s.summaryOf(row); err != nil || sum.Events != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
}
