package draw

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Mermaid writes the graph as a Mermaid flowchart, top down. By default, viewers draw at most 500
// edges.
func Mermaid(w io.Writer, g *Graph) error {
	s, err := surveyFlat(g)
	if err != nil {
		return err
	}
	m := &mermaid{sheet: s, out: bufio.NewWriter(w)}
	m.write()
	return m.out.Flush()
}

type mermaid struct {
	*sheet
	out    *bufio.Writer
	groups int
}

// line writes one statement. User text in it must be escaped.
func (m *mermaid) line(depth int, format string, args ...any) {
	m.out.WriteString(strings.Repeat("  ", depth))
	fmt.Fprintf(m.out, format, args...)
	m.out.WriteByte('\n')
}

func (m *mermaid) write() {
	if m.Title != "" {
		m.line(0, "---")
		m.line(0, "title: %s", quoteYAML(m.Title))
		m.line(0, "---")
	}
	m.line(0, "flowchart TD")
	m.group(m.root(), 1)
	for _, e := range m.Edges {
		m.line(1, "n%d %s%s n%d", e.From, e.Kind.look().mermaid, mermaidEdgeLabel(e.name()), e.To)
	}
	m.styles()
}

func (m *mermaid) group(g *group, depth int) {
	for _, n := range g.nodes {
		look := nodeLook(m.Nodes[n].Kind)
		m.line(depth, `n%d%s"%s"%s:::%s`, n, look.mermaid[0], mermaidLabel(&m.Nodes[n]), look.mermaid[1], look.class)
	}
	for _, sub := range g.groups {
		m.line(depth, `subgraph g%d["%s"]`, m.groups, mermaidText(sub.name))
		m.groups++
		m.group(sub, depth+1)
		m.line(depth, "end")
	}
}

func (m *mermaid) styles() {
	used := map[string]bool{}
	for i := range m.Nodes {
		look := nodeLook(m.Nodes[i].Kind)
		if !used[look.class] {
			used[look.class] = true
			m.line(1, "classDef %s fill:%s,stroke:%s,color:%s", look.class, look.fill, look.stroke, ink)
		}
	}
	var effects, criticals []string
	for i, e := range m.Edges {
		switch {
		case e.Critical:
			criticals = append(criticals, fmt.Sprint(i))
		case e.Kind == Effect:
			effects = append(effects, fmt.Sprint(i))
		}
	}
	if len(effects) > 0 {
		m.line(1, "linkStyle %s stroke:%s", strings.Join(effects, ","), Effect.look().stroke)
	}
	if len(criticals) == 0 {
		return
	}
	m.line(1, "linkStyle %s stroke:%s,stroke-width:3px", strings.Join(criticals, ","), criticalColor)
	m.line(1, "classDef critical stroke:%s,stroke-width:3px", criticalColor)
	for _, n := range m.criticalNodes() {
		m.line(1, "class n%d critical", n)
	}
}

func mermaidLabel(n *Node) string {
	label := mermaidText(n.name())
	if n.Detail != "" {
		label += "<br/>" + mermaidText(n.Detail)
	}
	if n.Status != "" {
		label += "<br/>" + mermaidText("("+n.Status+")")
	}
	return label
}

func mermaidEdgeLabel(label string) string {
	if label == "" {
		return ""
	}
	return `|"` + mermaidText(label) + `"|`
}

// mermaidText escapes a label. Every ASCII character but letters, digits, spaces,
// commas and full stops becomes an entity, so that neither Mermaid nor the Markdown and HTML inside
// its labels find anything of theirs; a number is followed by a space that does not
// break, or "1. x" would be a list.
func mermaidText(s string) string {
	var b strings.Builder
	s = strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n"))
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteString("<br/>")
		}
		mermaidLine(&b, clean(line))
	}
	if b.Len() == 0 {
		return "#160;"
	}
	return b.String()
}

func mermaidLine(b *strings.Builder, line string) {
	marked := false // a space follows the first word, which may be a bullet or a number
	for _, r := range strings.TrimSpace(line) {
		switch {
		case r == ' ' && !marked:
			marked = true
			b.WriteString("#160;")
		case r == ' ' || r == '.' || r == ',' || r >= 0x80 || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		default:
			fmt.Fprintf(b, "#%d;", r)
		}
	}
}

// quoteYAML quotes a title for the front matter: in YAML's double quotes only the
// quote and the backslash are special once control characters are gone.
func quoteYAML(s string) string { return `"` + escapeWith(s, quoted) + `"` }
