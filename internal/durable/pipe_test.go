//go:build unix

package durable

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A pipe or a device is written to, and stays what it is.
func TestWriteFileToAPipe(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, _ := os.ReadFile(name)
		read <- string(text)
	}()
	if err := WriteFile(name, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "a" {
		t.Errorf("read %q", got)
	}
	if info, err := os.Stat(name); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("%v, %v", info, err)
	}
}
