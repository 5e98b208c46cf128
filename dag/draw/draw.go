package draw

import (
	"fmt"
	"strings"

	"github.com/plc-lang/plc/dag"
)

// Graph is a graph to draw. The zero Graph is an empty drawing.
type Graph struct {
	Title string
	Nodes []Node
	Edges []Edge
}

// Node is a call. Only ID is required; it must be unique.
type Node struct {
	ID     string
	Label  string // the displayed name; the ID if empty
	Detail string // a smaller line below it
	Kind   string // one of the constants below; other kinds are drawn plainly
	Status string // as in execution §1; not drawn if empty
	Group  string // the boxes that contain it, outermost first: "a/b"; at most 16
	Inside *Graph // the graph that a delegate runs, drawn in a box with it or below it; may be nil
	Input  bool   // the node reads the input, which the enclosing node provides
	// Missed lists the outcomes of the call that no test has reached. Text, JSON and SVG show it.
	Missed []string
	// Marks describe values of the call. Text, JSON and SVG show them.
	Marks []Mark
}

// Mark is a line of text about a value, with a sign and a colour for its grade.
type Mark struct {
	Text  string
	Grade Grade
}

// Grade says how good something is. The zero Grade is Best.
type Grade uint8

// The grades.
const (
	Best Grade = iota
	Middle
	Worst
)

// String returns the grade in lower case.
func (g Grade) String() string { return [...]string{"best", "middle", "worst"}[min(g, Worst)] }

// The kinds of nodes with a look of their own.
const (
	ReadOnly    = "read-only"
	Changes     = "changes"
	Destructive = "destructive" // changes the world, and may destroy what is there
	Latent      = "latent"
	Delegate    = "delegate"
)

// Edge joins two nodes, given by their indices in Graph.Nodes.
type Edge struct {
	From, To int
	Kind     Kind
	Label    string
	Critical bool // on the critical path
	Closes   bool // closes a cycle
}

// Kind is the kind of an edge (plan-language §5). The zero Kind is Data.
type Kind uint8

// The kinds of edges.
const (
	Data Kind = iota
	Order
	Effect
)

// String returns the kind's name in lower case.
func (k Kind) String() string {
	switch k {
	case Data:
		return "data"
	case Order:
		return "order"
	case Effect:
		return "effect"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// name returns the name of a node in a drawing.
func (n *Node) name() string {
	if n.Label != "" {
		return n.Label
	}
	return n.ID
}

// closing marks the edges that close a cycle.
const closing = "↺"

// name returns the name of an edge in a drawing.
func (e *Edge) name() string {
	if !e.Closes {
		return e.Label
	}
	return strings.TrimSpace(closing + " " + e.Label)
}

// sheet is a graph with the facts that all writers need.
type sheet struct {
	*Graph
	order    []int32 // the nodes, in topological order
	levels   []int32
	critical []bool // the nodes that a critical edge touches
	loops    []bool // the nodes with an edge to themselves
}

// check returns an error if an edge is invalid.
func (g *Graph) check() error {
	for i := range g.Nodes {
		if in := g.Nodes[i].Inside; in != nil {
			if err := in.check(); err != nil {
				return fmt.Errorf("inside of %q: %w", g.Nodes[i].ID, err)
			}
		}
	}
	for i, e := range g.Edges {
		if e.From < 0 || e.From >= len(g.Nodes) || e.To < 0 || e.To >= len(g.Nodes) {
			return fmt.Errorf("edge %d goes from node %d to node %d; the graph has %d nodes, counted from 0", i, e.From, e.To, len(g.Nodes))
		}
		if e.Kind > Effect {
			return fmt.Errorf("edge %d is of no known kind: %d", i, e.Kind)
		}
	}
	return nil
}

func survey(g *Graph) (*sheet, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	s := &sheet{Graph: g, critical: make([]bool, len(g.Nodes)), loops: make([]bool, len(g.Nodes))}
	pairs := make([][2]int32, len(g.Edges))
	for i, e := range g.Edges {
		if e.Critical {
			s.critical[e.From], s.critical[e.To] = true, true
		}
		if e.From == e.To {
			s.loops[e.From] = true
		}
		pairs[i] = [2]int32{int32(e.From), int32(e.To)}
	}
	acyclic, _ := straighten(len(g.Nodes), pairs)
	s.order, s.levels = acyclic.Order(), acyclic.Levels()
	return s, nil
}

// surveyFlat surveys the flat graph, for writers that draw the inside of nodes in boxes.
func surveyFlat(g *Graph) (*sheet, error) {
	if err := g.check(); err != nil {
		return nil, err
	}
	return survey(g.flat())
}

// straighten makes an acyclic graph: it reverses and marks the edges from higher to lower numbers
// among nodes on or behind cycles. It omits edges from a node to itself.
func straighten(nodes int, edges [][2]int32) (*dag.Graph, []bool) {
	turned := make([]bool, len(edges))
	g, loop := build(nodes, edges, turned)
	if loop == nil {
		return g, turned
	}
	placed := make([]bool, nodes)
	for _, n := range g.Order() {
		placed[n] = true
	}
	for i, e := range edges {
		turned[i] = !placed[e[0]] && !placed[e[1]] && e[0] > e[1]
	}
	g, _ = build(nodes, edges, turned)
	return g, turned
}

func build(nodes int, edges [][2]int32, turned []bool) (*dag.Graph, []int32) {
	var b dag.Builder
	for range nodes {
		b.Node()
	}
	for i, e := range edges {
		switch {
		case e[0] == e[1]:
		case turned[i]:
			b.Edge(e[1], e[0])
		default:
			b.Edge(e[0], e[1])
		}
	}
	return b.Build()
}

// byLevel returns the nodes of each level, in topological order.
func (s *sheet) byLevel() [][]int32 {
	var levels [][]int32
	for _, n := range s.order {
		for int(s.levels[n]) >= len(levels) {
			levels = append(levels, nil)
		}
		levels[s.levels[n]] = append(levels[s.levels[n]], n)
	}
	return levels
}

// criticalNodes returns the nodes of the critical path, in topological order.
func (s *sheet) criticalNodes() []int32 {
	path := []int32{}
	for _, n := range s.order {
		if s.critical[n] {
			path = append(path, n)
		}
	}
	return path
}

// group is a box with nodes and further boxes in it. The root is the whole drawing.
type group struct {
	name   string
	nodes  []int32
	groups []*group // by first appearance
	byName map[string]*group
}

const maxDepth = 16

func (g *Graph) root() *group {
	root := &group{}
	for i := range g.Nodes {
		at := root
		for _, name := range g.Nodes[i].path() {
			at = at.child(name)
		}
		at.nodes = append(at.nodes, int32(i))
	}
	return root
}

// path returns the names of the boxes that contain a node.
func (n *Node) path() []string {
	if n.Group == "" {
		return nil
	}
	parts := strings.FieldsFunc(n.Group, func(r rune) bool { return r == '/' })
	return parts[:min(len(parts), maxDepth)]
}

func (g *group) child(name string) *group {
	if c := g.byName[name]; c != nil {
		return c
	}
	if g.byName == nil {
		g.byName = map[string]*group{}
	}
	c := &group{name: name}
	g.byName[name] = c
	g.groups = append(g.groups, c)
	return c
}
