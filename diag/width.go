package diag

import (
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/display"
)

// How text is put on a terminal. Two things matter: marks stand under what they
// mark, and a plan, which may come from a model, can't make the terminal do
// anything.
//
// A tab is shown as tabWidth spaces: real tabs move with the gutter, and a mark
// under part of a tab has no width.

const tabWidth = 4

// visible returns s as it can be put on one line of a terminal.
func visible(s string) string { return display.Line(s).String() }

// row is a line, or as much of it as fits, as it is shown, and where the marks go.
type row struct {
	text        string
	pad, marked int // columns before the marks, and of the marks
}

// layOut shows a line with the bytes from..to marked in about limit columns. When
// it is longer, what is before and after is cut; the marks begin in the first
// third. It costs the limit, not the length of the line.
func layOut(line []byte, from, to, limit int) row {
	_, after := forward(line, from, limit)
	start, before := backward(line, from, max(limit/3, limit-after))
	end, _ := forward(line, from, limit-before)

	var b strings.Builder
	var r row
	if start > 0 {
		b.WriteString("…")
		r.pad++
	}
	g := glyphsAt(line, start)
	for i := start; i < end; {
		shown, width, size := sourceGlyph(&g, line[i:])
		b.WriteString(shown)
		switch {
		case i < from:
			r.pad += width
		case i < to:
			r.marked += width
		}
		i += size
	}
	if end < len(line) {
		b.WriteString("…")
	}
	r.text = b.String()
	r.marked = max(r.marked, 1)
	return r
}

// maxPerColumn bounds the characters of no width that are shown: without it, a
// line of combining marks would be shown whole.
const maxPerColumn = 4

// forward goes on from i by at most limit columns: to which byte, and how many
// columns that is.
func forward(line []byte, i, limit int) (end, columns int) {
	g := glyphsAt(line, i)
	for n := 0; i < len(line) && n < maxPerColumn*limit; n++ {
		_, width, size := sourceGlyph(&g, line[i:])
		if columns+width > limit {
			break
		}
		i += size
		columns += width
	}
	return i, columns
}

// backward goes back from i by at most limit columns.
func backward(line []byte, i, limit int) (start, columns int) {
	for n := 0; i > 0 && n < maxPerColumn*limit; n++ {
		_, size := utf8.DecodeLastRune(line[:i])
		g := glyphsAt(line, i-size)
		_, width, _ := sourceGlyph(&g, line[i-size:i])
		if columns+width > limit {
			break
		}
		i -= size
		columns += width
	}
	return i, columns
}

// glyphsAt reads the characters of a line from i on: how one is shown depends on the few
// before it.
func glyphsAt(line []byte, i int) (g display.Glyphs) {
	from := i
	for range display.Lookbehind {
		_, size := utf8.DecodeLastRune(line[:from])
		from -= size
	}
	for from < i {
		_, _, size := g.Next(string(line[from:i]))
		from += size
	}
	return g
}

// sourceGlyph returns the first character of s, the rest of the text of a file, as it is shown; its
// tabs are meant as tabs.
func sourceGlyph(g *display.Glyphs, s []byte) (shown string, width, size int) {
	if s[0] == '\t' {
		*g = display.Glyphs{}
		return strings.Repeat(" ", tabWidth), tabWidth, 1
	}
	return g.Next(string(s[:min(len(s), utf8.UTFMax)]))
}
