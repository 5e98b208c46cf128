package state

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Apply does one write on a document, which is the value of a kind, and returns the new document
// (plan-language §4 and §6). below is the path without its kind; a nil document means no value. A
// write that can't be applied returns an *Error whose Path is below the document.
//
// Apply is the simplest definition of a write, and its cost is linear in the size of the document.
// A Whiteboard gives the same result at the cost of the write alone.
func Apply(doc json.RawMessage, below Path, method Method, value json.RawMessage) (json.RawMessage, error) {
	out, err := applyRoot(jsonscan.Compacted(doc), below, method, jsonscan.Compacted(value))
	if err != nil {
		err.Method = method
		return nil, err
	}
	return out, nil
}

func applyRoot(doc []byte, below Path, method Method, value []byte) ([]byte, *Error) {
	combines := method == Set || method == Merge || method == Assign
	switch {
	case len(below) == 0 && combines && shapeOf(value) != object:
		return nil, notRoot(shapeOf(value), method)
	case len(below) >= maxSteps:
		return nil, tooLong(len(below) + 1)
	}
	return applyAt(doc, below, 0, method, value)
}

// applyAt does a write on the value at below[:depth].
func applyAt(doc []byte, below Path, depth int, method Method, value []byte) ([]byte, *Error) {
	if depth == len(below) {
		out, err := combine(doc, method, value)
		return out, err.at(below[:depth])
	}
	if doc == nil {
		doc = empty(below[depth])
	}
	name, child, err := pick(doc, below[depth])
	if err != nil {
		return nil, err.at(below[:depth])
	}
	child, err = applyAt(child, below, depth+1, method, value)
	if err != nil {
		return nil, err
	}
	return put(doc, name, child), nil
}

// empty returns the container that a segment creates where there is no value: a list for [0], an
// object otherwise.
func empty(seg Segment) []byte {
	switch {
	case seg.Kind == Index && seg.Index == 0:
		return []byte("[]")
	case seg.Kind == Index || seg.Kind == Star:
		return nil
	}
	return []byte("{}")
}

// pick returns the child of a container that a segment names, nil if there is none
// yet, and its name or index as text.
func pick(doc []byte, seg Segment) (string, []byte, *Error) {
	have := shapeOf(doc)
	if seg.Kind == Star {
		return "", nil, noStar(have)
	}
	if have == list && seg.Kind != Name {
		all := slices.Collect(elements(doc))
		i := seg.Index
		if i < 0 {
			i += len(all)
		}
		if i < 0 || i > len(all) {
			return "", nil, beyond(len(all), seg.Index)
		}
		return strconv.Itoa(i), append(all, nil)[i], nil
	}
	if seg.Kind == Index {
		return "", nil, noElement(have, seg.Index)
	}
	if have != object {
		return "", nil, noMember(have, seg.Name)
	}
	for m := range members(doc) {
		if m.name == seg.Name {
			return seg.Name, m.value, nil
		}
	}
	return seg.Name, nil, nil
}

// combine returns the result of a method on the present value.
func combine(doc []byte, method Method, value []byte) ([]byte, *Error) {
	have, written := shapeOf(doc), shapeOf(value)
	switch method {
	case Merge, Assign:
		if have != object || written != object {
			return value, nil
		}
		for m := range members(value) {
			_, old, _ := pick(doc, Segment{Name: m.name})
			if method == Merge {
				m.value, _ = combine(old, Merge, m.value)
			}
			doc = put(doc, m.name, m.value)
		}
		return doc, nil
	case Push, Concat:
		if have != list && have != nothing {
			return nil, notAppendable(have, method)
		}
		if method == Push {
			return push(doc, value), nil
		}
		if written != list {
			return nil, notList(have, written)
		}
		if doc == nil {
			doc = []byte("[]")
		}
		for e := range elements(value) {
			doc = push(doc, e)
		}
		return doc, nil
	}
	return value, nil
}

func push(doc, value []byte) []byte {
	if doc == nil {
		doc = []byte("[]")
	}
	return put(doc, "-1", value) // sjson's name for the end of a list
}

// put replaces or adds a child of an object or a list. Only this function uses sjson. sjson takes a
// path, silently does nothing if the path is not a plain one, and can't name the member "".
func put(doc []byte, name string, value []byte) []byte {
	path := gjson.Escape(name)
	if name == "" {
		return putUnnamed(doc, value)
	}
	if name[0] == ':' {
		path = ":" + path // sjson takes digits after a colon as a name
	}
	out, err := sjson.SetRawBytes(doc, path, value)
	if err != nil {
		panic(err) // the path is one escaped segment
	}
	return out
}

// putUnnamed does what put does for the member "".
func putUnnamed(doc, value []byte) []byte {
	i := len("{")
	for m := range members(doc) {
		i += len(m.key) + len(":")
		if m.name == "" {
			return slices.Concat(doc[:i], value, doc[i+len(m.value):])
		}
		i += len(m.value) + len(",")
	}
	out := slices.Concat(doc[:len(doc)-1], []byte(`,"":`), value, []byte("}"))
	if len(doc) == len("{}") {
		out = slices.Delete(out, 1, 2)
	}
	return out
}
