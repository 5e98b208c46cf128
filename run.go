package plc

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
)

// Run checks a plan and runs it until it ends or has to wait. It returns a *PlanError if the plan
// has errors, in which case nothing ran. The outcome of the run, including a failure, is in the
// result. A run that waits for a person or for another plan has the status exec.Paused: Answer
// answers its questions, and Resume continues it.
func (e *Engine) Run(ctx context.Context, spec Spec) (*exec.Result, error) {
	p, err := e.Prepare(ctx, spec)
	if err != nil {
		return nil, err
	}
	return p.run(ctx)
}

// RunAs does what Run does for a run with an id that the caller chose, such as exec.IDOf returns.
// If the store has a run with this id, RunAs continues that run as Resume does, with the tool files
// and settings with which it began: after a kill, the same call of RunAs continues where the record
// ends. If that run has completed, RunAs returns its result again and calls nothing. RunAs returns
// an *OtherRunError if that run was given another plan, or other documents, values or instances.
func (e *Engine) RunAs(ctx context.Context, id string, spec Spec) (*exec.Result, error) {
	if err := e.NeedStore(); err != nil {
		return nil, err
	}
	p, err := e.Prepare(ctx, spec)
	if err != nil {
		return nil, err
	}
	r, err := p.BeginAs(ctx, id)
	if _, begun := errors.AsType[*journal.ExistsError](err); begun {
		if err := p.checkSame(ctx, id); err != nil {
			return nil, err
		}
		return e.Resume(ctx, id, Change{})
	}
	if err != nil {
		return nil, err
	}
	return r.finish(ctx)
}

// An OtherRunError says that there is already a run with the chosen id, which was given something
// else.
type OtherRunError struct{ Run string }

func (e *OtherRunError) Error() string {
	return fmt.Sprintf("the run %s was begun with another plan, or other documents, values or instances; choose another id for this one, or continue that one with Resume", e.Run)
}

// checkSame returns an *OtherRunError if a run was given something else than p.
func (p *Plan) checkSame(ctx context.Context, run string) error {
	given, err := p.checker.session.engine.config.Store.Given(ctx, run)
	if err != nil {
		return err
	}
	own, err := p.given(0)
	if err != nil {
		return err
	}
	revised := given.Revision > 0
	theirs, err := contentOf(given, revised)
	if err != nil {
		return err
	}
	if ours, err := contentOf(own, revised); err != nil || !slices.Equal(ours, theirs) {
		return cmp.Or[error](err, &OtherRunError{run})
	}
	return nil
}

// contentOf returns the plan, documents, values and instances of a run, as texts or digests,
// sorted. If revised is true it leaves out the plan, which has been replaced.
func contentOf(g *journal.Given, revised bool) (all []string, err error) {
	kept, err := readSettings(g.Settings)
	if err != nil {
		return nil, err
	}
	all = append(all, string(encoded(kept.Spec.Values)), kept.Spec.Instances.Text)
	for _, t := range g.AllTexts() {
		switch t.Role {
		case journal.Plan:
			if !revised {
				all = append(all, string(t.Bytes))
			}
		case journal.Document, journal.Schema, journal.Input, journal.State:
			all = append(all, fmt.Sprintf("%s %q %s", t.Role, t.Name, digestOf(t.Bytes)))
		case journal.Instances:
			all = append(all, fmt.Sprintf("%s %s", t.Role, cmp.Or(t.Digest, digestOf(t.Bytes))))
		}
	}
	slices.Sort(all)
	return all, nil
}

// Prepare checks a plan as Check does, and prepares everything that a run needs: secrets must be
// set, MCP servers start, and models can be used. It calls no tool.
func (e *Engine) Prepare(ctx context.Context, spec Spec) (*Plan, error) {
	return e.prepare(ctx, spec, ToRun)
}

func (p *Plan) run(ctx context.Context) (*exec.Result, error) {
	r, err := p.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return r.finish(ctx)
}

// finish runs a run that was begun, and closes its record.
func (r *Run) finish(ctx context.Context) (*exec.Result, error) {
	res, err := r.Do(ctx)
	if lost := r.Close(); lost != nil {
		err = errors.Join(err, fmt.Errorf("the record of the run is not complete: %w", lost))
	}
	return res, err
}

// A Run is a run that was begun, resumed or forked, and holds its record until Close.
type Run struct {
	// Hooks holds the hooks of the engine, which may be changed before Do.
	Hooks
	// Options holds the executor's options, without the hooks. They may be changed before Do.
	Options *exec.Options
	// Approval is an approval in a file that lets a lazy plan run, and which the run uses up. It
	// must be set before Do. Nil is none.
	Approval *approval.Kept
	// Refusal says, after Do, why Approval did not let the plan run.
	Refusal *approval.Refusal
	// Preview shows, after Do, what a lazy plan was expected to do.
	Preview *Preview
	// Undone is set by Do: the progress of undoing this run or, if this run undoes another, of
	// undoing that one. Otherwise it is nil.
	Undone *Undone
	// UndoContext is the context for undoing the run if the context of Do is done. Nil is a context
	// that is never done.
	UndoContext context.Context

	plan    *Plan
	store   journal.Store
	record  journal.Run // nil without a store
	resumed bool        // an earlier process began it
	started bool
	undoes  *undoTarget      // the run that this one undoes; nil if none
	undone  bool             // it has ended, and only remains to be undone
	done    *journal.Summary // set if the run has completed and Do only returns its result again
	before  *planAsked       // what a resumed run was to execute; nil if it has another plan
	now     *planAsked       // what a lazy plan would execute

	mu    sync.Mutex
	asked map[askedAt]bool // open questions of this process
}

// Hooks holds functions that a run calls. All may be nil.
type Hooks struct {
	// Approver answers questions about calls: see exec.Options.
	Approver func(ctx context.Context, q *exec.Question) (exec.Answer, error)
	// Allow decides whether a lazy plan runs whose preview nobody has approved. It returns nil to
	// run the plan, and otherwise the result to return in place of running it. It is not called
	// under a policy with approvalKeys, which requires a signed approval in a file.
	Allow func(ctx context.Context, r *Run, p *Preview) (*exec.Result, error)
	// OnEvent is called with each event: see Config.OnEvent.
	OnEvent func(*exec.Event)
	// OnInstance is called with the result of each instance of a template, as it ends. The result
	// of the run then has no instances.
	OnInstance func(*exec.InstanceResult)
	// OnStart is called once before the first call starts. If it returns an error, the run does not
	// start.
	OnStart func() error
	// OnUndo is called before undoing starts, with the run that undoes this one and the plan of
	// that. by has the hooks of this run, which OnUndo may change.
	OnUndo func(by *Run, u *Undoing)
	// OnRefused is called with the error of an answer that came from another process and that the
	// run could not use.
	OnRefused func(error)
}

type askedAt struct{ instance, path string }

// Begin makes the record of a run that is about to start. It returns a *PlanError if the plan must
// not run.
func (p *Plan) Begin(ctx context.Context) (*Run, error) { return p.begin(ctx, "") }

// BeginAs does what Begin does for a run with an id that the caller chose, such as exec.IDOf
// returns. It returns a *journal.ExistsError if the store has a run with this id.
func (p *Plan) BeginAs(ctx context.Context, id string) (*Run, error) { return p.begin(ctx, id) }

// begin begins a run with this id; "" makes one.
func (p *Plan) begin(ctx context.Context, id string) (*Run, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	r, err := p.newRun()
	if err != nil || r.store == nil {
		return r, err
	}
	if id != "" {
		r.Options.ID = id
	}
	if r.Options.Seed == 0 { // so that a resumed run has the same seed
		r.Options.Seed = rand.Uint64()
	}
	given, err := p.given(r.Options.Seed)
	if err != nil {
		return nil, err
	}
	if given.Labels = maps.Clone(p.checker.spec.Labels); given.Labels == nil {
		given.Labels = map[string]string{}
	}
	given.Labels[givenLabel] = p.checker.givenDigest()
	if r.record, err = r.store.Create(ctx, r.Options.ID, given); err != nil {
		return nil, err
	}
	return r, nil
}

// newRun returns a run of the plan without a record.
func (p *Plan) newRun() (*Run, error) {
	if err := p.readLines(); err != nil {
		return nil, err
	}
	c := p.checker
	opts := p.execOptions()
	opts.ID = exec.NewID()
	config := &c.session.engine.config
	store, err := c.session.engine.store()
	switch {
	case err != nil:
		return nil, err
	case store == nil && p.mayBeUndone():
		return nil, &SpecError{"on-failure", "undo needs the record of the run, and this run would have none; use a store"}
	}
	opts.Middleware = append(opts.Middleware, config.Middleware...)
	r := &Run{plan: p, Options: &opts, store: store, asked: map[askedAt]bool{}}
	r.Approver, r.OnEvent = config.Approver, config.OnEvent
	if config.ApprovePlan != nil {
		r.Allow = func(ctx context.Context, r *Run, preview *Preview) (*exec.Result, error) {
			approved, reason := config.ApprovePlan(ctx, preview)
			if approved {
				return nil, nil
			}
			return r.NotRun(exec.Rejected, strings.TrimSuffix("the plan was not approved: "+reason, ": ")), nil
		}
	}
	return r, nil
}

// given returns what the record of a run of the plan keeps.
func (p *Plan) given(seed uint64) (*journal.Given, error) {
	m := p.Manifest()
	g := &journal.Given{Program: m.Digest()}
	if p.Program.Mode == lang.Lazy {
		g.Texts = append(g.Texts, journal.Text{Role: journal.Manifest, Name: manifestText, Bytes: m})
	}
	for _, t := range p.checker.session.texts.all() {
		if t.Role == journal.Plan {
			g.Plan = t
		} else {
			g.Texts = append(g.Texts, t)
		}
	}
	tools, err := programTools(p.checker.session.engine.config.Tools)
	if err != nil {
		return nil, err
	}
	if tools != nil {
		g.Texts = append(g.Texts, journal.Text{Role: journal.Tools, Name: programText, Bytes: tools})
	}
	spec := p.checker.spec
	if src := spec.Instances; !src.isZero() && !src.inline() && p.lines == nil {
		t := journal.Text{Role: journal.Instances, Name: src.Name}
		if src.Name != stdin {
			if t.Digest, _, err = fileDigest(src.Name); err != nil {
				return nil, err
			}
		}
		g.Texts = append(g.Texts, t)
	}
	seeded := spec.Seed != 0 && !p.checker.drawn
	spec.Seed = seed
	g.Settings, err = spec.settings(pinsOf(p.Program), seeded)
	return g, err
}

// ID returns the id of the run.
func (r *Run) ID() string { return r.Options.ID }

// Plan returns the plan of the run.
func (r *Run) Plan() *Plan { return r.plan }

// Completed returns the time at which the run had completed, if that was before Continue was
// called, so that Do only returns its result again; otherwise the zero time.
func (r *Run) Completed() time.Time {
	if r.done == nil {
		return time.Time{}
	}
	return r.done.Finished
}

// Recorded reports whether the run has a record that Do adds to.
func (r *Run) Recorded() bool { return r.record != nil }

// Do runs the plan until it ends or has to wait. A lazy plan only runs if somebody has approved it:
// see Hooks.Allow.
//
// If the run ends badly, and is to be undone in that case, it is undone before Do returns: see
// Undone.
func (r *Run) Do(ctx context.Context) (*exec.Result, error) {
	if r.done != nil {
		return r.repeat(ctx)
	}
	if r.undone {
		if err := r.plan.checker.session.engine.undoApproved(ctx, r.store, r.ID()); err != nil {
			return nil, err
		}
		return r.undoOnly(ctx)
	}
	if r.plan.Program.Mode == lang.Lazy {
		stop, err := r.allowed(ctx)
		if err != nil {
			r.Fail(err)
			return nil, err
		}
		if stop != nil {
			if changes := r.Preview.Changes(); stop.Status == exec.Paused && changes != "" {
				stop.Reason += "; " + changes
			}
			r.end(stop)
			return stop, nil
		}
	}
	res, err := r.execute(ctx)
	if err != nil {
		r.Fail(err)
		return nil, err
	}
	res.Findings = append(r.plan.AllFindings(), res.Findings...)
	if r.undoes != nil {
		if err := r.undoes.ended(res); err != nil {
			return res, err
		}
		r.Undone, err = r.plan.checker.session.engine.Undone(ctx, r.undoes.run)
		return res, err
	}
	if res.Status == exec.Undoing {
		r.undoItself(ctx, res)
	}
	return res, nil
}

// repeat returns the result of a completed run, from its record.
func (r *Run) repeat(ctx context.Context) (*exec.Result, error) {
	if r.OnStart != nil {
		if err := r.OnStart(); err != nil {
			return nil, err
		}
	}
	opts := *r.Options
	opts.OnInstance = r.OnInstance
	res, err := exec.Run(ctx, r.plan.Program, &opts)
	if err != nil || ctx.Err() != nil {
		return res, err
	}
	res.Status, res.Reason = r.done.Status, r.done.Reason
	res.Findings = append(r.plan.AllFindings(), res.Findings...)
	r.Undone, err = r.plan.checker.session.engine.Undone(ctx, r.ID())
	return res, err
}

func (r *Run) execute(ctx context.Context) (*exec.Result, error) {
	if r.OnStart != nil {
		if err := r.OnStart(); err != nil {
			return nil, err
		}
	}
	opts := *r.Options
	opts.Approver, opts.OnInstance, opts.ReuseEvents = r.Approver, r.OnInstance, true
	if ask := r.Approver; ask != nil && r.undoes != nil {
		opts.Approver = func(ctx context.Context, q *exec.Question) (exec.Answer, error) {
			a, err := ask(ctx, q)
			return skipRejected(a), err
		}
	}
	opts.OnEvent = func(e *exec.Event) {
		r.noteQuestion(e)
		if r.OnEvent != nil {
			r.OnEvent(e)
		}
	}
	if !r.plan.checker.spec.Instances.isZero() {
		lines, err := r.plan.instances()
		if err != nil {
			return nil, err
		}
		opts.Instances = lines.instances(ctx)
	}
	if r.record != nil {
		opts.Record = r.record
	}
	r.started = true
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	h, err := exec.Start(ctx, r.plan.Program, &opts)
	if err != nil {
		return nil, err
	}
	defer r.listen(ctx, h, cancel)()
	return h.Wait(), nil
}

// allowed returns nil if a lazy plan may run (plan-language §10), and otherwise the result to
// return in place of running it.
func (r *Run) allowed(ctx context.Context) (*exec.Result, error) {
	r.now = manifestNow(r.plan)
	before := false
	if r.resumed && r.store != nil {
		var err error
		if before, err = r.plan.checker.session.engine.approved(ctx, r.store, r.ID(), r.now.digest); err != nil {
			return nil, err
		}
	}
	preview, err := r.plan.Preview(ctx)
	if err != nil {
		return nil, err
	}
	preview.Changed = r.before.changed(r.now)
	preview.DryRun.Cover(r.Options, mostShown)
	r.Preview = preview
	covers := preview.covers()
	var stop *exec.Result
	switch {
	case before:
		return nil, r.coverRecorded(ctx, covers)
	case r.Approval != nil:
		if stop, err = r.useApproval(ctx); stop == nil && err == nil {
			// The writer of the file may have listed other calls.
			covers = slices.DeleteFunc(covers, func(c approval.Covered) bool { return !slices.Contains(r.Approval.File.Covers, c) })
		}
	case r.plan.checker.Policy.ApprovalKeys != nil:
		return r.NotRun(exec.Rejected, WantsSigned), nil
	case r.Allow != nil:
		stop, err = r.Allow(ctx, r, preview)
	case r.record == nil:
		return r.NotRun(exec.Rejected, noRecordToWait), nil
	default:
		stop = r.NotRun(exec.Paused, WaitsForApproval)
	}
	if err == nil && stop != nil && stop.Reason == WaitsForApproval {
		var key []byte
		if key, err = r.plan.checker.session.engine.approvalKey(); key != nil {
			stop.Reason = waitsForSealed
		}
	}
	if stop != nil || err != nil {
		return stop, err
	}
	r.cover(covers)
	return nil, r.noteApproval(ctx, covers)
}

// cover lets calls that were approved together with the plan be made without a question.
func (r *Run) cover(covers []approval.Covered) {
	r.Options.Covered = map[string]bool{}
	for _, c := range covers {
		r.Options.Covered[c.Instance+"\x00"+c.Digest] = true
	}
}

// coverRecorded covers those of the calls that were approved together with the plan according to
// the record. The new dry run may also show calls that the person did not see.
func (r *Run) coverRecorded(ctx context.Context, covers []approval.Covered) error {
	var approved []approval.Covered
	for _, c := range covers {
		ok, err := r.plan.checker.session.engine.approved(ctx, r.store, r.ID(), coverName(r.now.digest, c))
		if err != nil {
			return err
		}
		if ok {
			approved = append(approved, c)
		}
	}
	r.cover(approved)
	return nil
}

// coverName returns the name under which the record notes that a call was approved together with
// the plan that has this digest.
func coverName(digest string, c approval.Covered) string {
	return "call " + digestOf(encoded([]string{digest, c.Instance, c.Digest}))
}

// approvedNames returns the names under which the record notes that the plan with this digest was
// approved, together with these calls.
func approvedNames(digest string, covers []approval.Covered) []string {
	names := []string{digest}
	for _, c := range covers {
		names = append(names, coverName(digest, c))
	}
	return names
}

// mostShown is the number of calls of a preview that a terminal shows. An approval of the preview
// does not cover the calls after them, about which a person is asked when they are reached.
const mostShown = 500

const (
	// WaitsForApproval is the reason of a run that waits for its lazy plan to be approved. It is
	// followed by what has changed since somebody was asked.
	WaitsForApproval = "the plan is lazy, and nobody has approved it; --yes approves"

	// waitsForSealed is the reason if an approval has to be sealed.
	waitsForSealed = WaitsForApproval + "; the approval has to be sealed with " + approvalKeyVariable

	noRecordToWait = "the plan is lazy, there is nobody to ask, and without a record it can't wait; --yes approves"
)

// noteApproval records that somebody approved the plan, so that nobody is asked again when the run
// is resumed.
func (r *Run) noteApproval(ctx context.Context, covers []approval.Covered) error {
	if r.record == nil {
		return nil
	}
	return r.plan.checker.session.engine.noteApproved(ctx, r.store, r.ID(), approvedNames(r.now.digest, covers)...)
}

// NotRun returns the result of the run if nothing of it runs.
func (r *Run) NotRun(status exec.Status, reason string) *exec.Result {
	return r.plan.NotRun(r.ID(), status, reason)
}

// noteQuestion notes which questions are open.
func (r *Run) noteQuestion(e *exec.Event) {
	if e.Type != exec.ApprovalAsked && e.Type != exec.ApprovalGiven {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := (askedAt{e.Instance, e.Call}); e.Type == exec.ApprovalAsked {
		r.asked[at] = true
	} else {
		delete(r.asked, at)
	}
}

// hasAsked reports whether a question of this process is open.
func (r *Run) hasAsked(instance, path string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[askedAt{instance, path}]
}

// listen passes on the answers, and the request to end the run, that come from other processes,
// until stop is called. An answer that comes before its question stays in the store until the
// question is asked.
func (r *Run) listen(ctx context.Context, h *exec.Handle, end context.CancelCauseFunc) (stop func()) {
	if r.record == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	listening.Go(func() {
		for a, err := range r.record.Answers(ctx) {
			if err == nil {
				err = r.passOn(ctx, h, a)
			}
			r.reportRefused(err)
		}
	})
	listening.Go(func() {
		reason, err := r.record.WaitCancel(ctx)
		switch {
		case err == nil:
			end(&exec.CancelError{Reason: reason})
		case ctx.Err() == nil:
			r.reportRefused(err)
		}
	})
	return func() { cancel(); listening.Wait() }
}

// passOn passes an answer to the run, or opens the question again if the call can't take the
// answer. If the run has just paused, the answer is taken when it is resumed.
func (r *Run) passOn(ctx context.Context, h *exec.Handle, a *journal.Answer) error {
	err := h.Answer(a.Path, a.Instance, a.Answer)
	if err == nil || errors.Is(err, exec.ErrEnded) || !r.hasAsked(a.Instance, a.Path) {
		return nil
	}
	return errors.Join(err, r.record.Withdraw(context.WithoutCancel(ctx), a))
}

// reportRefused reports that something which came from another process could not be used.
func (r *Run) reportRefused(err error) {
	if err != nil && r.OnRefused != nil {
		r.OnRefused(err)
	}
}

// Put stores the answer of a person who was asked in this process. The first of several answers
// counts, and the run gets it from the store. If the store does not have the question, the returned
// answer is for the run.
func (r *Run) Put(ctx context.Context, q *exec.Question, a exec.Answer) (exec.Answer, error) {
	a.Digest = q.Digest
	if r.record == nil {
		return a, nil
	}
	for tries := 0; tries < 1000; {
		err := r.store.Answer(ctx, r.ID(), q.Instance, q.Path, a)
		var refused *journal.AnswerError
		switch {
		case err == nil:
			<-ctx.Done()
			return exec.Answer{}, exec.ErrNobody
		case errors.As(err, &refused) && refused.Refused == journal.Answered: // somebody else was quicker
		case refused != nil && refused.Refused == journal.NotAsked:
			tries++
		default:
			return a, nil
		}
		select { // the question is not on disk yet
		case <-ctx.Done():
			return exec.Answer{}, ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return a, nil
}

// Started reports whether Do has started calls.
func (r *Run) Started() bool { return r.started }

// Fail records that the run could not start.
func (r *Run) Fail(err error) {
	if r.record != nil {
		r.record.Append(&exec.Event{Type: exec.RunFinished, Time: time.Now(), Run: r.ID(), Status: exec.Failed, Reason: err.Error()})
	}
}

// end records that the run ended, or waits, before any of its calls was made.
func (r *Run) end(res *exec.Result) {
	if r.record == nil {
		return
	}
	e := &exec.Event{Type: exec.RunFinished, Time: time.Now(), Run: r.ID(), Status: res.Status, Reason: res.Reason}
	if res.Status == exec.Paused {
		e.Type = exec.RunPaused
		if r.now != nil && r.before != nil && r.now.digest != r.before.digest {
			e.Value = json.RawMessage(r.now.manifest)
		}
	}
	r.record.Append(e)
}

// Close releases the record of the run. It returns an error if the record is not complete.
func (r *Run) Close() error {
	if r.record == nil {
		return nil
	}
	err := r.record.Close()
	if r.undoes != nil && r.undoes.release {
		err = errors.Join(err, r.undoes.record.Close())
	}
	return err
}

// Preview returns what running the plan would do, from a dry run that calls no tool. How long tools
// take, and what results they had, comes from the store. For a lazy plan it marks the calls that
// are approved together with the plan.
func (p *Plan) Preview(ctx context.Context) (*Preview, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	if err := p.readLines(); err != nil {
		return nil, err
	}
	trial, err := p.trial(ctx)
	if err != nil {
		return nil, err
	}
	end, err := p.checker.session.engine.dryRun(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	d, err := forecast.Run(ctx, p.Program, trial)
	if err != nil {
		return nil, err
	}
	if p.Program.Mode == lang.Lazy {
		d.Cover(p.checker.exec, mostShown)
	}
	f := forecast.Of(p.Program, d, trial)
	f.Flows = p.Flow()
	return &Preview{Plan: p, DryRun: d, Forecast: f}, nil
}

// AllBranches makes dry runs with every combination of outcomes: see forecast.AllBranches.
func (p *Plan) AllBranches(ctx context.Context) (*forecast.Branches, error) {
	trial, err := p.trial(ctx)
	if err != nil {
		return nil, err
	}
	end, err := p.checker.session.engine.dryRun(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return forecast.AllBranches(ctx, p.Program, trial, 0)
}

// dryRun waits until the engine may make another dry run; end marks its end. A dry run may take
// much memory, so at most as many are made at once as there are processors, or two.
func (e *Engine) dryRun(ctx context.Context) (end func(), err error) {
	select {
	case e.dryRuns <- struct{}{}:
		return func() { <-e.dryRuns }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// trial returns the options of a dry run of the plan.
func (p *Plan) trial(ctx context.Context) (*forecast.Options, error) {
	p, err := p.withLines()
	if err != nil {
		return nil, err
	}
	c := p.checker
	opts := p.execOptions()
	o := forecast.OptionsOf(&opts)
	o.Seed, o.Branch, o.Hosts, o.Paths = c.spec.Seed, c.spec.Branch, c.Policy.Hosts, c.Policy.Paths
	if p.lines != nil {
		o.Instances = p.firstInstances
		o.MostInstances = p.countLines()
	}
	store, err := c.session.engine.store()
	if err != nil {
		return nil, err
	}
	h, err := historyOf(ctx, store, c.givenDigest(), c.spec.Recalls)
	if err != nil {
		return nil, err
	}
	if h != nil {
		o.Durations, o.Recorded = h.durations, h.recorded
	}
	return o, nil
}

// NotRun returns the result of a run of the plan of which nothing runs.
func (p *Plan) NotRun(id string, status exec.Status, reason string) *exec.Result {
	res := &exec.Result{
		Run: id, Status: status, Reason: reason, Findings: p.AllFindings(), Calls: []exec.CallResult{},
		State: p.initial("state"), Data: p.initial("data"),
	}
	for i := range p.Program.Calls {
		c := &p.Program.Calls[i]
		res.Calls = append(res.Calls, exec.CallResult{ID: c.ID, Tool: c.Source.Tool, Status: exec.Pending})
	}
	return res
}

// initial returns the value of a kind on the initial whiteboard; {} if there is none.
func (p *Plan) initial(kind string) json.RawMessage {
	if v := p.Program.Initial[kind]; v != nil {
		return v
	}
	return json.RawMessage("{}")
}
