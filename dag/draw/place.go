package draw

import (
	"cmp"
	"math"
	"slices"
)

const moves = 24 // sweeps of moving items towards their neighbours

// placeItems gives the items of a component their places, and the component its size.
//
// Products are rounded by a conversion before they are added, since machines that fuse the two
// operations would otherwise produce different bytes.
func (c *component) placeItems() {
	c.lineUp()
	for n := range moves {
		c.move(n%2 == 0)
		c.tie()
	}
	c.unkink()
	c.tie()
	c.rows()
	c.frame()
}

// lineUp places the items of each layer side by side, around 0.
func (c *component) lineUp() {
	for _, layer := range c.layers {
		x := 0.0
		for i, n := range layer {
			if i > 0 {
				x += c.apart(layer[i-1], n)
			}
			c.items[n].x = x
		}
		for _, n := range layer {
			c.items[n].x -= x / 2
		}
	}
}

// apart returns the minimum distance between the centres of two adjacent items.
func (c *component) apart(a, b int32) float64 {
	ia, ib := &c.items[a], &c.items[b]
	gap := gapX
	if ia.kind >= labelItem || ib.kind >= labelItem {
		gap = gapBend
	}
	return (ia.w+ib.w)/2 + gap
}

// move moves the items of each layer, from the top or the bottom, as close to the positions their
// neighbours above and below want as their order allows.
func (c *component) move(down bool) {
	for n := range c.layers {
		i := n
		if !down {
			i = len(c.layers) - 1 - n
		}
		c.moveLayer(c.layers[i], c.wish)
	}
}

// block is a run of adjacent items that moves as a whole.
type block struct {
	want, weight float64 // preferred position of its first item, and the weight of that preference
	first        int
}

// moveLayer finds the positions with the least squared distance from the preferred ones. Items
// whose preferences overlap are joined into blocks, placed at their mean preference.
func (c *component) moveLayer(layer []int32, wish func(int32) (want, weight float64)) {
	var blocks []block
	shift := make([]float64, len(layer)) // the least distance of each item from the first
	for i, n := range layer {
		if i > 0 {
			shift[i] = shift[i-1] + c.apart(layer[i-1], n)
		}
		want, weight := wish(n)
		b := block{want - shift[i], weight, i}
		for len(blocks) > 0 && blocks[len(blocks)-1].want >= b.want {
			b = join(blocks[len(blocks)-1], b)
			blocks = blocks[:len(blocks)-1]
		}
		blocks = append(blocks, b)
	}
	for k, b := range blocks {
		last := len(layer)
		if k+1 < len(blocks) {
			last = blocks[k+1].first
		}
		for i := b.first; i < last; i++ {
			c.items[layer[i]].x = math.Round(b.want + shift[i])
		}
	}
}

func join(a, b block) block {
	weight := a.weight + b.weight
	want := (float64(a.want*a.weight) + float64(b.want*b.weight)) / weight
	return block{want, weight, a.first}
}

// wish returns the position at which an item's neighbours want it, and how strongly.
func (c *component) wish(n int32) (want, weight float64) {
	it := &c.items[n]
	for _, h := range it.up {
		k := &c.hops[h]
		want += float64((c.items[k.up].x + k.upX - k.downX) * k.pull)
		weight += k.pull
	}
	for _, h := range it.down {
		k := &c.hops[h]
		want += float64((c.items[k.down].x + k.downX - k.upX) * k.pull)
		weight += k.pull
	}
	if weight == 0 {
		return it.x, 1
	}
	return want / weight, weight
}

// unkink places labels below the start of their line, and consecutive bends of one line at the same
// x, as far as there is room.
func (c *component) unkink() {
	seen := map[int32]bool{}
	for _, layer := range c.layers {
		c.moveLayer(layer, c.labelWish)
		for _, n := range layer {
			if c.items[n].kind == bendItem && !seen[n] {
				c.unkinkRun(n, seen)
			}
		}
	}
}

// labelWish returns the position of its line for a label, and the current position for all other
// items.
func (c *component) labelWish(n int32) (want, weight float64) {
	it := &c.items[n]
	if it.kind != labelItem || len(it.up) != 1 {
		return it.x, 100
	}
	k := &c.hops[it.up[0]]
	return c.items[k.up].x + k.upX, 1
}

// unkinkRun does what unkink does for the bends below one.
func (c *component) unkinkRun(n int32, seen map[int32]bool) {
	var run []int32
	lo, hi := math.Inf(-1), math.Inf(1)
	for ; n >= 0 && !seen[n]; n = c.nextBend(n) {
		a, b := c.room(n)
		if max(lo, a) > min(hi, b) {
			c.alignRun(run, lo, hi)
			run, lo, hi = nil, math.Inf(-1), math.Inf(1)
		}
		lo, hi = max(lo, a), min(hi, b)
		run = append(run, n)
		seen[n] = true
	}
	c.alignRun(run, lo, hi)
}

// nextBend returns the bend below a bend on the same line, or -1.
func (c *component) nextBend(n int32) int32 {
	for _, h := range c.items[n].down {
		if d := c.hops[h].down; c.items[d].kind == bendItem {
			return d
		}
	}
	return -1
}

// room returns how far an item can move before it touches its neighbours.
func (c *component) room(n int32) (lo, hi float64) {
	layer, pos := c.layers[c.items[n].layer], int(c.items[n].pos)
	lo, hi = math.Inf(-1), math.Inf(1)
	if pos > 0 {
		lo = c.items[layer[pos-1]].x + c.apart(layer[pos-1], n)
	}
	if pos+1 < len(layer) {
		hi = c.items[layer[pos+1]].x - c.apart(n, layer[pos+1])
	}
	return lo, hi
}

func (c *component) alignRun(run []int32, lo, hi float64) {
	if len(run) < 2 {
		return
	}
	x := c.items[run[len(run)/2]].x
	x = max(lo, min(hi, x))
	for _, n := range run {
		c.items[n].x = x
	}
}

// tie spreads the hops of each node along its upper and lower side, in the order of their other
// ends, so that they don't cross at the node.
func (c *component) tie() {
	for _, i := range c.members {
		it := &c.items[i]
		if it.kind != nodeItem {
			continue
		}
		c.spread(it, it.up, func(h *hop) (float64, *float64) { return c.items[h.up].x + h.upX, &h.downX })
		c.spread(it, it.down, func(h *hop) (float64, *float64) { return c.items[h.down].x + h.downX, &h.upX })
	}
}

func (c *component) spread(it *item, hops []int32, ends func(*hop) (other float64, own *float64)) {
	if len(hops) < 2 {
		return
	}
	sorted := slices.Clone(hops)
	slices.SortStableFunc(sorted, func(a, b int32) int {
		xa, _ := ends(&c.hops[a])
		xb, _ := ends(&c.hops[b])
		return cmp.Compare(xa, xb)
	})
	step := min(18, it.w*0.7/float64(len(hops)-1))
	for i, h := range sorted {
		_, own := ends(&c.hops[h])
		*own = math.Round((float64(i) - float64(len(hops)-1)/2) * step)
	}
}

// rows sets the heights of layers and the gaps between them, which are wider where lines go far
// sideways.
func (c *component) rows() {
	y := 0.0
	for i, layer := range c.layers {
		height := 0.0
		for _, n := range layer {
			height = max(height, c.items[n].h)
		}
		if i > 0 {
			y += c.gap(i)
		}
		for _, n := range layer {
			it := &c.items[n]
			it.y, it.rowTop, it.rowBottom = y+height/2, y, y+height
		}
		y += height
	}
	c.h = y
}

// gap returns the distance of a layer from the one above.
func (c *component) gap(layer int) float64 {
	gap, far := gapY, 0.0
	switch {
	case c.isPorts(layer) || c.isPorts(layer-1):
		gap = groupPad
	case len(c.labels) > 0: // every other layer contains labels
		gap = gapLabel
	}
	for _, n := range c.layers[layer] {
		for _, h := range c.items[n].up {
			k := &c.hops[h]
			far = max(far, math.Abs(c.items[k.up].x+k.upX-c.items[k.down].x-k.downX))
		}
	}
	return gap + math.Round(min(60, far/10))
}

func (c *component) isPorts(layer int) bool {
	return slices.ContainsFunc(c.layers[layer], func(n int32) bool { return c.items[n].kind == portItem })
}

// frame moves everything to the right of 0 and finds the width.
func (c *component) frame() {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, layer := range c.layers {
		for _, n := range layer {
			it := &c.items[n]
			lo, hi = min(lo, it.x-it.w/2), max(hi, it.x+it.w/2)
		}
	}
	shift := math.Ceil(-lo)
	c.w = math.Ceil(hi + shift)
	c.moveBy(shift, 0)
}
