package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/dag/draw"
)

func graphCommand(env *environment) *cobra.Command {
	var flags planFlags
	var write func(io.Writer, *draw.Graph) error
	var jsonl string
	var depth int
	c := &cobra.Command{
		Use:   "graph FILE",
		Short: "Draw the graph of a plan",
		Long: `Draw the graph of a plan: its calls and what waits for what. The kinds of edges (data,
order, effect) are told apart and the critical path is marked. A plan with errors is drawn as
far as it goes, cycles with the edges that close them; the errors go to standard error, and the
exit code is 1.`,
		Example: `  plc graph plan.json --tools tools.yaml
  plc graph plan.json --tools tools.yaml --as svg > plan.svg
  plc graph plan.json --tools tools.yaml --as mermaid`,
		Args:              planOrLines(&jsonl),
		ValidArgsFunction: completePlans(1),
		RunE: func(c *cobra.Command, args []string) error {
			if as := c.Flags().Lookup("as"); jsonl != "" && as.Changed && as.Value.String() != "json" {
				return errors.New("--jsonl writes the graphs as lines of JSON: leave --as out")
			}
			s, err := env.settings(c, &flags, plc.ToCheck, append(args, jsonl)...)
			if err != nil {
				return err
			}
			if jsonl != "" {
				return env.graphLines(c.Context(), jsonl, s, depth)
			}
			l, err := env.loadOne(args[0], s)
			if err != nil {
				return err
			}
			if err := write(env.stdout, plc.Draw(l.prog, depth)); err != nil {
				return err
			}
			return env.refuse(l, args[0])
		},
	}
	flags.add(c)
	addLines(c, &jsonl)
	addChoice(c, &write, "as", "text", "text, mermaid, dot, svg or json", map[string]func(io.Writer, *draw.Graph) error{
		"text": draw.Text, "mermaid": draw.Mermaid, "dot": draw.DOT, "svg": draw.SVG, "json": draw.JSON,
	})
	c.Flags().IntVar(&depth, "depth", 1, "how deep the documents of delegates are drawn; 0 draws none")
	return c
}

// refuse shows the errors of a plan and returns exit 1 if it has any.
func (env *environment) refuse(l *loaded, name string) error {
	if !l.findings.HasErrors() {
		return nil
	}
	env.showFindings(l.findings)
	env.hintTools(l.Checker(), l.findings, name)
	return exit(exitErrors)
}
