package memory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/plc-lang/plc/journal"
)

// loop is a loop of the store.
type loop struct {
	name    string
	given   json.RawMessage
	entries []json.RawMessage
	held    bool
}

// heldLoop is a journal.Loop.
type heldLoop struct {
	store  *Store
	loop   *loop
	closed bool
}

// CreateLoop implements journal.Store.
func (s *Store) CreateLoop(_ context.Context, name string, given json.RawMessage) (journal.Loop, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errClosed()
	case name == "":
		return nil, errors.New("journal: a loop needs an id")
	case s.loopOf(name) != nil:
		return nil, &journal.ExistsError{Run: name}
	}
	l := &loop{name: name, given: slices.Clone(given), held: true}
	s.loops = append(s.loops, l)
	return &heldLoop{store: s, loop: l}, nil
}

// loopOf returns a loop, nil if there is none. The caller holds mu.
func (s *Store) loopOf(name string) *loop {
	for _, l := range s.loops {
		if l.name == name {
			return l
		}
	}
	return nil
}

// ResumeLoop implements journal.Store.
func (s *Store) ResumeLoop(_ context.Context, name string) (journal.Loop, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.loopOf(name)
	switch {
	case s.closed:
		return nil, errClosed()
	case l == nil:
		return nil, &journal.MissingError{Run: name}
	case l.held:
		return nil, &journal.HeldError{Run: name}
	}
	l.held = true
	return &heldLoop{store: s, loop: l}, nil
}

// LoopEntries implements journal.Store.
func (s *Store) LoopEntries(_ context.Context, name string) ([]json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.loopOf(name)
	if l == nil {
		return nil, &journal.MissingError{Run: name}
	}
	return slices.Clone(l.entries), nil
}

// DeleteLoop implements journal.Store.
func (s *Store) DeleteLoop(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.loopOf(name)
	switch {
	case s.closed:
		return errClosed()
	case l == nil:
		return &journal.MissingError{Run: name}
	case l.held:
		return &journal.HeldError{Run: name}
	}
	s.loops = slices.DeleteFunc(s.loops, func(other *loop) bool { return other == l })
	return nil
}

// Loops implements journal.Store.
func (s *Store) Loops(context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, l := range slices.Backward(s.loops) {
		names = append(names, l.name)
	}
	return names, nil
}

// ID implements journal.Loop.
func (l *heldLoop) ID() string { return l.loop.name }

// Given implements journal.Loop.
func (l *heldLoop) Given() json.RawMessage { return slices.Clone(l.loop.given) }

// Entries implements journal.Loop.
func (l *heldLoop) Entries(context.Context) ([]json.RawMessage, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	return slices.Clone(l.loop.entries), nil
}

// Append implements journal.Loop.
func (l *heldLoop) Append(_ context.Context, entry json.RawMessage) error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if l.closed || l.store.closed {
		return errClosed()
	}
	l.loop.entries = append(l.loop.entries, slices.Clone(entry))
	return nil
}

// Close implements journal.Loop.
func (l *heldLoop) Close() error {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if !l.closed {
		l.closed, l.loop.held = true, false
	}
	return nil
}
