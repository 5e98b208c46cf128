package draw

import (
	"cmp"
	"math"
	"slices"
)

// component is a set of items connected by links, arranged in layers.
type component struct {
	*layout
	members []int32 // items without bends
	links   []int32
	ported  bool // has a port
	layers  [][]int32
	w, h    float64
}

// components splits a layout into components, larger ones first and then ordered by first item.
func (l *layout) components() []*component {
	root := make([]int32, len(l.items))
	for i := range root {
		root[i] = int32(i)
	}
	for _, k := range l.links {
		a, b := find(root, k.from.item), find(root, k.to.item)
		root[max(a, b)] = min(a, b)
	}
	var all []*component
	byRoot := make([]*component, len(l.items))
	for i := range l.items {
		r := find(root, int32(i))
		if byRoot[r] == nil {
			byRoot[r] = &component{layout: l}
			all = append(all, byRoot[r])
		}
		byRoot[r].members = append(byRoot[r].members, int32(i))
		byRoot[r].ported = byRoot[r].ported || l.items[i].kind == portItem
	}
	for i, k := range l.links {
		c := byRoot[find(root, k.from.item)]
		c.links = append(c.links, int32(i))
	}
	slices.SortStableFunc(all, func(a, b *component) int {
		return cmp.Or(compareBool(b.ported, a.ported), cmp.Compare(len(b.members), len(a.members)))
	})
	return all
}

// find returns the smallest item known to be connected to i. It shortens the path there.
func find(root []int32, i int32) int32 {
	for root[i] != i {
		root[i] = root[root[i]]
		i = root[i]
	}
	return i
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// pack places the components and sets the size of the layout. Components with ports are placed side
// by side, alone in their columns, because their lines extend to the borders; otherwise the largest
// comes first. The others are placed on shelves to the right of that, and then below.
func (l *layout) pack(components []*component) {
	pad, top := 0.0, 0.0
	if l.parent != nil {
		pad, top = groupPad, groupTitle
	}
	inf := math.Inf(1)
	first := min(1, len(components))
	for first < len(components) && components[first].ported {
		first++
	}
	l.shelve(components[:first], pad, top, inf, inf)
	rest, right := components[first:], l.w+gapX
	if first > 0 && components[0].ported {
		l.shelve(rest, right, top, shelfWidth(rest), inf)
	} else {
		width := min(shelfWidth(components)+pad-right, shelfWidth(rest))
		rest = l.shelve(rest, right, top, width, l.h-top)
		l.shelve(rest, pad, l.h+gapY, max(l.w-pad, shelfWidth(rest)), inf)
	}
	l.w, l.h = l.w+pad, l.h+pad
	if l.parent != nil {
		title := textWidthOf(shorten(clean(l.group.name), maxGroupTitle), smallText) + 2*groupPad
		l.w = max(l.w, title)
	}
}

// shelve places components on shelves in a space, and returns those that didn't fit.
func (l *layout) shelve(components []*component, left, top, width, height float64) []*component {
	x, y, shelf := left, top, 0.0
	for i, c := range components {
		if x > left && x+c.w > left+width {
			x, y, shelf = left, y+shelf+gapY, 0
		}
		if c.w > width || y+c.h > top+height {
			return components[i:]
		}
		c.moveBy(x, y)
		l.w, l.h = max(l.w, x+c.w), max(l.h, y+c.h)
		x, shelf = x+c.w+gapX, max(shelf, c.h)
	}
	return nil
}

// shelfWidth returns the width of a shelf: that of the widest component, or the width that makes
// the whole somewhat wider than high.
func shelfWidth(components []*component) float64 {
	width, area := 0.0, 0.0
	for _, c := range components {
		width = max(width, c.w)
		area += float64((c.w + gapX) * (c.h + gapY))
	}
	return max(width, math.Round(1.3*math.Sqrt(area)))
}

func (c *component) moveBy(dx, dy float64) {
	for _, layer := range c.layers {
		for _, n := range layer {
			it := &c.items[n]
			it.x, it.y = it.x+dx, it.y+dy
			it.rowTop, it.rowBottom = it.rowTop+dy, it.rowBottom+dy
		}
	}
}
