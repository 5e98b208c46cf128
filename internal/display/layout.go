package display

import (
	"strings"
	"unicode"
)

// Columns returns the number of terminal columns that a text may take up. Terminals differ; the
// result may be too high.
func (t Text) Columns() int {
	n, style := 0, false
	for _, r := range t.s {
		style = style && r != 'm' || r == '\x1b'
		if !style {
			n += runeColumns(r)
		}
	}
	return n
}

func runeColumns(r rune) int {
	if r < 0x1100 || 0x2000 <= r && r < 0x2300 { // the latter: punctuation, arrows, mathematics
		return 1
	}
	return 2
}

// Lines returns the lines of a text.
func (t Text) Lines() []Text {
	var all []Text
	for line := range strings.SplitSeq(t.s, "\n") {
		all = append(all, Text{line})
	}
	return all
}

// Cut returns as much of the beginning of a text as fits into n columns.
func (t Text) Cut(n int) Text {
	if t.Columns() <= n {
		return t
	}
	for i, r := range t.s {
		if n -= runeColumns(r); n < 1 {
			return Text{t.s[:i] + "…"}
		}
	}
	return t
}

// Pad returns a text, filled up with spaces to n columns.
func (t Text) Pad(n int) Text { return Text{t.s + strings.Repeat(" ", max(0, n-t.Columns()))} }

// Wrap breaks the lines of a text at width columns; continuation lines begin with the prefix. If
// the terminal wrapped the lines, text from outside could begin a row.
func (t Text) Wrap(width int, prefix Literal) Text {
	width = max(width, 2*len(prefix)+4)
	var b strings.Builder
	room, style := width, false
	for _, r := range t.s {
		n := runeColumns(r)
		switch wasStyle := style; {
		case style || r == '\x1b': // of our own, which takes up no room
			style = !wasStyle || r != 'm'
		case r == '\n':
			room = width
		case joins(r) || unicode.In(r, unicode.Mn, unicode.Me): // part of the character before it
		case room < n:
			b.WriteString("\n" + string(prefix))
			room = width - Text{string(prefix)}.Columns() - n
		default:
			room -= n
		}
		b.WriteRune(r)
	}
	return Text{b.String()}
}
