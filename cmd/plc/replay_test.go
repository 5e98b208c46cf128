package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/sqlite"
)

// replays counts what is replayed of the runs that scripts leave. Each run in each store that
// has come to an end is replayed, and must end in the same whiteboard, but for those
//
//   - whose instances are lines that are not kept, and came from standard input or from a
//     file that the script has changed since, and
//   - in a store that the script has broken.
type replays struct {
	mu                              sync.Mutex
	scripts                         int
	replayed, open, without, broken int
}

// after replays the runs of a script when it has ended.
func (r *replays) after(t *testing.T, env *testscript.Env) {
	r.mu.Lock()
	r.scripts++
	r.mu.Unlock()
	name, dir := filepath.Base(env.WorkDir), env.WorkDir
	env.Defer(func() {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !isStore(path) {
				return nil
			}
			r.store(t, name, dir, path)
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
}

// isStore reports whether a file is a database, by how it begins.
func isStore(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, 16)
	n, _ := f.Read(begin)
	return strings.HasPrefix(string(begin[:n]), "SQLite format 3")
}

// store replays the runs of a store.
func (r *replays) store(t *testing.T, name, dir, path string) {
	s, err := sqlite.Open(path, nil)
	var fault *journal.Error
	if errors.As(err, &fault) && (fault.Fault == journal.Foreign || fault.Fault == journal.Newer || fault.Fault == journal.Damaged) {
		r.count(&r.broken)
		return
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	defer s.Close()
	runs, err := s.Runs(t.Context(), journal.Filter{})
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, run := range runs {
		want, err := journal.EndDigest(t.Context(), s, run.Run)
		switch {
		case err != nil:
			t.Errorf("%s: the run %s of %s: %v", name, run.Run, run.Plan, err)
		case want == "":
			r.count(&r.open)
		case !hasLines(t, s, run.Run):
			r.count(&r.without)
		default:
			r.count(&r.replayed)
			if o := runPLC(t, dir, "replay", run.Run, "--no-project", "--store", path); o.code != 0 {
				t.Errorf("%s: replay of the run %s of %s (%s): exit %d\n%s", name, run.Run, run.Plan, run.Status, o.code, o.stderr)
			}
		}
	}
}

// hasLines reports whether the lines of a run's instances are where they were, if it has any.
func hasLines(t *testing.T, s journal.Store, run string) bool {
	g, err := s.Given(t.Context(), run)
	if err != nil {
		return true // the replay says it
	}
	for _, t := range g.Texts {
		if t.Role == journal.Instances {
			_, folder, err := plc.ReadSettings(g)
			if err != nil {
				return true
			}
			text, err := os.ReadFile(filepath.Join(folder, t.Name))
			digest := fmt.Sprintf("%x", sha256.Sum256(text))
			return err == nil && digest == t.Digest
		}
	}
	return true
}

func (r *replays) count(n *int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*n++
}

// check makes sure that runs were replayed, unless only some scripts were run.
func (r *replays) check(t *testing.T) {
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || r.scripts == len(all) && r.replayed == 0 {
		t.Errorf("no run was replayed (%v)", err)
	}
	t.Logf("%d runs replayed; %d have not come to an end, %d have no lines of their instances any more, %d stores are broken",
		r.replayed, r.open, r.without, r.broken)
}
