package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/plc-lang/plc/exec"
)

func TestMain(m *testing.M) {
	if child(os.Args) {
		return
	}
	goleak.VerifyTestMain(m)
}

// open opens a store in a folder of its own.
func open(t testing.TB) *Store {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "runs.db"))
}

func reopen(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func create(t testing.TB, s *Store, name string) *Run {
	t.Helper()
	r, err := s.create(ctx, name, &journal.Given{Plan: journal.Text{Name: "plan.json", Bytes: []byte(`[]`)}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func resume(t testing.TB, s *Store, name string) *Run {
	t.Helper()
	r, err := s.resume(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func sync1(t testing.TB, r *Run, seq int64) {
	t.Helper()
	if err := r.Sync(seq); err != nil {
		t.Fatal(err)
	}
}

var ctx = context.Background()

// at is an event, with a time that is the same in all tests.
func at(typ exec.EventType, call string, more ...func(*exec.Event)) *exec.Event {
	e := &exec.Event{Type: typ, Call: call, Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	for _, m := range more {
		m(e)
	}
	return e
}

func value(v string) func(*exec.Event)       { return func(e *exec.Event) { e.Value = json.RawMessage(v) } }
func on(instance string) func(*exec.Event)   { return func(e *exec.Event) { e.Instance = instance } }
func status(s exec.Status) func(*exec.Event) { return func(e *exec.Event) { e.Status = s } }
func digest(d string) func(*exec.Event)      { return func(e *exec.Event) { e.Digest = d } }
func after(d time.Duration) func(*exec.Event) {
	return func(e *exec.Event) { e.Time = e.Time.Add(d) }
}

// bodies are the events of a run as they are kept.
func bodies(t testing.TB, s *Store, run string) []string {
	t.Helper()
	var all []string
	next := int64(1)
	for e, err := range s.Events(context.Background(), run, 0, false) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != next {
			t.Fatalf("event %d follows event %d", e.Seq, next-1)
		}
		next++
		all = append(all, string(e.Body))
	}
	return all
}

func TestRunIsKept(t *testing.T) {
	s := open(t)
	given := &journal.Given{
		Plan:    journal.Text{Name: "plan.json", Notation: "llm", Bytes: []byte("[{}]")},
		Texts:   []journal.Text{{Role: journal.Tools, Name: "tools.yaml", Digest: "abc"}, {Role: journal.Input, Name: "input", Bytes: []byte(`{"a":1.10}`)}},
		Program: "p1", Settings: []byte(`{"on-failure":"skip"}`), Labels: map[string]string{"who": "<me>"},
		Created: time.Date(2026, 11, 21, 12, 0, 0, 1000, time.Local),
	}
	r, err := s.create(ctx, "r1", given)
	if err != nil {
		t.Fatal(err)
	}
	r.Append(at(exec.RunStarted, ""))
	r.Append(at(exec.CallStarted, "a", func(e *exec.Event) { e.Attempt = 1 }))
	r.Append(at(exec.CallReturned, "a", value(`{"n":1.000000000000000000001,"s":"<\u2028>"}`)))
	sync1(t, r, r.Append(at(exec.CallCompleted, "a", status(exec.Completed))))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	s.Close()

	s = reopen(t, s.path)
	back, err := s.Given(ctx, "r1")
	if err != nil {
		t.Fatal(err)
	}
	given.Plan.Role = journal.Plan
	given.Plan.Digest, given.Texts[1].Digest = digestOf(given.Plan.Bytes), digestOf(given.Texts[1].Bytes)
	if d := cmp.Diff(given, back); d != "" {
		t.Error(d)
	}
	want := []string{
		`{"type":"runStarted","time":"2026-11-21T12:00:00Z","run":""}`,
		`{"type":"callStarted","time":"2026-11-21T12:00:00Z","run":"","call":"a","attempt":1}`,
		`{"type":"callReturned","time":"2026-11-21T12:00:00Z","run":"","call":"a","value":{"n":1.000000000000000000001,"s":"<\u2028>"}}`,
		`{"type":"callCompleted","time":"2026-11-21T12:00:00Z","run":"","call":"a","status":"completed"}`,
	}
	if d := cmp.Diff(want, bodies(t, s, "r1")); d != "" {
		t.Error(d)
	}
	sum, err := s.Summary(ctx, "r1")
	if err != nil {
		t.Fatal(err)
	}
	if sum.Status != journal.Interrupted || sum.Calls[exec.Completed] != 1 || sum.Calls[exec.Running] != 0 || sum.Events != 4 {
		t.Errorf("the summary is %+v", sum)
	}

	r = resume(t, s, "r1")
	past, err := r.Past("")
	if err != nil {
		t.Fatal(err)
	}
	if got := past["a"]; len(past) != 1 || got.Attempts != 1 || string(got.Returned.Value) != `{"n":1.000000000000000000001,"s":"<\u2028>"}` || got.Settled != exec.Completed {
		t.Errorf("the past of the call is %+v", got)
	}
	if past, err := r.Past("①"); past != nil || err != nil {
		t.Errorf("an instance that has not begun has the past %v, %v", past, err)
	}
	if seq := r.Append(at(exec.RunResumed, "")); seq != 5 {
		t.Errorf("the first event after 4 is %d", seq)
	}
}

func TestNobodyWaits(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	r.Append(at(exec.RunStarted, ""))
	for e, err := range s.Events(t.Context(), "r1", 0, true) { // it comes all the same
		if err != nil || e.Seq != 1 {
			t.Fatal(e, err)
		}
		break
	}
}

func TestOneHolder(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	other := reopen(t, s.path)
	var held *journal.HeldError
	for _, s := range []*Store{s, other} {
		if _, err := s.resume(ctx, "r1"); !errors.As(err, &held) || held.Holder.PID != os.Getpid() || held.Holder.Since.IsZero() {
			t.Fatalf("a second holder: %v", err)
		}
	}
	var exists *journal.ExistsError
	if _, err := other.create(ctx, "r1", &journal.Given{}); !errors.As(err, &exists) {
		t.Errorf("a run that exists: %v", err)
	}
	var missing *journal.MissingError
	if _, err := other.resume(ctx, "r2"); !errors.As(err, &missing) {
		t.Errorf("a run that does not: %v", err)
	}
	if sum, err := other.Summary(ctx, "r1"); err != nil || sum.Holder == nil || sum.Holder.PID != os.Getpid() {
		t.Errorf("%+v, %v", sum, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := resume(t, other, "r1").Close(); err != nil {
		t.Error(err)
	}
	files, err := os.ReadDir(s.path + ".locks")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files { // those of the store are left, that of the run is not
		if f.Name() != "log" && f.Name() != "turn" {
			t.Errorf("the lock %s is left", f.Name())
		}
	}
}

func TestManyRunsAtOnce(t *testing.T) {
	s := open(t)
	other := reopen(t, s.path)
	const runs, events = 32, 60
	var wg sync.WaitGroup
	for i := range 2 * runs {
		wg.Go(func() {
			store := s
			if i%2 == 1 {
				store = other
			}
			r := create(t, store, fmt.Sprint("run", i))
			for n := range events {
				seq := r.Append(at(exec.CallStarted, fmt.Sprint(n)))
				if n%4 == 0 {
					if err := r.Sync(seq); err != nil {
						t.Error(err)
					}
				}
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all, err := s.Runs(ctx, journal.Filter{})
	if err != nil || len(all) != 2*runs {
		t.Fatalf("%d runs, %v", len(all), err)
	}
	for _, sum := range all {
		if got := bodies(t, s, sum.Run); len(got) != events || sum.Events != events || sum.Calls[journal.Uncertain] != events {
			t.Fatalf("%s has %d events; its row: %+v", sum.Run, len(got), sum)
		}
	}
	var texts int
	if err := s.readers.QueryRow("SELECT count(*) FROM texts").Scan(&texts); err != nil || texts != 1 {
		t.Errorf("one plan is kept %d times, %v", texts, err)
	}
}

func TestEventThatIsNoJSON(t *testing.T) {
	s := open(t)
	r, other := create(t, s, "r1"), create(t, s, "r2")
	good := r.Append(at(exec.CallStarted, "a"))
	bad := r.Append(at(exec.CallReturned, "a", value(`{"a`)))
	r.Append(at(exec.CallCompleted, "a"))
	seq := other.Append(at(exec.CallStarted, "b"))
	if err := r.Sync(bad); err == nil {
		t.Error("what is no JSON was kept")
	}
	sync1(t, r, good)
	sync1(t, other, seq)
	if err := r.Sync(r.Append(at(exec.CallStarted, "c"))); err == nil {
		t.Error("the run went on after an error")
	}
	if got := bodies(t, s, "r1"); len(got) != 1 {
		t.Errorf("kept: %v", got)
	}
	if err := r.Close(); err == nil {
		t.Error("Close tells of no error")
	}
	resume(t, s, "r1")
}

func TestSizeOfBodiesIsTold(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	big := value(`"` + strings.Repeat("x", 1<<20) + `"`)
	const n = 2 * record.MaxQueued >> 20 // more than may be queued at once
	for range n {
		r.Append(at(exec.CallReturned, "a", big))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := bodies(t, s, "r1"); len(got) != n {
		t.Errorf("%d events", len(got))
	}
}

func TestInstances(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	r.Append(at(exec.CallReturned, "a", on("①"), value("1")))
	r.Append(at(exec.CallReturned, "a", on("②"), value("2")))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = resume(t, s, "r1")
	past, err := r.Past("②")
	if err != nil || len(past) != 1 || string(past["a"].Returned.Value) != "2" {
		t.Errorf("%v, %v", past, err)
	}
	var plan string
	rows, err := s.readers.Query("EXPLAIN QUERY PLAN "+pastOf("②"), "write", 1, "②")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var a, b, c int
		var detail string
		rows.Scan(&a, &b, &c, &detail)
		plan += detail + "\n"
	}
	rows.Close()
	if plan != "SEARCH events USING INDEX events_instance (run=? AND instance=?)\n" {
		t.Errorf("the past of an instance costs more than it has: %s", plan)
	}
}

func TestQuestions(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	ask := func(path, d string) {
		t.Helper()
		sync1(t, r, r.Append(at(exec.ApprovalAsked, path, digest(d), value(`{"amount": 5}`))))
	}
	ask("a", "d1")
	ask("b", "d2")
	open, err := s.Questions(ctx, "r1")
	if err != nil || len(open) != 2 || open[0].Path != "a" || open[1].Digest != "d2" || string(open[0].Params) != `{"amount":5}` {
		t.Fatalf("%v, %v", open, err)
	}
	other := reopen(t, s.path) // as another process
	refused := func(want journal.Refused, path string, a exec.Answer) {
		t.Helper()
		var e *journal.AnswerError
		if err := other.Answer(ctx, "r1", "", path, a); !errors.As(err, &e) || e.Refused != want {
			t.Errorf("the answer about %s: %v", path, err)
		}
	}
	refused(journal.NotAsked, "c", exec.Answer{})
	refused(journal.Changed, "a", exec.Answer{Digest: "d2"})

	listening, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	given := make(chan *journal.Answer)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for a, err := range r.Answers(listening) {
			if err != nil {
				t.Error(err)
				return
			}
			given <- a
		}
	}()
	if err := other.Answer(ctx, "r1", "", "a", exec.Answer{Approved: true, Digest: "d1"}); err != nil {
		t.Fatal(err)
	}
	refused(journal.Answered, "a", exec.Answer{Approved: false, Digest: "d1"})
	if a := <-given; a.Path != "a" || !a.Answer.Approved {
		t.Errorf("the holder was told %+v", a)
	}
	if sum, _ := other.Summary(ctx, "r1"); sum.Questions != 1 {
		t.Errorf("%d open questions", sum.Questions)
	}
	r.Append(at(exec.ApprovalGiven, "a", func(e *exec.Event) { e.Answer = &exec.Answer{Approved: true, Digest: "d1"} }))
	sync1(t, r, r.Append(at(exec.CallStarted, "a")))
	refused(journal.Answered, "a", exec.Answer{})
	ask("a", "d1") // the same again is another question
	if err := other.Answer(ctx, "r1", "", "a", exec.Answer{Skip: true}); err != nil {
		t.Fatal(err)
	}
	if a := <-given; a.Path != "a" || !a.Answer.Skip {
		t.Errorf("the holder was told %+v", a)
	}
	cancel()
	<-done
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}

	// Nobody holds it: the answers wait.
	if err := other.Answer(ctx, "r1", "", "b", exec.Answer{Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	r = resume(t, other, "r1")
	past, err := r.Past("")
	if err != nil || past["b"].Answer == nil || past["b"].Answer.Reason != "no" || past["b"].Asked.Digest != "d2" || !past["a"].Answer.Skip {
		t.Fatalf("%v, %v", past["b"], err)
	}
	ask("c", "d3")
	if err := other.Answer(ctx, "r1", "", "c", exec.Answer{Approved: true}); err != nil {
		t.Fatal(err)
	}
	ask("c", "d3") // by a run that did not know of the answer when it was resumed
	for a, err := range r.Answers(t.Context()) {
		if err != nil || a.Path != "c" || !a.Answer.Approved {
			t.Errorf("asking again has lost an answer: %+v, %v", a, err)
		}
		if err := r.Withdraw(ctx, a); err != nil {
			t.Error(err)
		}
		break
	}
	if open, err := other.Questions(ctx, "r1"); err != nil || len(open) != 1 {
		t.Errorf("an answer that was no good: %v, %v", open, err)
	}
	r.Append(at(exec.RunFinished, "", status(exec.Failed)))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if open, err := other.Questions(ctx, "r1"); err != nil || len(open) > 0 {
		t.Errorf("after the end %v are open, %v", open, err)
	}
	refused(journal.NotAsked, "zzz", exec.Answer{})
}

func TestOneAnswerWins(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	sync1(t, r, r.Append(at(exec.ApprovalAsked, "a", digest("d"))))
	stores := []*Store{s, reopen(t, s.path), reopen(t, s.path)}
	var mu sync.Mutex
	won := 0
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			err := stores[i%3].Answer(ctx, "r1", "", "a", exec.Answer{Reason: fmt.Sprint(i)})
			var refused *journal.AnswerError
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				won++
			case !errors.As(err, &refused) || refused.Refused != journal.Answered:
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d answers won", won)
	}
}

func TestDurations(t *testing.T) {
	s := open(t)
	for n := range 3 {
		r := create(t, s, fmt.Sprint("r", n))
		tool := func(e *exec.Event) { e.Tool = "t" }
		for i := range 100 {
			call := fmt.Sprint(i)
			r.Append(at(exec.CallStarted, call, tool))
			r.Append(at(exec.CallReturned, call, tool, after(time.Duration(100*n+i))))
		}
		r.Append(at(exec.CallStarted, "x", tool))
		r.Append(at(exec.CallReturned, "x", tool, after(time.Hour), func(e *exec.Event) { e.Error = &exec.Failure{} }))
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Durations(ctx, "t")
	if err != nil || len(got) != journal.MaxDurations || got[0] != 300-journal.MaxDurations || got[journal.MaxDurations-1] != 299 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCollect(t *testing.T) {
	s := open(t)
	for i := range 10 {
		r, err := s.create(ctx, fmt.Sprint("r", i), &journal.Given{Plan: journal.Text{Name: "p", Bytes: []byte("shared")}, Texts: []journal.Text{{Role: journal.Input, Bytes: fmt.Append(nil, i)}}})
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			r.Append(at(exec.CallReturned, "a", value(`"`+strings.Repeat("x", 1000)+`"`)))
		}
		if i != 2 {
			r.Append(at(exec.RunFinished, "", status([]exec.Status{exec.Completed, exec.Failed}[i%2])))
			r.Close()
		}
	}
	done, err := s.Collect(t.Context(), &journal.Collect{Filter: journal.Filter{Status: []exec.Status{exec.Completed}}, Keep: 1})
	if err != nil || done.Runs != 3 || done.Bytes < 100_000 {
		t.Errorf("%+v, %v", done, err)
	}
	left := ""
	runs, err := s.Runs(ctx, journal.Filter{})
	for _, r := range runs {
		left += r.Run + " "
	}
	if err != nil || left != "r9 r8 r7 r5 r3 r2 r1 " {
		t.Errorf("left are %s %v", left, err)
	}
	var texts, of, events int
	s.readers.QueryRow("SELECT (SELECT count(*) FROM texts), (SELECT count(DISTINCT run) FROM events)").Scan(&texts, &of)
	for _, r := range runs {
		events += len(bodies(t, s, r.Run))
	}
	if texts != 8 || of != 7 || events != 7*51-1 {
		t.Errorf("%d texts, %d events of %d runs are left", texts, events, of)
	}
}

// A store that was closed leaves nothing open, and one file.
func TestCloseLeavesNothing(t *testing.T) {
	open := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(files)
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	var before int
	for i := range 3 {
		if i == 1 { // the first has opened what stays
			before = open()
		}
		s, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := create(t, s, fmt.Sprint("r", i))
		r.Append(at(exec.RunStarted, ""))
		bodies(t, s, r.ID())
		if err := s.Close(); err != nil { // it gives the run back
			t.Fatal(err)
		}
	}
	if after := open(); after > before {
		t.Errorf("%d files were open, now %d", before, after)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 1 {
		t.Errorf("left: %v, %v", files, err)
	}
}

// What calls have come to is known after each commit, and by whoever looks after a kill.
func TestCallsAreCountedAtOnce(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	sync1(t, r, r.Append(at(exec.RunStarted, "")))
	for i := range 3 {
		r.Append(at(exec.CallCompleted, fmt.Sprint("c", i), status(exec.Completed)))
		sync1(t, r, r.Append(at(exec.CallStarted, fmt.Sprint("c", i+1), after(time.Duration(i)*time.Hour))))
		for _, f := range []journal.Filter{{}, {After: at("", "").Time.Add(time.Duration(i)*time.Hour - 1)}} {
			sum, err := s.Runs(ctx, f)
			if err != nil || len(sum) != 1 {
				t.Fatal(i, sum, err)
			}
			if sum[0].Calls[exec.Completed] != i+1 || sum[0].Calls[exec.Running] != 1 || sum[0].Events != int64(2*i+3) || sum[0].Status != exec.Running {
				t.Errorf("after %d calls: %+v", i+1, sum[0])
			}
		}
	}
	r.lock.free() // as when its process is killed
	s.queue.Delist(&r.Held)
	again := resume(t, s, "r1")
	if again.Events() != 7 || again.Tally.Last != 7 || again.Tally.Ended[exec.Completed] != 3 {
		t.Errorf("it goes on after %d with %v", again.Tally.Last, again.Tally.Ended)
	}
}

// A call that failed and is run again in a later process counts once.
func TestCallsAreCountedOnce(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	end := func(call string, typ exec.EventType, st exec.Status) {
		r.Append(at(exec.CallStarted, call))
		r.Append(at(typ, call, status(st)))
	}
	end("a", exec.CallFailed, exec.Failed)
	end("b", exec.CallCompleted, exec.Completed)
	r.Append(at(exec.CallSkipped, "c", status(exec.Skipped)))
	r.Append(at(exec.CallStarted, "d"))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r = resume(t, s, "r1")
	if _, err := r.Past(""); err != nil {
		t.Fatal(err)
	}
	end("a", exec.CallCompleted, exec.Completed)
	end("c", exec.CallCompleted, exec.Completed)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	sum, err := s.Summary(ctx, "r1")
	if d := cmp.Diff(map[exec.Status]int{exec.Completed: 3, exec.Failed: 0, exec.Skipped: 0}, sum.Calls); err != nil || d != "" {
		t.Error(d, err)
	}
}

// Calls of a plan that was replaced do not count: the new one's are told again, all of them.
func TestCallsOfEarlierPlansDoNotCount(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	for _, call := range []string{"a", "b", "gone"} {
		r.Append(at(exec.CallStarted, call))
		r.Append(at(exec.CallCompleted, call, status(exec.Completed)))
	}
	for range 2 { // with the new plan, and again
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = resume(t, s, "r1")
		if _, err := r.Past(""); err != nil {
			t.Fatal(err)
		}
		r.Append(at(exec.RunResumed, ""))
		r.Append(at(exec.PlanRevised, ""))
		r.Append(at(exec.CallCompleted, "a", status(exec.Completed)))
		r.Append(at(exec.CallCompleted, "b", status(exec.Completed)))
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	sum, err := s.Summary(ctx, "r1")
	if d := cmp.Diff(map[exec.Status]int{exec.Completed: 2}, sum.Calls); err != nil || d != "" {
		t.Error(d, err)
	}
}
