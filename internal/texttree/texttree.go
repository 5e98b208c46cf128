// Package texttree reads JSON with comments, and the part of YAML that has a JSON form, into a tree
// whose values have positions in the text. The same rules hold for both: limits, no name twice in
// one object, numbers as JSON writes them.
//
// It is for small texts that are read once. It doesn't read plans: package lang needs only 16 bytes
// for a node and repairs what it can.
package texttree

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Kind is the kind of a value.
type Kind uint8

// The kinds of values.
const (
	Null Kind = iota
	Boolean
	Number
	String
	Array
	Object
)

// String returns the kind as messages name it.
func (k Kind) String() string {
	return [...]string{"null", "true or false", "a number", "a string", "a list", "an object"}[k]
}

// Span is a range of bytes of the text. It is an alias for an unnamed type, so that it can be
// assigned to the spans of package diag, which this package can't import.
type Span = struct{ Start, End int32 }

// Node is a value. A value that is repeated by a YAML alias is one Node in several places.
type Node struct {
	Kind    Kind
	Span    Span
	Raw     string  // of a scalar: as JSON
	Str     string  // of a string: its text
	Entries []Entry // of an object or list, in order
}

// Entry is a member of an object, or an element of a list.
type Entry struct {
	Name  string // of an element: its index
	Key   Span   // of the name
	Value *Node
}

// Text returns a string as a value without a position.
func Text(s string) *Node { return &Node{Kind: String, Str: s, Raw: string(jsonscan.Encode(s))} }

// JSON returns the value as compact JSON, with members in their order.
func (n *Node) JSON() []byte { return n.AppendJSON(nil) }

// AppendJSON appends the value as compact JSON, with members in their order.
func (n *Node) AppendJSON(dst []byte) []byte {
	if n.Kind != Array && n.Kind != Object {
		return append(dst, n.Raw...)
	}
	brackets := "[]"
	if n.Kind == Object {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i, e := range n.Entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.Kind == Object {
			dst = append(append(dst, jsonscan.Encode(e.Name)...), ':')
		}
		dst = e.Value.AppendJSON(dst)
	}
	return append(dst, brackets[1])
}

// Get returns the entry of this name.
func (n *Node) Get(name string) (Entry, bool) {
	for _, e := range n.Entries {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

// At returns the value at a JSON Pointer below n, or the last existing value on the way to it.
func (n *Node) At(pointer string) *Node {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		e, ok := n.Get(jsonscan.UnescapePointer(token))
		if !ok {
			return n
		}
		n = e.Value
	}
	return n
}

// BOM returns the length of the byte order mark at the start of a text.
func BOM(text []byte) int {
	if len(text) >= 3 && string(text[:3]) == "\ufeff" {
		return 3
	}
	return 0
}

func element(i int, v *Node) Entry { return Entry{Name: strconv.Itoa(i), Value: v} }

// names are the names in one object.
type names map[string]Span

// add adds the name of a member, and returns an error if it is there already.
func (n names) add(e Entry) *jsonscan.Error {
	if other, ok := n[e.Name]; ok {
		return &jsonscan.Error{Kind: jsonscan.Duplicate, Offset: int(e.Key.Start), Other: int(other.Start),
			Message: fmt.Sprintf("the name %q stands twice in one object", e.Name)}
	}
	n[e.Name] = e.Key
	return nil
}
