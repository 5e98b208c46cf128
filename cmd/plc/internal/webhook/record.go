package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/journal"
)

// overlap is the time by which the clocks of servers may differ: runs that were changed up to this
// long before the last look are looked at again.
const overlap = 10 * time.Minute

// progress says which events a hook has been notified about. The record has several entries, each
// of which adds to those before it.
type progress struct {
	// Until is a time: for runs that Runs does not have, messages about all events before it were
	// sent.
	Until time.Time `json:"until"`
	// Runs has, by run, the number of the last event that was processed.
	Runs map[string]int64 `json:"runs,omitempty"`
}

// hold holds the record of a hook. A new record begins with events from now on. The error is a
// *journal.HeldError while another server notifies the hook.
func hold(ctx context.Context, store journal.Store, hook string) (journal.Loop, *progress, error) {
	name := plc.WebhookRecord(hook)
	held, err := store.ResumeLoop(ctx, name)
	var missing *journal.MissingError
	if errors.As(err, &missing) {
		given, _ := json.Marshal(progress{Until: time.Now()})
		held, err = store.CreateLoop(ctx, name, given)
	}
	if err != nil {
		return nil, nil, err
	}
	t, err := readProgress(ctx, held)
	if err != nil {
		return nil, nil, errors.Join(err, held.Close())
	}
	return held, t, nil
}

// began returns when the record of a hook was made.
func began(held journal.Loop) (time.Time, error) {
	var t progress
	err := json.Unmarshal(held.Given(), &t)
	return t.Until, err
}

func readProgress(ctx context.Context, held journal.Loop) (*progress, error) {
	all := &progress{Runs: map[string]int64{}}
	entries, err := held.Entries(ctx)
	if err != nil {
		return nil, err
	}
	for _, text := range append([]json.RawMessage{held.Given()}, entries...) {
		var t progress
		if err := json.Unmarshal(text, &t); err != nil {
			return nil, fmt.Errorf("the record of the webhook in %q is broken: %w", held.ID(), err)
		}
		all.Until = t.Until
		maps.Copy(all.Runs, t.Runs)
	}
	return all, nil
}
