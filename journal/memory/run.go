package memory

import (
	"context"
	"iter"
	"slices"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// held is a run that is held: a journal.Run.
type held struct {
	store   *Store
	run     *run
	holder  journal.Holder
	fresh   bool
	yielded map[*question]bool // questions whose answers were yielded
	closed  bool
	err     error // why no more events are accepted
}

// ID implements journal.Run.
func (h *held) ID() string { return h.run.Run }

// Append implements exec.Record.
func (h *held) Append(e *exec.Event) int64 {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	if h.err == nil && h.closed {
		h.err = errClosed()
	}
	if h.err == nil {
		h.err = h.append(e)
	}
	return int64(len(h.run.entries))
}

// append adds an event. The caller holds mu.
func (h *held) append(e *exec.Event) error {
	r := h.run
	var line record.Lines
	if err := line.Add(e); err != nil {
		return err
	}
	entry := &journal.Entry{Seq: int64(len(r.entries) + 1), Body: []byte(line)}
	r.entries = append(r.entries, entry)
	var effects record.Effects
	r.tally.Add(e, entry.Seq, &effects)
	for _, q := range effects.Questions {
		if err := r.note(q, entry); err != nil {
			return err
		}
	}
	if !r.tally.Finished.IsZero() {
		r.cancel = nil
	}
	h.store.keep(effects.Samples)
	h.run.tell()
	return nil
}

// note notes a question that is asked or closed. If a resumed run asks the same
// question again, the first asking is kept, with any answer that was not taken yet.
func (r *run) note(q record.Question, entry *journal.Entry) error {
	before := r.questions[q.Key]
	if !q.Asked {
		if before.closed = true; q.Answer != nil {
			before.answer = q.Answer
		}
		return nil
	}
	e, err := entry.Event()
	if err != nil {
		return err
	}
	next := &question{event: e}
	if before != nil && !before.closed && before.event.Digest == e.Digest {
		next.event, next.answer = before.event, before.answer
	}
	r.questions[q.Key] = next
	return nil
}

// Sync implements exec.Record. Events are never more durable than after Append.
func (h *held) Sync(int64) error {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	return h.err
}

// Past implements exec.Record.
func (h *held) Past(instance string) (map[string]*exec.Past, error) {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	if h.fresh {
		return nil, nil
	}
	p, err := h.run.past(instance)
	if p == nil || err != nil {
		return nil, err
	}
	h.run.tally.Settled(instance, p)
	return p, nil
}

// wait waits until something changes. It returns false if ctx is done or the run was closed.
func (h *held) wait(ctx context.Context, changed chan struct{}) bool {
	select {
	case <-ctx.Done():
		return false
	case <-changed:
		return true
	}
}

// Answers implements journal.Run.
func (h *held) Answers(ctx context.Context) iter.Seq2[*journal.Answer, error] {
	return func(yield func(*journal.Answer, error) bool) {
		for ctx.Err() == nil {
			h.store.mu.Lock()
			var next []*journal.Answer
			for key, q := range h.run.questions {
				if !q.closed && q.answer != nil && !h.yielded[q] {
					h.yielded[q] = true
					next = append(next, &journal.Answer{Instance: key.Instance, Path: key.Path, Answer: *q.answer})
				}
			}
			changed, closed := h.run.changed, h.closed
			h.store.mu.Unlock()
			for _, a := range next {
				if !yield(a, nil) {
					return
				}
			}
			if len(next) == 0 && (closed || !h.wait(ctx, changed)) {
				return
			}
		}
	}
}

// Withdraw implements journal.Run.
func (h *held) Withdraw(_ context.Context, a *journal.Answer) error {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	if q := h.run.questions[record.Key{Instance: a.Instance, Path: a.Path}]; q != nil && !q.closed {
		q.answer = nil
		delete(h.yielded, q)
		h.run.tell()
	}
	return nil
}

// WaitCancel implements journal.Run.
func (h *held) WaitCancel(ctx context.Context) (string, error) {
	for {
		h.store.mu.Lock()
		reason, changed, closed := h.run.cancel, h.run.changed, h.closed
		h.store.mu.Unlock()
		switch {
		case closed:
			return "", errClosed()
		case reason != nil:
			return *reason, nil
		case !h.wait(ctx, changed):
			return "", ctx.Err()
		}
	}
}

// Revise implements journal.Run.
func (h *held) Revise(_ context.Context, g *journal.Given) error {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	next, given := copyOf(g), &h.run.given
	given.Plan, given.Program = next.Plan, next.Program
	given.Texts = slices.Concat(given.Texts, next.Texts)
	given.Revision++
	return nil
}

// Close implements journal.Run.
func (h *held) Close() error {
	h.store.mu.Lock()
	defer h.store.mu.Unlock()
	if h.closed {
		return nil
	}
	h.giveBack()
	h.run.tell()
	return h.err
}

// giveBack releases the run. The caller holds mu.
func (h *held) giveBack() {
	if h == nil || h.closed {
		return
	}
	h.closed, h.run.held = true, nil
	h.store.keep(h.run.tally.Samples())
}

// reader is an exec.Record for reading a run.
type reader struct {
	store *Store
	run   *run
}

// Reader implements journal.Store.
func (s *Store) Reader(_ context.Context, name string) (record exec.Record, err error) {
	err = s.withRun(name, func(r *run) error { record = &reader{s, r}; return nil })
	return record, err
}

// Append implements exec.Record. It keeps nothing.
func (r *reader) Append(*exec.Event) int64 { return 0 }

// Sync implements exec.Record.
func (r *reader) Sync(int64) error { return nil }

// Past implements exec.Record.
func (r *reader) Past(instance string) (map[string]*exec.Past, error) {
	r.store.mu.Lock()
	defer r.store.mu.Unlock()
	return r.run.past(instance)
}
