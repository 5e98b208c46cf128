// Package draw turns a labelled graph into something to look at: text for a
// terminal, Mermaid, DOT, JSON, and SVG that it lays out itself.
//
//	g := &draw.Graph{
//		Title: "profile",
//		Nodes: []draw.Node{
//			{ID: "fetch", Label: "fetchUserProfile", Kind: draw.ReadOnly},
//			{ID: "mail", Label: "sendMail", Kind: draw.Changes},
//		},
//		Edges: []draw.Edge{{From: 0, To: 1, Kind: draw.Data, Label: "†state.profile"}},
//	}
//	err := draw.SVG(os.Stdout, g)
//
// The same graph gives the same bytes, on every machine. Labels may hold anything: each writer
// escapes them for its notation, and what could affect a terminal or turn the direction of text is
// shown as an escape such as \u202e. A graph with cycles, as of a plan that does not compile, is
// drawn too: the edges against the order of the list go back up, and those that are said to close a
// cycle are marked.
//
// Text, Mermaid, DOT and JSON are linear in the graph; SVG takes up to [MaxNodes]
// and is bounded in work. All may be called at the same time on one graph, which
// they do not change. The command line is in cli (`plc graph`), the kinds of edges
// in plan-language §5.
package draw
