package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/plc-lang/plc/journal"
)

// A store is refused whose file is mounted without its folder, also under the name by which it was
// made: the log and the locks beside it are others.
func TestMountedFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "runs.db")
	s, err := Open(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, at := range []string{filepath.Join(t.TempDir(), "other.db"), name} {
		if at != name {
			if err := os.WriteFile(at, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := unix.Mount(name, at, "", unix.MS_BIND, ""); err != nil {
			t.Skip("no mounts:", err)
		}
		for _, opts := range []*Options{nil, {ReadOnly: true}} {
			other, err := Open(at, opts)
			var fault *journal.Error
			if !errors.As(err, &fault) || fault.Fault != journal.Mounted {
				t.Errorf("%s: %v", at, err)
			}
			if err == nil {
				other.Close()
			}
		}
		if err := unix.Unmount(at, 0); err != nil {
			t.Fatal(err)
		}
	}
}
