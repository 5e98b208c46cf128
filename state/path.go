package state

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Segment is one step of a path. The first segment of a path is a Name, the kind.
type Segment struct {
	Kind  SegmentKind
	Name  string // Name, and Either as spelled
	Index int    // Index and Either; negative counts from the end
}

// SegmentKind is the kind of a segment.
type SegmentKind uint8

// The kinds of segments.
const (
	Name   SegmentKind = iota // a member of an object
	Index                     // an element of an array
	Either                    // .1: an element of an array, a member of an object
	Star                      // every element of an array; only in reads
)

// Path is a place on the whiteboard: a kind, and the steps below it.
type Path []Segment

// Overlaps reports whether p and q are equal or one is an ancestor of the other. Indexes overlap if
// they could name the same element (plan-language §5): [*] and an index from the end overlap every
// index, since a list may grow between the two uses. ["1"] names only a member, [1] only an
// element, and .1 either.
func (p Path) Overlaps(q Path) bool {
	for i := range min(len(p), len(q)) {
		if !p[i].overlaps(q[i]) {
			return false
		}
	}
	return true
}

// Covers reports whether the value at q certainly is, or is part of, the value that was written at
// p (plan-language §5). An index from the end covers nothing, not even itself: a list that grew in
// between has another last element. [*] covers nothing either, since it is never written. .1 covers
// ["1"] and [1], but they don't cover it.
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

// Conflicts reports whether a write to p and a write to q must be applied in the order of their
// places, because one may change whether and where the other applies (plan-language §6).
// Overlapping paths conflict, and so do paths that first differ in two indexes, or in an index and
// a name. Two indexes conflict because a write right after the end appends: [1] needs [0], and it
// moves [-1]. An index and a name conflict because the first write decides whether an absent value
// becomes a list or an object.
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

// wanders reports whether the element that s names depends on the length of the list.
func (s Segment) wanders() bool {
	return s.Kind == Star || s.Kind != Name && s.Index < 0
}

// String returns the path as a plan spells it: †state.users[0]["odd name"]
// (plan-language §3). The empty path is "†". A NUL in a kind and the text after it, which
// distinguish layers of one kind, are left out.
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

// plain reports whether a name may follow a dot and is then read as a name.
func plain(name string) bool {
	if isWord(name) {
		return true
	}
	if name == "" || strings.ContainsAny(name, `.[]"'|&()<>*,{}†`) || strings.ContainsFunc(name, unicode.IsSpace) {
		return false
	}
	return strings.Trim(strings.TrimPrefix(name, "-"), "0123456789") != "" || name == "-"
}

// isWord reports whether a name consists of ASCII letters and digits and begins with a letter, as
// most do.
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
