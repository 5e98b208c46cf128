package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/dag/draw"
	"github.com/plc-lang/plc/tool"
)

func graphCommand(env *environment) *cobra.Command {
	var flags planFlags
	var as string
	c := &cobra.Command{
		Use:   "graph FILE",
		Short: "Draw the graph of a plan",
		Long: `Draw the graph of a plan: its calls and what waits for what. The kinds of edges (data,
order, effect) are told apart and the critical path is marked. A plan with errors is
drawn as far as it goes, cycles with the edges that close them; the errors go to standard error, and the exit code is 1.`,
		Example: `  plc graph plan.json --tools tools.yaml
  plc graph plan.json --tools tools.yaml --as svg > plan.svg
  plc graph plan.json --tools tools.yaml --as mermaid`,
		Args:              wants(1, 1, "one plan"),
		ValidArgsFunction: completePlans(1),
		RunE: func(c *cobra.Command, args []string) error {
			write, err := choice("as", as, map[string]func(io.Writer, *draw.Graph) error{
				"text": draw.Text, "mermaid": draw.Mermaid, "dot": draw.DOT, "svg": draw.SVG, "json": draw.JSON,
			})
			if err != nil {
				return err
			}
			s, err := env.settings(c, &flags, false)
			if err != nil {
				return err
			}
			l, err := env.loadOne(args[0], s)
			if err != nil {
				return err
			}
			if err := write(env.stdout, drawing(l.prog)); err != nil {
				return err
			}
			return env.refuse(s, l, args[0])
		},
	}
	flags.add(c)
	c.Flags().StringVar(&as, "as", "text", "text, mermaid, dot, svg or json")
	complete(c, "as", "text", "mermaid", "dot", "svg", "json")
	return c
}

// refuse is exit 1 when a plan has errors; it shows them.
func (env *environment) refuse(s *settings, l *loaded, name string) error {
	if !l.findings.HasErrors() {
		return nil
	}
	env.showFindings(l.findings)
	env.hintTools(s, l.findings, name)
	return exit(exitErrors)
}

// drawing is the graph of a program as it is drawn.
func drawing(p *compile.Program) *draw.Graph {
	g := &draw.Graph{Nodes: make([]draw.Node, len(p.Calls))}
	for i := range p.Calls {
		c := &p.Calls[i]
		g.Nodes[i] = draw.Node{ID: c.ID, Detail: detail(c), Kind: nodeKind(c)}
	}
	critical := criticalEdges(p)
	for e := range p.Edges() {
		from, to := int(e.From.Place)-1, int(e.To.Place)-1
		edge := draw.Edge{From: from, To: to, Kind: draw.Kind(e.Kind), Critical: critical[[2]int{from, to}], Closes: from >= to}
		if e.Kind == compile.Data {
			edge.Label = e.Path.String()
		}
		g.Edges = append(g.Edges, edge)
	}
	return g
}

// detail is the call's tool, where its id does not say it.
func detail(c *compile.Call) string {
	if c.ID == c.Source.Tool {
		return ""
	}
	return c.Source.Tool
}

func nodeKind(c *compile.Call) string {
	switch {
	case c.Tool == nil:
		return ""
	case c.Effects.ChangesWorld():
		return draw.Changes
	case c.Effects.ReadOnly == tool.Yes || c.Effects.Pure == tool.Yes:
		return draw.ReadOnly
	case c.Activity == nil:
		return draw.Latent
	}
	return ""
}

// criticalEdges are the pairs of neighbours on the critical path.
func criticalEdges(p *compile.Program) map[[2]int]bool {
	path, _ := p.Starts.CriticalPath(nil)
	edges := map[[2]int]bool{}
	for i := 1; i < len(path); i++ {
		edges[[2]int{int(path[i-1]), int(path[i])}] = true
	}
	return edges
}
