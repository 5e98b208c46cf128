package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect/notations"
)

// fmtFlags are the flags of plc fmt.
type fmtFlags struct {
	write, check, dagger bool
	from                 string
}

func fmtCommand(env *environment) *cobra.Command {
	var f fmtFlags
	c := &cobra.Command{
		Use:   "fmt FILE…",
		Short: "Write plans in canonical form",
		Long: `Write plans in canonical form: one call a line where it fits, expressions spaced and
quoted alike. Comments, the order of members, numbers and text stay as they are.
FILE may be - for standard input. With --from llm the plan in a model's answer is
written, mended where it has to be; standard error says where.

With --dagger, $state.user is written †state.user, and within text †{state.user}; so are
$input and the names of data.

A plan in YAML stays in YAML: its lines are indented alike, and how values are spread over
them stays as it is. plc convert writes it in JSON.`,
		Example: `  plc fmt plan.json
  plc fmt -w plans/*.json
  plc fmt --check plans/*.json
  plc fmt -w --dagger plan.json`,
		Args:              wants(1, -1, "a plan"),
		ValidArgsFunction: completePlans(-1),
		RunE:              func(_ *cobra.Command, args []string) error { return env.formatAll(args, &f) },
	}
	c.Flags().BoolVarP(&f.write, "write", "w", false, "write the result to the file")
	c.Flags().BoolVar(&f.check, "check", false, "list the files that are not in canonical form, and exit 1 if there are any")
	c.Flags().BoolVar(&f.dagger, "dagger", false, "write † for the $ of references such as $state.user")
	addFrom(c, &f.from)
	return c
}

// formatAll runs plc fmt. It formats the other files even if one has an error; the worst result
// decides the exit code.
func (env *environment) formatAll(names []string, f *fmtFlags) error {
	if f.write && f.check {
		return errors.New("-w changes files and --check only lists them: give one of the two")
	}
	if foreign, ok := notations.Lookup(f.from); ok {
		return fmt.Errorf("fmt keeps a plan in its notation, and has no form for %s; plc convert --from %s writes it in ours", foreign.What, f.from)
	}
	if !slices.Contains(plc.Notations(), f.from) {
		return fmt.Errorf("--from %q: it is one of %s", f.from, strings.Join(plc.Notations(), ", "))
	}
	if f.write && f.from == "llm" {
		return errors.New("-w would overwrite a model's answer with its plan: leave -w out and redirect the output instead, as in plc fmt --from llm answer.txt > plan.json")
	}
	worst := exit(exitDone)
	for _, name := range names {
		code, err := env.format(name, f)
		if err != nil {
			env.complain(err)
			code = exitUsage
		}
		worst = max(worst, code)
	}
	if worst != exitDone {
		return worst
	}
	return nil
}

// format formats one file.
func (env *environment) format(name string, f *fmtFlags) (exit, error) {
	if f.write && name == "-" {
		return 0, errors.New("-w writes to files, and standard input is none")
	}
	src, err := env.planSource(name)
	if err != nil {
		return 0, err
	}
	given := src.Text
	doc, findings, err := plc.Parse(src, f.from)
	if err != nil {
		return 0, err
	}
	if f.dagger {
		if src, err = env.withDaggers(src, doc); err != nil {
			return 0, err
		}
		if doc, findings, err = plc.Parse(src, f.from); err != nil {
			return 0, err
		}
	}
	out, err := plc.Format(doc)
	if err != nil {
		env.showFindings(findings)
		if !findings.HasErrors() {
			env.complain(fmt.Errorf("%s: %w", shownName(name), err))
		}
		return exitErrors, nil
	}
	env.showFindings(mended(findings))
	same := bytes.Equal(out, given)
	switch {
	case f.check && same, f.write && same:
		return exitDone, nil
	case f.check:
		showf(env.stdout, "%s\n", name)
		return exitErrors, nil
	case f.write:
		return exitDone, durable.WriteFile(name, out)
	}
	_, err = env.stdout.Write(out)
	return exitDone, err
}

// withDaggers returns a plan with † instead of the $ of its references. It warns about references
// that can't be written so.
func (env *environment) withDaggers(src *diag.File, doc *lang.Document) (*diag.File, error) {
	found := lang.Daggers(doc)
	var fixes []*diag.Fix
	var left diag.List
	for _, f := range found {
		if f.Fix != nil {
			fixes = append(fixes, f.Fix)
		} else {
			left = append(left, f)
		}
	}
	env.showFindings(left)
	text, err := diag.ApplyFixes(src.Text, fixes)
	return diag.NewFile(src.Name, text), err
}

// mended returns the findings about repairs that were needed to read the plan in an answer.
func mended(l diag.List) diag.List {
	return slices.DeleteFunc(l, func(f diag.Finding) bool { return f.Code != diag.Mended })
}
