package file

import (
	"maps"
	"slices"
	"time"

	"github.com/plc-lang/plc/internal/texttree"
)

// shape collects what a reader accepts at a place. The reader fills it in when it is called with a
// value whose shape is not nil, once for each kind of value. In this way the readers of files
// describe themselves: see Schema.
type shape struct {
	name, doc string         // the name of a form that is used in several places; what the place is for
	refused   bool           // a value of this kind is not accepted
	keywords  map[string]any // of JSON Schema, for values of this kind
	members   map[string]set
	open      bool // there may be other members
	each      set  // reads elements, or members whose names are free
}

// doc adds a description of the place to a reader.
func doc(text string, read set) set {
	return func(v value) {
		if v.shape != nil {
			v.shape.doc = text
		}
		read(v)
	}
}

// named says that the value is a form that is used in several places, or within itself.
func (v value) named(name, about string) {
	if v.shape != nil && v.shape.name == "" { // otherwise it keeps the name of the form that it is part of
		v.shape.name = name
		v.describe("description", about)
	}
}

// refuse says that values of this kind are not accepted.
func (v value) refuse() {
	if v.shape != nil {
		v.shape.refused = true
	}
}

// describe notes keywords of JSON Schema, and reports whether the reader is only describing itself,
// so that there is nothing to read.
func (v value) describe(pairs ...any) bool {
	if v.shape == nil {
		return false
	}
	for i := 0; i < len(pairs); i += 2 {
		v.shape.keywords[pairs[i].(string)] = pairs[i+1]
	}
	return true
}

// needs notes the members that an object must have.
func (v value) needs(names ...string) { v.describe("required", names) }

// isOneOf notes the texts that are accepted, and reports whether there is nothing to read.
func (v value) isOneOf(names ...string) bool { return v.describe("enum", slices.Clone(names)) }

// isDuration notes that the value is a duration, and reports whether there is nothing to read.
func (v value) isDuration(least time.Duration) bool {
	if v.shape == nil {
		return false
	}
	switch {
	case v.Kind == texttree.Number && least > 0:
		v.describe("exclusiveMinimum", 0)
	case v.Kind == texttree.Number:
		v.describe("minimum", 0)
	case v.Kind != texttree.String:
		v.refuse()
	}
	return true
}

// hasMembers notes the members of an object, and reports whether there is nothing to read.
func (v value) hasMembers(known map[string]set) bool {
	if v.shape == nil {
		return false
	}
	if v.shape.members == nil {
		v.shape.members = map[string]set{}
	}
	maps.Copy(v.shape.members, known)
	return true
}

// hasEach notes the reader of elements, or of members with free names, and reports whether there is
// nothing to read.
func (v value) hasEach(read set) bool {
	if v.shape == nil {
		return false
	}
	v.shape.each = read
	return true
}

// among adds to a reader the texts that are accepted by the code that reads the value later.
func among(read set, names ...string) set {
	return func(v value) {
		if v.Kind == texttree.String {
			v.isOneOf(names...)
		}
		read(v)
	}
}

// suchAs adds to a reader examples of the texts that are accepted.
func suchAs(read set, names ...string) set {
	return func(v value) {
		if v.Kind == texttree.String {
			v.describe("examples", names)
		}
		read(v)
	}
}

// only uses a reader only to describe a place that other code reads.
func only(read set) set {
	return func(v value) {
		if v.shape != nil {
			read(v)
		}
	}
}
