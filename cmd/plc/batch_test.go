package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// A run takes lines as it has room, and gives each result as it comes: however many
// there are, only so many are under way.
func TestBatchHoldsFewInstances(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"plan.json":  `{"calls": [{"_tool": "a", "x": "†input.n", "_outputPath": "†state.a"}, {"_tool": "a", "x": "†state.a.x"}], "output": "†state.a.x"}`,
		"tools.json": `{"tools": {"a": {"properties": {"x": {}}, "effects": {"pure": true}}}, "activities": {"a": {"echo": true}}}`,
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const lines, parallel = 2000, 4
	var mu sync.Mutex
	read, written, most := 0, 0, 0
	in := readerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if read == lines {
			return 0, io.EOF
		}
		read++
		most = max(most, read-written)
		return copy(p, fmt.Sprintf("{\"n\": %d}\n", read)), nil
	})
	out := writerFunc(func(p []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		written += bytes.Count(p, []byte("\n"))
		return len(p), nil
	})
	args := []string{"run", filepath.Join(dir, "plan.json"), "--tools", filepath.Join(dir, "tools.json"),
		"--instances", "-", "--format", "json", "--store", "none", "--max-parallel", strconv.Itoa(parallel)}
	var complaints bytes.Buffer
	if code := run(args, in, out, &complaints); code != 0 || written != lines+1 {
		t.Fatalf("exit %d, %d lines: %s", code, written, complaints.String())
	}
	// Twice as many as run at once, one that is read, one in hand and one on its way out.
	if most > 2*parallel+3 {
		t.Errorf("%d instances are under way, of %d", most, lines)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
