package main

import (
	"os"
	osexec "os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// A short command ends before a collection, and after the first one there are as many as usual.
func TestFirstCollection(t *testing.T) {
	cmd := osexec.Command("plc", "version")
	cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1", "GOGC=")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "gc 1 @") {
		t.Errorf("%v: %s", err, out)
	}

	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	delayCollection()
	now := 400
	for range 100 { // the change is made by a goroutine of its own after the collection
		runtime.GC()
		if now = debug.SetGCPercent(-1); now == 100 {
			break
		}
		debug.SetGCPercent(now)
	}
	if now != 100 {
		t.Errorf("%d percent after a collection", now)
	}

	debug.SetGCPercent(50) // as by GOGC
	delayCollection()
	if now := debug.SetGCPercent(100); now != 50 {
		t.Errorf("%d percent, and 50 were asked for", now)
	}
}
