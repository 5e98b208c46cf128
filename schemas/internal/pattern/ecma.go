package pattern

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON Schema's patterns are regular expressions of ECMA-262, but RE2 runs here. Most of the syntax
// that they share has the same meaning. These differences are translated:
//
//   - \s and \S: ECMA-262 has white space and line ends of all of Unicode, RE2 six of ASCII;
//   - . excludes all four line ends, in RE2 only one;
//   - \uXXXX, also in pairs of surrogates, \u{X}, \cX, \0 and \v;
//   - in a class, [] matches nothing and [^] anything, [ is itself, \b is a backspace, and a
//     sign between a class and another member is no range;
//   - a letter after a meaningless backslash is that letter.
//
// Features that RE2 doesn't have, such as look-ahead and back references, are not translated, and
// RE2 reports an error.

// ecmaSpace and ecmaNotSpace are \s and \S, to stand in a class; ecmaLineEnds are what . leaves
// out.
const (
	ecmaSpace    = `\t-\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}`
	ecmaNotSpace = `\x00-\x08\x0E-\x1F!-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}\x{202A}-\x{202E}` +
		`\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{FEFE}\x{FF00}-\x{10FFFF}`
	ecmaLineEnds = `\n\r\x{2028}\x{2029}`
)

// dotAll is the flag of RE2 with which . leaves out nothing.
var dotAll = regexp.MustCompile(`\(\?[imU]*s`)

// FromECMA translates a regular expression of ECMA-262 into one of RE2.
func FromECMA(text string) string {
	if !strings.ContainsAny(text, `\.[`) {
		return text
	}
	e := ecma{text: text}
	dotIsAll := dotAll.MatchString(text)
	for e.at < len(text) {
		switch c := text[e.at]; {
		case c == '\\':
			e.escape(false)
		case c == '.' && !dotIsAll:
			e.write(`[^`+ecmaLineEnds+`]`, 1)
		case c == '[':
			e.class()
		default:
			e.copy(1)
		}
	}
	return e.out.String()
}

// ecma is a translation in progress; text[at:] is still to be translated.
type ecma struct {
	text string
	at   int
	out  strings.Builder
}

// write writes the translation of the next n bytes of the text.
func (e *ecma) write(s string, n int) {
	e.out.WriteString(s)
	e.at += n
}

// copy writes the next n bytes of the text unchanged.
func (e *ecma) copy(n int) { e.write(e.text[e.at:e.at+n], n) }

// rest returns the text that has not been translated yet.
func (e *ecma) rest() string { return e.text[e.at:] }

// class translates a class in brackets.
func (e *ecma) class() {
	for _, empty := range []struct{ is, want string }{{"[]", `[^\x00-\x{10FFFF}]`}, {"[^]", `[\x00-\x{10FFFF}]`}} {
		if strings.HasPrefix(e.rest(), empty.is) {
			e.write(empty.want, len(empty.is))
			return
		}
	}
	e.write("[", 1)
	if strings.HasPrefix(e.rest(), "^") {
		e.write("^", 1)
	}
	afterSet := false
	for first := true; e.at < len(e.text); first = false {
		switch c := e.text[e.at]; {
		case c == ']':
			e.write("]", 1)
			return
		case c == '[':
			e.write(`\[`, 1)
			afterSet = false
		case c == '-' && !first && !strings.HasPrefix(e.rest(), "-]") && (afterSet || isSet(e.text[e.at+1:])):
			e.write(`\-`, 1) // between a set and another member there is no range
			afterSet = false
		case c == '\\':
			afterSet = isSet(e.rest())
			e.escape(true)
		default:
			e.copy(1)
			afterSet = false
		}
	}
}

// isSet reports whether an escape stands for several runes.
func isSet(s string) bool {
	return len(s) > 1 && s[0] == '\\' && strings.IndexByte("sSdDwWpP", s[1]) >= 0
}

// escape translates an escape, in a class or not.
func (e *ecma) escape(inClass bool) {
	rest := e.rest()
	if len(rest) < 2 {
		e.copy(len(rest))
		return
	}
	switch c := rest[1]; {
	case c == 's' && inClass:
		e.write(ecmaSpace, 2)
	case c == 's':
		e.write(`[`+ecmaSpace+`]`, 2)
	case c == 'S' && inClass:
		e.write(ecmaNotSpace, 2)
	case c == 'S':
		e.write(`[^`+ecmaSpace+`]`, 2)
	case c == 'b' && inClass:
		e.write(`\x08`, 2)
	case c == 'u':
		e.unicode()
	case c == 'c' && len(rest) > 2 && isLetter(rest[2]):
		e.rune(rune(rest[2]%32), 3)
	case c == '0' && (len(rest) == 2 || rest[2] < '0' || rest[2] > '9'):
		e.rune(0, 2)
	case isLetter(c) && strings.IndexByte(`dDwWbBfnrtvxkpPAzQEC`, c) < 0 || c == '_' || c >= utf8.RuneSelf || c == ' ':
		e.write("", 1) // it means nothing
	default:
		e.copy(2)
	}
}

// unicode translates \uXXXX, a pair of surrogates, and \u{X}.
func (e *ecma) unicode() {
	rest := e.rest()
	if digits, _, ok := strings.Cut(strings.TrimPrefix(rest, `\u{`), "}"); ok && strings.HasPrefix(rest, `\u{`) {
		if r, err := strconv.ParseUint(digits, 16, 21); err == nil {
			e.rune(rune(r), len(digits)+4)
			return
		}
	}
	r, ok := unit(rest)
	if !ok {
		e.write("u", 2)
		return
	}
	if low, ok := unit(rest[6:]); ok && utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, low); pair != '\uFFFD' {
			e.rune(pair, 12)
			return
		}
	}
	e.rune(r, 6)
}

// unit returns the code unit of \uXXXX.
func unit(s string) (rune, bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	r, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(r), err == nil
}

// rune writes a rune for what n bytes of the text stand for.
func (e *ecma) rune(r rune, n int) {
	e.write(`\x{`+strconv.FormatUint(uint64(r), 16)+`}`, n)
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
