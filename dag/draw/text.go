package draw

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The width of a line of text, and the maximum number of targets named for an arrow.
const (
	textWidth  = 100
	maxTargets = 24
)

// Text writes the graph for a terminal: the calls by level, each with its results and the calls
// that get them. A star marks the critical path, ↺ an edge that closes a cycle. Arrows to many
// nodes name the first 24 and count the others; JSON has all of them.
//
//	level 1
//	  * fetch      fetchUserProfile (reads)
//	      †state.profile → *summarize, notify
func Text(w io.Writer, g *Graph) error {
	out := bufio.NewWriter(w)
	if err := writeText(out, g, "", 0); err != nil {
		return err
	}
	return out.Flush()
}

// writeText writes a graph and, below it, the inside of its nodes.
func writeText(out *bufio.Writer, g *Graph, way string, depth int) error {
	s, err := survey(g)
	if err != nil {
		return err
	}
	t := &text{sheet: s, out: out, succ: make([][]int32, len(g.Nodes))}
	for i, e := range g.Edges {
		t.succ[e.From] = append(t.succ[e.From], int32(i))
	}
	t.write()
	for _, n := range t.order {
		node := &g.Nodes[n]
		if node.Inside == nil || depth == maxDepth {
			continue
		}
		inner := way + clean(node.ID)
		fmt.Fprintf(out, "\ninside of %s: ", inner)
		if err := writeText(out, node.Inside, inner+"/", depth+1); err != nil {
			return err
		}
	}
	return nil
}

type text struct {
	*sheet
	out  *bufio.Writer
	succ [][]int32 // edges from each node
}

func (t *text) write() {
	levels := t.byLevel()
	t.head(len(levels))
	for i, level := range levels {
		fmt.Fprintf(t.out, "\nlevel %d", i+1)
		if len(level) > 1 {
			fmt.Fprintf(t.out, " (%d calls)", len(level))
		}
		t.out.WriteByte('\n')
		pad := t.idWidth(level)
		for _, n := range level {
			t.node(n, pad)
		}
	}
	t.legend()
}

func (t *text) head(levels int) {
	if t.Title != "" {
		fmt.Fprintln(t.out, clean(t.Title))
	}
	fmt.Fprintf(t.out, "%s in %s\n", count(len(t.Nodes), "call"), count(levels, "level"))
	path := t.criticalNodes()
	if len(path) == 0 {
		return
	}
	names := make([]string, len(path))
	for i, n := range path {
		names[i] = clean(t.Nodes[n].ID)
	}
	t.list(0, "critical path: ", names, " →")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// idWidth returns the width of the column for the names of a level; longer names stick out.
func (t *text) idWidth(level []int32) int {
	width := 0
	for _, n := range level {
		if c := columns(clean(t.Nodes[n].ID)); c <= 28 {
			width = max(width, c)
		}
	}
	return width
}

func (t *text) node(n int32, pad int) {
	node := &t.Nodes[n]
	mark := " "
	if t.critical[n] {
		mark = "*"
	}
	id := clean(node.ID)
	if about := t.about(node); about != "" {
		id += strings.Repeat(" ", max(0, pad-columns(id))) + "  " + about
	}
	fmt.Fprintf(t.out, "  %s %s\n", mark, strings.TrimRight(id, " "))
	t.arrows(n)
}

// about returns the text after a node's name.
func (t *text) about(node *Node) string {
	var parts []string
	if node.Label != "" && node.Label != node.ID {
		parts = append(parts, clean(node.Label))
	}
	kind := nodeLook(node.Kind).legend
	if kind == "" {
		kind = clean(node.Kind)
	}
	if kind != "" {
		parts = append(parts, "("+kind+")")
	}
	if node.Status != "" {
		parts = append(parts, "["+clean(node.Status)+"]")
	}
	if node.Group != "" {
		parts = append(parts, "in "+clean(node.Group))
	}
	if node.Detail != "" {
		parts = append(parts, shorten(clean(node.Detail), textWidth/2))
	}
	for _, m := range node.Missed {
		parts = append(parts, missedSign+shorten(clean(m), textWidth/2))
	}
	for _, m := range node.Marks {
		parts = append(parts, m.Grade.look().sign+shorten(clean(m.Text), textWidth/2))
	}
	return strings.Join(parts, " ")
}

// arrows writes the edges from a node; edges with the same kind and label are combined.
func (t *text) arrows(n int32) {
	type arrow struct {
		kind  Kind
		label string
	}
	var order []arrow
	targets := map[arrow][]string{}
	for _, i := range t.succ[n] {
		e := &t.Edges[i]
		a := arrow{e.Kind, e.Label}
		if targets[a] == nil {
			order = append(order, a)
		}
		name := clean(t.Nodes[e.To].ID)
		if e.Critical {
			name = "*" + name
		}
		if e.Closes {
			name = closing + name
		}
		targets[a] = append(targets[a], name)
	}
	for _, a := range order {
		head := a.kind.look().text + " "
		if a.label != "" {
			head = shorten(clean(a.label), textWidth/2) + " " + head
		}
		t.list(6, head, targets[a], ",")
	}
}

// list writes names after a head, in lines aligned with the first name.
func (t *text) list(indent int, head string, names []string, sep string) {
	if more := len(names) - maxTargets; more > 1 {
		names = append(names[:maxTargets:maxTargets], fmt.Sprintf("and %d more", more))
	}
	line := strings.Repeat(" ", indent) + head
	start := columns(line)
	used := start
	for i, name := range names {
		if i < len(names)-1 {
			name += sep
		}
		if used > start && used+1+columns(name) > textWidth {
			line += "\n" + strings.Repeat(" ", start)
			used = start
		}
		if used > start {
			name = " " + name
		}
		line += name
		used += columns(name)
	}
	fmt.Fprintln(t.out, line)
}

func (t *text) legend() {
	var parts []string
	for _, k := range edgeKinds() {
		if t.hasEdge(k) {
			parts = append(parts, k.look().text+" "+k.look().legend)
		}
	}
	if len(t.criticalNodes()) > 0 {
		parts = append(parts, "* critical path")
	}
	if slices.ContainsFunc(t.Edges, func(e Edge) bool { return e.Closes }) {
		parts = append(parts, closing+" closes a cycle")
	}
	if len(parts) > 0 {
		fmt.Fprintf(t.out, "\n%s\n", strings.Join(parts, "   "))
	}
}

func (s *sheet) hasEdge(k Kind) bool {
	for i := range s.Edges {
		if s.Edges[i].Kind == k {
			return true
		}
	}
	return false
}
