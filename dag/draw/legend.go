package draw

import (
	"slices"
	"strings"
)

// key is a sign of the legend, with its position.
type key struct {
	text string
	kind string // of a node
	rank Grade  // of a mark
	edge Kind
	sign keySign
	x, y float64
}

type keySign uint8

const (
	edgeSign keySign = iota
	nodeSign
	criticalSign
	markSign
	gradeSign
)

const (
	signWidth = 30.0
	keyHeight = 22.0
)

// legend returns the signs that the drawing uses, placed in rows of the given width, and the
// legend's height.
func (v *svg) legend(width float64) ([]key, float64) {
	keys := v.signs()
	x, y := 0.0, 0.0
	for i := range keys {
		w := signWidth + 8 + textWidthOf(keys[i].text, smallText) + 20
		if x > 0 && x+w > width {
			x, y = 0, y+keyHeight
		}
		keys[i].x, keys[i].y = x, y
		x += w
	}
	if len(keys) == 0 {
		return nil, 0
	}
	return keys, y + keyHeight + 22
}

func (v *svg) signs() []key {
	var keys []key
	for _, k := range edgeKinds() {
		if v.hasEdge(k) {
			keys = append(keys, key{text: k.look().legend, edge: k, sign: edgeSign})
		}
	}
	if len(v.criticalNodes()) > 0 {
		keys = append(keys, key{text: "critical path", sign: criticalSign})
	}
	if slices.ContainsFunc(v.Nodes, func(n Node) bool { return len(n.Missed) > 0 }) {
		keys = append(keys, key{text: "no test reaches it", sign: markSign})
	}
	for _, g := range grades() {
		if slices.ContainsFunc(v.Nodes, func(n Node) bool {
			return slices.ContainsFunc(n.Marks, func(m Mark) bool { return m.Grade == g })
		}) {
			keys = append(keys, key{text: g.look().legend, rank: g, sign: gradeSign})
		}
	}
	for _, kind := range nodeKinds() {
		for i := range v.Nodes {
			if v.Nodes[i].Kind == kind {
				keys = append(keys, key{text: nodeLook(kind).legend, kind: kind, sign: nodeSign})
				break
			}
		}
	}
	return keys
}

// key draws the legend below a height.
func (v *svg) key(keys []key, below float64) {
	for _, k := range keys {
		x, y := margin+k.x, below+28+k.y
		switch k.sign {
		case nodeSign:
			v.shape(k.kind, false, x+2, y-7, signWidth-4, 14)
		case criticalSign:
			v.printf(`<path d="M%s %sh%s" stroke="%s" stroke-width="3"/>`+"\n", num(x), num(y), num(signWidth), criticalColor)
		case markSign:
			v.text(x+signWidth-8, y+4, "middle", smallText, missedColor, true, strings.TrimSpace(missedSign))
		case gradeSign:
			v.text(x+signWidth-8, y+4, "middle", smallText, k.rank.look().color, true, strings.TrimSpace(k.rank.look().sign))
		case edgeSign:
			look := k.edge.look()
			v.printf(`<path d="M%s %sh%s" stroke="%s" stroke-width="%s"%s/>`+"\n", num(x), num(y), num(signWidth), look.stroke, num(look.width), dashes(look))
		}
		v.text(x+signWidth+8, y+4, "start", smallText, faint, false, k.text)
	}
}
