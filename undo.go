package plc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/undo"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// A run is undone by another run (docs/decisions/035), whose id follows from that of the first.
// Three events are added to the record of the first run: that it is to be undone, before the other
// begins; the id of the other, once it has begun; and at the end the outcome. The process that
// holds the first run writes all three, so that only one run undoes it, however often a process
// dies, and nothing is undone twice.

// An Undoing is the plan of undoing a run: another run, whose calls undo what the first did.
type Undoing struct {
	Run string // the run that is undone
	ID  string // the id of the run that undoes it; "" if it was undone and nothing is left to do
	// Calls holds the calls that are still to be undone, in that order, and Stands those that will
	// not be undone.
	Calls, Stands []undo.Call
	// Before is the progress so far; nil if nobody has begun to undo the run.
	Before *Undone

	plan    *undo.Plan
	events  int64 // number of events of the run when the plan was made
	marked  bool  // the record says that the run is to be undone
	spec    Spec
	edit    func(*Spec)
	checker *Checker
	// refused holds the findings about what policies on the flow of information forbid in the plan.
	refused diag.List
}

// Check returns a *PlanError if one of the calls must not be made, for example because a policy
// denies its tool. It runs nothing.
func (u *Undoing) Check() error {
	if len(u.Calls) == 0 {
		return nil
	}
	p, err := u.checker.Check(u.spec.Plan)
	if err != nil {
		return err
	}
	return u.err(p)
}

// err returns a *PlanError if a call of the undo plan must not be made.
func (u *Undoing) err(p *Plan) error {
	if len(u.refused) > 0 {
		return &PlanError{p, append(p.AllFindings(), u.refused...)}
	}
	return p.Err()
}

// checkFlow returns what the policies on the flow of information forbid when a program is undone
// with the current tools. The origin of values is only known for calls of this program, so a policy
// that depends on the origin forbids all others.
func (u *Undoing) checkFlow(prog *compile.Program) (found diag.List) {
	undone := map[*compile.Call]bool{}
	unknown := ""
	for i := range u.Calls {
		c := &u.Calls[i]
		call, ok := exec.CallAt(prog, c.Path)
		switch {
		case c.Replaced:
			unknown = fmt.Sprintf("the plan that made the call %q was replaced since", c.Name())
		case !ok:
			unknown = fmt.Sprintf("the plan of the run, as it is now, has errors or no call %q", c.Name())
		}
		undone[call] = true
	}
	o := &flow.Options{Undo: func(t *compile.Target, own *tool.Undo) *compile.Undoing {
		return undo.With(u.checker.options.Catalogue, t, own)
	}}
	labels := false
	for _, policy := range u.checker.Flow {
		labels = labels || policy.Said().Labels
		r, _ := flow.Check(prog, policy, o)
		for _, s := range r.Sinks() {
			if s.Undoes && undone[s.Call] && s.Verdict() == flow.Forbidden {
				found = append(found, s.Findings()...)
			}
		}
	}
	if labels && unknown != "" {
		found = append(found, diag.Finding{Code: diag.NotTrusted, Severity: diag.Error, Message: unknown + ", so where its values come from is not known, and a policy wants to know"})
	}
	return found
}

// An UndoneError says that a run can't go on, since it was undone or is being undone.
type UndoneError struct {
	Run    string
	Status exec.Status
}

func (e *UndoneError) Error() string {
	return fmt.Sprintf("the run %s has the status %s and can't go on; run its plan again", e.Run, e.Status)
}

// A NothingUndoneError says that there is nothing to undo: the run changed nothing, or no tool says
// how to undo what it did. The run is unchanged.
type NothingUndoneError struct {
	Run string

	idle bool // the run changed nothing
}

func (e *NothingUndoneError) Error() string {
	if e.idle {
		return fmt.Sprintf("the run %s changed nothing, so there is nothing to undo", e.Run)
	}
	return fmt.Sprintf("no tool says how to undo what the run %s did; the run is unchanged", e.Run)
}

// A ChangedRunError says that a run has gone on meanwhile, so that an operation on it was not
// carried out.
type ChangedRunError struct{ Run string }

func (e *ChangedRunError) Error() string {
	return fmt.Sprintf("the run %s has gone on meanwhile, so nothing was done; try it again", e.Run)
}

// An UndoesError says that an operation is not possible on a run because the run undoes another.
type UndoesError struct {
	Run string
	Of  string // the run that it undoes; "" if it undoes none and only has the plan of a run that does

	what string // what can't be done with the run
}

func (e *UndoesError) Error() string {
	if e.Of == "" {
		return fmt.Sprintf("the run %s has the plan of a run that undoes another, and undoes none; it can't %s", e.Run, e.what)
	}
	return fmt.Sprintf("the run %s undoes the run %s and can't %s", e.Run, e.Of, e.what)
}

// isUndone reports whether a run was undone, at least in part, or is being undone.
func isUndone(s exec.Status) bool {
	return s == exec.Undoing || s == exec.Undone || s == exec.UndoneInPart
}

// notUndone returns an *UndoneError if a run was undone or is being undone.
func notUndone(ctx context.Context, store journal.Store, sum *journal.Summary) error {
	if isUndone(sum.Status) {
		return &UndoneError{sum.Run, sum.Status}
	}
	var missing *journal.MissingError
	_, err := store.Summary(ctx, undoID(sum.Run)) // undoing may have begun just before the process died
	if errors.As(err, &missing) {
		return nil
	} else if err != nil {
		return err
	}
	return &UndoneError{sum.Run, exec.Undoing}
}

// undoID returns the id of the run that undoes a run. It is the same each time, so that there is
// only one such run.
func undoID(run string) string {
	return run[:min(10, len(run))] + exec.IDOf("undo " + run)[:16]
}

// did describes what a run did, according to its record.
type did struct {
	ledger *undo.Ledger
	digest string // of the whiteboard at its end
	by     string // the run that undoes it; "" if none has begun
}

// readDone reads what a run did.
func readDone(ctx context.Context, store journal.Store, run string) (*did, error) {
	d := &did{ledger: undo.NewLedger(run)}
	for entry, err := range store.Events(ctx, run, 0, false) {
		if err != nil {
			return nil, err
		}
		e, err := entry.Event()
		if err != nil {
			return nil, err
		}
		d.ledger.Take(e)
		switch e.Type {
		case exec.RunUndoing:
			d.digest = e.Digest
			if e.By != "" {
				d.by = e.By
			}
		case exec.RunFinished, exec.RunPaused:
			d.digest = e.Digest
		}
	}
	return d, nil
}

// PlanUndo plans to undo a recorded run: the effects of its calls, according to its record, in
// reverse plan order, each with the undo that the tool files define now. edit changes the settings
// of the run that undoes it; nil changes none. Labels that edit sets are added to those of the run
// that is undone.
func (e *Engine) PlanUndo(ctx context.Context, run string, edit func(*Spec)) (*Undoing, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	sum, err := store.Summary(ctx, run)
	switch {
	case err != nil:
		return nil, err
	case Undoes(sum) != "":
		return nil, &UndoesError{sum.Run, Undoes(sum), "be undone itself"}
	case sum.Holder != nil:
		return nil, &journal.HeldError{Run: sum.Run, Holder: *sum.Holder}
	}
	d, err := readDone(ctx, store, sum.Run)
	if err != nil {
		return nil, err
	}
	return e.planUndo(ctx, &session{engine: e}, sum, d, edit)
}

// planUndo plans to undo a run with the tools of a session. If a user asked for it, everything is
// undone. If the run asked for it, instances that completed are left as they are.
func (e *Engine) planUndo(ctx context.Context, s *session, sum *journal.Summary, d *did, edit func(*Spec)) (*Undoing, error) {
	p, err := e.PlanOf(ctx, sum.Run)
	var faulty *PlanError
	if err != nil && !errors.As(err, &faulty) {
		return nil, err
	}
	prog := p.Program
	if faulty != nil { // there is no graph, so calls are undone one after the other
		prog, _ = compile.Compile(&lang.Document{File: prog.File()}, nil)
	}
	spec := p.Spec()
	u := &Undoing{Run: sum.Run, ID: undoID(sum.Run), events: sum.Events, edit: edit, spec: Spec{
		Toolset: spec.Toolset, Limits: Limits{Timeout: spec.Limits.Timeout, Parallel: spec.Limits.Parallel, State: spec.Limits.State},
		Approvals: spec.Approvals, ModelTapes: spec.ModelTapes, OnFailure: Ask, Effects: spec.Effects,
	}}
	if edit != nil {
		edit(&u.spec)
	}
	u.spec.Plan.Notation = undoNotation // the checker has to know it
	labels := u.spec.Labels
	if err := checkLabels(labels); err != nil {
		return nil, err
	}
	c, err := s.checker(ctx, u.spec, ToCheck)
	if err != nil {
		return nil, err
	}
	u.checker = c
	u.plan = undo.Of(prog, c.options, d.ledger, undo.Options{All: sum.Status != exec.Undoing, End: exec.Failure{Code: string(sum.Status), Message: sum.Reason}})
	u.Calls, u.Stands = u.plan.Calls, u.plan.Stands
	u.refused = u.checkFlow(prog)
	if err := e.planRest(ctx, u, sum.Status); err != nil {
		return nil, err
	}
	u.spec.Plan = Source{Name: "undo " + sum.Run, Text: string(u.plan.Text), Notation: undoNotation}
	u.spec.Values = Values{Input: []Source{{Name: "<what the run did>", Text: string(u.plan.Input)}}}
	u.spec.Labels = maps.Clone(sum.Labels)
	if u.spec.Labels == nil {
		u.spec.Labels = map[string]string{}
	}
	maps.Copy(u.spec.Labels, labels)
	u.spec.Labels[undoesLabel] = sum.Run
	return u, nil
}

// planRest reduces a plan to the calls that are left if undoing the run has already begun.
func (e *Engine) planRest(ctx context.Context, u *Undoing, status exec.Status) error {
	u.marked = status == exec.Undoing
	begun, skipped, err := e.undone(ctx, u.Run, status)
	switch {
	case err != nil:
		return err
	case begun.Run == "" && status == exec.Undone: // there was nothing to undo
		u.Before, u.ID = begun, ""
		return nil
	case begun.Run == "":
		return nil
	}
	store, err := e.records()
	if err != nil {
		return err
	}
	by, err := store.Summary(ctx, begun.Run)
	if err != nil {
		return err
	}
	ended := by.Status == exec.Completed || by.Status == exec.Rejected // it can't go on
	u.Before, u.Calls, u.Stands = begun, nil, nil
	for _, c := range begun.Stands {
		if c.ID != "" && !ended && !skipped[exec.PathOf(c.ID)] {
			u.Calls = append(u.Calls, c)
		} else {
			u.Stands = append(u.Stands, c)
		}
	}
	if len(u.Calls) == 0 && status != exec.Undoing {
		u.ID = ""
	}
	return nil
}

// undoNotation is the notation of plans that undo runs. It is plc's own, except that calls which
// wait for a skipped call go on. Callers can't name it.
const undoNotation = "undo of a run"

// Undo starts the run that undoes another, or continues it if it was started before; Do then runs
// it. Undo returns a *PlanError if one of the calls must not be made, a *NothingUndoneError if
// there is no call to make, and a *ChangedRunError if the run went on after PlanUndo.
func (e *Engine) Undo(ctx context.Context, u *Undoing) (*Run, error) {
	switch {
	case u.ID == "":
		return nil, fmt.Errorf("the run %s was undone; nothing is left to do", u.Run)
	case u.Before == nil && len(u.Calls) == 0 && len(u.Stands) > 0 && !u.marked:
		return nil, &NothingUndoneError{Run: u.Run}
	}
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	held, err := store.Resume(ctx, u.Run) // so that no other process continues it meanwhile
	if err != nil {
		return nil, err
	}
	var r *Run
	sum, err := store.Summary(ctx, u.Run)
	if err == nil {
		err = errors.Join(checkLoopIdle(ctx, store, sum), checkUnchanged(ctx, store, u.Run, u.events))
	}
	if err == nil {
		r, err = e.undoHeld(ctx, &session{engine: e}, store, held, u)
	}
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	r.undoes.release = true
	return r, nil
}

// checkUnchanged returns a *ChangedRunError if a run has events after the number first that are not
// answers of people.
func checkUnchanged(ctx context.Context, store journal.Store, run string, first int64) error {
	for entry, err := range store.Events(ctx, run, first+1, false) {
		if err != nil {
			return err
		}
		if e, err := entry.Event(); err != nil {
			return err
		} else if e.Type != exec.ApprovalGiven {
			return &ChangedRunError{run}
		}
	}
	return nil
}

// undoHeld starts or continues the run that undoes another, which the caller holds. The other run
// is released when that run is closed.
func (e *Engine) undoHeld(ctx context.Context, s *session, store journal.Store, held journal.Run, u *Undoing) (*Run, error) {
	sum, err := store.Summary(ctx, u.Run)
	if err != nil {
		return nil, err
	}
	d, err := readDone(ctx, store, u.Run)
	if err != nil {
		return nil, err
	}
	target := &undoTarget{record: held, run: u.Run, reason: sum.Reason, digest: d.digest, stands: len(u.Stands)}
	had := sum.Status
	if had == exec.Undoing {
		had = ""
	}
	by, err := store.Summary(ctx, u.ID)
	var missing *journal.MissingError
	switch {
	case err == nil && d.by == "": // the process ended before it could record that
		if err := target.mark(had, u.ID); err != nil {
			return nil, err
		}
		return e.continueUndo(ctx, store, by, target, Change{Edit: u.edit})
	case err == nil:
		return e.continueUndo(ctx, store, by, target, Change{Edit: u.edit})
	case !errors.As(err, &missing):
		return nil, err
	case d.by != "" || isUndone(sum.Status) && sum.Status != exec.Undoing:
		return nil, fmt.Errorf("the run %s is %s, and the run that undid it was deleted from the record", u.Run, sum.Status)
	case len(u.Calls)+len(u.Stands) == 0:
		return nil, &NothingUndoneError{Run: u.Run, idle: true}
	}
	c, err := s.checker(ctx, u.spec, ToRun)
	if err != nil {
		return nil, err
	}
	p, err := c.Check(u.spec.Plan)
	if err != nil {
		return nil, err
	}
	if err := u.err(p); err != nil {
		return nil, err
	}
	if err := checkPins(ctx, store, u.Run, p); err != nil {
		return nil, err
	}
	r, err := p.begin(ctx, u.ID) // from now on the other run can't go on
	if err != nil {
		return nil, err
	}
	r.undoes = target
	if err := target.mark(had, u.ID); err != nil {
		return nil, errors.Join(err, r.record.Close())
	}
	return r, nil
}

// continueUndo continues a run that undoes another, which the caller holds.
func (e *Engine) continueUndo(ctx context.Context, store journal.Store, by *journal.Summary, target *undoTarget, c Change) (*Run, error) {
	given, err := store.Given(ctx, by.Run)
	if err != nil {
		return nil, err
	}
	_, stands, err := undo.Read(given.Plan.Bytes)
	if err != nil {
		return nil, err
	}
	target.stands = len(stands)
	record, err := store.Resume(ctx, by.Run)
	if err != nil {
		return nil, err
	}
	if by, err = e.mayContinue(ctx, store, by.Run, &c); err != nil { // nobody can change it any more
		return nil, errors.Join(err, record.Close())
	}
	r, err := e.continueHeld(ctx, record, by, c)
	if err != nil {
		return nil, err
	}
	r.undoes = target
	return r, nil
}

// undoTarget is a run that is being undone, and held.
type undoTarget struct {
	record journal.Run
	run    string
	reason string // why it ended badly
	digest string
	stands int // number of its calls that can't be undone

	release bool // its record is released with that of the run that undoes it
}

// mark records which run undoes this one. had is the status with which the run ended, or "" if the
// record already says that it is to be undone.
func (t *undoTarget) mark(had exec.Status, by string) error {
	e := exec.UndoingOf(had, t.reason)
	if had == "" {
		e.Error = nil
	}
	e.Time, e.Run, e.Digest, e.By = time.Now(), t.run, t.digest, by
	return t.record.Sync(t.record.Append(&e))
}

// end records the status of the run after undoing it.
func (t *undoTarget) end(status exec.Status) error {
	return t.record.Sync(t.record.Append(&exec.Event{
		Type: exec.RunFinished, Time: time.Now(), Run: t.run, Status: status, Reason: t.reason, Digest: t.digest,
	}))
}

// ended records how the run that undoes this one has ended.
func (t *undoTarget) ended(res *exec.Result) error {
	switch res.Status {
	case exec.Completed, exec.Failed, exec.Rejected:
	default: // it will be continued
		return nil
	}
	status := exec.Undone
	if t.stands > 0 || res.Status != exec.Completed {
		status = exec.UndoneInPart
	}
	for i := range res.Calls {
		if res.Calls[i].Status != exec.Completed {
			status = exec.UndoneInPart
		}
	}
	return t.end(status)
}

// skipRejected returns the answer to a question about a call that undoes another. An answer that
// rejects the call skips it, so that nobody is asked again.
func skipRejected(a exec.Answer) exec.Answer {
	if !a.Approved && a.Result == nil && !a.Unanswered {
		a.Skip = true
	}
	return a
}

// continueUndoing continues a run that undoes another. It holds the other run until this one is
// closed.
func (e *Engine) continueUndoing(ctx context.Context, store journal.Store, by *journal.Summary, c Change) (*Run, error) {
	of := Undoes(by)
	if !c.Plan.isZero() {
		return nil, &UndoesError{by.Run, of, "get another plan"}
	}
	var missing *journal.MissingError
	sum, err := store.Summary(ctx, of)
	if err == nil && isDone(by, &c) && (sum.Status == exec.Undone || sum.Status == exec.UndoneInPart) {
		return e.repeat(ctx, store, by, c)
	}
	held, err := store.Resume(ctx, of)
	if errors.As(err, &missing) {
		return nil, fmt.Errorf("the run %s undoes the run %s, which was deleted from the record", by.Run, of)
	} else if err != nil {
		return nil, err
	}
	var r *Run
	err = e.undoApproved(ctx, store, of)
	if err == nil {
		r, err = e.continueUndo(ctx, store, by, &undoTarget{record: held, run: of, release: true}, c)
	}
	if err == nil {
		err = r.undoes.read(ctx, store)
	}
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return r, nil
}

// read reads how the run ended.
func (t *undoTarget) read(ctx context.Context, store journal.Store) error {
	sum, err := store.Summary(ctx, t.run)
	if err != nil {
		return err
	}
	t.reason = sum.Reason
	t.digest, err = journal.EndDigest(ctx, store, t.run)
	return err
}

// checkUndo finds what is wrong with the undo of the calls of a plan. If a run of the plan may be
// undone, or a call has an undo, it also finds calls that can't be undone although others may fail
// after them.
func (c *Checker) checkUndo(prog *compile.Program) diag.List {
	if c.reader.undo || prog.Err() != nil {
		return nil
	}
	found := undo.Check(prog, c.options)
	p := &Plan{Program: prog, checker: c}
	if !p.mayBeUndone() && !undo.Takes(prog) {
		return found
	}
	for point := range undo.NoReturn(prog, p.execOptions().OnFailure) {
		found = append(found, point.Finding())
	}
	return found
}
