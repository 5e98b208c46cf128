package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/dag/draw"
	"github.com/plc-lang/plc/tool"
)

func graphCommand(env *environment) *cobra.Command {
	var flags planFlags
	var as string
	var depth int
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
			if err := write(env.stdout, drawing(l.prog, depth)); err != nil {
				return err
			}
			return env.refuse(s, l, args[0])
		},
	}
	flags.add(c)
	c.Flags().StringVar(&as, "as", "text", "text, mermaid, dot, svg or json")
	c.Flags().IntVar(&depth, "depth", 1, "how deep the documents of delegates are drawn; 0 draws none")
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

// maxDrawn is how many calls of delegates' documents are drawn. A document that many calls
// delegate to is drawn with each of them.
const maxDrawn = 500

// drawing is the graph of a program as it is drawn, with the documents of delegates down
// to a depth.
func drawing(p *compile.Program, depth int) *draw.Graph {
	room := maxDrawn
	return drawingOf(p, depth, &room)
}

func drawingOf(p *compile.Program, depth int, room *int) *draw.Graph {
	g := &draw.Graph{Nodes: make([]draw.Node, len(p.Calls))}
	for i := range p.Calls {
		c := &p.Calls[i]
		n := draw.Node{ID: c.ID, Detail: detail(c), Kind: nodeKind(c)}
		if c.Rare != nil {
			n.Group = strings.ReplaceAll(c.Instance, "/", "∕")
			n.Inside = inside(c.Delegate, depth, room)
		}
		g.Nodes[i] = n
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

// inside is what a delegate runs; nil when it is not to be drawn.
func inside(d *compile.Delegate, depth int, room *int) *draw.Graph {
	if d == nil || d.Program == nil || depth == 0 || len(d.Program.Calls) > *room {
		return nil
	}
	*room -= len(d.Program.Calls)
	g := drawingOf(d.Program, depth-1, room)
	g.Title = d.Name
	for t := range d.Program.TypedReads() {
		if t.Call != nil && t.Read.Path[0].Name == "input" {
			g.Nodes[t.Call.Place-1].Input = true
		}
	}
	return g
}

// detail is the call's tool, where its id does not say it, and the document that it runs.
func detail(c *compile.Call) string {
	var words []string
	if c.ID != c.Source.Tool {
		words = append(words, c.Source.Tool)
	}
	if c.Rare != nil && c.Delegate != nil {
		words = append(words, c.Delegate.Name)
	}
	return strings.Join(words, " ")
}

func nodeKind(c *compile.Call) string {
	switch {
	case c.Tool == nil:
		return ""
	case c.Rare != nil && c.Delegate != nil:
		return draw.Delegate
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
