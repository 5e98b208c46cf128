package diag

import (
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/display"
)

// Laying out text on a terminal. Two things matter: marks must be under the marked text, and a
// plan, which may come from a model, must not be able to control the terminal.
//
// A tab is shown as tabWidth spaces: the width of a real tab would depend on the gutter.

const tabWidth = 4

// visible returns s in a form that is safe to print on one line of a terminal.
func visible(s string) string { return display.Line(s).String() }

// row is a shown line, or the part of it that fits, and the position of the marks.
type row struct {
	text        string
	pad, marked int // columns before the marks, and columns with marks
}

// layOut returns a line in about limit columns, with the bytes from..to marked. It cuts a longer
// line before and after the marks, which begin in the first third. Its cost depends on the limit,
// not on the length of the line.
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

// maxPerColumn limits the number of shown characters without width: otherwise a long line of
// combining marks would be shown whole.
const maxPerColumn = 4

// forward moves on from i by at most limit columns. It returns the end, as a byte index, and the
// number of columns.
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

// backward moves back from i by at most limit columns.
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

// glyphsAt returns the state for reading a line from i on. It reads the few characters before i,
// because they decide how the next one is shown.
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

// sourceGlyph returns the first character of s, the rest of a file's text, in the form in which it
// is shown. Tabs become spaces.
func sourceGlyph(g *display.Glyphs, s []byte) (shown string, width, size int) {
	if s[0] == '\t' {
		*g = display.Glyphs{}
		return strings.Repeat(" ", tabWidth), tabWidth, 1
	}
	return g.Next(string(s[:min(len(s), utf8.UTFMax)]))
}
