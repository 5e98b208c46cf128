package cel

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// tokenKind tells words and values from signs.
type tokenKind int8

const (
	endToken tokenKind = iota
	nameToken
	quotedName // between backquotes
	intToken
	uintToken
	doubleToken
	stringToken
	bytesToken
	signToken // an operator, a bracket, or one of the words in, true, false and null
)

// span is a part of a source, from one byte to before another.
type span struct{ start, end int }

// token is a word, a value or a sign of a source.
type token struct {
	kind tokenKind
	span
}

// lexer cuts a source into tokens.
type lexer struct {
	source string
	pos    int
}

// signs are the operators and brackets, longer ones before those that they begin with.
var signs = []string{"==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*", "/", "%"}

// next returns the next token. The error is a *compile.PredicateError.
func (l *lexer) next() (token, error) {
	l.skip()
	rest := l.source[l.pos:]
	switch {
	case rest == "":
		return l.take(endToken, 0)
	case digits(rest) > 0, rest[0] == '.' && digits(rest[1:]) > 0:
		return l.number(rest)
	case rest[0] == '`':
		n := strings.IndexFunc(rest[1:], func(r rune) bool { return !isLetter(r) && !isDigit(r) && !strings.ContainsRune("_.-/ ", r) })
		if n < 1 || rest[n+1] != '`' {
			return token{}, fault(l.source, l.pos, l.pos+1, "a name between backquotes does not end")
		}
		return l.take(quotedName, n+2)
	}
	if prefix, ok := stringPrefix(rest); ok {
		return l.text(rest, prefix)
	}
	if n := nameLen(rest); n > 0 {
		switch rest[:n] {
		case "in", "true", "false", "null":
			return l.take(signToken, n)
		}
		return l.take(nameToken, n)
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			return l.take(signToken, len(s))
		}
	}
	return token{}, l.unexpected()
}

func (l *lexer) take(kind tokenKind, n int) (token, error) {
	start := l.pos
	l.pos += n
	return token{kind, span{start, l.pos}}, nil
}

// skip passes over white space and comments.
func (l *lexer) skip() {
	for l.pos < len(l.source) {
		switch l.source[l.pos] {
		case ' ', '\t', '\r', '\n', '\f':
			l.pos++
			continue
		case '/':
			if strings.HasPrefix(l.source[l.pos:], "//") {
				if n := strings.IndexByte(l.source[l.pos:], '\n'); n >= 0 {
					l.pos += n
					continue
				}
				l.pos = len(l.source)
			}
		}
		return
	}
}

// unexpected says that nothing begins with the character at this place.
func (l *lexer) unexpected() error {
	_, size := utf8.DecodeRuneInString(l.source[l.pos:])
	return fault(l.source, l.pos, l.pos+size, "unexpected %q", l.source[l.pos:l.pos+size])
}

// number reads an int, a uint or a double.
func (l *lexer) number(rest string) (token, error) {
	if strings.HasPrefix(rest, "0x") {
		if n := len(rest[2:]) - len(strings.TrimLeft(rest[2:], "0123456789abcdefABCDEF")); n > 0 {
			return l.whole(rest, n+2)
		}
	}
	n := digits(rest)
	kind := intToken
	if strings.HasPrefix(rest[n:], ".") {
		if more := digits(rest[n+1:]); more > 0 {
			n, kind = n+1+more, doubleToken
		}
	}
	if exp := strings.TrimLeft(rest[n:], "eE"); len(rest[n:])-len(exp) == 1 {
		sign := 0
		if exp != "" && (exp[0] == '+' || exp[0] == '-') {
			sign = 1
		}
		if more := digits(exp[sign:]); more > 0 {
			n, kind = n+1+sign+more, doubleToken
		}
	}
	if kind == intToken {
		return l.whole(rest, n)
	}
	return l.take(kind, n)
}

// whole takes an int of n bytes, or a uint when there is a u behind it.
func (l *lexer) whole(rest string, n int) (token, error) {
	if n < len(rest) && (rest[n] == 'u' || rest[n] == 'U') {
		return l.take(uintToken, n+1)
	}
	return l.take(intToken, n)
}

// stringPrefix returns the letters b and r before a quote, and whether there is one.
func stringPrefix(rest string) (string, bool) {
	n := 0
	if n < len(rest) && (rest[n] == 'b' || rest[n] == 'B') {
		n++
	}
	if n < len(rest) && (rest[n] == 'r' || rest[n] == 'R') {
		n++
	}
	return rest[:n], n < len(rest) && (rest[n] == '"' || rest[n] == '\'')
}

// text takes a string or bytes to their closing quote.
func (l *lexer) text(rest, prefix string) (token, error) {
	kind := stringToken
	if strings.ContainsAny(prefix, "bB") {
		kind = bytesToken
	}
	body, quote := rest[len(prefix):], rest[len(prefix):len(prefix)+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(body, long) {
		quote = long
	}
	raw := strings.ContainsAny(prefix, "rR")
	for i := len(quote); i < len(body); i++ {
		switch {
		case strings.HasPrefix(body[i:], quote):
			return l.take(kind, len(prefix)+i+len(quote))
		case len(quote) == 1 && (body[i] == '\n' || body[i] == '\r'):
			i = len(body)
		case body[i] == '\\' && !raw:
			i++
		}
	}
	return token{}, fault(l.source, l.pos, l.pos+len(prefix)+1, "a string that does not end")
}

// unquote returns the text of a string or of bytes.
func unquote(text string, kind tokenKind) (string, error) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	prefix, _ := stringPrefix(text)
	text = text[len(prefix):]
	n := 1
	if len(text) >= 6 && (strings.HasPrefix(text, `"""`) || strings.HasPrefix(text, "'''")) {
		n = 3
	}
	text = text[n : len(text)-n]
	if strings.ContainsAny(prefix, "rR") {
		return text, nil
	}
	var b strings.Builder
	for text != "" {
		n := strings.IndexByte(text, '\\')
		if n < 0 {
			n = len(text)
		}
		b.WriteString(text[:n])
		if text = text[n:]; text == "" {
			break
		}
		rest, err := escape(&b, text[1:], kind == bytesToken)
		if err != nil {
			return "", err
		}
		text = rest
	}
	return b.String(), nil
}

var errEscape = errors.New("no character has this escape")

// escape writes the character that an escape stands for, and returns what is behind it. In bytes
// \x and octal escapes are bytes.
func escape(b *strings.Builder, text string, bytes bool) (string, error) {
	const plain, means = `abfnrtv\'"` + "`?", "\a\b\f\n\r\t\v\\'\"`?"
	if text == "" {
		return "", errEscape
	}
	if i := strings.IndexByte(plain, text[0]); i >= 0 {
		b.WriteByte(means[i])
		return text[1:], nil
	}
	skip, size, base := 1, 0, rune(16)
	switch text[0] {
	case 'x', 'X':
		size = 2
	case 'u':
		size = 4
	case 'U':
		size = 8
	case '0', '1', '2', '3':
		skip, size, base = 0, 3, 8
	}
	if size == 0 || len(text) < skip+size || bytes && size > 3 {
		return "", errEscape
	}
	var r rune
	for _, c := range text[skip : skip+size] {
		d := rune(strings.IndexRune("0123456789abcdef", c|0x20))
		if isDigit(c) {
			d = c - '0'
		}
		if d < 0 || d >= base {
			return "", errEscape
		}
		r = r*base + d
	}
	switch {
	case bytes:
		b.WriteByte(byte(r))
	case !utf8.ValidRune(r):
		return "", errEscape
	default:
		b.WriteRune(r)
	}
	return text[skip+size:], nil
}

func isLetter(r rune) bool { return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' }

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// digits returns how many digits a text begins with.
func digits(text string) int { return len(text) - len(strings.TrimLeft(text, "0123456789")) }

// nameLen returns the length of the name that a text begins with.
func nameLen(text string) int {
	n := strings.IndexFunc(text, func(r rune) bool { return !isLetter(r) && !isDigit(r) && r != '_' })
	if n < 0 {
		n = len(text)
	}
	if n > 0 && isDigit(rune(text[0])) {
		return 0
	}
	return n
}
