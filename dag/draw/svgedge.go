package draw

import (
	"bytes"
	"slices"
)

// point is a place in the drawing.
type point struct{ x, y float64 }

// lines draws the edges, either those of the critical path or the others. Later ones cover earlier
// ones.
func (v *svg) lines(critical bool) {
	for i := range v.Edges {
		e := &v.Edges[i]
		if e.Critical != critical || e.From == e.To {
			continue
		}
		look := e.Kind.look()
		stroke, width := look.stroke, look.width
		if critical {
			stroke, width = criticalColor, width+1
		}
		points, tip := v.course(int32(i))
		v.printf(`<g data-from="%s" data-to="%s"><title>%s</title>`, escape(v.Nodes[e.From].ID), escape(v.Nodes[e.To].ID), escape(v.edgeTooltip(e)))
		v.printf(`<path d="%s" fill="none" stroke="%s" stroke-width="%s"%s/>`, curve(points), stroke, num(width), dashes(look))
		v.printf(`<path d="%s" fill="%s"/></g>`+"\n", arrow(tip), stroke)
	}
}

func dashes(look edgeLook) string {
	if look.dash == "" {
		return ""
	}
	return ` stroke-dasharray="` + look.dash + `" stroke-linecap="` + look.cap + `"`
}

func (v *svg) edgeTooltip(e *Edge) string {
	s := v.Nodes[e.From].ID + " → " + v.Nodes[e.To].ID + " (" + e.Kind.String() + ")"
	if e.Label != "" {
		s += " " + e.Label
	}
	if e.Closes {
		s += ", closes a cycle"
	}
	return s
}

// tip is the tip of an arrow, pointing down or up.
type tip struct {
	at point
	up bool
}

const arrowLength = 9.0

func arrow(t tip) string {
	back := -arrowLength
	if t.up {
		back = arrowLength
	}
	return "M" + num(t.at.x) + " " + num(t.at.y) + "l-4.5 " + num(back) + "h9z"
}

// course returns the path of an edge, downwards, as pairs of points. A curve connects the points of
// a pair, and a straight line leads from pair to pair. The line ends before the tip.
func (v *svg) course(edge int32) ([]point, tip) {
	r := &v.picture.edges[edge]
	pieces := slices.Clone(r.up)
	pieces = append(pieces, r.across...)
	for i := len(r.down) - 1; i >= 0; i-- {
		pieces = append(pieces, r.down[i])
	}
	var points []point
	for _, p := range pieces {
		points = append(points, p.points()...)
	}
	start, stop := pieces[0].border(true), pieces[len(pieces)-1].border(false)
	t := tip{stop, r.turned}
	if r.turned {
		t.at = start
		start.y += arrowLength - 1
		points[0].y = max(points[0].y, start.y)
	} else {
		stop.y -= arrowLength - 1
		last := &points[len(points)-1]
		last.y = min(last.y, stop.y)
	}
	points = slices.Insert(points, 0, start)
	return append(points, stop), t
}

// points returns the two ends of each hop of a link, downwards.
func (p piece) points() []point {
	l := p.layout
	var points []point
	for _, h := range l.links[p.link].hops {
		k := &l.hops[h]
		up, down := &l.items[k.up], &l.items[k.down]
		points = append(points,
			point{l.x + up.x + k.upX, l.y + up.rowBottom},
			point{l.x + down.x + k.downX, l.y + down.rowTop})
	}
	return points
}

// border returns the point at which a link leaves its upper item or reaches its lower one.
func (p piece) border(upper bool) point {
	l := p.layout
	hops := l.links[p.link].hops
	if upper {
		k := &l.hops[hops[0]]
		it := &l.items[k.up]
		return point{l.x + it.x + k.upX, l.y + it.y + it.h/2}
	}
	k := &l.hops[hops[len(hops)-1]]
	it := &l.items[k.down]
	return point{l.x + it.x + k.downX, l.y + it.y - it.h/2}
}

// curve returns the SVG path of an edge. It is vertical at both ends of a hop, so it stays in the
// gap between two layers.
func curve(points []point) string {
	var b bytes.Buffer
	b.WriteString("M" + num(points[0].x) + " " + num(points[0].y))
	for i := 1; i < len(points); i++ {
		p, q := points[i-1], points[i]
		switch {
		case p == q:
		case p.x == q.x || i%2 == 1:
			b.WriteString("L" + num(q.x) + " " + num(q.y))
		default:
			middle := num((p.y + q.y) / 2)
			b.WriteString("C" + num(p.x) + " " + middle + " " + num(q.x) + " " + middle + " " + num(q.x) + " " + num(q.y))
		}
	}
	return b.String()
}

// loop draws an edge from a node to itself, on its right side.
func (v *svg) loop(x, y float64) {
	v.printf(`<path d="M%s %sc24 -10 24 14 7 10" fill="none" stroke="%s" stroke-width="1.5"/>`, num(x), num(y-5), Data.look().stroke)
	v.printf(`<path d="M%s %sl8 -5v9z" fill="%s"/>`+"\n", num(x), num(y+5), Data.look().stroke)
}
