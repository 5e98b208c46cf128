package main

import (
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// The instances of a run that was interrupted are not shown as cancelled, since nobody did that.
func TestInstancesOfARunThatGoesOn(t *testing.T) {
	for status, want := range map[exec.Status]string{
		journal.Interrupted: "interrupted: 1 of 2 instances completed, 1 interrupted",
		exec.Running:        "running: 1 of 2 instances completed, 1 running",
		exec.Cancelled:      "cancelled: 1 of 2 instances completed, 1 cancelled",
	} {
		res := &exec.Result{Status: status, Instances: []exec.InstanceResult{{Name: "a", Status: exec.Completed}, {Name: "b", Status: exec.Cancelled}}}
		runPast{}.timed(res, &journal.Summary{Status: status}, nil)
		if got := headlineOfEach(res); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
