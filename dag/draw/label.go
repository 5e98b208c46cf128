package draw

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/display"
)

// clean returns a label on one line. Line breaks and tabs become spaces; other characters that are
// invisible or could affect a terminal become escapes, as in all output of plc.
func clean(s string) string { return display.Line(spaces.Replace(s)).String() }

var spaces = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ", "\u2028", " ", "\u2029", " ")

// escapeWith replaces the characters of a cleaned label for which special returns a non-empty
// string.
func escapeWith(s string, special func(rune) string) string {
	var b strings.Builder
	for _, r := range clean(s) {
		if e := special(r); e != "" {
			b.WriteString(e)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// quoted returns the escape of a character within a double-quoted string of YAML or DOT.
func quoted(r rune) string {
	switch r {
	case '\\':
		return `\\`
	case '"':
		return `\"`
	}
	return ""
}

// columns returns the width of a label in columns of a monospaced font.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r == 0x200C || r == 0x200D || unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case isWide(r):
		return 2
	}
	return 1
}

// isWide reports whether a character takes two columns, that is, whether it is in a block of wide
// characters according to Unicode's East Asian Width.
func isWide(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x115F, r == 0x231A, r == 0x231B, r >= 0x23E9 && r <= 0x23F3:
		return true
	case r >= 0x2614 && r <= 0x2615, r >= 0x2648 && r <= 0x2653, r >= 0x26A1 && r <= 0x26FD:
		return true
	case r == 0x2705, r == 0x2728, r == 0x274C, r == 0x274E, r >= 0x2753 && r <= 0x2757:
		return true
	case r >= 0x2795 && r <= 0x2797, r == 0x2B1B, r == 0x2B1C, r == 0x2B50, r == 0x2B55:
		return true
	case r >= 0x2E80 && r <= 0xA4CF && r != 0x303F, r >= 0xA960 && r <= 0xA97F, r >= 0xAC00 && r <= 0xD7A3:
		return true
	case r >= 0xF900 && r <= 0xFAFF, r >= 0xFE30 && r <= 0xFE6F, r >= 0xFF00 && r <= 0xFF60, r >= 0xFFE0 && r <= 0xFFE6:
		return true
	case r >= 0x16FE0 && r <= 0x1B2FF, r >= 0x1F300 && r <= 0x1F64F, r >= 0x1F680 && r <= 0x1F6FF:
		return true
	case r >= 0x1F7E0 && r <= 0x1F7F0, r >= 0x1F90C && r <= 0x1FAFF, r >= 0x20000 && r <= 0x3FFFD:
		return true
	}
	return false
}

// wrap breaks a label into lines of at most cols columns, preferably at white space and
// punctuation. Text beyond the last line is replaced by an ellipsis.
func wrap(s string, cols, lines int) []string {
	var out []string
	for _, line := range strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }) {
		for line = strings.TrimSpace(clean(line)); line != ""; {
			if len(out) == lines {
				out[lines-1] = shorten(out[lines-1]+"…", cols)
				return out
			}
			n := fit(line, cols)
			out = append(out, strings.TrimSpace(line[:n]))
			line = strings.TrimSpace(line[n:])
		}
	}
	return out
}

// fit returns how many bytes of a line fit into cols columns: up to the last good break in their
// second half (after punctuation, inside camelCase), or as many as fit, but at least one character.
func fit(s string, cols int) int {
	used, brk := 0, 0
	last := ' '
	for i, r := range s {
		used += runeColumns(r)
		if used > cols {
			if brk > 0 {
				return brk
			}
			return max(i, utf8.RuneLen(r))
		}
		if used > cols/2 {
			switch {
			case strings.ContainsRune(" ./_-,:;=|", r):
				brk = i + utf8.RuneLen(r)
			case unicode.IsUpper(r) && unicode.IsLower(last):
				brk = i
			}
		}
		last = r
	}
	return len(s)
}

// shorten cuts a line to cols columns; an ellipsis replaces the rest.
func shorten(s string, cols int) string {
	if columns(s) <= cols {
		return s
	}
	used := 0
	for i, r := range s {
		if used += runeColumns(r); used > cols-1 {
			return s[:i] + "…"
		}
	}
	return s
}
