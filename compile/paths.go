package compile

import (
	"slices"
	"sync"

	"github.com/plc-lang/plc/state"
)

// pathIndex holds the paths that a plan writes, as a tree of segments, and who writes them. A node
// is a path; node 0 is above all kinds. Finding overlapping paths takes time linear in the path,
// plus the number of matches of wildcards.
type pathIndex struct {
	nodes pages[pathNode]
	steps stepTable
	// These are only kept for the few nodes that have elements below them.
	elements map[int32][]int32 // children that name an element of an array by its number
	wild     map[int32][]int32 // children that name an element from the end
	state    int32             // the node of the kind state; 0 if nothing of it is written

	places []state.Place // memory for writers

	front frontier // for searches during compilation
}

type pathNode struct {
	name      string // with parent, kind and index: the step that leads here
	parent    int32
	index     int32
	kid, next int32 // the last child and the previous sibling; 0 means none
	kind      state.SegmentKind
	// below is the number of writers at or below the node, so that searches can skip parts without
	// any.
	below int32
	// writers holds the places of the calls that may write exactly this path, ascending.
	writers []state.Place
}

// frontier holds memory that searches reuse. It is for one goroutine.
type frontier struct {
	above, at, ahead, stack []int32
	places                  []state.Place

	// matched counts the elements that [*], and indexes from the end, were matched with. work
	// counts all visited nodes, for tests of growth.
	matched, work int
}

// pathStep is a step from a node to a child.
type pathStep struct {
	from  int32
	kind  state.SegmentKind
	index int32
	name  string
}

func newPathIndex() *pathIndex {
	t := &pathIndex{
		steps:    newStepTable(),
		elements: map[int32][]int32{},
		wild:     map[int32][]int32{},
	}
	t.nodes.add(pathNode{})
	return t
}

func step(from int32, s state.Segment) pathStep {
	if s.Kind == state.Name {
		return pathStep{from: from, name: s.Name}
	}
	return pathStep{from: from, kind: s.Kind, index: int32(s.Index)}
}

// intern returns the node of a path that is written, and makes it if it is new.
func (t *pathIndex) intern(p state.Path) int32 {
	n := int32(0)
	for _, s := range p {
		k := step(n, s)
		if n == 0 && t.state != 0 && k.name == "state" {
			n = t.state
			continue
		}
		slot := t.find(&k)
		next := t.steps.slots[slot]
		if next == 0 {
			next = int32(t.nodes.n)
			t.nodes.add(pathNode{parent: n, name: k.name, kind: k.kind, index: k.index, next: t.nodes.at(n).kid})
			if t.steps.add(&t.nodes, slot); n == 0 && k.name == "state" {
				t.state = next
			}
			t.nodes.at(n).kid = next
			switch {
			case s.Kind == state.Name:
			case s.Index < 0:
				t.wild[n] = append(t.wild[n], next)
			default:
				t.elements[n] = append(t.elements[n], next)
			}
		}
		n = next
	}
	return n
}

// exact returns the node of a path, or the deepest node on the way to it. whole reports which of
// the two it is.
func (t *pathIndex) exact(p state.Path) (node int32, whole bool) {
	n := int32(0)
	for _, s := range p {
		next, ok := t.child(step(n, s))
		if !ok {
			return n, false
		}
		n = next
	}
	return n, true
}

// overlapping finds the nodes whose paths overlap p. above are strict ancestors, and at are the
// nodes of p itself; everything below those overlaps. The slices are valid until the frontier is
// used again.
func (t *pathIndex) overlapping(p state.Path, f *frontier) (above, at []int32) {
	above = f.above[:0]
	at, ahead := append(f.at[:0], 0), f.ahead[:0]
	for _, s := range p {
		ahead = ahead[:0]
		for _, n := range at {
			if n != 0 {
				above = append(above, n)
			}
			ahead = t.matches(ahead, n, s, f)
		}
		at, ahead = ahead, at
		if len(at) == 0 {
			break
		}
	}
	f.above, f.at, f.ahead = above, at, ahead
	f.work += len(p) + len(above) + len(at)
	return above, at
}

// place finds the path of a read in the index, once all written paths are there, so that no more
// search is needed: it is at a node, or below one. Paths that may mean several nodes have no place.
func (t *pathIndex) place(r *Read) {
	for _, s := range r.Path {
		if s.Kind != state.Name || len(s.Name) == 0 || s.Name[0] <= '9' {
			return
		}
	}
	n, whole := t.exact(r.Path)
	if r.spot = -1 - n; whole {
		r.spot = n
	}
}

// around does what overlapping does, for the path of a read.
func (t *pathIndex) around(r *Read, f *frontier) (above, at []int32) {
	if r.spot == 0 {
		return t.overlapping(r.Path, f)
	}
	above, at = f.above[:0], f.at[:0]
	n := r.spot
	if n > 0 {
		at = append(at, n)
		n = t.nodes.at(n).parent
	} else {
		n = -1 - n
	}
	for ; n > 0; n = t.nodes.at(n).parent {
		above = append(above, n)
	}
	f.above, f.at = above, at
	f.work += len(above) + 1
	return above, at
}

// matches appends the children of n that s may mean.
func (t *pathIndex) matches(dst []int32, n int32, s state.Segment, f *frontier) []int32 {
	one := func(k pathStep) {
		if c, ok := t.child(k); ok {
			dst = append(dst, c)
		}
	}
	if s.Kind == state.Name {
		one(pathStep{from: n, name: s.Name})
		if i, ok := digits(s.Name); ok {
			one(pathStep{from: n, kind: state.Either, index: i})
		}
		return dst
	}
	f.matched += len(t.wild[n])
	if s.Kind == state.Star || s.Index < 0 {
		f.matched += len(t.elements[n])
		dst = append(dst, t.elements[n]...)
		return append(dst, t.wild[n]...)
	}
	i := int32(s.Index)
	one(pathStep{from: n, kind: state.Index, index: i})
	one(pathStep{from: n, kind: state.Either, index: i})
	if s.Kind == state.Either {
		one(pathStep{from: n, name: s.Name})
	}
	return append(dst, t.wild[n]...)
}

// covering appends the children of n that certainly contain whatever s means: its own child, and .1
// for [1] and ["1"].
func (t *pathIndex) covering(dst []int32, n int32, s state.Segment) []int32 {
	if c, ok := t.child(step(n, s)); ok {
		dst = append(dst, c)
	}
	i, ok := int32(s.Index), s.Kind == state.Index && s.Index >= 0
	if s.Kind == state.Name {
		i, ok = digits(s.Name)
	}
	if ok {
		if c, found := t.child(pathStep{from: n, kind: state.Either, index: i}); found {
			dst = append(dst, c)
		}
	}
	return dst
}

// digits returns the number that a name consisting of digits spells, as in .1.
func digits(name string) (int32, bool) {
	if len(name) == 0 || len(name) > 9 || len(name) > 1 && name[0] == '0' {
		return 0, false
	}
	n := int32(0)
	for _, c := range []byte(name) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int32(c-'0')
	}
	return n, true
}

// addWriter notes that the call at this place may write the path of node n.
// Places come in ascending order.
func (t *pathIndex) addWriter(n int32, at state.Place) {
	w := &t.nodes.at(n).writers
	if k := len(*w); k > 0 && (*w)[k-1] == at {
		return
	}
	*w = push(&t.places, *w, at)
	for ; n > 0; n = t.up(n) {
		t.nodes.at(n).below++
	}
}

// up returns the parent of a node; -1 above the root.
func (t *pathIndex) up(n int32) int32 {
	t.front.work++
	if n == 0 {
		return -1
	}
	return t.nodes.at(n).parent
}

// frontiers holds frontiers that Program.Writers reuses.
var frontiers = sync.Pool{New: func() any { return &frontier{} }}

// writersOf returns the places in [since, before) of calls that may write a path that overlaps p,
// ascending. Goroutines may call it at once if each has a frontier of its own. The slice is valid
// until the frontier is used again.
func (t *pathIndex) writersOf(p state.Path, since, before state.Place, f *frontier) []state.Place {
	above, at := t.overlapping(p, f)
	places := f.places[:0]
	collect := func(n int32) {
		w := t.nodes.at(n).writers
		i, _ := slices.BinarySearch(w, since)
		j, _ := slices.BinarySearch(w, before)
		places = append(places, w[i:j]...)
	}
	for _, n := range above {
		collect(n)
	}
	stack := append(f.stack[:0], at...)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if t.nodes.at(n).below == 0 {
			continue
		}
		collect(n)
		stack = t.appendKids(stack, n)
	}
	slices.Sort(places)
	f.stack, f.places = stack, places
	return slices.Compact(places)
}

// appendKids appends the children of a node.
func (t *pathIndex) appendKids(dst []int32, n int32) []int32 {
	for kid := t.nodes.at(n).kid; kid != 0; kid = t.nodes.at(kid).next {
		dst = append(dst, kid)
	}
	return dst
}

// few returns what writersOf returns, if finding that takes looking at no more than most paths and
// writers; otherwise ok is false. The slice is valid until the frontier is used again.
func (t *pathIndex) few(r *Read, before state.Place, most int, f *frontier) (places []state.Place, ok bool) {
	above, at := t.around(r, f)
	places = f.places[:0]
	collect := func(n int32) bool {
		w := t.nodes.at(n).writers
		i, _ := slices.BinarySearch(w, r.Since)
		j, _ := slices.BinarySearch(w, before)
		if most -= 1 + j - i; most < 0 {
			return false
		}
		places = append(places, w[i:j]...)
		return true
	}
	for _, n := range above {
		if !collect(n) {
			return nil, false
		}
	}
	stack := append(f.stack[:0], at...)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if t.nodes.at(n).below > 0 && !collect(n) {
			return nil, false
		}
		for kid := t.nodes.at(n).kid; kid != 0; kid = t.nodes.at(kid).next {
			if len(stack) > most {
				return nil, false
			}
			stack = append(stack, kid)
		}
	}
	f.stack, f.places = stack[:0], places
	slices.Sort(places)
	return slices.Compact(places), true
}
