package draw

import (
	"encoding/json"
	"io"
)

type jsonGraph struct {
	Title    string     `json:"title,omitempty"`
	Nodes    []jsonNode `json:"nodes"`
	Edges    []jsonEdge `json:"edges"`
	Critical []string   `json:"critical"`
	Levels   [][]string `json:"levels"`
}

type jsonNode struct {
	ID     string `json:"id"`
	Label  string `json:"label"`
	Detail string `json:"detail,omitempty"`
	Kind   string `json:"kind,omitempty"`
	Status string `json:"status,omitempty"`
	Group  string `json:"group,omitempty"`
	Level  int32  `json:"level"`

	Missed []string   `json:"missed,omitempty"`
	Marks  []jsonMark `json:"marks,omitempty"`
	Inside *jsonGraph `json:"inside,omitempty"`
}

type jsonMark struct {
	Text  string `json:"text"`
	Grade string `json:"grade"`
}

type jsonEdge struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Kind     string `json:"kind"`
	Label    string `json:"label,omitempty"`
	Critical bool   `json:"critical,omitempty"`
	Closes   bool   `json:"closes,omitempty"`
}

// JSON writes the graph as one JSON document:
//
//	{"title": …,
//	 "nodes": [{"id", "label", "detail", "kind", "status", "group", "level", "missed", "marks": [{"text", "grade"}],
//	  "inside": {nodes, edges, …}}],
//	 "edges": [{"from", "to", "kind": "data|order|effect", "label", "critical", "closes"}],
//	 "critical": [ids], "levels": [[ids]]}
//
// Nodes and edges are in the order of the graph, and edges refer to nodes by ID. Empty strings and
// false values are omitted, but lists never are. Levels count from 0.
func JSON(w io.Writer, g *Graph) error {
	out, err := toJSON(g, 0)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

func toJSON(g *Graph, depth int) (*jsonGraph, error) {
	s, err := survey(g)
	if err != nil {
		return nil, err
	}
	out := &jsonGraph{Title: g.Title, Nodes: []jsonNode{}, Edges: []jsonEdge{}, Levels: [][]string{}}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		node := jsonNode{n.ID, n.name(), n.Detail, n.Kind, n.Status, n.Group, s.levels[i], n.Missed, nil, nil}
		for _, m := range n.Marks {
			node.Marks = append(node.Marks, jsonMark{m.Text, m.Grade.String()})
		}
		if n.Inside != nil && depth < maxDepth {
			if node.Inside, err = toJSON(n.Inside, depth+1); err != nil {
				return nil, err
			}
		}
		out.Nodes = append(out.Nodes, node)
	}
	for _, e := range g.Edges {
		out.Edges = append(out.Edges, jsonEdge{g.Nodes[e.From].ID, g.Nodes[e.To].ID, e.Kind.String(), e.Label, e.Critical, e.Closes})
	}
	out.Critical = s.ids(s.criticalNodes())
	for _, level := range s.byLevel() {
		out.Levels = append(out.Levels, s.ids(level))
	}
	return out, nil
}

func (s *sheet) ids(nodes []int32) []string {
	ids := make([]string, len(nodes))
	for i, n := range nodes {
		ids[i] = s.Nodes[n].ID
	}
	return ids
}
