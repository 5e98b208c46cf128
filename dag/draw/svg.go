package draw

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// The limits of SVG.
const (
	MaxNodes = 2000
	MaxEdges = 10_000
	maxBends = 20_000
)

// TooLargeError says that a graph is too large for SVG.
type TooLargeError struct{ Nodes, Edges int }

// Error returns a message with the size, the limits and what to use instead.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("a graph of %d calls and %d edges is too large to lay out (up to %d calls, %d edges, fewer if most are long); use text or json, or dot with sfdp of Graphviz",
		e.Nodes, e.Edges, MaxNodes, MaxEdges)
}

// SVG writes the graph as a self-contained picture. It needs no external style sheet, script or
// font, and nothing that a page's content security policy refuses. It has a white background, so
// that it is readable on dark pages. Each node is a <g> with data-id and data-status, each edge one
// with data-from and data-to. Their <title> contains shortened text in full. The last text of a
// node without Missed is the status, preceded by a sign, with room for any other status. If the
// graph is too large, SVG returns a [*TooLargeError].
func SVG(w io.Writer, g *Graph) error {
	if len(g.Nodes) > MaxNodes || len(g.Edges) > MaxEdges {
		return &TooLargeError{len(g.Nodes), len(g.Edges)}
	}
	s, err := surveyFlat(g)
	if err != nil {
		return err
	}
	if g = s.Graph; len(g.Nodes) > MaxNodes || len(g.Edges) > MaxEdges {
		return &TooLargeError{len(g.Nodes), len(g.Edges)}
	}
	p, ok := arrange(s, nodeSize)
	if !ok {
		return &TooLargeError{len(g.Nodes), len(g.Edges)}
	}
	v := &svg{picture: p}
	v.write()
	_, err = w.Write(v.out.Bytes())
	return err
}

// DataID returns the value of the attribute data-id for a node ID: the ID on one line, with escapes
// such as \u202e for characters that are invisible or could affect a terminal.
func DataID(id string) string { return clean(id) }

// font is the size of a text, with its column width and line height.
type font struct{ size, column, line float64 }

// The fonts are monospaced, so that widths are known without measuring: in the widest family, a
// column takes 0.602 of the font size.
const fontFamily = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"

type fontKind uint8

const (
	largeText fontKind = iota
	smallText
	titleText
)

func (k fontKind) font() font {
	switch k {
	case largeText:
		return font{13, 7.85, 17}
	case titleText:
		return font{15, 9.05, 22}
	}
	return font{11, 6.65, 14}
}

// textWidthOf returns the width of a label in pixels.
func textWidthOf(s string, k fontKind) float64 {
	return math.Ceil(float64(columns(s)) * k.font().column)
}

// Limits of labels, in columns and lines.
const (
	labelColumns  = 28
	labelLines    = 3
	detailColumns = 36
	detailLines   = 2
	missedLines   = 6
	markColumns   = 48
	markLines     = 10
	maxEdgeLabel  = 36
	maxGroupTitle = 60
	maxTitle      = 80
)

const (
	nodePadX = 14.0
	nodePadY = 8.0
	minNode  = 64.0
)

// face is the lines of text on a node.
type face struct {
	label, detail []string
	status        string
	missed        []string
	marks         []Mark // with their signs
}

func faceOf(n *Node) face {
	f := face{label: wrap(n.name(), labelColumns, labelLines), detail: wrap(n.Detail, detailColumns, detailLines)}
	if len(f.label) == 0 {
		f.label = []string{""}
	}
	if status := strings.TrimSpace(clean(n.Status)); status != "" {
		f.status = statusSign(status) + " " + shorten(status, detailColumns-2)
	}
	missed := n.Missed
	if more := len(missed) - missedLines; more > 0 {
		missed = append(missed[:missedLines-1:missedLines-1], fmt.Sprintf("and %d more", more+1))
	}
	for _, m := range missed {
		f.missed = append(f.missed, missedSign+shorten(strings.TrimSpace(clean(m)), detailColumns-2))
	}
	marks := n.Marks
	if more := len(marks) - markLines; more > 0 {
		worst := Best
		for _, m := range marks[markLines-1:] {
			worst = max(worst, m.Grade)
		}
		marks = append(marks[:markLines-1:markLines-1], Mark{fmt.Sprintf("and %d more", more+1), worst})
	}
	for _, m := range marks {
		f.marks = append(f.marks, Mark{m.Grade.look().sign + shorten(strings.TrimSpace(clean(m.Text)), markColumns), m.Grade})
	}
	return f
}

func nodeSize(n *Node) (w, h float64) {
	f := faceOf(n)
	for _, line := range f.label {
		w = max(w, textWidthOf(line, largeText))
	}
	for _, line := range f.detail {
		w = max(w, textWidthOf(line, smallText))
	}
	for _, line := range f.missed {
		w = max(w, textWidthOf(line, smallText))
	}
	for _, m := range f.marks {
		w = max(w, textWidthOf(m.Text, smallText))
	}
	h = float64(len(f.label))*largeText.font().line + float64(len(f.detail)+len(f.missed)+len(f.marks))*smallText.font().line
	if f.status != "" {
		w = max(w, textWidthOf(f.status, smallText), textWidthOf(longestStatus, smallText))
		h += smallText.font().line
	}
	return max(minNode, w+2*nodePadX), h + 2*nodePadY
}

const margin = 20.0

type svg struct {
	*picture
	out bytes.Buffer
}

func (v *svg) printf(format string, args ...any) { fmt.Fprintf(&v.out, format, args...) }

func (v *svg) write() {
	title := shorten(strings.TrimSpace(clean(v.Title)), maxTitle)
	top := margin
	if title != "" {
		top += titleText.font().line + 10
	}
	width := max(v.root.w, textWidthOf(title, titleText), 300) + 2*margin
	keys, legendHeight := v.legend(width - 2*margin)
	height := top + v.root.h + legendHeight + margin
	v.root.moveTo(math.Round((width-v.root.w)/2), top)

	v.printf(`<svg xmlns="http://www.w3.org/2000/svg" role="img" width="%s" height="%s" viewBox="0 0 %s %s" font-family="%s" fill="%s">`+"\n",
		num(width), num(height), num(width), num(height), fontFamily, ink)
	if v.Title != "" {
		v.printf("<title>%s</title>\n", escape(v.Title))
	}
	v.printf(`<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", paper)
	if title != "" {
		v.text(margin, margin+14, "start", titleText, ink, true, title)
	}
	v.boxes(v.root)
	v.lines(false)
	v.lines(true)
	v.labels(v.root)
	for i := range v.Nodes {
		v.node(int32(i))
	}
	v.key(keys, top+v.root.h)
	v.printf("</svg>\n")
}

// num formats a number with at most one decimal.
func num(x float64) string {
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
}

// escape escapes a label for XML text and attributes.
func escape(s string) string { return escapeWith(s, xmlRune) }

func xmlRune(r rune) string {
	switch r {
	case '&':
		return "&amp;"
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '"':
		return "&#34;"
	case '\'':
		return "&#39;"
	}
	return ""
}

func (v *svg) text(x, y float64, anchor string, k fontKind, color string, bold bool, s string) {
	weight := ""
	if bold {
		weight = ` font-weight="600"`
	}
	v.printf(`<text x="%s" y="%s" text-anchor="%s" font-size="%s" fill="%s"%s>%s</text>`+"\n",
		num(x), num(y), anchor, num(k.font().size), color, weight, escape(s))
}

// boxes draws the frames of groups, outer ones first.
func (v *svg) boxes(l *layout) {
	for i := range l.items {
		sub := l.items[i].sub
		if sub == nil {
			continue
		}
		v.printf(`<rect x="%s" y="%s" width="%s" height="%s" rx="10" fill="%s" stroke="#aab5c0"/>`+"\n",
			num(sub.x), num(sub.y), num(sub.w), num(sub.h), sub.ground())
		v.boxes(sub)
	}
}

// ground returns the background colour of a layout.
func (l *layout) ground() string {
	switch {
	case l.depth == 0:
		return paper
	case l.depth%2 == 0:
		return "#eef2f6"
	}
	return "#f7f9fb"
}

// labels draws the names of groups and the labels of edges, each on a background that hides the
// line behind it.
func (v *svg) labels(l *layout) {
	for i := range l.items {
		it := &l.items[i]
		switch it.kind {
		case groupItem:
			sub := it.sub
			name := shorten(clean(sub.group.name), maxGroupTitle)
			v.ground(sub, sub.x+9, sub.y+4, textWidthOf(name, smallText)+6)
			v.text(sub.x+12, sub.y+15, "start", smallText, faint, true, name)
			v.labels(sub)
		case labelItem:
			x, y := l.x+it.x, l.y+it.y
			v.ground(l, x-it.w/2, y-it.h/2, it.w)
			v.text(x, y+4, "middle", smallText, faint, false, it.text)
		}
	}
}

func (v *svg) ground(l *layout, x, y, w float64) {
	v.printf(`<rect x="%s" y="%s" width="%s" height="%s" rx="4" fill="%s"/>`+"\n", num(x), num(y), num(w), num(labelHeight), l.ground())
}

// node draws a call: its shape, its lines of text, and its status.
func (v *svg) node(n int32) {
	node, l := &v.Nodes[n], v.home[n]
	it := &l.items[v.place[n]]
	x, y := l.x+it.x, l.y+it.y
	v.printf(`<g data-id="%s"`, escape(node.ID))
	if node.Status != "" {
		v.printf(` data-status="%s"`, escape(node.Status))
	}
	if len(node.Missed) > 0 {
		v.printf(` data-missed="%d"`, len(node.Missed))
	}
	v.printf("><title>%s</title>\n", escape(tooltip(node)))
	v.shape(node.Kind, v.critical[n], x-it.w/2, y-it.h/2, it.w, it.h)
	if v.loops[n] {
		v.loop(x+it.w/2, y)
	}
	f := faceOf(node)
	y -= it.h/2 - nodePadY
	for _, line := range f.label {
		v.text(x, y+13, "middle", largeText, ink, true, line)
		y += largeText.font().line
	}
	for _, line := range f.detail {
		v.text(x, y+10, "middle", smallText, faint, false, line)
		y += smallText.font().line
	}
	if f.status != "" {
		v.text(x, y+11, "middle", smallText, statusColor(node.Status), true, f.status)
		y += smallText.font().line
	}
	for _, line := range f.missed {
		v.text(x, y+10, "middle", smallText, missedColor, true, line)
		y += smallText.font().line
	}
	for _, m := range f.marks {
		v.text(x, y+10, "middle", smallText, m.Grade.look().color, m.Grade == Worst, m.Text)
		y += smallText.font().line
	}
	v.printf("</g>\n")
}

func tooltip(n *Node) string {
	parts := []string{n.ID}
	for _, s := range []string{n.Label, n.Detail, n.Kind, n.Status} {
		if s != "" && s != n.ID {
			parts = append(parts, s)
		}
	}
	for _, m := range n.Missed {
		parts = append(parts, missedSign+m)
	}
	for _, m := range n.Marks {
		parts = append(parts, m.Grade.look().sign+m.Text)
	}
	return strings.Join(parts, " · ")
}

func (v *svg) shape(kind string, critical bool, x, y, w, h float64) {
	look := nodeLook(kind)
	stroke, width := look.stroke, 1.5
	if critical {
		stroke, width = criticalColor, 3
	}
	paint := fmt.Sprintf(`fill="%s" stroke="%s" stroke-width="%s"`, look.fill, stroke, num(width))
	rect := func(r float64, more string) {
		v.printf(`<rect x="%s" y="%s" width="%s" height="%s" rx="%s" %s%s/>`+"\n", num(x), num(y), num(w), num(h), num(r), paint, more)
	}
	switch kind {
	case ReadOnly:
		rect(9, "")
	case Latent:
		rect(min(h/2, 20), ` stroke-dasharray="5 3"`)
	case Changes:
		v.octagon(x, y, w, h, paint)
	case Destructive:
		v.octagon(x, y, w, h, paint)
		v.octagon(x+3, y+3, w-6, h-6, fmt.Sprintf(`fill="none" stroke="%s" stroke-width="1"`, look.stroke))
	case Delegate:
		rect(2, "")
		v.printf(`<path d="M%s %sv%sM%s %sv%s" stroke="%s" stroke-width="1.5"/>`+"\n", num(x+6), num(y), num(h), num(x+w-6), num(y), num(h), stroke)
	default:
		rect(3, "")
	}
}

// octagon draws a box with its corners cut.
func (v *svg) octagon(x, y, w, h float64, paint string) {
	c := min(10, h/3)
	v.printf(`<path d="M%s %sh%sl%s %sv%sl%s %sh%sl%s %sv%sz" %s/>`+"\n", num(x+c), num(y), num(w-2*c), num(c), num(c), num(h-2*c),
		num(-c), num(c), num(2*c-w), num(-c), num(-c), num(2*c-h), paint)
}
