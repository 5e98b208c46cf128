// Package storetest checks implementations of journal.Store.
//
//	func TestStore(t *testing.T) {
//		storetest.Test(t, storetest.Maker{New: func(t *testing.T) journal.Store { return memory.New() }})
//	}
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// A Maker makes the stores under test.
type Maker struct {
	// New returns an empty store that is closed when the test ends.
	New func(t *testing.T) journal.Store
	// Again returns another store of the records of s, as another process has it. Nil for stores
	// that only one process can have.
	Again func(t *testing.T, s journal.Store) journal.Store
	// Kill ends a store as the end of its process does: nothing is written any more, and all that
	// it holds is free. Nil for stores that end with the process.
	Kill func(s journal.Store)
	// Damage has the ways to damage the approvals of a store. None for one that can't be damaged.
	Damage []func(t *testing.T, s journal.Store)
	// Salvage returns what is found damaged in a store, and a new store of what can be kept of it.
	// Nil for stores that can't be damaged.
	Salvage func(t *testing.T, s journal.Store) (faults []error, kept journal.Store)
}

// Test checks that stores do what package journal promises.
func Test(t *testing.T, m Maker) {
	for _, part := range []struct {
		name string
		f    func(*testing.T, Maker)
	}{
		{"Given", testGiven}, {"Events", testEvents}, {"Follow", testFollow}, {"Past", testPast}, {"OneHolder", testOneHolder},
		{"Kill", testKill}, {"Questions", testQuestions}, {"OneAnswer", testOneAnswer}, {"AnswersBefore", testAnswersBefore},
		{"ReadsWhileOthersWrite", testReadsWhileOthersWrite},
		{"Withdraw", testWithdraw}, {"Cancel", testCancel}, {"Approvals", testApprovals},
		{"DamagedApprovals", testDamagedApprovals}, {"KeptApprovals", testKeptApprovals}, {"Filters", testFilters}, {"Pages", testPages},
		{"Calls", testCalls}, {"Fork", testFork}, {"Revise", testRevise}, {"Durations", testDurations}, {"Collect", testCollect},
		{"Loops", testLoops}, {"Close", testClose},
	} {
		t.Run(part.name, func(t *testing.T) { part.f(t, m) })
	}
}

// again opens the store again with Again, or returns the store itself if there is no Again.
func (m *Maker) again(t *testing.T, s journal.Store) journal.Store {
	if m.Again == nil {
		return s
	}
	return m.Again(t, s)
}

var base = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// event returns an event of a call; "" is the run.
func event(typ exec.EventType, call string, more ...func(*exec.Event)) *exec.Event {
	e := &exec.Event{Type: typ, Call: call, Time: base}
	for _, f := range more {
		f(e)
	}
	return e
}

func value(text string) func(*exec.Event) {
	return func(e *exec.Event) { e.Value = json.RawMessage(text) }
}
func status(s exec.Status) func(*exec.Event) { return func(e *exec.Event) { e.Status = s } }
func on(instance string) func(*exec.Event)   { return func(e *exec.Event) { e.Instance = instance } }
func at(d time.Duration) func(*exec.Event)   { return func(e *exec.Event) { e.Time = base.Add(d) } }
func toolOf(name string) func(*exec.Event)   { return func(e *exec.Event) { e.Tool = name } }
func asking(digest string) func(*exec.Event) {
	return func(e *exec.Event) {
		e.Digest, e.Question, e.Value = digest, exec.ApprovalQuestion, json.RawMessage(`{"amount":5}`)
	}
}

// must fails the test when something went wrong.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// is reports an error that is not of the type E.
func is[E error](t *testing.T, err error) (typed E) {
	t.Helper()
	if !errors.As(err, &typed) {
		t.Fatalf("the error is %v, not a %T", err, typed)
	}
	return typed
}

func create(t *testing.T, s journal.Store, run string) journal.Run {
	t.Helper()
	r, err := s.Create(t.Context(), run, &journal.Given{Plan: journal.Text{Name: "plan.json", Bytes: []byte("[]")}, Created: base})
	must(t, err)
	return r
}

func resume(t *testing.T, s journal.Store, run string) journal.Run {
	t.Helper()
	r, err := s.Resume(t.Context(), run)
	must(t, err)
	return r
}

// add appends events and waits until they are durable.
func add(t *testing.T, r journal.Run, events ...*exec.Event) (last int64) {
	t.Helper()
	for _, e := range events {
		last = r.Append(e)
	}
	must(t, r.Sync(last))
	return last
}

// lines returns the events of a run from a number on.
func lines(t *testing.T, s journal.Store, run string, from int64) (all []string) {
	t.Helper()
	for e, err := range s.Events(t.Context(), run, from, false) {
		must(t, err)
		got, err := e.Event()
		must(t, err)
		all = append(all, strings.TrimSpace(fmt.Sprintf("%d %s %s%s", e.Seq, got.Type, got.Instance, got.Call)))
	}
	return all
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func testGiven(t *testing.T, m Maker) {
	s := m.New(t)
	text := []byte(`{"a":1.0}`)
	given := &journal.Given{
		Plan:     journal.Text{Name: "plan.json", Notation: "plan", Bytes: []byte("[]")},
		Texts:    []journal.Text{{Role: journal.Input, Name: "in.json", Bytes: text}, {Role: journal.Instances, Name: "many.jsonl", Digest: "d"}, {Role: journal.Tools, Name: "empty", Bytes: []byte{}}},
		Settings: json.RawMessage(`{"refs":"lenient"}`), Program: "p", Labels: map[string]string{"team": "a"}, Created: base,
	}
	r, err := s.Create(t.Context(), "R", given)
	must(t, err)
	copy(text, "XXXXXXXXX")
	_, err = s.Create(t.Context(), "R", given)
	is[*journal.ExistsError](t, err)
	if _, err := s.Create(t.Context(), "", given); err == nil {
		t.Error("a run without an id was made")
	}
	must(t, r.Close())
	g, err := m.again(t, s).Given(t.Context(), "R")
	must(t, err)
	same(t, "plan", fmt.Sprint(g.Plan.Role, g.Plan.Name, g.Plan.Notation, string(g.Plan.Bytes), len(g.Plan.Digest)), "planplan.jsonplan[]64")
	same(t, "texts", fmt.Sprint(len(g.Texts), string(g.Texts[0].Bytes), g.Texts[1].Digest, g.Texts[1].Bytes == nil, g.Texts[2].Bytes != nil, g.Texts[2].Role), `3{"a":1.0}dtrue truetools`)
	same(t, "rest", fmt.Sprint(string(g.Settings), g.Program, g.Labels, g.Created.UTC(), g.Fork == nil, g.Revision), fmt.Sprint(`{"refs":"lenient"}`, "p", map[string]string{"team": "a"}, base, true, 0))
	_, err = s.Given(t.Context(), "no")
	is[*journal.MissingError](t, err)
	_, err = s.Summary(t.Context(), "no")
	is[*journal.MissingError](t, err)
	_, err = s.Resume(t.Context(), "no")
	is[*journal.MissingError](t, err)
	_, err = s.Reader(t.Context(), "no")
	is[*journal.MissingError](t, err)
	for _, err := range s.Events(t.Context(), "no", 0, false) {
		is[*journal.MissingError](t, err)
	}
}

func testEvents(t *testing.T, m Maker) {
	s := m.New(t)
	r := create(t, s, "R")
	var last int64
	for i := range 300 {
		last = r.Append(event(exec.CallStarted, fmt.Sprint("c", i), value(`{"text": "x `+strings.Repeat("y", i)+`"}`)))
		if last != int64(i+1) {
			t.Fatalf("event %d has the number %d", i+1, last)
		}
	}
	must(t, r.Sync(last))
	got := lines(t, m.again(t, s), "R", 0)
	if len(got) != 300 || got[0] != "1 callStarted c0" || got[299] != "300 callStarted c299" {
		t.Fatalf("%d events: %q", len(got), got)
	}
	same(t, "from 299", lines(t, s, "R", 299), []string{"299 callStarted c298", "300 callStarted c299"})
	for _, from := range []int64{301, 1 << 32, 1<<40 | 1, math.MaxInt64} {
		same(t, fmt.Sprint("from ", from), len(lines(t, s, "R", from)), 0)
	}
	n := 0
	for range s.Events(t.Context(), "R", 0, false) {
		if n++; n == 5 {
			break
		}
	}
	sum, err := s.Summary(t.Context(), "R")
	must(t, err)
	same(t, "events", sum.Events, 300)
	must(t, r.Close())
	must(t, r.Close())
	r.Append(event(exec.RunFinished, ""))
	if err := r.Sync(301); err == nil {
		t.Error("a run that was given back takes events")
	}
	same(t, "after the end", len(lines(t, s, "R", 301)), 0)
}

func testFollow(t *testing.T, m Maker) {
	s := m.New(t)
	other := m.again(t, s)
	r := create(t, s, "R")
	add(t, r, event(exec.RunStarted, ""), event(exec.CallStarted, "a"))
	seen := make(chan string)
	go func() {
		defer close(seen)
		for e, err := range other.Events(t.Context(), "R", 2, true) {
			if err != nil {
				seen <- err.Error()
				return
			}
			seen <- fmt.Sprint(e.Seq)
		}
	}()
	same(t, "first", <-seen, "2")
	add(t, r, event(exec.CallReturned, "a", value("1")))
	same(t, "next", <-seen, "3")
	add(t, r, event(exec.RunPaused, "", status(exec.Paused)))
	must(t, r.Close())
	same(t, "pause", <-seen, "4")
	r = resume(t, s, "R")
	add(t, r, event(exec.RunResumed, ""), event(exec.RunFinished, "", status(exec.Completed)))
	same(t, "resumed", <-seen, "5")
	same(t, "end", <-seen, "6")
	if more, ok := <-seen; ok {
		t.Errorf("more came: %s", more)
	}
	must(t, r.Close())

	r = create(t, s, "S")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, err := range other.Events(ctx, "S", 0, true) {
			t.Errorf("nothing happened: %v", err)
		}
	}()
	cancel()
	<-done
	must(t, r.Close())
}

func testPast(t *testing.T, m Maker) {
	s := m.New(t)
	r := create(t, s, "R")
	if p, err := r.Past(""); p != nil || err != nil {
		t.Errorf("a new run has the past %v, %v", p, err)
	}
	add(t, r, event(exec.RunStarted, ""),
		event(exec.CallStarted, "a", func(e *exec.Event) { e.Attempt, e.Key = 1, "k" }), event(exec.CallReturned, "a", value(`{"n":1.00}`)),
		event(exec.Written, "a", value(`"large"`)), event(exec.CallCompleted, "a", status(exec.Completed)), event(exec.CallStarted, "b"),
		event(exec.CallReturned, "a", on("i1"), value(`7`)), event(exec.CallReturned, "a", on("i2"), value(`8`)))
	must(t, r.Close())
	r = resume(t, s, "R")
	reader, err := m.again(t, s).Reader(t.Context(), "R")
	must(t, err)
	for _, record := range []exec.Record{r, reader} {
		p, err := record.Past("")
		must(t, err)
		same(t, "calls", len(p), 2)
		same(t, "a", fmt.Sprint(p["a"].Key, string(p["a"].Returned.Value), p["a"].Settled), `k{"n":1.00}completed`)
		same(t, "b was cut off", p["b"].Lost, true)
		p, err = record.Past("i2")
		must(t, err)
		same(t, "instance", fmt.Sprint(len(p), string(p["a"].Returned.Value)), "18")
		if p, err = record.Past("i3"); p != nil || err != nil {
			t.Errorf("an instance that has not begun has the past %v, %v", p, err)
		}
	}
	reader.Append(event(exec.RunFinished, ""))
	must(t, reader.Sync(100))
	must(t, r.Close())
	same(t, "events", len(lines(t, s, "R", 0)), 8)
}

func testOneHolder(t *testing.T, m Maker) {
	s := m.New(t)
	other := m.again(t, s)
	r := create(t, s, "R")
	for _, by := range []journal.Store{s, other} {
		_, err := by.Resume(t.Context(), "R")
		held := is[*journal.HeldError](t, err)
		same(t, "held", held.Run, "R")
		sum, err := by.Summary(t.Context(), "R")
		must(t, err)
		if sum.Holder == nil || sum.Status == journal.Interrupted {
			t.Errorf("a run that is held is %s, by %v", sum.Status, sum.Holder)
		}
	}
	must(t, r.Close())
	sum, err := other.Summary(t.Context(), "R")
	must(t, err)
	if sum.Holder != nil {
		t.Errorf("a run that nobody holds is held by %v", sum.Holder)
	}
	for range 3 {
		got := make(chan journal.Run, 8)
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				r, err := []journal.Store{s, other}[i%2].Resume(t.Context(), "R")
				var held *journal.HeldError
				switch {
				case err == nil:
					got <- r
				case !errors.As(err, &held):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(got) != 1 {
			t.Fatalf("%d hold the run", len(got))
		}
		must(t, (<-got).Close())
	}
}

func testKill(t *testing.T, m Maker) {
	if m.Kill == nil {
		t.Skip("this store ends with its process")
	}
	first := m.New(t)
	s := m.again(t, first)
	r := create(t, first, "R")
	add(t, r, event(exec.RunStarted, ""), event(exec.CallStarted, "a"), event(exec.CallReturned, "a", value("1")), event(exec.CallStarted, "b"))
	create(t, first, "S")
	for i := range 50 {
		r.Append(event(exec.CallStarted, fmt.Sprint("c", i)))
	}
	m.Kill(first)
	got := lines(t, s, "R", 0)
	if len(got) < 4 {
		t.Fatalf("what Sync had returned for is lost: %q", got)
	}
	for i, line := range got[4:] {
		same(t, "what is left is a beginning", line, fmt.Sprintf("%d callStarted c%d", i+5, i))
	}
	for run, want := range map[string]exec.Status{"R": journal.Interrupted, "S": journal.Interrupted} {
		sum, err := s.Summary(t.Context(), run)
		must(t, err)
		same(t, run, sum.Status, want)
		if sum.Holder != nil {
			t.Errorf("the dead hold %s: %v", run, sum.Holder)
		}
	}
	sum, err := s.Summary(t.Context(), "R")
	must(t, err)
	if sum.Calls[journal.Uncertain] == 0 || sum.Calls[exec.Running] != 0 {
		t.Errorf("calls are %v", sum.Calls)
	}
	r = resume(t, s, "R")
	p, err := r.Past("")
	must(t, err)
	same(t, "b", p["b"].Lost, true)
	same(t, "next", r.Append(event(exec.RunResumed, "")), int64(len(got)+1))
	add(t, r, event(exec.RunFinished, "", status(exec.Completed)))
	must(t, r.Close())
	same(t, "events", len(lines(t, s, "R", 0)), len(got)+2)
}

func testQuestions(t *testing.T, m Maker) {
	s := m.New(t)
	other := m.again(t, s)
	r := create(t, s, "R")
	add(t, r, event(exec.RunStarted, ""), event(exec.ApprovalAsked, "b", asking("d2"), toolOf("pay")), event(exec.ApprovalAsked, "a", asking("d1")), event(exec.ApprovalAsked, "a", on("i"), asking("d3")))
	open, err := other.Questions(t.Context(), "R")
	must(t, err)
	var names []string
	for _, q := range open {
		names = append(names, q.Instance+":"+q.Path+":"+q.Digest)
	}
	same(t, "open", names, []string{":a:d1", ":b:d2", "i:a:d3"})
	same(t, "b", fmt.Sprint(open[1].Run, open[1].Tool, string(open[1].Params), open[1].Kind), `Rpay{"amount":5}`+string(exec.ApprovalQuestion))
	sum, err := other.Summary(t.Context(), "R")
	must(t, err)
	same(t, "count", sum.Questions, 3)

	refused := func(why journal.Refused, path string, a exec.Answer) {
		t.Helper()
		same(t, path, is[*journal.AnswerError](t, other.Answer(t.Context(), "R", "", path, a)).Refused, why)
	}
	refused(journal.NotAsked, "c", exec.Answer{})
	refused(journal.Changed, "a", exec.Answer{Digest: "d2"})
	must(t, other.Answer(t.Context(), "R", "", "a", exec.Answer{Approved: true, Digest: "d1", Params: json.RawMessage(`{"amount":4}`)}))
	refused(journal.Answered, "a", exec.Answer{})
	for a, err := range r.Answers(t.Context()) {
		must(t, err)
		same(t, "answer", fmt.Sprint(a.Instance, a.Path, a.Answer.Approved, string(a.Answer.Params)), `a`+`true{"amount":4}`)
		break
	}
	add(t, r, event(exec.ApprovalGiven, "a", func(e *exec.Event) { e.Answer = &exec.Answer{Approved: true} }), event(exec.CallStarted, "b"))
	refused(journal.Answered, "a", exec.Answer{})
	refused(journal.NotAsked, "b", exec.Answer{})
	add(t, r, event(exec.RunFinished, "", status(exec.Completed)))
	open, err = other.Questions(t.Context(), "R")
	must(t, err)
	same(t, "at the end", len(open), 0)
	must(t, r.Close())
}

func testOneAnswer(t *testing.T, m Maker) {
	s := m.New(t)
	stores := []journal.Store{s, m.again(t, s), m.again(t, s)}
	r := create(t, s, "R")
	for n := range 10 {
		call := fmt.Sprint("c", n)
		add(t, r, event(exec.ApprovalAsked, call, asking("d")))
		won := make(chan string, 12)
		var all sync.WaitGroup
		for i := range cap(won) {
			all.Go(func() {
				reason := fmt.Sprint(i)
				err := stores[i%len(stores)].Answer(t.Context(), "R", "", call, exec.Answer{Reason: reason})
				var refused *journal.AnswerError
				switch {
				case err == nil:
					won <- reason
				case !errors.As(err, &refused) || refused.Refused != journal.Answered:
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(won) != 1 {
			t.Fatalf("%d answers count", len(won))
		}
		for a, err := range r.Answers(t.Context()) {
			must(t, err)
			same(t, "answer", a.Path+a.Answer.Reason, call+<-won)
			break
		}
		add(t, r, event(exec.ApprovalGiven, call, func(e *exec.Event) { e.Answer = &exec.Answer{} }))
	}
	must(t, r.Close())
}

// What others write at the same time is never taken for damage.
func testReadsWhileOthersWrite(t *testing.T, m Maker) {
	s := m.New(t)
	other := m.again(t, s)
	r := create(t, s, "R")
	var asked []*exec.Event
	for n := range 200 {
		asked = append(asked, event(exec.ApprovalAsked, fmt.Sprint("c", n), asking("d")))
	}
	add(t, r, asked...)
	done := make(chan error, 1)
	go func() {
		var err error
		for n := 0; n < len(asked) && err == nil; n++ {
			err = s.Answer(t.Context(), "R", "", fmt.Sprint("c", n), exec.Answer{Approved: true})
		}
		done <- err
	}()
	for {
		_, err := other.Questions(t.Context(), "R")
		must(t, err)
		_, err = other.Given(t.Context(), "R")
		must(t, err)
		select {
		case err := <-done:
			must(t, err)
			must(t, r.Close())
			return
		default:
		}
	}
}

// Answers that are put while nobody holds a run are events from the moment when somebody does.
func testAnswersBefore(t *testing.T, m Maker) {
	s := m.New(t)
	r := create(t, s, "R")
	add(t, r, event(exec.RunStarted, ""), event(exec.ApprovalAsked, "a", asking("d")), event(exec.ApprovalAsked, "b", asking("d")), event(exec.RunPaused, "", status(exec.Paused)))
	must(t, r.Close())
	must(t, s.Answer(t.Context(), "R", "", "b", exec.Answer{Approved: true, Reason: "fine"}))
	r = resume(t, s, "R")
	same(t, "events", lines(t, s, "R", 5), []string{"5 approvalAnswered b"})
	p, err := r.Past("")
	must(t, err)
	if p["b"].Answer == nil || p["b"].Answer.Reason != "fine" || p["a"].Answer != nil {
		t.Errorf("past: %+v, %+v", p["a"].Answer, p["b"].Answer)
	}
	open, err := s.Questions(t.Context(), "R")
	must(t, err)
	same(t, "open", len(open), 1)
	later := func(after time.Duration) func(*exec.Event) {
		return func(e *exec.Event) { e.Time = base.Add(after) }
	}
	waits := func(want time.Time) {
		t.Helper()
		open, err := s.Questions(t.Context(), "R")
		must(t, err)
		same(t, "open", len(open), 1)
		if !open[0].Asked.Equal(want) {
			t.Errorf("asked at %v, want %v", open[0].Asked, want)
		}
	}
	add(t, r, event(exec.ApprovalAsked, "a", asking("d"), later(time.Hour)))
	waits(base) // it is the same question
	add(t, r, event(exec.ApprovalAsked, "a", asking("e"), later(2*time.Hour)))
	waits(base.Add(2 * time.Hour))
	must(t, r.Close())
}

func testWithdraw(t *testing.T, m Maker) {
	s := m.New(t)
	r := create(t, s, "R")
	add(t, r, event(exec.ApprovalAsked, "a", asking("d")))
	n := 0
	must(t, s.Answer(t.Context(), "R", "", "a", exec.Answer{Reason: "0"}))
	for a, err := range r.Answers(t.Context()) {
		must(t, err)
		same(t, "answer", a.Answer.Reason, fmt.Sprint(n))
		if n++; n == 3 {
			break
		}
		must(t, r.Withdraw(t.Context(), a))
		open, err := s.Questions(t.Context(), "R")
		must(t, err)
		same(t, "open again", len(open), 1)
		must(t, s.Answer(t.Context(), "R", "", "a", exec.Answer{Reason: fmt.Sprint(n)}))
	}
	must(t, r.Close())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range r.Answers(t.Context()) {
		}
	}()
	<-ended // since the run was closed
}

func testCancel(t *testing.T, m Maker) {
	s := m.New(t)
	other := m.again(t, s)
	is[*journal.MissingError](t, s.Cancel(t.Context(), "R", ""))
	r := create(t, s, "R")
	add(t, r, event(exec.RunStarted, ""))
	waiting := func(r journal.Run) <-chan string {
		got := make(chan string, 1)
		go func() {
			reason, err := r.WaitCancel(t.Context())
			if err != nil {
				reason = "error"
			}
			got <- reason
		}()
		return got
	}
	got := waiting(r)
	must(t, other.Cancel(t.Context(), "R", "enough"))
	same(t, "reason", <-got, "enough")
	add(t, r, event(exec.RunPaused, "", status(exec.Paused)))
	must(t, r.Close())
	r = resume(t, other, "R")
	same(t, "it stays until the run has ended", <-waiting(r), "enough")
	add(t, r, event(exec.RunFinished, "", status(exec.Cancelled)))
	must(t, r.Close())
	r = resume(t, s, "R")
	got = waiting(r)
	add(t, r, event(exec.RunResumed, ""))
	select {
	case reason := <-got:
		t.Fatalf("a request that was followed comes again: %s", reason)
	case <-time.After(10 * time.Millisecond):
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.WaitCancel(ctx); err == nil {
		t.Error("nobody cancelled the run")
	}
	must(t, r.Close())
	same(t, "closed", <-got, "error")
}

func testApprovals(t *testing.T, m Maker) {
	s := m.New(t)
	other := m.again(t, s)
	ctx := t.Context()
	isApproved := func(s journal.Store, run, digest string, want bool) {
		t.Helper()
		ok, err := s.Approved(ctx, run, digest)
		must(t, err)
		same(t, "approved for "+run+": "+digest, ok, want)
	}
	isApproved(s, "R", "d", false)
	must(t, s.Approve(ctx, "R", "d"))
	must(t, other.Approve(ctx, "R", "d")) // again, which is no approval for another run
	isApproved(other, "R", "d", true)
	isApproved(s, "S", "d", false)
	isApproved(s, "R", "e", false)

	must(t, s.Use(ctx, "R", "once"))
	must(t, other.Use(ctx, "R", "once"))
	same(t, "used", is[*journal.UsedError](t, other.Use(ctx, "S", "once")).Run, "R")
	isApproved(s, "S", "once", false)
	var all sync.WaitGroup
	won := make(chan string, 16)
	for i := range cap(won) {
		all.Go(func() {
			if run := fmt.Sprint(i); []journal.Store{s, other}[i%2].Use(ctx, run, "e") == nil {
				won <- run
			}
		})
	}
	all.Wait()
	same(t, "one gets it", len(won), 1)
}

func testDamagedApprovals(t *testing.T, m Maker) {
	for i, damage := range m.Damage {
		s := m.New(t)
		must(t, s.Use(t.Context(), "R", "once"))
		damage(t, s)
		var used *journal.UsedError
		if err := s.Use(t.Context(), "S", "once"); !errors.Is(err, journal.ErrBroken) && !errors.As(err, &used) {
			t.Errorf("damage %d: it is used again: %v", i, err)
		}
		if faults, _ := m.Salvage(t, s); len(faults) != 1 || !errors.Is(faults[0], journal.ErrBroken) {
			t.Errorf("damage %d: found %v", i, faults)
		}
	}
}

func testKeptApprovals(t *testing.T, m Maker) {
	if m.Salvage == nil {
		t.Skip("it can't be damaged")
	}
	s := m.New(t)
	must(t, s.Use(t.Context(), "R", "once"))
	for _, run := range []string{"R", "S"} {
		must(t, s.Approve(t.Context(), run, "d"))
	}
	faults, kept := m.Salvage(t, s)
	same(t, "faults", len(faults), 0)
	same(t, "used", is[*journal.UsedError](t, kept.Use(t.Context(), "S", "once")).Run, "R")
	for _, run := range []string{"R", "S"} {
		ok, err := kept.Approved(t.Context(), run, "d")
		must(t, err)
		same(t, "approved for "+run, ok, true)
	}
}

func testFilters(t *testing.T, m Maker) {
	s := m.New(t)
	for i, end := range []exec.Status{exec.Completed, exec.Failed, exec.Paused, exec.Running, exec.Completed} {
		g := &journal.Given{Plan: journal.Text{Name: fmt.Sprintf("p%d.json", i%2)}, Labels: map[string]string{"n": fmt.Sprint(i % 3)}, Created: base}
		r, err := s.Create(t.Context(), fmt.Sprint("r", i), g)
		must(t, err)
		when := at(time.Duration(i) * time.Hour)
		r.Append(event(exec.RunStarted, "", when))
		switch end {
		case exec.Paused:
			r.Append(event(exec.RunPaused, "", when, status(end), func(e *exec.Event) { e.Reason = "waits" }))
		case exec.Running: // to its end
		default:
			r.Append(event(exec.RunFinished, "", when, status(end)))
		}
		must(t, r.Close())
	}
	for _, test := range []struct {
		f    journal.Filter
		want string
	}{
		{journal.Filter{}, "r4 r3 r2 r1 r0"},
		{journal.Filter{Status: []exec.Status{exec.Completed}}, "r4 r0"},
		{journal.Filter{Status: []exec.Status{exec.Paused, journal.Interrupted}}, "r3 r2"},
		{journal.Filter{Status: []exec.Status{exec.Running}}, ""},
		{journal.Filter{Plan: "p1.json"}, "r3 r1"},
		{journal.Filter{Labels: map[string]string{"n": "0"}}, "r3 r0"},
		{journal.Filter{Labels: map[string]string{"n": "0", "m": ""}}, "r3 r0"},
		{journal.Filter{Before: base.Add(2 * time.Hour)}, "r1 r0"},
		{journal.Filter{After: base.Add(2 * time.Hour)}, "r4 r3"},
		{journal.Filter{Limit: 2}, "r4 r3"},
		{journal.Filter{From: "r3", Limit: 2}, "r2 r1"},
		{journal.Filter{From: "r0"}, ""},
		{journal.Filter{From: "r3", Status: []exec.Status{exec.Completed, exec.Failed}, Plan: "p0.json"}, "r0"},
	} {
		all, err := s.Runs(t.Context(), test.f)
		must(t, err)
		var names []string
		for _, r := range all {
			names = append(names, r.Run)
		}
		same(t, fmt.Sprintf("%+v", test.f), strings.Join(names, " "), test.want)
	}
	_, err := s.Runs(t.Context(), journal.Filter{From: "no"})
	is[*journal.MissingError](t, err)
	sum, err := s.Summary(t.Context(), "r2")
	must(t, err)
	same(t, "r2", fmt.Sprint(sum.Status, sum.Reason, sum.Plan, sum.Created.UTC(), sum.Changed.UTC(), sum.Finished.IsZero()), fmt.Sprint("paused", "waits", "p0.json", base, base.Add(2*time.Hour), true))
}

// Pages of a list that grows have each run once.
func testPages(t *testing.T, m Maker) {
	s := m.New(t)
	for i := range 25 {
		must(t, create(t, s, fmt.Sprint("r", i)).Close())
	}
	var names []string
	f := journal.Filter{Limit: 4}
	for n := 0; ; n++ {
		page, err := s.Runs(t.Context(), f)
		must(t, err)
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			names = append(names, r.Run)
		}
		f.From = page[len(page)-1].Run
		must(t, create(t, s, fmt.Sprint("new", n)).Close())
	}
	var want []string
	for i := range 25 {
		want = append(want, fmt.Sprint("r", 24-i))
	}
	same(t, "pages", names, want)
}

func testCalls(t *testing.T, m Maker) {
	s := m.New(t)
	r := create(t, s, "R")
	count := func(want string) {
		t.Helper()
		sum, err := s.Summary(t.Context(), "R")
		must(t, err)
		same(t, "calls", fmt.Sprint(sum.Calls), want)
	}
	add(t, r, event(exec.RunStarted, ""), event(exec.CallStarted, "a"), event(exec.CallStarted, "b"), event(exec.ApprovalAsked, "c", asking("d")))
	count("map[awaiting:1 running:2]")
	add(t, r, event(exec.CallReturned, "a", value("1")), event(exec.CallCompleted, "a", status(exec.Completed)), event(exec.CallFailed, "b", status(exec.Failed)))
	count("map[awaiting:1 completed:1 failed:1]")
	add(t, r, event(exec.RunPaused, "", status(exec.Paused)))
	must(t, r.Close())
	r = resume(t, s, "R")
	_, err := r.Past("")
	must(t, err)
	add(t, r, event(exec.RunResumed, ""), event(exec.CallCompleted, "a", status(exec.Completed)), event(exec.CallStarted, "b"), event(exec.CallCompleted, "b", status(exec.Completed)))
	sum, err := s.Summary(t.Context(), "R")
	must(t, err)
	same(t, "completed", sum.Calls[exec.Completed], 2)
	same(t, "failed", sum.Calls[exec.Failed], 0)
	must(t, r.Close())
}

func testFork(t *testing.T, m Maker) {
	s := m.New(t)
	labelled, err := s.Create(t.Context(), "L", &journal.Given{Plan: journal.Text{Name: "plan.json", Bytes: []byte("[]")}, Labels: map[string]string{"team": "a"}})
	must(t, err)
	must(t, labelled.Close())
	r := create(t, s, "R")
	add(t, r, event(exec.RunStarted, ""), event(exec.CallReturned, "a", value("1")), event(exec.CallCompleted, "a", status(exec.Completed)),
		event(exec.CallReturned, "b", value("2")), event(exec.CallReturned, "c", value("3")), event(exec.RunFinished, "", status(exec.Completed)))
	must(t, r.Close())
	f := &journal.Fork{Run: "R", At: "b", Set: map[string]json.RawMessage{"state.x": json.RawMessage("1")}, Drop: func(_, path string) bool { return path == "c" }}
	_, err = s.Fork(t.Context(), "R", f)
	is[*journal.ExistsError](t, err)
	_, err = s.Fork(t.Context(), "F", &journal.Fork{Run: "no"})
	is[*journal.MissingError](t, err)
	refused := errors.New("refused")
	f.Check = func(sum *journal.Summary) error {
		same(t, "the run that is forked", fmt.Sprint(sum.Run, sum.Status, sum.Events), "Rcompleted6")
		return refused
	}
	if _, err := s.Fork(t.Context(), "F", f); !errors.Is(err, refused) {
		t.Errorf("forked: %v", err)
	}
	_, err = s.Summary(t.Context(), "F")
	is[*journal.MissingError](t, err)
	f.Check = func(*journal.Summary) error { return nil }
	fork, err := s.Fork(t.Context(), "F", f)
	must(t, err)
	_, err = s.Resume(t.Context(), "F")
	is[*journal.HeldError](t, err)
	p, err := fork.Past("")
	must(t, err)
	same(t, "past", fmt.Sprint(len(p), string(p["a"].Returned.Value)), "11")
	must(t, fork.Close())
	same(t, "events", lines(t, s, "F", 0), []string{"1 callReturned a", "2 callCompleted a"})
	sum, err := s.Summary(t.Context(), "F")
	must(t, err)
	same(t, "summary", fmt.Sprint(sum.Parent, sum.Status, sum.Calls), "Rpendingmap[completed:1]")
	g, err := s.Given(t.Context(), "F")
	must(t, err)
	same(t, "given", fmt.Sprint(g.Fork.Run, g.Fork.At, string(g.Fork.Set["state.x"]), string(g.Plan.Bytes)), "Rb1[]")
	same(t, "the other run", len(lines(t, s, "R", 0)), 6)
	for name, labels := range map[string]map[string]string{"F1": nil, "F2": {"team": "b"}, "F3": {}} {
		fork, err := s.Fork(t.Context(), name, &journal.Fork{Run: "L", At: "b", Labels: labels})
		must(t, err)
		must(t, fork.Close())
		want := labels
		if want == nil {
			want = map[string]string{"team": "a"}
		}
		sum, err := s.Summary(t.Context(), name)
		must(t, err)
		same(t, "labels of "+name, fmt.Sprint(sum.Labels), fmt.Sprint(want))
	}
}

func testRevise(t *testing.T, m Maker) {
	s := m.New(t)
	r := create(t, s, "R")
	must(t, r.Revise(t.Context(), &journal.Given{Plan: journal.Text{Name: "next.json", Bytes: []byte("[1]")}, Texts: []journal.Text{{Role: journal.Document, Name: "d", Bytes: []byte("{}")}}, Program: "p2"}))
	must(t, r.Close())
	g, err := m.again(t, s).Given(t.Context(), "R")
	must(t, err)
	same(t, "given", fmt.Sprint(g.Plan.Name, string(g.Plan.Bytes), g.Program, g.Revision, len(g.Texts)), "next.json[1]p21 1")
	sum, err := s.Summary(t.Context(), "R")
	must(t, err)
	same(t, "summary", sum.Plan+sum.Program, "next.jsonp2")
}

func testDurations(t *testing.T, m Maker) {
	s := m.New(t)
	r := create(t, s, "R")
	for i := range journal.MaxDurations + 10 {
		call := fmt.Sprint("c", i)
		r.Append(event(exec.CallStarted, call, toolOf("t")))
		r.Append(event(exec.CallReturned, call, toolOf("t"), at(time.Duration(i)*time.Second), value("1")))
	}
	r.Append(event(exec.CallStarted, "x", toolOf("t")))
	r.Append(event(exec.CallReturned, "x", toolOf("t"), at(time.Hour), func(e *exec.Event) { e.Error = &exec.Failure{Code: "c"} }))
	must(t, r.Close())
	all, err := m.again(t, s).Durations(t.Context(), "t")
	must(t, err)
	if len(all) != journal.MaxDurations || all[0] != 10*time.Second || !slices.IsSorted(all) || all[len(all)-1] != 265*time.Second {
		t.Errorf("%d durations: %v", len(all), all)
	}
	if none, err := s.Durations(t.Context(), "u"); len(none) > 0 || err != nil {
		t.Errorf("%v, %v", none, err)
	}
}

func testCollect(t *testing.T, m Maker) {
	s := m.New(t)
	var held journal.Run
	for i := range 6 {
		r := create(t, s, fmt.Sprint("r", i))
		add(t, r, event(exec.RunStarted, ""), event(exec.CallReturned, "a", value(`"`+strings.Repeat("x", 10000)+`"`)), event(exec.RunFinished, "", status(exec.Completed)))
		if i == 1 {
			held = r
			continue
		}
		must(t, r.Close())
	}
	done, err := s.Collect(t.Context(), &journal.Collect{Filter: journal.Filter{Status: []exec.Status{exec.Completed}, Limit: 1}, Keep: 2})
	must(t, err)
	same(t, "deleted", done.Runs, 3)
	all, err := s.Runs(t.Context(), journal.Filter{})
	must(t, err)
	var names []string
	for _, r := range all {
		names = append(names, r.Run)
	}
	same(t, "left", names, []string{"r5", "r4", "r1"})
	done, err = s.Collect(t.Context(), &journal.Collect{Spare: func(r *journal.Summary) bool { return r.Run != "r4" }})
	must(t, err)
	same(t, "deleted of those that are not spared", done.Runs, 1)
	_, err = s.Given(t.Context(), "r0")
	is[*journal.MissingError](t, err)
	g, err := s.Given(t.Context(), "r5") // the same text as that of those that are gone
	must(t, err)
	same(t, "plan", string(g.Plan.Bytes), "[]")
	must(t, held.Close())
	must(t, create(t, s, "r0").Close())
	if m.Again == nil {
		return
	}
	other := m.Again(t, s)
	goesOn := func(r *journal.Summary) bool { // once it is decided that it is deleted
		if r.Run == "r5" {
			again, err := other.Resume(t.Context(), r.Run)
			must(t, err)
			add(t, again, event(exec.RunResumed, ""))
			must(t, again.Close())
		}
		return r.Run != "r5"
	}
	done, err = s.Collect(t.Context(), &journal.Collect{Spare: goesOn})
	must(t, err)
	same(t, "deleted of those that went on", done.Runs, 0)
	sum, err := s.Summary(t.Context(), "r5")
	must(t, err)
	same(t, "events of a run that went on", sum.Events, 4)
}

func testLoops(t *testing.T, m Maker) {
	s := m.New(t)
	other := m.again(t, s)
	ctx := t.Context()
	_, err := s.ResumeLoop(ctx, "L")
	is[*journal.MissingError](t, err)
	l, err := s.CreateLoop(ctx, "L", json.RawMessage(`{"goal":"x"}`))
	must(t, err)
	for _, by := range []journal.Store{s, other} {
		_, err = by.ResumeLoop(ctx, "L")
		is[*journal.HeldError](t, err)
	}
	for i := range 20 {
		must(t, l.Append(ctx, json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))))
	}
	if m.Kill != nil {
		m.Kill(s)
		s = other
	} else {
		must(t, l.Close())
	}
	l, err = s.ResumeLoop(ctx, "L")
	must(t, err)
	same(t, "given", l.ID()+string(l.Given()), `L{"goal":"x"}`)
	must(t, l.Append(ctx, json.RawMessage(`{"n":20}`)))
	all, err := l.Entries(ctx)
	must(t, err)
	same(t, "entries", len(all), 21)
	read, err := s.LoopEntries(ctx, "L")
	must(t, err)
	same(t, "entries of a loop that is held", read, all)
	_, err = s.LoopEntries(ctx, "none")
	is[*journal.MissingError](t, err)
	for i, e := range all {
		same(t, "entry", string(e), fmt.Sprintf(`{"n":%d}`, i))
	}
	must(t, l.Close())
	must(t, l.Close())
	if l.Append(ctx, json.RawMessage(`{}`)) == nil {
		t.Error("a loop that was given back takes entries")
	}
	_, err = s.CreateLoop(ctx, "L", nil)
	is[*journal.ExistsError](t, err)
	next, err := s.CreateLoop(ctx, "M", json.RawMessage(`{}`))
	must(t, err)
	names, err := s.Loops(ctx)
	must(t, err)
	same(t, "loops", names, []string{"M", "L"})
	is[*journal.HeldError](t, s.DeleteLoop(ctx, "M"))
	must(t, next.Close())
	must(t, s.DeleteLoop(ctx, "L"))
	is[*journal.MissingError](t, s.DeleteLoop(ctx, "L"))
	names, err = s.Loops(ctx)
	must(t, err)
	same(t, "loops that are left", names, []string{"M"})
	l, err = s.CreateLoop(ctx, "L", json.RawMessage(`{}`))
	must(t, err)
	all, err = l.Entries(ctx)
	must(t, err)
	same(t, "entries of a loop that was made again", len(all), 0)
	must(t, l.Close())
}

func testClose(t *testing.T, m Maker) {
	s := m.New(t)
	other := m.again(t, s)
	r := create(t, s, "R")
	r.Append(event(exec.RunStarted, ""))
	must(t, s.Close())
	r.Append(event(exec.RunFinished, ""))
	if r.Sync(2) == nil {
		t.Error("a store that was closed takes events")
	}
	fault := is[*journal.Error](t, errors.Join(s.Approve(t.Context(), "R", "d")))
	same(t, "fault", fault.Fault, journal.Closed)
	if m.Again != nil {
		same(t, "events", lines(t, other, "R", 0), []string{"1 runStarted"})
		must(t, resume(t, other, "R").Close())
	}
}
