package main

import (
	"bytes"
	"os"
	"strconv"
	"testing"
)

// peakFile names the file into which plc, when it is run by a test, writes the most memory that it
// held. What the system says of a process that has ended (ru_maxrss) counts what the process held
// that started it, too.
const peakFile = "PLC_TEST_PEAK"

// keepPeak writes the file, when there is to be one.
func keepPeak() {
	name := os.Getenv(peakFile)
	if name == "" {
		return
	}
	text, err := os.ReadFile("/proc/self/status")
	if err == nil {
		_, text, _ = bytes.Cut(text, []byte("VmHWM:"))
		text, _, _ = bytes.Cut(text, []byte("kB"))
		err = os.WriteFile(name, bytes.TrimSpace(text), 0o600)
	}
	if err != nil {
		panic(err)
	}
}

// peak is what is in the file, in MiB.
func peak(t *testing.T, name string) int64 {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	kib, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}
