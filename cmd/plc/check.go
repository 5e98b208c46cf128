package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/diag"
)

// checkFlags are the flags of plc check.
type checkFlags struct {
	planFlags
	format string
	fix    bool
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
  plc check - --from llm < answer.txt`,
		Args:              wants(1, -1, "a plan"),
		ValidArgsFunction: completePlans(-1),
		RunE: func(c *cobra.Command, args []string) error {
			return env.check(c, args, &f)
		},
	}
	f.add(c)
	f.addVerdict(c)
	c.Flags().BoolVar(&f.lazy, "lazy", false, "take the plan as lazy")
	addFormat(c, &f.format, "json (a line a finding)", "sarif")
	c.Flags().BoolVar(&f.fix, "fix", false, "apply the fixes to the files")
	return c
}

// check is plc check. A file that can't be read does not keep the others from
// being checked.
func (env *environment) check(c *cobra.Command, names []string, f *checkFlags) error {
	write, err := findingsWriter(env, f.format)
	if err != nil {
		return err
	}
	s, err := env.settings(c, &f.planFlags, false)
	if err != nil {
		return err
	}
	all, unread := s.findings, 0
	for _, name := range names {
		findings, err := env.checkFile(name, f, s)
		if err != nil {
			env.complain(err)
			unread++
		}
		all = append(all, findings...)
	}
	if err := write(all); err != nil {
		return err
	}
	if f.format == "text" {
		env.summary(all, len(names)-unread)
		env.hintTools(s, all, names[0])
	}
	if unread > 0 {
		return exit(exitUsage)
	}
	return verdict(all, f.strict)
}

// checkFile checks one plan and, when that is wanted, applies the fixes.
func (env *environment) checkFile(name string, f *checkFlags, s *settings) (diag.List, error) {
	if f.fix && name == "-" {
		return nil, errors.New("--fix changes files, and standard input is none")
	}
	l, err := env.load(name, s)
	if err != nil || !f.fix {
		return l.found(), err
	}
	l, err = env.fix(name, s, l)
	return l.found(), err
}

// found is the findings about a plan; none of one that was not read.
func (l *loaded) found() diag.List {
	if l == nil {
		return nil
	}
	return l.findings
}

// fix applies the fixes of a plan's findings to its file and checks it again.
func (env *environment) fix(name string, s *settings, l *loaded) (*loaded, error) {
	var fixes []*diag.Fix
	for i := range l.findings {
		if f := &l.findings[i]; f.Fix != nil && f.Loc.File == l.prog.File() {
			fixes = append(fixes, f.Fix)
		}
	}
	if len(fixes) == 0 {
		return l, nil
	}
	text, left := diag.ApplyFixes(l.prog.File().Text, fixes)
	if err := replaceFile(name, text); err != nil {
		return l, err
	}
	fmt.Fprintf(env.stderr, "%s: fixed\n", printable(name))
	if left != nil {
		env.hintf("%s: %s; --fix again applies them", name, left)
	}
	return env.load(name, s)
}

// verdict is exit 1 when findings forbid the plan.
func verdict(l diag.List, strict bool) error {
	if l.HasErrors() || strict && l.Count(diag.Warning) > 0 {
		return exit(exitErrors)
	}
	return nil
}

// findingsWriter writes findings to standard output in a format.
func findingsWriter(env *environment, format string) (func(diag.List) error, error) {
	return choice("format", format, map[string]func(diag.List) error{
		"text": func(l diag.List) error { writeText(env.stdout, l, maxShown); return nil },
		"json": func(l diag.List) error { return diag.WriteJSON(env.stdout, l) },
		"sarif": func(l diag.List) error {
			return diag.WriteSARIF(env.stdout, l, &diag.SARIFOptions{Version: version()})
		},
	})
}

// summary counts findings for people.
func (env *environment) summary(l diag.List, plans int) {
	errs, warnings := l.Count(diag.Error), l.Count(diag.Warning)
	switch {
	case errs+warnings > 0:
		fmt.Fprintf(env.stderr, "%s, %s\n", count(errs, "error"), count(warnings, "warning"))
	case plans > 0:
		fmt.Fprintf(env.stderr, "%s: nothing wrong\n", count(plans, "plan"))
	}
}
