package plc

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/plc-lang/plc/journal/memory"
)

// A session's record takes entries of several writers, and is no loop to go on with.
func TestAgentSession(t *testing.T) {
	e := New(Config{Store: memory.New()})
	ctx := t.Context()
	begun := AgentSession{ID: "S", By: "bot", Role: "reader", Client: "test", Began: time.Now().UTC().Round(0)}
	if err := e.BeginSession(ctx, &begun); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := e.NoteSession(ctx, "S", json.RawMessage(fmt.Sprint(i))); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, entries, err := e.SessionEntries(ctx, "S")
	if err != nil || *got != begun || len(entries) != 20 {
		t.Errorf("%+v, %d entries, %v", got, len(entries), err)
	}
	if ids, err := e.Sessions(ctx); err != nil || len(ids) != 1 || ids[0] != "S" {
		t.Errorf("%v, %v", ids, err)
	}
	if _, err := e.ContinueLoop(ctx, "last", nil); err == nil || err.Error() != `there is no loop "last" to go on with` {
		t.Errorf("a session is a loop: %v", err)
	}
	if err := e.NoteSession(ctx, "other", nil); err == nil || err.Error() != `the record has no session "other"` {
		t.Errorf("%v", err)
	}
	if err := New(Config{}).BeginSession(ctx, &begun); !errors.Is(err, ErrNoStore) {
		t.Errorf("%v", err)
	}
}
