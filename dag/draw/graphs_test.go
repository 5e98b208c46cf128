package draw_test

import (
	"fmt"

	"github.com/plc-lang/plc/dag/draw"
)

// hostile are labels that mean something to one of the notations, or to a terminal.
var hostile = []string{
	`"quoted"`, "`code` and ``` fences", "end", "subgraph x", "a\nb\r\nc\rd", "[x](http://a)", "{{x}}", "(((x",
	"<script>alert(1)</script>", "]]>", "#quot; #35; &amp;", "style x:#abc;", "classDef a fill:#fff;", "%% comment",
	"%%{init: {}}%%", "1. list", "- item", "---", "===", "\x1b[31mred", "\u202Eabc", "a\u2028b", "", " ", "a|b|c",
	`\N \G \"`, `\`, ";", "-->|x|", `click n0 href "x"`, "\x00", "\xff\xfe", "\ufffe", "日本語", "👩‍🚀", "}", "@{shape: x}", "$$x$$", "a/b//c",
}

// graphs are drawn by every writer, and compared with testdata/NAME.FORMAT.
func graphs() map[string]*draw.Graph {
	return map[string]*draw.Graph{
		"empty":    {},
		"chain":    chain(),
		"branches": branches(),
		"fan":      fan(8),
		"subplans": subplans(),
		"cycle":    cycle(),
		"inside":   inside(),
		"hostile":  ofLabels(hostile),
	}
}

func chain() *draw.Graph {
	return &draw.Graph{
		Title: "profile",
		Nodes: []draw.Node{
			{ID: "fetch", Label: "fetchUserProfile", Detail: "userName: †input.name", Kind: draw.ReadOnly, Status: "completed"},
			{ID: "summarize", Kind: draw.Latent, Status: "running"},
			{ID: "mail", Label: "sendMail", Kind: draw.Changes, Status: "pending"},
		},
		Edges: []draw.Edge{
			{From: 0, To: 1, Label: "†state.profile", Critical: true},
			{From: 1, To: 2, Label: "†state.summary", Critical: true},
		},
	}
}

func branches() *draw.Graph {
	return &draw.Graph{
		Title: "two branches",
		Nodes: []draw.Node{
			{ID: "classify", Kind: draw.Latent, Detail: "†state.complaint || †state.question"},
			{ID: "lookup", Label: "lookupOrder", Kind: draw.ReadOnly},
			{ID: "refund", Label: "refundPayment", Kind: draw.Destructive},
			{ID: "answer", Label: "answerQuestion", Kind: draw.Latent},
			{ID: "review", Label: "humanReview", Status: "awaiting"},
			{ID: "reply", Label: "sendReply", Kind: draw.Changes},
		},
		Edges: []draw.Edge{
			{From: 0, To: 1, Label: "†state.complaint"},
			{From: 0, To: 3, Label: "†state.question"},
			{From: 1, To: 2, Label: "†state.order"},
			{From: 0, To: 2, Label: "†state.complaint"},
			{From: 2, To: 5, Label: "†state.receipt"},
			{From: 3, To: 5, Label: "†state.answer"},
			{From: 2, To: 5, Kind: draw.Effect},
			{From: 3, To: 4, Kind: draw.Order},
			{From: 4, To: 5, Kind: draw.Order},
		},
	}
}

// inside returns a plan that maps another one over pages, which delegates once more.
func inside() *draw.Graph {
	return &draw.Graph{
		Nodes: []draw.Node{
			{ID: "pages", Kind: draw.ReadOnly},
			{ID: "each/page", Detail: "forEach page.json", Kind: draw.Delegate, Inside: &draw.Graph{
				Title: "page.json",
				Nodes: []draw.Node{
					{ID: "load", Kind: draw.ReadOnly, Input: true},
					{ID: "translate", Kind: draw.Delegate, Inside: &draw.Graph{
						Nodes: []draw.Node{{ID: "detect", Input: true}, {ID: "write"}},
						Edges: []draw.Edge{{From: 0, To: 1, Label: "†state.language", Critical: true}},
					}},
				},
				Edges: []draw.Edge{{From: 0, To: 1, Label: "†state.text", Critical: true}},
			}},
			{ID: "report", Kind: draw.Changes},
		},
		Edges: []draw.Edge{
			{From: 0, To: 1, Label: "†state.pages", Critical: true},
			{From: 1, To: 2, Label: "†state.texts", Critical: true},
		},
	}
}

// fan returns one call that n calls need, and one that needs them all.
func fan(n int) *draw.Graph {
	g := &draw.Graph{Title: "fan", Nodes: []draw.Node{{ID: "plan"}, {ID: "merge"}}}
	for i := range n {
		g.Nodes = append(g.Nodes, draw.Node{ID: fmt.Sprintf("search-%d", i+1), Label: "search", Kind: draw.ReadOnly})
		g.Edges = append(g.Edges,
			draw.Edge{From: 0, To: i + 2, Label: "†state.queries"},
			draw.Edge{From: i + 2, To: 1, Label: fmt.Sprintf("†state.found[%d]", i)})
	}
	return g
}

func subplans() *draw.Graph {
	return &draw.Graph{
		Title: "sub-plans",
		Nodes: []draw.Node{
			{ID: "ask", Label: "askUser", Kind: draw.Latent},
			{ID: "research", Kind: draw.Delegate},
			{ID: "research/search", Label: "search", Kind: draw.ReadOnly, Group: "research"},
			{ID: "research/deep/fetch", Label: "fetch", Kind: draw.ReadOnly, Group: "research/deep"},
			{ID: "research/deep/parse", Label: "parse", Group: "research/deep"},
			{ID: "research/sum", Label: "summarize", Kind: draw.Latent, Group: "research"},
			{ID: "mail", Label: "sendMail", Kind: draw.Changes},
			{ID: "budget", Label: "checkBudget", Kind: draw.ReadOnly},
			{ID: "alone", Label: "logStart"},
		},
		Edges: []draw.Edge{
			{From: 0, To: 1, Label: "†state.topic", Critical: true},
			{From: 1, To: 2, Label: "†input"},
			{From: 1, To: 3, Label: "†input", Critical: true},
			{From: 3, To: 4, Label: "†state.html", Critical: true},
			{From: 2, To: 5, Label: "†state.hits"},
			{From: 4, To: 5, Label: "†state.facts", Critical: true},
			{From: 5, To: 6, Label: "†state.notes", Critical: true},
			{From: 0, To: 7, Label: "†state.topic"},
			{From: 7, To: 6, Kind: draw.Order},
		},
	}
}

func cycle() *draw.Graph {
	g := &draw.Graph{Title: "a cycle"}
	for i := range 5 {
		g.Nodes = append(g.Nodes, draw.Node{ID: fmt.Sprintf("step-%d", i)})
	}
	g.Edges = []draw.Edge{{From: 0, To: 1}, {From: 1, To: 2}, {From: 2, To: 3, Label: "†state.c"}, {From: 3, To: 1, Label: "†state.d", Closes: true}, {From: 3, To: 4}, {From: 4, To: 4, Closes: true}}
	return g
}

// ofLabels returns a graph with each label in every place.
func ofLabels(labels []string) *draw.Graph {
	g := &draw.Graph{Title: labels[0]}
	kinds := []string{draw.ReadOnly, draw.Changes, draw.Latent, draw.Delegate}
	for i, l := range labels {
		n := draw.Node{ID: l, Label: l, Detail: l, Kind: append(kinds, l)[i%5], Status: l}
		if i%3 > 0 {
			n.Group = labels[i*7%len(labels)]
		}
		g.Nodes = append(g.Nodes, n)
		if i > 0 {
			g.Edges = append(g.Edges, draw.Edge{From: i / 2, To: i, Label: l, Kind: draw.Kind(i % 3), Critical: i%4 == 0})
		}
	}
	return g
}

// ladder returns n calls of which each needs the ones before it by several ways.
func ladder(n int) *draw.Graph {
	g := &draw.Graph{Title: "ladder"}
	for i := range n {
		g.Nodes = append(g.Nodes, draw.Node{ID: fmt.Sprintf("call-%d", i), Label: "step"})
		for _, back := range []int{1, 2, 7} {
			if i >= back*10 {
				g.Edges = append(g.Edges, draw.Edge{From: i - back*10, To: i, Label: fmt.Sprintf("†state.v%d", i-back*10)})
			}
		}
	}
	return g
}
