package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/sqlite"
)

// A store of a version that kept the flags of the command is read, and its run goes on: it
// was begun with --input user=Ada --input more.json --on-failure continue --max-parallel 3
// --max-time 1m30s --max-steps 0 --seed 7 --timeout 5 --max-cost 2.5 --revise-at 0.5
// --no-cache --delegate-hosts api.example,*.example, and waits for an approval.
func TestStoreWithFlags(t *testing.T) {
	text, err := os.ReadFile("testdata/old/flags.db")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store := filepath.Join(dir, "runs.db")
	write(t, store, string(text))

	begun := func() plc.Spec {
		s, err := sqlite.Open(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		runs, err := s.Runs(t.Context(), journal.Filter{})
		if err != nil || len(runs) != 1 {
			t.Fatal(runs, err)
		}
		g, err := s.Given(t.Context(), runs[0].Run)
		if err != nil {
			t.Fatal(err)
		}
		spec, folder, err := plc.ReadSettings(g)
		if err != nil || folder != "/tmp/oldrun" {
			t.Fatal(folder, err)
		}
		return spec
	}
	want := plc.Spec{
		Plan:      plc.File("plan.json"),
		Toolset:   plc.Toolset{Files: []plc.Source{plc.File("tools.yaml")}},
		Values:    plc.Values{Input: []plc.Source{{Name: "<argument>", Text: `{"user":"Ada"}`}, plc.File("more.json")}},
		Limits:    plc.Limits{Steps: -1, Cost: 2.5, Time: 90 * time.Second, Timeout: 5 * time.Second, Parallel: 3},
		OnFailure: plc.Continue, Refs: plc.StrictRefs, Seed: 7, NoCache: true, Revisions: plc.Revisions{At: 0.5},
		DelegateHosts: []string{"api.example", "*.example"},
	}
	if got := begun(); !reflect.DeepEqual(got, want) {
		t.Errorf("the settings are\n%+v, want\n%+v", got, want)
	}
	if o := runPLC(t, dir, "resume", "last", "--store", store); o.code != exitPaused { // asks again, with what a question has now
		t.Errorf("resume: exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	if o := runPLC(t, dir, "approve", "last", "drop", "--yes", "--store", store); o.code != 0 {
		t.Errorf("approve: exit %d: %s", o.code, o.stderr)
	}
	o := runPLC(t, dir, "resume", "last", "--store", store)
	if o.code != 0 || !strings.Contains(o.stdout, `"found": "a stone"`) || !strings.Contains(o.stdout, `"dropped": true`) {
		t.Errorf("resume: exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	if o := runPLC(t, dir, "replay", "last", "--store", store); o.code != 0 {
		t.Errorf("replay: exit %d: %s", o.code, o.stderr)
	}
}
