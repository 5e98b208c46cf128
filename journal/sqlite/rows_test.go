package sqlite

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"

	"github.com/plc-lang/plc/exec"
)

// storedRows are the rows of a run's events: for each the number of its last, and how many it has.
func storedRows(t *testing.T, s *Store, run string) []string {
	t.Helper()
	rows, err := s.readers.Query(`SELECT seq, instance, path, type, body FROM events WHERE run = (SELECT id FROM runs WHERE name = ?) ORDER BY id`, run)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var seq int
		var instance, path, kind, body string
		if err := rows.Scan(&seq, &instance, &path, &kind, &body); err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.TrimRight(fmt.Sprintf("%d×%d %s %s %s", seq, strings.Count(body, "\n")+1, instance, path, kind), " "))
	}
	return all
}

// What is committed together lies in one row, but for what is asked, what is long and what is of
// another instance; each event is found by its number all the same.
func TestRowsOfEvents(t *testing.T) {
	s, err := Open(filepath.Join(t.TempDir(), "runs.db"), &Options{Delay: time.Hour}) // each commit is one that is waited for
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	r := create(t, s, "r1")
	long := value(`"` + strings.Repeat("x", record.MaxRow) + `"`)
	sync1(t, r, r.Append(at(exec.RunStarted, "")))
	r.Append(at(exec.CallStarted, "a"))
	r.Append(at(exec.CallReturned, "a", value(`{"n": 1}`)))
	r.Append(at(exec.Written, "a", value(`{"n": 1}`)))
	r.Append(at(exec.CallStarted, "b", on("①")))
	r.Append(at(exec.CallStarted, "c", on("①")))
	r.Append(at(exec.ApprovalAsked, "d", on("①"), digest("q")))
	r.Append(at(exec.CallReturned, "b", on("①"), long))
	r.Append(at(exec.CallReturned, "c", on("①"), value("2")))
	sync1(t, r, r.Append(at(exec.CallStarted, "e")))
	sync1(t, r, r.Append(at(exec.CallReturned, "e")))
	want := []string{
		"1×1   runStarted", "4×3", "6×2 ①", "7×1 ① d approvalAsked", "8×1 ① b callReturned", "9×1 ① c callReturned", "10×1  e callStarted", "11×1  e callReturned",
	}
	if got := storedRows(t, s, "r1"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	all := bodies(t, s, "r1")
	for from := range len(all) + 2 {
		next := max(from, 1)
		for e, err := range s.Events(t.Context(), "r1", int64(from), false) {
			if err != nil || e.Seq != int64(next) || string(e.Body) != all[next-1] {
				t.Fatalf("from %d: %v, %v", from, e, err)
			}
			next++
		}
		if next != max(from, len(all)+1) {
			t.Errorf("from %d: the last is %d", from, next-1)
		}
	}
	if q, err := s.Questions(ctx, "r1"); err != nil || len(q) != 1 || q[0].Path != "d" || q[0].Digest != "q" {
		t.Errorf("%v, %v", q, err)
	}
	if sum, err := s.Summary(ctx, "r1"); err != nil || sum.Events != 11 || sum.Calls[exec.Running] != 4 {
		t.Errorf("%+v, %v", sum, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	past, err := resume(t, s, "r1").Past("①")
	if err != nil || len(past) != 3 || past["b"].Returned == nil || string(past["c"].Returned.Value) != "2" || past["d"].Asked.Digest != "q" {
		t.Errorf("%v, %v", past, err)
	}
}

// Rows that claim more events than there are numbers for, or those of the row before, are a damage.
func TestRowsThatOverlap(t *testing.T) {
	for _, broken := range []struct {
		seq  int
		body string
	}{{1, "{}\n{}"}, {4, "{}\n{}"}, {4, "{}\n{}\n{}\n{}\n{}\n{}"}} {
		s := open(t)
		r := create(t, s, "r1")
		for range 4 {
			sync1(t, r, r.Append(at(exec.CallStarted, "a")))
		}
		if err := s.write(t.Context(), func(tx *tx) error {
			_, err := tx.exec("UPDATE events SET body = ? WHERE seq = ?", broken.body, broken.seq)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var last error
		for _, err := range s.Events(t.Context(), "r1", 0, false) {
			last = err
		}
		if e, ok := last.(*journal.Error); !ok || e.Fault != journal.Damaged {
			t.Errorf("%+v: %v", broken, last)
		}
	}
}
