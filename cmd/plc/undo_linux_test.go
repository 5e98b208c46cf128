package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// undoTools book, and give up what was booked: each writes into a ledger. Giving up waits while there
// is a gate.
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
	dir := t.TempDir()
	var calls []map[string]any
	for i := range n {
		calls = append(calls, map[string]any{"_id": fmt.Sprintf("c%d", i), "_tool": "book", "call": fmt.Sprintf("c%d", i)})
	}
	calls = append(calls, map[string]any{"_tool": "fail"})
	plan, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "plan.json"), string(plan))
	write(t, filepath.Join(dir, "tools.yaml"), undoTools)
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
		if o := recorded(t, dir, "resume", run); o.code != exitUsage || !strings.Contains(o.stderr, "is undone by the run") {
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
	given := map[string]int{}
	for _, call := range lines(t, ledger) {
		given[call]++
	}
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
