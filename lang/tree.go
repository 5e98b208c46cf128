package lang

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// The tree is one flat table of nodes, in the order of the text: a container is followed by its
// contents, and has the index of the node after them. A member is two nodes, its name and its
// value.
//
//	{"a": [1, 2], "b": 3}
//
//	i     0  1    2  3  4  5    6
//	kind  {  "a"  [  1  2  "b"  3
//	next  7  #0   5  4  5  #1   7
//
// The next of a name is the index of its text in the table of names, since the node after a name is
// always its value.

// tree is the tree of a document.
type tree struct {
	file  *diag.File
	nodes []node
	names []string
	index map[string]int32 // of names, while the tree is built
	texts []int32          // the nodes that have a Text, in order

	faulty bool // a part was not read: nodes may be bad or cut

	writes map[int32]*Write // by node, the write expressions that are not plain references
}

// node is a value, or the name of a member.
type node struct {
	start, end int32
	next       int32 // the node after it and its contents; for a name its index in names, or -1
	kind       Kind
	flags      flags
}

// flags holds facts about a node.
type flags uint16

const (
	isName    flags = 1 << iota // the name of a member
	escaped                     // a string with escapes
	hasDagger                   // a string with a dagger, perhaps as an escape
	hasText                     // a string with a Text
	odd                         // a string with other quotes, without quotes, or with raw control characters
	bad                         // reported, and not used any more
	cut                         // an array or object that does not end
	isWrite                     // a string that is a write expression
	isRef                       // a string with a Text that is a reference, written plainly
	hasExprs                    // a string with a Text that has expressions
)

// maxNames is the maximum number of different names that a tree keeps; others are decoded each
// time.
const maxNames = 1 << 16

func (n *node) span() diag.Span { return diag.Span{Start: n.start, End: n.end} }

// end returns the node after i and its contents.
func (t *tree) end(i int32) int32 {
	if t.nodes[i].flags&isName != 0 {
		return i + 1
	}
	return t.nodes[i].next
}

// inside returns the span of a string without its quotes.
func (t *tree) inside(i int32) diag.Span {
	n := &t.nodes[i]
	if n.flags&odd == 0 {
		return diag.Span{Start: n.start + 1, End: n.end - 1}
	}
	r, width := utf8.DecodeRune(t.file.Text[n.start:n.end])
	if closingQuote(r) == 0 {
		width = 0 // a name without quotes
	}
	return diag.Span{Start: n.start + int32(width), End: n.end - int32(width)}
}

// token returns the span of a string with one byte on each side for the quotes, as the reader of
// expressions needs it.
func (t *tree) token(i int32) diag.Span {
	s := t.inside(i)
	return diag.Span{Start: s.Start - 1, End: s.End + 1}
}

// decoded returns the value of a string; it may share the memory of the text.
func (t *tree) decoded(i int32) []byte {
	s := t.inside(i)
	raw := t.file.Text[s.Start:s.End]
	if t.nodes[i].flags&escaped == 0 {
		return raw
	}
	return jsonscan.AppendString(nil, raw)
}

// intern returns the index of a name in names, or -1 if there are too many.
func (t *tree) intern(name []byte) int32 {
	if k, ok := t.index[string(name)]; ok {
		return k
	}
	if len(t.names) == maxNames {
		return -1
	}
	s := string(name)
	t.names = append(t.names, s)
	t.index[s] = int32(len(t.names) - 1)
	return int32(len(t.names) - 1)
}

// shared returns the value of string i, in the memory of an equal name or string if there is one.
func (t *tree) shared(i int32) string {
	b := t.decoded(i)
	if k := t.intern(b); k >= 0 {
		return t.names[k]
	}
	return string(b)
}

func (t *tree) name(i int32) string {
	if k := t.nodes[i].next; k >= 0 {
		return t.names[k]
	}
	return string(t.decoded(i))
}

func (t *tree) nameIs(i int32, name string) bool {
	if k := t.nodes[i].next; k >= 0 {
		return t.names[k] == name
	}
	return string(t.decoded(i)) == name
}

// member returns the member whose name is node i.
func (t *tree) member(i int32) Member {
	return Member{Name: t.name(i), Key: t.nodes[i].span(), Value: Node{t, i + 1}}
}

// firstText returns the first of texts that is at node i or after it.
func (t *tree) firstText(i int32) int {
	k, _ := slices.BinarySearch(t.texts, i)
	return k
}

// addText notes that string i has a Text, and adds the flags more.
func (t *tree) addText(i int32, more flags) {
	t.nodes[i].flags |= hasText | more
	t.texts = append(t.texts, i)
}

// appendJSON appends node i as compact JSON.
func (t *tree) appendJSON(dst []byte, i int32) []byte {
	n := &t.nodes[i]
	switch n.kind {
	case Array, Object:
		return t.appendContainer(dst, i)
	case String:
		return t.appendString(dst, i)
	case NumberValue:
		return append(dst, t.file.Text[n.start:n.end]...)
	}
	return append(dst, [...]string{Null: "null", False: "false", True: "true"}[n.kind]...)
}

func (t *tree) appendContainer(dst []byte, i int32) []byte {
	n := &t.nodes[i]
	brackets := "[]"
	if n.kind == Object {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for k := i + 1; k < n.next; k = t.nodes[k].next {
		if k > i+1 {
			dst = append(dst, ',')
		}
		if n.kind == Object {
			dst = append(t.appendString(dst, k), ':')
			k++
		}
		dst = t.appendJSON(dst, k)
	}
	return append(dst, brackets[1])
}

// appendString appends string i as it is written, unless that is not JSON.
func (t *tree) appendString(dst []byte, i int32) []byte {
	n := &t.nodes[i]
	if n.flags&(odd|bad) != 0 {
		return appendQuoted(dst, string(t.decoded(i)), '"')
	}
	return append(dst, t.file.Text[n.start:n.end]...)
}

// appendPointer appends the JSON Pointer of node to below node from, which holds
// it.
func (t *tree) appendPointer(dst []byte, from, to int32) []byte {
	for from < to {
		n, k := &t.nodes[from], from+1
		for count := 0; ; count++ {
			name := k
			if n.kind == Object {
				k++
			}
			if to < t.nodes[k].next && n.kind == Object {
				dst = appendToken(dst, t.name(name))
				break
			} else if to < t.nodes[k].next {
				dst = strconv.AppendInt(append(dst, '/'), int64(count), 10)
				break
			}
			k = t.nodes[k].next
		}
		from = k
	}
	return dst
}

func appendToken(dst []byte, name string) []byte {
	return append(append(dst, '/'), jsonscan.EscapePointer(name)...)
}
