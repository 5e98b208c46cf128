package plc

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// history reads from the store, for dry runs and forecasts, what happened in earlier runs. The nil
// history is empty.
type history struct {
	store journal.Store

	mu      sync.Mutex
	lengths map[string][]time.Duration // by tool
	results map[askedAt]*exec.Event    // of an earlier run with the same input
}

// historyOf returns the history of a store, which must stay open as long as the history is used.
// Results come from the newest completed run with the same input that recalls accepts; a nil
// recalls accepts all.
func historyOf(ctx context.Context, store journal.Store, given string, recalls func(*journal.Summary) bool) (*history, error) {
	if store == nil {
		return nil, nil
	}
	h := &history{store: store, lengths: map[string][]time.Duration{}, results: map[askedAt]*exec.Event{}}
	all, err := store.Runs(ctx, journal.Filter{Status: []exec.Status{exec.Completed}, Labels: map[string]string{givenLabel: given}})
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.Parent != "" || recalls != nil && !recalls(r) { // a fork began with other values
			continue
		}
		for entry, err := range store.Events(ctx, r.Run, 0, false) {
			if err != nil {
				return nil, err
			}
			e, err := entry.Event()
			if err != nil {
				return nil, err
			}
			if e.Type == exec.CallReturned && e.Error == nil && e.Value != nil {
				h.results[askedAt{e.Instance, e.Call}] = e
			}
		}
		break
	}
	return h, nil
}

// givenDigest returns the digest of what plans are given: the texts of the plan, its documents and
// its tools, and the values.
func (c *Checker) givenDigest() string {
	parts := []string{c.reader.name}
	for _, in := range c.spec.Values.Input {
		parts = append(parts, in.Name, in.Text)
	}
	for _, t := range c.session.texts.all() {
		parts = append(parts, string(t.Role), digestOf(t.Bytes))
	}
	return digestOf(encoded(parts))
}

// durations returns how long calls like this one took.
func (h *history) durations(c *compile.Call) []time.Duration {
	name := c.Source.Tool
	h.mu.Lock()
	defer h.mu.Unlock()
	all, ok := h.lengths[name]
	if !ok {
		all, _ = h.store.Durations(context.Background(), name) // if the store can't be read, there are none
		h.lengths[name] = all
	}
	return all
}

// recorded returns the recorded result of a call.
func (h *history) recorded(t *exec.Trial) (json.RawMessage, bool) {
	e := h.results[askedAt{t.Instance, t.Path}]
	if e == nil || e.Tool != t.Call.Source.Tool {
		return nil, false
	}
	return e.Value, true
}
