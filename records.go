package plc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// Runs returns the recorded runs that a filter admits, the newest first.
func (e *Engine) Runs(ctx context.Context, f journal.Filter) ([]*journal.Summary, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	return store.Runs(ctx, f)
}

// Summary returns the outcome of a run. It returns a *journal.MissingError if no run has this id.
func (e *Engine) Summary(ctx context.Context, run string) (*journal.Summary, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	return store.Summary(ctx, run)
}

// Given returns what a run was given.
func (e *Engine) Given(ctx context.Context, run string) (*journal.Given, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	return store.Given(ctx, run)
}

// FindRun returns the run that a person means by a name: its id, the beginning of its id, or "last"
// for the newest run.
func (e *Engine) FindRun(ctx context.Context, name string) (*journal.Summary, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	if name == "last" {
		all, err := store.Runs(ctx, journal.Filter{Limit: 1})
		if err == nil && len(all) == 0 {
			err = ErrNoRuns
		}
		if err != nil {
			return nil, err
		}
		return all[0], nil
	}
	run, err := store.Summary(ctx, name)
	var missing *journal.MissingError
	if !errors.As(err, &missing) {
		return run, err
	}
	all, err := store.Runs(ctx, journal.Filter{})
	if err != nil {
		return nil, err
	}
	var found []*journal.Summary
	for _, r := range all {
		if name != "" && strings.HasPrefix(strings.ToUpper(r.Run), strings.ToUpper(name)) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return nil, missing
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("%d runs begin with %q, among them %s and %s; give more of the id", len(found), name, found[0].Run, found[1].Run)
}

// FindWaiting does what FindRun does for a run that a person wants to answer: "last" is the newest
// run that waits for a person, if any does.
func (e *Engine) FindWaiting(ctx context.Context, name string) (*journal.Summary, error) {
	if name == "last" {
		all, err := e.Runs(ctx, journal.Filter{})
		if err != nil {
			return nil, err
		}
		for _, r := range all {
			if r.Questions > 0 || r.Status == exec.Paused {
				return r, nil
			}
		}
		return nil, errors.New("no run waits for an answer")
	}
	return e.FindRun(ctx, name)
}

// FindResumable does what FindRun does for a run that a person wants to resume: "last" is the
// newest run that can go on, with another plan if revised is true. If there is none, the error says
// why the newest run can't.
func (e *Engine) FindResumable(ctx context.Context, name string, revised bool) (*journal.Summary, error) {
	if name != "last" {
		return e.FindRun(ctx, name)
	}
	all, err := e.Runs(ctx, journal.Filter{})
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if canGoOn(r, revised) {
			return r, nil
		}
	}
	switch {
	case len(all) == 0:
		return nil, ErrNoRuns
	case all[0].Status == exec.Rejected:
		return nil, &RejectedError{all[0].Run, all[0].Reason}
	case all[0].Status == journal.Cut: // continuing it returns the reason
		return all[0], nil
	}
	return nil, fmt.Errorf("there is no run to resume: the newest, %s of %s, is %s", all[0].Run, Source{Name: all[0].Plan}.shown(), all[0].Status)
}

// canGoOn reports whether a run can be resumed, with another plan if revised is true.
func canGoOn(r *journal.Summary, revised bool) bool {
	switch r.Status {
	case exec.Completed:
		return revised && Undoes(r) == ""
	case exec.Rejected, exec.Undone, exec.UndoneInPart, journal.Cut:
		return false
	case exec.Undoing:
		return !revised
	}
	return !revised || Undoes(r) == ""
}

// ErrNoRuns is returned by methods that need a run if the store has none.
var ErrNoRuns = errors.New("no run was recorded yet")

// Events yields the events of a run after the event number after, in order, and then those that
// happen from now on, in whichever process, until the run has finished or ctx is done. The first
// event has the number 1, so 0 yields all. An error comes alone and last.
func (e *Engine) Events(ctx context.Context, run string, after int64) iter.Seq2[*journal.Entry, error] {
	return e.events(ctx, run, after, true)
}

// EventsSoFar yields the events of a run after an event number, as Events does, but does not wait
// for more.
func (e *Engine) EventsSoFar(ctx context.Context, run string, after int64) iter.Seq2[*journal.Entry, error] {
	return e.events(ctx, run, after, false)
}

func (e *Engine) events(ctx context.Context, run string, after int64, follow bool) iter.Seq2[*journal.Entry, error] {
	store, err := e.records()
	if err != nil {
		return func(yield func(*journal.Entry, error) bool) { yield(nil, err) }
	}
	return store.Events(ctx, run, max(after, after+1), follow) // the largest number has no successor
}

// Questions returns the open questions of a run, by instance and path. If the lazy plan of a run
// waits for approval as a whole, the run has none: see ApprovePlan.
func (e *Engine) Questions(ctx context.Context, run string) ([]*journal.Question, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	return store.Questions(ctx, run)
}

// Answer answers a question of a run. The answer should have the digest of the question that was
// shown, so that it counts for nothing else. The process that executes the run continues with it; a
// paused run continues when it is resumed. Answer returns a *journal.AnswerError if no such
// question is open, and an *UnfitError if the call can't take the answer.
func (e *Engine) Answer(ctx context.Context, run string, a journal.Answer) error {
	store, err := e.records()
	if err != nil {
		return err
	}
	if err := e.FitsAnswer(ctx, run, a); err != nil {
		return err
	}
	if _, err := store.Given(ctx, run); err != nil { // the record of what was asked about is damaged
		return err
	}
	sum, err := store.Summary(ctx, run)
	if err != nil {
		return err
	}
	if Undoes(sum) != "" {
		a.Answer = skipRejected(a.Answer)
	}
	return store.Answer(ctx, run, a.Instance, a.Path, a.Answer)
}

// FitsAnswer returns an *UnfitError if the params or the result of an answer do not fit the call of
// the open question. It does not give the answer.
func (e *Engine) FitsAnswer(ctx context.Context, run string, a journal.Answer) error {
	if a.Answer.Params == nil && a.Answer.Result == nil {
		return nil
	}
	store, err := e.records()
	if err != nil {
		return err
	}
	def, err := e.definitionOf(ctx, store, run, &a)
	if err != nil {
		return err
	}
	return Fits(def, a.Answer)
}

// definitionOf returns the definition of the tool that a question is about; nil if the question is
// not open, or nothing is known about the tool.
func (e *Engine) definitionOf(ctx context.Context, store journal.Store, run string, a *journal.Answer) (*tool.Definition, error) {
	all, err := store.Questions(ctx, run)
	if err != nil {
		return nil, err
	}
	for _, q := range all {
		if q.Instance != a.Instance || q.Path != a.Path {
			continue
		}
		p, err := e.PlanOf(ctx, run)
		if err != nil {
			return nil, err
		}
		if t, ok := p.Checker().Catalogue.Lookup(q.Tool); ok {
			return t.Definition, nil
		}
	}
	return nil, nil
}

// An UnfitError says that the params of an answer do not fit what the tool takes, or that its
// result does not fit what the tool returns.
type UnfitError struct {
	What string // params or result
	Err  error
}

func (e *UnfitError) Error() string {
	if e.What == "result" {
		return "the result does not fit: " + e.Err.Error()
	}
	return fmt.Sprintf("the %s do not fit: %s", e.What, e.Err)
}

// Unwrap returns the cause.
func (e *UnfitError) Unwrap() error { return e.Err }

// Fits returns an *UnfitError if the params or the result of an answer do not fit a tool. Any JSON
// fits a nil definition.
func Fits(def *tool.Definition, a exec.Answer) error {
	for _, v := range []struct {
		what string
		json json.RawMessage
	}{{"params", a.Params}, {"result", a.Result}} {
		if v.json == nil {
			continue
		}
		err := jsonscan.Check(v.json, jsonscan.Limits{})
		switch {
		case err != nil:
			err = fmt.Errorf("not JSON: %w", err)
		case v.what == "params" && !jsonscan.IsObject(v.json):
			err = errors.New("they are no JSON object")
		case def == nil:
		case v.what == "params" && def.Params != nil:
			err = def.Params.Validate(v.json)
		case v.what == "result" && def.Output != nil:
			err = def.Output.Validate(v.json)
		}
		if err != nil {
			return &UnfitError{v.what, err}
		}
	}
	return nil
}

// WaitsForPlan reports whether a run waits for its lazy plan to be approved as a whole.
func WaitsForPlan(s *journal.Summary) bool {
	return s.Status == exec.Paused && strings.HasPrefix(s.Reason, WaitsForApproval)
}

// PendingPlan returns the preview of the plan of a run that waits for its approval as a whole. It
// returns a *NotWaitingError if the run does not wait for that, and a *ChangedPlanError if this
// process would run something else than what waits, such as other programs or servers with other
// variables.
func (e *Engine) PendingPlan(ctx context.Context, run string) (*Preview, error) {
	p, err := e.pendingPlan(ctx, run)
	if err != nil {
		return nil, err
	}
	return p.Preview(ctx)
}

func (e *Engine) pendingPlan(ctx context.Context, run string) (*Plan, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	sum, err := store.Summary(ctx, run)
	if err == nil {
		err = checkWaits(sum)
	}
	if err != nil {
		return nil, err
	}
	given, err := store.Given(ctx, sum.Run)
	if err != nil {
		return nil, err
	}
	before, err := manifestAsked(ctx, store, sum, given)
	if err != nil {
		return nil, err
	}
	p, err := e.planOf(ctx, &session{engine: e, sealed: true, looksUp: true}, given, nil)
	if err == nil {
		err = p.Err()
	}
	if err == nil && p.Program.Mode != lang.Lazy {
		err = &NotWaitingError{sum.Run, sum.Status}
	}
	if err == nil {
		err = p.readLines()
	}
	if err != nil {
		return nil, err
	}
	if now := manifestNow(p); now.digest != before.digest {
		return nil, &ChangedPlanError{sum.Run, before.changed(now)}
	}
	return p, nil
}

// checkWaits returns a *NotWaitingError if a run does not wait for its lazy plan to be approved.
func checkWaits(sum *journal.Summary) error {
	if WaitsForPlan(sum) {
		return nil
	}
	return &NotWaitingError{sum.Run, sum.Status}
}

// A NotWaitingError says that a run does not wait for its plan to be approved.
type NotWaitingError struct {
	Run    string
	Status exec.Status
}

func (e *NotWaitingError) Error() string {
	return fmt.Sprintf("no question of the run %s is open (it is %s)", e.Run, e.Status)
}

// ApprovePlan approves the lazy plan of a run that waits for that. digest is that of the Preview
// that PendingPlan returned. Resume then runs the plan, if what it would execute is still the same.
// ApprovePlan returns an *UnseenError if PendingPlan would return something else by now.
func (e *Engine) ApprovePlan(ctx context.Context, run, digest string) error {
	p, err := e.PendingPlan(ctx, run)
	if err != nil {
		return err
	}
	if p.Plan.checker.Policy.ApprovalKeys != nil {
		return errors.New(WantsSigned)
	}
	if digest != p.Digest() {
		return &UnseenError{run}
	}
	store, err := e.records()
	if err != nil {
		return err
	}
	sum, err := store.Summary(ctx, run)
	if err != nil {
		return err
	}
	key, err := e.approvalKey()
	if err == nil && key == nil && strings.HasPrefix(sum.Reason, waitsForSealed) {
		err = errors.New("the approval has to be sealed; set " + approvalKeyVariable + " to the key with which the run was begun")
	}
	if err != nil {
		return err
	}
	return e.noteApproved(ctx, store, run, approvedNames(p.Plan.Manifest().Digest(), p.covers())...)
}

// An UnseenError says that the plan of a run can't be approved, since it is no longer what was
// shown.
type UnseenError struct{ Run string }

func (e *UnseenError) Error() string {
	return fmt.Sprintf("what the plan of the run %s would do has changed since it was shown; look at it again", e.Run)
}

// PlanApproved reports whether the lazy plan of a run that waits for approval has been approved.
func (e *Engine) PlanApproved(ctx context.Context, s *journal.Summary) bool {
	store, err := e.records()
	if err != nil || !WaitsForPlan(s) {
		return false
	}
	before, err := manifestAsked(ctx, store, s, nil)
	if err != nil {
		return false
	}
	ok, err := e.approved(ctx, store, s.Run, before.digest)
	return ok && err == nil
}

// RejectPlan ends a run whose lazy plan waits for approval.
func (e *Engine) RejectPlan(ctx context.Context, run, reason string) error {
	store, err := e.records()
	if err != nil {
		return err
	}
	sum, err := store.Summary(ctx, run)
	if err == nil {
		err = checkWaits(sum)
	}
	if err != nil {
		return err
	}
	return endRun(ctx, store, run, func(sum *journal.Summary) (*exec.Event, error) {
		end := &exec.Event{Type: exec.RunFinished, Status: exec.Rejected}
		end.Reason = strings.TrimSuffix("the plan was not approved: "+reason, ": ")
		return end, checkWaits(sum)
	})
}

// An EndedError says that a run can't be cancelled, since it has ended or is being undone.
type EndedError struct {
	Run    string
	Status exec.Status
	By     string // the run that is undoing it; "" if there is none
}

func (e *EndedError) Error() string {
	switch {
	case e.Status != exec.Undoing:
		return fmt.Sprintf("the run %s has ended already (it is %s)", e.Run, e.Status)
	case e.By == "":
		return fmt.Sprintf("the run %s is being undone and can't be cancelled; plc undo %[1]s goes on with it", e.Run)
	}
	return fmt.Sprintf("the run %s is being undone by the run %s; cancel that one instead", e.Run, e.By)
}

// notEnded returns an *EndedError if a run has ended or is being undone.
func notEnded(ctx context.Context, store journal.Store, sum *journal.Summary) error {
	refusal := &EndedError{Run: sum.Run, Status: sum.Status}
	switch {
	case sum.Finished.IsZero() && !isUndone(sum.Status), sum.Status == exec.Cancelled && exec.WasInterrupted(sum.Reason):
		return nil
	case sum.Status != exec.Undoing:
		return refusal
	}
	by, err := store.Summary(ctx, undoID(sum.Run))
	if errors.As(err, new(*journal.MissingError)) {
		return refusal
	} else if err != nil {
		return err
	}
	if by.Finished.IsZero() {
		refusal.By = by.Run
	}
	return refusal
}

// Cancel ends a run. If no process executes it, it has ended when Cancel returns. Otherwise the
// process that executes it is asked to end it, which it soon does: calls that have begun are
// cancelled. A cancelled run can be resumed. If the run is to be undone when it ends badly, it is
// undone: by the process that executes it or, if there is none, by the process that resumes it.
// Cancel returns an *EndedError if the run has ended.
func (e *Engine) Cancel(ctx context.Context, run, reason string) error {
	store, err := e.records()
	if err != nil {
		return err
	}
	sum, err := store.Summary(ctx, run)
	if err != nil {
		return err
	}
	if sum.Holder == nil || sum.Status == exec.Undoing {
		if err := notEnded(ctx, store, sum); err != nil {
			return err
		}
	}
	err = endRun(ctx, store, run, func(sum *journal.Summary) (*exec.Event, error) {
		return e.endCancelled(ctx, store, sum, (&exec.CancelError{Reason: reason}).Error())
	})
	var held *journal.HeldError
	if errors.As(err, &held) {
		return store.Cancel(ctx, run, reason)
	}
	return err
}

// endCancelled returns the event that ends a run which is cancelled while no process executes it.
func (e *Engine) endCancelled(ctx context.Context, store journal.Store, sum *journal.Summary, reason string) (*exec.Event, error) {
	if err := notEnded(ctx, store, sum); err != nil {
		return nil, err
	}
	p, err := e.PlanOf(ctx, sum.Run)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil || p.execOptions().OnFailure != exec.Undo:
		return &exec.Event{Type: exec.RunFinished, Status: exec.Cancelled, Reason: reason}, nil
	}
	end := exec.UndoingOf(exec.Cancelled, reason)
	end.Digest, err = journal.EndDigest(ctx, store, sum.Run)
	return &end, err
}

// endRun ends a run that no process executes with the event that how returns. It calls how with the
// summary of the run once no other process can change that.
func endRun(ctx context.Context, store journal.Store, run string, how func(*journal.Summary) (*exec.Event, error)) error {
	held, err := store.Resume(ctx, run)
	if err != nil {
		return err
	}
	sum, err := store.Summary(ctx, run)
	var end *exec.Event
	if err == nil {
		end, err = how(sum)
	}
	if err == nil {
		end.Time, end.Run = time.Now(), run
		held.Append(end)
	}
	return errors.Join(err, held.Close())
}

// OldRuns returns which runs plc gc deletes by default: those that ended more than 30 days ago.
func OldRuns(now time.Time) journal.Collect {
	return journal.Collect{Filter: journal.Filter{Status: EndedStatuses(), Before: now.Add(-30 * 24 * time.Hour)}}
}

// EndedStatuses returns the statuses of runs that have ended. Such runs are not resumed, unless
// they failed or were cancelled.
func EndedStatuses() []exec.Status {
	return []exec.Status{exec.Completed, exec.Failed, exec.Cancelled, exec.Rejected, exec.Undone, exec.UndoneInPart}
}

// Collect deletes runs from the store, with everything that only they were given. It deletes no run
// that a process holds. It deletes a loop only together with all its runs: if c selects all of
// them, and the loop has ended with one of the statuses. A loop that has not ended counts as
// paused.
func (e *Engine) Collect(ctx context.Context, c journal.Collect) (journal.Collected, error) {
	store, err := e.records()
	if err != nil {
		return journal.Collected{}, err
	}
	if err := spareLoops(ctx, store, &c, store.DeleteLoop); err != nil {
		return journal.Collected{}, err
	}
	return store.Collect(ctx, &c)
}

// Collectable returns the ids of the runs that Collect would delete.
func (e *Engine) Collectable(ctx context.Context, c journal.Collect) ([]string, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	if err := spareLoops(ctx, store, &c, func(context.Context, string) error { return nil }); err != nil {
		return nil, err
	}
	all, err := collectable(ctx, store, &c)
	var ids []string
	for _, r := range all {
		ids = append(ids, r.Run)
	}
	return ids, err
}

// collectable returns the runs that a store would delete.
func collectable(ctx context.Context, store journal.Store, c *journal.Collect) (taken []*journal.Summary, err error) {
	f := c.Filter
	f.Limit, f.From = 0, ""
	all, err := store.Runs(ctx, f)
	for i, r := range all {
		if c.Takes(i, r) {
			taken = append(taken, r)
		}
	}
	return taken, err
}

// spareLoops makes c spare the runs of each loop that may go on, or that keeps some of its runs.
// For each other loop it calls gone before its runs are deleted; if that returns a
// *journal.HeldError, the runs are spared too.
func spareLoops(ctx context.Context, store journal.Store, c *journal.Collect, gone func(ctx context.Context, loop string) error) error {
	taken, err := collectable(ctx, store, c)
	if err != nil {
		return err
	}
	all, err := store.Runs(ctx, journal.Filter{})
	if err != nil {
		return err
	}
	left := map[string]int{} // number of runs of each loop that would stay
	for _, r := range all {
		left[r.Labels[LoopLabel]]++
	}
	for _, r := range taken {
		left[r.Labels[LoopLabel]]--
	}
	for id, n := range left {
		if n > 0 || id == "" {
			continue
		}
		entries, err := store.LoopEntries(ctx, id)
		if errors.As(err, new(*journal.MissingError)) {
			continue
		}
		status := exec.Paused
		if len(entries) > 0 {
			status = cmp.Or(endOf(entries[len(entries)-1]), status)
		}
		if err != nil || len(c.Status) > 0 && !slices.Contains(c.Status, status) {
			left[id]++ // a loop that can't be read might go on
			continue
		}
		switch err := gone(ctx, id); {
		case errors.As(err, new(*journal.HeldError)):
			left[id]++
		case err != nil:
			return err
		}
	}
	given := c.Spare
	c.Spare = func(r *journal.Summary) bool {
		id := r.Labels[LoopLabel]
		return id != "" && left[id] > 0 || given != nil && given(r)
	}
	return nil
}
