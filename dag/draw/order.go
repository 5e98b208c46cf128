package draw

import (
	"cmp"
	"slices"
)

// Limits of the work to sort the layers.
const (
	maxSweeps     = 24
	maxIdleSweeps = 4
	maxSwaps      = 4
)

// sortLayers orders the items of each layer so that few hops cross. Sweeps down and up sort each
// layer by the mean position of its neighbours in the previous layer; then neighbours are swapped
// where that helps. The best order found is kept.
func (c *component) sortLayers() {
	c.firstOrder()
	best, idle := c.crossings(), 0
	kept := c.copyOrder()
	for sweep := 0; sweep < maxSweeps && best > 0 && idle < maxIdleSweeps; sweep++ {
		c.sweep(sweep%2 == 0, sweep%4 >= 2)
		c.swapAll()
		idle++
		if n := c.crossings(); n < best {
			best, idle = n, 0
			kept = c.copyOrder()
		}
	}
	for i, layer := range kept {
		c.layers[i] = layer
		c.number(int32(i))
	}
}

// firstOrder puts the items into their layers depth first from the top, which keeps related items
// side by side.
func (c *component) firstOrder() {
	done := map[int32]bool{}
	var stack []int32
	for _, i := range c.members {
		if len(c.items[i].up) > 0 {
			continue
		}
		stack = append(stack, i)
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if done[n] {
				continue
			}
			done[n] = true
			it := &c.items[n]
			c.layers[it.layer] = append(c.layers[it.layer], n)
			for d := len(it.down) - 1; d >= 0; d-- {
				stack = append(stack, c.hops[it.down[d]].down)
			}
		}
	}
	for i := range c.layers {
		c.number(int32(i))
	}
}

func (c *component) number(layer int32) {
	for pos, i := range c.layers[layer] {
		c.items[i].pos = int32(pos)
	}
}

func (c *component) copyOrder() [][]int32 {
	kept := make([][]int32, len(c.layers))
	for i, layer := range c.layers {
		kept[i] = slices.Clone(layer)
	}
	return kept
}

// sweep sorts all layers but the first in its direction. Items with equal means keep their order
// or, with flip, swap places, which helps out of local minima.
func (c *component) sweep(down, flip bool) {
	for n := range c.layers {
		i := int32(n)
		if !down {
			i = int32(len(c.layers) - 1 - n)
		}
		for _, it := range c.layers[i] {
			c.items[it].mean = c.mean(it, down)
		}
		if flip {
			slices.Reverse(c.layers[i])
		}
		slices.SortStableFunc(c.layers[i], func(a, b int32) int { return cmp.Compare(c.items[a].mean, c.items[b].mean) })
		c.number(i)
	}
}

// mean returns the mean position of an item's neighbours above or below, or its own position if it
// has none.
func (c *component) mean(i int32, above bool) float64 {
	it := &c.items[i]
	hops := it.down
	if above {
		hops = it.up
	}
	if len(hops) == 0 {
		return float64(it.pos)
	}
	sum := 0.0
	for _, h := range hops {
		sum += c.far(h, above)
	}
	return sum / float64(len(hops))
}

// far returns the position of the upper or lower end of a hop in its layer; ports of one item have
// different positions.
func (c *component) far(h int32, above bool) float64 {
	at, x := c.hops[h].down, c.hops[h].downX
	if above {
		at, x = c.hops[h].up, c.hops[h].upX
	}
	it := &c.items[at]
	return float64(it.pos) + x/(it.w+gapX)
}

// swapAll swaps neighbours in each layer as long as that reduces crossings.
func (c *component) swapAll() {
	for range maxSwaps {
		swapped := false
		for i := range c.layers {
			swapped = c.swap(int32(i)) || swapped
		}
		if !swapped {
			return
		}
	}
}

func (c *component) swap(layer int32) bool {
	items := c.layers[layer]
	swapped := false
	for i := 0; i+1 < len(items); i++ {
		a, b := items[i], items[i+1]
		ab := c.crossed(a, b, true) + c.crossed(a, b, false)
		if ab == 0 {
			continue
		}
		if ba := c.crossed(b, a, true) + c.crossed(b, a, false); ba < ab {
			items[i], items[i+1] = b, a
			c.items[a].pos, c.items[b].pos = c.items[b].pos, c.items[a].pos
			swapped = true
		}
	}
	return swapped
}

// crossed returns how many hops of two items cross if a is left of b. It counts pairs only up to a
// limit; beyond that, sweeps must suffice.
func (c *component) crossed(a, b int32, above bool) int {
	ha, hb := c.items[a].down, c.items[b].down
	if above {
		ha, hb = c.items[a].up, c.items[b].up
	}
	if len(ha)*len(hb) > 4096 {
		return 0
	}
	n := 0
	for _, i := range ha {
		x := c.far(i, above)
		for _, j := range hb {
			if x > c.far(j, above) {
				n++
			}
		}
	}
	return n
}

// crossings returns the total number of crossing pairs of hops, counted with a tree of sums.
func (c *component) crossings() int {
	total := 0
	for i := 0; i+1 < len(c.layers); i++ {
		var ends []float64
		for _, it := range c.layers[i] {
			ends = append(ends, c.lowerEnds(it)...)
		}
		total += inversions(ends)
	}
	return total
}

// lowerEnds returns the places of the lower ends of an item's hops, from left to right
// along its lower side.
func (c *component) lowerEnds(i int32) []float64 {
	down := slices.Clone(c.items[i].down)
	slices.SortFunc(down, func(a, b int32) int {
		return cmp.Or(cmp.Compare(c.hops[a].upX, c.hops[b].upX), cmp.Compare(c.far(a, false), c.far(b, false)))
	})
	ends := make([]float64, len(down))
	for n, h := range down {
		ends[n] = c.far(h, false)
	}
	return ends
}

// inversions counts the pairs that are out of order, by merging; it sorts the slice.
func inversions(s []float64) int {
	buf := make([]float64, len(s))
	n := 0
	for size := 1; size < len(s); size *= 2 {
		for lo := 0; lo+size < len(s); lo += 2 * size {
			hi := min(lo+2*size, len(s))
			n += merge(buf[lo:hi], s[lo:lo+size], s[lo+size:hi])
			copy(s[lo:hi], buf[lo:hi])
		}
	}
	return n
}

func merge(dst, a, b []float64) int {
	n, i, j := 0, 0, 0
	for k := range dst {
		switch {
		case j == len(b) || i < len(a) && a[i] <= b[j]:
			dst[k] = a[i]
			i++
		default:
			dst[k] = b[j]
			j++
			n += len(a) - i
		}
	}
	return n
}
