package main

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A run whose record has no space left ends, says what to do, and goes on when there is space.
func TestDiskFull(t *testing.T) {
	dir, disk := t.TempDir(), t.TempDir()
	if err := unix.Mount("plc", disk, "tmpfs", 0, "size=900k"); err != nil {
		t.Skip("no disk of its own:", err)
	}
	defer unix.Unmount(disk, unix.MNT_DETACH)
	write(t, filepath.Join(dir, "tools.yaml"), `tools: {put: {properties: {text: {type: string}}, effects: {readOnly: false, idempotent: true}}}
activities: {put: {echo: true}}
`)
	var calls []string
	for range 100 {
		calls = append(calls, `{"_tool": "put", "text": "`+strings.Repeat("x", 5000)+`"}`)
	}
	write(t, filepath.Join(dir, "plan.json"), "["+strings.Join(calls, ",\n")+"]")
	store := filepath.Join(disk, "runs.db")
	o := runPLC(t, dir, "run", "plan.json", "--tools", "tools.yaml", "--store", store)
	if o.code == 0 || !strings.Contains(o.stderr, "make room, then resume the run") {
		t.Fatalf("exit %d\n%s", o.code, o.stderr)
	}
	if err := unix.Mount("plc", disk, "tmpfs", unix.MS_REMOUNT, "size=100m"); err != nil {
		t.Fatal(err)
	}
	if o := runPLC(t, dir, "resume", "last", "--store", store); o.code != 0 || !strings.Contains(o.stderr, "completed: 100 of 100 calls completed") {
		t.Errorf("resume: exit %d\n%s", o.code, o.stderr)
	}
}
