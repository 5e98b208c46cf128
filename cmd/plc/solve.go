package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/sqlite"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/loop/flux"
	"github.com/plc-lang/plc/tool/model"
)

// solveFlags are the flags of plc solve.
type solveFlags struct {
	runFlags
	task    plc.Task
	text    struct{ options, context, schema string } // of --style-options, --context and --schema
	repairs int                                       // of --max-repairs
	resume  string
	list    bool // only list the functions of the style
}

func solveCommand(env *environment) *cobra.Command {
	var f solveFlags
	c := &cobra.Command{
		Use:   "solve [GOAL]",
		Short: "Have a model plan, and run its plans, until there is an output",
		Long: `Have a model write a plan for a goal, check it, run it, show the model what came of it, and so
on, until it gives an output. Faults of a plan go back to the model; calls that only read are
started while it still writes, those that change the world when the whole plan is sound; calls of
destructive tools are put to a person, as by plc run.

The model is one that a tool file declares under "models", by its name there. The output goes to
standard output as JSON, or all that came of the task with --format json; the growing plan and the
progress of its calls go to standard error.

With --lazy each plan is whole before anything of it runs, and is shown and asked for. --record
keeps the answers of the model in a file, and --replay takes them from it and asks no model.
Each turn's run is in the record of runs (plc runs, plc show); when one waits for an answer (exit
4), plc approve gives it and plc solve --resume ID goes on. A loop that was cut off goes on in
the same way: what its calls gave is known, and they are not made again.

Other systems' loops are there by --style: flux, tea, agentframework and planning; plan is plc's
own. --list-functions prints the functions that a style gives to its model, as JSON.

With --lazy and nobody to ask, a plan waits in a file, which plc approve FILE approves.

Exit 0 with an output, 3 without one, 4 when somebody has to answer, 5 when a plan was rejected,
130 when it was cancelled.`,
		Example: `  plc solve "Which of our open issues is the oldest?" --tools tools.yaml
  plc solve "Refund the last order" --tools tools.yaml --input customer=cust_123 --lazy
  plc solve --context request.json --tools tools.yaml --record answers.jsonl
  plc solve --resume last`,
		Args:              wants(0, 1, "one goal"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, args []string) error {
			return env.solve(c, args, &f)
		},
	}
	f.addGiven(c)
	f.addTask(c)
	return c
}

// addTask adds the flags about the loop.
func (f *solveFlags) addTask(c *cobra.Command) {
	fl := c.Flags()
	fl.Float64Var(&f.spec.Limits.Tokens, "max-tokens", 0, "most tokens that the model and the calls may use; 0 is no bound")
	fl.Float64Var(&f.spec.Limits.Cost, "max-cost", 0, "most that they may cost; 0 is no bound")
	fl.StringVar(&f.task.Model, "model", "", "the model that plans, by its name in the tool files; the default is the one that is called default")
	addWord(c, &f.task.Style, "style", "plan", "whose loop: plan (plc's own), flux, tea, agentframework or planning", plc.Styles()...)
	fl.StringVar(&f.text.options, "style-options", "", "options of the style flux, tea, agentframework or planning, a JSON file with the names that the style has for them")
	fl.StringVar(&f.text.context, "context", "", "messages of a context, or a request {schema, context}, in a file; it may bring the goal along")
	fl.StringVar(&f.text.schema, "schema", "", "JSON Schema of the output, a file")
	fl.IntVar(&f.task.MaxTurns, "max-turns", 0, fmt.Sprintf("most plans that are run (default %d)", loop.DefaultMaxTurns))
	fl.IntVar(&f.repairs, "max-repairs", loop.DefaultMaxRepairs, "how often in a row a faulty plan goes back to the model")
	fl.BoolVar(&f.task.ApplyFixes, "apply-fixes", false, "mend a faulty plan by the fixes of its findings, when that makes it sound and calls no other tool")
	fl.BoolVar(&f.task.Whole, "whole", false, "start nothing before a plan is whole")
	addWord(c, &f.task.Reflect, "reflect", "never", "when the model looks at what has come of its plan and decides whether it goes on: never (each answer is a plan), end or batch", "never", "end", "batch")
	fl.BoolVar(&f.task.Ledgers, "ledgers", false, "keep a task ledger and a progress ledger, and have another plan made when the work stalls")
	fl.IntVar(&f.spec.Revisions.Max, "max-revisions", 0, "how often a plan may be replaced because of a failure; 0 is no bound")
	fl.BoolVar(&f.spec.Lazy, "lazy", false, "have a whole plan first, show it, and ask before it runs")
	fl.BoolVar(&f.yes, "yes", false, "approve what would be asked")
	fl.BoolVar(&f.spec.NoCache, "no-cache", false, "remember no results, whatever the tool file says")
	addWord(c, &f.task.OnFailure, "on-failure", "replan_remaining", "a failure that the plan does not handle: replan_remaining, insert_recovery, skip_and_continue, abort or ask_user", strategyNames()...)
	f.addCalls(c, "; counts with --resume as well")
	addDuration(c, &f.spec.Limits.Time, "max-time", "longest that all of it may take, as in 5m; 0 is no bound")
	fl.StringVar(&f.spec.ModelTapes.Record, "record", "", "record the answers of models in this file; what it has already is not asked again")
	fl.StringVar(&f.spec.ModelTapes.Replay, "replay", "", "take the answers of models from this file, and ask none")
	fl.StringVar(&f.resume, "resume", "", "go on with a loop, by its id or last, as it was given")
	fl.BoolVar(&f.list, "list-functions", false, "print the functions that the style gives to its model, and no more")
	addFormat(c, &f.asJSON, "text or json (one document)")
	fl.StringVar(&f.events, "events", "", "write each event as a JSON line to this file")
	addStore(c, &f.store, "where the record of the runs is kept: a path, or none")
	completeFiles(c, "json", "context", "schema", "style-options")
	completeFiles(c, "jsonl", "record", "replay", "events")
}

// strategyNames returns the values of --on-failure.
func strategyNames() (names []string) {
	for _, st := range loop.Strategies() {
		names = append(names, st.String())
	}
	return names
}

// complete sets the task that the flags describe. It leaves the defaults of flags that were not
// given to the task.
func (f *solveFlags) complete(c *cobra.Command, goal string) error {
	if err := f.finish(c); err != nil {
		return err
	}
	t := &f.task
	for flag, value := range map[string]*string{"style": &t.Style, "on-failure": &t.OnFailure, "reflect": &t.Reflect, "refs": (*string)(&f.spec.Refs)} {
		if !c.Flags().Changed(flag) {
			*value = ""
		}
	}
	switch {
	case f.repairs == 0:
		t.MaxRepairs = -1
	case c.Flags().Changed("max-repairs"):
		t.MaxRepairs = f.repairs
	}
	t.Goal, t.Spec = goal, f.spec
	var err error
	if t.StyleOptions, err = valueSource(f.text.options); err != nil {
		return err
	}
	if t.Schema, err = valueSource(f.text.schema); err != nil {
		return err
	}
	if t.Context = plc.File(f.text.context); t.Context.Name != "" && t.Context.Name != "-" && isRun(t.Context.Name) {
		t.Context = plc.Source{Name: "--context", Text: f.text.context}
	}
	return nil
}

// valueSource returns the source of a value in an argument, which is the name of a file, or JSON.
func valueSource(arg string) (plc.Source, error) {
	if arg == "" || arg == "-" || !isRun(arg) {
		return plc.File(arg), nil
	}
	g, err := inline(arg)
	return plc.Source{Name: "<argument>", Text: string(g.JSON)}, err
}

// solve runs plc solve.
func (env *environment) solve(c *cobra.Command, args []string, f *solveFlags) error {
	if f.resume != "" {
		return env.resumeSolve(c, args, f)
	}
	if err := f.complete(c, strings.Join(args, " ")); err != nil {
		return err
	}
	var store journal.Store
	e, err := env.solver(f, func() (_ journal.Store, err error) {
		store, err = openStore(f.store)
		return store, err
	})
	if err != nil {
		return err
	}
	l, err := e.PrepareLoop(c.Context(), f.task)
	if err != nil {
		return asFlag(c.Context(), err)
	}
	if f.list {
		return env.writeJSON(append([]model.Function{}, l.Functions()...))
	}
	err, lost := env.runLoop(c.Context(), l, f)
	if store != nil {
		lost = errors.Join(lost, store.Close())
	}
	return env.reportLostRecord(lost, err)
}

// resumeSolve continues a loop.
func (env *environment) resumeSolve(c *cobra.Command, args []string, f *solveFlags) error {
	if len(args) > 0 {
		return errors.New("--resume goes on with a goal that was given: leave the GOAL out")
	}
	if err := onlyResumed(c.Flags()); err != nil {
		return err
	}
	store, err := writeStore(f.store)
	if err != nil {
		return err
	}
	e, err := env.solver(f, func() (journal.Store, error) { return store, nil })
	if err != nil {
		return errors.Join(err, store.Close())
	}
	l, err := e.ContinueLoop(c.Context(), f.resume, func(folder string, t *plc.Task) error {
		if f.spec.ModelTapes.Replay != "" {
			t.Spec.ModelTapes = f.spec.ModelTapes
		}
		if c.Flags().Changed("on-uncertain") {
			t.Spec.OnUncertain = f.spec.OnUncertain
		}
		if err := absolute(&f.events); err != nil {
			return err
		}
		if here, err := os.Getwd(); err != nil {
			return err
		} else if f.resume == "last" && f.yes && folder != here {
			return fmt.Errorf("the newest loop was begun in %s, which is not this folder; --yes would approve all that it asks, so write its id instead of last", display.Name(folder))
		}
		if err := os.Chdir(folder); err != nil {
			env.complain(fmt.Errorf("the loop goes on here, not where it was begun: %w", err))
		}
		return nil
	})
	if err != nil {
		return errors.Join(asFlag(c.Context(), err), store.Close())
	}
	err, lost := env.runLoop(c.Context(), l, f)
	return env.reportLostRecord(errors.Join(lost, store.Close()), err)
}

// onlyResumed returns an error for flags that have no effect when a loop is continued.
func onlyResumed(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(fl *pflag.Flag) {
		switch fl.Name {
		case "resume", "yes", "on-uncertain", "format", "events", "store", "replay":
		default:
			err = errors.Join(err, fmt.Errorf("--%s: a loop goes on as it was given; beside --resume there may be --yes, --on-uncertain, --format, --events, --store and --replay", fl.Name))
		}
	})
	return err
}

// solver returns an engine for a loop.
func (env *environment) solver(f *solveFlags, open func() (journal.Store, error)) (*plc.Engine, error) {
	if err := env.memoryBeside(f.store); err != nil {
		return nil, err
	}
	config := env.config(open)
	config.OpenMemory = func(name string) (flux.Memory, error) {
		switch filepath.Ext(name) {
		case ".db", ".sqlite":
			return sqlite.OpenMemory(name)
		}
		return flux.OpenFile(name)
	}
	path, err := localPath(f.store)
	if path != "" {
		if f.resume != "" { // the folder will change
			path, err = filepath.Abs(path)
		}
		config.PlanFolder = filepath.Join(filepath.Dir(path), "solve")
	}
	return env.newEngine(config), err
}

// runLoop runs a loop, shows its progress and its result, and closes it. The second error says that
// its record is incomplete.
func (env *environment) runLoop(ctx context.Context, l *plc.Loop, f *solveFlags) (err, lost error) {
	err = l.Begin(ctx)
	env.showFindings(l.Findings)
	switch {
	case l.Findings.HasErrors():
		return exit(exitErrors), l.Close()
	case errors.Is(err, plc.ErrNoTask):
		err = errors.New("there is nothing to solve: give a GOAL, or --context FILE")
	}
	if err != nil {
		return errors.Join(asFlag(ctx, err), l.Close()), nil
	}
	show, err := env.newSolveProgress(l, f)
	if err != nil {
		return errors.Join(err, l.Close()), nil
	}
	if l.Recorded() && show.show != nil {
		showf(env.stderr, "solve %s\n", l.ID())
	}
	spans := env.traceLoop(l)
	env.graceful.Store(true)
	result, err := l.Do(ctx)
	lostEvents, lost := show.stop(), l.Close()
	switch {
	case result == nil && err != nil:
		err = errors.New(strings.TrimPrefix(err.Error(), "loop: "))
	case result != nil:
		err = env.showSolved(result, f, l, err != nil) // the reason of the result is err
	}
	spans.end(env, result)
	return env.complainLost("events", f.events, lostEvents, err), lost
}

// showSolved shows the result of a task; broken says that something other than the model's plans or
// the tools ended it.
func (env *environment) showSolved(r *loop.Result, f *solveFlags, l *plc.Loop, broken bool) error {
	if f.asJSON {
		if err := env.writeJSON(r); err != nil {
			return err
		}
		return exitOf(r.Status)
	}
	if r.Output != nil {
		showf(env.stdout, "%s\n", display.IndentedJSON(r.Output, ""))
	}
	line := fmt.Sprintf("%s: %s, %s to the model", r.Status, count(r.Turns, "turn"), count(r.Usage.Requests, "request"))
	if n := r.Usage.Input + r.Usage.Output; n > 0 {
		line += fmt.Sprintf(", %d tokens", n)
	}
	if r.Tokens.Used > 0 {
		line += fmt.Sprintf("; about %d tokens of text, where a loop that copies results takes %d", r.Tokens.Used, r.Tokens.Plain)
	}
	if r.Reason != "" {
		line += "; " + r.Reason
	}
	showf(env.stderr, "%s\n", line)
	if l.Recorded() {
		env.hintSolve(r, l.WaitingPlan(), broken)
	}
	return exitOf(r.Status)
}

// hintSolve prints hints on how to continue a loop that has no output.
func (env *environment) hintSolve(r *loop.Result, waiting string, broken bool) {
	switch {
	case r.Status == exec.Paused && waiting != "":
		env.hintf("plc approve %s, or plc reject, answers; then plc solve --resume %s goes on", env.argsFor(waiting), env.argsFor(r.ID))
	case r.Status == exec.Paused && len(r.Runs) > 0:
		env.hintf("plc approve %s, or plc reject, answers; then plc solve --resume %s goes on", env.argsFor(r.Runs[len(r.Runs)-1]), env.argsFor(r.ID))
	case r.Status == exec.Failed && broken:
		env.hintf("plc solve --resume %s goes on when that is mended; what is done stays done", env.argsFor(r.ID))
	case r.Status == exec.Cancelled:
		env.hintf("plc solve --resume %s goes on; what is done stays done, and --on-uncertain says what happens to a call that was cut off and may have done its work", env.argsFor(r.ID))
	}
}
