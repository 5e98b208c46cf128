package main

import (
	"bytes"
	"cmp"
	"errors"
	"iter"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/durable"
)

// checkFlags are the flags of plc check.
type checkFlags struct {
	planFlags
	format string
	fix    bool
	types  bool

	jsonl   string
	summary bool
}

func checkCommand(env *environment) *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check FILE…",
		Short: "Compile plans and report every finding",
		Long: `Compile plans and report every finding, with its place and, where there is one, a
fix. Nothing is run. FILE may be - for standard input. Exit 1 when a plan has errors;
with --strict, warnings count as well. plc explain CODE says more about a finding.`,
		Example: `  plc check plan.json --tools tools.yaml
  plc check plans/*.json --format sarif > findings.sarif
  plc check - --from llm < answer.txt
  plc check --jsonl plans.jsonl --from llmcompiler --summary`,
		Args:              wants(0, -1, "a plan"),
		ValidArgsFunction: completePlans(-1),
		RunE: func(c *cobra.Command, args []string) error {
			return env.check(c, args, &f)
		},
	}
	f.add(c)
	f.addVerdict(c)
	c.Flags().BoolVar(&f.spec.Lazy, "lazy", false, "take the plan as lazy")
	addChoice(c, &f.format, "format", "text", "text, json (a line a finding) or sarif", itself("text", "json", "sarif"))
	c.Flags().BoolVar(&f.fix, "fix", false, "apply the fixes to the files, and say which")
	c.Flags().StringVar(&f.jsonl, "jsonl", "", "check the plans of this file, one a line or all in a list over lines: a plan, a string that holds one, or {\"id\": …, \"plan\": either}; of a table, FILE.csv, one a row")
	c.Flags().BoolVar(&f.summary, "summary", false, "count the findings by code instead of showing them")
	must(c.MarkFlagFilename("jsonl", "jsonl", "json", "csv"))
	c.Flags().BoolVar(&f.types, "types", false, "print the type of every reference as well (text only)")
	return c
}

// check runs plc check. A file that can't be read does not keep the others from
// being checked.
func (env *environment) check(c *cobra.Command, names []string, f *checkFlags) error {
	switch {
	case len(names) == 0 && f.jsonl == "":
		return wants(1, -1, "a plan")(c, names)
	case len(names) > 0 && f.jsonl != "":
		return errors.New("--jsonl names the file with the plans: leave the others out")
	case f.types && f.format != "text":
		return errors.New("--types goes with --format text")
	case (f.fix || f.types) && (f.jsonl != "" || f.summary):
		return errors.New("--fix and --types are for plans one by one, without --jsonl and --summary")
	}
	if none, err := env.noneCanBeRead(names, f); none {
		return err
	}
	s, err := env.settings(c, &f.planFlags, plc.ToCheck, f.jsonl)
	if err != nil {
		return err
	}
	if f.spec.Instances.Name != "" {
		if err := s.CheckLines(); err != nil {
			return err
		}
	}
	defer env.hintUnused(s, f.spec.Verbose)
	if f.fix || f.types {
		return env.reportAll(names, f, s, env.checkEach(names, f, s))
	}
	plans := s.ListFiles(names)
	if f.jsonl != "" {
		names = []string{f.jsonl}
		if plans, err = s.ListPlans(f.jsonl); err != nil {
			return err
		}
	}
	return env.reportAll(names, f, s, s.CheckAll(plans))
}

// fixable counts the findings that have a fix.
func fixable(l diag.List) (n int) {
	for i := range l {
		if l[i].Fix != nil {
			n++
		}
	}
	return n
}

// noneCanBeRead reports whether there are plans but none can be read. In that case it prints the
// errors, and its own error is the exit code.
func (env *environment) noneCanBeRead(names []string, f *checkFlags) (bool, error) {
	var faults []error
	for _, name := range names {
		if err := canRead(name); err != nil {
			faults = append(faults, err)
		}
	}
	if len(names) == 0 || len(faults) < len(names) {
		return false, nil
	}
	report, err := env.reportOf(f)
	if err != nil {
		return true, err
	}
	for _, err := range faults {
		env.complain(err)
	}
	report.list(nil)
	return true, cmp.Or(report.end(newTally(nil)), error(exit(exitUsage)))
}

// checkEach checks plans one by one, for flags that change their files or print more than findings.
func (env *environment) checkEach(names []string, f *checkFlags, s *plc.Checker) iter.Seq[*plc.ListedPlan] {
	return func(yield func(*plc.ListedPlan) bool) {
		for _, name := range names {
			l, err := env.checkFile(name, f, s)
			if l != nil {
				p := &plc.ListedPlan{Findings: l.findings, Errors: l.findings.Count(diag.Error)}
				if p.Errors == 0 {
					p.Unimplemented, p.UncheckedInput = l.Unimplemented(), l.UncheckedInput()
				}
				if !yield(p) {
					return
				}
			}
			if err != nil && !yield(&plc.ListedPlan{Err: err}) {
				return
			}
		}
	}
}

// checkFile checks one plan and, with --fix, applies the fixes.
func (env *environment) checkFile(name string, f *checkFlags, s *plc.Checker) (*loaded, error) {
	if f.fix && name == "-" {
		return nil, errors.New("--fix changes files, and standard input is none")
	}
	l, err := env.load(name, s)
	if err == nil && f.fix {
		l, err = env.fix(name, s, l)
	}
	if err == nil && f.types {
		env.types(l.prog)
	}
	return l, err
}

// types prints the type of every reference of a plan.
func (env *environment) types(prog *compile.Program) {
	for t := range prog.TypedReads() {
		at := prog.Loc(t.Read.Span).Origin()
		p := at.File.Position(int(at.Span.Start))
		showf(env.stdout, "%s:%d:%d: %s: %s\n", at.File.Name, p.Line, p.Column, t.Read.Path, t)
	}
}

// maxFixes limits the rounds of fixes of a plan, since some findings appear only after others were
// fixed.
const maxFixes = 20

// fix applies the fixes of a plan's findings to its file, lists them, and checks the plan again,
// until there are no more fixes. It leaves fixes of texts with two possible meanings to the user,
// and says so.
func (env *environment) fix(name string, s *plc.Checker, l *loaded) (*loaded, error) {
	for range maxFixes {
		next, err := env.fixOnce(name, s, l)
		if err != nil {
			return l, err
		}
		if next == l {
			break
		}
		l = next
	}
	left := 0
	for i := range l.findings {
		if f := &l.findings[i]; f.Fix != nil && !f.Sure() && f.Severity != diag.Info {
			left++
		}
	}
	if left > 0 {
		showf(env.stderr, "%s: %s with two readings left to you\n", name, count(left, "finding"))
	}
	return l, nil
}

// fixOnce applies the fixes once; it returns l itself if there are none.
func (env *environment) fixOnce(name string, s *plc.Checker, l *loaded) (*loaded, error) {
	var fixes []*diag.Fix
	for _, f := range l.Fixes() {
		fixes = append(fixes, f.Fix)
		p := f.Loc.File.Position(int(f.Loc.Span.Start))
		showf(env.stderr, "%s:%d:%d: %s: %s\n", name, p.Line, p.Column, f.Code, f.Fix.Message)
	}
	if len(fixes) == 0 {
		return l, nil
	}
	before := l.prog.File().Origin().Text
	text, _ := diag.ApplyFixes(before, fixes) // a fix that overlaps another is applied in the next round
	if bytes.Equal(text, before) {
		return l, nil
	}
	if err := durable.WriteFile(name, text); err != nil {
		return l, err
	}
	showf(env.stderr, "%s: fixed\n", name)
	return env.load(name, s)
}

// verdict returns exit 1 if there are errors, or with strict also warnings.
func verdict(l diag.List, strict bool) error {
	if l.HasErrors() || strict && l.Count(diag.Warning) > 0 {
		return exit(exitErrors)
	}
	return nil
}

// writeFindings writes findings to standard output in a format.
func (env *environment) writeFindings(format string, l diag.List) error {
	switch format {
	case "json":
		return diag.WriteJSON(env.stdout, l)
	case "sarif":
		return diag.WriteSARIF(env.stdout, l, &diag.SARIFOptions{Version: version()})
	}
	writeText(env.stdout, l, maxShown)
	return nil
}

// summary prints the numbers of findings for people.
func (env *environment) summary(errs, warnings, plans int) {
	switch {
	case errs+warnings > 0:
		showf(env.stderr, "%s, %s\n", count(errs, "error"), count(warnings, "warning"))
	case plans > 0:
		showf(env.stderr, "%s: nothing wrong\n", count(plans, "plan"))
	}
}
