package record

import (
	"maps"
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// Of instances that have ended a run that was resumed keeps nothing in memory.
func TestInstancesAreForgotten(t *testing.T) {
	tally := NewTally()
	tally.Settled("i1", Past{"c": {Settled: exec.Completed}})
	if len(tally.before) != 1 {
		t.Fatal(tally.before)
	}
	tally.Add(&exec.Event{Type: exec.InstanceFinished, Instance: "i1", Status: exec.Completed}, 1, &Effects{})
	if len(tally.before) != 0 {
		t.Errorf("it keeps %v", tally.before)
	}
}

// A call is uncertain if its tool was called and has not answered, not if the calls of its document
// do the work.
func TestWhoDelegatesIsNotUncertain(t *testing.T) {
	tally := NewTally()
	for i, path := range []string{"each", "each[1]/load", "load", "a~1b", "a~1b/each", "a~1b/each[0]#2/pay"} {
		tally.Add(&exec.Event{Type: exec.CallStarted, Call: path}, int64(i+1), &Effects{})
	}
	left := journal.Summary{Calls: tally.Calls()}
	left.Left(true)
	want := map[exec.Status]int{journal.Delegating: 3, journal.Uncertain: 3}
	if !maps.Equal(left.Calls, want) {
		t.Errorf("calls %v, want %v", left.Calls, want)
	}
	tally.Add(&exec.Event{Type: exec.RunFinished, Status: exec.Cancelled}, 7, &Effects{})
	if got := tally.Calls(); !maps.Equal(got, map[exec.Status]int{journal.Uncertain: 3}) {
		t.Errorf("calls %v after the end", got)
	}
}
