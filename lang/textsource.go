package lang

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
)

// source is a decoded text, with the place of each of its bytes in the file.
type source struct {
	text  string
	start int    // the place of text[0], and so on up to the first jump
	jumps []jump // nil if the string has no escapes

	memory *memory // for allocations; may be nil
}

// jump says that text[text:], up to the next jump, is at file in the file. There is one directly
// after each escape.
type jump struct{ text, file int32 }

// newSource decodes the JSON string at span, quotes included. Invalid escapes are kept as text,
// since the JSON reader reports them.
func newSource(src []byte, span diag.Span, m *memory) source {
	start := int(span.Start) + 1
	inside := m.string(src[start : span.End-1])
	if strings.IndexByte(inside, '\\') < 0 {
		return source{text: inside, start: start, memory: m}
	}
	var jumps []jump
	text, _ := unescape(inside, func(text, raw int) {
		jumps = append(jumps, jump{int32(text), int32(start + raw)})
	})
	return source{text, start, jumps, m}
}

// at returns the place in the file of text[i].
func (s source) at(i int) int32 {
	if n := sort.Search(len(s.jumps), func(k int) bool { return int(s.jumps[k].text) > i }); n > 0 {
		j := s.jumps[n-1]
		return j.file + int32(i) - j.text
	}
	return int32(s.start + i)
}

func (s source) span(from, to int) diag.Span {
	if s.jumps == nil {
		return diag.Span{Start: int32(s.start + from), End: int32(s.start + to)}
	}
	return diag.Span{Start: s.at(from), End: s.at(to)}
}

// trim removes white space at both ends of text[from:to].
func (s source) trim(from, to int) (int, int) {
	t := strings.TrimLeftFunc(s.text[from:to], unicode.IsSpace)
	from = to - len(t)
	return from, from + len(strings.TrimSpace(t))
}

// notUTF8 returns the place of the first byte of s that is not UTF-8, or -1.
func notUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if _, n := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 {
			return i
		}
	}
	panic("unreachable: the text is not UTF-8")
}

// unquote decodes a string, quotes included, as unescape does.
func unquote(quoted string) (text string, wrong int) {
	inside := quoted[1 : len(quoted)-1]
	if strings.IndexByte(inside, '\\') < 0 {
		return inside, -1
	}
	return unescape(inside, func(int, int) {})
}

// unescape decodes the inside of a JSON string, in which \' is an escape as well, and calls each
// with the places directly after every escape, in the text and in s. Invalid escapes are kept as
// text; wrong is the place of the first, or -1. Halves of surrogate pairs become U+FFFD.
func unescape(s string, each func(text, raw int)) (text string, wrong int) {
	wrong = -1
	b := make([]byte, 0, len(s))
	done := 0 // the part of s that is already in b
	for i := indexFrom(s, '\\', 0); i >= 0; i = indexFrom(s, '\\', done) {
		b = append(b, s[done:i]...)
		r, n := escape(s[i:])
		if n == 0 {
			if wrong < 0 {
				wrong = i
			}
			r, n = '\\', 1
		}
		b = utf8.AppendRune(b, r)
		done = i + n
		each(len(b), done)
	}
	return string(append(b, s[done:]...)), wrong
}

func indexFrom(s string, c byte, from int) int {
	if i := strings.IndexByte(s[from:], c); i >= 0 {
		return from + i
	}
	return -1
}

// escape decodes the escape at the start of s and returns its length; 0 if there is none.
func escape(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	const letters, means = `"\/'bfnrt`, "\"\\/'\b\f\n\r\t"
	if i := strings.IndexByte(letters, s[1]); i >= 0 {
		return rune(means[i]), 2
	}
	r, ok := hexEscape(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if low, ok := hexEscape(s[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hexEscape decodes \uXXXX.
func hexEscape(s string) (r rune, ok bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	for i := 2; i < 6; i++ {
		d := strings.IndexByte("0123456789abcdef", s[i]|0x20)
		if d < 0 || s[i] < '0' {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

// appendQuoted appends s as a JSON string, but between quotes of the given kind.
func appendQuoted(dst []byte, s string, quote byte) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, quote)
	for _, r := range s {
		switch {
		case r == rune(quote) || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r >= ' ':
			dst = utf8.AppendRune(dst, r)
		case strings.ContainsRune("\b\f\n\r\t", r):
			dst = append(dst, '\\', "btn?fr"[r-'\b'])
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		}
	}
	return append(dst, quote)
}
