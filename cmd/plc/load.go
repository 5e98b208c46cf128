package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
)

// planFlags are the flags of the commands that compile a plan.
type planFlags struct {
	spec  plc.Spec // what the flags describe, once complete was called
	tools toolFiles
	input []string
	steps int // of --max-steps
}

// add adds the flags that say what a plan means.
func (f *planFlags) add(c *cobra.Command) {
	f.addGiven(c)
	c.Flags().StringVar(&f.spec.Instances.Name, "instances", "", "instances, each of which the plan runs for: a file with a JSON object a line, or - for standard input")
	addFrom(c, &f.spec.Plan.Notation)
	completeFiles(c, "jsonl", "instances")
}

// addGiven adds the flags for the values of a plan.
func (f *planFlags) addGiven(c *cobra.Command) {
	fl, s := c.Flags(), &f.spec
	addTools(fl, c, &f.tools)
	fl.StringArrayVar(&f.input, "input", nil, "input: a JSON file, - for standard input, a JSON object, or key=value (repeatable: they are merged)")
	fl.StringVar(&s.Values.State.Name, "state", "", "initial state: a JSON file")
	fl.StringVar(&s.Values.InputSchema.Name, "input-schema", "", "JSON Schema of the input, a file")
	fl.StringVar(&s.Values.StateSchema.Name, "state-schema", "", "JSON Schema of the state, a file")
	fl.StringSliceVar(&s.DelegateHosts, "delegate-hosts", nil, "hosts from which documents of delegates may be fetched, api.example or *.example; the default is the tool file's policy.hosts")
	addWord(c, (*string)(&s.Effects), "effects", "declared", "which calls effects order: declared, strict or none", "declared", "strict", "none")
	addWord(c, (*string)(&s.Refs), "refs", "strict", "a reference that finds nothing: strict fails the call, lenient is an empty string", "strict", "lenient")
	completeFiles(c, "json", "input", "state", "input-schema", "state-schema")
}

// addVerdict adds the flags that say which findings fail a plan.
func (f *planFlags) addVerdict(c *cobra.Command) {
	fl := c.Flags()
	fl.BoolVar(&f.spec.Strict, "strict", false, "warnings count as errors")
	f.addIgnore(c)
	fl.IntVar(&f.steps, "max-steps", 0, "most calls that may be started; 0 is no bound (default 1000 with --from llm)")
	fl.Float64Var(&f.spec.Limits.Tokens, "max-tokens", 0, "most tokens that the plan may be estimated at, and a run may use; 0 is no bound")
	fl.Float64Var(&f.spec.Limits.Cost, "max-cost", 0, "most that the plan may be estimated to cost, and a run may; 0 is no bound")
}

// addIgnore adds the flags that say which findings are shown.
func (f *planFlags) addIgnore(c *cobra.Command) {
	c.Flags().StringSliceVar(&f.spec.Ignore, "ignore", nil, "codes of findings to drop, as in PLC309; errors stay (repeatable)")
	c.Flags().StringSliceVar(&f.spec.Severity, "severity", nil, "CODE=error, warning or info: how severe findings of a code are; errors stay errors (repeatable)")
	c.Flags().BoolVar(&f.spec.Verbose, "verbose", false, "also show findings that need no attention, and say what was ignored in vain")
}

// addFrom adds the flag that names the notation of a plan.
func addFrom(c *cobra.Command, from *string) {
	names := plc.Notations()
	addWord(c, from, "from", "plan", "notation of the plan: plan, llm for a model's raw answer, or "+strings.Join(names[2:], ", "), names...)
}

// addModelTapes adds the flags that name files of recorded answers of models.
func addModelTapes(c *cobra.Command, t *plc.ModelTapes) {
	fl := c.Flags()
	fl.StringVar(&t.Record, "model-record", "", "record the answers of models in this file; what it has already is not asked again")
	fl.StringVar(&t.Replay, "model-replay", "", "take the answers of models from this file, and ask none")
	completeFiles(c, "jsonl", "model-record", "model-replay")
}

// finish completes the Spec that the flags describe.
func (f *planFlags) finish(c *cobra.Command) error {
	if f.spec.Limits.Steps = f.steps; f.steps == 0 && c.Flags().Changed("max-steps") {
		f.spec.Limits.Steps = -1
	}
	f.spec.Toolset, f.spec.Values.Input = f.tools.Toolset, nil
	for _, in := range f.input {
		src, err := plc.ParseInput(in)
		if err != nil {
			return fmt.Errorf("--input %w", err)
		}
		f.spec.Values.Input = append(f.spec.Values.Input, src)
	}
	return nil
}

// canRead returns an error if one of the plans, or a file of values or instances, can't be read. So
// a name with a typo is reported before servers are started.
func (f *planFlags) canRead(plans ...string) error {
	v := &f.spec.Values
	for _, src := range append([]plc.Source{v.State, v.InputSchema, v.StateSchema, f.spec.Instances}, v.Input...) {
		if src.Text == "" {
			plans = append(plans, src.Name)
		}
	}
	for _, name := range plans {
		if err := canRead(name); err != nil {
			return err
		}
	}
	return nil
}

// engine returns an engine. The store is opened when it is first needed; nil is no store.
func (env *environment) engine(store func() (journal.Store, error)) *plc.Engine {
	return env.newEngine(env.config(store))
}

// engineOn returns an engine that uses an open store.
func (env *environment) engineOn(store journal.Store) *plc.Engine {
	return env.engine(func() (journal.Store, error) { return store, nil })
}

// config returns the configuration of engines: their resources and what they may reach.
func (env *environment) config(store func() (journal.Store, error)) plc.Config {
	c := plc.Config{Environ: os.Environ(), Open: env.open, OpenStore: store, Version: version(), OnServers: env.serversStart}
	if env.memory != nil {
		c.Memory = env.memory
	}
	if env.canAsk() {
		c.AskServer = env.answerServer
	}
	return c
}

// newEngine returns an engine that is closed when the process ends.
func (env *environment) newEngine(c plc.Config) *plc.Engine {
	e := plc.New(c)
	env.serving.Lock()
	defer env.serving.Unlock()
	env.engines = append(env.engines, e)
	return e
}

// settings reads the files that the flags name. It only checks that the files of plans can be read:
// see canRead.
func (env *environment) settings(c *cobra.Command, f *planFlags, purpose plc.Purpose, plans ...string) (*plc.Checker, error) {
	if err := f.finish(c); err != nil {
		return nil, err
	}
	return env.checker(c.Context(), env.engine(nil), f, purpose, plans...)
}

func (env *environment) checker(ctx context.Context, e *plc.Engine, f *planFlags, purpose plc.Purpose, plans ...string) (*plc.Checker, error) {
	if err := f.canRead(plans...); err != nil {
		return nil, err
	}
	checker, err := e.Checker(ctx, f.spec, purpose)
	if err != nil {
		return nil, asFlag(ctx, err)
	}
	return checker, nil
}

// serversStart makes a signal end the servers that are being started and, on a terminal, shows how
// many have started if that takes long, until done is called.
func (env *environment) serversStart(names []string) (started func(string), done func()) {
	graceful := env.graceful.Swap(true)
	show := newLiveLine(env.stderr, startingAfter, "starting servers: %d of %d")
	show.set(0, len(names))
	return func(string) { show.add() }, func() {
		show.stop()
		env.graceful.Store(graceful)
	}
}

// startingAfter is the time after which the start of servers is shown; most start sooner.
const startingAfter = time.Second

// asFlag returns an error of the engine with the names of flags instead of settings.
func asFlag(ctx context.Context, err error) error {
	var wrong *plc.SpecError
	switch {
	case ctx.Err() != nil:
		return exit(exitCancelled)
	case errors.As(err, &wrong):
		return fmt.Errorf("--%w", wrong)
	}
	return err
}

// loaded is a plan that was read and compiled.
type loaded struct {
	*plc.Plan
	prog     *compile.Program
	findings diag.List
	forecast *forecast.Forecast // nil if none was made
	undone   *plc.Undone        // of a run; nil if it is not undone
}

func newLoaded(p *plc.Plan) *loaded {
	return &loaded{Plan: p, prog: p.Program, findings: p.Findings}
}

// load reads and compiles a plan. The error is about the file; errors in the plan are findings.
func (env *environment) load(name string, s *plc.Checker) (*loaded, error) {
	p, err := s.Check(plc.File(name))
	if err != nil {
		return nil, err
	}
	env.read = append(env.read, p.Documents...)
	return newLoaded(p), nil
}

// loadOne loads the plan of a command that takes one: findings about the tool files count as
// findings about the plan.
func (env *environment) loadOne(name string, s *plc.Checker) (*loaded, error) {
	l, err := env.load(name, s)
	if err == nil {
		l.findings = l.AllFindings()
	}
	return l, err
}

// gather reads tool files, and starts their MCP servers.
func (env *environment) gather(ctx context.Context, named toolFiles, purpose plc.Purpose) (*plc.Tools, error) {
	t, err := env.engine(nil).Tools(ctx, named.Toolset, purpose)
	if err != nil {
		return nil, asFlag(ctx, err)
	}
	return t, nil
}

// hintUnused lists, with --verbose, the codes and comments that ignored nothing.
func (env *environment) hintUnused(s *plc.Checker, verbose bool) {
	if !verbose {
		return
	}
	for _, unused := range s.UnusedIgnores() {
		env.hintf("%s: there is no such finding to ignore", unused)
	}
}

// hintTools tells the user what to do about unknown tools in a plan: list the known ones with
// plc tools or, if no tool file was given, add one.
func (env *environment) hintTools(s *plc.Checker, l diag.List, plan string) {
	if !s.NoTools() {
		if slices.ContainsFunc(l, func(f diag.Finding) bool { return f.Code == diag.UnknownTool && f.Fix == nil }) {
			args := (&toolFiles{Toolset: s.Spec().Toolset}).args()
			given := ""
			for _, a := range args {
				given += " " + display.ShellWord(a)
			}
			env.hintf("plc tools%s%s lists the tools that there are", given, env.sameFlags())
		}
		return
	}
	if s.Untold() {
		env.hintf("no tool file was given, so that neither tools nor their params were checked; add --tools %s", toolFileBeside(plan))
		return
	}
	for i := range l {
		if l[i].Code == diag.UnknownTool {
			env.hintf("no tool file was given, so only the tools that the plan itself defines are known; add --tools %s", toolFileBeside(plan))
			return
		}
	}
}

// hintOpen tells the user what could not be checked: calls without an implementation, and input
// that was not given.
func (env *environment) hintOpen(s *plc.Checker, t *tally) {
	if len(t.unimplemented.names) > 0 && !s.Untold() {
		env.hintf("nothing makes the calls of %s, so plc run will refuse the plan (PLC606); add an activity or a model to a tool file, or give their results in _output", someOf(t.unimplemented.names))
	}
	if len(t.input.names) > 0 {
		env.hintf("no --input was given, so these were not checked: %s", someOf(t.input.names))
	}
}

// toolFileBeside returns the name of a tool file in the folder of a plan, or FILE.
func toolFileBeside(plan string) string {
	for _, name := range []string{"tools.yaml", "tools.yml", "tools.json"} {
		name = filepath.Join(filepath.Dir(plan), name)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return "FILE"
}
