package value

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Value is a JSON value that was read, or made as a witness or sample.
type Value struct {
	Kind  Kind
	Truth bool
	size  int32   // approximate size of its JSON text in bytes; 0 if unknown: see Bytes
	Name  string  // when it is a member of an object
	Text  string  // of a number, as it was written; of a string, decoded
	Kids  []Value // elements or members, in order
}

// Limits on values. With more digits or larger exponents, arithmetic takes quadratic time or worse;
// with more depth, recursion is dangerous.
const (
	MaxDepth    = 256
	MaxDigits   = 64
	maxExponent = 400
)

// Parse reads one JSON value. It refuses everything that jsonscan.Check refuses, and numbers with
// too many digits or too large an exponent.
func Parse(raw json.RawMessage) (Value, error) {
	p := parser{Lexer: jsonscan.Lexer{Text: raw}, text: string(raw)}
	p.stack = p.first[:0]
	v := p.value(p.Next(), 0)
	if p.err == nil && p.Next() != jsonscan.EOF {
		p.fail("not JSON: there is more text after the value")
	}
	return v, p.err
}

// parser is the state of reading one text. Finished values stay on the stack until the container
// around them is complete and copies them into a slice of the right size. After the first error,
// its methods do nothing.
type parser struct {
	jsonscan.Lexer
	text  string
	err   error
	stack []Value
	first [8]Value
}

func (p *parser) fail(format string, args ...any) Value {
	if p.err == nil {
		p.err = fmt.Errorf("byte %d: %s", p.Start, fmt.Sprintf(format, args...))
	}
	return Value{}
}

// unexpected records the error for a token in a place where it isn't allowed.
func (p *parser) unexpected(tok jsonscan.Token, want string) Value {
	if p.Err != nil {
		return p.fail("not JSON: %s", p.Err.Message)
	}
	return p.fail("not JSON: %s where %s should be", tok, want)
}

// value reads the value that starts with a token.
func (p *parser) value(tok jsonscan.Token, depth int) Value {
	if p.Err != nil {
		return p.unexpected(tok, "")
	}
	switch tok {
	case jsonscan.Null:
		return Value{Kind: Null}
	case jsonscan.True, jsonscan.False:
		return Value{Kind: Boolean, Truth: tok == jsonscan.True}
	case jsonscan.Number:
		text := p.text[p.Start:p.Pos]
		if wild(text) {
			return p.fail("the number is out of bounds: at most %d digits, and exponents up to %d", MaxDigits, maxExponent)
		}
		return Value{Kind: Number, Text: text}
	case jsonscan.String:
		return Value{Kind: String, Text: p.string()}
	case jsonscan.BeginArray, jsonscan.BeginObject:
		if depth == MaxDepth {
			return p.fail("nested more than %d deep", MaxDepth)
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

func (p *parser) array(depth int) Value {
	base := len(p.stack)
	tok := p.Next()
	for tok != jsonscan.EndArray && p.err == nil {
		p.stack = append(p.stack, p.value(tok, depth))
		tok = p.after(jsonscan.EndArray)
	}
	return Value{Kind: Array, Kids: p.take(base)}
}

func (p *parser) object(depth int) Value {
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
		v.Name = name
		p.stack = append(p.stack, v)
		tok = p.after(jsonscan.EndObject)
	}
	kids := p.take(base)
	if name, twice := repeated(kids); twice {
		return p.fail("the member %q is there twice", name)
	}
	return Value{Kind: Object, Kids: kids}
}

// after reads the token after an element or member: the end, or a comma and the token that starts
// the next one.
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

// string returns the text of the string token that was just read.
func (p *parser) string() string {
	if p.Escaped {
		return string(jsonscan.AppendString(nil, p.Text[p.Start+1:p.Pos-1]))
	}
	return p.text[p.Start+1 : p.Pos-1]
}

// take moves the values above base off the stack.
func (p *parser) take(base int) []Value {
	if len(p.stack) == base || p.err != nil {
		return nil
	}
	kids := make([]Value, len(p.stack)-base)
	copy(kids, p.stack[base:])
	p.stack = p.stack[:base]
	return kids
}

// repeated returns a name that two members have.
func repeated(members []Value) (name string, twice bool) {
	if len(members) <= 8 {
		for i := range members {
			for j := range members[:i] {
				if members[i].Name == members[j].Name {
					return members[i].Name, true
				}
			}
		}
		return "", false
	}
	seen := make(map[string]struct{}, len(members))
	for i := range members {
		seen[members[i].Name] = struct{}{}
		if len(seen) == i {
			return members[i].Name, true
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
	if len(strings.TrimPrefix(strings.Replace(digits, ".", "", 1), "-")) > MaxDigits {
		return true
	}
	e, err := strconv.Atoi(exponent)
	return exponent != "" && (err != nil || e > maxExponent || e < -maxExponent)
}

// Bytes returns the approximate size of the value's JSON text. If it is unknown, Bytes measures the
// value, in time linear in the number of parts whose size is unknown as well.
func (v *Value) Bytes() int {
	if v.size > 0 {
		return int(v.size)
	}
	size := 5 + len(v.Text)
	for i := range v.Kids {
		size = min(size+3+len(v.Kids[i].Name)+v.Kids[i].Bytes(), math.MaxInt32)
	}
	return size
}

// Made returns a value built from others, with its size computed. Such values may share parts, so
// the text of one may be far larger than its memory.
func (v Value) Made() Value {
	v.size = 0
	v.size = int32(v.Bytes())
	return v
}

// Sized returns a value without content that is treated as one of this size.
func Sized(k Kind, bytes int32) *Value { return &Value{Kind: k, size: bytes} }

// Member returns the value of the member with a name, nil if the object has none.
func (v *Value) Member(name string) *Value {
	for i := range v.Kids {
		if v.Kids[i].Name == name {
			return &v.Kids[i]
		}
	}
	return nil
}

// FewNames is the maximum number of pairs of names that are compared one by one.
const FewNames = 1024

// HasAll reports whether an object has all members with these names.
func (v *Value) HasAll(names []string) bool {
	if len(names) > len(v.Kids) {
		return false
	}
	if len(names)*len(v.Kids) <= FewNames {
		return !slices.ContainsFunc(names, func(name string) bool { return v.Member(name) == nil })
	}
	have := v.Names()
	return !slices.ContainsFunc(names, func(name string) bool { return !have[name] })
}

// Names returns the set of the names of an object's members.
func (v *Value) Names() map[string]bool {
	have := make(map[string]bool, len(v.Kids))
	for i := range v.Kids {
		have[v.Kids[i].Name] = true
	}
	return have
}

// AppendJSON appends the value as compact JSON.
func (v *Value) AppendJSON(dst []byte) []byte {
	switch v.Kind {
	case Null:
		return append(dst, "null"...)
	case Boolean:
		return strconv.AppendBool(dst, v.Truth)
	case Number:
		return append(dst, v.Text...)
	case String:
		return jsonscan.AppendQuoted(dst, v.Text)
	case Array:
		return v.appendKids(dst, '[', ']')
	}
	return v.appendKids(dst, '{', '}')
}

func (v *Value) appendKids(dst []byte, open, end byte) []byte {
	dst = append(dst, open)
	for i := range v.Kids {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.Kind == Object {
			dst = append(jsonscan.AppendQuoted(dst, v.Kids[i].Name), ':')
		}
		dst = v.Kids[i].AppendJSON(dst)
	}
	return append(dst, end)
}

// Equal compares as JSON Schema does: numbers by value, members in any order.
func (v *Value) Equal(w *Value) bool {
	if v.Kind != w.Kind || len(v.Kids) != len(w.Kids) {
		return false
	}
	switch v.Kind {
	case Boolean:
		return v.Truth == w.Truth
	case Number:
		return v.Text == w.Text || DecimalOf(v.Text).Cmp(DecimalOf(w.Text)) == 0
	case String:
		return v.Text == w.Text
	case Array:
		for i := range v.Kids {
			if !v.Kids[i].Equal(&w.Kids[i]) {
				return false
			}
		}
	case Object:
		return v.equalMembers(w)
	}
	return true
}

func (v *Value) equalMembers(w *Value) bool {
	if len(v.Kids) > 64 { // don't go through all of w for each member
		byName := make(map[string]*Value, len(w.Kids))
		for i := range w.Kids {
			byName[w.Kids[i].Name] = &w.Kids[i]
		}
		return !slices.ContainsFunc(v.Kids, func(m Value) bool {
			other := byName[m.Name]
			return other == nil || !m.Equal(other)
		})
	}
	for i := range v.Kids {
		// Try the same position first: most compared objects have the same order.
		if w.Kids[i].Name == v.Kids[i].Name {
			if !v.Kids[i].Equal(&w.Kids[i]) {
				return false
			}
			continue
		}
		m := w.Member(v.Kids[i].Name)
		if m == nil || !v.Kids[i].Equal(m) {
			return false
		}
	}
	return true
}

// AppendCanonical appends a text that is the same for two values exactly if they are equal.
func (v *Value) AppendCanonical(dst []byte) []byte {
	switch v.Kind {
	case Number:
		if n := DecimalOf(v.Text); n.big == nil {
			return strconv.AppendInt(dst, n.small, 10)
		} else {
			return append(dst, n.big.RatString()...)
		}
	case Array:
		dst = append(dst, '[')
		for i := range v.Kids {
			dst = append(v.Kids[i].AppendCanonical(dst), ',')
		}
		return append(dst, ']')
	case Object:
		sorted := slices.Clone(v.Kids)
		slices.SortFunc(sorted, func(a, b Value) int { return strings.Compare(a.Name, b.Name) })
		dst = append(dst, '{')
		for i := range sorted {
			dst = append(jsonscan.AppendQuoted(dst, sorted[i].Name), ':')
			dst = append(sorted[i].AppendCanonical(dst), ',')
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst)
}

// AllDistinct reports whether no two elements are equal. In long lists it compares texts; see
// AppendCanonical.
func AllDistinct(list []Value) bool {
	if len(list) <= 16 {
		for i := range list {
			for j := range list[:i] {
				if list[i].Equal(&list[j]) {
					return false
				}
			}
		}
		return true
	}
	seen := make(map[string]struct{}, len(list))
	var key []byte
	for i := range list {
		key = list[i].AppendCanonical(key[:0])
		if _, there := seen[string(key)]; there {
			return false
		}
		seen[string(key)] = struct{}{}
	}
	return true
}

// Child returns the member or element that a token of a JSON Pointer names.
func (v *Value) Child(token string) *Value {
	switch v.Kind {
	case Object:
		return v.Member(token)
	case Array:
		i, err := strconv.Atoi(token)
		if err == nil && i >= 0 && i < len(v.Kids) && (token == "0" || token[0] != '0' && token[0] != '+') {
			return &v.Kids[i]
		}
	}
	return nil
}

// At returns the value at a JSON Pointer in v; nil if there is none.
func (v *Value) At(pointer string) *Value {
	if pointer == "" {
		return v
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		if v = v.Child(jsonscan.UnescapePointer(token)); v == nil {
			break
		}
	}
	return v
}
