package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/state"
)

// resumeFlags are the flags of the commands that continue a recorded run: the flags of plc run that
// may change.
type resumeFlags struct {
	runFlags
	plan string
}

// resumable has the settings that may change when a run is resumed, by their flags.
var resumable = map[string]func(to, from *plc.Spec){
	"schedule":        func(to, from *plc.Spec) { to.Schedule = from.Schedule },
	"max-parallel":    func(to, from *plc.Spec) { to.Limits.Parallel = from.Limits.Parallel },
	"max-steps":       func(to, from *plc.Spec) { to.Limits.Steps = from.Limits.Steps },
	"max-tokens":      func(to, from *plc.Spec) { to.Limits.Tokens = from.Limits.Tokens },
	"max-cost":        func(to, from *plc.Spec) { to.Limits.Cost = from.Limits.Cost },
	"max-time":        func(to, from *plc.Spec) { to.Limits.Time = from.Limits.Time },
	"max-state":       func(to, from *plc.Spec) { to.Limits.State = from.Limits.State },
	"timeout":         func(to, from *plc.Spec) { to.Limits.Timeout = from.Limits.Timeout },
	"on-failure":      func(to, from *plc.Spec) { to.OnFailure = from.OnFailure },
	"on-uncertain":    func(to, from *plc.Spec) { to.OnUncertain = from.OnUncertain },
	"approve":         func(to, from *plc.Spec) { to.Approvals.Calls = from.Approvals.Calls },
	"approve-timeout": func(to, from *plc.Spec) { to.Approvals.Timeout = from.Approvals.Timeout },
	"on-timeout":      func(to, from *plc.Spec) { to.Approvals.OnTimeout = from.Approvals.OnTimeout },
	"max-revisions":   func(to, from *plc.Spec) { to.Revisions.Max = from.Revisions.Max },
	"revise-at":       func(to, from *plc.Spec) { to.Revisions.At = from.Revisions.At },
	"fail-fast":       func(to, from *plc.Spec) { to.FailFast = from.FailFast },
	"instances":       func(to, from *plc.Spec) { to.Instances = from.Instances },
	"model-record":    func(to, from *plc.Spec) { to.ModelTapes = from.ModelTapes },
	"model-replay":    func(to, from *plc.Spec) { to.ModelTapes = from.ModelTapes },
	"no-cache":        func(to, from *plc.Spec) { to.NoCache = from.NoCache },
}

// addTo adds the flags that all these commands have.
func (f *resumeFlags) addTo(c *cobra.Command) {
	all := &cobra.Command{}
	f.addAll(all)
	for name := range resumable {
		c.Flags().AddFlag(all.Flags().Lookup(name))
	}
	for _, name := range []string{"format", "events", "store", "expect", "expect-within", "results"} {
		c.Flags().AddFlag(all.Flags().Lookup(name))
	}
	c.Flags().Lookup("store").Usage = "the store that has the run; the default is $PLC_STORE, else a file in the user's state directory"
	c.Flags().BoolVar(&f.yes, "yes", false, "approve what would be asked")
}

// edit returns a function that changes the settings of a run to those of the given flags.
func (f *resumeFlags) edit(c *cobra.Command) func(*plc.Spec) {
	return func(s *plc.Spec) {
		for name, set := range resumable {
			if c.Flags().Changed(name) {
				set(s, &f.spec)
			}
		}
	}
}

func resumeCommand(env *environment) *cobra.Command {
	var f resumeFlags
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that was cut off, paused or failed",
		Long: `Go on with a run where its record ends. RUN is its id, the beginning of it, or last for
the newest that can go on, which is named on standard error. What it was given comes from the
record and not from the files, which may have changed or be gone; secrets are looked up again,
and tools run in the folder in which the run was begun.

Calls that are completed are not made again. Of a run that has completed the result is shown, as
by plc show, and nothing is recorded. A call that had started and has no answer may have done
its work: if its tool may not be called twice, a person is asked, or --on-uncertain says what
happens to it; where nobody can be asked, it fails. In a run that had failed, what failed is
tried again. Flags that are given here hold from now on, for this process. With last, --yes is
refused unless that run is the newest of all and was begun in this folder, since it may ask about
what nobody had in mind; name it by its id instead. The same holds for plc approve, fork and undo.

With --plan the run goes on with another plan: what differs in meaning is shown; calls that did
the same keep what they gave, the others are checked, and made.`,
		Example: `  plc resume last
  plc resume 01KABC --on-uncertain retry
  plc resume last --plan better.json --yes`,
		Args:              wants(1, 1, "one run"),
		ValidArgsFunction: env.completeRuns(&f.store, nil),
		RunE:              func(c *cobra.Command, args []string) error { return env.resume(c, args[0], &f) },
	}
	f.addTo(c)
	c.Flags().StringVar(&f.plan, "plan", "", "go on with this plan")
	completeFiles(c, "json,jsonc", "plan")
	return c
}

// resume runs plc resume.
func (env *environment) resume(c *cobra.Command, name string, f *resumeFlags) error {
	change := plc.Change{Edit: f.edit(c), OnRevision: func(d *report.Diff) {
		if !f.asJSON {
			_ = showDiff(env.stderr, d) // errors of the terminal can't be reported
		}
	}}
	find := func(ctx context.Context, s journal.Store, name string) (*journal.Summary, error) {
		run, err := plc.New(plc.Config{Store: s}).FindResumable(ctx, name, f.plan != "")
		return run, env.noSuchRun(err)
	}
	return env.withStore(c, name, f, find, func(e *plc.Engine, sum *journal.Summary) (*plc.Run, error) {
		if f.plan != "" {
			text, err := env.readText(f.plan)
			if err != nil {
				return nil, err
			}
			change.Plan = plc.Source{Name: f.plan, Text: string(text)}
		}
		if !f.asJSON && sum.Status != exec.Rejected && (sum.Status != exec.Completed || f.plan != "") {
			showf(env.stderr, "resuming %s of %s\n", sum.Run, planOf(c.Context(), e, sum))
			f.named = true
		}
		if sum.Status != exec.Rejected {
			if err := env.enterRun(c.Context(), e, sum.Run); err != nil {
				return nil, err
			}
		}
		return e.Continue(c.Context(), sum.Run, change)
	})
}

// yesApproves is the danger of --yes, for checkLast.
const yesApproves = "--yes would approve all that it asks"

// checkLast returns an error if sum, the run that last stands for, is not the newest of all or was
// begun in another folder: the user may have meant another run, and nobody is asked. The error
// names the danger.
func (env *environment) checkLast(ctx context.Context, e *plc.Engine, sum *journal.Summary, danger string) error {
	newest, err := e.Runs(ctx, journal.Filter{Limit: 1})
	if err != nil {
		return err
	}
	_, folder, err := e.Begun(ctx, sum.Run)
	if err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	why := "was begun in another folder"
	switch {
	case newest[0].Run != sum.Run:
		why = "is not the newest of all"
	case folder == "" || folder == here:
		return nil
	}
	return fmt.Errorf("last is the run %s of %s, which %s; %s, so write its id instead of last",
		sum.Run, planOf(ctx, e, sum), why, danger)
}

// withStore continues the run that find returns for this name, or a fork of it, which begin holds.
func (env *environment) withStore(c *cobra.Command, name string, f *resumeFlags, find func(context.Context, journal.Store, string) (*journal.Summary, error), begin func(*plc.Engine, *journal.Summary) (*plc.Run, error)) error {
	ctx := c.Context()
	if err := f.finish(c); err != nil {
		return err
	}
	if err := absolute(&f.plan, &f.events, &f.results, &f.spec.Instances.Name); err != nil {
		return err
	}
	store, err := writeStore(f.store)
	if err != nil {
		return err
	}
	if err := env.memoryBeside(f.store); err != nil {
		return errors.Join(err, store.Close())
	}
	sum, err := find(ctx, store, name)
	if err != nil {
		return errors.Join(env.notContinued(ctx, f, err), store.Close())
	}
	e := env.engineOn(store)
	if name == "last" && f.yes {
		if err := env.checkLast(ctx, e, sum, yesApproves); err != nil {
			return errors.Join(err, store.Close())
		}
	}
	r, err := begin(e, sum)
	if err != nil {
		return errors.Join(env.notContinued(ctx, f, err), store.Close())
	}
	f.spec = r.Plan().Spec()
	l := newLoaded(r.Plan())
	l.findings = l.AllFindings()
	p := newPrepared(l, f.spec.Plan.Name, &f.runFlags)
	if err := env.usable(p); err != nil {
		return errors.Join(err, r.Close(), store.Close())
	}
	return env.start(ctx, p, r)
}

// tellCompleted says that a run has already completed.
func (env *environment) tellCompleted(run, plan string, at time.Time) {
	showf(env.stderr, "run %s of %s completed at %s, so nothing was done; this is its result\n", run, display.Name(shownName(plan)), at.Local().Format(timeShown))
}

// timesOf sets the times of the calls of a completed run to those that plc show shows.
func (env *environment) timesOf(ctx context.Context, p *prepared, r *plc.Run, res *exec.Result) error {
	if r.Completed().IsZero() || len(res.Calls)+len(res.Instances) == 0 {
		return nil
	}
	store, err := p.Checker().Store()
	if err != nil {
		return err
	}
	sum, err := store.Summary(ctx, r.ID())
	if err != nil {
		return err
	}
	plc.ReadCalls(store.Events(ctx, r.ID(), 0, false)).Into(res, sum, nil)
	return nil
}

// notContinued returns an error that says why a run can't be continued.
func (env *environment) notContinued(ctx context.Context, f *resumeFlags, err error) error {
	var rejected *plc.RejectedError
	var faulty *plc.PlanError
	switch {
	case errors.As(err, &rejected):
		env.complain(err)
		return exit(exitRejected)
	case errors.As(err, &faulty):
		l := newLoaded(faulty.Plan)
		l.findings = faulty.Findings
		return env.invalid(l, faulty.Plan.Name, f.asJSON, exit(exitErrors))
	}
	return asFlag(ctx, err)
}

// enterRun makes the folder in which a run was begun the current one.
func (env *environment) enterRun(ctx context.Context, e *plc.Engine, run string) error {
	_, folder, err := e.Begun(ctx, run)
	if err == nil {
		env.enter(folder)
	}
	return err
}

// planOf returns the name of a run's plan, and the folder in which it was begun if that is not the
// current one.
func planOf(ctx context.Context, e *plc.Engine, sum *journal.Summary) display.Text {
	name := display.Name(shownName(sum.Plan))
	here, _ := os.Getwd()
	if _, folder, err := e.Begun(ctx, sum.Run); err == nil && folder != "" && folder != here {
		return display.Sprintf("%s in %s", name, display.Name(folder))
	}
	return name
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

func replayCommand(env *environment) *cobra.Command {
	var f walkFlags
	c := &cobra.Command{
		Use:   "replay RUN",
		Short: "Walk the record of a run, with no tool called, and compare its end",
		Long: `Run a recorded run again from its record alone: no tool is called, nobody is asked, no
secret is looked up, and the record stays as it is. The whiteboard must be the same as at the
end of the run, byte for byte; exit 3 when it is not, or when the run has not come to an end.`,
		Example: `  plc replay last
  plc replay 01KABC --format json`,
		Args:              wants(1, 1, "one run"),
		ValidArgsFunction: env.completeRuns(&f.store, nil),
		RunE: func(c *cobra.Command, args []string) error {
			return env.walk(c.Context(), args[0], &f, env.replay)
		},
	}
	f.addTo(c, "text or json (one document)")
	return c
}

// replay runs plc replay.
func (env *environment) replay(_ context.Context, w *walked) error {
	if err := env.showReplayed(w); err != nil {
		return err
	}
	switch w.Recorded {
	case "":
		return env.failed(exitFailed, "the run has not come to an end", errors.New("there is nothing to compare with; plc show tells how far it came"))
	case w.res.Digest:
		env.hintf("the whiteboard is the same as at the end of the run (SHA-256 %s); no tool was called", w.Recorded[:16])
		return nil
	}
	return env.failed(exitFailed, "the whiteboard is not the same", fmt.Errorf("its digest is %s, and was %s", w.res.Digest, w.Recorded))
}

// showReplayed shows the result of a run that was replayed.
func (env *environment) showReplayed(w *walked) error {
	res := w.res
	res.Status, res.Reason = statusOf(w.sum, res)
	switch {
	case w.batch != nil && w.asJSON:
		return w.batch.writeDocument(env.stdout, res)
	case w.batch != nil:
		w.batch.write(env.stderr, res)
		return nil
	case w.asJSON:
		_ = env.showResult(w.loaded, res, true) // its exit code is that of the run
		return nil
	}
	return env.writeJSON(gave(w.loaded, res))
}

func forkCommand(env *environment) *cobra.Command {
	var f resumeFlags
	var at, instance string
	var set []string
	c := &cobra.Command{
		Use:   "fork RUN --at CALL",
		Short: "Run a recorded run again from a call on, as another run",
		Long: `Make another run of what a recorded one was given, and run it: what its calls gave is
taken over, but for CALL and what depends on it, which are made again. --set gives values of the
whiteboard to begin with, for what if: calls that read them are made again as well.

The calls that are made again have their effects again.`,
		Example: `  plc fork last --at charge
  plc fork 01KABC --at choose --set input.amount=20`,
		Args:              wants(1, 1, "one run"),
		ValidArgsFunction: env.completeRuns(&f.store, nil),
		RunE: func(c *cobra.Command, args []string) error {
			if at == "" {
				return errors.New("fork wants --at CALL, the call from which on the run is done again")
			}
			return env.fork(c, args[0], &f, plc.Fork{At: at, Instance: instance}, set)
		},
	}
	f.addTo(c)
	c.Flags().StringVar(&at, "at", "", "the first call to be made again, by its path as in plc show")
	c.Flags().StringVar(&instance, "instance", "", "the instance that the call works on")
	c.Flags().StringArrayVar(&set, "set", nil, "path=value, a value of the whiteboard at the start, as in state.user.name=Ada (repeatable)")
	must(c.RegisterFlagCompletionFunc("at", func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return env.completeCalls(c.Context(), f.store, args[0], knownCalls)
	}))
	return c
}

// fork runs plc fork.
func (env *environment) fork(c *cobra.Command, name string, f *resumeFlags, how plc.Fork, set []string) error {
	var err error
	if how.Set, err = plc.ParseSet(set); err != nil {
		return asFlag(c.Context(), err)
	}
	return env.withStore(c, name, f, env.findRun, func(e *plc.Engine, sum *journal.Summary) (*plc.Run, error) {
		how.Run = sum.Run
		if err := env.enterRun(c.Context(), e, sum.Run); err != nil {
			return nil, err
		}
		r, err := e.Fork(c.Context(), how, plc.Change{Edit: f.edit(c)})
		if err == nil {
			env.warnUnread(r.Plan().Program, how.Set)
		}
		return r, err
	})
}

// warnUnread warns about values that have no effect: neither a call nor the output reads them, and
// the state is not the output.
func (env *environment) warnUnread(prog *compile.Program, values map[string]json.RawMessage) {
	var reads []state.Path
	for r := range prog.Reads() {
		reads = append(reads, r.Path)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		path := plc.SetPath(name)
		kept := path[0].Name == "state" && prog.Output == nil
		if kept || slices.ContainsFunc(reads, func(r state.Path) bool { return sees(r, path) }) {
			continue
		}
		names := func(yield func(string) bool) {
			for _, r := range reads {
				if !yield(strings.TrimPrefix(r.String(), "†")) {
					return
				}
			}
		}
		showf(env.stderr, "warning: --set %s: nothing reads it; %s\n", name, meant(name, names, "the run is the same without"))
	}
}

// sees reports whether a read, in any instance, sees a value that is set at a path.
func sees(read, path state.Path) bool {
	kind, _, _ := strings.Cut(read[0].Name, "\x00")
	return kind == path[0].Name && read[1:].Overlaps(path[1:])
}
