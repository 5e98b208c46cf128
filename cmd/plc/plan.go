package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
)

// planOptions are the flags of plc plan besides those of plc run.
type planOptions struct {
	runFlags
	output      string
	expires     time.Duration
	allBranches bool
}

func planCommand(env *environment) *cobra.Command {
	var f planOptions
	c := &cobra.Command{
		Use:   "plan FILE",
		Short: "Show what a plan would do, and ask for approval",
		Long: `Show what a plan would do without doing any of it: the blueprint, a dry run and a
forecast. No tool is called. Results are made up from the schemas of tools, the same each
time, and are marked as such; of calls with several outcomes the first is assumed, or
the one that --branch names.

With -o a request for approval is written, which plc approve approves and plc run
--approval uses, once. It is bound to all that would execute: run it with the same plan, tools, input,
state and flags.`,
		Example: `  plc plan plan.json --tools tools.yaml
  plc plan plan.json --tools tools.yaml -o approval.json --expires 24h
  plc approve approval.json
  plc run plan.json --tools tools.yaml --approval approval.json`,
		Args:              wants(1, 1, "one plan"),
		ValidArgsFunction: completePlans(1),
		RunE:              func(c *cobra.Command, args []string) error { return env.plan(c, args[0], &f) },
	}
	f.add(c)
	f.addVerdict(c)
	addFormat(c, &f.format, "text or json (one document)")
	f.addMeaning(c)
	addStore(c, &f.store, "the store that knows how long tools take, and what they gave: a path, or none")
	f.onTimeout = "reject"
	fl := c.Flags()
	fl.StringVarP(&f.output, "output", "o", "", "write a request for approval to this file")
	fl.DurationVar(&f.expires, "expires", 0, "how long the request holds, as in 24h; 0 is for ever")
	fl.BoolVar(&f.allBranches, "all-branches", false, "try every combination of outcomes, up to 100, and tell which calls run in which")
	completeFiles(c, "json", "output")
	return c
}

// planned is what plc plan --format json prints.
type planned struct {
	Digest   string             `json:"digest"`
	DryRun   *forecast.DryRun   `json:"dryRun"`
	Forecast *forecast.Forecast `json:"forecast"`
	Branches *forecast.Branches `json:"branches"`
	Findings diag.List          `json:"findings"`
}

// plan is plc plan.
func (env *environment) plan(c *cobra.Command, name string, f *planOptions) error {
	f.lazy, f.tools.uncalled = true, true
	p, err := env.prepare(c, name, &f.runFlags)
	if err != nil {
		return err
	}
	if err := env.keepsRead("output", f.output); f.output != "" && err != nil {
		return err
	}
	if p.invalid != nil {
		return env.invalid(p.settings, p.loaded, name, p.asJSON, p.invalid)
	}
	store, err := readStore(f.store)
	switch {
	case err == nil:
		defer store.Close()
		if err := env.learn(c.Context(), p, store); err != nil {
			return err
		}
	case !errors.Is(err, errNoRuns) && !errors.Is(err, errNoStore):
		return err
	}
	d, fc, err := p.dryRun(c.Context())
	if err != nil {
		return err
	}
	var all *forecast.Branches
	if f.allBranches {
		if all, err = forecast.AllBranches(c.Context(), p.prog, p.trial, 0); err != nil {
			return err
		}
	}
	m := p.manifest()
	if p.asJSON {
		err = env.writeJSON(planned{m.Digest(), d, fc, all, p.findings})
	} else {
		fmt.Fprint(env.stdout, blueprint(name, d, fc, 0))
		if all != nil {
			fmt.Fprint(env.stdout, branchList(all))
		}
	}
	if err != nil || f.output == "" {
		return err
	}
	return env.writeRequest(f, approval.Request(shownName(name), m, blueprint(name, d, fc, 0), time.Now()))
}

// writeRequest writes a request for approval.
func (env *environment) writeRequest(f *planOptions, a *approval.File) error {
	if f.expires > 0 {
		at := a.Created.Add(f.expires)
		a.Expires = &at
	}
	if err := os.WriteFile(f.output, a.JSON(), 0o600); err != nil {
		return fmt.Errorf("can't write the request: %w", err)
	}
	env.hintf("plc approve %s approves it; plc run with the same flags and --approval %[1]s uses it", f.output)
	return nil
}

// prepared is a plan that was read and compiled to be run, and how.
type prepared struct {
	*loaded
	settings *settings
	flags    *runFlags
	opts     *exec.Options
	trial    *forecast.Options
	name     string
	asJSON   bool
	invalid  error  // why it must not run: the exit code
	program  string // digest of what would execute, when the run was begun; "" until it is

	approval *approval.File // of --approval; nil is none
	refusal  error          // why it can't be used
}

// prepare reads a plan that is to be run, all that it runs with, and the flags.
func (env *environment) prepare(c *cobra.Command, name string, f *runFlags) (*prepared, error) {
	asJSON, err := wantsJSON(f.format)
	if err != nil {
		return nil, err
	}
	env.forget = f.noCache
	s, err := env.settings(c, &f.planFlags, true)
	if err != nil {
		return nil, err
	}
	if s.policy.Approve != "" && !c.Flags().Changed("approve") {
		f.approve = s.policy.Approve
	}
	opts, err := f.options()
	if err != nil {
		return nil, err
	}
	branch, err := branches(f.branch)
	if err != nil {
		return nil, err
	}
	l, err := env.loadOne(name, s)
	if err != nil {
		return nil, err
	}
	if f.instances != "" && l.prog.Mode == lang.Lazy {
		if f.lines, err = env.readGiven(journal.Instances, f.instances); err != nil {
			return nil, err
		}
		f.lines = append([]byte{}, f.lines...) // not nil
	}
	trial := &forecast.Options{Approve: opts.Approve, MaxParallel: f.maxParallel, Seed: f.seed, Branch: branch}
	if opts.Schedule == exec.Sequential {
		trial.MaxParallel = 1
	}
	return &prepared{
		loaded: l, settings: s, flags: f, opts: opts, trial: trial, name: name, asJSON: asJSON,
		invalid: verdict(l.findings, f.strict),
	}, nil
}

// branches are the values of --branch.
func branches(flags []string) (map[string]string, error) {
	branch := map[string]string{}
	for _, b := range flags {
		i := strings.LastIndex(b, "=")
		if i <= 0 || i == len(b)-1 {
			return nil, fmt.Errorf("--branch %s: it is CALL=NAME, a call and the outcome that is assumed", b)
		}
		branch[b[:i]] = b[i+1:]
	}
	return branch, nil
}

// dryRun walks the plan without running anything.
func (p *prepared) dryRun(ctx context.Context) (*forecast.DryRun, *forecast.Forecast, error) {
	if p.flags.lines != nil {
		p.trial.Instances = p.firstInstances
	}
	d, err := forecast.Run(ctx, p.prog, p.trial)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, exit(exitCancelled)
		}
		return nil, nil, errors.New(strings.TrimPrefix(err.Error(), "exec: "))
	}
	f := forecast.Of(p.prog, d, p.trial)
	p.forecast = f
	return d, f, nil
}

// mostInstances is of how many instances a dry run is made.
const mostInstances = 20

// firstInstances are the first of those of --instances that are any.
func (p *prepared) firstInstances(yield func(*compile.Instance, error) bool) {
	f := &instanceFile{name: p.flags.instances, names: map[string]int{}}
	n := 0
	for i, text := range bytes.Split(p.flags.lines, []byte{'\n'}) {
		if text = bytes.TrimSpace(text); len(text) == 0 || n == mostInstances {
			continue
		}
		in, err := f.instance(line{number: i + 1, text: text})
		if err != nil {
			continue // the run tells
		}
		if n++; !yield(in, nil) {
			return
		}
	}
}

// boundLines are the instances of --instances, by their lines, which may be their names.
func (p *prepared) boundLines() json.RawMessage {
	all := map[string]any{}
	for i, text := range bytes.Split(p.flags.lines, []byte{'\n'}) {
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if jsonscan.Check(text, jsonscan.Limits{}) == nil {
			all[strconv.Itoa(i+1)] = json.RawMessage(text)
		} else {
			all[strconv.Itoa(i+1)] = string(text)
		}
	}
	return encoded(all)
}

// boundFlags are the flags that change what a plan means or does; the others say how fast
// it goes and what is told of it.
func (p *prepared) boundFlags() json.RawMessage {
	f := p.flags
	flags := map[string]any{
		"effects": f.effects, "refs": f.refs, "on-failure": f.onFailure, "on-uncertain": f.onUncertain, "approve": f.approve,
		"max-steps": f.maxSteps, "max-tokens": f.maxTokens, "max-cost": f.maxCost, "max-time": f.maxTime.String(),
		"timeout": f.timeout.String(), "fail-fast": f.failFast, "seed": fmt.Sprint(f.seed),
	}
	if f.models.replay != "" { // otherwise who answers is in the tool files
		flags["model-replay"] = f.models.replay
	}
	return encoded(flags)
}

func encoded(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return text
}
