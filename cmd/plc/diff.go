package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/internal/display"
)

func diffCommand(env *environment) *cobra.Command {
	var flags planFlags
	var asJSON, exitCode bool
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say what changes in meaning between two plans",
		Long: `Say what changes in meaning between two plans: calls added, removed and changed, what
waits for what, and the calls that change the world. White space, comments and the order of
members are no difference. Exit 0 whether they differ or not, 1 when one has errors or,
with --exit-code, when they differ.`,
		Example: `  plc diff old.json new.json --tools tools.yaml
  plc diff old.json new.json --format json
  git show HEAD:plan.json | plc diff - plan.json`,
		Args:              wants(2, 2, "two plans"),
		ValidArgsFunction: completePlans(2),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := env.compare(c, args, &flags)
			switch {
			case err != nil:
				return err
			case asJSON:
				err = env.writeJSON(d)
			default:
				err = showDiff(env.stdout, d)
			}
			if err == nil && exitCode && !d.IsEmpty() {
				return exit(exitErrors)
			}
			return err
		},
	}
	c.Flags().BoolVar(&exitCode, "exit-code", false, "exit 1 when the plans differ")
	flags.add(c)
	addFormat(c, &asJSON, "text or json")
	return c
}

// compare compiles two plans and returns the differences in their meaning.
func (env *environment) compare(c *cobra.Command, names []string, f *planFlags) (*report.Diff, error) {
	s, err := env.settings(c, f, plc.ToCheck, names...)
	if err != nil {
		return nil, err
	}
	var progs [2]*compile.Program
	for i, name := range names {
		l, err := env.loadOne(name, s)
		if err == nil {
			err = env.refuse(l, name)
		}
		if err != nil {
			return nil, err
		}
		progs[i] = l.prog
	}
	return report.Compare(progs[0], progs[1]), nil
}

// showDiff shows the differences to people.
func showDiff(w io.Writer, d *report.Diff) error {
	out := newBuffered(w)
	if d.IsEmpty() {
		showf(out, "no difference in meaning\n")
	}
	writeDiff(out, d)
	for _, doc := range d.Documents {
		showf(out, "in %s:\n", display.Name(doc.Document))
		writeDiff(out, doc.Diff)
	}
	return out.Flush()
}

// writeDiff writes the differences of one document.
func writeDiff(out io.Writer, d *report.Diff) {
	line := func(format display.Literal, args ...any) { showf(out, "%s\n", display.Sprintf(format, args...)) }
	for _, id := range d.Removed {
		line("- call %s", id)
	}
	for _, id := range d.Added {
		line("+ call %s", id)
	}
	for _, c := range d.Changed {
		line("~ call %s: %s", c.Call, c.What)
		line("    - %s", c.Old)
		line("    + %s", c.New)
	}
	for _, e := range d.EdgesRemoved {
		line("- %s → %s (%s)", e.From, e.To, label(e))
	}
	for _, e := range d.EdgesAdded {
		line("+ %s → %s (%s)", e.From, e.To, label(e))
	}
	if d.Effects != nil {
		line("~ what changes the world, in order:")
		line("    - %s", list(d.Effects.Old))
		line("    + %s", list(d.Effects.New))
	}
	for _, c := range d.Other {
		line("~ %s", c.What)
		line("    - %s", c.Old)
		line("    + %s", c.New)
	}
}

func list(ids []string) string {
	if len(ids) == 0 {
		return "nothing"
	}
	return strings.Join(ids, ", ")
}

func label(e report.EdgeChange) string {
	if e.Path == "" {
		return e.Kind
	}
	return e.Path
}
