package schemas

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// kind is one of the six types of JSON.
type kind uint8

const (
	kindNull kind = iota
	kindBoolean
	kindNumber
	kindString
	kindArray
	kindObject
	kinds
)

func (k kind) String() string {
	return [...]string{"null", "boolean", "number", "string", "array", "object"}[k]
}

// value is a JSON value that was read, or made as a witness or sample.
type value struct {
	kind  kind
	truth bool
	size  int32   // of its JSON text in bytes, about; 0 when it is not known: see bytes
	name  string  // when it is a member of an object
	text  string  // a number as it was written, a string decoded
	kids  []value // elements or members, in order
}

// Limits on values: beyond the digits and exponents the arithmetic of numbers is
// quadratic or worse, beyond the depth recursion is dangerous.
const (
	maxDepth    = 256
	maxDigits   = 64
	maxExponent = 400
)

// parseValue reads one JSON value and refuses what jsonscan.Check refuses; beyond that
// numbers with too many digits or too large an exponent.
func parseValue(raw json.RawMessage) (value, error) {
	p := parser{Lexer: jsonscan.Lexer{Text: raw}, text: string(raw)}
	p.stack = p.first[:0]
	v := p.value(p.Next(), 0)
	if p.err == nil && p.Next() != jsonscan.EOF {
		p.fail("not JSON: there is more text after the value")
	}
	return v, p.err
}

// parser is the state of one reading. Finished values wait on the stack until the
// container around them is complete and takes a slice of their exact number. After
// the first error it only returns.
type parser struct {
	jsonscan.Lexer
	text  string
	err   error
	stack []value
	first [8]value
}

func (p *parser) fail(format string, args ...any) value {
	if p.err == nil {
		p.err = fmt.Errorf("byte %d: %s", p.Start, fmt.Sprintf(format, args...))
	}
	return value{}
}

// unexpected returns the error for a token that cannot stand where it does.
func (p *parser) unexpected(tok jsonscan.Token, want string) value {
	if p.Err != nil {
		return p.fail("not JSON: %s", p.Err.Message)
	}
	return p.fail("not JSON: %s where %s should be", tok, want)
}

// value reads the value that starts with a token.
func (p *parser) value(tok jsonscan.Token, depth int) value {
	if p.Err != nil {
		return p.unexpected(tok, "")
	}
	switch tok {
	case jsonscan.Null:
		return value{kind: kindNull}
	case jsonscan.True, jsonscan.False:
		return value{kind: kindBoolean, truth: tok == jsonscan.True}
	case jsonscan.Number:
		text := p.text[p.Start:p.Pos]
		if wild(text) {
			return p.fail("the number is out of bounds: at most %d digits, and exponents up to %d", maxDigits, maxExponent)
		}
		return value{kind: kindNumber, text: text}
	case jsonscan.String:
		return value{kind: kindString, text: p.string()}
	case jsonscan.BeginArray, jsonscan.BeginObject:
		if depth == maxDepth {
			return p.fail("nested more than %d deep", maxDepth)
		}
		start := p.Start
		read := p.object
		if tok == jsonscan.BeginArray {
			read = p.array
		}
		v := read(depth + 1)
		v.size = int32(min(p.Pos-start, math.MaxInt32))
		return v
	}
	return p.unexpected(tok, "a value")
}

func (p *parser) array(depth int) value {
	base := len(p.stack)
	tok := p.Next()
	for tok != jsonscan.EndArray && p.err == nil {
		p.stack = append(p.stack, p.value(tok, depth))
		tok = p.after(jsonscan.EndArray)
	}
	return value{kind: kindArray, kids: p.take(base)}
}

func (p *parser) object(depth int) value {
	base := len(p.stack)
	tok := p.Next()
	for tok != jsonscan.EndObject && p.err == nil {
		if tok != jsonscan.String || p.Err != nil {
			return p.unexpected(tok, "a member name")
		}
		name := p.string()
		if tok = p.Next(); tok != jsonscan.Colon {
			return p.unexpected(tok, "a colon")
		}
		v := p.value(p.Next(), depth)
		v.name = name
		p.stack = append(p.stack, v)
		tok = p.after(jsonscan.EndObject)
	}
	kids := p.take(base)
	if name, twice := repeated(kids); twice {
		return p.fail("the member %q is there twice", name)
	}
	return value{kind: kindObject, kids: kids}
}

// after reads what follows an element or member: the end, or a comma and the
// token that starts the next one.
func (p *parser) after(end jsonscan.Token) jsonscan.Token {
	tok := p.Next()
	if p.err != nil || tok == end {
		return end
	}
	if tok != jsonscan.Comma {
		p.unexpected(tok, "a comma or "+end.String())
		return end
	}
	if tok = p.Next(); tok == end {
		p.fail("not JSON: a comma before the end")
	}
	return tok
}

// string returns what the string token just read says.
func (p *parser) string() string {
	if p.Escaped {
		return string(jsonscan.AppendString(nil, p.Text[p.Start+1:p.Pos-1]))
	}
	return p.text[p.Start+1 : p.Pos-1]
}

// take moves the values above base off the stack.
func (p *parser) take(base int) []value {
	if len(p.stack) == base || p.err != nil {
		return nil
	}
	kids := make([]value, len(p.stack)-base)
	copy(kids, p.stack[base:])
	p.stack = p.stack[:base]
	return kids
}

// repeated finds a name that two members have.
func repeated(members []value) (name string, twice bool) {
	if len(members) <= 8 {
		for i := range members {
			for j := range members[:i] {
				if members[i].name == members[j].name {
					return members[i].name, true
				}
			}
		}
		return "", false
	}
	seen := make(map[string]struct{}, len(members))
	for i := range members {
		seen[members[i].name] = struct{}{}
		if len(seen) == i {
			return members[i].name, true
		}
	}
	return "", false
}

// wild reports whether a number is too long or its exponent too large.
func wild(text string) bool {
	if len(text) <= 18 && strings.IndexByte(text, 'e') < 0 && strings.IndexByte(text, 'E') < 0 {
		return false
	}
	digits, exponent := text, ""
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		digits, exponent = text[:i], strings.TrimPrefix(text[i+1:], "+")
	}
	if len(strings.TrimPrefix(strings.Replace(digits, ".", "", 1), "-")) > maxDigits {
		return true
	}
	e, err := strconv.Atoi(exponent)
	return exponent != "" && (err != nil || e > maxExponent || e < -maxExponent)
}

// bytes returns the size of the value's JSON text, about. A list or object of which it is not known
// is measured, which costs as much as it has parts of which it is not known either.
func (v *value) bytes() int {
	if v.size > 0 {
		return int(v.size)
	}
	size := 5 + len(v.text)
	for i := range v.kids {
		size = min(size+3+len(v.kids[i].name)+v.kids[i].bytes(), math.MaxInt32)
	}
	return size
}

// made returns a value made of others, which may share their parts: its text may be far larger than
// the memory that it takes.
func (v value) made() value {
	v.size = 0
	v.size = int32(v.bytes())
	return v
}

// sized returns a value without content that counts as one of so many bytes.
func sized(k kind, bytes int32) *value { return &value{kind: k, size: bytes} }

// member finds a member of an object, nil when it has none of that name.
func (v *value) member(name string) *value {
	for i := range v.kids {
		if v.kids[i].name == name {
			return &v.kids[i]
		}
	}
	return nil
}

// fewNames is up to how many pairs of names are compared one by one.
const fewNames = 1024

// hasAll reports whether an object has all of some members.
func (v *value) hasAll(names []string) bool {
	if len(names) > len(v.kids) {
		return false
	}
	if len(names)*len(v.kids) <= fewNames {
		return !slices.ContainsFunc(names, func(name string) bool { return v.member(name) == nil })
	}
	have := v.names()
	return !slices.ContainsFunc(names, func(name string) bool { return !have[name] })
}

// names returns the set of the names of an object's members.
func (v *value) names() map[string]bool {
	have := make(map[string]bool, len(v.kids))
	for i := range v.kids {
		have[v.kids[i].name] = true
	}
	return have
}

// appendJSON appends the value as compact JSON.
func (v *value) appendJSON(dst []byte) []byte {
	switch v.kind {
	case kindNull:
		return append(dst, "null"...)
	case kindBoolean:
		return strconv.AppendBool(dst, v.truth)
	case kindNumber:
		return append(dst, v.text...)
	case kindString:
		return jsonscan.AppendQuoted(dst, v.text)
	case kindArray:
		return v.appendKids(dst, '[', ']')
	}
	return v.appendKids(dst, '{', '}')
}

func (v *value) appendKids(dst []byte, open, end byte) []byte {
	dst = append(dst, open)
	for i := range v.kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.kind == kindObject {
			dst = append(jsonscan.AppendQuoted(dst, v.kids[i].name), ':')
		}
		dst = v.kids[i].appendJSON(dst)
	}
	return append(dst, end)
}

// equal compares as JSON Schema does: numbers by value, members in any order.
func (v *value) equal(w *value) bool {
	if v.kind != w.kind || len(v.kids) != len(w.kids) {
		return false
	}
	switch v.kind {
	case kindBoolean:
		return v.truth == w.truth
	case kindNumber:
		return v.text == w.text || numberOf(v.text).cmp(numberOf(w.text)) == 0
	case kindString:
		return v.text == w.text
	case kindArray:
		for i := range v.kids {
			if !v.kids[i].equal(&w.kids[i]) {
				return false
			}
		}
	case kindObject:
		return v.equalMembers(w)
	}
	return true
}

func (v *value) equalMembers(w *value) bool {
	if len(v.kids) > 64 { // without going through all of w for each member
		byName := make(map[string]*value, len(w.kids))
		for i := range w.kids {
			byName[w.kids[i].name] = &w.kids[i]
		}
		return !slices.ContainsFunc(v.kids, func(m value) bool {
			other := byName[m.name]
			return other == nil || !m.equal(other)
		})
	}
	for i := range v.kids {
		// The same place first: most objects that are compared agree in order.
		if w.kids[i].name == v.kids[i].name {
			if !v.kids[i].equal(&w.kids[i]) {
				return false
			}
			continue
		}
		m := w.member(v.kids[i].name)
		if m == nil || !v.kids[i].equal(m) {
			return false
		}
	}
	return true
}

// appendCanonical appends a text that two values share exactly when they are equal.
func (v *value) appendCanonical(dst []byte) []byte {
	switch v.kind {
	case kindNumber:
		if n := numberOf(v.text); n.big == nil {
			return strconv.AppendInt(dst, n.small, 10)
		} else {
			return append(dst, n.big.RatString()...)
		}
	case kindArray:
		dst = append(dst, '[')
		for i := range v.kids {
			dst = append(v.kids[i].appendCanonical(dst), ',')
		}
		return append(dst, ']')
	case kindObject:
		sorted := slices.Clone(v.kids)
		slices.SortFunc(sorted, func(a, b value) int { return strings.Compare(a.name, b.name) })
		dst = append(dst, '{')
		for i := range sorted {
			dst = append(jsonscan.AppendQuoted(dst, sorted[i].name), ':')
			dst = append(sorted[i].appendCanonical(dst), ',')
		}
		return append(dst, '}')
	}
	return v.appendJSON(dst)
}

// typeSet is a set of the six types, a bit each.
type typeSet uint8

const (
	noTypes  typeSet = 0
	allTypes typeSet = 1<<kinds - 1
)

func only(k kind) typeSet              { return 1 << k }
func (t typeSet) has(k kind) bool      { return t&(1<<k) != 0 }
func (t typeSet) excludes(k kind) bool { return t&(1<<k) == 0 }

// verdict is the evaluator's answer for a value and a schema.
type verdict uint8

const (
	no verdict = iota
	doubt
	yes
)

func (v verdict) not() verdict { return yes - v }

func verdictOf(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// allDistinct reports whether no two elements are equal. Of many it compares the ones of
// equal rendering only; see canonical.
func allDistinct(list []value) bool {
	if len(list) <= 16 {
		for i := range list {
			for j := range list[:i] {
				if list[i].equal(&list[j]) {
					return false
				}
			}
		}
		return true
	}
	seen := make(map[string]struct{}, len(list))
	var key []byte
	for i := range list {
		key = list[i].appendCanonical(key[:0])
		if _, there := seen[string(key)]; there {
			return false
		}
		seen[string(key)] = struct{}{}
	}
	return true
}

// child returns the member or element that a token of a JSON Pointer names.
func (v *value) child(token string) *value {
	switch v.kind {
	case kindObject:
		return v.member(token)
	case kindArray:
		i, err := strconv.Atoi(token)
		if err == nil && i >= 0 && i < len(v.kids) && (token == "0" || token[0] != '0' && token[0] != '+') {
			return &v.kids[i]
		}
	}
	return nil
}

func kindsOf(values []value) (t typeSet) {
	for i := range values {
		t |= only(values[i].kind)
	}
	return t
}

// at returns the value that a JSON Pointer leads to in v; nil if there is none.
func (v *value) at(pointer string) *value {
	if pointer == "" {
		return v
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		if v = v.child(jsonscan.UnescapePointer(token)); v == nil {
			break
		}
	}
	return v
}
