package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// undoTools book, and give up what was booked: each writes into a ledger. Giving up waits while
// there is a gate.
const undoTools = `
tools:
  book:
    properties: {call: {type: string}}
    effects: {readOnly: false, independent: true}
    undo: {tool: cancel, params: {call: "†params.call"}, whenUncertain: true}
  cancel: {properties: {call: {type: string}}, effects: {readOnly: false, independent: true}}
  fail: {properties: {}}
activities:
  book: {return: true}
  fail: {fail: {code: broken, permanent: true}}
  cancel: {process: {command: [sh, -c, "echo $1 >> ledger; while test -e gate-$1; do sleep 0.01; done; echo true", sh, "{call}"], stdin: none}}
`

// An undo that is killed again and again goes on where it was, and gives nothing up twice.
func TestUndoAfterKills(t *testing.T) {
	const n, kills = 24, 6
	dir := bookings(t, n)
	if o := recorded(t, dir, "run", "plan.json", "--tools", "tools.yaml", "--on-failure", "continue"); o.code != exitFailed {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	run := firstRun(t, dir)
	ledger := filepath.Join(dir, "ledger")
	for k := range kills { // each time while another call is under way
		gate := filepath.Join(dir, fmt.Sprintf("gate-c%d", n-1-k*n/kills))
		write(t, gate, "")
		c := begun(t, dir, "undo", run, "--max-parallel", "1", "--on-uncertain", "fail", "--on-failure", "continue")
		held := strings.TrimPrefix(filepath.Base(gate), "gate-")
		eventually(t, "the call at the gate is given up", func() bool { return strings.Contains(strings.Join(lines(t, ledger), " ")+" ", held+" ") })
		if o := recorded(t, dir, "resume", run); o.code != exitUsage || !strings.Contains(o.stderr, "is held by process") {
			t.Errorf("resumed while it is undone: exit %d, %s", o.code, o.stderr)
		}
		kill(t, c)
		if err := os.Remove(gate); err != nil {
			t.Fatal(err)
		}
	}
	o := recorded(t, dir, "undo", run, "--on-uncertain", "fail", "--on-failure", "continue", "--format", "json")
	var doc struct {
		Calls []struct {
			ID, Status string
			Error      *struct{ Code string }
		}
	}
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil || len(doc.Calls) != n {
		t.Fatalf("%v\n%s\n%s", err, o.stdout, o.stderr)
	}
	given := givenUp(t, ledger)
	uncertain := 0
	for _, c := range doc.Calls {
		switch {
		case given[c.ID] > 1, c.Status == "completed" && given[c.ID] != 1:
			t.Errorf("%s is %s, and was given up %d times", c.ID, c.Status, given[c.ID])
		case c.Status != "completed" && (c.Error == nil || c.Error.Code != "uncertain"):
			t.Errorf("%s is %s: %+v", c.ID, c.Status, c.Error)
		case c.Status != "completed":
			uncertain++
		}
	}
	if uncertain != kills { // the calls at the gates
		t.Errorf("%d calls are uncertain, want %d", uncertain, kills)
	}
}

// A run that undoes itself and is killed again and again does so as well, when it is resumed.
func TestUndoItselfAfterKills(t *testing.T) {
	const n, kills = 12, 3
	dir := bookings(t, n)
	ledger, run := filepath.Join(dir, "ledger"), ""
	for k := range kills { // each time while another call is under way
		held := fmt.Sprintf("c%d", n-1-k*n/kills)
		gate := filepath.Join(dir, "gate-"+held)
		write(t, gate, "")
		args := []string{"run", "plan.json", "--tools", "tools.yaml", "--on-failure", "undo", "--max-parallel", "1"}
		if run != "" {
			args = []string{"resume", run}
		}
		c := begun(t, dir, args...)
		eventually(t, "the call at the gate is given up", func() bool { return givenUp(t, ledger)[held] > 0 })
		kill(t, c)
		if run == "" {
			run = undoneRun(t, dir)
		}
		if err := os.Remove(gate); err != nil {
			t.Fatal(err)
		}
	}
	if o := recorded(t, dir, "resume", run); o.code != exitPaused {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	u := undoneOf(t, dir, run)
	given := givenUp(t, ledger)
	for _, c := range u.Undone {
		if given[c.Call] != 1 {
			t.Errorf("%s was given up %d times", c.Call, given[c.Call])
		}
	}
	for _, c := range u.Stands { // the calls at the gates
		if given[c.Call] != 1 || !strings.Contains(c.Why, "uncertain") && !strings.Contains(c.Why, "lost") {
			t.Errorf("%s was given up %d times, and stands: %s", c.Call, given[c.Call], c.Why)
		}
	}
	if len(u.Undone) != n-kills || len(u.Stands) != kills {
		t.Errorf("%d undone, %d stand, want %d and %d", len(u.Undone), len(u.Stands), n-kills, kills)
	}
	if o := recorded(t, dir, "approve", u.Run, "--all", "--skip", "--reason", "looked it up"); o.code != 0 {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	if o := recorded(t, dir, "resume", run); o.code != exitFailed {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if u := undoneOf(t, dir, run); u.Status != "undoneInPart" || len(givenUp(t, ledger)) != n {
		t.Errorf("%+v", u)
	}
}

var undoKills = flag.Int("undo.kills", 3, "how many runs that undo themselves are killed, each at another time")

// A run that is killed at any time, before it is undone or while it is, undoes each effect once
// when it is resumed.
func TestUndoKilledAnyTime(t *testing.T) {
	const n = 3
	args := []string{"run", "plan.json", "--tools", "tools.yaml", "--on-failure", "undo", "--on-uncertain", "fail"}
	began := time.Now()
	if o := recorded(t, bookings(t, n), args...); o.code != exitFailed {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	whole := time.Since(began)
	states := map[string]int{}
	for k := range *undoKills {
		dir := bookings(t, n)
		c := begun(t, dir, args...)
		pause := whole * time.Duration(k+1) / time.Duration(*undoKills+1) // any time will do,
		if k%2 == 1 {                                                     // half of them while it undoes
			eventually(t, "something is undone", func() bool {
				_, err := os.Stat(filepath.Join(dir, "ledger"))
				return err == nil
			})
			pause /= 8
		}
		time.Sleep(pause)
		kill(t, c)
		if _, err := os.Stat(filepath.Join(dir, "runs.db")); errors.Is(err, fs.ErrNotExist) {
			states["no store yet"]++
			continue
		}
		var runs []struct{ Run, Undoes, Status string }
		o := recorded(t, dir, "runs", "--format", "json")
		if err := json.Unmarshal([]byte(o.stdout), &runs); err != nil {
			t.Fatalf("%v: %s %s", err, o.stdout, o.stderr)
		}
		for _, r := range runs {
			if r.Undoes == "" {
				states[r.Status]++
				checkResumed(t, dir, r.Run)
			}
		}
	}
	t.Logf("killed while: %v", states)
}

// checkResumed resumes a run until it ends or asks, and checks that nothing was given up twice.
func checkResumed(t *testing.T, dir, run string) {
	t.Helper()
	o := recorded(t, dir, "resume", run)
	if o.code != exitFailed && o.code != exitPaused && !strings.Contains(o.stderr, "can't go on") {
		t.Errorf("resumed: exit %d, %s", o.code, o.stderr)
	}
	u, given := undoneOf(t, dir, run), givenUp(t, filepath.Join(dir, "ledger"))
	if !strings.HasPrefix(u.Status, "und") {
		t.Errorf("the run is %q: %s", u.Status, o.stderr)
	}
	for _, c := range u.Undone {
		if given[c.Call] != 1 {
			t.Errorf("%s is undone, and was given up %d times", c.Call, given[c.Call])
		}
	}
	for _, c := range u.Stands {
		if given[c.Call] > 1 {
			t.Errorf("%s stands (%s), and was given up %d times", c.Call, c.Why, given[c.Call])
		}
	}
	for call := range given {
		is := func(c undoneCall) bool { return c.Call == call }
		if !slices.ContainsFunc(u.Undone, is) && !slices.ContainsFunc(u.Stands, is) {
			t.Errorf("%s was given up, and nothing says so", call)
		}
	}
}

// undoing is the member undo of the JSON of a run.
type undoing struct {
	Run, Status    string
	Undone, Stands []undoneCall
}

type undoneCall struct{ Call, Why string }

// undoneOf returns the progress of undoing a run.
func undoneOf(t *testing.T, dir, run string) undoing {
	t.Helper()
	o := recorded(t, dir, "show", run, "--format", "json")
	var doc struct{ Undo undoing }
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		t.Fatalf("%v: %s %s", err, o.stdout, o.stderr)
	}
	return doc.Undo
}

// undoneRun returns the id of the run of a store that is being undone.
func undoneRun(t *testing.T, dir string) string {
	t.Helper()
	var runs []struct{ Run string }
	o := recorded(t, dir, "runs", "--status", "undoing", "--format", "json")
	if err := json.Unmarshal([]byte(o.stdout), &runs); err != nil || len(runs) != 1 {
		t.Fatalf("%v: %s", err, o.stdout)
	}
	return runs[0].Run
}

// bookings returns a folder with a plan that books so often, and then fails.
func bookings(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	var calls []map[string]any
	var ids []string
	for i := range n {
		ids = append(ids, fmt.Sprintf("c%d", i))
		calls = append(calls, map[string]any{"_id": ids[i], "_tool": "book", "call": ids[i]})
	}
	calls = append(calls, map[string]any{"_tool": "fail", "_dependsOn": ids})
	plan, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "plan.json"), string(plan))
	write(t, filepath.Join(dir, "tools.yaml"), undoTools)
	return dir
}

// givenUp returns how often each call was given up.
func givenUp(t *testing.T, ledger string) map[string]int {
	t.Helper()
	given := map[string]int{}
	for _, call := range lines(t, ledger) {
		given[call]++
	}
	return given
}

// firstRun returns the id of the only run of a store.
func firstRun(t *testing.T, dir string) string {
	t.Helper()
	var runs []struct{ Run string }
	o := recorded(t, dir, "runs", "--format", "json")
	if err := json.Unmarshal([]byte(o.stdout), &runs); err != nil || len(runs) != 1 {
		t.Fatalf("%v: %s", err, o.stdout)
	}
	return runs[0].Run
}
