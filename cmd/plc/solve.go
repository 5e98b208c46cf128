package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// solveFlags are the flags of plc solve.
type solveFlags struct {
	runFlags
	model    string
	strategy string // of --on-failure
	style    string
	styleOpt string // the file of its options

	styleText json.RawMessage // what is in that; nil when there is none
	context   string
	schema    string
	maxTurns  int
	repairs   int
	fixes     bool
	whole     bool
	reflect   string
	ledgers   bool
	resume    string
	list      bool           // the functions of the style, and no more
	read      []journal.Text // for the records of the runs

	changed func(flag string) bool // whether a flag was given

	id    string            // of a loop that goes on
	given map[string]string // its flags, as they are recorded
	log   *solveLog         // its record
	args  []string
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

Other systems' loops are there by --style: flux, tea, agentframework and planning; plan is plc's own.
--list-functions prints the functions that a style gives to its model, as JSON.

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
	f.addBudget(c)
	f.addTask(c)
	return c
}

// addTask adds what is of a loop.
func (f *solveFlags) addTask(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.model, "model", "", "the model that plans, by its name in the tool files; the default is the one that is called default")
	fl.StringVar(&f.style, "style", "plan", "whose loop: plan (plc's own), flux, tea, agentframework or planning")
	fl.StringVar(&f.styleOpt, "style-options", "", "options of the style flux, tea, agentframework or planning, a JSON file with the names that the style has for them")
	fl.StringVar(&f.context, "context", "", "messages of a context, or a request {schema, context}, in a file; it may bring the goal along")
	fl.StringVar(&f.schema, "schema", "", "JSON Schema of the output, a file")
	fl.IntVar(&f.maxTurns, "max-turns", 0, fmt.Sprintf("most plans that are run (default %d)", loop.DefaultMaxTurns))
	fl.IntVar(&f.repairs, "max-repairs", loop.DefaultMaxRepairs, "how often in a row a faulty plan goes back to the model")
	fl.BoolVar(&f.fixes, "apply-fixes", false, "mend a faulty plan by the fixes of its findings, when that makes it sound and calls no other tool")
	fl.BoolVar(&f.whole, "whole", false, "start nothing before a plan is whole")
	fl.StringVar(&f.reflect, "reflect", "never", "when the model looks at what has come of its plan and decides whether it goes on: never (each answer is a plan), end or batch")
	fl.BoolVar(&f.ledgers, "ledgers", false, "keep a task ledger and a progress ledger, and have another plan made when the work stalls")
	fl.IntVar(&f.spec.Revisions.Max, "max-revisions", 0, "how often a plan may be replaced because of a failure; 0 is no bound")
	fl.BoolVar(&f.spec.Lazy, "lazy", false, "have a whole plan first, show it, and ask before it runs")
	fl.BoolVar(&f.yes, "yes", false, "approve what would be asked")
	fl.BoolVar(&f.spec.NoCache, "no-cache", false, "remember no results, whatever the tool file says")
	fl.StringVar((*string)(&f.spec.Approvals.Calls), "approve", "", "calls to put to a person: all, destructive or none (default the tool file's policy, else destructive)")
	fl.StringVar(&f.strategy, "on-failure", "replan_remaining", "a failure that the plan does not handle: replan_remaining, insert_recovery, skip_and_continue, abort or ask_user")
	fl.StringVar((*string)(&f.spec.OnUncertain), "on-uncertain", "ask", "a call whose answer was lost and that may have done its work: ask, retry, fail or skip; counts with --resume as well")
	fl.IntVar(&f.spec.Limits.Parallel, "max-parallel", 0, "most calls at once (default 64)")
	addDuration(c, &f.spec.Limits.Time, "max-time", "longest that all of it may take, as in 5m; 0 is no bound")
	addDuration(c, &f.spec.Limits.Timeout, "timeout", "of an attempt of a call that says nothing (default 60s)")
	fl.StringVar(&f.spec.ModelTapes.Record, "record", "", "record the answers of models in this file; what it has already is not asked again")
	fl.StringVar(&f.spec.ModelTapes.Replay, "replay", "", "take the answers of models from this file, and ask none")
	fl.StringVar(&f.resume, "resume", "", "go on with a loop, by its id or last, as it was given")
	fl.BoolVar(&f.list, "list-functions", false, "print the functions that the style gives to its model, and no more")
	addFormat(c, &f.format, "text or json (one document)")
	fl.StringVar(&f.events, "events", "", "write each event as a JSON line to this file")
	addStore(c, &f.store, "where the record of the runs is kept: a path, or none")
	complete(c, "style", styleNames()...)
	complete(c, "reflect", "never", "end", "batch")
	complete(c, "approve", "all", "destructive", "none")
	complete(c, "on-failure", strategyNames()...)
	complete(c, "on-uncertain", "ask", "retry", "fail", "skip")
	completeFiles(c, "json", "context", "schema", "style-options")
	completeFiles(c, "jsonl", "record", "replay", "events")
}

// addBudget adds the bounds of what may be used up.
func (f *planFlags) addBudget(c *cobra.Command) {
	fl := c.Flags()
	fl.Float64Var(&f.spec.Limits.Tokens, "max-tokens", 0, "most tokens that the model and the calls may use; 0 is no bound")
	fl.Float64Var(&f.spec.Limits.Cost, "max-cost", 0, "most that they may cost; 0 is no bound")
}

// strategies are the values of --on-failure.
func strategies() map[string]loop.Strategy {
	return map[string]loop.Strategy{
		"replan_remaining": loop.ReplanRemaining, "insert_recovery": loop.InsertRecovery,
		"skip_and_continue": loop.SkipAndContinue, "abort": loop.Abort, "ask_user": loop.AskUser,
	}
}

func strategyNames() []string {
	return []string{"replan_remaining", "insert_recovery", "skip_and_continue", "abort", "ask_user"}
}

// solve is plc solve.
func (env *environment) solve(c *cobra.Command, args []string, f *solveFlags) error {
	if f.resume != "" {
		return env.resumeSolve(c, args, f)
	}
	f.changed = func(flag string) bool { return f.given == nil && c.Flags().Changed(flag) } // what goes on was looked at
	style, err := f.styleOf()
	if err != nil {
		return err
	}
	task, opts, s, models, err := env.task(c, args, f)
	if err != nil {
		return err
	}
	if f.list {
		return env.writeJSON(append([]model.Function{}, style.functions(task.Catalogue)...))
	}
	if task.Goal == "" && task.Context == nil && !(style.name == "tea" && f.spec.Values.State.Name != "") { // whose state may hold a plan
		return errors.New("there is nothing to solve: give a GOAL, or --context FILE")
	}
	if s.Findings.HasErrors() {
		env.showFindings(s.Findings)
		return exit(exitErrors)
	}
	with := &styling{env: env, flags: f, loop: opts, models: models}
	if f.styleOpt != "" {
		if with.raw, err = env.value(f.styleOpt); err != nil {
			return err
		}
		f.styleText = with.raw
	}
	run, err := style.prepare(with)
	if err != nil {
		return err
	}
	f.args, f.read = args, s.Given()
	log, err := openSolve(c, f, opts)
	if err != nil {
		return err
	}
	show, err := env.newSolveProgress(c.Context(), opts, f, s.Policy, &log.plans)
	if err != nil {
		return errors.Join(err, log.close())
	}
	with.show = show
	if log.kept() && show.show != nil {
		showf(env.stderr, "solve %s\n", opts.ID)
	}
	spans := env.traceLoop(opts, s, f.model)
	env.graceful.Store(true)
	result, err := run(c.Context(), task, opts)
	lostEvents, lost := show.stop(), log.close()
	if result == nil {
		err = trimLoop(err)
	} else {
		err = env.showSolved(result, f, log, err != nil) // its reason says what err does
	}
	spans.end(env, result)
	return env.reportLostRecord(lost, env.complainLost("events", f.events, lostEvents, err))
}

// trimLoop is an error of the loop as commands say it.
func trimLoop(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimPrefix(err.Error(), "loop: "))
}

// task is what the flags say that is to be solved, and how.
func (env *environment) task(c *cobra.Command, args []string, f *solveFlags) (*loop.Task, *loop.Options, *settings, *plc.Models, error) {
	if _, err := wantsJSON(f.format); err != nil {
		return nil, nil, nil, nil, err
	}
	strategy, err := choice("on-failure", f.strategy, strategies())
	if err != nil {
		return nil, nil, nil, nil, err
	}
	if err := env.memoryBeside(f.store); err != nil {
		return nil, nil, nil, nil, err
	}
	reflect, err := choice("reflect", f.reflect, map[string]loop.Reflect{"never": loop.ReflectNever, "end": loop.ReflectAtEnd, "batch": loop.ReflectAfterBatch})
	if err != nil {
		return nil, nil, nil, nil, err
	}
	s, err := env.settings(c, &f.planFlags, plc.ToRun)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	ex, err := f.turnSpec().Options(s.Policy)
	if err != nil {
		return nil, nil, nil, nil, asFlag(c.Context(), err)
	}
	l := &f.spec.Limits
	opts := &loop.Options{
		ID: cmp.Or(f.id, exec.NewID()), MaxTurns: f.maxTurns, MaxRepairs: f.repairs, MaxTokens: int64(l.Tokens), MaxCost: l.Cost, MaxTime: l.Time,
		OnFailure: strategy, MaxRevisions: f.spec.Revisions.Max, Reflect: reflect, Lazy: f.spec.Lazy, Whole: f.whole, ApplyFixes: f.fixes, Compile: *s.compile, Exec: *ex,
	}
	if f.ledgers {
		opts.Ledgers = &loop.Ledgers{}
	}
	if f.repairs == 0 {
		opts.MaxRepairs = -1
	}
	opts.Compile.Delegates = s.Documents(".")
	task := &loop.Task{Goal: strings.Join(args, " "), Catalogue: s.compile.Catalogue}
	if f.list {
		return task, opts, s, nil, nil
	}
	if f.context != "" {
		if task.Context, task.Schema, err = env.context(f.context); err != nil {
			return nil, nil, nil, nil, err
		}
	}
	if f.schema != "" {
		if task.Schema, err = env.value(f.schema); err != nil {
			return nil, nil, nil, nil, err
		}
	}
	m, err := s.Models(f.spec.ModelTapes)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	if task.Planner, err = m.Planner(f.model); err != nil {
		return nil, nil, nil, nil, err
	}
	opts.Prices = m.Prices(f.model)
	return task, opts, s, m, nil
}

// context reads the context of a task, and the schema of the output that stands with it, from a
// file or, as --context has it, from text.
func (env *environment) context(arg string) (context, schema json.RawMessage, err error) {
	text, name := []byte(arg), "--context"
	if !isRun(arg) || arg == "-" {
		if text, err = env.readFile(arg); err != nil {
			return nil, nil, err
		}
		name = shownName(arg)
	}
	context, schema, findings := loop.ParseContext(diag.NewFile(name, bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	env.showFindings(findings)
	if findings.HasErrors() {
		return nil, nil, exit(exitErrors)
	}
	return context, schema, nil
}

// turnSpec describes the runs of the loop's turns: what the loop is given and may use up is not
// theirs.
func (f *solveFlags) turnSpec() *plc.Spec {
	s := f.spec
	s.Plan, s.Values, s.Lazy, s.OnFailure, s.Revisions = plc.Source{}, plc.Values{}, false, plc.Continue, plc.Revisions{}
	s.Limits.Time, s.Limits.Tokens, s.Limits.Cost = 0, 0, 0
	return &s
}

// showSolved shows what came of a task; broken is whether something else than the model's plans or
// the tools ended it.
func (env *environment) showSolved(r *loop.Result, f *solveFlags, log *solveLog, broken bool) error {
	asJSON, _ := wantsJSON(f.format)
	if asJSON {
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
	if log.kept() {
		env.hintSolve(r, log, broken)
	}
	return exitOf(r.Status)
}

// hintSolve says how a loop goes on that has no output.
func (env *environment) hintSolve(r *loop.Result, log *solveLog, broken bool) {
	switch {
	case r.Status == exec.Paused && log.plans.waits != "":
		env.hintf("plc approve %s, or plc reject, answers; then plc solve --resume %s goes on", shownName(log.plans.waits), r.ID)
	case r.Status == exec.Paused && len(r.Runs) > 0:
		env.hintf("plc approve %s, or plc reject, answers; then plc solve --resume %s goes on", r.Runs[len(r.Runs)-1], r.ID)
	case r.Status == exec.Failed && broken:
		env.hintf("plc solve --resume %s goes on when that is mended; what is done stays done", r.ID)
	case r.Status == exec.Cancelled:
		env.hintf("plc solve --resume %s goes on; what is done stays done, and --on-uncertain says what becomes of a call that was cut off and may have done its work", r.ID)
	}
}
