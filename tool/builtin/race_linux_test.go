package builtin_test

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/tool/builtin"
)

// A pipe that takes the place of a file at any moment is not waited for.
func TestPipeInPlaceOfAFile(t *testing.T) {
	dir := t.TempDir()
	path, pipe, file := filepath.Join(dir, "x"), filepath.Join(dir, "pipe"), filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.Link(file, path); err != nil {
		t.Skip(err)
	}
	stop := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for next := filepath.Join(dir, "next"); ; {
			for _, from := range []string{pipe, file} {
				select {
				case <-stop:
					return
				default:
				}
				if os.Link(from, next) != nil || os.Rename(next, path) != nil {
					return
				}
			}
		}
	})
	for range effort.Of(500, 3000) {
		got, code := call(t, t.Context(), builtin.Config{Paths: []string{dir}}, "file.read", `{"path":"`+path+`"}`)
		if code == "" && got != `"text"` || code != "" && code != "io" {
			t.Errorf("%s %s", got, code)
		}
	}
	close(stop)
	swapping.Wait()
}
