package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"

	"github.com/plc-lang/plc/exec"
)

// content are the files of a store, by their names behind its own.
type content map[string][]byte

// contentOf copies the files of a store, and of its locks.
func contentOf(t *testing.T, path string) content {
	t.Helper()
	files := content{}
	err := filepath.WalkDir(filepath.Dir(path), func(name string, d fs.DirEntry, err error) error {
		end, ok := strings.CutPrefix(name, path)
		if err != nil || !ok || d.IsDir() || end == "-shm" {
			return err
		}
		text, err := os.ReadFile(name)
		files[end] = text
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func (c content) restore(t *testing.T, path string) {
	t.Helper()
	for end, text := range c {
		write(t, path+end, text)
	}
}

// fillStore makes runs that ended, one that waits for an answer, and one that a process holds.
func fillStore(t *testing.T, s *Store) {
	for n := range 3 {
		name := fmt.Sprint("r", n)
		r, err := s.create(ctx, name, &journal.Given{
			Plan: journal.Text{Name: "plan.json", Bytes: []byte(`[]`)}, Program: "p", Settings: []byte(`{"seed":"1"}`),
			Texts: []journal.Text{{Role: journal.Input, Name: "input", Bytes: fmt.Append(nil, n)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		r.Append(at(exec.RunStarted, ""))
		for i := range 12 {
			call := fmt.Sprint("c", i)
			in := func(e *exec.Event) {
				if n == 1 {
					e.Instance = fmt.Sprint("i", i%3)
				}
			}
			sync1(t, r, r.Append(at(exec.CallStarted, call, in, func(e *exec.Event) { e.Attempt, e.Key, e.Tool = 1, "k", "t" })))
			r.Append(at(exec.CallReturned, call, in, value(`"`+strings.Repeat("x", i*i*11)+`"`), after(time.Second)))
			r.Append(at(exec.Written, call, in, value(fmt.Sprintf(`"%0900d"`, i))))
			r.Append(at(exec.CallCompleted, call, in, status(exec.Completed)))
		}
		if n < 2 {
			r.Append(at(exec.ApprovalAsked, "q", digest("d"), value(`{"x":1}`), func(e *exec.Event) { e.Question = exec.ApprovalQuestion }))
			r.Append(at(exec.RunPaused, "", status(exec.Paused)))
		}
		if n == 2 { // held to the end
			sync1(t, r, r.Append(at(exec.CallStarted, "last")))
			continue
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Answer(ctx, "r1", "", "q", exec.Answer{Approved: true, Digest: "d"}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Approve(ctx, "r1", "d"), s.Use(ctx, "r1", "once")); err != nil {
		t.Fatal(err)
	}
	l, err := s.CreateLoop(ctx, "loop", json.RawMessage(`{"goal":"x"}`))
	for i := 0; i < 5 && err == nil; i++ {
		err = l.Append(ctx, json.RawMessage(fmt.Sprintf(`{"n":%d}`, i)))
	}
	if err != nil { // it is held to the end
		t.Fatal(err)
	}
}

// told is what a store says when it is asked one thing: what, or that it is damaged.
type told struct {
	what   string
	failed bool
}

// askAll asks a store all that there is to ask.
func askAll(path string) map[string]told {
	all := map[string]told{}
	say := func(name string, v any, err error) {
		text, err2 := record.Encode(v)
		all[name] = told{text, errors.Join(err, err2) != nil}
	}
	s, err := Open(path, &Options{Busy: time.Second})
	say("Open", nil, err)
	if err != nil {
		return all
	}
	defer s.Close()
	for name, f := range map[string]journal.Filter{"all": {}, "newest": {Limit: 2}, "paused": {Status: []exec.Status{exec.Paused}}, "interrupted": {Status: []exec.Status{journal.Interrupted}}} {
		runs, err := s.Runs(ctx, f)
		say("Runs "+name, runs, err)
	}
	durations, err := s.Durations(ctx, "t")
	say("Durations", durations, err)
	loops, err := s.Loops(ctx)
	say("Loops", loops, err)
	l, err := s.ResumeLoop(ctx, "loop")
	say("ResumeLoop", nil, err)
	if err == nil {
		entries, err := l.Entries(ctx)
		say("Entries", entries, err)
		l.Close()
	}
	for n := range 3 {
		name := fmt.Sprint("r", n)
		given, err := s.Given(ctx, name)
		say("Given "+name, given, err)
		questions, err := s.Questions(ctx, name)
		say("Questions "+name, questions, err)
		var events []*journal.Entry
		for e, err2 := range s.Events(context.Background(), name, 0, false) {
			err = errors.Join(err, err2)
			events = append(events, e)
		}
		say("Events "+name, events, err)
		reader, err := s.Reader(ctx, name)
		if err == nil {
			past, err2 := reader.Past("")
			say("Past "+name, past, err2)
		} else {
			say("Past "+name, nil, err)
		}
		r, err := s.resume(ctx, name)
		say("Resume "+name, nil, err)
		if err != nil {
			continue
		}
		for _, instance := range []string{"", "i0", "i1", "i2"} {
			past, err := r.Past(instance)
			say("Past of "+name+instance, past, err)
		}
		say("Close", nil, r.Close())
	}
	return all
}

// A byte of a store is another: whatever is asked, what is told is what was written, or that
// something is wrong.
func TestFlippedBytesAreFound(t *testing.T) {
	dir := memoryDir(t)
	path := filepath.Join(dir, "made", "runs.db")
	s := reopen(t, path)
	fillStore(t, s)
	killed := contentOf(t, path) // as a kill leaves it
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, whole := range map[string]content{"closed": contentOf(t, path), "killed": killed} {
		var names []string
		total := 0
		for end, text := range whole {
			names = append(names, end)
			total += len(text)
		}
		t.Logf("%s: %d bytes in %q", name, total, names)
		at := filepath.Join(dir, name, "runs.db")
		ask := func(c content) map[string]told {
			c.restore(t, at)
			defer remove(t, at)
			return askAll(at)
		}
		want := ask(whole)
		for what, w := range want {
			if w.failed {
				t.Errorf("%s: %s fails", name, what)
			}
		}
		draw := rand.New(rand.NewPCG(5, 6))
		found, same, wrong := 0, 0, 0
		for range tries(effort.Of(15, 150), 5000) {
			bad := content{}
			for end, text := range whole {
				bad[end] = append([]byte(nil), text...)
			}
			end, place := pick(whole, draw.IntN(total))
			flip := byte(1 + draw.IntN(255))
			bad[end][place] ^= flip
			got := ask(bad)
			failed, lied := false, ""
			for what, w := range want {
				g, ok := got[what]
				failed = failed || !ok || g.failed
				if ok && !g.failed && g.what != w.what {
					lied = what
				}
			}
			switch {
			case lied != "":
				wrong++
				t.Errorf("%s: byte %d of %q ^ %#x: %s is %.300s, was %.300s", name, place, end, flip, lied, got[lied].what, want[lied].what)
			case failed:
				found++
			default:
				same++
			}
		}
		t.Logf("%s: %d flips found, %d of no consequence, %d silent", name, found, same, wrong)
	}
}

// pick is the file and the place of a byte of a store.
func pick(c content, n int) (string, int) {
	for _, end := range []string{"", "-wal", ".locks/3", ".locks/log", ".locks/loop-loop"} {
		if n < len(c[end]) {
			return end, n
		}
		n -= len(c[end])
	}
	panic("there are other files")
}
