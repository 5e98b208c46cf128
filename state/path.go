package state

// Segment is one step of a path. The first segment of a path is its kind, a Name.
type Segment struct {
	Kind  SegmentKind
	Name  string // Name, and Either as spelled
	Index int    // Index and Either; negative counts from the end
}

// SegmentKind tells segments apart.
type SegmentKind uint8

// The kinds of segments.
const (
	Name   SegmentKind = iota // a member of an object
	Index                     // an element of an array
	Either                    // .1: an element of an array, a member of an object
	Star                      // every element of an array; only in reads
)

// Path is a place on the whiteboard: a kind and what is below it.
type Path []Segment

// Overlaps reports whether p and q are equal, or one is an ancestor of the
// other, where indexes that could name one element overlap (plan-language §5).
func (p Path) Overlaps(q Path) bool { panic("todo") }

// Covers reports whether whatever is at q is at or below p, for certain.
func (p Path) Covers(q Path) bool { panic("todo") }

// String is the path as a plan spells it: †state.users[0]["odd name"].
func (p Path) String() string { panic("todo") }
