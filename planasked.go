package plc

import (
	"context"
	"fmt"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// An approval of a lazy plan as a whole holds for one manifest. The record of a run keeps the
// manifest with which the run was begun. A process that resumes the run computes it again. If it
// has changed, the approval does not hold, and the event of the pause that follows has the new
// manifest (exec.Event.Value). A process in which somebody approves the plan computes the manifest
// as well, and shows nothing if it is not the one that waits.

// planAsked is a question about a lazy plan as a whole: may everything in this manifest be
// executed?
type planAsked struct {
	manifest report.Manifest // nil if the record does not have it
	digest   string
}

// manifestText is the name under which a record keeps the manifest of a lazy plan.
const manifestText = "(what the plan would run)"

// manifestNow returns the question about what running a plan would execute here and now.
func manifestNow(p *Plan) *planAsked {
	m := p.Manifest()
	return &planAsked{m, m.Digest()}
}

// manifestAsked returns the question about what a run was to execute when it began to wait or, if
// it did not wait, when it was begun. Without what the run was given, it may only have the digest.
func manifestAsked(ctx context.Context, store journal.Store, sum *journal.Summary, given *journal.Given) (*planAsked, error) {
	if WaitsForPlan(sum) {
		for entry, err := range store.Events(ctx, sum.Run, sum.Events, false) { // the last one
			if err != nil {
				return nil, err
			}
			e, err := entry.Event()
			if err != nil {
				return nil, err
			}
			if m := report.Manifest(e.Value); e.Type == exec.RunPaused && m != nil {
				return &planAsked{m, m.Digest()}, nil
			}
		}
	}
	a := &planAsked{digest: sum.Program}
	if given != nil {
		for _, t := range given.Texts {
			if m := report.Manifest(t.Bytes); t.Role == journal.Manifest && m.Digest() == a.digest {
				a.manifest = m
			}
		}
	}
	return a, nil
}

// changed returns the differences between what was asked about and what would execute now; nil if
// there are none, or if they are not known.
func (a *planAsked) changed(now *planAsked) []report.Difference {
	if a == nil || a.manifest == nil || a.digest == now.digest {
		return nil
	}
	return a.manifest.Differences(now.manifest)
}

// Changes says what has changed since somebody was asked about the plan; "" if nothing has.
func (p *Preview) Changes() string {
	if len(p.Changed) == 0 {
		return ""
	}
	said, _ := (&approval.Refusal{Message: "since it was asked about, this has changed", Differences: p.Changed}).Reason()
	return said
}

// A ChangedPlanError says that the plan of a run can't be approved here, since it would do
// something else here than what waits for approval.
type ChangedPlanError struct {
	Run         string
	Differences []report.Difference // nil if the record does not say what waits
}

func (e *ChangedPlanError) Error() string {
	refused := approval.Refusal{Differences: e.Differences, Message: fmt.Sprintf(
		"here the run %s would do something else than what waits for approval; approve it where it waits, or resume it here, which asks again", e.Run)}
	said, _ := refused.Reason()
	return said
}
