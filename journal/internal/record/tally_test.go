package record

import (
	"testing"

	"github.com/plc-lang/plc/exec"
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
