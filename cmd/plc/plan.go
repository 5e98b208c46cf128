package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/journal"
)

// planOptions are the flags of plc plan in addition to those of plc run.
type planOptions struct {
	runFlags
	output      string
	expires     time.Duration
	allBranches bool
	full        bool
}

func planCommand(env *environment) *cobra.Command {
	var f planOptions
	c := &cobra.Command{
		Use:   "plan FILE",
		Short: "Show what a plan would do, and ask for approval",
		Long: `Show what a plan would do without doing any of it: the blueprint, a dry run and a
forecast. No tool is called. First come the effects that are possible on any path of the plan, and
how many calls, attempts and approvals there are at most. What is assumed is marked: results are
made up from the schemas of tools, the same each time; of calls with several outcomes the first is
assumed, or the one that --branch names. Of a long value the length and digest are shown; --full
shows the whole value.

With -o a request for approval is written, which plc approve approves and plc run --approval
uses, once. It is bound to all that would execute: run it with the same plan, tools, input,
state and flags.`,
		Example: `  plc plan plan.json --tools tools.yaml
  plc plan plan.json --tools tools.yaml -o approval.json --expires 24h
  plc approve approval.json
  plc run plan.json --tools tools.yaml --approval approval.json`,
		Args:              planOrLines(&f.jsonl),
		ValidArgsFunction: completePlans(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.jsonl != "" {
				return env.planLines(c, &f)
			}
			return env.plan(c, args[0], &f)
		},
	}
	addLines(c, &f.jsonl)
	f.add(c)
	f.addVerdict(c)
	addFormat(c, &f.asJSON, "text or json (one document)")
	f.addMeaning(c)
	addStore(c, &f.store, "the store that knows how long tools take, and what they gave: a path, or none")
	fl := c.Flags()
	fl.StringVarP(&f.output, "output", "o", "", "write a request for approval to this file")
	fl.DurationVar(&f.expires, "expires", 0, "how long the request holds, as in 24h; 0 is for ever")
	fl.BoolVar(&f.allBranches, "all-branches", false, "try every combination of outcomes, up to 100, and tell which calls run in which")
	fl.BoolVar(&f.full, "full", false, "show long values as a whole")
	completeFiles(c, "json", "output")
	return c
}

// planned is the output of plc plan --format json.
type planned struct {
	preview  *plc.Preview
	Digest   string             `json:"digest"`
	DryRun   *forecast.DryRun   `json:"dryRun"`
	Forecast *forecast.Forecast `json:"forecast"`
	Branches *forecast.Branches `json:"branches"`
	Findings diag.List          `json:"findings"`
}

// plan runs plc plan.
func (env *environment) plan(c *cobra.Command, name string, f *planOptions) error {
	f.spec.Lazy = true
	p, err := env.prepare(plc.ToPreview, c, name, &f.runFlags, f.pastRuns)
	if err != nil {
		return err
	}
	if err := errors.Join(env.checkOutput("output", f.output), canWrite(f.output)); err != nil {
		return err
	}
	if p.invalid != nil {
		return env.invalid(p.loaded, name, f.asJSON, p.invalid)
	}
	defer closeStore(p.Checker())
	doc, err := p.planned(c.Context(), f.allBranches)
	if err != nil {
		return err
	}
	d, fc, all := doc.DryRun, doc.Forecast, doc.Branches
	if p.flags.asJSON {
		err = env.writeJSON(doc)
	} else {
		text := blueprint(name, d, fc, 0)
		if f.full {
			text = fullBlueprint(name, d, fc)
		}
		show(env.stdout, text)
		if all != nil {
			show(env.stdout, branchList(all))
		}
	}
	if err != nil || f.output == "" {
		return err
	}
	if err := doc.preview.RequestApproval(f.output, f.expires); err != nil {
		return err
	}
	env.hintf("plc approve %s approves it; plc run with the same flags and --approval %s uses it", env.argsFor(f.output), f.output)
	return nil
}

// planned returns what a plan would do.
func (p *prepared) planned(ctx context.Context, allBranches bool) (*planned, error) {
	preview, err := p.preview(ctx)
	if err != nil {
		return nil, err
	}
	doc := &planned{preview: preview, Digest: p.Manifest().Digest(), DryRun: preview.DryRun, Forecast: preview.Forecast, Findings: p.findings}
	if allBranches {
		doc.Branches, err = p.AllBranches(ctx)
	}
	return doc, err
}

// pastRuns returns the store of past runs; nil if there is none.
func (f *planOptions) pastRuns() (journal.Store, error) { return pastRuns(f.store) }

// pastRuns returns the store that a flag names, for reading past runs; nil if there is none.
func pastRuns(flag string) (journal.Store, error) {
	store, err := readStore(flag)
	if errors.Is(err, errNoRuns) || errors.Is(err, errNoStore) {
		return nil, nil
	}
	return store, err
}

// prepared is a plan that was read and compiled to be run, with its settings.
type prepared struct {
	*loaded
	flags   *runFlags
	name    string
	invalid error                    // the exit code, if it must not run
	tell    func(*exec.Result) error // reports the result, and returns its exit code; nil is showResult

	approval *approval.Kept // of --approval; nil if there is none
}

// prepare reads a plan, the files that it runs with, and the flags.
func (env *environment) prepare(purpose plc.Purpose, c *cobra.Command, name string, f *runFlags, store func() (journal.Store, error)) (*prepared, error) {
	s, err := env.runSettings(purpose, c, f, store, name)
	if err != nil {
		return nil, err
	}
	l, err := env.loadOne(name, s)
	if err != nil {
		return nil, err
	}
	return newPrepared(l, name, f), nil
}

// runSettings reads the files that plans run with, and the flags.
func (env *environment) runSettings(purpose plc.Purpose, c *cobra.Command, f *runFlags, store func() (journal.Store, error), plans ...string) (*plc.Checker, error) {
	var err error
	if f.spec.Branch, err = branches(f.branch); err != nil {
		return nil, err
	}
	if err := f.finish(c); err != nil {
		return nil, err
	}
	return env.checker(c.Context(), env.engine(store), &f.planFlags, purpose, plans...)
}

func newPrepared(l *loaded, name string, f *runFlags) *prepared {
	return &prepared{loaded: l, flags: f, name: name, invalid: verdict(l.findings, f.spec.Strict)}
}

// branches reads the values of --branch.
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

// preview walks the plan without running anything.
func (p *prepared) preview(ctx context.Context) (*plc.Preview, error) {
	preview, err := p.Preview(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, exit(exitCancelled)
	case err != nil:
		return nil, errors.New(strings.TrimPrefix(err.Error(), "exec: "))
	}
	p.forecast = preview.Forecast
	return preview, nil
}
