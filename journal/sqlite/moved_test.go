//go:build unix

package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// Nothing is written, and no call is started, once the file of a store has another name. The other
// name is refused while the log is beside the old one, and under the old one all is there again.
func TestRenamedWhileInUse(t *testing.T) {
	dir := t.TempDir()
	name, other := filepath.Join(dir, "runs.db"), filepath.Join(dir, "other.db")
	s, err := Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Create(t.Context(), "one", &journal.Given{Plan: journal.Text{Role: journal.Plan, Name: "plan.json", Bytes: []byte("[]")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(name, other); err != nil {
		t.Fatal(err)
	}
	isMoved := func(what string, err error) {
		var fault *journal.Error
		if !errors.As(err, &fault) || fault.Fault != journal.Moved {
			t.Errorf("%s: %v", what, err)
		}
	}
	isMoved("an approval", s.Approve(t.Context(), "one", "plan"))
	n := run.Append(&exec.Event{Type: exec.CallStarted, Time: time.Now(), Run: "one", Call: "pay"})
	isMoved("the start of a call", run.Sync(n))
	run.Close()
	s.Close()

	if s, err = Open(other, nil); err == nil {
		s.Close()
	}
	isMoved("the other name, without what is in the log", err)
	if err := os.Rename(other, name); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(name, nil); err != nil {
		t.Fatal(err)
	}
	if sum, err := s.Summary(t.Context(), "one"); err != nil || sum.Events != 0 {
		t.Errorf("under the old name: %+v (%v)", sum, err)
	}
	s.Close()
	if err := os.Rename(name, other); err != nil { // nobody uses it
		t.Fatal(err)
	}
	if s, err = Open(other, nil); err != nil {
		t.Fatal(err)
	}
	s.Close()
}
