package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/compile"
)

func diffCommand(env *environment) *cobra.Command {
	var flags planFlags
	var format string
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Say what changes in meaning between two plans",
		Long: `Say what changes in meaning between two plans: calls added, removed and changed, what
waits for what, and the calls that change the world. White space, comments and the order of
members are no difference. Exit 0 whether they differ or not, 1 when one has errors.`,
		Example: `  plc diff old.json new.json --tools tools.yaml
  plc diff old.json new.json --format json`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := choice("format", format, map[string]bool{"text": true, "json": true}); err != nil {
				return err
			}
			var progs [2]*compile.Program
			for i, name := range args {
				l, err := env.load(name, &flags, false)
				if err != nil {
					return err
				}
				if l.findings.HasErrors() {
					if err := env.showFindings(l.findings); err != nil {
						return err
					}
					return exit(exitErrors)
				}
				progs[i] = l.prog
			}
			d := compile.Compare(progs[0], progs[1])
			if format == "json" {
				return env.writeJSON(d)
			}
			return env.showDiff(d)
		},
	}
	flags.add(c)
	c.Flags().StringVar(&format, "format", "text", "text or json")
	complete(c, "format", "text", "json")
	return c
}

func (env *environment) showDiff(d *compile.Diff) error {
	if d.IsEmpty() {
		_, err := fmt.Fprintln(env.stdout, "no difference in meaning")
		return err
	}
	for _, id := range d.Removed {
		fmt.Fprintf(env.stdout, "- call %s\n", id)
	}
	for _, id := range d.Added {
		fmt.Fprintf(env.stdout, "+ call %s\n", id)
	}
	for _, c := range d.Changed {
		fmt.Fprintf(env.stdout, "~ call %s: %s\n    - %s\n    + %s\n", c.Call, c.What, c.Old, c.New)
	}
	for _, e := range d.EdgesRemoved {
		fmt.Fprintf(env.stdout, "- %s → %s (%s)\n", e.From, e.To, label(e))
	}
	for _, e := range d.EdgesAdded {
		fmt.Fprintf(env.stdout, "+ %s → %s (%s)\n", e.From, e.To, label(e))
	}
	if d.Effects != nil {
		fmt.Fprintf(env.stdout, "~ what changes the world, in order:\n    - %v\n    + %v\n", d.Effects.Old, d.Effects.New)
	}
	return nil
}

func label(e compile.EdgeChange) string {
	if e.Path == "" {
		return e.Kind
	}
	return e.Path
}
