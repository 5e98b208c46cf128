package llmcompiler

import (
	"bytes"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang/dialect"
)

// arg is an argument of a call.
type arg struct {
	name  diag.Span // of a keyword argument
	value value
}

// value is a Python literal, a reference, or plain text.
type value struct {
	span   diag.Span
	kind   valueKind
	json   string  // jsonValue
	pieces []piece // textValue
	keys   []value // dictValue
	items  []value // listValue, dictValue
}

type valueKind uint8

const (
	textValue valueKind = iota
	jsonValue
	listValue
	dictValue
)

// piece is a piece of a text: literal text, or a reference.
type piece struct {
	span diag.Span
	text string
	ref  *dialect.NumberRef
}

// said returns the text of a value, without looking for references.
func (v *value) said() string {
	var all strings.Builder
	for _, p := range v.pieces {
		all.WriteString(p.text)
	}
	return all.String()
}

// maxDepth is the maximum depth of nested lists and dicts.
const maxDepth = 100

// parser reads the arguments of one call.
type parser struct {
	*dialect.Builder
	at    int // the offset after what was read
	end   int // the furthest end of the call
	depth int
	bad   *fault
}

// fault describes an error in arguments, and its place.
type fault struct {
	at      diag.Span
	message string
	fix     *diag.Fix
}

// arguments reads the arguments after the opening parenthesis, and the closing one. Text that is
// not literals is one argument.
func (p *parser) arguments() (args []arg, broken bool) {
	start := p.at
	args = p.list()
	if p.bad == nil {
		return args, false
	}
	first := p.bad
	if v, ok := p.bare(start); ok {
		return []arg{{value: v}}, false
	}
	if len(bytes.TrimSpace(p.File.Text[p.at:])) == 0 {
		first.message += "; the plan may be cut off here"
	}
	f := p.Errorf(first.at, diag.BadNotation, "%s", first.message)
	f.Fix = first.fix
	if first.fix != nil {
		return args, false
	}
	p.at = p.end // the next step begins there
	return nil, true
}

// fail notes the first fault.
func (p *parser) fail(at diag.Span, message string) {
	if p.bad == nil {
		p.bad = &fault{at: at, message: message}
	}
}

// rest returns the unread text.
func (p *parser) rest() []byte { return p.File.Text[p.at:p.end] }

func (p *parser) peek() byte {
	if p.at < p.end {
		return p.File.Text[p.at]
	}
	return 0
}

// space skips white space, including line ends.
func (p *parser) space() {
	for p.at < p.end && strings.IndexByte(" \t\r\n", p.File.Text[p.at]) >= 0 {
		p.at++
	}
}

func (p *parser) here() diag.Span {
	_, size := utf8.DecodeRune(p.File.Text[p.at:p.end])
	return dialect.Span(p.at, p.at+size)
}

// list reads arguments up to the parenthesis that closes them.
func (p *parser) list() (args []arg) {
	for p.bad == nil {
		p.space()
		if p.peek() == ')' {
			p.at++
			return args
		}
		if p.at == p.end {
			p.unclosed()
			return args
		}
		args = append(args, p.argument())
		p.separator(')')
	}
	return args
}

// unclosed reports a call that does not end.
func (p *parser) unclosed() {
	at := len(bytes.TrimRight(p.File.Text[:p.at], " \t\r\n"))
	p.fail(dialect.Span(at-1, at), "the parenthesis of this call is not closed")
	p.bad.fix = &diag.Fix{Message: "close it", Edits: []diag.Edit{{Span: dialect.Span(at, at), Text: ")"}}}
	p.at = at
}

// separator reads the comma after a value; it does not read the closing bracket.
func (p *parser) separator(closing byte) {
	if p.bad != nil {
		return
	}
	p.space()
	switch {
	case p.peek() == ',':
		p.at++
	case p.peek() == closing:
	case p.at == p.end && closing == ')':
	default:
		p.fail(p.here(), "a comma or "+string(rune(closing))+" is wanted here")
	}
}

var keyword = lazyregexp.New(`^([\pL_][\pL\pN_]*)[ \t]*=[ \t]*`)

func (p *parser) argument() (a arg) {
	if m := keyword.FindSubmatchIndex(p.rest()); m != nil {
		a.name = dialect.Span(p.at, p.at+m[3])
		if p.peek() == '_' {
			p.fail(a.name, "the name of a param does not begin with _")
		}
		p.at += m[1]
	}
	a.value = p.value()
	return a
}

var (
	bareRef = lazyregexp.New(`^\$(?:\d+|\{\d+\})`)
	number  = lazyregexp.New(`^[-+]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*)?\.?\d[\d_]*\.?(?:[eE][-+]?\d+)?)`)
	word    = lazyregexp.New(`^[\pL_][\pL\pN_]*`)
)

func (p *parser) value() value {
	p.space()
	start := p.at
	rest := p.rest()
	switch c := p.peek(); {
	case startsString(rest):
		return p.strings()
	case c == '[':
		return p.items(']')
	case c == '(':
		return p.items(')')
	case c == '{':
		return p.dict()
	case c == '$':
		if n := len(bareRef.Find(rest)); n > 0 {
			p.at += n
			return value{span: dialect.Span(start, p.at), pieces: []piece{{span: dialect.Span(start, p.at), text: string(rest[:n])}}}
		}
	}
	if w := string(word.Find(rest)); w != "" {
		if json, ok := map[string]string{"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}[w]; ok {
			p.at += len(w)
			return value{span: dialect.Span(start, p.at), kind: jsonValue, json: json}
		}
	}
	if n := string(number.Find(rest)); n != "" {
		if json, ok := jsonNumber(n); ok {
			p.at += len(n)
			return value{span: dialect.Span(start, p.at), kind: jsonValue, json: json}
		}
	}
	p.fail(p.here(), "a value is wanted here: a string in quotes, a number, a list, or a reference such as $1")
	return value{}
}

var jsonForm = lazyregexp.New(`^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$`)

// jsonNumber returns a Python number as JSON.
func jsonNumber(s string) (string, bool) {
	if jsonForm.MatchString(s) {
		return s, true
	}
	s = strings.ReplaceAll(strings.TrimPrefix(s, "+"), "_", "")
	if n, ok := new(big.Int).SetString(s, 0); ok && !strings.HasPrefix(strings.TrimPrefix(s, "-"), "0") || ok && len(s) > 1 && strings.ContainsAny(s, "xXoObB") {
		return n.String(), true
	}
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	if strings.HasPrefix(s, ".") {
		s = "0" + s
	}
	if i := strings.IndexByte(s, '.'); i >= 0 && (i+1 == len(s) || s[i+1] == 'e' || s[i+1] == 'E') {
		s = s[:i] + ".0" + s[i+1:]
	}
	return sign + s, jsonForm.MatchString(s)
}

// items reads a list or a tuple.
func (p *parser) items(closing byte) value {
	v := value{kind: listValue}
	start := p.at
	p.open()
	for p.bad == nil {
		p.space()
		if p.peek() == closing {
			break
		}
		v.items = append(v.items, p.value())
		p.separator(closing)
	}
	v.span = p.close(start)
	return v
}

// open enters a bracket.
func (p *parser) open() {
	p.at++
	if p.depth++; p.depth > maxDepth {
		p.fail(dialect.Span(p.at-1, p.at), "lists nest deeper than "+strconv.Itoa(maxDepth))
	}
}

// close leaves a bracket.
func (p *parser) close(start int) diag.Span {
	p.depth--
	if p.bad == nil {
		p.at++
	}
	return dialect.Span(start, p.at)
}

// dict reads a dict.
func (p *parser) dict() value {
	v := value{kind: dictValue}
	start := p.at
	p.open()
	for p.bad == nil {
		p.space()
		if p.peek() == '}' {
			break
		}
		key := p.key()
		if p.bad != nil {
			break
		}
		v.keys = append(v.keys, key)
		v.items = append(v.items, p.value())
		p.separator('}')
	}
	v.span = p.close(start)
	return v
}

// key reads a key and the colon after it.
func (p *parser) key() value {
	key := p.value()
	switch {
	case p.bad != nil:
		return key
	case key.kind == jsonValue:
		key.pieces = []piece{{text: key.json}} // in its JSON form
	case key.kind != textValue:
		p.fail(key.span, "a key is a string")
		return key
	}
	if p.space(); p.peek() != ':' {
		p.fail(p.here(), "a colon is wanted here, behind a key")
		return key
	}
	p.at++
	return key
}

// startsString reports whether s starts with a quote, or with a prefix and a quote.
func startsString(s []byte) bool {
	if len(s) > 1 && strings.IndexByte("rRuU", s[0]) >= 0 {
		s = s[1:]
	}
	return len(s) > 0 && (s[0] == '"' || s[0] == '\'')
}

// strings reads a string, or several adjacent strings, which count as one.
func (p *parser) strings() value {
	v := value{span: dialect.Span(p.at, p.at)}
	for p.bad == nil {
		p.string(&v)
		v.span.End = int32(p.at)
		next := p.at
		for next < p.end && strings.IndexByte(" \t", p.File.Text[next]) >= 0 {
			next++
		}
		if !startsString(p.File.Text[next:p.end]) {
			break
		}
		p.at = next
	}
	return v
}

// string reads one string into v.
func (p *parser) string(v *value) {
	start := p.at
	raw := false
	if c := p.peek(); c != '"' && c != '\'' {
		raw = c == 'r' || c == 'R'
		p.at++
	}
	quote := string(p.peek())
	if bytes.HasPrefix(p.rest(), []byte(strings.Repeat(quote, 3))) {
		quote = strings.Repeat(quote, 3)
	}
	p.at += len(quote)
	from := p.at
	flush := func() {
		if s := dialect.Span(from, p.at); s.Len() > 0 {
			v.pieces = append(v.pieces, piece{span: s, text: p.Text(s)})
		}
	}
	for p.at < p.end {
		switch {
		case strings.HasPrefix(string(p.File.Text[p.at:min(p.at+3, p.end)]), quote):
			flush()
			p.at += len(quote)
			return
		case p.peek() == '\\' && !raw:
			flush()
			p.escape(v)
			from = p.at
		case p.peek() == '\\':
			p.at = min(p.at+2, p.end)
		default:
			p.at++
		}
	}
	p.at = p.end
	p.fail(dialect.Span(start, min(p.LineEnd(start), p.end)), "this string is not closed")
}

// escape reads an escape in a string. An escape that Python does not have is kept as text.
func (p *parser) escape(v *value) {
	text, n := unescape(string(p.File.Text[p.at:min(p.at+12, p.end)]))
	s := dialect.Span(p.at, p.at+n)
	v.pieces = append(v.pieces, piece{span: s, text: text})
	p.at += n
}

// unescape returns the value of the escape at the start of s, and its length.
func unescape(s string) (string, int) {
	if len(s) < 2 {
		return s, len(s)
	}
	const letters, means = "\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v"
	if i := strings.IndexByte(letters, s[1]); i >= 0 {
		return means[i : i+1], 2
	}
	switch s[1] {
	case '\n':
		return "", 2 // an escaped line end
	case 'x', 'u', 'U':
		digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[1]]
		r, ok := hex(s, digits)
		if !ok {
			break
		}
		if utf16.IsSurrogate(r) && len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
			if low, ok := hex(s[6:], 4); ok && utf16.DecodeRune(r, low) != utf8.RuneError {
				return string(utf16.DecodeRune(r, low)), 12
			}
		}
		return string(r), 2 + digits
	case '0', '1', '2', '3', '4', '5', '6', '7':
		n := 2
		for n < min(4, len(s)) && s[n] >= '0' && s[n] <= '7' {
			n++
		}
		r, _ := strconv.ParseUint(s[1:n], 8, 16)
		return string(rune(r)), n
	}
	_, size := utf8.DecodeRuneInString(s[1:])
	return s[:1+size], 1 + size
}

func hex(s string, digits int) (rune, bool) {
	if len(s) < 2+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(s[2:2+digits], 16, 32)
	return rune(n), err == nil && n <= utf8.MaxRune
}

// quotes matches text with a quote that is not an apostrophe after a letter.
var quotes = lazyregexp.New(`"|[^\pL\pN]'`)

// bare reads text that is not literals as one argument: the text on the line before its last
// parenthesis. It does not read text that begins like a literal, or has a name, whose fault is
// reported instead. Text that begins with a parenthesis may be a formula.
func (p *parser) bare(start int) (value, bool) {
	end := min(p.LineEnd(start), p.end)
	line := string(p.File.Text[start:end])
	n := strings.LastIndexByte(line, ')')
	text := strings.TrimSpace(line[:max(n, 0)])
	if n < 0 || text == "" || strings.IndexByte("\"'[{", text[0]) >= 0 || text[0] == '(' && !balanced(text) || keyword.MatchString(text) || quotes.MatchString(text) {
		return value{}, false
	}
	p.bad, p.at = nil, start+n+1
	s := p.Trim(dialect.Span(start, start+n))
	return value{span: s, pieces: []piece{{span: s, text: p.Text(s)}}}, true
}

// balanced reports whether all parentheses of a text are closed.
func balanced(text string) bool {
	depth := 0
	for _, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
