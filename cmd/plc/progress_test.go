package main

import (
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// How far a run is: of how many calls is said only when that is known, and in a loop it is not.
func TestStanding(t *testing.T) {
	for total, want := range map[int]string{0: "1 done, 1 running, 0s", 3: "1 of 3 done, 1 running, 0s"} {
		p := &progress{total: total, begun: time.Now(), running: map[string]attempt{}, wake: make(chan struct{}, 1)}
		for _, call := range []string{"a", "b"} {
			p.event(&exec.Event{Type: exec.CallStarted, Call: call, Attempt: 1, Time: time.Now()})
		}
		p.event(&exec.Event{Type: exec.CallCompleted, Call: "a", Time: time.Now()})
		if got := p.standing(); got != want {
			t.Errorf("of %d calls: %q, want %q", total, got, want)
		}
	}
}

// How far a call is, as its tool says, stands behind it as long as it goes on.
func TestHowFarACallIs(t *testing.T) {
	p := &progress{running: map[string]attempt{}, wake: make(chan struct{}, 1)}
	far := func(done, total float64, message string) *exec.Event {
		return &exec.Event{Type: exec.CallProgress, Call: "load", Attempt: 1, Progress: &tool.Progress{Done: done, Total: total, Message: message}}
	}
	p.event(far(1, 9, "not yet begun"))
	if len(p.live()) != 0 {
		t.Errorf("%q", p.live())
	}
	p.event(&exec.Event{Type: exec.CallStarted, Call: "load", Attempt: 1, Time: time.Now()})
	for _, c := range []struct {
		event *exec.Event
		want  string
	}{
		{far(1, 4, ""), "load, 1 of 4"},
		{far(2.5, 4, "half\x1b[2J"), "load, 2.5 of 4: half\\u001b[2J"},
		{far(3, 0, "more"), "load, 3: more"},
	} {
		p.event(c.event)
		if got := p.live(); len(got) != 1 || !strings.HasSuffix(got[0].String(), c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	p.event(&exec.Event{Type: exec.CallCompleted, Call: "load", Time: time.Now()})
	if len(p.live()) != 0 {
		t.Errorf("%q", p.live())
	}
}
