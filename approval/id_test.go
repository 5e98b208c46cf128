package approval_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/approval"
)

// The mark of an approval is in its folder, whatever somebody wrote as its id.
func TestForgedID(t *testing.T) {
	g := examples(t)[0]
	for _, id := range []string{"x/../../victim", "../victim", "", strings.Repeat("A", 32), strings.Repeat("a", 31), strings.Repeat("a", 34)} {
		f := approved(t, &g)
		f.ID = id
		dir := t.TempDir()
		name := filepath.Join(dir, "in", "approval.json")
		text := f.JSON(nil) // seals it
		if err := errors.Join(os.Mkdir(filepath.Dir(name), 0o700), os.WriteFile(name, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		k, err := approval.Open(name, text, nil)
		if err != nil || k.Refusal == nil {
			t.Errorf("%q: %v, %+v", id, err, k)
			continue
		}
		if err := k.Change(func(f *approval.File) error { return f.Reject("eve", "", time.Now()) }); err == nil {
			t.Errorf("%q: it is rejected", id)
		}
		if all, _ := os.ReadDir(dir); len(all) != 1 {
			t.Errorf("%q: %v are there", id, all)
		}
	}
}
