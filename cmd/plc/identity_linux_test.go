package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A run is held by the file that its store is, whatever that is called: nobody else can own it
// while it runs, and none of its effects is repeated.
func TestOneHolderUnderAnyName(t *testing.T) {
	dir := t.TempDir()
	var calls []string
	for i := range 5 {
		calls = append(calls, fmt.Sprintf(`{"_id": "c%d", "_tool": "book", "call": "c%[1]d"}`, i))
	}
	write(t, filepath.Join(dir, "plan.json"), "["+strings.Join(calls, ",")+"]")
	write(t, filepath.Join(dir, "tools.yaml"), ledgerTools)
	for i := range 5 {
		write(t, filepath.Join(dir, fmt.Sprintf("gate-c%d", i)), "")
	}
	c := begun(t, dir, "run", "plan.json", "--tools", "tools.yaml")
	ledger := filepath.Join(dir, "ledger")
	eventually(t, "all calls are under way", func() bool { return len(lines(t, ledger)) == 5 })
	store := filepath.Join(dir, "runs.db")
	link := func(err error, name string) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	names := []string{
		store,
		link(os.Symlink(store, at("soft.db")), at("soft.db")),
		link(os.Symlink("soft.db", at("softer.db")), at("softer.db")),
		link(os.Symlink(dir, at("folder")), at("folder/runs.db")),
		dir + "/./folder//runs.db",
		link(os.Link(store, at("hard.db")), at("hard.db")),
	}
	write(t, at("mounted.db"), "")
	if exec.Command("mount", "--bind", store, at("mounted.db")).Run() == nil { // only root may
		t.Cleanup(func() { _ = exec.Command("umount", at("mounted.db")).Run() })
		names = append(names, at("mounted.db"))
	}
	for _, name := range names {
		o := runPLC(t, dir, "resume", "last", "--on-uncertain", "retry", "--store", name)
		if o.code != exitUsage || !strings.Contains(o.stderr, "is held by process") && !strings.Contains(o.stderr, "is a second name of a store: it is "+store) && !strings.Contains(o.stderr, "mounted.db is mounted without its folder") {
			t.Errorf("%s: exit %d, %s", name, o.code, o.stderr)
		}
	}
	// Nor when somebody has deleted the locks.
	if err := os.RemoveAll(store + ".locks"); err != nil {
		t.Fatal(err)
	}
	if o := runPLC(t, dir, "resume", "last", "--on-uncertain", "retry", "--store", store); o.code != exitUsage || !strings.Contains(o.stderr, "is held by process") {
		t.Errorf("without locks: exit %d, %s", o.code, o.stderr)
	}
	for i := range 5 {
		if err := os.Remove(filepath.Join(dir, fmt.Sprintf("gate-c%d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if code := exitCode(t, c); code != exitDone || len(lines(t, ledger)) != 5 {
		t.Errorf("exit %d, %d effects", code, len(lines(t, ledger)))
	}
	if o := runPLC(t, dir, "replay", "last", "--store", store); o.code != exitDone { // by its own name
		t.Errorf("replay: exit %d, %s", o.code, o.stderr)
	}
	t.Logf("%d names", len(names))
}

// A store whose bytes have changed is not gone on with; what can be kept can be.
func TestRepair(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plan.json"), `[{"_id": "a", "_tool": "book", "call": "first-effect"}, {"_id": "b", "_tool": "book", "call": "b", "_dependsOn": ["a"]}]`)
	write(t, filepath.Join(dir, "tools.yaml"), ledgerTools)
	write(t, filepath.Join(dir, "gate-b"), "")
	if o := recorded(t, dir, "run", "plan.json", "--tools", "tools.yaml", "--approve", "none", "--max-time", "300ms"); o.code == exitDone {
		t.Fatal(o.code, o.stderr)
	}
	store := filepath.Join(dir, "runs.db")
	if o := recorded(t, dir, "runs", "repair"); o.code != exitDone || !strings.Contains(o.stdout, ": whole, ") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	text, err := os.ReadFile(store)
	if err != nil {
		t.Fatal(err)
	}
	n := strings.Index(string(text), `"callReturned"`)
	if n < 0 {
		t.Fatal("there is no such event")
	}
	text[n+5] ^= 4
	write(t, store, string(text))
	for _, args := range [][]string{{"resume", "last"}, {"show", "last"}, {"replay", "last"}, {"events", "last"}, {"fork", "last", "--at", "a"}} {
		if o := recorded(t, dir, args...); o.code != exitUsage || !strings.Contains(o.stderr, "is damaged: event ") || !strings.Contains(o.stderr, "plc runs repair") {
			t.Errorf("%s: exit %d, %s", args, o.code, o.stderr)
		}
	}
	if o := recorded(t, dir, "runs", "repair"); o.code != exitFailed || !strings.Contains(o.stdout, "events can be kept: event ") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	if o := recorded(t, dir, "runs", "repair", "--to", "kept.db"); o.code != exitDone {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	kept := filepath.Join(dir, "kept.db")
	if o := runPLC(t, dir, "show", "last", "--store", kept); o.code != exitDone || !strings.Contains(o.stdout, "damaged: its record was damaged, and what it did after event ") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	if o := runPLC(t, dir, "resume", "last", "--store", kept); o.code != exitUsage || !strings.Contains(o.stderr, "can't go on") {
		t.Errorf("exit %d: %s%s", o.code, o.stdout, o.stderr)
	}
	if got := len(lines(t, filepath.Join(dir, "ledger"))); got != 2 {
		t.Errorf("%d effects", got)
	}
}
