package draw

import "strings"

// The layout is the usual one of layers (Sugiyama, Tagawa and Toda): cycles are
// turned round, each item gets a layer, edges over several layers get a bend in each
// (layers.go), the layers are sorted to cross few edges (order.go), and the items are
// moved to make edges straight (place.go). What it does its own way:
//
//   - A group is laid out first and then is one item of the group around it. An edge
//     that leaves it passes a port on its border, which is an item of the group inside
//     and a fixed place on the item outside.
//   - The label of edges is an item between the layers, with all edges behind it that
//     leave one node with that label. So labels cover nothing, and a thing that eight
//     nodes read is named once.
//   - Long edges of one kind from one place share their bends: they leave as one line
//     that branches where they part. An edge that has no such company shares the bends
//     of those that end where it does. As a line is shared at one end only, it can
//     always be told who is joined.
//   - What is not joined by edges is laid out apart and packed side by side.

// Sizes, in pixels.
const (
	gapX        = 26.0 // between nodes
	gapBend     = 12.0 // beside a bend
	gapY        = 44.0 // between layers
	gapLabel    = 22.0 // above and below a layer of labels
	bendWidth   = 2.0
	groupPad    = 16.0
	groupTitle  = 22.0
	labelHeight = 16.0
	rowWidth    = 1500.0 // of nodes in one layer, at least; wider ones are broken
)

type itemKind uint8

const (
	nodeItem itemKind = iota
	groupItem
	labelItem
	bendItem
	portItem
)

// item is a rectangle that is placed as a whole.
type item struct {
	kind  itemKind
	node  int32   // for a nodeItem
	sub   *layout // for a groupItem
	text  string  // for a labelItem
	top   bool    // for a portItem: on the upper border
	layer int32
	pos   int32   // position in its layer
	mean  float64 // mean position of its neighbours, while layers are sorted
	x, y  float64 // its middle
	w, h  float64
	up    []int32 // hops that arrive
	down  []int32 // hops that leave

	rowTop, rowBottom float64 // of its layer
}

// hop joins two items of neighbouring layers, from their middles plus an offset.
type hop struct {
	up, down   int32
	upX, downX float64
	pull       float64 // how strongly it wants to be straight
}

// end is a point at which edges attach to an item. On a group it is one of the group's ports.
type end struct{ item, port int32 }

const noPort = -1

// link is a line downwards from item to item in one layout; its hops are ordered from top to
// bottom.
type link struct {
	from, to end
	kind     Kind
	turned   bool // of edges that point up
	critical bool
	hops     []int32
}

// layout is a group with its contents, placed relative to its upper left corner.
type layout struct {
	group  *group
	parent *layout
	self   int32 // its item in the parent
	depth  int
	items  []item
	links  []link
	hops   []hop
	w, h   float64
	x, y   float64 // position of its corner in the whole drawing

	segments []segment
	trunks   map[trunk][]int32
	linked   map[linkKey]int32
	labels   map[labelKey]int32
	ports    map[portKey]int32
}

// segment is the part of an edge that lies in one layout.
type segment struct {
	edge int32
	part part
}

type part uint8

const (
	across part = iota // between two items
	out                // from an item to a port below
	in                 // from a port above to an item
)

type trunk struct {
	end    end
	kind   Kind
	down   bool // shared by links that begin at the end, rather than by links that finish there
	turned bool
}

type linkKey struct {
	from, to end
	kind     Kind
	turned   bool
}

type labelKey struct {
	from   end
	kind   Kind
	text   string
	turned bool
}

type portKey struct {
	item   end
	kind   Kind
	part   part
	turned bool
}

// piece is a link that an edge runs along.
type piece struct {
	layout *layout
	link   int32
}

// picture is the layout of a whole graph.
type picture struct {
	*sheet
	root  *layout
	all   []*layout
	home  []*layout // of each node
	place []int32   // of each node among the items of its home
	size  func(*Node) (w, h float64)
	edges []route
	bends int
}

// route is the path of an edge through the layouts, from top to bottom.
type route struct {
	up, down        []piece // from the upper node out to the common group; from the lower one
	across          []piece
	from, to        int   // nodes, the upper one first
	turned          bool  // the edge points up
	outPort, inPort int32 // the port of the group below, while the layouts are made
}

// arrange lays out a graph. It returns false if there are too many bends for a useful drawing.
func arrange(s *sheet, size func(*Node) (w, h float64)) (*picture, bool) {
	p := &picture{
		sheet: s, size: size, edges: make([]route, len(s.Edges)),
		home: make([]*layout, len(s.Nodes)), place: make([]int32, len(s.Nodes)),
	}
	p.root = p.open(s.Graph.root(), nil)
	p.turn()
	for i := range s.Edges {
		p.divide(int32(i))
	}
	if !p.solve(p.root) {
		return nil, false
	}
	p.root.moveTo(0, 0)
	return p, true
}

// open creates the layouts of a group and of the groups inside it, with their nodes.
func (p *picture) open(g *group, parent *layout) *layout {
	l := &layout{group: g, parent: parent}
	l.trunks, l.linked = map[trunk][]int32{}, map[linkKey]int32{}
	l.labels, l.ports = map[labelKey]int32{}, map[portKey]int32{}
	if parent != nil {
		l.depth = parent.depth + 1
	}
	p.all = append(p.all, l)
	for _, n := range g.nodes {
		w, h := p.size(&p.Nodes[n])
		p.home[n], p.place[n] = l, l.add(item{kind: nodeItem, node: n, w: w, h: h})
	}
	for _, sub := range g.groups {
		child := p.open(sub, l)
		child.self = l.add(item{kind: groupItem, sub: child})
	}
	return l
}

func (l *layout) add(it item) int32 {
	l.items = append(l.items, it)
	return int32(len(l.items) - 1)
}

// turn selects the edges that point up, so that the items of each layout form no cycle. Groups may
// form a cycle even if nodes don't.
func (p *picture) turn() {
	within := map[*layout][]int32{}
	pairs := map[*layout][][2]int32{}
	for i, e := range p.Edges {
		r := &p.edges[i]
		r.from, r.to = e.From, e.To
		l, from, to := p.common(e.From, e.To)
		within[l] = append(within[l], int32(i))
		pairs[l] = append(pairs[l], [2]int32{from, to})
	}
	for _, l := range p.all {
		_, turned := straighten(len(l.items), pairs[l])
		for i, edge := range within[l] {
			if r := &p.edges[edge]; turned[i] {
				r.turned, r.from, r.to = true, r.to, r.from
			}
		}
	}
}

// common returns the innermost layout that contains two nodes, and the items that contain them.
func (p *picture) common(a, b int) (l *layout, from, to int32) {
	la, lb := p.home[a], p.home[b]
	from, to = p.place[a], p.place[b]
	for la != lb {
		if la.depth >= lb.depth {
			la, from = la.parent, la.self
		} else {
			lb, to = lb.parent, lb.self
		}
	}
	return la, from, to
}

// divide splits an edge into segments, one for each layout it passes.
func (p *picture) divide(edge int32) {
	r := &p.edges[edge]
	if r.from == r.to {
		return
	}
	from, to := p.home[r.from], p.home[r.to]
	for from != to {
		if from.depth >= to.depth {
			from.segments = append(from.segments, segment{edge, out})
			from = from.parent
		} else {
			to.segments = append(to.segments, segment{edge, in})
			to = to.parent
		}
	}
	from.segments = append(from.segments, segment{edge, across})
}

// solve lays out a group after those inside it.
func (p *picture) solve(l *layout) bool {
	for i := range l.items {
		if it := &l.items[i]; it.kind == groupItem {
			if !p.solve(it.sub) {
				return false
			}
			it.w, it.h = it.sub.w, it.sub.h
			it.sub.segments = nil
		}
	}
	p.connect(l)
	components := l.components()
	for _, c := range components {
		c.assignLayers()
	}
	if p.bends += l.bend(); p.bends > maxBends {
		return false
	}
	for _, c := range components {
		c.sortLayers()
		c.placeItems()
	}
	l.pack(components)
	return true
}

// connect creates the links of a layout, with their labels and ports.
func (p *picture) connect(l *layout) {
	for _, s := range l.segments {
		r, e := &p.edges[s.edge], &p.Edges[s.edge]
		switch s.part {
		case across:
			r.across = p.join(l, e, r)
		case out:
			from := p.tie(l, r.from, r.outPort)
			r.outPort = l.port(portKey{from, e.Kind, out, r.turned})
			r.up = append(r.up, l.link(from, end{r.outPort, noPort}, e, r.turned))
		case in:
			to := p.tie(l, r.to, r.inPort)
			r.inPort = l.port(portKey{to, e.Kind, in, r.turned})
			r.down = append(r.down, l.link(end{r.inPort, noPort}, to, e, r.turned))
		}
	}
}

// tie returns the end at which a node's edge attaches to an item of a layout: the node itself, or a
// port of the group that contains the node.
func (p *picture) tie(l *layout, node int, port int32) end {
	home := p.home[node]
	if home == l {
		return end{p.place[node], noPort}
	}
	for home.parent != l {
		home = home.parent
	}
	return end{home.self, port}
}

// join links the two ends of an edge, through its label if it has one.
func (p *picture) join(l *layout, e *Edge, r *route) []piece {
	from, to := p.tie(l, r.from, r.outPort), p.tie(l, r.to, r.inPort)
	text := shorten(strings.TrimSpace(clean(e.name())), maxEdgeLabel)
	if text == "" {
		return []piece{l.link(from, to, e, r.turned)}
	}
	key := labelKey{from, e.Kind, text, r.turned}
	label, ok := l.labels[key]
	if !ok {
		label = l.add(item{kind: labelItem, text: text, w: textWidthOf(text, smallText) + 10, h: labelHeight})
		l.labels[key] = label
	}
	middle := end{label, noPort}
	return []piece{l.link(from, middle, e, r.turned), l.link(middle, to, e, r.turned)}
}

// link returns the link between two ends, and creates it if necessary.
func (l *layout) link(from, to end, e *Edge, turned bool) piece {
	key := linkKey{from, to, e.Kind, turned}
	i, ok := l.linked[key]
	if !ok {
		i = int32(len(l.links))
		l.linked[key] = i
		l.links = append(l.links, link{from: from, to: to, kind: e.Kind, turned: turned})
	}
	l.links[i].critical = l.links[i].critical || e.Critical
	return piece{l, i}
}

// port returns the port of an item inside, and creates it if necessary.
func (l *layout) port(key portKey) int32 {
	i, ok := l.ports[key]
	if !ok {
		i = l.add(item{kind: portItem, top: key.part == in, w: bendWidth})
		l.ports[key] = i
	}
	return i
}

// moveTo places a layout, and those inside it, in the whole drawing.
func (l *layout) moveTo(x, y float64) {
	l.x, l.y = x, y
	for i := range l.items {
		if it := &l.items[i]; it.kind == groupItem {
			it.sub.moveTo(x+it.x-it.w/2, y+it.y-it.h/2)
		}
	}
}
