package draw

import "strings"

// flat returns the graph with the inside of its nodes beside them, each in a box with its node. IDs
// include the path: each/load. The edges must be valid.
func (g *Graph) flat() *Graph {
	if !g.nested() {
		return g
	}
	f := &Graph{Title: g.Title}
	f.add(g, "", "", 0)
	return f
}

func (g *Graph) nested() bool {
	for i := range g.Nodes {
		if g.Nodes[i].Inside != nil {
			return true
		}
	}
	return false
}

// add adds a graph in a box, with IDs that begin with way, and returns the indices of its nodes. It
// omits boxes that are nested too deeply.
func (f *Graph) add(g *Graph, box, way string, depth int) (places []int) {
	for _, n := range g.Nodes {
		inside := n.Inside
		n.Label, n.ID, n.Group, n.Inside = n.name(), way+n.ID, nest(box, n.Group), nil
		places = append(places, len(f.Nodes))
		if inside == nil || depth == maxDepth {
			f.Nodes = append(f.Nodes, n)
			continue
		}
		n.Group = nest(n.Group, strings.ReplaceAll(n.Label, "/", "∕"))
		f.Nodes = append(f.Nodes, n)
		f.addInside(places[len(places)-1], inside, &n, depth+1)
	}
	for _, e := range g.Edges {
		e.From, e.To = places[e.From], places[e.To]
		f.Edges = append(f.Edges, e)
	}
	return places
}

// addInside adds the inside of a node, and the edges through which the node provides the input.
func (f *Graph) addInside(head int, g *Graph, n *Node, depth int) {
	for i, place := range f.add(g, n.Group, n.ID+"/", depth) {
		if g.Nodes[i].Input {
			f.Edges = append(f.Edges, Edge{From: head, To: place, Label: "†input"})
		}
	}
}

// nest returns a box within a box.
func nest(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "/" + b
}
