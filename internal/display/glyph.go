package display

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// This file decides the width of a character from a few ranges of East Asian Wide and Fullwidth
// characters and emoji. It uses no library: terminals differ in all other cases (emoji sequences,
// ambiguous widths), so a complete table would not be more correct.

// Glyphs reads a text character by character. Its zero value is at the beginning of a text.
type Glyphs struct {
	prev  rune // the previous character if it is shown unchanged, or 0
	marks int  // number of combining marks on it
}

const (
	// maxMarks is the maximum number of combining marks on a character: with many, a character
	// covers the lines above and below.
	maxMarks = 3

	// Lookbehind is the number of preceding characters that decide how a character is shown.
	Lookbehind = maxMarks + 2
)

// Next returns the first character of s, the rest of the text, in the form in which it is shown,
// with its width in columns and its size in bytes. It escapes characters that are invisible or
// could control the terminal: control characters, line separators, characters that change the
// direction of text, spaces other than the ASCII space, fillers, and bytes that are not UTF-8. It
// keeps joiners and variation selectors where words and emoji are spelled with them.
func (g *Glyphs) Next(s string) (shown string, width, size int) {
	r, size := utf8.DecodeRuneInString(s)
	prev := g.prev
	if g.prev = r; r == utf8.RuneError && size == 1 {
		g.prev = 0
		return fmt.Sprintf(`\x%02x`, s[0]), 4, size
	}
	switch {
	case joins(r):
		if joinable(prev) || prev == 0xfe0f && r == zeroWidthJoiner {
			return s[:size], 0, size
		}
	case unicode.In(r, unicode.Mn, unicode.Me):
		if g.marks++; isShown(r) && prev != 0 && g.marks <= maxMarks && (joinable(prev) || !strings.ContainsRune(stackers, r)) {
			return s[:size], 0, size
		}
	case isShown(r):
		g.marks = 0
		if wide(r) {
			return s[:size], 2, size
		}
		return s[:size], 1, size
	}
	g.prev = 0
	shown = escape(r)
	return shown, len(shown), size
}

// NextJSON does what Next does, for JSON or a text that contains JSON: it uses JSON's escapes, and
// keeps line breaks and tabs.
func (g *Glyphs) NextJSON(s string) (shown string, size int) {
	if s[0] == '\n' || s[0] == '\t' {
		*g = Glyphs{}
		return s[:1], 1
	}
	shown, _, size = g.Next(s)
	if shown == s[:size] {
		return shown, size
	}
	shown = ""
	r, _ := utf8.DecodeRuneInString(s)
	if r <= 0xffff {
		return fmt.Sprintf(`\u%04x`, r), size
	}
	for _, unit := range utf16.Encode([]rune{r}) {
		shown += fmt.Sprintf(`\u%04x`, unit)
	}
	return shown, size
}

// joins reports whether an invisible character belongs to the one before it: a joiner or a
// variation selector.
func joins(r rune) bool {
	return r == zeroWidthNonJoiner || r == zeroWidthJoiner || r == 0xfe0e || r == 0xfe0f
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// joinable reports whether a joiner may follow a character. That is so for scripts that are written
// with joiners, and for emoji. In Latin, Greek or Cyrillic a joiner only makes two different names
// look the same.
func joinable(r rune) bool { return r >= 0x0600 && isShown(r) }

// isShown reports whether a character is visible and has no other effect.
func isShown(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, blank)
}

// blank holds invisible letters, marks and symbols that Unicode doesn't class as ignorable: blanks,
// fillers, placeholders, and marks that only change how other characters look.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x2800, 0x2800, 1}, // Braille, without dots
		{0xfffc, 0xfffc, 1}, // in place of an object
	},
	R32: []unicode.Range32{
		{0x13440, 0x13442, 1}, // Egyptian: mirror, blanks
		{0x16fe4, 0x16fe4, 1}, // Khitan filler
		{0x1bc9d, 0x1bc9d, 1}, // Duployan selector
		{0x1d159, 0x1d159, 1}, // null notehead
		{0x1da9b, 0x1da9f, 1}, // SignWriting fills
		{0x1daa1, 0x1daaf, 1}, // and rotations
	},
}

// stackers are invisible marks that join the letters around them in some scripts. After letters of
// other scripts they are treated like joiners.
const stackers = "\u1039\u17d2\u1a60\u2d7f\uaaf6\U00010a3f\U0001107f\U00011133\U0001193e\U00011a47\U00011a99\U00011d45\U00011d97\U00011f42"

// isWord reports whether a name that begins with this character may be shown without quotes.
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' || r == '/' || r == '.' || r == '$' || r == '#' || r == '†'
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

// isPlain reports whether s is printable ASCII.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}
