package lang

import (
	"iter"

	"github.com/plc-lang/plc/diag"
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

// Node is a value of a document: a handle, cheap to copy. The zero Node is no
// value.
type Node struct {
	tree *tree
	i    int32
}

// IsZero reports whether n is no value.
func (n Node) IsZero() bool { return n.tree == nil }

// Kind is the kind of the value.
func (n Node) Kind() Kind { panic("todo") }

// Span is where the value stands, with its quotes or brackets.
func (n Node) Span() diag.Span { panic("todo") }

// Loc is where the value stands, with its file.
func (n Node) Loc() diag.Loc { panic("todo") }

// Str is the text of a string, decoded; "" for other kinds.
func (n Node) Str() string { panic("todo") }

// Len is the number of members or elements; 0 for other kinds. It costs a walk over them.
func (n Node) Len() int { panic("todo") }

// Members are the members of an object, in order.
func (n Node) Members() iter.Seq[Member] { panic("todo") }

// Elements are the elements of an array, in order.
func (n Node) Elements() iter.Seq2[int, Node] { panic("todo") }

// Member is the member of an object with this name.
func (n Node) Member(name string) (Member, bool) { panic("todo") }

// At is the value at a JSON Pointer below n, or as much of the way to it as there is.
func (n Node) At(pointer string) (Node, bool) { panic("todo") }

// AppendJSON appends the value as compact JSON: without comments and white
// space, members in order, numbers and strings as they are written.
func (n Node) AppendJSON(dst []byte) []byte { panic("todo") }

// Pointer is the JSON Pointer (RFC 6901) of the value in its document. It costs a walk from the root.
func (n Node) Pointer() string { panic("todo") }

// Text is what a string value says when it holds an expression, an escaped
// dagger or a template; nil for a plain string and for other kinds.
func (n Node) Text() *Text { panic("todo") }

// Texts are the strings at or below n that hold expressions or escaped daggers,
// in order. It costs their number, not the size of n.
func (n Node) Texts() iter.Seq2[Node, *Text] { panic("todo") }

type tree struct{}
