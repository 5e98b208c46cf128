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

// overlap is the time for which the clocks of servers may differ: runs that were changed that long
// before the newest ones are looked at again.
const overlap = 10 * time.Minute

// told says how far a hook was told. The record has it as entries, of which each adds to those
// before it.
type told struct {
	// Until is a time before which all that happened was told, in runs that Runs does not have.
	Until time.Time `json:"until"`
	// Runs has the number of the last event of runs about which nothing is left to tell.
	Runs map[string]int64 `json:"runs,omitempty"`
}

// hold holds the record of a hook, which begins with what happens from now on. The error is a
// *journal.HeldError while another server tells the hook.
func hold(ctx context.Context, store journal.Store, hook string) (journal.Loop, *told, error) {
	name := plc.WebhookRecord(hook)
	held, err := store.ResumeLoop(ctx, name)
	var missing *journal.MissingError
	if errors.As(err, &missing) {
		given, _ := json.Marshal(told{Until: time.Now()})
		held, err = store.CreateLoop(ctx, name, given)
	}
	if err != nil {
		return nil, nil, err
	}
	t, err := readTold(ctx, held)
	if err != nil {
		return nil, nil, errors.Join(err, held.Close())
	}
	return held, t, nil
}

// began returns when a hook was told first.
func began(held journal.Loop) (time.Time, error) {
	var t told
	err := json.Unmarshal(held.Given(), &t)
	return t.Until, err
}

func readTold(ctx context.Context, held journal.Loop) (*told, error) {
	all := &told{Runs: map[string]int64{}}
	entries, err := held.Entries(ctx)
	if err != nil {
		return nil, err
	}
	for _, text := range append([]json.RawMessage{held.Given()}, entries...) {
		var t told
		if err := json.Unmarshal(text, &t); err != nil {
			return nil, fmt.Errorf("the record of the webhook in %q is broken: %w", held.ID(), err)
		}
		all.Until = t.Until
		maps.Copy(all.Runs, t.Runs)
	}
	return all, nil
}
