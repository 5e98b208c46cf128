package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
)

// runFlags are the flags of plc run in addition to those of the plan.
type runFlags struct {
	planFlags
	asJSON   bool
	yes      bool
	events   string
	store    string
	expect   string
	within   *big.Rat // of --expect: how much numbers may differ; nil compares them rounded
	results  string
	approval string
	branch   []string
	jsonl    string
	engine   string // what executes the run, if it is not this process
	detach   bool
	named    bool // the id of the run was already printed
}

func runCommand(env *environment) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Check a plan, then run it",
		Long: `Check a plan, then run it, as parallel as its data allows. A plan with an error never
runs, not even in part. FILE may be - for standard input.

The plan's output (null when it was not made), or the state at the end when the plan has
none, goes to standard output as JSON; progress, and the outcome of the calls that did not
complete, to standard error. With --format json one document has it all.

Calls of destructive tools are put to a person: on a terminal they are asked for, elsewhere
the run waits (exit 4); --yes approves them, --approve none asks for none.

A lazy plan, or any with --lazy, is shown first: what it would do, in a dry run that calls no tool,
and a forecast. On a terminal it is asked for as a whole; elsewhere it waits for --yes, or for
--approval with a file that plc plan wrote and plc approve approved. An approval is for what
was shown and all that would execute: when anything differs, it is refused (exit 5).

With --on-failure undo a run that fails or is cancelled is undone: what it did is taken back, as
far as its tools say how. docs/undo.md says more.

Exit 0 when the run completed, 1 when the plan has errors, 3 when the run failed (as it does
when a person rejects a call and nothing handles that), 4 when it waits for somebody, 5 when
a lazy plan as a whole was rejected, 130 when it was cancelled (Ctrl-C; a second one ends at
once).`,
		Example: `  plc run plan.json --tools tools.yaml
  plc run plan.json --tools tools.yaml --input user=Alice --input limits.json
  plc run plan.json --tools tools.yaml --format json | jq .state
  plc run plan.json --tools tools.yaml --on-failure skip --events events.jsonl
  plc run --jsonl plans.jsonl --tools tools.yaml > results.jsonl`,
		Args:              planOrLines(&f.jsonl),
		ValidArgsFunction: completePlans(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case f.engine != "" && f.jsonl == "":
				return env.runElsewhere(c, args[0], &f)
			case f.engine != "":
				return errors.New("--jsonl does not go with --engine; begin a run for each plan")
			case f.detach:
				return errors.New("--detach goes with --engine: a run in this process ends with it")
			case f.jsonl != "":
				return env.runLines(c, &f)
			}
			return env.runPlan(c, args[0], &f)
		},
	}
	f.addAll(c)
	f.addEngine(c)
	addLines(c, &f.jsonl)
	return c
}

// addAll adds all flags of plc run.
func (f *runFlags) addAll(c *cobra.Command) {
	f.add(c)
	f.addVerdict(c)
	f.addMeaning(c)
	f.addRun(c)
	f.addTelling(c)
}

// addRun adds the flags that only runs have.
func (f *runFlags) addRun(c *cobra.Command) {
	fl := c.Flags()
	fl.BoolVar(&f.spec.Lazy, "lazy", false, "show the plan, what it would do and a forecast, and ask before anything runs")
	fl.BoolVar(&f.yes, "yes", false, "approve what would be asked")
	fl.StringVar(&f.approval, "approval", "", "run on this approval, a file of plc plan that plc approve approved")
	addDuration(c, &f.spec.Approvals.Timeout, "approve-timeout", "how long to wait for an answer, from this terminal or of plc approve elsewhere, as in 10m; 0 is for ever, where there is somebody to ask")
	addWord(c, (*string)(&f.spec.Approvals.OnTimeout), "on-timeout", "reject", "what holds for a call that nobody has answered in time: reject or approve", "reject", "approve")
	fl.IntVar(&f.spec.Revisions.Max, "max-revisions", exec.DefaultMaxRevisions, "how often the plan may be replaced by another")
	fl.Float64Var(&f.spec.Revisions.At, "revise-at", 0, "pause for another plan when this share of the settled calls has failed, as in 0.3; 0 is never")
	fl.BoolVar(&f.spec.NoCache, "no-cache", false, "remember no results, whatever the tool file says")
	completeFiles(c, "json", "approval")
}

// addTelling adds the flags that say what a process reports about a run.
func (f *runFlags) addTelling(c *cobra.Command) {
	fl := c.Flags()
	addFormat(c, &f.asJSON, "text or json (one document)")
	fl.StringVar(&f.events, "events", "", "write each event as a JSON line to this file")
	addStore(c, &f.store, "where the record of the run is kept: a path, or none")
	fl.Var(tolerance{&f.within}, "expect-within", "by how much the numbers of --expect may differ from those of the run, instead of by rounding")
	fl.StringVar(&f.expect, "expect", "", "exit 3 unless the run gives this: JSON, or a string; a number is rounded to as many decimals")
	fl.StringVar(&f.results, "results", "", "write how each instance ended to this file, as a JSON line")
	completeFiles(c, "jsonl", "events", "results")
}

// addMeaning adds the flags that say how a plan is run, for runs and for previews of them.
func (f *runFlags) addMeaning(c *cobra.Command) {
	fl := c.Flags()
	f.addPace(c)
	fl.StringArrayVar(&f.branch, "branch", nil, "CALL=NAME, an outcome that the dry run assumes (repeatable)")
	fl.BoolVar(&f.spec.FailFast, "fail-fast", false, "end the run when an instance failed; the default is that the others go on")
	addModelTapes(c, &f.spec.ModelTapes)
	fl.Uint64Var(&f.spec.Seed, "seed", 0, "seed of what is random (jitter, samples); 0 draws one")
}

// addPace adds the flags for scheduling, limits and failures.
func (f *planFlags) addPace(c *cobra.Command) {
	f.addCalls(c, "")
	addWord(c, (*string)(&f.spec.Schedule), "schedule", "parallel", "parallel, sequential or adaptive", "parallel", "sequential", "adaptive")
	addWord(c, (*string)(&f.spec.OnFailure), "on-failure", "", "a failure that the plan does not handle: abort, skip, continue, ask, replan or undo (default the plan's onFailure, else abort)",
		"abort", "skip", "continue", "ask", "replan", "undo")
	addDuration(c, &f.spec.Limits.Time, "max-time", "longest that the run may take, as in 90s; 0 is no bound")
	f.spec.Limits.State = exec.DefaultMaxBytes
	addSize(c, &f.spec.Limits.State, "max-state", "most that all calls may give, written to the whiteboards or not, as in 64MiB")
}

// addCalls adds the flags that say how calls are made, in runs and in loops. more is added to the
// usage of --on-uncertain.
func (f *planFlags) addCalls(c *cobra.Command, more string) {
	c.Flags().IntVar(&f.spec.Limits.Parallel, "max-parallel", 0, "most calls at once (default 64)")
	addWord(c, (*string)(&f.spec.OnUncertain), "on-uncertain", "ask", "a call whose answer was lost and that may have done its work: ask, retry, fail, skip or wait"+more, "ask", "retry", "fail", "skip", "wait")
	addWord(c, (*string)(&f.spec.Approvals.Calls), "approve", "", "calls to put to a person: all, destructive or none (default the tool file's policy, else destructive)", "all", "destructive", "none")
	addDuration(c, &f.spec.Limits.Timeout, "timeout", "of an attempt of a call that says nothing (default 60s)")
}

// runPlan runs plc run.
func (env *environment) runPlan(c *cobra.Command, name string, f *runFlags) error {
	f.spec.Lazy = f.spec.Lazy || f.approval != ""
	if err := env.memoryBeside(f.store); err != nil {
		return err
	}
	p, err := env.prepare(plc.ToRun, c, name, f, func() (journal.Store, error) { return openStore(f.store) })
	if err != nil {
		return err
	}
	if info, err := os.Stat(f.spec.Instances.Name); err == nil && info.Mode().IsRegular() {
		env.read = append(env.read, info) // it is read while the run goes on
	}
	if err := env.checkOutput("events", f.events); err != nil {
		return err
	}
	if p.invalid != nil {
		return env.invalid(p.loaded, name, f.asJSON, p.invalid)
	}
	if err := env.usable(p); err != nil {
		return err
	}
	r, err := env.begin(c.Context(), p)
	if err != nil {
		return err
	}
	return env.start(c.Context(), p, r)
}

// begin shows the warnings about a plan, and begins its run.
func (env *environment) begin(ctx context.Context, p *prepared) (*plc.Run, error) {
	if !p.flags.asJSON {
		writeText(env.stderr, withoutInfo(p.findings), maxWarned)
	}
	return p.Begin(ctx)
}

// usable checks, before anything is recorded, that a run can use the files that its flags name. It
// writes nothing.
func (env *environment) usable(p *prepared) error {
	f := p.flags
	if f.within != nil && f.expect == "" {
		return errors.New("--expect-within goes with --expect")
	}
	if _, err := wantsBatch(p.prog, f); err != nil {
		return err
	}
	if f.spec.Instances.Name == "-" && p.prog.Mode != lang.Lazy && env.stdinRead {
		return errors.New("standard input can be read only once: give one of the files by its name")
	}
	if err := errors.Join(env.checkOutput("events", f.events), env.checkOutput("results", f.results)); err != nil {
		return err
	}
	if err := canWrite(f.events); err != nil {
		return fmt.Errorf("can't write the events: %w", err)
	}
	if err := canWrite(f.results); err != nil {
		return fmt.Errorf("can't write the results: %w", err)
	}
	if f.approval == "" {
		return nil
	}
	var err error
	p.approval, err = env.engine(nil).OpenApproval(f.approval)
	return err
}

// reportLostRecord reports that the record is incomplete. It returns err if that is not nil.
func (env *environment) reportLostRecord(lost, err error) error {
	if lost == nil {
		return err
	}
	env.complain(fmt.Errorf("the record of the run is not complete: %s", trimJournal(lost)))
	if err == nil {
		err = exit(exitUsage)
	}
	return err
}

// start runs a plan that may run, after approval if it is lazy, and closes its record.
func (env *environment) start(ctx context.Context, p *prepared, r *plc.Run) error {
	err := env.runAlone(ctx, p, r)
	return env.reportLostRecord(closeStore(p.Checker()), err)
}

// runAlone runs a plan that may run, and closes its record, but not the store.
func (env *environment) runAlone(ctx context.Context, p *prepared, r *plc.Run) error {
	switch at := r.Completed(); {
	case p.flags.asJSON:
	case !at.IsZero():
		env.tellCompleted(r.ID(), p.name, at)
	case r.Recorded() && !p.flags.named:
		showf(env.stderr, "run %s\n", r.ID())
	}
	err := env.execute(ctx, p, r)
	return env.reportLostRecord(r.Close(), err)
}

// closeStore closes the store, if one was opened.
func closeStore(s *plc.Checker) error {
	if store, err := s.Store(); err == nil && store != nil {
		return store.Close()
	}
	return nil
}

// execute runs a program that may run.
func (env *environment) execute(ctx context.Context, p *prepared, r *plc.Run) error {
	l, f := p.loaded, p.flags
	var show *progress
	if !p.flags.asJSON {
		show = newProgress(env.stderr, l.prog)
		env.shown.Store(show)
	}
	r.Approver = env.answerer(f, show, r)
	spans := env.tracer(workflowName(p.name))
	defer env.endTrace(spans)
	if spans != nil {
		r.Options.Middleware = append(r.Options.Middleware, spans.Middleware)
	}
	var log *jsonLines
	r.OnEvent = func(e *exec.Event) {
		spans.Event(e)
		log.write(e)
		show.event(e)
	}
	r.OnRefused = func(err error) { show.note(trimJournal(err)) }
	r.OnUndo = func(by *plc.Run, u *plc.Undoing) {
		show.undo(len(u.Calls))
		by.Approver = env.answerer(f, show, by)
	}
	r.Allow, r.Approval = p.allow(env), p.approval
	var b *batch
	stop := func() {}
	r.OnStart = func() (err error) {
		if log, err = createLines("events", f.events); err != nil {
			return err
		}
		if b, err = env.newBatch(l.prog, f, show, p.flags.asJSON); err != nil {
			return err
		}
		if b != nil {
			r.OnInstance = b.instance
		}
		env.graceful.Store(true)
		show.start(r.Approver == nil)
		stop = show.stop
		return nil
	}
	cancelled := context.AfterFunc(ctx, show.cancelled)
	res, err := r.Do(ctx)
	cancelled()
	stop()
	if r.Preview != nil {
		l.forecast = r.Preview.Forecast
	}
	if r.Refusal != nil && !p.flags.asJSON {
		_, all := r.Refusal.Reason()
		for _, d := range all {
			showf(env.stderr, "  %s\n", d)
		}
		if a := p.approval; a != nil && a.File != nil && a.File.Waits(time.Now()) {
			env.hintf("plc approve %s approves it", env.argsFor(a.Name))
		} else {
			env.hintf("plc plan %s -o FILE, with the same flags, and plc approve %s make another approval", p.name, env.argsFor("FILE"))
		}
	}
	lost, lostResults := log.close(), b.close()
	if err != nil {
		return asFlag(ctx, err)
	}
	l.undone = r.Undone
	if err := env.timesOf(ctx, p, r, res); err != nil {
		return err
	}
	switch {
	case b != nil:
		err = env.showBatch(b, res, p.flags.asJSON)
	case p.tell != nil:
		err = p.tell(res)
	default:
		err = env.showResult(l, res, p.flags.asJSON)
	}
	env.hintNext(p, r, res, b)
	if err == nil && l.undone != nil && l.undone.Status == exec.UndoneInPart {
		err = exit(exitFailed)
	}
	if err == nil && f.expect != "" {
		err = env.meets(f, l, res)
	}
	if ctx.Err() != nil && (res.Status == exec.Undone || res.Status == exec.UndoneInPart) {
		err = exit(exitCancelled)
	}
	err = env.complainLost("events", f.events, lost, err)
	return env.complainLost("results", f.results, lostResults, err)
}

// answerer returns the function that answers the questions of a run; nil if there is nobody to ask.
func (env *environment) answerer(f *runFlags, show *progress, r *plc.Run) func(context.Context, *exec.Question) (exec.Answer, error) {
	switch {
	case f.yes:
		return approveAll
	case env.canAsk():
		return env.approver(show, r)
	case f.spec.Approvals.Timeout > 0: // somebody elsewhere may answer until then
		return func(ctx context.Context, _ *exec.Question) (exec.Answer, error) {
			<-ctx.Done()
			return exec.Answer{}, ctx.Err()
		}
	}
	return nil
}

// allow returns the hook that decides about a lazy plan: see plc.Hooks.
func (p *prepared) allow(env *environment) func(context.Context, *plc.Run, *plc.Preview) (*exec.Result, error) {
	return func(ctx context.Context, r *plc.Run, preview *plc.Preview) (*exec.Result, error) {
		if p.flags.yes {
			return nil, nil
		}
		return env.askPlan(ctx, p, r, preview), nil
	}
}

// askPlan asks a person to approve a lazy plan. If nobody can be asked, the run waits.
func (env *environment) askPlan(ctx context.Context, p *prepared, r *plc.Run, preview *plc.Preview) *exec.Result {
	show(env.stderr, blueprint(p.name, preview.DryRun, preview.Forecast, maxListed))
	yes, why := false, noAnswer
	if env.canAsk() {
		if changes := preview.Changes(); changes != "" {
			showf(env.stderr, "%s\n", changes)
		}
		yes, why = env.ask(ctx, nil, display.Lit("run this plan? (e to edit it)"), "e")
	}
	switch {
	case yes:
		return nil
	case why == noAnswer:
		if p.flags.store == noStore {
			return r.NotRun(exec.Rejected, "the plan is lazy, there is nobody to ask, and without a record it can't wait; --yes approves")
		}
		if !r.Recorded() {
			env.hintf("plc plan %s -o FILE, with the same flags, writes a request; plc approve %s approves it; --approval FILE then runs it", p.name, env.argsFor("FILE"))
		}
		return r.NotRun(exec.Paused, plc.WaitsForApproval)
	case why == "e", why == "edit":
		env.hintf("change %s and run it again: what is asked then is what it says then; plc diff OLD NEW tells what has changed", p.name)
		why = ": it is to be edited"
	case why != "":
		why = ": " + why
	}
	return r.NotRun(exec.Rejected, "the plan was not approved"+why)
}

// hintNext prints hints on how to continue a run that did not complete.
func (env *environment) hintNext(p *prepared, r *plc.Run, res *exec.Result, b *batch) {
	if !r.Recorded() || p.flags.asJSON {
		return
	}
	var fault *journal.Error
	switch {
	case errors.As(res.Err, &fault):
	case res.Status == exec.Paused && res.Replan:
		env.hintf("plc resume %s --plan NEW goes on with another plan; what is done stays done", env.argsFor(r.ID()))
	case res.Status == exec.Paused && r.Undone != nil:
		env.hintAnswerUndo(r.ID(), r.ID())
	case res.Status == exec.Paused:
		env.hintf("plc approve %s, or plc reject, answers; then plc resume %[1]s goes on", env.argsFor(r.ID()))
	case res.Status == exec.Undoing && r.Undone != nil && r.Undone.Err == nil:
		env.hintAnswerUndo(r.Undone.Run, r.ID())
	case res.Status == exec.Undoing:
		env.hintf("plc resume %s continues the undo; plc undo %[1]s does so with the current tool files", env.argsFor(r.ID()))
	case res.Status == exec.Failed && anyUnsure(res, b):
		env.hintf("plc resume %s --on-uncertain retry makes calls again that may have done their work, skip goes on without them; without it they stay failed", env.argsFor(r.ID()))
	case res.Status == exec.Failed && failedByPlan(res):
		env.hintf("plc resume %s --plan NEW goes on with a corrected plan; what is done stays done", env.argsFor(r.ID()))
	case res.Status == exec.Failed:
		env.hintf("plc resume %s tries again what failed, with the tool files as they were; add --plan NEW to go on with a corrected plan; to use corrected tool files, start a new plc run; what is done stays done", env.argsFor(r.ID()))
	case res.Status == exec.Cancelled && anyUnsure(res, b):
		asks := "asks about calls that may have done their work"
		if !env.canAsk() {
			asks = "fails calls that may have done their work, unless somebody can be asked at a terminal"
		}
		env.hintf("plc resume %s goes on, and %s; --on-uncertain retry makes them again unasked, skip goes on without them", env.argsFor(r.ID()), asks)
	case res.Status == exec.Cancelled:
		env.hintf("plc resume %s goes on; what is done stays done", env.argsFor(r.ID()))
	}
}

// hintAnswerUndo prints hints on how to answer the questions of a run that undoes another, and how
// to continue.
func (env *environment) hintAnswerUndo(by, next string) {
	env.hintf("plc approve %s runs the undo, plc approve %[1]s --skip leaves the effect in place; then plc resume %s continues", env.argsFor(by), env.argsFor(next))
}

// planFaults are the codes of failures that recur in each attempt until the plan is changed.
var planFaults = []string{"params", "missing", "too-large", "unexpected", "outcome", "schema", "write", "condition", "choice", "bad-params"}

// anyUnsure reports whether a call of a run failed or was cancelled but may have done its work,
// since its result was lost.
func anyUnsure(res *exec.Result, b *batch) bool {
	return b != nil && b.unsure || anyCall(res, isUnsure)
}

func isUnsure(c *exec.CallResult) bool { return c.Error.Code == "uncertain" }

// failedByPlan reports whether a call of a run has failed because of an error in the plan.
func failedByPlan(res *exec.Result) bool {
	return anyCall(res, func(c *exec.CallResult) bool {
		return c.Status == exec.Failed && slices.Contains(planFaults, c.Error.Code)
	})
}

// anyCall reports whether is holds for a call of a run: see anyOf.
func anyCall(res *exec.Result, is func(*exec.CallResult) bool) bool {
	return anyOf(res.Calls, is) || slices.ContainsFunc(res.Instances, func(r exec.InstanceResult) bool { return anyOf(r.Calls, is) })
}

// anyOf reports whether is holds for a call, at any depth, that has an error, did not complete, and
// whose failure the plan does not handle.
func anyOf(calls []exec.CallResult, is func(*exec.CallResult) bool) bool {
	return slices.ContainsFunc(calls, func(c exec.CallResult) bool {
		if c.Status != exec.Failed && c.Status != exec.Cancelled || c.Handled || c.Error == nil {
			return false
		}
		return is(&c) || slices.ContainsFunc(c.Runs, func(r exec.SubRun) bool { return anyOf(r.Calls, is) })
	})
}

// complainLost reports that a file is incomplete. It returns err if that is not nil.
func (env *environment) complainLost(what, name string, lost, err error) error {
	if lost == nil {
		return err
	}
	env.complain(fmt.Errorf("the %s in %s are not complete: %w", what, name, lost))
	if err == nil {
		err = exit(exitUsage)
	}
	return err
}
