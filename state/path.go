package state

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/plc-lang/plc/internal/jsonscan"
)

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
// other, where indexes that could name one element overlap (plan-language §5):
// [*] and an index from the end overlap every index, since a list may grow
// between the two uses; ["1"] names a member only, [1] an element only, .1 both.
func (p Path) Overlaps(q Path) bool {
	for i := range min(len(p), len(q)) {
		if !p[i].overlaps(q[i]) {
			return false
		}
	}
	return true
}

// Covers reports whether whatever is at q is at or below what was written at p,
// for certain (plan-language §5). An index from the end covers nothing, not even
// itself: a list that grew in between has another last element. Neither does [*],
// which is never written. .1 covers ["1"] and [1], which don't cover it.
func (p Path) Covers(q Path) bool {
	if len(p) > len(q) {
		return false
	}
	for i, s := range p {
		if !s.covers(q[i]) {
			return false
		}
	}
	return true
}

// Conflicts reports whether two writes, of p and of q, must be applied in the
// order of their places, because one may change whether and where the other
// applies (plan-language §6). Those are the paths that overlap, and more that
// part at a list, or pass through one: two indexes, since a write right behind
// the end appends, so that [1] needs [0] and moves [-1]; and an index and a name,
// since the first of them decides whether nothing becomes a list or an object.
func (p Path) Conflicts(q Path) bool {
	for i := range min(len(p), len(q)) {
		s, t := p[i], q[i]
		if s.Kind == Name && t.namesMember() || t.Kind == Name && s.namesMember() {
			if s.Name != t.Name {
				return false
			}
		} else if s != t {
			return true
		}
	}
	return true
}

// overlaps reports whether there is a value, now or grown later, of which s and
// t name one child.
func (s Segment) overlaps(t Segment) bool {
	member := s.namesMember() && t.namesMember() && s.Name == t.Name
	return member || s.Kind != Name && t.Kind != Name &&
		(s.wanders() || t.wanders() || s.Index == t.Index)
}

// covers reports whether s names each child that t names, of any value.
func (s Segment) covers(t Segment) bool {
	switch {
	case s.Kind == Name:
		return t.Kind == Name && s.Name == t.Name
	case s.wanders() || t.wanders():
		return false
	case t.Kind == Name:
		return s.Kind == Either && s.Name == t.Name
	case t.Kind == Either:
		return s.Kind == Either && s.Name == t.Name && s.Index == t.Index
	}
	return s.Index == t.Index
}

func (s Segment) namesMember() bool { return s.Kind == Name || s.Kind == Either }

// wanders reports whether the element that s names depends on the list.
func (s Segment) wanders() bool {
	return s.Kind == Star || s.Kind != Name && s.Index < 0
}

// String returns the path as a plan spells it: †state.users[0]["odd name"]
// (plan-language §3). The empty path is "†". What stands in a kind behind a NUL, which tells
// layers of one kind apart, is left out.
func (p Path) String() string {
	var space [64]byte
	dst := append(space[:0], "†"...)
	for i, s := range p {
		if i == 0 {
			name, _, _ := strings.Cut(s.Name, "\x00")
			dst = append(dst, name...)
			continue
		}
		dst = s.append(dst)
	}
	return string(dst)
}

func (s Segment) append(dst []byte) []byte {
	switch s.Kind {
	case Index:
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(s.Index), 10)
		return append(dst, ']')
	case Either:
		dst = append(dst, '.')
		return append(dst, s.Name...)
	case Star:
		return append(dst, "[*]"...)
	}
	if plain(s.Name) {
		dst = append(dst, '.')
		return append(dst, s.Name...)
	}
	dst = append(dst, '[')
	dst = appendQuoted(dst, s.Name)
	return append(dst, ']')
}

// plain reports whether a name may stand after a dot and is read back as a name.
func plain(name string) bool {
	if isWord(name) {
		return true
	}
	if name == "" || strings.ContainsAny(name, `.[]"'|&()<>*,{}†`) || strings.ContainsFunc(name, unicode.IsSpace) {
		return false
	}
	return strings.Trim(strings.TrimPrefix(name, "-"), "0123456789") != "" || name == "-"
}

// isWord reports whether a name is one as most are: ASCII letters and digits, a letter first.
func isWord(name string) bool {
	for i := range len(name) {
		c := name[i]
		if letter := c|0x20-'a' <= 'z'-'a' || c == '_'; !letter && (i == 0 || c-'0' > 9) {
			return false
		}
	}
	return name != ""
}

// appendQuoted appends s as a JSON string, with <, > and & as they are.
func appendQuoted(dst []byte, s string) []byte {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	return append(dst, jsonscan.Encode(s)...)
}
