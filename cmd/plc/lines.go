package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/dag/draw"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
)

// addLines adds the flag that names a file with many plans.
func addLines(c *cobra.Command, jsonl *string) {
	c.Flags().StringVar(jsonl, "jsonl", "", "take the plans of this file one after the other, as plc check --jsonl does, and print a line of JSON for each")
	must(c.MarkFlagFilename("jsonl", "jsonl", "json", "csv"))
}

// planOrLines checks the arguments of a command that takes one plan, or --jsonl.
func planOrLines(jsonl *string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case *jsonl == "":
			return wants(1, 1, "one plan")(c, args)
		case len(args) > 0:
			return errors.New("--jsonl names the file with the plans: leave the others out")
		}
		return nil
	}
}

// line is one of the plans of a file with many.
type line struct {
	*plc.ListedPlan
	*plc.Checker
}

// name returns the name of the plan in the record of its run.
func (l *line) name() string { return fmt.Sprintf("%s:%d", shownName(l.Name), l.Line) }

// label returns the plan's name in text output: its place, and its id if it has one.
func (l *line) label() display.Text {
	if l.ID == nil {
		return display.Line(l.name())
	}
	return display.Sprintf("%s (%s)", display.Line(l.name()), display.Line(l.ShownID()))
}

// load compiles the plan. If its line can't be read, the plan has no calls.
func (l *line) load() *loaded {
	file := l.File
	if file == nil {
		file = diag.NewFile(shownName(l.Name), nil)
	}
	p := l.CheckLine(file, l.name())
	if l.File == nil {
		p.Program, _ = compile.Compile(&lang.Document{File: file}, nil)
		p.Findings = l.ListedPlan.Findings
	}
	out := newLoaded(p)
	out.findings = p.AllFindings()
	return out
}

// eachLine calls do for each plan of a file, one after the other, and writes each result as a line
// of JSON. An error about one plan is the result of that plan, and the next plan follows. The exit
// code is the most important one of all plans.
func (env *environment) eachLine(ctx context.Context, name string, s *plc.Checker, do func(*line) (any, error)) error {
	plans, err := s.ListPlans(name)
	if err != nil {
		return err
	}
	var worst error
	for p := range plans {
		if p.Err != nil { // the rest of the file can't be read
			env.complain(p.Err)
			return exit(exitUsage)
		}
		doc, err := env.lineResult(&line{p, s}, do)
		if ctx.Err() != nil {
			err = exit(exitCancelled)
		}
		worst = worse(worst, err)
		if doc != nil {
			if err := env.writeLine(p, doc); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			break
		}
	}
	return worst
}

// lineResult returns the result of do for a plan. An error other than an exit code, or a panic,
// becomes the result, so that it does not affect other plans.
func (env *environment) lineResult(l *line, do func(*line) (any, error)) (doc any, err error) {
	defer func() {
		if p := recover(); p != nil {
			doc, err = lineError{diag.Panic(l.File, p).Message}, exit(exitUsage)
		}
	}()
	doc, err = do(l)
	var code exit
	if err != nil && !errors.As(err, &code) {
		env.complain(fmt.Errorf("%s: %w", l.name(), err))
		doc, err = lineError{err.Error()}, exit(exitUsage)
	}
	return doc, err
}

// lineError is the line of a plan for which there is no other document.
type lineError struct {
	Error string `json:"error"`
}

// worse returns the more important of two exit codes.
func worse(a, b error) error {
	for _, code := range []exit{exitCancelled, exitUsage, exitErrors, exitFailed, exitRejected, exitPaused} {
		if a == code || b == code {
			return code
		}
	}
	return nil
}

// writeLine writes an object as one line, after the id and the line of its plan.
func (env *environment) writeLine(p *plc.ListedPlan, doc any) error {
	text, err := jsonscan.Marshal(doc)
	if err != nil {
		return err
	}
	head := []byte{'{'}
	if p.ID != nil {
		head = append(append(append(head, `"id":`...), p.ID...), ',')
	}
	head = fmt.Appendf(head, `"line":%d,`, p.Line)
	_, err = env.stdout.Write(append(append(head, text[1:]...), '\n'))
	return err
}

// graphed is the line of plc graph --jsonl.
type graphed struct {
	Graph    json.RawMessage `json:"graph"`
	Findings diag.List       `json:"findings"`
}

// graphLines runs plc graph for the plans of a file.
func (env *environment) graphLines(ctx context.Context, name string, s *plc.Checker, depth int) error {
	return env.eachLine(ctx, name, s, func(l *line) (any, error) {
		plan := l.load()
		var out bytes.Buffer
		if err := draw.JSON(&out, plc.Draw(plan.prog, depth)); err != nil {
			return nil, err
		}
		return graphed{out.Bytes(), plan.findings}, verdict(plan.findings, false)
	})
}

// convertLines runs plc convert for the plans of a file.
func (env *environment) convertLines(ctx context.Context, s *plc.Checker, f *convertFlags) error {
	return env.eachLine(ctx, f.jsonl, s, func(l *line) (any, error) {
		out := &converted{Findings: l.ListedPlan.Findings}
		if l.File != nil {
			out = convertPlan(s, l.File, f.to)
		}
		return out, verdict(out.Findings, false)
	})
}

// planLines runs plc plan for the plans of a file.
func (env *environment) planLines(c *cobra.Command, f *planOptions) error {
	switch {
	case f.output != "" || f.full:
		return errors.New("-o and --full are for one plan, without --jsonl")
	case !f.asJSON && c.Flags().Changed("format"):
		return errOnlyJSON
	}
	if f.spec.Instances.Name != "" {
		return errOneTemplate
	}
	f.spec.Lazy, f.asJSON = true, true
	s, err := env.runSettings(plc.ToPreview, c, &f.runFlags, f.pastRuns, f.jsonl)
	if err != nil {
		return err
	}
	defer closeStore(s)
	return env.eachLine(c.Context(), f.jsonl, s, func(l *line) (any, error) {
		p := newPrepared(l.load(), l.name(), &f.runFlags)
		if p.invalid != nil {
			return p.notRun(), exit(exitErrors)
		}
		return p.planned(c.Context(), f.allBranches)
	})
}

// errOnlyJSON is the error for --jsonl with --format text, which does not exist.
var errOnlyJSON = errors.New("--jsonl writes lines of JSON: leave --format out")

// errOneTemplate is the error for --jsonl with --instances.
var errOneTemplate = errors.New("--instances is for one plan, without --jsonl")

// runLines runs plc run for the plans of a file.
func (env *environment) runLines(c *cobra.Command, f *runFlags) error {
	switch {
	case f.spec.Instances.Name != "":
		return errOneTemplate
	case f.results != "" || f.events != "" || f.approval != "" || f.expect != "" || f.within != nil:
		return errors.New("--results, --events, --approval and --expect are for one plan, without --jsonl")
	}
	if err := env.memoryBeside(f.store); err != nil {
		return err
	}
	s, err := env.runSettings(plc.ToRun, c, f, func() (journal.Store, error) { return openStore(f.store) }, f.jsonl)
	if err != nil {
		return err
	}
	err = env.eachLine(c.Context(), f.jsonl, s, func(l *line) (any, error) { return env.runLine(c.Context(), l, f) })
	return env.reportLostRecord(closeStore(s), err)
}

// runLine runs one plan of a file with many.
func (env *environment) runLine(ctx context.Context, l *line, f *runFlags) (doc any, err error) {
	p := newPrepared(l.load(), l.name(), f)
	if !p.flags.asJSON {
		showf(env.stderr, "%s:\n", l.label())
	}
	if p.invalid != nil {
		if !p.flags.asJSON {
			env.showFindings(p.findings)
		}
		return p.notRun(), exit(exitErrors)
	}
	r, err := env.begin(ctx, p)
	if err != nil {
		return nil, err
	}
	p.tell = func(res *exec.Result) error {
		doc = document{Result: res, Instances: res.Instances, Forecast: p.forecast}
		if !p.flags.asJSON {
			env.tellEnd(p.loaded, res)
		}
		return exitOf(res.Status)
	}
	err = env.runAlone(ctx, p, r)
	return doc, err
}

// notRun returns the document for a plan that must not run.
func (p *prepared) notRun() document {
	return document{Result: p.NotRun("", invalidPlan, whyInvalid(p.findings))}
}
