package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How text is put on a terminal. Two things matter: marks stand under what they
// mark, and a plan, which may come from a model, can't make the terminal do
// anything.
//
// The width of a character is decided here, in a few ranges of East Asian Wide
// and Fullwidth characters and emoji, rather than by a library: terminals differ
// among themselves in the rest (emoji sequences, ambiguous widths), so that a
// complete table would be no more right. Padding with the white space of the
// line itself, the other common way, gets tabs right but no wide character.
//
// A tab is shown as tabWidth spaces: real tabs move with the gutter, and a mark
// under part of a tab has no width.

const tabWidth = 4

const (
	zeroWidthNonJoiner = '\u200c' // both are part of how words and emoji are spelled
	zeroWidthJoiner    = '\u200d'
)

// glyph is the first character of s as it is shown, its width in columns and its
// size in bytes. What is not graphic is shown as an escape: control characters,
// bidirectional overrides and other invisible things, bytes that are not UTF-8.
func glyph(s []byte) (shown string, width, size int) {
	r, size := utf8.DecodeRune(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return fmt.Sprintf(`\x%02x`, s[0]), 4, size
	case r < utf8.RuneSelf && r >= ' ' && r != 0x7f:
		return string(s[:1]), 1, size
	case r == zeroWidthNonJoiner || r == zeroWidthJoiner || unicode.In(r, unicode.Mn, unicode.Me):
		return string(s[:size]), 0, size
	case !unicode.IsGraphic(r):
		shown = escape(r)
		return shown, len(shown), size
	case wide(r):
		return string(s[:size]), 2, size
	}
	return string(s[:size]), 1, size
}

func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// wide reports whether a character takes two columns.
func wide(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x115f, // Hangul Jamo
		r == 0x231a || r == 0x231b || 0x23e9 <= r && r <= 0x23ec, // watch, hourglass, …
		0x2e80 <= r && r <= 0x303e,                               // CJK radicals and punctuation
		0x3041 <= r && r <= 0xa4cf,                               // kana, CJK, Yi
		0xa960 <= r && r <= 0xa97f,                               // Hangul Jamo
		0xac00 <= r && r <= 0xd7a3,                               // Hangul
		0xf900 <= r && r <= 0xfaff,                               // CJK
		0xfe30 <= r && r <= 0xfe6f,                               // CJK forms
		0xff00 <= r && r <= 0xff60,                               // fullwidth
		0xffe0 <= r && r <= 0xffe6,
		0x1f300 <= r && r <= 0x1f64f, // emoji
		0x1f680 <= r && r <= 0x1f6ff,
		0x1f900 <= r && r <= 0x1faff,
		0x20000 <= r && r <= 0x3fffd: // CJK
		return true
	}
	return false
}

// visible is s as it can be put on one line of a terminal.
func visible(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for rest := []byte(s); len(rest) > 0; {
		shown, _, size := glyph(rest)
		b.WriteString(shown)
		rest = rest[size:]
	}
	return b.String()
}

// isPlain reports whether s is printable ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

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
	for i := start; i < end; {
		shown, width, size := sourceGlyph(line[i:])
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
	for n := 0; i < len(line) && n < maxPerColumn*limit; n++ {
		_, width, size := sourceGlyph(line[i:])
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
		_, width, _ := sourceGlyph(line[i-size : i])
		if columns+width > limit {
			break
		}
		i -= size
		columns += width
	}
	return i, columns
}

// sourceGlyph is glyph for the text of a file, whose tabs are meant as tabs.
func sourceGlyph(s []byte) (shown string, width, size int) {
	if s[0] == '\t' {
		return strings.Repeat(" ", tabWidth), tabWidth, 1
	}
	return glyph(s)
}
