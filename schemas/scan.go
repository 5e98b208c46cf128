package schemas

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Most values are valid and most schemas say plain things: types, members, elements, bounds.
// For these a value need not be made at all. The scanner reads along the text and the
// schema together, and says yes or does not know; then the evaluator decides.

// scanning says what the scanner can do with a node.
type scanning uint8

const (
	unscanned scanning = iota // nothing
	plain                     // its keywords are about the value itself, its members and elements
	through                   // it says nothing but what one list of others in place says
)

// scanning is what the scanner can do with n.
func (n *node) scanning() scanning {
	lists := 0
	for _, list := range [...][]*node{n.allOf, n.anyOf, n.oneOf} {
		lists += min(len(list), 1)
	}
	if n.ref != nil {
		lists++
	}
	switch {
	case n.opaque != "" || n.not != nil || n.cond != nil || n.restProps != nil || n.restItems != nil ||
		len(n.dependents) > 0 || len(n.patterns) > 0 || n.names != nil || n.unique || n.contains != nil || len(n.required) > 64:
		return unscanned
	case lists == 0:
		return plain
	case lists == 1 && len(n.allOf) <= 1 && !n.hasEnum && n.konst == nil && n.constrained() == noTypes:
		return through
	}
	return unscanned
}

// scanner reads one text.
type scanner struct {
	jsonscan.Lexer
	names jsonscan.Names
}

// scan reports whether a text is surely JSON that parseValue reads and that meets n.
func scan(n *node, raw json.RawMessage) bool {
	s := scanner{Lexer: jsonscan.Lexer{Text: raw}}
	return s.value(n, s.Next(), 0) && s.Next() == jsonscan.EOF && s.Err == nil
}

// text is the token that was just read.
func (s *scanner) text() []byte { return s.Text[s.Start:s.Pos] }

// value reads the value that starts with a token; n is nil when anything goes.
func (s *scanner) value(n *node, tok jsonscan.Token, depth int) bool {
	k, ok := kindOf(tok)
	if !ok || s.Err != nil {
		return false
	}
	if n, ok = n.at(k); !ok {
		return false
	}
	if n != nil && (n.hasEnum || n.konst != nil) && !s.among(n, k) {
		return false
	}
	switch k {
	case kindNumber:
		return s.number(n)
	case kindString:
		return n == nil || s.string(n)
	case kindArray:
		return depth < maxDepth && s.array(n, depth+1)
	case kindObject:
		return depth < maxDepth && s.object(n, depth+1)
	}
	return true
}

func kindOf(tok jsonscan.Token) (kind, bool) {
	switch tok {
	case jsonscan.BeginObject:
		return kindObject, true
	case jsonscan.BeginArray:
		return kindArray, true
	case jsonscan.String:
		return kindString, true
	case jsonscan.Number:
		return kindNumber, true
	case jsonscan.True, jsonscan.False:
		return kindBoolean, true
	case jsonscan.Null:
		return kindNull, true
	}
	return 0, false
}

// at is the plain node that decides about values of a kind for n; nil when all go. It
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

// only is the one of the schemas in place that can admit values of a kind, nil if there are
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

// among decides by n's enum and const about a value without parts.
func (s *scanner) among(n *node, k kind) bool {
	if k != kindString && k != kindBoolean && k != kindNull || s.Escaped && k == kindString {
		return false
	}
	if n.konst != nil && !s.is(n.konst, k) {
		return false
	}
	if n.enumSet != nil {
		_, there := n.enumSet[string(s.text())]
		return there
	}
	return !n.hasEnum || slices.ContainsFunc(n.enum, func(v value) bool { return s.is(&v, k) })
}

// is compares the token, a string without escapes or a word, with a value.
func (s *scanner) is(v *value, k kind) bool {
	switch {
	case v.kind != k:
		return false
	case k == kindString:
		return v.text == string(s.Text[s.Start+1:s.Pos-1])
	}
	return k == kindNull || v.truth == (s.Text[s.Start] == 't')
}

func (s *scanner) number(n *node) bool {
	text := s.text()
	if len(text) > 18 || slices.ContainsFunc(text, func(c byte) bool { return c|0x20 == 'e' }) {
		return false
	}
	return n == nil || n.validNumber(string(text))
}

func (s *scanner) string(n *node) bool {
	if n.minLength <= 0 && n.maxLength < 0 && n.pattern == nil {
		return true
	}
	if s.Escaped {
		return false
	}
	text := s.Text[s.Start+1 : s.Pos-1]
	if length := utf8.RuneCount(text); length < n.minLength || n.maxLength >= 0 && length > n.maxLength {
		return false
	}
	return n.pattern == nil || n.pattern.re == nil || n.pattern.re.Match(text)
}

func (s *scanner) array(n *node, depth int) bool {
	tok, count := s.Next(), 0
	for ; tok != jsonscan.EndArray; count++ {
		if count > 0 {
			if tok != jsonscan.Comma {
				return false
			}
			tok = s.Next()
		}
		var item *node
		if n != nil {
			if item = n.rest; count < len(n.prefix) {
				item = n.prefix[count]
			}
		}
		if !s.value(item, tok, depth) {
			return false
		}
		tok = s.Next()
	}
	return n == nil || count >= n.minItems && (n.maxItems < 0 || count <= n.maxItems)
}

func (s *scanner) object(n *node, depth int) bool {
	outer := s.names.Open()
	tok, count, required := s.Next(), 0, uint64(0)
	for ; tok != jsonscan.EndObject; count++ {
		if count > 0 {
			if tok != jsonscan.Comma {
				return false
			}
			tok = s.Next()
		}
		if tok != jsonscan.String || s.Err != nil || s.Escaped {
			return false
		}
		if _, _, twice := s.names.Add(s.Text, s.Start+1, s.Pos-1, false); twice {
			return false
		}
		var member *node
		if n != nil {
			name := s.Text[s.Start+1 : s.Pos-1]
			required |= n.requiredBit(name)
			if member = n.named(name); member == nil {
				member = n.additional
			}
		}
		if s.Next() != jsonscan.Colon || !s.value(member, s.Next(), depth) {
			return false
		}
		tok = s.Next()
	}
	s.names.Close(outer)
	return n == nil || required == 1<<len(n.required)-1 && count >= n.minProps && (n.maxProps < 0 || count <= n.maxProps)
}

// requiredBit is 1 shifted by the index of a name among those that are required; 0 if it is
// none of them.
func (n *node) requiredBit(name []byte) (bits uint64) {
	for i, r := range n.required {
		if r == string(name) {
			bits |= 1 << i // it may be listed twice
		}
	}
	return bits
}

// named is property for a name that is not a string.
func (n *node) named(name []byte) *node {
	if n.byName != nil {
		if i, ok := n.byName[string(name)]; ok {
			return n.props[i].node
		}
		return nil
	}
	for i := range n.props {
		if n.props[i].name == string(name) {
			return n.props[i].node
		}
	}
	return nil
}
