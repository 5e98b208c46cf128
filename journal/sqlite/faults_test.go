package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/journal"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
)

// faultIs checks that an error is the fault, and says what to do.
func faultIs(t *testing.T, what string, err error, want ...journal.Fault) {
	t.Helper()
	var e *journal.Error
	if !errors.As(err, &e) || !slices.Contains(want, e.Fault) || e.Path == "" || !strings.Contains(err.Error(), "; ") {
		t.Errorf("%s: %v, want the fault %v", what, err, want)
	}
}

func TestOpenFaults(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other := filepath.Join(dir, "other.db")
	newer := filepath.Join(dir, "newer.db")
	execute(t, other, "CREATE TABLE mine (x)")
	reopen(t, newer).Close()
	execute(t, newer, "PRAGMA user_version = 1000")
	for _, test := range []struct {
		what, path string
		opts       *Options
		want       journal.Fault
	}{
		{"a folder", dir, nil, journal.Foreign},
		{"a text", file("text", []byte(strings.Repeat("no database\n", 100))), nil, journal.Foreign},
		{"a short text", file("short", []byte("x")), nil, journal.Foreign},
		{"another program's database", other, nil, journal.Foreign},
		{"the same, for reading", other, &Options{ReadOnly: true}, journal.Foreign},
		{"a newer version", newer, nil, journal.Newer},
		{"a newer version, for reading", newer, &Options{ReadOnly: true}, journal.Newer},
		{"nothing to read", filepath.Join(dir, "nothing"), &Options{ReadOnly: true}, journal.Absent},
		{"below a file", filepath.Join(dir, "text", "x.db"), nil, journal.Unusable},
		{"a device", "/dev/null", nil, journal.Foreign},
	} {
		before, _ := os.ReadFile(test.path)
		s, err := Open(test.path, test.opts)
		if err == nil {
			s.Close()
		}
		faultIs(t, test.what, err, test.want)
		if after, _ := os.ReadFile(test.path); string(after) != string(before) {
			t.Errorf("%s was changed", test.what)
		}
	}
	reopen(t, file("empty", nil))
}

// execute does something to a database that is no store.
func execute(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

func TestReadOnly(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	sync1(t, r, r.Append(at(exec.RunStarted, "")))
	reader, err := Open(s.path, &Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got := bodies(t, reader, "r1"); len(got) != 1 {
		t.Errorf("it reads %v", got)
	}
	_, err = reader.create(ctx, "r2", &journal.Given{})
	faultIs(t, "Create", err, journal.ReadOnly)
	_, err = reader.resume(ctx, "r1")
	faultIs(t, "Resume", err, journal.ReadOnly)
	faultIs(t, "Approve", reader.Approve(ctx, "r1", "d"), journal.ReadOnly)
	faultIs(t, "Answer", reader.Answer(ctx, "r1", "", "a", exec.Answer{}), journal.ReadOnly)
	_, err = reader.Collect(t.Context(), &journal.Collect{})
	faultIs(t, "Collect", err, journal.ReadOnly)
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s, err := Open(path, &Options{Busy: 20 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := create(t, s, "r1")
	kept := r.Append(at(exec.RunStarted, ""))
	sync1(t, r, kept)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	lost := r.Append(at(exec.CallStarted, "a"))
	faultIs(t, "Sync", r.Sync(lost), journal.Locked)
	faultIs(t, "Approve", s.Approve(ctx, "r1", "d"), journal.Locked)
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	sync1(t, r, kept)
	faultIs(t, "Sync after it", r.Sync(r.Append(at(exec.CallStarted, "b"))), journal.Locked) // or there would be a gap
	if got := bodies(t, s, "r1"); len(got) != 1 {
		t.Errorf("kept: %v", got)
	}
	other := create(t, s, "r2") // other runs go on
	sync1(t, other, other.Append(at(exec.RunStarted, "")))
	r.Close()
	r = resume(t, s, "r1") // and so does this one, from what it has
	sync1(t, r, r.Append(at(exec.RunResumed, "")))
	if got := bodies(t, s, "r1"); len(got) != 2 {
		t.Errorf("kept: %v", got)
	}
}

func TestClosed(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	r.Append(at(exec.RunStarted, ""))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	faultIs(t, "Sync", r.Sync(r.Append(at(exec.CallStarted, "a"))), journal.Closed)
	_, err := s.create(ctx, "r2", &journal.Given{})
	faultIs(t, "Create", err, journal.Closed)
	if err := s.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close of a run after its store: %v", err)
	}
	if got := bodies(t, reopen(t, s.path), "r1"); len(got) != 1 {
		t.Errorf("kept: %v", got)
	}
}

// damaged is the content of a store with something in each table.
func damaged(t testing.TB) []byte {
	t.Helper()
	s := open(t)
	for n := range 3 {
		r := create(t, s, fmt.Sprint("r", n))
		for i := range 40 {
			call := fmt.Sprint(i)
			r.Append(at(exec.CallStarted, call))
			r.Append(at(exec.CallReturned, call, value(`"`+strings.Repeat("x", i*i*8)+`"`), after(time.Second)))
			r.Append(at(exec.CallCompleted, call, status(exec.Completed)))
		}
		r.Append(at(exec.ApprovalAsked, "q", digest("d")))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Approve(ctx, "r1", "d"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// use does all that there is with a store that may be broken anywhere: what fails has to say
// so, and nothing else.
func use(t *testing.T, path string) {
	t.Helper()
	check := func(what string, err error) {
		t.Helper()
		var e *journal.Error
		if err != nil && !errors.As(err, &e) && !journal.Typed(err) {
			t.Errorf("%s: %v is no error of this package", what, err)
		}
	}
	s, err := Open(path, &Options{Busy: time.Second})
	check("Open", err)
	if err != nil {
		return
	}
	_, err = s.Runs(ctx, journal.Filter{})
	check("Runs", err)
	for n := range 3 {
		name := fmt.Sprint("r", n)
		_, err = s.Given(ctx, name)
		check("Given", err)
		_, err = s.Questions(ctx, name)
		check("Questions", err)
		for _, err := range s.Events(context.Background(), name, 0, false) {
			check("Events", err)
		}
		check("Answer", s.Answer(ctx, name, "", "q", exec.Answer{}))
		r, err := s.resume(ctx, name)
		check("Resume", err)
		if err != nil {
			continue
		}
		_, err = r.Past("")
		check("Past", err)
		check("Sync", r.Sync(r.Append(at(exec.CallStarted, "new"))))
		check("Close", errors.Unwrap(r.Close()))
	}
	_, err = s.Durations(ctx, "t")
	check("Durations", err)
	check("Use", s.Use(ctx, "r1", "once"))
	_, err = s.Collect(context.Background(), &journal.Collect{Keep: 1})
	check("Collect", err)
	s.Close()
}

func TestTruncatedStore(t *testing.T) {
	content := damaged(t)
	dir := memoryDir(t)
	draw := rand.New(rand.NewPCG(1, 2))
	for n := range tries(40, 5000) {
		path := filepath.Join(dir, fmt.Sprint(n), "runs.db")
		write(t, path, content[:draw.IntN(len(content))])
		use(t, path)
		remove(t, path)
	}
}

func TestFlippedBits(t *testing.T) {
	content := damaged(t)
	dir := memoryDir(t)
	draw := rand.New(rand.NewPCG(3, 4))
	for n := range tries(effort.Of(20, 60), 10_000) {
		bad := slices.Clone(content)
		for range 1 + draw.IntN(20) {
			at := draw.IntN(len(bad))
			if n%2 == 0 { // where the structure is
				at = at/4096*4096 + draw.IntN(64)
			}
			bad[at%len(bad)] ^= 1 << draw.IntN(8)
		}
		path := filepath.Join(dir, fmt.Sprint(n), "runs.db")
		write(t, path, bad)
		use(t, path)
		if t.Failed() {
			t.Fatalf("try %d", n)
		}
		remove(t, path)
	}
}

// tries is how often something is tried: more with -torture.
func tries(usual, most int) int {
	if *torture {
		return most
	}
	return usual
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
}

// memoryDir is a folder in memory when there is one, since thousands of files are synced.
func memoryDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "plc")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
