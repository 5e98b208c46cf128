package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/plc-lang/plc/journal/internal/record"

	"github.com/plc-lang/plc/exec"
)

// A step of a chain costs one sync, and the pages that its events are on: no other.
func TestPagesOfAStep(t *testing.T) {
	rec := recordFile(t, filepath.Join(memoryDir(t), "runs.db"))
	s, err := Open(rec.path, &Options{vfs: rec.name()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := create(t, s, "r1")
	sync1(t, r, r.Append(at(exec.RunStarted, "")))
	const steps = 300
	before := rec.log.len()
	bytes := 0
	for i := range steps {
		call := fmt.Sprint("call", i)
		for _, e := range []*exec.Event{
			at(exec.CallStarted, call), at(exec.CallReturned, call, value(`{"n":0}`)), at(exec.Written, call, value(`{"n":0}`)), at(exec.CallCompleted, call),
		} {
			body, err := record.Encode(e)
			if err != nil {
				t.Fatal(err)
			}
			bytes += len(body) + 60
			r.Append(e)
		}
		sync1(t, r, r.Events())
	}
	syncs, pages := 0, 0
	for _, c := range rec.log.changes[before:] {
		switch {
		case c.file == "-wal" && c.kind == synced:
			syncs++
		case c.file == "-wal" && c.kind == written && len(c.data) == 4096:
			pages++
		}
	}
	// A page that is full brings a new one, with the page above it and the first of the file. A few
	// steps may be written in two parts, when the test is kept from running in the middle of one.
	const parts = steps + steps/4
	if most := parts + 4*(bytes/4096+1); syncs > parts || pages > most {
		t.Errorf("%d steps, %d bytes: %d syncs and %d pages, want at most %d and %d", steps, bytes, syncs, pages, parts, most)
	}
	t.Logf("%d steps, %d bytes: %d syncs, %d pages", steps, bytes, syncs, pages)
}
