package schemas

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Most values are valid and most schemas say plain things: types, members, elements, bounds.
// For these a value need not be made at all. The scanner reads along the text, which was checked
// before, and the schema together, and says yes or does not know; then the evaluator decides.

// scanner reads one text: JSON that was checked, of which no object has a name twice.
type scanner struct {
	text    []byte
	pos     int
	matched int // what matching patterns took, in steps of an evaluation
}

// maxScanMatch is the most that the scanner spends on patterns: the evaluator, which can be
// interrupted, does more.
const maxScanMatch = 1 << 15

// scan reports whether a text, which is JSON without a name twice in an object, surely is
// one that parseValue reads and that meets n.
func scan(n *node, valid []byte) bool {
	s := scanner{text: valid}
	return s.value(n, 0)
}

// next moves to the next byte that is no white space and returns it; 0 is the end.
func (s *scanner) next() byte {
	if s.pos < len(s.text) && s.text[s.pos] > ' ' { // as in compact JSON
		return s.text[s.pos]
	}
	return s.skip()
}

// skip does what next does where there is white space, or nothing.
func (s *scanner) skip() byte {
	for s.pos < len(s.text) && s.text[s.pos] <= ' ' {
		s.pos++
	}
	if s.pos == len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

// value reads the value that comes next; n is nil when anything goes.
func (s *scanner) value(n *node, depth int) bool {
	k, ok := kindOf(s.next())
	if !ok {
		return false
	}
	if n, ok = n.at(k); !ok {
		return false
	}
	switch k {
	case kindArray:
		return depth < maxDepth && !n.lists() && s.array(n, depth+1)
	case kindObject:
		return depth < maxDepth && !n.lists() && s.object(n, depth+1)
	case kindString:
		text, escaped := s.string()
		return n == nil || s.scanString(n, text, escaped)
	case kindNumber:
		return n.scanNumber(s.word()) && !n.lists()
	}
	word := s.word()
	return !n.lists() || n.lets(k, word)
}

// kindOf returns the kind of the value that starts with a byte.
func kindOf(c byte) (kind, bool) {
	switch c {
	case '{':
		return kindObject, true
	case '[':
		return kindArray, true
	case '"':
		return kindString, true
	case 't', 'f':
		return kindBoolean, true
	case 'n':
		return kindNull, true
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return kindNumber, true
	}
	return 0, false
}

// word reads a number or a word.
func (s *scanner) word() []byte {
	start := s.pos
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return s.text[start:s.pos]
		}
		s.pos++
	}
	return s.text[start:]
}

// string reads a string, with its quotes, and reports whether there are escapes in it.
func (s *scanner) string() (text []byte, escaped bool) {
	const short = 32 // as most are, and quicker read than looked through
	start := s.pos
	for i := start + 1; i < len(s.text) && i < start+short && !escaped; i++ {
		switch s.text[i] {
		case '"':
			s.pos = i + 1
			return s.text[start:s.pos], false
		case '\\':
			escaped = true
		}
	}
	s.pos = jsonscan.StringEnd(s.text, start)
	text = s.text[start:s.pos]
	return text, escaped || bytes.IndexByte(text, '\\') >= 0
}

// lists reports whether n says which values there are.
func (n *node) lists() bool { return n != nil && (n.hasEnum || n.konst != nil) }

// at returns the plain node that decides about values of a kind for n; nil when all go. It
// reports false when none go, or it takes more than one to decide.
func (n *node) at(k kind) (*node, bool) {
	for n != nil && !n.full.has(k) {
		if n.may.excludes(k) || n.scan == unscanned {
			return nil, false
		}
		if n.scan == plain {
			return n, true
		}
		n = n.only(k)
		if n == nil {
			return nil, false
		}
	}
	return nil, true
}

// only returns the one of the schemas in place that can admit values of a kind, nil if there are
// several.
func (n *node) only(k kind) *node {
	if n.ref != nil {
		return n.ref
	}
	var one *node
	for _, list := range [...][]*node{n.allOf, n.anyOf, n.oneOf} {
		for _, c := range list {
			if c.may.excludes(k) {
				continue
			}
			if one != nil {
				return nil
			}
			one = c
		}
	}
	return one
}

// lets decides by n's enum and const about the text of a value without parts that is no
// number: a word, or a string without escapes.
func (n *node) lets(k kind, text []byte) bool {
	if n.konst != nil && !isText(n.konst, k, text) {
		return false
	}
	if n.enumSet != nil {
		_, there := n.enumSet[string(text)]
		return there
	}
	return !n.hasEnum || slices.ContainsFunc(n.enum, func(v value) bool { return isText(&v, k, text) })
}

// isText compares a value with the text of one, a string without escapes or a word.
func isText(v *value, k kind, text []byte) bool {
	switch {
	case v.kind != k:
		return false
	case k == kindString:
		return v.text == string(text[1:len(text)-1])
	}
	return k == kindNull || v.truth == (text[0] == 't')
}

func (n *node) scanNumber(text []byte) bool {
	whole := true
	for _, c := range text {
		switch c {
		case 'e', 'E':
			return false
		case '.':
			whole = false
		}
	}
	if len(text) > 18 {
		return false
	}
	return n == nil || whole && !n.lower.set && !n.upper.set && n.multiple == nil || n.validNumber(string(text))
}

// scanString decides about a string, which is given with its quotes.
func (s *scanner) scanString(n *node, text []byte, escaped bool) bool {
	measured := n.minLength > 0 || n.maxLength >= 0 || n.pattern != nil
	if !measured && !n.lists() {
		return true
	}
	if escaped || n.lists() && !n.lets(kindString, text) {
		return false
	}
	if text = text[1 : len(text)-1]; !measured {
		return true
	}
	if length := utf8.RuneCount(text); length < n.minLength || n.maxLength >= 0 && length > n.maxLength {
		return false
	}
	if n.pattern == nil || n.pattern.unread() {
		return true
	}
	s.matched += n.pattern.work(len(text))
	return s.matched <= maxScanMatch && n.pattern.matchBytes(text)
}

// another moves to the next part of an array or object, behind the comma if it is not the first.
// It reports false at the end, which it passes, or where there is neither.
func (s *scanner) another(first bool, end byte) (more, ok bool) {
	c := s.next()
	if c == end {
		s.pos++
		return false, true
	}
	if !first {
		if c != ',' {
			return false, false
		}
		s.pos++
	}
	return true, true
}

func (s *scanner) array(n *node, depth int) bool {
	s.pos++
	for count := 0; ; count++ {
		more, ok := s.another(count == 0, ']')
		if !more {
			return ok && (n == nil || count >= n.minItems && (n.maxItems < 0 || count <= n.maxItems))
		}
		var item *node
		if n != nil {
			if item = n.rest; count < len(n.prefix) {
				item = n.prefix[count]
			}
		}
		if !s.value(item, depth) {
			return false
		}
	}
}

func (s *scanner) object(n *node, depth int) bool {
	s.pos++
	required := uint64(0)
	for count := 0; ; count++ {
		more, ok := s.another(count == 0, '}')
		if !more {
			return ok && (n == nil || required == 1<<len(n.required)-1 && count >= n.minProps && (n.maxProps < 0 || count <= n.maxProps))
		}
		if s.next() != '"' {
			return false
		}
		name, escaped := s.string()
		var member *node
		if n != nil {
			if escaped {
				return false
			}
			name = name[1 : len(name)-1]
			required |= n.requiredBit(name)
			if member = n.named(name); member == nil {
				member = n.additional
			}
		}
		if s.next() != ':' {
			return false
		}
		if s.pos++; !s.value(member, depth) {
			return false
		}
	}
}

// requiredBit returns 1 shifted by the index of a name among those that are required; 0 if it is
// none of them.
func (n *node) requiredBit(name []byte) (bits uint64) {
	for i, r := range n.required {
		if r == string(name) {
			bits |= 1 << i // it may be listed twice
		}
	}
	return bits
}
