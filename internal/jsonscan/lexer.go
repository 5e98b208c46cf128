package jsonscan

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"unicode/utf8"
)

// Token is the kind of a token.
type Token uint8

// The kinds of tokens. String and those after it are values.
const (
	EOF         Token = iota
	BeginArray        // [
	EndArray          // ]
	BeginObject       // {
	EndObject         // }
	Colon
	Comma
	Invalid // not a token of JSON; see Lexer.Err
	String
	Number
	True
	False
	Null
)

func (t Token) String() string {
	return [...]string{"the end of the text", `"["`, `"]"`, `"{"`, `"}"`, `":"`, `","`,
		"something that is not JSON", "a string", "a number", "true", "false", "null"}[t]
}

// Lexer splits a text into tokens. The caller enforces limits; a text must be shorter than 2 GiB.
type Lexer struct {
	Text     []byte
	Pos      int  // the end of the last token; a caller may move it
	Comments bool // allows // and /* */
	Spaced   bool // there was white space, or a comment, before a token

	// About the last token:
	Start   int    // where it starts
	Err     *Error // its first fault, nil if there is none
	Escaped bool   // String: it has escapes
	Wide    bool   // String: it has characters outside ASCII
}

// Next reads a token. If there is a fault, it sets Err. It reads a String with a fault up to its
// closing quote. It reads an Invalid token as far as the text seems to belong together, at least
// one byte except at the end of the text.
func (l *Lexer) Next() Token {
	l.Err = nil
	for {
		i := l.Pos
		for i < len(l.Text) && (l.Text[i] == ' ' || l.Text[i] == '\n' || l.Text[i] == '\r' || l.Text[i] == '\t') {
			i++
		}
		if i > l.Pos {
			l.Spaced = true
		}
		l.Start = i
		if i == len(l.Text) {
			l.Pos = i
			return EOF
		}
		l.Pos = i + 1
		if l.Text[i] != '/' {
			return l.token()
		}
		if !l.comment() {
			return Invalid
		}
	}
}

// token reads the token at Start.
func (l *Lexer) token() Token {
	switch l.Text[l.Start] {
	case '"':
		return l.string()
	case ',':
		return Comma
	case ':':
		return Colon
	case '{':
		return BeginObject
	case '}':
		return EndObject
	case '[':
		return BeginArray
	case ']':
		return EndArray
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return l.number()
	case 't':
		return l.word("true", True)
	case 'f':
		return l.word("false", False)
	case 'n':
		return l.word("null", Null)
	}
	return l.other()
}

func (l *Lexer) fail(offset int, format string, args ...any) Token {
	if l.Err == nil {
		l.Err = &Error{Offset: offset, Message: fmt.Sprintf(format, args...)}
	}
	return Invalid
}

// word reads a word. The token has this kind if the word is want.
func (l *Lexer) word(want string, kind Token) Token {
	end := l.Start + len(want)
	if end <= len(l.Text) && string(l.Text[l.Start:end]) == want && (end == len(l.Text) || !isWord(l.Text[end])) {
		l.Pos = end
		return kind
	}
	return l.other()
}

func isWord(c byte) bool {
	return c-'0' <= 9 || c|0x20-'a' <= 'z'-'a' || c == '_' || c == '$' || c == '.' || c == '+' || c == '-'
}

// other reads text that can't start a token.
func (l *Lexer) other() Token {
	switch c := l.Text[l.Start]; {
	case isWord(c):
		for l.Pos < len(l.Text) && isWord(l.Text[l.Pos]) {
			l.Pos++
		}
		return l.fail(l.Start, "%q is not JSON", clip(l.Text[l.Start:l.Pos]))
	case c == '\'' || c == '`':
		return l.fail(l.Start, "strings are written in double quotes")
	case c < utf8.RuneSelf:
		return l.fail(l.Start, "%q is not JSON", rune(c))
	}
	r, n := utf8.DecodeRune(l.Text[l.Start:])
	l.Pos = l.Start + n
	if r == utf8.RuneError && n == 1 {
		return l.fail(l.Start, "the byte 0x%02x is not UTF-8", l.Text[l.Start])
	}
	return l.fail(l.Start, "%q (U+%04X) is not JSON", r, r)
}

// clip shortens a text for a message.
func clip(text []byte) []byte { return text[:min(len(text), 40)] }

// comment skips a comment. It reports whether there is one that is allowed and complete.
func (l *Lexer) comment() bool {
	rest := l.Text[l.Start:]
	if len(rest) < 2 || rest[1] != '/' && rest[1] != '*' {
		l.fail(l.Start, `"/" is not JSON`)
		return false
	}
	end, ok := commentEnd(rest)
	l.Pos = l.Start + end
	switch {
	case !l.Comments:
		l.fail(l.Start, "comments are not JSON")
	case !ok:
		l.fail(l.Start, `the comment that starts here has no "*/"`)
	case !utf8.Valid(rest[:end]):
		at := l.Start + invalidUTF8(rest[:end])
		l.fail(at, "the byte 0x%02x is not UTF-8", l.Text[at])
	}
	return l.Err == nil
}

// commentEnd returns the length of the comment at the start of text, without the end of the line;
// ok is whether the comment is complete.
func commentEnd(text []byte) (end int, ok bool) {
	if text[1] == '/' {
		if end = bytes.IndexAny(text, "\r\n"); end < 0 {
			end = len(text)
		}
		return end, true
	}
	if end = bytes.Index(text[2:], []byte("*/")); end < 0 {
		return len(text), false
	}
	return end + 4, true
}

func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// number reads a number and the word characters right after it, so that 1_000, 0x10 and 01 are one
// fault each.
func (l *Lexer) number() Token {
	t, i := l.Text, l.Start
	if t[i] == '-' {
		i++
	}
	whole := digits(t, i)
	ok := whole > i && (t[i] != '0' || whole == i+1)
	i = whole
	if i < len(t) && t[i] == '.' {
		end := digits(t, i+1)
		ok = ok && end > i+1
		i = end
	}
	if i < len(t) && t[i]|0x20 == 'e' {
		if i++; i < len(t) && (t[i] == '+' || t[i] == '-') {
			i++
		}
		end := digits(t, i)
		ok = ok && end > i
		i = end
	}
	for ; i < len(t) && isWord(t[i]); i++ {
		ok = false
	}
	if l.Pos = i; !ok {
		return l.fail(l.Start, "%q is not a number in JSON", clip(t[l.Start:i]))
	}
	return Number
}

func digits(t []byte, i int) int {
	for i < len(t) && t[i]-'0' <= 9 {
		i++
	}
	return i
}

// string reads a string.
func (l *Lexer) string() Token {
	t, i := l.Text, l.Pos
	l.Escaped, l.Wide = false, false
	for {
		i = l.plain(i)
		if i == len(t) {
			l.Pos = i
			return l.fail(l.Start, "the string that starts here is not closed")
		}
		switch c := t[i]; {
		case c == '"':
			l.Pos = i + 1
			if l.Wide && !utf8.Valid(t[l.Start:l.Pos]) {
				l.badUTF8()
			}
			return String
		case c == '\\':
			l.Escaped = true
			i = l.escape(i)
		case c == '\n' || c == '\r':
			l.Pos = i
			l.Err = nil // the fault below matters more
			return l.fail(l.Start, "the string that starts here is not closed on its line (a line break in it is written \\n)")
		default:
			l.fail(i, "the control character U+%04X in a string is written \\u%04x", c, c)
			i++
		}
	}
}

func (l *Lexer) badUTF8() {
	at := l.Start + invalidUTF8(l.Text[l.Start:l.Pos])
	if l.Err == nil || l.Err.Offset > at {
		l.Err = nil
		l.fail(at, "the byte 0x%02x is not UTF-8", l.Text[at])
	}
}

// plain skips ordinary bytes, eight at a time, up to the next quote, backslash or control
// character. It sets Wide if it sees a byte outside ASCII.
func (l *Lexer) plain(i int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	t := l.Text
	for ; i+8 <= len(t); i += 8 {
		w := binary.LittleEndian.Uint64(t[i:])
		quote, slash := w^'"'*ones, w^'\\'*ones
		// The high bit of a byte is set where it is a quote, a backslash or below
		// 0x20; bits above the lowest such byte may be wrong.
		found := ((quote-ones)&^quote | (slash-ones)&^slash | (w-' '*ones)&^w) & high
		if w&high&(found&-found-1) != 0 { // before the lowest, or anywhere if there is none
			l.Wide = true
		}
		if found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(t) && t[i] != '"' && t[i] != '\\' && t[i] >= ' '; i++ {
		if t[i] >= utf8.RuneSelf {
			l.Wide = true
		}
	}
	return i
}

// escape skips the escape at i.
func (l *Lexer) escape(i int) int {
	if i+1 == len(l.Text) {
		return i + 1
	}
	switch c := l.Text[i+1]; c {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		return l.unicode(i)
	}
	_, n := utf8.DecodeRune(l.Text[i+1:])
	l.fail(i, "%q is no escape in JSON; a backslash is written \\\\", l.Text[i:i+1+n])
	if l.Text[i+1] < ' ' {
		return i + 1
	}
	return i + 1 + n
}

func (l *Lexer) unicode(i int) int {
	r, ok := hex4(l.Text[i:])
	switch {
	case !ok:
		l.fail(i, `\u wants four hexadecimal digits; a backslash is written \\`)
		return i + 2
	case r&^0x7ff != 0xd800:
		return i + 6
	}
	if low, ok := hex4(l.Text[i+6:]); ok && r < 0xdc00 && low&^0x3ff == 0xdc00 {
		return i + 12
	}
	l.fail(i, "%s is half of a surrogate pair", l.Text[i:i+6])
	return i + 6
}

// hex4 decodes the \uXXXX at the start of text.
func hex4(text []byte) (r rune, ok bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	for _, c := range text[2:6] {
		switch {
		case c-'0' <= 9:
			r = r<<4 | rune(c-'0')
		case c|0x20-'a' <= 5:
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// AppendString appends the text of a string, which is given without its quotes, with escapes
// decoded. Invalid escapes stay as they are.
func AppendString(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		var n int
		dst, n = appendEscape(dst, s[i:])
		s = s[i+n:]
	}
}

// appendEscape appends the character of the escape at the start of s, and returns the length of the
// escape.
func appendEscape(dst, s []byte) ([]byte, int) {
	const letters, means = `"\/'bfnrt`, "\"\\/'\b\f\n\r\t"
	for i := range len(letters) {
		if s[1] == letters[i] {
			return append(dst, means[i]), 2
		}
	}
	r, ok := hex4(s)
	if !ok {
		return append(dst, '\\'), 1
	}
	if r&^0x3ff == 0xd800 {
		if low, ok := hex4(s[6:]); ok && low&^0x3ff == 0xdc00 {
			return utf8.AppendRune(dst, (r-0xd800)<<10|(low-0xdc00)+0x10000), 12
		}
	}
	return utf8.AppendRune(dst, r), 6 // half a pair becomes U+FFFD
}
