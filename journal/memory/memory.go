// Package memory keeps the records of runs in memory: a [journal.Store] for tests, and for
// programs whose runs need not outlive them.
//
//	engine := plc.New(plc.Config{Store: memory.New()})
package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// Store is a journal.Store that lasts as long as the process.
type Store struct {
	mu        sync.Mutex // guards everything, including the runs and loops
	closed    bool
	runs      []*run // in the order in which they were made
	loops     []*loop
	durations map[string][]time.Duration
	approved  map[approval]bool
	used      map[string]string // the run that has used a name
}

// New returns an empty store.
func New() *Store {
	return &Store{durations: map[string][]time.Duration{}, approved: map[approval]bool{}, used: map[string]string{}}
}

// run is a run of the store; it is kept when nobody holds it.
type run struct {
	journal.Summary // except for what the tally has
	given           journal.Given
	entries         []*journal.Entry
	tally           *record.Tally
	questions       map[record.Key]*question
	cancel          *string       // reason of a request to end it; nil if there is none
	held            *held         // nil when nobody holds it
	changed         chan struct{} // closed, and made again, when something happens
}

// question is the last question about a call.
type question struct {
	event  *exec.Event
	answer *exec.Answer
	closed bool
}

// open reports whether the question can still be answered.
func (q *question) open() bool { return !q.closed && q.answer == nil }

// approval identifies the approval of a whole plan, by its digest, for a run.
type approval struct{ run, digest string }

// tell wakes all goroutines that wait for a change of the run. The caller holds mu.
func (r *run) tell() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// errClosed returns the error of a store or a run that is closed.
func errClosed() error { return &journal.Error{Path: "memory", Fault: journal.Closed} }

// withRun calls f for a run while holding mu.
func (s *Store) withRun(name string, f func(*run) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed()
	}
	for _, r := range s.runs {
		if r.Run == name {
			return f(r)
		}
	}
	return &journal.MissingError{Run: name}
}

// Create implements journal.Store.
func (s *Store) Create(_ context.Context, name string, g *journal.Given) (journal.Run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.create(name, g, nil, nil)
}

// create makes a run with the events of another. The caller holds mu.
func (s *Store) create(name string, g *journal.Given, forked *journal.Forked, events []*exec.Event) (journal.Run, error) {
	switch {
	case s.closed:
		return nil, errClosed()
	case name == "":
		return nil, errors.New("journal: a run needs an id")
	case slices.ContainsFunc(s.runs, func(r *run) bool { return r.Run == name }):
		return nil, &journal.ExistsError{Run: name}
	}
	r := &run{given: copyOf(g), tally: record.NewTally(), questions: map[record.Key]*question{}, changed: make(chan struct{})}
	r.given.Fork, r.given.Revision = forked, 0
	if r.given.Created.IsZero() {
		r.given.Created = time.Now()
	}
	r.given.Created = r.given.Created.Truncate(time.Microsecond)
	r.Summary = journal.Summary{Run: name, Created: r.given.Created}
	if forked != nil {
		r.Parent = forked.Run
	}
	s.runs = append(s.runs, r)
	h := s.hold(r)
	for _, e := range events {
		if err := h.append(e); err != nil {
			return nil, err
		}
	}
	r.tally.Fork()
	h.fresh = forked == nil
	return h, nil
}

// copyOf returns a copy of what was given, which can't be changed any more.
func copyOf(g *journal.Given) journal.Given {
	c := *g
	c.Labels = map[string]string{}
	maps.Copy(c.Labels, g.Labels)
	if c.Settings = slices.Clone(g.Settings); len(c.Settings) == 0 {
		c.Settings = json.RawMessage("{}")
	}
	all := g.AllTexts()
	for i := range all {
		if all[i].Bytes != nil {
			all[i].Bytes = append([]byte{}, all[i].Bytes...)
			sum := sha256.Sum256(all[i].Bytes)
			all[i].Digest = hex.EncodeToString(sum[:])
		}
	}
	c.Plan, c.Texts = all[0], all[1:]
	return c
}

// hold makes a run one that is held. The caller holds mu.
func (s *Store) hold(r *run) *held {
	host, _ := os.Hostname()
	r.held = &held{store: s, run: r, holder: journal.Holder{PID: os.Getpid(), Host: cmp.Or(host, "this machine"), Since: time.Now()}, yielded: map[*question]bool{}}
	return r.held
}

// Resume implements journal.Store.
func (s *Store) Resume(_ context.Context, name string) (held journal.Run, err error) {
	err = s.withRun(name, func(r *run) error {
		if r.held != nil {
			return &journal.HeldError{Run: name, Holder: r.held.holder}
		}
		h := s.hold(r)
		var answered []*question
		for _, q := range r.questions {
			if !q.closed && q.answer != nil {
				answered = append(answered, q)
			}
		}
		slices.SortFunc(answered, func(a, b *question) int { return a.event.Time.Compare(b.event.Time) })
		for _, q := range answered {
			if err := h.append((&journal.Answer{Answer: *q.answer}).Given(q.event)); err != nil {
				return err
			}
		}
		held = h
		return nil
	})
	return held, err
}

// Fork implements journal.Store.
func (s *Store) Fork(_ context.Context, name string, f *journal.Fork) (held journal.Run, err error) {
	err = s.withRun(f.Run, func(from *run) error {
		if err := f.Checked(from.summary()); err != nil {
			return err
		}
		var events []*exec.Event
		for _, entry := range from.entries {
			e, err := entry.Event()
			if err != nil {
				return err
			}
			if f.Keeps(e) {
				events = append(events, e)
			}
		}
		held, err = s.create(name, f.Given(&from.given), &journal.Forked{Run: f.Run, Instance: f.Instance, At: f.At, Set: maps.Clone(f.Set)}, events)
		return err
	})
	return held, err
}

// summary returns the summary of a run. The caller holds mu.
func (r *run) summary() *journal.Summary {
	sum, t := r.Summary, r.tally
	sum.Plan, sum.Program, sum.Labels = r.given.Plan.Name, r.given.Program, maps.Clone(r.given.Labels)
	sum.Status, sum.Reason, sum.Finished, sum.Calls, sum.Events = t.Status, t.Reason, t.Finished, t.Calls(), int64(len(r.entries))
	if sum.Changed = t.Changed; sum.Changed.IsZero() {
		sum.Changed = sum.Created
	}
	for _, q := range r.questions {
		if q.open() {
			sum.Questions++
		}
	}
	if r.held != nil {
		sum.Holder = &r.held.holder
	} else {
		sum.Left(false)
	}
	return &sum
}

// Summary implements journal.Store.
func (s *Store) Summary(_ context.Context, name string) (sum *journal.Summary, err error) {
	err = s.withRun(name, func(r *run) error { sum = r.summary(); return nil })
	return sum, err
}

// Runs implements journal.Store.
func (s *Store) Runs(_ context.Context, f journal.Filter) ([]*journal.Summary, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed()
	}
	end := len(s.runs)
	if f.From != "" {
		if end = slices.IndexFunc(s.runs, func(r *run) bool { return r.Run == f.From }); end < 0 {
			return nil, &journal.MissingError{Run: f.From}
		}
	}
	all := []*journal.Summary{}
	for _, r := range slices.Backward(s.runs[:end]) {
		if sum := r.summary(); f.Has(sum) {
			all = append(all, sum)
		}
		if len(all) == f.Limit && f.Limit > 0 {
			break
		}
	}
	return all, nil
}

// Given implements journal.Store.
func (s *Store) Given(_ context.Context, name string) (g *journal.Given, err error) {
	err = s.withRun(name, func(r *run) error {
		given := copyOf(&r.given)
		g = &given
		return nil
	})
	return g, err
}

// Events implements journal.Store.
func (s *Store) Events(ctx context.Context, name string, from int64, follow bool) iter.Seq2[*journal.Entry, error] {
	return func(yield func(*journal.Entry, error) bool) {
		from := max(from, 1)
		for {
			var page []*journal.Entry
			var changed chan struct{}
			finished := !follow
			err := s.withRun(name, func(r *run) error {
				page = r.entries[min(from-1, int64(len(r.entries))):]
				changed = r.changed
				finished = finished || !r.tally.Finished.IsZero()
				return nil
			})
			if err != nil {
				yield(nil, err)
				return
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				from = e.Seq + 1
			}
			switch {
			case len(page) > 0:
				continue
			case finished:
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-changed:
			}
		}
	}
}

// past returns what the events of a run say about the calls of an instance. The caller holds mu.
func (r *run) past(instance string) (record.Past, error) {
	var p record.Past
	for _, entry := range r.entries {
		e, err := entry.Event()
		if err != nil {
			return nil, err
		}
		if e.Instance != instance {
			continue
		}
		if p == nil {
			p = record.Past{}
		}
		p.Add(entry.Seq, e)
	}
	return p, nil
}

// Durations implements journal.Store.
func (s *Store) Durations(_ context.Context, tool string) ([]time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.durations[tool]), nil
}

// keep adds durations. The caller holds mu.
func (s *Store) keep(all []record.Samples) {
	for _, of := range all {
		lengths := append(s.durations[of.Tool], of.Lengths...)
		s.durations[of.Tool] = lengths[max(0, len(lengths)-journal.MaxDurations):]
	}
}

// Questions implements journal.Store.
func (s *Store) Questions(_ context.Context, name string) (all []*journal.Question, err error) {
	err = s.withRun(name, func(r *run) error {
		for _, q := range r.questions {
			if q.open() {
				all = append(all, journal.QuestionOf(name, q.event))
			}
		}
		return nil
	})
	slices.SortFunc(all, func(a, b *journal.Question) int {
		return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Path, b.Path))
	})
	return all, err
}

// Answer implements journal.Store.
func (s *Store) Answer(_ context.Context, name, instance, path string, answer exec.Answer) error {
	if _, err := record.Encode(answer); err != nil {
		return fmt.Errorf("journal: the answer about %q is not JSON: %w", path, err)
	}
	return s.withRun(name, func(r *run) error {
		q := r.questions[record.Key{Instance: instance, Path: path}]
		refusal := &journal.AnswerError{Run: name, Instance: instance, Path: path}
		switch {
		case q == nil:
			return refusal
		case answer.Digest != "" && answer.Digest != q.event.Digest:
			refusal.Refused = journal.Changed
			return refusal
		case q.answer != nil:
			refusal.Refused = journal.Answered
			return refusal
		case q.closed:
			return refusal
		}
		q.answer = &answer
		r.tell()
		return nil
	})
}

// Cancel implements journal.Store.
func (s *Store) Cancel(_ context.Context, name, reason string) error {
	return s.withRun(name, func(r *run) error {
		r.cancel = &reason
		r.tell()
		return nil
	})
}

// Approve implements journal.Store.
func (s *Store) Approve(_ context.Context, run string, digests ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed()
	}
	for _, digest := range digests {
		s.approved[approval{run, digest}] = true
	}
	return nil
}

// Approved implements journal.Store.
func (s *Store) Approved(_ context.Context, run, digest string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.approved[approval{run, digest}], nil
}

// Use implements journal.Store.
func (s *Store) Use(_ context.Context, run, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if by, ok := s.used[name]; ok && by != run {
		return &journal.UsedError{Name: name, Run: by}
	}
	s.used[name] = run
	return nil
}

// Collect implements journal.Store.
func (s *Store) Collect(_ context.Context, c *journal.Collect) (journal.Collected, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	done, seen := journal.Collected{}, 0
	var kept []*run
	for _, r := range slices.Backward(s.runs) {
		if sum := r.summary(); c.Has(sum) {
			if seen++; c.Takes(seen-1, sum) {
				done.Runs++
				r.tell()
				for _, e := range r.entries {
					done.Bytes += int64(len(e.Body))
				}
				continue
			}
		}
		kept = append(kept, r)
	}
	slices.Reverse(kept)
	s.runs = kept
	return done, nil
}

// Close implements journal.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		for _, r := range s.runs {
			r.held.giveBack()
			r.tell()
		}
	}
	return nil
}
