package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/adaptive"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
)

// runFlags are the flags of plc run besides those of the plan.
type runFlags struct {
	planFlags
	format      string
	yes         bool
	schedule    string
	maxParallel int
	onFailure   string
	onUncertain string
	approve     string
	maxTime     time.Duration
	timeout     time.Duration
	events      string
	seed        uint64
	store       string
	expect      string
	results     string
	failFast    bool
	approval    string
	lines       []byte // of --instances, when they had to be known before the run
	branch      []string

	approveTimeout time.Duration
	onTimeout      string
	maxRevisions   int
	reviseAt       float64
	noCache        bool
}

func runCommand(env *environment) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Check a plan, then run it",
		Long: `Check a plan, then run it, as parallel as its data allows. A plan with an error never
runs, not even in part. FILE may be - for standard input.

The plan's output (null when it was not made), or the state at the end when the plan has
none, goes to standard output as JSON; progress, and what became of the calls that did not
complete, to standard error. With --format json one document has it all.

Calls of destructive tools are put to a person: on a terminal they are asked for, elsewhere
the run waits (exit 4); --yes approves them, --approve none asks for none.

A lazy plan, or any with --lazy, is shown first: what it would do, in a dry run that calls no tool,
and a forecast. On a terminal it is asked for as a whole; elsewhere it waits for --yes, or for
--approval with a file that plc plan wrote and plc approve approved. An approval is for what
was shown and all that would execute: when anything differs, it is refused (exit 5).

Exit 0 when the run completed, 1 when the plan has errors, 3 when the run failed (as it does
when a person rejects a call and nothing handles that), 4 when it waits for somebody, 5 when
a lazy plan as a whole was rejected, 130 when it was cancelled (Ctrl-C; a second one ends at
once).`,
		Example: `  plc run plan.json --tools tools.yaml
  plc run plan.json --tools tools.yaml --input user=Alice --input limits.json
  plc run plan.json --tools tools.yaml --format json | jq .state
  plc run plan.json --tools tools.yaml --on-failure skip --events events.jsonl`,
		Args:              wants(1, 1, "one plan"),
		ValidArgsFunction: completePlans(1),
		RunE: func(c *cobra.Command, args []string) error {
			return env.runPlan(c, args[0], &f)
		},
	}
	f.addAll(c)
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

// addRun adds what is of a run only.
func (f *runFlags) addRun(c *cobra.Command) {
	fl := c.Flags()
	fl.BoolVar(&f.lazy, "lazy", false, "show the plan, what it would do and a forecast, and ask before anything runs")
	fl.BoolVar(&f.yes, "yes", false, "approve what would be asked")
	fl.StringVar(&f.approval, "approval", "", "run on this approval, a file of plc plan that plc approve approved")
	addDuration(c, &f.approveTimeout, "approve-timeout", "how long to wait for an answer, from this terminal or of plc approve elsewhere, as in 10m; 0 is for ever, where there is somebody to ask")
	fl.StringVar(&f.onTimeout, "on-timeout", "reject", "what holds for a call that nobody has answered in time: reject or approve")
	fl.IntVar(&f.maxRevisions, "max-revisions", exec.DefaultMaxRevisions, "how often the plan may be replaced by another")
	fl.Float64Var(&f.reviseAt, "revise-at", 0, "pause for another plan when this share of the settled calls has failed, as in 0.3; 0 is never")
	fl.BoolVar(&f.noCache, "no-cache", false, "remember no results, whatever the tool file says")
	complete(c, "on-timeout", "reject", "approve")
	completeFiles(c, "json", "approval")
}

// addTelling adds what says what a process tells of a run.
func (f *runFlags) addTelling(c *cobra.Command) {
	fl := c.Flags()
	addFormat(c, &f.format, "text or json (one document)")
	fl.StringVar(&f.events, "events", "", "write each event as a JSON line to this file")
	addStore(c, &f.store, "where the record of the run is kept: a path, or none")
	fl.StringVar(&f.expect, "expect", "", "exit 3 unless the run gives this: JSON, or a string; a number is rounded to as many decimals")
	fl.StringVar(&f.results, "results", "", "write what becomes of each instance as a JSON line to this file")
	completeFiles(c, "jsonl", "events", "results")
}

// addMeaning adds what says how a plan is run, of a run and of what is said of one.
func (f *runFlags) addMeaning(c *cobra.Command) {
	fl := c.Flags()
	fl.StringArrayVar(&f.branch, "branch", nil, "CALL=NAME, an outcome that the dry run assumes (repeatable)")
	fl.StringVar(&f.schedule, "schedule", "parallel", "parallel, sequential or adaptive")
	fl.IntVar(&f.maxParallel, "max-parallel", 0, "most calls at once (default 64)")
	fl.StringVar(&f.onFailure, "on-failure", "abort", "a failure that the plan does not handle: abort, skip, continue, ask or replan")
	fl.StringVar(&f.onUncertain, "on-uncertain", "ask", "a call whose answer was lost and that may have done its work: ask, retry, fail or skip")
	fl.StringVar(&f.approve, "approve", "destructive", "calls to put to a person: all, destructive or none; the default is the tool file's policy, if it has one")
	addDuration(c, &f.maxTime, "max-time", "longest that the run may take, as in 90s; 0 is no bound")
	addDuration(c, &f.timeout, "timeout", "of an attempt of a call that says nothing (default 60s)")
	fl.BoolVar(&f.failFast, "fail-fast", false, "end the run when an instance failed; the default is that the others go on")
	f.models.add(c)
	fl.Uint64Var(&f.seed, "seed", 0, "seed of what is random (jitter, samples); 0 draws one")
	complete(c, "schedule", "parallel", "sequential", "adaptive")
	complete(c, "on-failure", "abort", "skip", "continue", "ask", "replan")
	complete(c, "on-uncertain", "ask", "retry", "fail", "skip")
	complete(c, "approve", "all", "destructive", "none")
}

// options are the executor's options that the flags say.
func (f *runFlags) options() (*exec.Options, error) {
	o := &exec.Options{MaxParallel: f.maxParallel, MaxSteps: f.maxSteps, MaxTokens: f.maxTokens, MaxCost: f.maxCost, MaxTime: f.maxTime, Timeout: f.timeout, Seed: f.seed}
	var err error
	if o.Schedule, err = choice("schedule", f.schedule, map[string]exec.Schedule{
		"parallel": exec.Parallel, "sequential": exec.Sequential, "adaptive": exec.Adaptive,
	}); err != nil {
		return nil, err
	}
	if o.Schedule == exec.Sequential && f.maxParallel > 1 {
		return nil, errors.New("--schedule sequential runs one call at a time: leave --max-parallel out")
	}
	if o.Schedule == exec.Adaptive {
		o.Limiter = adaptive.New(o.MaxParallel)
	}
	if o.OnFailure, err = choice("on-failure", f.onFailure, map[string]exec.Strategy{
		"abort": exec.Abort, "skip": exec.Skip, "continue": exec.Continue, "ask": exec.Ask, "replan": exec.Replan,
	}); err != nil {
		return nil, err
	}
	if o.OnUncertain, err = choice("on-uncertain", f.onUncertain, map[string]exec.Uncertain{
		"ask": exec.AskUncertain, "retry": exec.RetryUncertain, "fail": exec.FailUncertain, "skip": exec.SkipUncertain,
	}); err != nil {
		return nil, err
	}
	if o.OnAnswerTimeout.Approved, err = choice("on-timeout", f.onTimeout, map[string]bool{"reject": false, "approve": true}); err != nil {
		return nil, err
	}
	if f.reviseAt > 1 {
		return nil, fmt.Errorf("--revise-at %g: it is a share of the calls, from 0 to 1", f.reviseAt)
	}
	o.AnswerTimeout, o.MaxRevisions, o.ReviseAt = f.approveTimeout, f.maxRevisions, f.reviseAt
	o.Approve, err = approve(f.approve)
	return o, err
}

func approve(value string) (exec.Approve, error) {
	return choice("approve", value, map[string]exec.Approve{
		"all": exec.ApproveAll, "destructive": exec.ApproveDestructive, "none": exec.ApproveNone,
	})
}

// runPlan is plc run.
func (env *environment) runPlan(c *cobra.Command, name string, f *runFlags) error {
	f.lazy = f.lazy || f.approval != ""
	if err := env.memoryBeside(f.store); err != nil {
		return err
	}
	p, err := env.prepare(c, name, f)
	if err != nil {
		return err
	}
	if info, err := os.Stat(f.instances); err == nil && info.Mode().IsRegular() {
		env.read = append(env.read, info) // which is read as the run goes on
	}
	if err := env.keepsRead("events", f.events); err != nil {
		return err
	}
	if p.invalid != nil {
		return env.invalid(p.settings, p.loaded, name, p.asJSON, p.invalid)
	}
	if err := env.usable(p); err != nil {
		return err
	}
	if !p.asJSON {
		writeText(env.stderr, withoutInfo(p.findings), maxWarned)
	}
	store, err := openStore(f.store)
	if err != nil {
		return err
	}
	k, err := env.begin(c, p, store)
	if err != nil {
		return errors.Join(err, closeStore(store))
	}
	err = env.start(c.Context(), p, k)
	return env.lose(k.close(), err)
}

// usable makes sure, before anything is recorded, that a run can use the files that its flags
// name. Nothing is written.
func (env *environment) usable(p *prepared) error {
	f := p.flags
	if _, err := wantsBatch(p.prog, f); err != nil {
		return err
	}
	if f.instances != "" && f.lines == nil {
		if err := env.canReadLines(f.instances); err != nil {
			return err
		}
	}
	if err := errors.Join(env.keepsRead("events", f.events), env.keepsRead("results", f.results)); err != nil {
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
	var refusal *approval.Refusal
	p.approval, p.refusal = env.readApproval(f.approval)
	if errors.As(p.refusal, &refusal) { // that the run was refused is recorded
		return nil
	}
	return p.refusal
}

func closeStore(s *journal.Store) error {
	if s == nil {
		return nil
	}
	return s.Close()
}

// lose says that the record is not complete; the exit code is err's if there is one.
func (env *environment) lose(lost, err error) error {
	if lost == nil {
		return err
	}
	env.complain(fmt.Errorf("the record of the run is not complete: %s", trimJournal(lost)))
	if err == nil {
		err = exit(exitUsage)
	}
	return err
}

// start runs a plan that may run, when it is lazy as soon as somebody has said yes to it.
func (env *environment) start(ctx context.Context, p *prepared, k *kept) error {
	if k != nil && !p.asJSON {
		fmt.Fprintf(env.stderr, "run %s\n", k.id())
	}
	if p.prog.Mode == lang.Lazy {
		stop, err := env.allowed(ctx, p, k)
		if err != nil {
			k.fail(err)
			return err
		}
		if stop != nil {
			k.end(stop)
			err := env.showResult(p.loaded, stop, p.asJSON)
			env.hintNext(p, k, stop, nil)
			return err
		}
	}
	err := env.execute(ctx, p, k)
	return err
}

// allowed makes sure that somebody has said yes to a lazy plan (plan-language §10). What it
// returns stands for the result when the plan is not to run now; nil is a yes.
func (env *environment) allowed(ctx context.Context, p *prepared, k *kept) (*exec.Result, error) {
	if p.approvedBefore(k) {
		return nil, nil
	}
	if k != nil {
		if err := env.learn(ctx, p, k.store); err != nil {
			return nil, err
		}
	}
	d, _, err := p.dryRun(ctx)
	if err != nil {
		return nil, err
	}
	switch f := p.flags; {
	case f.approval != "":
		return env.allowedBy(p, k, f.approval)
	case f.yes:
		return nil, k.approve(p)
	}
	stop := env.askPlan(ctx, p, k, d)
	if stop == nil {
		err = k.approve(p)
	}
	return stop, err
}

// approvedBefore reports whether the store has an approval of a plan for this run, which is
// then used up.
func (p *prepared) approvedBefore(k *kept) bool {
	return k != nil && k.resumed && k.store.UseApproval(p.program, k.id()) == nil
}

// approve takes note that a person said yes to a plan, for the run to go on by it if it is cut
// off.
func (k *kept) approve(p *prepared) error {
	if k == nil {
		return nil
	}
	if err := k.store.Approve(p.program, time.Time{}); err != nil {
		return err
	}
	return k.store.UseApproval(p.program, k.id())
}

// allowedBy runs a plan on an approval, which is then used up.
func (env *environment) allowedBy(p *prepared, k *kept, name string) (*exec.Result, error) {
	a, stop, err := env.checkApproval(p)
	if stop != nil || err != nil {
		return stop, err
	}
	if p.opts.ID == "" {
		p.opts.ID = exec.NewID()
	}
	err = k.useOnce(a, p.opts.ID)
	if err == nil {
		err = env.use(name, a, p.opts.ID)
	}
	var refusal *approval.Refusal
	if errors.As(err, &refusal) {
		return env.refused(p, refusal), nil
	}
	if err == nil {
		err = k.approve(p)
	}
	return nil, err
}

// useOnce uses an approval up that is a file: the store knows it by its id, so that a copy of the
// file is refused as well.
func (k *kept) useOnce(a *approval.File, run string) error {
	if k == nil {
		return nil
	}
	key := "file " + a.ID
	err := k.store.UseApproval(key, run)
	var refused *journal.ApprovalError
	if errors.As(err, &refused) && refused.Used == "" { // it was approved without this store
		if err = k.store.Approve(key, time.Time{}); err == nil {
			err = k.store.UseApproval(key, run)
		}
	}
	if errors.As(err, &refused) {
		err = &approval.Refusal{Message: fmt.Sprintf("the approval was used already; each is for one run, and this one was for %s", refused.Used)}
	}
	return err
}

// askPlan puts a lazy plan to a person. Where nobody can be asked, it waits.
func (env *environment) askPlan(ctx context.Context, p *prepared, k *kept, d *forecast.DryRun) *exec.Result {
	if !env.canAsk() {
		if p.flags.store == noStore {
			return notRun(p.loaded, exec.Rejected, "the plan is lazy, there is nobody to ask, and without a record it can't wait; --yes approves")
		}
		if k == nil {
			env.hintf("plc plan %s -o FILE, with the same flags, writes a request; plc approve FILE approves it; --approval FILE then runs it", p.name)
		}
		return notRun(p.loaded, exec.Paused, waitsForApproval)
	}
	fmt.Fprint(env.stderr, blueprint(p.name, d, p.forecast, maxListed))
	yes, why := env.ask(ctx, nil, "run this plan? (e to edit it)")
	switch {
	case yes:
		return nil
	case why == "e", why == "edit":
		env.hintf("change %s and run it again: what is asked then is what it says then; plc diff OLD NEW tells what has changed", p.name)
		why = ": it is to be edited"
	case why != "":
		why = ": " + why
	}
	return notRun(p.loaded, exec.Rejected, "the plan was not approved"+why)
}

// waitsForApproval is why a lazy plan has not run.
const waitsForApproval = "the plan is lazy, and nobody has approved it; --yes approves"

// execute runs a program that may run.
func (env *environment) execute(ctx context.Context, p *prepared, k *kept) error {
	l, f, opts := p.loaded, p.flags, p.opts
	log, err := openEvents(f.events)
	if err != nil {
		k.fail(err)
		return err
	}
	var show *progress
	if !p.asJSON {
		show = newProgress(env.stderr, l.prog)
		env.shown.Store(show)
	}
	opts.Approver = env.answerer(f, show, k)
	spans := env.tracer(workflowName(p.name))
	defer env.endTrace(spans)
	p.traced(spans)
	opts.OnEvent = func(e *exec.Event) {
		spans.Event(e)
		log.write(e)
		show.event(e)
		k.event(e)
	}
	opts.ReuseEvents = true
	b, err := env.newBatch(l.prog, f, show, p.asJSON)
	if err != nil {
		k.fail(err)
		return err
	}
	b.into(ctx, opts)
	k.into(opts)
	res, err := env.runToEnd(ctx, p, show, k)
	lost, lostResults := log.close(), b.close()
	if err != nil {
		k.fail(err)
		return err
	}
	res.Findings = append(l.findings, res.Findings...)
	if b != nil {
		err = env.showBatch(b, res, p.asJSON)
	} else {
		err = env.showResult(l, res, p.asJSON)
	}
	env.hintNext(p, k, res, b)
	if err == nil && f.expect != "" {
		err = env.meets(f.expect, l, res)
	}
	err = env.complainLost("events", f.events, lost, err)
	return env.complainLost("results", f.results, lostResults, err)
}

// runToEnd runs a program, shows how it goes, and takes answers from elsewhere.
func (env *environment) runToEnd(ctx context.Context, p *prepared, show *progress, k *kept) (*exec.Result, error) {
	env.graceful.Store(true)
	show.start(p.opts.Approver == nil)
	defer show.stop()
	defer context.AfterFunc(ctx, show.cancelled)()
	h, err := exec.Start(ctx, p.prog, p.opts)
	if err != nil {
		return nil, err
	}
	defer k.listen(ctx, h, func(err error) { show.note(trimJournal(err)) })()
	return h.Wait(), nil
}

// answerer is who answers the questions of a run; nil is nobody.
func (env *environment) answerer(f *runFlags, show *progress, k *kept) func(context.Context, *exec.Question) (exec.Answer, error) {
	switch {
	case f.yes:
		return approveAll
	case env.canAsk():
		return env.approver(show, k)
	case f.approveTimeout > 0: // somebody elsewhere may answer until then
		return func(ctx context.Context, _ *exec.Question) (exec.Answer, error) {
			<-ctx.Done()
			return exec.Answer{}, ctx.Err()
		}
	}
	return nil
}

// hintNext says how a run goes on that did not complete.
func (env *environment) hintNext(p *prepared, k *kept, res *exec.Result, b *batch) {
	if k == nil || p.asJSON {
		return
	}
	var fault *journal.Error
	switch {
	case errors.As(res.Err, &fault):
	case res.Status == exec.Paused && res.Replan:
		env.hintf("plc resume %s --plan NEW goes on with another plan; what is done stays done", k.id())
	case res.Status == exec.Paused:
		env.hintf("plc approve %s, or plc reject, answers; then plc resume %[1]s goes on", k.id())
	case res.Status == exec.Failed && anyUnsure(res, b):
		env.hintf("plc resume %s --on-uncertain retry makes calls again that may have done their work, skip goes on without them; without it they stay failed", k.id())
	case res.Status == exec.Failed:
		env.hintf("plc resume %s tries again what failed, with the tool files as they were; what is done stays done", k.id())
	case res.Status == exec.Cancelled:
		env.hintf("plc resume %s goes on; what is done stays done", k.id())
	}
}

// anyUnsure reports whether a call of a run has failed that may have done its work.
func anyUnsure(res *exec.Result, b *batch) bool {
	return b != nil && b.unsure || isUnsure(res.Calls) || slices.ContainsFunc(res.Instances, func(r exec.InstanceResult) bool { return isUnsure(r.Calls) })
}

// isUnsure reports whether one of the calls, or of those inside of them, has failed unhandled
// since its answer was lost.
func isUnsure(calls []exec.CallResult) bool {
	return slices.ContainsFunc(calls, func(c exec.CallResult) bool {
		if c.Status != exec.Failed || c.Handled || c.Error == nil {
			return false
		}
		return c.Error.Code == "uncertain" || slices.ContainsFunc(c.Runs, func(r exec.SubRun) bool { return isUnsure(r.Calls) })
	})
}

// complainLost says that a file is not complete; the exit code is err's if there is one.
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

// eventLog writes events as JSON lines. The nil eventLog writes nothing.
type eventLog struct {
	file *os.File
	buf  *bufio.Writer
	enc  *json.Encoder
	err  error
}

func openEvents(name string) (*eventLog, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("can't write the events: %w", err)
	}
	l := &eventLog{file: f, buf: bufio.NewWriter(f)}
	l.enc = json.NewEncoder(l.buf)
	l.enc.SetEscapeHTML(false)
	return l, nil
}

func (l *eventLog) write(e any) {
	if l == nil || l.err != nil {
		return
	}
	if l.err = l.enc.Encode(e); l.err == nil {
		l.err = l.buf.Flush() // whoever follows the file sees it at once
	}
}

// close reports whether an event was lost.
func (l *eventLog) close() error {
	if l == nil {
		return nil
	}
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	return l.err
}
