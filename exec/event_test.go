package exec_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/plc-lang/plc/exec"
)

// Events that are made over say the same as new ones; those of Events and of a record are
// kept by others, and are new in any case.
func TestReuseEvents(t *testing.T) {
	prog := program(t, `[{"_tool":"a","_outputPath":"†state.a"},{"_tool":"b","v":"†state.a","_outputPath":"†state.b || †state.e"},{"_tool":"a","_when":"†input.x"}]`,
		tools{"a": gives(`[1]`), "b": fails("no")})
	lines := func(reuse bool) (all []string, kept []*exec.Event) {
		opts := exec.Options{ID: "R", Schedule: exec.Sequential, Seed: 1, ReuseEvents: reuse, OnEvent: func(e *exec.Event) {
			was := e.Time
			e.Time = time.Time{}
			line, err := json.Marshal(e)
			if err != nil {
				t.Error(err)
			}
			e.Time = was
			all, kept = append(all, string(line)), append(kept, e)
		}}
		if _, err := exec.Run(t.Context(), prog, &opts); err != nil {
			t.Fatal(err)
		}
		return all, kept
	}
	made, all := lines(false)
	again, one := lines(true)
	if !slices.Equal(made, again) {
		t.Errorf("%s\nreused, %s", made, again)
	}
	if len(made) < 10 || one[0] != one[len(one)-1] || all[0] == all[1] {
		t.Errorf("%d events; one that is reused is another, or one that is not is the same", len(made))
	}
	seen := map[*exec.Event]bool{}
	for e, err := range exec.Events(t.Context(), prog, &exec.Options{ReuseEvents: true}) {
		if err != nil || seen[e] {
			t.Error(err, e)
		}
		seen[e] = true
	}
}

// The times of events never go back.
func TestEventTimes(t *testing.T) {
	prog := program(t, shaped(200, shapes[1].call), tools{"e": echo})
	var last time.Time
	_, err := exec.Run(t.Context(), prog, &exec.Options{OnEvent: func(e *exec.Event) {
		if e.Time.Before(last) {
			t.Errorf("%s %s at %v, after one at %v", e.Type, e.Call, e.Time, last)
		}
		last = e.Time
	}})
	if err != nil {
		t.Fatal(err)
	}
}
