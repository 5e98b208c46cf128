package main

import (
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile/report"
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
		plc.RecordedCalls{}.Into(res, &journal.Summary{Status: status}, nil)
		if got := headlineOfEach(res); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Each call that was started in a delegate and has no answer is named.
func TestUncertainCallsOfADelegate(t *testing.T) {
	started := &plc.RecordedCall{Started: time.Unix(1, 0)}
	past := plc.RecordedCalls{}
	for _, path := range []string{"each", "each[0]/z", "each[1]/z", "each[2]/again", "each[2]/again/z", "other/z"} {
		past[plc.CallAt{Path: path}] = started
	}
	past[plc.CallAt{Path: "each[1]/y"}] = &plc.RecordedCall{Started: time.Unix(1, 0), Ended: time.Unix(2, 0)}
	res := &exec.Result{Calls: []exec.CallResult{{ID: "each", Status: exec.Cancelled}}}
	past.Into(res, &journal.Summary{Status: journal.Interrupted}, nil)
	const want = "each of each[0]/z, each[1]/z, each[2]/again/z was started, and its answer is not in the record"
	if c := res.Calls[0]; c.Status != journal.Uncertain || c.Reason != want {
		t.Errorf("%s: %s", c.Status, c.Reason)
	}
}

// A call that was cut off and may have done its work makes a run unsure, whether it failed or was
// cancelled.
func TestUnsure(t *testing.T) {
	lost := &exec.Failure{Code: "uncertain", Message: "lost"}
	for _, c := range []struct {
		call exec.CallResult
		want bool
	}{
		{exec.CallResult{Status: exec.Failed, Error: lost}, true},
		{exec.CallResult{Status: exec.Cancelled, Error: lost}, true},
		{exec.CallResult{Status: exec.Failed, Error: lost, Handled: true}, false},
		{exec.CallResult{Status: exec.Cancelled}, false},
		{exec.CallResult{Status: exec.Skipped, Error: lost}, false},
	} {
		if got := anyUnsure(&exec.Result{Calls: []exec.CallResult{c.call}}, nil); got != c.want {
			t.Errorf("%+v: %t", c.call, got)
		}
	}
}

// Of what no call leads to, an approval shows the names only.
func TestManifestOfWhatIsCalled(t *testing.T) {
	text, whole := shownManifest("plan.json", report.Manifest(`{"activities":{"a":{"driver":"in use"},"b":{"driver":"unused"}},"calls":{},"order":[],
		"targets":{"x":{"activity":"a","tool":{"name":"t"}}},"tools":{"sub: t":{"driver":"as well"},"t":{"driver":"called"},"u":{"driver":"never"}}}`))
	for _, want := range []string{"in use", "called", "as well", "tools that no call leads to: u", "activities that no call leads to: b"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if strings.Contains(text.String(), "unused") || strings.Contains(text.String(), "never") || !whole {
		t.Errorf("%t %s", whole, text)
	}
}
