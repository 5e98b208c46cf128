package file

import (
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
)

// The bounds of a tool file.
const (
	maxBytes = 4 << 20
	maxDepth = 256
)

// kind is the kind of a value.
type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

func (k kind) String() string {
	return [...]string{"null", "true or false", "a number", "a string", "a list", "an object"}[k]
}

// node is a value of a tool file, of JSON or YAML.
type node struct {
	kind    kind
	span    diag.Span
	raw     string  // of a scalar: as JSON
	str     string  // of a string: what it says
	entries []entry // of an object or list, in order
}

// entry is a member of an object, or an element of a list.
type entry struct {
	name  string // of an element: its index
	key   diag.Span
	value *node
}

// appendJSON appends the value as compact JSON, members in order.
func (n *node) appendJSON(dst []byte) []byte {
	switch n.kind {
	case array, object:
	default:
		return append(dst, n.raw...)
	}
	brackets := "[]"
	if n.kind == object {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i, e := range n.entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.kind == object {
			dst = append(append(dst, quote(e.name)...), ':')
		}
		dst = e.value.appendJSON(dst)
	}
	return append(dst, brackets[1])
}

// json is the value as compact JSON.
func (n *node) json() []byte { return n.appendJSON(nil) }

// get is the entry of this name.
func (n *node) get(name string) (entry, bool) {
	for _, e := range n.entries {
		if e.name == name {
			return e, true
		}
	}
	return entry{}, false
}

// at is the value at a JSON Pointer below n, or as much of the way to it as there is.
func (n *node) at(pointer string) *node {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		e, ok := n.get(unescape(token))
		if !ok {
			return n
		}
		n = e.value
	}
	return n
}

// element makes the entry of a list.
func element(i int, v *node) entry { return entry{name: strconv.Itoa(i), value: v} }
