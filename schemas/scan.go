package schemas

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Most values are valid, and most schemas are simple: types, members, elements, bounds. For these
// no Value needs to be built. The scanner reads the text, which was checked before, together with
// the schema. It either accepts the value or leaves the decision to the evaluator.

// scanner reads one text: checked JSON without duplicate names.
type scanner struct {
	text    []byte
	pos     int
	matched int // cost of matching patterns so far, in steps of an evaluation
}

// maxScanMatch is the maximum cost of patterns in the scanner; anything more is left to the
// evaluator, which can be interrupted.
const maxScanMatch = 1 << 15

// scan reports whether it is certain that value.Parse accepts a text, which is JSON without
// duplicate names, and that the value meets n.
func scan(n *tree.Node, valid []byte) bool {
	s := scanner{text: valid}
	return s.value(n, 0)
}

// next moves to the next byte that is not white space and returns it; 0 at the end.
func (s *scanner) next() byte {
	if s.pos < len(s.text) && s.text[s.pos] > ' ' { // as in compact JSON
		return s.text[s.pos]
	}
	return s.skip()
}

// skip does the work of next at white space and at the end of the text.
func (s *scanner) skip() byte {
	for s.pos < len(s.text) && s.text[s.pos] <= ' ' {
		s.pos++
	}
	if s.pos == len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

// value reads the next value; a nil n admits any value.
func (s *scanner) value(n *tree.Node, depth int) bool {
	k, ok := kindOf(s.next())
	if !ok {
		return false
	}
	if n, ok = plainFor(n, k); !ok {
		return false
	}
	switch k {
	case value.Array:
		return depth < value.MaxDepth && !lists(n) && s.array(n, depth+1)
	case value.Object:
		return depth < value.MaxDepth && !lists(n) && s.object(n, depth+1)
	case value.String:
		text, escaped := s.string()
		return n == nil || s.scanString(n, text, escaped)
	case value.Number:
		return scanNumber(n, s.word()) && !lists(n)
	}
	word := s.word()
	return !lists(n) || lets(n, k, word)
}

// kindOf returns the kind of the value that starts with a byte.
func kindOf(c byte) (value.Kind, bool) {
	switch c {
	case '{':
		return value.Object, true
	case '[':
		return value.Array, true
	case '"':
		return value.String, true
	case 't', 'f':
		return value.Boolean, true
	case 'n':
		return value.Null, true
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return value.Number, true
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
	const short = 32 // most strings are shorter, and for these a simple loop is fastest
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

// lists reports whether n lists its values.
func lists(n *tree.Node) bool { return n != nil && (n.HasEnum || n.Const != nil) }

// plainFor returns the plain node that decides about values of a kind for n; nil if n admits all of
// them. It reports false if n admits none, or if a single node can't decide.
func plainFor(n *tree.Node, k value.Kind) (*tree.Node, bool) {
	for n != nil && !n.Full.Has(k) {
		if n.May.Excludes(k) || n.Scan == tree.Unscanned {
			return nil, false
		}
		if n.Scan == tree.Plain {
			return n, true
		}
		n = onlyFor(n, k)
		if n == nil {
			return nil, false
		}
	}
	return nil, true
}

// onlyFor returns the one of the schemas in place that can admit values of a kind, nil if there are
// several.
func onlyFor(n *tree.Node, k value.Kind) *tree.Node {
	if n.Ref != nil {
		return n.Ref
	}
	var one *tree.Node
	for _, list := range [...][]*tree.Node{n.AllOf, n.AnyOf, n.OneOf} {
		for _, c := range list {
			if c.May.Excludes(k) {
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

// lets reports whether n's enum and const admit a value, given as text, that is a word or a string
// without escapes.
func lets(n *tree.Node, k value.Kind, text []byte) bool {
	if n.Const != nil && !isText(n.Const, k, text) {
		return false
	}
	if n.EnumSet != nil {
		_, there := n.EnumSet[string(text)]
		return there
	}
	return !n.HasEnum || slices.ContainsFunc(n.Enum, func(v value.Value) bool { return isText(&v, k, text) })
}

// isText reports whether a value equals the one with this text, which is a string without escapes
// or a word.
func isText(v *value.Value, k value.Kind, text []byte) bool {
	switch {
	case v.Kind != k:
		return false
	case k == value.String:
		return v.Text == string(text[1:len(text)-1])
	}
	return k == value.Null || v.Truth == (text[0] == 't')
}

func scanNumber(n *tree.Node, text []byte) bool {
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
	return n == nil || whole && !n.Lower.Set && !n.Upper.Set && n.Multiple == nil || n.ValidNumber(string(text))
}

// scanString decides about a string, given with its quotes.
func (s *scanner) scanString(n *tree.Node, text []byte, escaped bool) bool {
	measured := n.MinLength > 0 || n.MaxLength >= 0 || n.Pattern != nil
	if !measured && !lists(n) {
		return true
	}
	if escaped || lists(n) && !lets(n, value.String, text) {
		return false
	}
	if text = text[1 : len(text)-1]; !measured {
		return true
	}
	if length := utf8.RuneCount(text); length < n.MinLength || n.MaxLength >= 0 && length > n.MaxLength {
		return false
	}
	if n.Pattern == nil || n.Pattern.Unread() {
		return true
	}
	s.matched += n.Pattern.Work(len(text))
	return s.matched <= maxScanMatch && n.Pattern.MatchBytes(text)
}

// another moves to the next part of an array or object, after the comma unless it is the first. At
// the end, more is false, and it moves past the end; ok is false at any other text.
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

func (s *scanner) array(n *tree.Node, depth int) bool {
	s.pos++
	for count := 0; ; count++ {
		more, ok := s.another(count == 0, ']')
		if !more {
			return ok && (n == nil || count >= n.MinItems && (n.MaxItems < 0 || count <= n.MaxItems))
		}
		var item *tree.Node
		if n != nil {
			if item = n.Rest; count < len(n.Prefix) {
				item = n.Prefix[count]
			}
		}
		if !s.value(item, depth) {
			return false
		}
	}
}

func (s *scanner) object(n *tree.Node, depth int) bool {
	s.pos++
	required := uint64(0)
	for count := 0; ; count++ {
		more, ok := s.another(count == 0, '}')
		if !more {
			return ok && (n == nil || required == 1<<len(n.Required)-1 && count >= n.MinProps && (n.MaxProps < 0 || count <= n.MaxProps))
		}
		if s.next() != '"' {
			return false
		}
		name, escaped := s.string()
		var member *tree.Node
		if n != nil {
			if escaped {
				return false
			}
			name = name[1 : len(name)-1]
			required |= requiredBit(n, name)
			if member = n.PropertyNamed(name); member == nil {
				member = n.Additional
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

// requiredBit returns the bit of a required name, which is 1 shifted by its index; 0 if the name is
// not required.
func requiredBit(n *tree.Node, name []byte) (bits uint64) {
	for i, r := range n.Required {
		if r == string(name) {
			bits |= 1 << i // it may be listed twice
		}
	}
	return bits
}
