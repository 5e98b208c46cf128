package lang

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds of JSON values.
const (
	Null Kind = iota
	False
	True
	NumberValue
	String
	Array
	Object
)

// Node is a handle to a value of a document, and cheap to copy. The zero Node is no value. Two
// nodes of a document are == if they are the same value.
type Node struct {
	tree *tree
	i    int32
}

// IsZero reports whether n is the zero Node.
func (n Node) IsZero() bool { return n.tree == nil }

// Kind returns the kind of the value; Null for the zero Node.
func (n Node) Kind() Kind {
	if n.tree == nil {
		return Null
	}
	return n.tree.nodes[n.i].kind
}

func (n Node) is(k Kind) bool { return n.tree != nil && n.tree.nodes[n.i].kind == k }

func (n Node) has(f flags) bool { return n.tree != nil && n.tree.nodes[n.i].flags&f != 0 }

// Span returns the span of the value, with its quotes or brackets; the zero Span for the zero Node.
func (n Node) Span() diag.Span {
	if n.tree == nil {
		return diag.Span{}
	}
	return n.tree.nodes[n.i].span()
}

// Loc returns the span of the value, with its file.
func (n Node) Loc() diag.Loc {
	if n.tree == nil {
		return diag.Loc{}
	}
	return diag.Loc{File: n.tree.file, Span: n.Span()}
}

// Str returns the text of a string, decoded; "" for other kinds. It makes a new string each
// time.
func (n Node) Str() string {
	if !n.is(String) {
		return ""
	}
	return string(n.tree.decoded(n.i))
}

// Len returns the number of members or elements; 0 for other kinds. It costs a walk over them.
func (n Node) Len() int {
	count := 0
	if n.is(Object) {
		for range n.Members() {
			count++
		}
	}
	for range n.Elements() {
		count++
	}
	return count
}

// Members returns the members of an object, in order; none for other kinds.
func (n Node) Members() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		if !n.is(Object) {
			return
		}
		for i, end := n.i+1, n.tree.nodes[n.i].next; i < end; i = n.tree.nodes[i+1].next {
			if !yield(n.tree.member(i)) {
				return
			}
		}
	}
}

// Elements returns the elements of an array, in order; none for other kinds.
func (n Node) Elements() iter.Seq2[int, Node] {
	return func(yield func(int, Node) bool) {
		if !n.is(Array) {
			return
		}
		k := 0
		for i, end := n.i+1, n.tree.nodes[n.i].next; i < end; i = n.tree.nodes[i].next {
			if !yield(k, Node{n.tree, i}) {
				return
			}
			k++
		}
	}
}

// Member returns the member of an object with this name. It costs a walk over the members
// before it.
func (n Node) Member(name string) (Member, bool) {
	if !n.is(Object) {
		return Member{}, false
	}
	for i, end := n.i+1, n.tree.nodes[n.i].next; i < end; i = n.tree.nodes[i+1].next {
		if n.tree.nameIs(i, name) {
			return n.tree.member(i), true
		}
	}
	return Member{}, false
}

// get returns the value of the member with this name, zero if there is none.
func (n Node) get(name string) Node {
	m, _ := n.Member(name)
	return m.Value
}

// At returns the value at a JSON Pointer (RFC 6901) below n and true, or the last value on the way
// that exists and false.
func (n Node) At(pointer string) (Node, bool) {
	for pointer != "" {
		token, rest, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
		next := n.child(jsonscan.UnescapePointer(token))
		if next.IsZero() || pointer[0] != '/' {
			return n, false
		}
		if n = next; rest == "" && !strings.HasSuffix(pointer, "/") {
			break
		}
		pointer = pointer[1+len(token):]
	}
	return n, !n.IsZero()
}

// child returns the member or element that a token of a JSON Pointer names.
func (n Node) child(token string) Node {
	if n.is(Object) {
		return n.get(token)
	}
	index, err := strconv.Atoi(token)
	if err != nil || strconv.Itoa(index) != token {
		return Node{}
	}
	for i, element := range n.Elements() {
		if i == index {
			return element
		}
	}
	return Node{}
}

// AppendJSON appends the value as compact JSON: without comments and white
// space, members in order, numbers and strings as they are written.
func (n Node) AppendJSON(dst []byte) []byte {
	if n.tree == nil {
		return dst
	}
	return n.tree.appendJSON(dst, n.i)
}

// Pointer returns the JSON Pointer (RFC 6901) of the value in its document. It costs a walk
// from the root.
func (n Node) Pointer() string {
	if n.tree == nil {
		return ""
	}
	return string(n.tree.appendPointer(nil, 0, n.i))
}

// Removal returns the edit that removes a member from its object, with one comma; ok is false if a
// comment is in the way.
func (m *Member) Removal() (edit diag.Edit, ok bool) {
	text := m.Value.tree.file.Text
	from, to := int(m.Key.Start), int(m.Value.Span().End)
	behind := to + len(text[to:]) - len(bytes.TrimLeft(text[to:], " \t\r\n"))
	before := len(bytes.TrimRight(text[:from], " \t\r\n"))
	switch {
	case m.Key.Len() == 0 || behind == len(text) || before == 0:
		return diag.Edit{}, false
	case text[behind] == ',':
		to = behind + 1
		to += len(text[to:]) - len(bytes.TrimLeft(text[to:], " \t\r\n"))
	case text[behind] == '}' && text[before-1] == ',':
		from = before - 1
	case text[behind] != '}' || text[before-1] != '{':
		return diag.Edit{}, false
	}
	return diag.Edit{Span: diag.Span{Start: int32(from), End: int32(to)}}, true
}

// Unread reports whether the value, or a part of it, could not be read because of a syntax error,
// so that the tree has something else in its place.
func (n Node) Unread() bool {
	if n.tree == nil || !n.tree.faulty {
		return false
	}
	return slices.ContainsFunc(n.tree.nodes[n.i:n.tree.end(n.i)], func(in node) bool { return in.flags&(bad|cut) != 0 })
}

// Text returns the parsed form of a string value with an expression, an escaped dagger or a
// template; nil for a plain string and for other kinds. Only strings in the params of calls and in
// a solution's output can have expressions. The string is parsed each time, so that no two results
// share memory; use a TextReader to read many.
func (n Node) Text() *Text {
	if !n.has(hasText) {
		return nil
	}
	text, _ := readText(n.tree.file.Text, n.tree.token(n.i), nil)
	return text
}

// Texts returns the strings at or below n that contain expressions or escaped daggers, in order.
// Its cost depends on their number, not on the size of n.
func (n Node) Texts() iter.Seq2[Node, *Text] {
	return func(yield func(Node, *Text) bool) {
		for s := range n.TextNodes() {
			if !yield(s, s.Text()) {
				return
			}
		}
	}
}

// TextNodes returns the strings at or below n that have a Text, in order. Its cost depends on their
// number, not on the size of n.
func (n Node) TextNodes() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.tree == nil {
			return
		}
		if n.tree.nodes[n.i].next == n.i+1 { // it is empty
			if n.has(hasText) {
				yield(n)
			}
			return
		}
		end := n.tree.end(n.i)
		for _, i := range n.tree.texts[n.tree.firstText(n.i):] {
			if i >= end || !yield(Node{n.tree, i}) {
				return
			}
		}
	}
}
