//go:build linux

package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/journal"

	"golang.org/x/sys/unix"

	"github.com/plc-lang/plc/exec"
)

// On a disk without space, what does not fit is not there at all, and all that was
// acknowledged is; with space again, the run goes on.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("plc", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("no disk of its own:", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 300<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(filepath.Join(dir, "runs.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, other := create(t, s, "r1"), create(t, s, "r2")
	var kept int64
	for i := 0; err == nil; i++ {
		if i > 1000 {
			t.Fatal("the disk is never full")
		}
		r.Append(at(exec.CallStarted, fmt.Sprint(i)))
		seq := r.Append(at(exec.CallReturned, fmt.Sprint(i), value(`"`+strings.Repeat("x", 5000)+`"`)))
		if err = r.Sync(seq); err == nil {
			kept = seq
		}
	}
	faultIs(t, "Sync", err, journal.Full)
	faultIs(t, "Sync after it", r.Sync(r.Append(at(exec.CallStarted, "x"))), journal.Full)
	if got := bodies(t, s, "r1"); int64(len(got)) != kept {
		t.Errorf("%d events were acknowledged, %d are there", kept, len(got))
	}
	_, err = s.create(ctx, "r3", &journal.Given{Plan: journal.Text{Bytes: make([]byte, 500<<10)}})
	faultIs(t, "Create", err, journal.Full)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	sync1(t, other, other.Append(at(exec.RunStarted, "")))
	r.Close()
	r = resume(t, s, "r1")
	sync1(t, r, r.Append(at(exec.RunResumed, "")))
	if got := bodies(t, s, "r1"); int64(len(got)) != kept+1 {
		t.Errorf("%d events, want %d", len(got), kept+1)
	}
	if _, err := s.Summary(ctx, "r3"); err == nil {
		t.Error("a run is there whose texts did not fit")
	}
}

// A store on a disk that can only be read is read if that is asked for.
func TestReadOnlyDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("plc", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("no disk of its own:", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)
	path := filepath.Join(dir, "runs.db")
	s := reopen(t, path)
	create(t, s, "r1").Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("plc", dir, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skip(err)
	}
	_, err := Open(path, nil)
	faultIs(t, "Open", err, journal.ReadOnly)
	_, err = Open(filepath.Join(dir, "new.db"), nil)
	faultIs(t, "Open of a new one", err, journal.ReadOnly)
	s, err = Open(path, &Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if runs, err := s.Runs(ctx, journal.Filter{}); err != nil || len(runs) != 1 {
		t.Errorf("%v, %v", runs, err)
	}
	s.Close()
}
