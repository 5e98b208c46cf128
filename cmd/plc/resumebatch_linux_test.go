package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A run of many instances that was killed goes on with those that are left, and tells all of
// them; lines that have changed are refused.
func TestResumeInstances(t *testing.T) {
	dir := t.TempDir()
	const n = 300
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, `{"_instance": "i%d", "call": "i%d"}`+"\n", i, i)
	}
	write(t, filepath.Join(dir, "lines.jsonl"), text.String())
	write(t, filepath.Join(dir, "plan.json"), `[{"_tool": "book", "call": "†input.call", "_outputPath": "†state.booked"}]`)
	write(t, filepath.Join(dir, "tools.yaml"), ledgerTools)
	gate := filepath.Join(dir, "gate-i200")
	write(t, gate, "")
	c := begun(t, dir, "run", "plan.json", "--tools", "tools.yaml", "--instances", "lines.jsonl", "--schedule", "sequential", "--format", "json")
	ledger := filepath.Join(dir, "ledger")
	eventually(t, "an instance waits", func() bool { return slices.Contains(lines(t, ledger), "i200") })
	before := len(lines(t, ledger))
	kill(t, c)
	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "lines.jsonl"), text.String()+`{"call": "more"}`)
	if o := recorded(t, dir, "resume", "last"); o.code != exitUsage || !strings.Contains(o.stderr, "is not what the run was given") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	write(t, filepath.Join(dir, "copy.jsonl"), text.String())
	o := recorded(t, dir, "resume", "last", "--instances", "copy.jsonl", "--on-uncertain", "retry", "--format", "json")
	if o.code != exitDone {
		t.Fatalf("exit %d: %s", o.code, o.stderr)
	}
	told := strings.Split(strings.TrimSpace(o.stdout), "\n")
	var last struct{ Instances map[string]int }
	if err := json.Unmarshal([]byte(told[len(told)-1]), &last); err != nil || last.Instances["completed"] != n || len(told) != n+1 {
		t.Errorf("%d lines, the last %s", len(told), told[len(told)-1])
	}
	if got := len(lines(t, ledger)); got != n+1 { // that which was under way, again
		t.Errorf("%d calls, %d of them before", got, before)
	}
	write(t, filepath.Join(dir, "lines.jsonl"), text.String())
	for _, args := range [][]string{{"replay", "last"}, {"show", "last"}} {
		if o := recorded(t, dir, args...); o.code != exitDone {
			t.Errorf("%s: exit %d: %s", args[0], o.code, o.stderr)
		}
	}
}
