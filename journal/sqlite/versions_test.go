package sqlite

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/plc-lang/plc/journal"

	"github.com/google/go-cmp/cmp"

	"github.com/plc-lang/plc/exec"
)

var update = flag.Bool("update", false, "make the store of this version, in testdata, if there is none")

// version1 is what is in the stores of testdata: a run that has ended, one that waits for an
// answer, and an approval.
func version1(t *testing.T, path string) {
	s := reopen(t, path)
	when := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	r, err := s.create(ctx, "ended", &journal.Given{
		Plan:     journal.Text{Name: "plan.json", Notation: "plan", Bytes: []byte(`[]`)},
		Texts:    []journal.Text{{Role: journal.Input, Name: "input", Bytes: []byte(`{"a":1.0}`)}},
		Settings: []byte(`{"refs":"lenient"}`), Program: "p", Created: when,
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Append(at(exec.RunStarted, ""))
	r.Append(at(exec.CallStarted, "a", func(e *exec.Event) { e.Attempt, e.Tool, e.Key = 1, "t", "k" }))
	r.Append(at(exec.CallReturned, "a", value(`{"n":1.00}`), after(time.Second), func(e *exec.Event) { e.Tool = "t" }))
	r.Append(at(exec.CallCompleted, "a", status(exec.Completed)))
	r.Append(at(exec.RunFinished, "", status(exec.Completed)))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err = s.create(ctx, "waits", &journal.Given{Plan: journal.Text{Name: "plan.json", Bytes: []byte(`[]`)}, Created: when}); err != nil {
		t.Fatal(err)
	}
	r.Append(at(exec.RunStarted, ""))
	r.Append(at(exec.ApprovalAsked, "b", digest("d"), value(`{"x":1}`), func(e *exec.Event) { e.Question = exec.ApprovalQuestion }))
	r.Append(at(exec.RunPaused, "", status(exec.Paused)))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Approve(ctx, "waits", "plan"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Stores of all versions are read, and written, by this one.
func TestVersions(t *testing.T) {
	for version := 1; version <= len(schemas()); version++ {
		name := fmt.Sprintf("testdata/v%d.db", version)
		if _, err := os.Stat(name); *update && err != nil && version == len(schemas()) {
			version1(t, name)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "runs.db")
		write(t, path, content)
		checkVersion(t, reopen(t, path))
	}
}

func checkVersion(t *testing.T, s *Store) {
	t.Helper()
	runs, err := s.Runs(ctx, journal.Filter{})
	if err != nil || len(runs) != 2 {
		t.Fatal(runs, err)
	}
	when := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	want := &journal.Summary{
		Run: "ended", Plan: "plan.json", Program: "p", Labels: map[string]string{}, Status: exec.Completed, Events: 5,
		Created: when, Changed: when, Finished: when, Calls: map[exec.Status]int{exec.Completed: 1},
	}
	if d := cmp.Diff(want, runs[1]); d != "" {
		t.Error(d)
	}
	given, err := s.Given(ctx, "ended")
	if err != nil || string(given.Plan.Bytes) != "[]" || string(given.Texts[0].Bytes) != `{"a":1.0}` || string(given.Settings) != `{"refs":"lenient"}` {
		t.Errorf("%+v, %v", given, err)
	}
	if d, err := s.Durations(ctx, "t"); err != nil || len(d) != 1 || d[0] != time.Second {
		t.Errorf("%v, %v", d, err)
	}
	if ok, err := s.Approved(ctx, "waits", "plan"); ok || err != nil {
		t.Errorf("an approval that no run had used counts for one: %v", err)
	}
	if err := s.Answer(ctx, "waits", "", "b", exec.Answer{Approved: true, Digest: "d"}); err != nil {
		t.Error(err)
	}
	r := resume(t, s, "ended")
	past, err := r.Past("")
	if a := past["a"]; err != nil || a == nil || a.Key != "k" || string(a.Returned.Value) != `{"n":1.00}` {
		t.Errorf("%+v, %v", past, err)
	}
	r = resume(t, s, "waits")
	if past, err := r.Past(""); err != nil || past["b"].Answer == nil {
		t.Errorf("%+v, %v", past, err)
	}
}
