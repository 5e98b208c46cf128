package plc

import (
	"context"
	"errors"
	"fmt"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/undo"
	"github.com/plc-lang/plc/journal"
)

// An Undone describes the progress of undoing a run.
type Undone struct {
	Run    string      `json:"run,omitempty"` // the run that undoes it; "" if none was started, or there was nothing to undo
	Of     string      `json:"of"`            // the run that is undone
	Status exec.Status `json:"status"`        // of that run
	Undone []undo.Call `json:"undone"`        // the calls that were undone
	// Stands holds the calls that were not undone: they can't be, their undo failed, or it was not
	// tried yet. Why says which.
	Stands []undo.Call `json:"stands"`
	// Err says, after Run.Do, why the run can't be undone now; nil if it can.
	Err error `json:"-"`
}

// Undone returns the progress of undoing a run; nil if the run is not undone. Either of the two
// runs may be given.
func (e *Engine) Undone(ctx context.Context, run string) (*Undone, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	sum, err := store.Summary(ctx, run)
	if err != nil {
		return nil, err
	}
	if of := Undoes(sum); of != "" {
		if sum, err = store.Summary(ctx, of); err != nil {
			return nil, err
		}
	}
	if !isUndone(sum.Status) {
		return nil, nil
	}
	u, _, err := e.undone(ctx, sum.Run, sum.Status)
	return u, err
}

// undone returns the progress of undoing a run with this status, and the paths of the calls that
// were skipped in the run that undoes it.
func (e *Engine) undone(ctx context.Context, run string, status exec.Status) (_ *Undone, skipped map[string]bool, _ error) {
	store, err := e.records()
	if err != nil {
		return nil, nil, err
	}
	u := &Undone{Of: run, Status: status, Undone: []undo.Call{}, Stands: []undo.Call{}}
	given, err := store.Given(ctx, undoID(run))
	var missing *journal.MissingError
	if errors.As(err, &missing) {
		return u, nil, nil
	} else if err != nil {
		return nil, nil, err
	}
	u.Run = undoID(run)
	calls, stands, err := undo.Read(given.Plan.Bytes)
	if err != nil {
		return nil, nil, err
	}
	became, skipped, err := outcomesByPath(ctx, store, u.Run)
	if err != nil {
		return nil, nil, err
	}
	u.Stands = append(u.Stands, stands...)
	for _, c := range calls {
		why, ended := became[exec.PathOf(c.ID)]
		switch {
		case ended && why == "":
			c.Why = ""
			u.Undone = append(u.Undone, c)
			continue
		case ended:
			c.Why = why
		case c.Why == "":
			c.Why = "it was not undone yet"
		}
		u.Stands = append(u.Stands, c)
	}
	return u, skipped, nil
}

// outcomesByPath returns, for each call of a run that has ended, why it did not complete; "" if it
// did. It also returns which were skipped. The keys are the paths of the calls.
func outcomesByPath(ctx context.Context, store journal.Store, run string) (became map[string]string, skipped map[string]bool, _ error) {
	became, skipped = map[string]string{}, map[string]bool{}
	for entry, err := range store.Events(ctx, run, 0, false) {
		if err != nil {
			return nil, nil, err
		}
		e, err := entry.Event()
		if err != nil {
			return nil, nil, err
		}
		switch e.Type {
		case exec.CallStarted, exec.ApprovalGiven:
			delete(became, e.Call)
		case exec.CallCompleted:
			became[e.Call] = ""
		case exec.ApprovalAsked, exec.CallFailed, exec.CallSkipped:
			why := e.Reason
			switch {
			case e.Error != nil && e.Type != exec.CallSkipped:
				why = "its undo failed: " + e.Error.String()
			case e.Question == exec.ApprovalQuestion:
				why = "its undo waits for approval: " + e.Reason
			}
			became[e.Call] = why
			skipped[e.Call] = e.Type == exec.CallSkipped
		}
	}
	return became, skipped, nil
}

// undoItself undoes a run that has ended and is to be undone, and updates its result. If ctx is
// done, the run was cancelled; it is undone all the same, with UndoContext.
func (r *Run) undoItself(ctx context.Context, res *exec.Result) {
	if r.record == nil {
		return
	}
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx)
		if r.UndoContext != nil {
			ctx = r.UndoContext
		}
	}
	u, err := r.undoHeld(ctx)
	r.Undone = u
	if u == nil {
		r.Undone = &Undone{Of: r.ID(), Status: exec.Undoing, Undone: []undo.Call{}, Stands: []undo.Call{}, Err: err}
		return
	}
	res.Status, u.Err = u.Status, err
}

// undoHeld undoes the run, which the caller holds.
func (r *Run) undoHeld(ctx context.Context) (*Undone, error) {
	e := r.plan.checker.session.engine
	sum, err := r.store.Summary(ctx, r.ID())
	if err != nil {
		return nil, err
	}
	d, err := readDone(ctx, r.store, r.ID())
	if err != nil {
		return nil, err
	}
	given, err := r.store.Given(ctx, r.ID())
	if err != nil {
		return nil, err
	}
	s := &session{engine: e} // uses the tool files that the run had
	s.texts.recall(given)
	u, err := e.planUndo(ctx, s, sum, d, nil)
	if err != nil {
		return nil, err
	}
	if u.Before == nil && len(u.Calls)+len(u.Stands) == 0 {
		t := &undoTarget{record: r.record, run: r.ID(), reason: sum.Reason, digest: d.digest}
		return &Undone{Of: r.ID(), Status: exec.Undone, Undone: []undo.Call{}, Stands: []undo.Call{}}, t.end(exec.Undone)
	}
	s.texts.add(journal.Text{Role: journal.Plan, Name: u.spec.Plan.Name, Notation: u.spec.Plan.Notation, Bytes: []byte(u.spec.Plan.Text)})
	by, err := e.undoHeld(ctx, s, r.store, r.record, u)
	if err != nil {
		return nil, err
	}
	by.Approver, by.OnEvent, by.OnRefused = r.Approver, r.OnEvent, r.OnRefused
	by.Options.Middleware = r.Options.Middleware
	if r.OnUndo != nil {
		r.OnUndo(by, u)
	}
	_, err = by.Do(ctx)
	err = errors.Join(err, by.Close())
	done, later := e.Undone(ctx, r.ID())
	return done, errors.Join(err, later)
}

// undoOnly undoes a run that ended in an earlier process and is to be undone.
func (r *Run) undoOnly(ctx context.Context) (*exec.Result, error) {
	e := r.plan.checker.session.engine
	r.started = true
	if r.OnStart != nil {
		if err := r.OnStart(); err != nil {
			return nil, err
		}
	}
	w, err := e.replay(ctx, r.store, r.ID(), Source{}, func(o *exec.Options) { o.OnInstance = r.OnInstance })
	if err != nil {
		return nil, err
	}
	w.Result.Status, w.Result.Reason = w.Summary.Status, w.Summary.Reason
	r.undoItself(ctx, w.Result)
	return w.Result, nil
}

// undoApproved returns an *approval.Refusal if the plan of a run that is to be undone was approved
// as a whole, and what would undo it here is not what was approved.
func (e *Engine) undoApproved(ctx context.Context, store journal.Store, run string) error {
	sum, err := store.Summary(ctx, run)
	if err != nil {
		return err
	}
	given, err := store.Given(ctx, run)
	if err != nil {
		return err
	}
	before, err := manifestAsked(ctx, store, sum, given)
	if err != nil || before.manifest == nil { // it was not approved as a whole
		return err
	}
	p, err := e.planOf(ctx, &session{engine: e, sealed: true, looksUp: true}, given, nil)
	if err == nil {
		err = p.readLines()
	}
	if err != nil {
		return err
	}
	now := manifestNow(p)
	if ok, err := e.approved(ctx, store, sum.Run, now.digest); ok || err != nil {
		return err
	}
	refused := &approval.Refusal{Differences: before.changed(now), Message: fmt.Sprintf(
		"what would undo the run %s is not what was approved; plc undo %[1]s undoes it all the same", run)}
	refused.Message, _ = refused.Reason()
	return refused
}

// execOptions returns the options of the executor. If the Spec has no strategy for failures, the
// strategy of the plan is used.
func (p *Plan) execOptions() exec.Options {
	o := *p.checker.exec
	if said, ok := exec.ParseStrategy(p.Program.Document.OnFailure); ok && p.checker.spec.OnFailure == "" {
		o.OnFailure = said
	}
	return o
}

// mayBeUndone reports whether a run of the plan is undone if it ends badly, even if only the
// failure of certain calls leads to that.
func (p *Plan) mayBeUndone() bool {
	return p.execOptions().OnFailure == exec.Undo || undo.Asked(p.Program)
}
