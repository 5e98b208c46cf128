package draw

import (
	"math"
	"slices"

	"github.com/plc-lang/plc/dag"
)

// assignLayers assigns each item the first layer below all items that link to it, unless that layer
// is full. Items with more links down than up then move down as far as possible, so that a call
// needed only late is drawn near the call that needs it. Labels, if any, get the odd layers, as
// high up as possible. Ports are above and below everything else.
func (c *component) assignLayers() {
	a := assignment{component: c, graph: c.graph(), step: 1, width: map[int32]float64{}, limit: c.widthLimit()}
	if len(c.labels) > 0 {
		a.step = 2
	}
	order := a.graph.Order()
	for _, i := range order {
		a.assign(i)
	}
	for n := len(order) - 1; n >= 0; n-- {
		a.lower(order[n])
	}
	last := int32(-1)
	for _, i := range order {
		it := a.item(i)
		if it.kind == labelItem {
			it.layer = a.highest(i)
		}
		if it.kind != portItem {
			last = max(last, it.layer)
		}
	}
	c.placePorts(last)
}

// assignment assigns layers to the members of a component, which it identifies by index.
type assignment struct {
	*component
	graph *dag.Graph
	step  int32             // between layers of nodes
	width map[int32]float64 // that is taken of each layer
	limit float64
}

func (a *assignment) item(i int32) *item { return &a.items[a.members[i]] }

func (a *assignment) assign(i int32) {
	it := a.item(i)
	if it.kind == portItem {
		return
	}
	it.layer = a.highest(i)
	for !a.fits(it, it.layer) {
		it.layer += a.step
	}
	a.width[it.layer] += it.w + gapX
}

func (a *assignment) fits(it *item, layer int32) bool {
	return it.kind == labelItem || a.width[layer] == 0 || a.width[layer]+it.w <= a.limit
}

// highest returns the first layer below all items that link to a member.
func (a *assignment) highest(i int32) int32 {
	layer := int32(0)
	for _, p := range a.graph.Pred(i) {
		if above := a.item(p); above.kind != portItem {
			layer = max(layer, above.layer+a.apart(above, a.item(i)))
		}
	}
	return layer
}

// apart returns the number of layers between two linked items.
func (a *assignment) apart(above, below *item) int32 {
	if above.kind == labelItem || below.kind == labelItem {
		return 1
	}
	return a.step
}

// lower moves a member down towards the items it links to, if that shortens more links than it
// lengthens. Labels move along.
func (a *assignment) lower(i int32) {
	it, up, down := a.item(i), len(a.graph.Pred(i)), a.graph.Succ(i)
	if it.kind == portItem || len(down) == 0 || len(down) <= up && it.kind != labelItem {
		return
	}
	layer := int32(math.MaxInt32)
	for _, s := range down {
		if below := a.item(s); below.kind != portItem {
			layer = min(layer, below.layer-a.apart(it, below))
		}
	}
	if layer == math.MaxInt32 {
		return
	}
	for layer > it.layer && !a.fits(it, layer) {
		layer -= a.step
	}
	a.width[it.layer] -= it.w + gapX
	it.layer = max(it.layer, layer)
	a.width[it.layer] += it.w + gapX
}

// graph returns the members and their links.
func (c *component) graph() *dag.Graph {
	var b dag.Builder
	local := make(map[int32]int32, len(c.members))
	for _, i := range c.members {
		local[i] = b.Node()
	}
	for _, i := range c.links {
		k := &c.layout.links[i]
		b.Edge(local[k.from.item], local[k.to.item])
	}
	g, loop := b.Build()
	if loop != nil {
		panic("draw: a cycle that was not turned round")
	}
	return g
}

// widthLimit returns the maximum width of a layer: enough for most plans to have their levels as
// layers, and otherwise enough for a drawing that is slightly wider than high.
func (c *component) widthLimit() float64 {
	area := 0.0
	for _, i := range c.members {
		area += float64((c.items[i].w + gapX) * (c.items[i].h + gapY))
	}
	return max(rowWidth, 1.6*math.Sqrt(area))
}

// placePorts puts the ports above layer 0 and below the last, and makes the list of layers.
func (c *component) placePorts(last int32) {
	shift := int32(0)
	for _, i := range c.members {
		if c.items[i].kind == portItem && c.items[i].top {
			shift = 1
		}
	}
	bottom := last + shift
	for _, i := range c.members {
		it := &c.items[i]
		switch {
		case it.kind != portItem:
			it.layer += shift
		case it.top:
			it.layer = 0
		default:
			it.layer = last + shift + 1
			bottom = it.layer
		}
	}
	c.layers = make([][]int32, bottom+1)
}

// bend creates the hops of all links, with a bend in each layer that a link passes, and returns the
// number of bends.
func (l *layout) bend() int {
	before := len(l.items)
	joined := map[[2]end]int32{}
	long := l.countLong()
	for i := range l.links {
		k := &l.links[i]
		at := k.from
		for _, b := range l.bends(int32(i), long) {
			next := end{b, noPort}
			k.hops = append(k.hops, l.hop(joined, at, next, k.critical))
			at = next
		}
		k.hops = append(k.hops, l.hop(joined, at, k.to, k.critical))
		if len(l.items)-before > maxBends {
			break
		}
	}
	return len(l.items) - before
}

// countLong counts the links over several layers that begin at one end.
func (l *layout) countLong() map[trunk]int {
	long := map[trunk]int{}
	for _, k := range l.links {
		if l.span(&k) > 0 {
			long[trunk{k.from, k.kind, true, k.turned}]++
		}
	}
	return long
}

// span returns the number of layers between the ends of a link.
func (l *layout) span(k *link) int {
	return int(l.items[k.to.item].layer-l.items[k.from.item].layer) - 1
}

// bends returns the bends of a link in the layers between its ends, from top to bottom. Links share
// bends as described in layout.go.
func (l *layout) bends(i int32, long map[trunk]int) []int32 {
	k := &l.links[i]
	n := l.span(k)
	if n == 0 {
		return nil
	}
	key := trunk{k.from, k.kind, true, k.turned}
	if long[key] == 1 {
		key.end, key.down = k.to, false
	}
	away, by := l.items[k.from.item].layer, int32(1)
	if !key.down {
		away, by = l.items[k.to.item].layer, -1
	}
	for len(l.trunks[key]) < n {
		layer := away + by*int32(len(l.trunks[key])+1)
		l.trunks[key] = append(l.trunks[key], l.add(item{kind: bendItem, layer: layer, w: bendWidth}))
	}
	bends := slices.Clone(l.trunks[key][:n])
	if !key.down {
		slices.Reverse(bends)
	}
	return bends
}

// hop returns the hop between two ends. Links that pass the same bend share it.
func (l *layout) hop(joined map[[2]end]int32, from, to end, critical bool) int32 {
	key := [2]end{from, to}
	up, down := l.items[from.item].kind, l.items[to.item].kind
	i, ok := joined[key]
	if !ok || up != bendItem && down != bendItem {
		i = int32(len(l.hops))
		joined[key] = i
		l.hops = append(l.hops, hop{up: from.item, down: to.item, upX: l.offset(from), downX: l.offset(to)})
		l.items[from.item].down = append(l.items[from.item].down, i)
		l.items[to.item].up = append(l.items[to.item].up, i)
	}
	l.hops[i].pull = max(l.hops[i].pull, pull(up, down, critical))
	return i
}

// pull returns how strongly a hop should be straight: most between two bends, where a kink is most
// visible, and more on the critical path.
func pull(up, down itemKind, critical bool) float64 {
	p := 1.0
	switch {
	case up == bendItem && down == bendItem:
		p = 8
	case up >= labelItem || down >= labelItem:
		p = 2
	}
	if critical {
		p *= 8
	}
	return p
}

// offset returns where a port lies on the item of its group, from the middle.
func (l *layout) offset(e end) float64 {
	if e.port == noPort {
		return 0
	}
	sub := l.items[e.item].sub
	return sub.items[e.port].x - sub.w/2
}
