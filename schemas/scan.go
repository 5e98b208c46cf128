package schemas

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
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
// one that value.Parse reads and that meets n.
func scan(n *tree.Node, valid []byte) bool {
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
func lists(n *tree.Node) bool { return n != nil && (n.HasEnum || n.Const != nil) }

// plainFor returns the plain node that decides about values of a kind for n; nil when all go. It
// reports false when none go, or it takes more than one to decide.
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

// lets decides by n's enum and const about the text of a value without parts that is no
// number: a word, or a string without escapes.
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

// isText compares a value with the text of one, a string without escapes or a word.
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

// scanString decides about a string, which is given with its quotes.
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

// requiredBit returns 1 shifted by the index of a name among those that are required; 0 if it is
// none of them.
func requiredBit(n *tree.Node, name []byte) (bits uint64) {
	for i, r := range n.Required {
		if r == string(name) {
			bits |= 1 << i // it may be listed twice
		}
	}
	return bits
}
