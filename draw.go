package plc

import (
	"strconv"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/dag/draw"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/tool"
)

// maxDrawn is the maximum number of calls in documents that are drawn. A document is drawn once for
// each call that delegates to it.
const maxDrawn = 500

// Draw returns the graph of a program for drawing, with the documents that its calls delegate to,
// down to this depth.
func Draw(p *compile.Program, depth int) *draw.Graph {
	room := maxDrawn
	return drawingOf(p, depth, &room)
}

// DrawCoverage returns the graph that Draw returns, marked with what no test has reached. A call of
// which nothing was reached has one mark.
func DrawCoverage(p *compile.Program, depth int, c *plantest.Coverage) *draw.Graph {
	missed, points := map[string][]string{}, map[string]int{}
	for _, point := range c.Points {
		points[point.Call]++
		if point.Runs == 0 {
			missed[point.Call] = append(missed[point.Call], point.What)
		}
	}
	for call, all := range missed {
		if len(all) == points[call] && len(all) > 1 {
			missed[call] = []string{"all of it"}
		}
	}
	g := Draw(p, depth)
	markMissed(g, "", missed)
	return g
}

// markMissed marks the nodes of a graph, whose paths have a prefix.
func markMissed(g *draw.Graph, prefix string, missed map[string][]string) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		path := prefix + exec.PathOf(n.ID)
		n.Missed = missed[path]
		if n.Inside != nil {
			markMissed(n.Inside, path+"/", missed)
		}
	}
}

// DrawFlow returns the graph that Draw returns, marked with where information goes, according to
// reports that have values (Plan.FlowOfValues): the label of the result of each call, and whether
// its params are allowed. The results of calls in documents have no labels.
func DrawFlow(p *compile.Program, depth int, reports []*flow.Report) *draw.Graph {
	g := Draw(p, depth)
	for i := range g.Edges { // their color has another meaning here
		g.Edges[i].Critical = false
	}
	for _, r := range reports {
		for i := range p.Calls {
			if v := r.Values[p.Calls[i].Source.ToolNode.Span()]; v != nil {
				g.Nodes[i].Marks = append(g.Nodes[i].Marks, labelMarks(r.Policy, v)...)
			}
		}
		marks := map[*compile.Call][]draw.Mark{}
		for _, s := range r.Sinks() {
			if s.Call != nil {
				name := strings.TrimPrefix(s.Name(), strconv.Quote(s.Call.ID)+", ")
				marks[s.Call] = append(marks[s.Call], verdictMark(name, s.Verdict()))
			}
		}
		for _, d := range r.Duties {
			for _, c := range d.Calls {
				marks[c] = append(marks[c], verdictMark(d.Rule.Text, d.Verdict))
			}
		}
		markCalls(g, p, marks)
	}
	return g
}

// labelMarks returns the marks that describe the label of a value.
func labelMarks(policy *flow.Policy, v *flow.Value) []draw.Mark {
	p, l := policy.Said(), v.Label
	trust, secrecy := draw.Mark{Text: "gives what is " + p.Trust.Name(l.Trust), Grade: draw.Middle}, draw.Mark{Text: "and " + p.Secrecy.Name(l.Secrecy), Grade: draw.Middle}
	switch l.Trust {
	case p.Trust.Top():
		trust.Grade = draw.Best
	case p.Trust.Bottom():
		trust.Grade = draw.Worst
	}
	switch {
	case l.Secrecy == p.Secrecy.Top():
		secrecy.Grade = draw.Worst
	case l.Secrecy == p.Secrecy.Bottom() && len(l.Categories) == 0:
		secrecy.Grade = draw.Best
	}
	if len(l.Categories) > 0 {
		secrecy.Text += ", about " + strings.Join(l.Categories, ", ")
	}
	return []draw.Mark{trust, secrecy}
}

// verdictMark returns the mark that describes the verdict on a param or a rule.
func verdictMark(what string, v flow.Verdict) draw.Mark {
	m := draw.Mark{Text: what + ": " + string(v), Grade: draw.Middle}
	switch v {
	case flow.Allowed:
		m.Grade = draw.Best
	case flow.Forbidden:
		m.Grade = draw.Worst
	}
	return m
}

// markCalls marks the calls of a program, and of the documents that are drawn with it.
func markCalls(g *draw.Graph, p *compile.Program, marks map[*compile.Call][]draw.Mark) {
	for i := range g.Nodes {
		n, c := &g.Nodes[i], &p.Calls[i]
		n.Marks = append(n.Marks, marks[c]...)
		if n.Inside != nil {
			markCalls(n.Inside, c.Delegate.Program, marks)
		}
	}
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

// inside returns the graph of the document that a call runs, or nil if it is not to be drawn.
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

// detail returns the call's tool, unless it is also the id, and the document that the call runs.
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
	case c.Effects.Destructive == tool.Yes:
		return draw.Destructive
	case c.Effects.ChangesWorld():
		return draw.Changes
	case c.Effects.ReadOnly == tool.Yes || c.Effects.Pure == tool.Yes:
		return draw.ReadOnly
	case c.Activity == nil:
		return draw.Latent
	}
	return ""
}

// criticalEdges returns the pairs of neighbours on the critical path.
func criticalEdges(p *compile.Program) map[[2]int]bool {
	path, _ := p.Starts.CriticalPath(nil)
	edges := map[[2]int]bool{}
	for i := 1; i < len(path); i++ {
		edges[[2]int{int(path[i-1]), int(path[i])}] = true
	}
	return edges
}
