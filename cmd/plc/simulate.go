package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec/simulate"
	"github.com/plc-lang/plc/journal"
)

// simulateFlags are the flags of plc simulate.
type simulateFlags struct {
	planFlags
	options plc.SimulateOptions
	asJSON  bool
	svg     string
	store   string
}

func simulateCommand(env *environment) *cobra.Command {
	var f simulateFlags
	c := &cobra.Command{
		Use:   "simulate FILE",
		Short: "Say how often a plan succeeds, how long it takes, and which call matters most",
		Long: `Run a plan thousands of times without calling a tool: attempts fail at random and take a
random time, as they did in the record of runs or as the flags say. It shows how often the plan
succeeds, how long it takes, what it costs, which effects stand at the end, and what would
change if a call never failed or took no time. Everything that is assumed is shown: a tool of
which nothing is known never fails and takes no time. Calls that need approval are approved
at once. The same seed gives the same result. docs/simulation.md says more.

Exit 0 when the plan was simulated, however it went, 1 when the plan or the file of assumptions
has errors, 130 when it was stopped (Ctrl-C): what was simulated until then is shown.`,
		Example: `  plc simulate plan.json --tools tools.yaml
  plc simulate plan.json --tools tools.yaml --fails charge_card=0.05 --takes charge_card=1s..3s
  plc simulate plan.json --tools tools.yaml --assume assumptions.yaml --on-failure undo --svg times.svg`,
		Args:              wants(1, 1, "one plan"),
		ValidArgsFunction: completePlans(1),
		RunE:              func(c *cobra.Command, args []string) error { return env.simulate(c, args[0], &f) },
	}
	f.addGiven(c)
	addFrom(c, &f.spec.Plan.Notation)
	f.addVerdict(c)
	f.addPace(c)
	fl := c.Flags()
	fl.IntVar(&f.options.Runs, "runs", 0, "how many runs (default as many as make 20,000 attempts, from 500 to 5,000)")
	fl.Uint64Var(&f.options.Seed, "seed", 0, "random seed")
	fl.StringVar(&f.options.Assume, "assume", "", "a file that says how often tools fail and how long they take")
	fl.StringArrayVar(&f.options.Fails, "fails", nil, "TOOL=SHARE, the share of the attempts of a tool that fail, as in pay=0.05 (repeatable)")
	fl.StringArrayVar(&f.options.Takes, "takes", nil, "TOOL=TIME, how long an attempt of a tool takes, as in pay=2s or pay=1s..3s (repeatable)")
	fl.StringVar(&f.svg, "svg", "", "write the histogram of how long runs take to this file, as SVG")
	addFormat(c, &f.asJSON, "text or json (one document)")
	addStore(c, &f.store, "the store that knows how often tools fail, how long they take, and what they gave: a path, or none")
	completeFiles(c, "yaml,yml,json", "assume")
	completeFiles(c, "svg", "svg")
	return c
}

// simulate runs plc simulate.
func (env *environment) simulate(c *cobra.Command, name string, f *simulateFlags) error {
	if err := f.finish(c); err != nil {
		return err
	}
	if n := f.options.Runs; n > simulate.MaxRuns || n == 0 && c.Flags().Changed("runs") {
		return fmt.Errorf("--runs must be from 1 to %d", simulate.MaxRuns)
	}
	if err := f.canRead(name); err != nil {
		return err
	}
	ctx := c.Context()
	e := env.engine(func() (journal.Store, error) { return pastRuns(f.store) })
	s, err := e.Simulator(ctx, f.spec)
	if err != nil {
		return asFlag(ctx, err)
	}
	defer closeStore(s)
	l, err := env.loadOne(name, s)
	if err != nil {
		return err
	}
	if invalid := verdict(l.findings, f.spec.Strict); invalid != nil {
		return env.invalid(l, name, f.asJSON, invalid)
	}
	if !f.asJSON {
		writeText(env.stderr, withoutInfo(l.findings), maxWarned)
	}
	sim, err := env.simulated(c, l, f)
	if err != nil {
		return err
	}
	if f.asJSON {
		err = env.writeJSON(sim)
	} else {
		env.showSimulation(sim)
	}
	if err == nil {
		title := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		err = env.writeSVG("svg", f.svg, func(w io.Writer) error { return sim.SVG(w, title) })
	}
	if err == nil && sim.Stopped {
		return exit(exitCancelled)
	}
	return err
}

// simulated simulates a plan. A signal ends the simulation, with the results so far.
func (env *environment) simulated(c *cobra.Command, l *loaded, f *simulateFlags) (*plc.Simulation, error) {
	if err := errors.Join(env.checkOutput("svg", f.svg), canWrite(f.svg)); err != nil {
		return nil, err
	}
	show := newLiveLine(env.stderr, 0, "simulated %d of %d runs")
	f.options.Progress = show.set
	graceful := env.graceful.Swap(true)
	sim, err := l.Simulate(c.Context(), &f.options)
	env.graceful.Store(graceful)
	show.stop()
	var faulty *plc.AssumptionsError
	switch {
	case errors.As(err, &faulty):
		env.showFindings(faulty.Findings)
		return nil, exit(exitErrors)
	case err != nil:
		return nil, asFlag(c.Context(), err)
	}
	if err := env.checkOutput("svg", f.svg); err != nil { // it may be the file of assumptions
		return nil, err
	}
	return sim, nil
}
