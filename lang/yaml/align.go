package yaml

import (
	"bytes"
	"strings"
)

// A run is a part of a string, and its place in the YAML scalar of the string, from the start of
// the scalar.
type run struct {
	text       string
	start, end int
	same       bool // the bytes there are the same
}

// align returns the parts of a string, one after the other, and their places in the YAML scalar
// that source begins with. If it can't find out, it returns one part whose place is the first whole
// bytes.
func align(source []byte, s string, whole int) []run {
	a := &aligner{source: source, s: s}
	switch first := string(source[:min(1, len(source))]); first {
	case `"`, `'`:
		a.quote, a.i = first[0], 1
	case "|", ">":
		a.enter()
	}
	for a.j < len(s) {
		if a.i >= len(source) || !a.step() {
			return []run{{text: s, end: whole}}
		}
	}
	return a.runs
}

// aligner goes through a scalar and its string in parallel.
type aligner struct {
	source []byte
	s      string
	quote  byte // 0 for none
	block  bool // the scalar is a block, on lines of its own
	indent int  // of those lines
	i, j   int
	runs   []run
}

// enter goes to the first line of a block scalar.
func (a *aligner) enter() {
	a.block = true
	for a.i < len(a.source) && a.source[a.i] != '\n' {
		a.i++
	}
	for at := a.i; at < len(a.source) && strings.IndexByte("\r\n ", a.source[at]) >= 0; at++ {
		if a.indent++; a.source[at] != ' ' {
			a.indent = 0
		}
	}
	first := strings.TrimLeft(a.s, "\n")
	a.indent -= len(first) - len(strings.TrimLeft(first, " ")) // without spaces that are part of the string
	if a.i++; a.indent < 0 {
		a.indent = 0
	}
	a.skipIndentation()
}

// skipIndentation skips the spaces at the start of a line that are not part of the string.
func (a *aligner) skipIndentation() {
	for n := 0; n < a.indent && a.i < len(a.source) && a.source[a.i] == ' '; n++ {
		a.i++
	}
}

// step goes one character on, or over the end of a line. It returns false if the scalar does not
// match the string there.
func (a *aligner) step() bool {
	c := a.source[a.i]
	space := c == ' ' || c == '\t'
	switch {
	case c == '\n' || c == '\r':
		a.fold()
	case c == '\\' && a.quote == '"':
		return a.escape()
	case c == '\'' && a.quote == '\'':
		return bytes.HasPrefix(a.source[a.i:], []byte("''")) && a.says("'", 2)
	case c == a.s[a.j]:
		a.put(1, 1, true)
	case space && !a.block: // at the end of a line
		a.fold()
	default:
		return false
	}
	return true
}

// put adds a part of n bytes for m bytes of the scalar.
func (a *aligner) put(n, m int, same bool) {
	if last := len(a.runs) - 1; same && last >= 0 && a.runs[last].same && a.runs[last].end == a.i {
		r := &a.runs[last]
		r.text, r.end = a.s[a.j-len(r.text):a.j+n], a.i+m
	} else if n > 0 {
		a.runs = append(a.runs, run{a.s[a.j : a.j+n], a.i, a.i + m, same})
	}
	a.i, a.j = a.i+m, a.j+n
}

// says skips m bytes that stand for a text. It returns false if the string does not have that text
// there.
func (a *aligner) says(text string, m int) bool {
	if !strings.HasPrefix(a.s[a.j:], text) {
		return false
	}
	a.put(len(text), m, false)
	return true
}

// fold skips line ends in the scalar, and in the string what they stand for: line ends, a space, or
// nothing.
func (a *aligner) fold() {
	from := a.i
	between := "\r\n"
	if !a.block {
		between = "\r\n \t"
	}
	for a.i < len(a.source) && strings.IndexByte(between, a.source[a.i]) >= 0 {
		if a.i++; a.source[a.i-1] == '\n' {
			a.skipIndentation()
		}
	}
	n := len(a.s[a.j:]) - len(strings.TrimLeft(a.s[a.j:], "\n"))
	if n == 0 && a.s[a.j] == ' ' {
		n = 1
	}
	m := a.i - from
	a.i = from
	a.put(n, m, false)
}

// escape skips an escape in double quotes.
func (a *aligner) escape() bool {
	const signs, meanings = `0abtnvfre"/\N_LP `, "\x00\a\b\t\n\v\f\r\x1b\"/\\\u0085\u00a0\u2028\u2029 "
	rest := a.source[a.i+1:]
	if len(rest) == 0 {
		return false
	}
	if n := strings.IndexByte("xuU", rest[0]); n >= 0 {
		digits := 2 << n
		var c rune
		for k := 1; k <= digits; k++ {
			d := -1
			if k < len(rest) {
				d = strings.IndexByte("0123456789abcdef", rest[k]|0x20)
			}
			if d < 0 {
				return false
			}
			c = c<<4 | rune(d)
		}
		return a.says(string(c), digits+2)
	}
	if rest[0] == '\n' || rest[0] == '\r' { // an escaped line end
		m := len(rest) - len(strings.TrimLeft(string(rest), "\r\n \t"))
		a.put(0, m+1, false)
		return true
	}
	n := strings.IndexByte(signs, rest[0])
	if n < 0 {
		return false
	}
	return a.says(string([]rune(meanings)[n]), 2)
}
