package file

import (
	"maps"
	"slices"
	"time"

	"github.com/plc-lang/plc/internal/texttree"
)

// told collects what a reader says of a place when it is shown a value of one kind there. The
// readers of files describe themselves in this way: see Schema.
type told struct {
	name, doc string         // of a form that stands in several places; else what the place is for
	refused   bool           // a value of this kind is not taken
	keywords  map[string]any // of JSON Schema, for values of this kind
	members   map[string]set
	open      bool // there may be other members
	each      set  // reads what has no name of its own: elements, or members whose names are free
}

// doc adds to a reader what the place is for, in words for people.
func doc(text string, read set) set {
	return func(v value) {
		if v.told != nil {
			v.told.doc = text
		}
		read(v)
	}
}

// named says that what is read is a form that stands in several places, or in itself.
func (v value) named(name, about string) {
	if v.told != nil && v.told.name == "" { // else that of what reads it as a part
		v.told.name = name
		v.tell("description", about)
	}
}

// refuse says that values of this kind are not taken.
func (v value) refuse() {
	if v.told != nil {
		v.told.refused = true
	}
}

// tell notes keywords of JSON Schema, and reports whether there is nothing to read.
func (v value) tell(pairs ...any) bool {
	if v.told == nil {
		return false
	}
	for i := 0; i < len(pairs); i += 2 {
		v.told.keywords[pairs[i].(string)] = pairs[i+1]
	}
	return true
}

// needs notes members that an object must have.
func (v value) needs(names ...string) { v.tell("required", names) }

// isOneOf notes the texts that are taken, and reports whether there is nothing to read.
func (v value) isOneOf(names ...string) bool { return v.tell("enum", slices.Clone(names)) }

// isDuration notes a duration, and reports whether there is nothing to read.
func (v value) isDuration(least time.Duration) bool {
	if v.told == nil {
		return false
	}
	switch {
	case v.Kind == texttree.Number && least > 0:
		v.tell("exclusiveMinimum", 0)
	case v.Kind == texttree.Number:
		v.tell("minimum", 0)
	case v.Kind != texttree.String:
		v.refuse()
	}
	return true
}

// hasMembers notes the members of an object, and reports whether there is nothing to read.
func (v value) hasMembers(known map[string]set) bool {
	if v.told == nil {
		return false
	}
	if v.told.members == nil {
		v.told.members = map[string]set{}
	}
	maps.Copy(v.told.members, known)
	return true
}

// hasEach notes what reads elements, or members with free names, and reports whether there is
// nothing to read.
func (v value) hasEach(read set) bool {
	if v.told == nil {
		return false
	}
	v.told.each = read
	return true
}

// among adds to a reader the texts that are taken by who reads the value later.
func among(read set, names ...string) set {
	return func(v value) {
		if v.Kind == texttree.String {
			v.isOneOf(names...)
		}
		read(v)
	}
}

// suchAs adds to a reader some of the texts that are taken.
func suchAs(read set, names ...string) set {
	return func(v value) {
		if v.Kind == texttree.String {
			v.tell("examples", names)
		}
		read(v)
	}
}

// only has a reader describe a place that something else reads.
func only(read set) set {
	return func(v value) {
		if v.told != nil {
			read(v)
		}
	}
}
