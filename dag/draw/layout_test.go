package draw

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A drawing is right when nothing lies on anything: boxes are apart or nested,
// and lines keep off the boxes of others.

type rect struct {
	name       string
	x, y, w, h float64
}

func (r rect) apart(o rect) bool {
	return r.x+r.w <= o.x || o.x+o.w <= r.x || r.y+r.h <= o.y || o.y+o.h <= r.y
}

func (r rect) holds(p point) bool {
	const line = 0.01
	return p.x > r.x+line && p.x < r.x+r.w-line && p.y > r.y+line && p.y < r.y+r.h-line
}

func (r rect) contains(o rect) bool {
	return r.x <= o.x && r.y <= o.y && o.x+o.w <= r.x+r.w && o.y+o.h <= r.y+r.h
}

func drawnGraph(t *rapid.T) *Graph {
	g := &Graph{}
	groups := []string{"", "", "a", "a/b", "c"}
	n := rapid.IntRange(1, 25).Draw(t, "nodes")
	for i := range n {
		g.Nodes = append(g.Nodes, Node{
			ID:     fmt.Sprint("call-", i),
			Detail: rapid.SampledFrom([]string{"", "x", "a longer line of text"}).Draw(t, "detail"),
			Group:  rapid.SampledFrom(groups).Draw(t, "group"),
		})
	}
	for range rapid.IntRange(0, 40).Draw(t, "edges") {
		from, to := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
		if from > to && rapid.IntRange(0, 9).Draw(t, "back") > 0 {
			from, to = to, from
		}
		g.Edges = append(g.Edges, Edge{
			From: from, To: to,
			Kind:     Kind(rapid.IntRange(0, 2).Draw(t, "kind")),
			Label:    rapid.SampledFrom([]string{"", "†state.x", "†state.y"}).Draw(t, "label"),
			Critical: rapid.IntRange(0, 4).Draw(t, "critical") == 0,
		})
	}
	return g
}

func TestNothingOverlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := drawnGraph(t)
		s, err := survey(g)
		if err != nil {
			t.Fatal(err)
		}
		p, ok := arrange(s, nodeSize)
		if !ok {
			t.Fatal("too large")
		}
		nodes := make([]rect, len(g.Nodes))
		checkBoxes(t, p.root, nodes)
		for i, e := range g.Edges {
			if e.From != e.To {
				checkCourse(t, &svg{picture: p}, i, nodes)
			}
		}
	})
}

// checkBoxes checks the items of a layout, and notes where the nodes are.
func checkBoxes(t *rapid.T, l *layout, nodes []rect) {
	frame := rect{"frame", l.x, l.y, l.w, l.h}
	var boxes []rect
	for i := range l.items {
		it := &l.items[i]
		r := rect{fmt.Sprint("item ", i), l.x + it.x - it.w/2, l.y + it.y - it.h/2, it.w, it.h}
		switch it.kind {
		case nodeItem:
			nodes[it.node] = r
		case groupItem:
			checkBoxes(t, it.sub, nodes)
		case bendItem, portItem:
			continue
		}
		if !frame.contains(r) {
			t.Fatalf("%v sticks out of %v", r, frame)
		}
		for _, o := range boxes {
			if !r.apart(o) {
				t.Fatalf("%v lies on %v", r, o)
			}
		}
		boxes = append(boxes, r)
	}
}

// checkCourse checks that an edge begins at one of its nodes, ends at the other, and
// touches none between.
func checkCourse(t *rapid.T, v *svg, edge int, nodes []rect) {
	e := &v.Edges[edge]
	points, tip := v.course(int32(edge))
	if r := nodes[e.To]; !onBorder(r, tip.at) {
		t.Fatalf("edge %d→%d ends at %v, not on %v", e.From, e.To, tip.at, r)
	}
	start := points[0]
	if tip.up {
		start = points[len(points)-1]
	}
	if r := nodes[e.From]; !onBorder(r, start) {
		t.Fatalf("edge %d→%d begins at %v, not on %v", e.From, e.To, start, r)
	}
	for i := 1; i < len(points); i++ {
		for _, at := range []float64{0, 0.1, 0.25, 0.5, 0.75, 0.9, 1} {
			p := along(points[i-1], points[i], at)
			for n, r := range nodes {
				if r.holds(p) {
					t.Fatalf("edge %d→%d runs through node %d at %v", e.From, e.To, n, p)
				}
			}
		}
	}
}

func onBorder(r rect, p point) bool {
	return p.x >= r.x && p.x <= r.x+r.w && (p.y == r.y || p.y == r.y+r.h)
}

// along returns a point of the curve between two points, as Bézier drew it.
func along(p, q point, t float64) point {
	u := 1 - t
	x := p.x*(u*u*u+3*u*u*t) + q.x*(3*u*t*t+t*t*t)
	middle := (p.y + q.y) / 2
	y := p.y*u*u*u + middle*(3*u*u*t+3*u*t*t) + q.y*t*t*t
	return point{x, y}
}

// What could stand in one picture without lines that cross does.
func TestNoNeedlessCrossings(t *testing.T) {
	tests := []struct {
		name  string
		edges [][2]int
		nodes int
	}{
		{"two chains, twisted", [][2]int{{0, 3}, {1, 2}}, 4},
		{"a tree, shuffled", [][2]int{{0, 4}, {0, 2}, {4, 1}, {2, 3}, {4, 5}, {2, 6}}, 7},
		{"a fan and its merge", [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 4}, {2, 4}, {3, 4}, {0, 4}}, 5},
		{"a grid", [][2]int{{0, 1}, {1, 2}, {0, 3}, {3, 4}, {1, 4}, {2, 5}, {4, 5}}, 6},
	}
	for _, test := range tests {
		g := &Graph{Nodes: make([]Node, test.nodes)}
		for _, e := range test.edges {
			g.Edges = append(g.Edges, Edge{From: e[0], To: e[1]})
		}
		s, _ := survey(g)
		p, _ := arrange(s, nodeSize)
		for _, c := range p.root.components() {
			c.layers = layersOf(c)
			if n := c.crossings(); n > 0 {
				t.Errorf("%s: %d crossings", test.name, n)
			}
		}
	}
}

// layersOf reads the layers of a component back from its placed items.
func layersOf(c *component) [][]int32 {
	var layers [][]int32
	for i := range c.items {
		it := &c.items[i]
		for len(layers) <= int(it.layer) {
			layers = append(layers, nil)
		}
		layers[it.layer] = append(layers[it.layer], int32(i))
	}
	for _, layer := range layers {
		slices.SortFunc(layer, func(a, b int32) int { return int(c.items[a].pos - c.items[b].pos) })
	}
	return layers
}

// An edge that is shared is shared at one end: whoever follows a line from an end
// that it has to itself finds the one other end.
func TestBendsAreSharedAtOneEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, _ := survey(drawnGraph(t))
		p, _ := arrange(s, nodeSize)
		for _, l := range p.all {
			users := map[int32][]*link{}
			for i := range l.links {
				for _, h := range l.links[i].hops {
					if up := l.hops[h].up; l.items[up].kind == bendItem {
						users[up] = append(users[up], &l.links[i])
					}
				}
			}
			for bend, links := range users {
				for _, k := range links {
					sameFrom, sameTo := k.from == links[0].from, k.to == links[0].to
					if !sameFrom && !sameTo || k.kind != links[0].kind {
						t.Fatalf("bend %d joins %v and %v", bend, k, links[0])
					}
				}
			}
		}
	})
}

func TestLabels(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "†state": 6, "日本語": 6, "é": 1, "e\u0301": 1, "한글": 4, "🚀": 2, "ﾊ": 1} {
		if got := columns(s); got != want {
			t.Errorf("%q takes %d columns, want %d", s, got, want)
		}
	}
	for s, want := range map[string]string{"a\nb": "a b", "\x1b[1m": `\u001b[1m`, "\u202Ex": `\u202ex`, "👩\u200D🚀": "👩\u200D🚀", "\xff": `\xff`, "p\u200Clc": `p\u200clc`} {
		if got := clean(s); got != want {
			t.Errorf("%q is clean as %q, want %q", s, got, want)
		}
	}
	wraps := []struct {
		text        string
		cols, lines int
		want        []string
	}{
		{"", 10, 2, nil},
		{"short", 10, 2, []string{"short"}},
		{"two words here", 10, 2, []string{"two words", "here"}},
		{"fetchUserProfile", 10, 2, []string{"fetchUser", "Profile"}},
		{"abcdefghijklmnop", 10, 2, []string{"abcdefghij", "klmnop"}},
		{"one\ntwo\nthree", 10, 2, []string{"one", "two…"}},
		{"日本語日本語", 5, 2, []string{"日本", "語日…"}},
		{"日本", 1, 2, []string{"日", "本"}},
	}
	for _, test := range wraps {
		if got := wrap(test.text, test.cols, test.lines); fmt.Sprint(got) != fmt.Sprint(test.want) {
			t.Errorf("%q wraps as %q, want %q", test.text, got, test.want)
		}
	}
}
