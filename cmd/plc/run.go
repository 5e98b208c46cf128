package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/adaptive"
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
}

func runCommand(env *environment) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run FILE",
		Short: "Check a plan, then run it",
		Long: `Check a plan, then run it, as parallel as its data allows. A plan with an error never
runs, not even in part. The whiteboard and what became of each call go to standard
output, progress to standard error.

Exit 0 when the run completed, 1 when the plan has errors, 3 when the run failed, 4 when
it waits for an approval, 130 when it was cancelled (Ctrl-C; a second one ends at once).`,
		Example: `  plc run plan.json --tools tools.yaml
  plc run plan.json --tools tools.yaml --input user=Alice --format json
  plc run plan.json --tools tools.yaml --on-failure skip --events events.jsonl`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			return env.runPlan(c.Context(), args[0], &f, c.Flags().Changed("approve"))
		},
	}
	f.planFlags.add(c)
	fl := c.Flags()
	fl.StringVar(&f.format, "format", "text", "text or json (one document)")
	fl.BoolVar(&f.lazy, "lazy", false, "show the plan and ask before anything runs")
	fl.BoolVar(&f.yes, "yes", false, "approve what would be asked")
	fl.StringVar(&f.schedule, "schedule", "parallel", "parallel, sequential or adaptive")
	fl.IntVar(&f.maxParallel, "max-parallel", 0, "most calls at once (default 64)")
	fl.StringVar(&f.onFailure, "on-failure", "abort", "a failure that the plan does not handle: abort, skip, continue, ask or replan")
	fl.StringVar(&f.onUncertain, "on-uncertain", "ask", "a call whose answer was lost and that may have done its work: ask, retry, fail or skip")
	fl.StringVar(&f.approve, "approve", "destructive", "calls to put to a person: all, destructive or none")
	fl.DurationVar(&f.maxTime, "max-time", 0, "longest that the run may take; 0 is no bound")
	fl.DurationVar(&f.timeout, "timeout", 0, "of an attempt of a call that says nothing (default 60s)")
	fl.StringVar(&f.events, "events", "", "write each event as a JSON line to this file")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of what is random (jitter, samples)")
	fl.StringVar(&f.store, "store", "", "where the record of the run is kept: a path, or none (not kept yet)")
	complete(c, "format", "text", "json")
	complete(c, "schedule", "parallel", "sequential", "adaptive")
	complete(c, "on-failure", "abort", "skip", "continue", "ask", "replan")
	complete(c, "on-uncertain", "ask", "retry", "fail", "skip")
	complete(c, "approve", "all", "destructive", "none")
	return c
}

// options are the executor's options that the flags say.
func (f *runFlags) options() (*exec.Options, error) {
	o := &exec.Options{MaxParallel: f.maxParallel, MaxSteps: f.maxSteps, MaxTime: f.maxTime, Timeout: f.timeout, Seed: f.seed}
	var err error
	if o.Schedule, err = choice("schedule", f.schedule, map[string]exec.Schedule{
		"parallel": exec.Parallel, "sequential": exec.Sequential, "adaptive": exec.Adaptive,
	}); err != nil {
		return nil, err
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
	if o.Approve, err = choice("approve", f.approve, map[string]exec.Approve{
		"all": exec.ApproveAll, "destructive": exec.ApproveDestructive, "none": exec.ApproveNone,
	}); err != nil {
		return nil, err
	}
	if f.yes {
		o.Approver = func(context.Context, *exec.Question) (exec.Answer, error) {
			return exec.Answer{Approved: true}, nil
		}
	}
	return o, nil
}

// runPlan is plc run.
func (env *environment) runPlan(ctx context.Context, name string, f *runFlags, approveGiven bool) error {
	if _, err := choice("format", f.format, map[string]bool{"text": true, "json": true}); err != nil {
		return err
	}
	opts, err := f.options()
	if err != nil {
		return err
	}
	l, err := env.load(name, &f.planFlags, true)
	if err != nil {
		return err
	}
	if l.findings.HasErrors() || f.strict && l.findings.Count(diag.Warning) > 0 {
		return env.invalid(l, f)
	}
	if l.policy.Approve != "" && !approveGiven {
		f.approve = l.policy.Approve
		if opts, err = f.options(); err != nil {
			return err
		}
	}
	if f.format == "text" {
		if err := diag.WriteText(env.stderr, withoutInfo(l.findings), &diag.TextOptions{Color: colored(env.stderr), Max: maxShown}); err != nil {
			return err
		}
	}
	if l.prog.Mode == lang.Lazy && !f.yes {
		return env.pausedPlan(l, f)
	}
	return env.execute(ctx, l, f, opts)
}

// execute runs a program that may run.
func (env *environment) execute(ctx context.Context, l *loaded, f *runFlags, opts *exec.Options) error {
	if opts.Schedule == exec.Adaptive {
		opts.Limiter = adaptive.New(opts.MaxParallel)
	}
	log, err := openEvents(f.events)
	if err != nil {
		return err
	}
	var show *progress
	if f.format == "text" {
		show = newProgress(env.stderr, l.prog)
	}
	opts.OnEvent = func(e *exec.Event) {
		log.write(e)
		show.event(e)
	}
	show.start()
	res, err := exec.Run(ctx, l.prog, opts)
	show.stop()
	if cerr := log.close(); cerr != nil {
		fmt.Fprintf(env.stderr, "plc: the events are not complete: %s\n", cerr)
	}
	if err != nil {
		return err
	}
	res.Findings = append(l.findings, res.Findings...)
	if err := env.showResult(res, f.format); err != nil {
		return err
	}
	return exitOf(res.Status)
}

// exitOf is the exit code of a run.
func exitOf(s exec.Status) error {
	switch s {
	case exec.Completed:
		return nil
	case exec.Paused:
		return exit(exitPaused)
	case exec.Rejected:
		return exit(exitRejected)
	case exec.Cancelled:
		return exit(exitCancelled)
	default:
		return exit(exitFailed)
	}
}

// invalid shows a plan that must not run.
func (env *environment) invalid(l *loaded, f *runFlags) error {
	if f.format == "json" {
		res := notRun(l, "invalid")
		if err := env.writeJSON(res); err != nil {
			return err
		}
		return exit(exitErrors)
	}
	if err := diag.WriteText(env.stderr, l.findings, &diag.TextOptions{Color: colored(env.stderr), Max: maxShown}); err != nil {
		return err
	}
	summary(env.stderr, l.findings, 1)
	return exit(exitErrors)
}

// pausedPlan shows a lazy plan that nobody approved: nothing of it runs.
func (env *environment) pausedPlan(l *loaded, f *runFlags) error {
	res := notRun(l, exec.Paused)
	res.Reason = "the plan is lazy, and nobody has approved it; --yes approves"
	for i := range l.prog.Calls {
		c := &l.prog.Calls[i]
		res.Calls = append(res.Calls, exec.CallResult{ID: c.ID, Tool: c.Source.Tool, Status: exec.Pending})
	}
	if err := env.showResult(res, f.format); err != nil {
		return err
	}
	return exit(exitPaused)
}

// notRun is the result of a plan of which nothing ran.
func notRun(l *loaded, status exec.Status) *exec.Result {
	return &exec.Result{
		Status: status, Findings: l.findings, Calls: []exec.CallResult{},
		State: l.prog.Initial["state"], Data: l.prog.Initial["data"],
	}
}

func withoutInfo(l diag.List) diag.List {
	var out diag.List
	for _, f := range l {
		if f.Severity != diag.Info {
			out = append(out, f)
		}
	}
	return out
}

// showResult shows what became of a run.
func (env *environment) showResult(res *exec.Result, format string) error {
	if format == "json" {
		return env.writeJSON(res)
	}
	fromRun := diag.List{}
	for _, f := range res.Findings {
		if f.Severity == diag.Error {
			fromRun = append(fromRun, f)
		}
	}
	if err := diag.WriteText(env.stderr, fromRun, &diag.TextOptions{Color: colored(env.stderr), Max: maxShown}); err != nil {
		return err
	}
	fmt.Fprintf(env.stderr, "%s%s\n", res.Status, reason(res))
	shown := res.Output
	if shown == nil {
		shown = res.State
	}
	return env.writeJSON(shown)
}

func reason(res *exec.Result) string {
	var n [2]int
	for i := range res.Calls {
		switch res.Calls[i].Status {
		case exec.Completed:
			n[0]++
		case exec.Skipped:
			n[1]++
		}
	}
	s := fmt.Sprintf(": %d of %s completed", n[0], count(len(res.Calls), "call"))
	if n[1] > 0 {
		s += fmt.Sprintf(", %d skipped", n[1])
	}
	if res.Reason != "" {
		s += "; " + res.Reason
	}
	return s
}

// eventLog writes events as JSON lines. The nil eventLog writes nothing.
type eventLog struct {
	file *os.File
	buf  *bufio.Writer
	err  error
}

func openEvents(name string) (*eventLog, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, readError(err)
	}
	return &eventLog{file: f, buf: bufio.NewWriter(f)}, nil
}

func (l *eventLog) write(e *exec.Event) {
	if l == nil || l.err != nil {
		return
	}
	enc := json.NewEncoder(l.buf)
	enc.SetEscapeHTML(false)
	if l.err = enc.Encode(e); l.err == nil {
		l.err = l.buf.Flush() // whoever follows the file sees it at once
	}
}

func (l *eventLog) close() error {
	if l == nil {
		return nil
	}
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	return l.err
}
