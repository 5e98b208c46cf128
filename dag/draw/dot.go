package draw

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// DOT writes the graph in the language of Graphviz, one statement per line.
func DOT(w io.Writer, g *Graph) error {
	s, err := surveyFlat(g)
	if err != nil {
		return err
	}
	d := &dot{sheet: s, out: bufio.NewWriter(w)}
	d.write()
	return d.out.Flush()
}

type dot struct {
	*sheet
	out    *bufio.Writer
	groups int
}

func (d *dot) line(depth int, format string, args ...any) {
	d.out.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(d.out, format, args...)
	d.out.WriteByte('\n')
}

func (d *dot) write() {
	d.line(0, "digraph plan {")
	d.line(1, `graph [rankdir=TB,bgcolor=%q,fontname="monospace",labelloc=t,label="%s"];`, paper, dotText(d.Title))
	d.line(1, `node [fontname="monospace",fontcolor=%q,fontsize=12];`, ink)
	d.line(1, `edge [fontname="monospace",fontcolor=%q,fontsize=10];`, faint)
	d.group(d.root(), 1)
	for _, e := range d.Edges {
		d.line(1, "n%d -> n%d [%s];", e.From, e.To, dotEdge(e))
	}
	d.line(0, "}")
}

func (d *dot) group(g *group, depth int) {
	for _, n := range g.nodes {
		d.line(depth, "n%d [%s];", n, d.node(n))
	}
	for _, sub := range g.groups {
		d.line(depth, "subgraph cluster_%d {", d.groups)
		d.groups++
		d.line(depth+1, `graph [label="%s",labeljust=l,style="rounded",color=%q];`, dotText(sub.name), faint)
		d.group(sub, depth+1)
		d.line(depth, "}")
	}
}

func (d *dot) node(n int32) string {
	node := &d.Nodes[n]
	look := nodeLook(node.Kind)
	label := dotText(node.name())
	if node.Detail != "" {
		label += `\n` + dotText(node.Detail)
	}
	if node.Status != "" {
		label += `\n(` + dotText(node.Status) + ")"
	}
	stroke := fmt.Sprintf("color=%q", look.stroke)
	if d.critical[n] {
		stroke = fmt.Sprintf("color=%q,penwidth=3", criticalColor)
	}
	return fmt.Sprintf(`label="%s",%s,fillcolor=%q,%s`, label, look.dot, look.fill, stroke)
}

func dotEdge(e Edge) string {
	look := e.Kind.look()
	stroke := fmt.Sprintf("color=%q", look.stroke)
	if e.Critical {
		stroke = fmt.Sprintf("color=%q,penwidth=3", criticalColor)
	}
	if name := e.name(); name != "" {
		stroke += fmt.Sprintf(`,label="%s"`, dotText(name))
	}
	return fmt.Sprintf(`style=%q,%s`, look.dot, stroke)
}

// dotText escapes a label for double quotes. Graphviz reads escapes and, in every
// label, character entities.
func dotText(s string) string {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = escapeWith(line, dotRune)
	}
	return strings.Join(lines, `\n`)
}

func dotRune(r rune) string {
	if r == '&' {
		return "&amp;"
	}
	return quoted(r)
}
