package compile

import (
	"slices"

	"github.com/plc-lang/plc/state"
)

// pathIndex holds the paths that a plan writes, as a tree of segments, and who
// writes them. A node is a path; node 0 is above all kinds. Finding what overlaps
// a path costs its length, plus what wildcards match.
type pathIndex struct {
	nodes []pathNode
	child map[pathStep]int32
	// lists are kept only by nodes that have elements below them: few.
	elements map[int32][]int32 // children that name an element of an array by its number
	wild     map[int32][]int32 // children that name one from the end

	// matched counts the elements that [*], and indexes from the end, were matched
	// with; work all nodes that were looked at, for the tests of growth.
	matched, work int

	looks     int        // children that wildcards have matched
	most      int        // of those; beyond it nothing is found any more
	above, at [2][]int32 // scratch of overlapping; double-buffered frontiers
}

type pathNode struct {
	parent int32
	// writers are the places of the calls that may write exactly this path, ascending.
	writers []state.Place
	// below is the greatest number of writers at or below: a bound that lets
	// queries skip empty parts.
	below int32
	kids  []int32
}

// pathStep is a way down from a node.
type pathStep struct {
	from  int32
	kind  state.SegmentKind
	index int32
	name  string
}

// maxMatches bounds the elements that wildcards may match in a plan, all together: n
// references with [*] to a list of n elements that calls write one by one are n².
const maxMatches = 20_000_000

func newPathIndex() *pathIndex {
	return &pathIndex{
		nodes:    make([]pathNode, 1),
		child:    map[pathStep]int32{},
		elements: map[int32][]int32{},
		wild:     map[int32][]int32{},
		most:     maxMatches,
	}
}

func step(from int32, s state.Segment) pathStep {
	if s.Kind == state.Name {
		return pathStep{from: from, name: s.Name}
	}
	return pathStep{from: from, kind: s.Kind, index: int32(s.Index)}
}

// intern returns the node of a path that is written, made when it is new.
func (t *pathIndex) intern(p state.Path) int32 {
	n := int32(0)
	for _, s := range p {
		k := step(n, s)
		next, ok := t.child[k]
		if !ok {
			next = int32(len(t.nodes))
			t.nodes = append(t.nodes, pathNode{parent: n})
			t.child[k] = next
			t.nodes[n].kids = append(t.nodes[n].kids, next)
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

// exact is the node of a path, or the deepest node on the way to it; whole says
// which.
func (t *pathIndex) exact(p state.Path) (node int32, whole bool) {
	n := int32(0)
	for _, s := range p {
		next, ok := t.child[step(n, s)]
		if !ok {
			return n, false
		}
		n = next
	}
	return n, true
}

// overlapping finds the nodes whose paths overlap p: above are those of strict
// ancestors, at those of p itself, below which everything overlaps. The slices are
// good until the next call.
func (t *pathIndex) overlapping(p state.Path) (above, at []int32) {
	above = t.above[0][:0]
	at, next := append(t.at[0][:0], 0), t.at[1][:0]
	for _, s := range p {
		next = next[:0]
		for _, n := range at {
			if n != 0 {
				above = append(above, n)
			}
			next = t.matches(next, n, s)
		}
		at, next = next, at
		if len(at) == 0 {
			break
		}
	}
	t.above[0], t.at[0], t.at[1] = above, at, next
	t.work += len(p) + len(above) + len(at)
	return above, at
}

// matches appends the children of n that may be what s names.
func (t *pathIndex) matches(dst []int32, n int32, s state.Segment) []int32 {
	one := func(k pathStep) {
		if c, ok := t.child[k]; ok {
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
	t.matched += len(t.wild[n])
	if s.Kind == state.Star || s.Index < 0 {
		t.matched += len(t.elements[n])
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

// covering appends the children of n that are certainly above whatever s names:
// the one of its own, and .1 for [1] and ["1"].
func (t *pathIndex) covering(dst []int32, n int32, s state.Segment) []int32 {
	if c, ok := t.child[step(n, s)]; ok {
		dst = append(dst, c)
	}
	i, ok := int32(s.Index), s.Kind == state.Index && s.Index >= 0
	if s.Kind == state.Name {
		i, ok = digits(s.Name)
	}
	if ok {
		if c, found := t.child[pathStep{from: n, kind: state.Either, index: i}]; found {
			dst = append(dst, c)
		}
	}
	return dst
}

// digits is the number that a name of digits spells as .1 does.
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
	w := &t.nodes[n].writers
	if k := len(*w); k > 0 && (*w)[k-1] == at {
		return
	}
	*w = append(*w, at)
	for ; n >= 0; n = t.up(n) {
		t.nodes[n].below++
	}
}

// up is the parent of a node; -1 above the root.
func (t *pathIndex) up(n int32) int32 {
	t.work++
	if n == 0 {
		return -1
	}
	return t.nodes[n].parent
}

// writersOf are the places in [since, before) of calls that may write a path
// that overlaps p, ascending. It is safe for goroutines.
func (t *pathIndex) writersOf(p state.Path, since, before state.Place) []state.Place {
	q := pathIndex{nodes: t.nodes, child: t.child, elements: t.elements, wild: t.wild, most: t.most}
	above, at := q.overlapping(p)
	var places []state.Place
	collect := func(n int32) {
		w := t.nodes[n].writers
		i, _ := slices.BinarySearch(w, since)
		j, _ := slices.BinarySearch(w, before)
		places = append(places, w[i:j]...)
	}
	for _, n := range above {
		collect(n)
	}
	stack := slices.Clone(at)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if t.nodes[n].below == 0 {
			continue
		}
		collect(n)
		stack = append(stack, t.nodes[n].kids...)
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// few are the places that writersOf gives when it takes no more than most looks at
// paths and writers to find them; ok is false when it takes more.
func (t *pathIndex) few(p state.Path, since, before state.Place, most int) (places []state.Place, ok bool) {
	q := pathIndex{nodes: t.nodes, child: t.child, elements: t.elements, wild: t.wild, most: t.most}
	above, at := q.overlapping(p)
	collect := func(n int32) bool {
		w := t.nodes[n].writers
		i, _ := slices.BinarySearch(w, since)
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
	stack := slices.Clone(at)
	for len(stack) > 0 {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if t.nodes[n].below == 0 {
			continue
		}
		if !collect(n) || len(t.nodes[n].kids) > most {
			return nil, false
		}
		stack = append(stack, t.nodes[n].kids...)
	}
	slices.Sort(places)
	return slices.Compact(places), true
}
