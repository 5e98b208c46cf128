package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/plc-lang/plc/diag"
)

func checkCommand(env *environment) *cobra.Command {
	var flags planFlags
	var format string
	var fix bool
	c := &cobra.Command{
		Use:   "check FILE…",
		Short: "Compile plans and report every finding",
		Long: `Compile plans and report every finding, with its place and, where there is one, a
fix. Nothing is run. FILE may be - for standard input. Exit 1 when a plan has errors;
with --strict, warnings count as well.`,
		Example: `  plc check plan.json --tools tools.yaml
  plc check plans/*.json --format sarif > findings.sarif
  plc check - --from llm < answer.txt`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			write, err := findingsWriter(env, format)
			if err != nil {
				return err
			}
			var all diag.List
			for _, name := range args {
				l, err := env.load(name, &flags, false)
				if err != nil {
					return err
				}
				if fix && name != "-" {
					if l, err = env.fix(name, &flags, l); err != nil {
						return err
					}
				}
				all = append(all, l.findings...)
			}
			if err := write(all); err != nil {
				return err
			}
			if format == "text" {
				summary(env.stderr, all, len(args))
			}
			return verdict(all, flags.strict)
		},
	}
	flags.add(c)
	c.Flags().BoolVar(&flags.lazy, "lazy", false, "take the plan as lazy")
	c.Flags().StringVar(&format, "format", "text", "text, json (a line a finding) or sarif")
	c.Flags().BoolVar(&fix, "fix", false, "apply the fixes to the files")
	complete(c, "format", "text", "json", "sarif")
	return c
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
		"text": func(l diag.List) error {
			return diag.WriteText(env.stdout, l, &diag.TextOptions{Color: colored(env.stdout), Max: maxShown})
		},
		"json": func(l diag.List) error { return diag.WriteJSON(env.stdout, l) },
		"sarif": func(l diag.List) error {
			return diag.WriteSARIF(env.stdout, l, &diag.SARIFOptions{Version: version()})
		},
	})
}

// maxShown is how many findings are shown to people.
const maxShown = 200

// colored reports whether w is a terminal that wants colour.
func colored(w io.Writer) bool {
	_, no := os.LookupEnv("NO_COLOR")
	return !no && isTerminal(w)
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func summary(w io.Writer, l diag.List, plans int) {
	errors, warnings := l.Count(diag.Error), l.Count(diag.Warning)
	switch {
	case errors+warnings > 0:
		fmt.Fprintf(w, "%s, %s\n", count(errors, "error"), count(warnings, "warning"))
	default:
		fmt.Fprintf(w, "%s: nothing wrong\n", count(plans, "plan"))
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func sortedList(names []string) string {
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// fix applies the fixes of a plan's findings to its file and checks it again.
func (env *environment) fix(name string, flags *planFlags, l *loaded) (*loaded, error) {
	var fixes []*diag.Fix
	for i := range l.findings {
		if f := &l.findings[i]; f.Fix != nil && f.Loc.File == l.prog.File() {
			fixes = append(fixes, f.Fix)
		}
	}
	if len(fixes) == 0 {
		return l, nil
	}
	text, err := diag.ApplyFixes(l.prog.File().Text, fixes)
	if err != nil {
		return nil, err
	}
	if err := replaceFile(name, text); err != nil {
		return nil, err
	}
	fmt.Fprintf(env.stderr, "%s: applied %s\n", name, count(len(fixes), "fix"))
	return env.load(name, flags, false)
}
