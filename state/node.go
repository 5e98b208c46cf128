package state

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// How the log is kept.
//
// Each write lands in a trie of path segments, once, when it comes. What lands is
// one of three things: a cover (the whole value of a node is this from now on),
// an append to a list, or a touch (here is an object, however empty). set is a
// cover; merge and assign are one cover for each member that they replace, or one
// for all where there was no object; push and concat are an append.
//
// A node keeps its covers in order of their keys, that is of their places in the
// plan. What lands below a node is kept with the cover that was in force, so that
// a cover hides all that came before by being found first, and what it hides
// costs nothing:
//
//	node ─┬─ under:        content      on the value that is inherited from above
//	      ├─ cover @ 3 …   content      on the value of place 3
//	      └─ cover @ 8 …   content      on the value of place 8
//
//	content: members and elements (nodes), and appends in order
//
// A reader walks down from the root. At each node it takes the last cover before
// its own place, and at the end joins that value with the content on it. Values
// are slices of the JSON text that was written; a child that nobody wrote to is
// found in the text of its parent. A document is so held once, whatever its size;
// a node costs some 210 bytes, so that a merge of many small members into an
// object weighs that much for each, and another value of a node some 120, with
// its entry in the log.

// key orders writes: the place in the high half, the arrival in the low one.
type key uint64

const never key = math.MaxUint64

func keyOf(p Place, arrival uint32) key { return key(max(p, 0))<<32 | key(arrival) }

// node is a place on the whiteboard that was written to, or below.
type node struct {
	covers    tree[cover]
	under     *content // what landed before the first cover
	min, last key      // of what landed here or below
}

// cover is a value that replaces all that a node was.
type cover struct {
	raw []byte
	in  *content // what landed on it; nil is nothing
}

// content holds what was written below a value.
type content struct {
	members  map[string]*node
	fresh    tree[named] // the members by their first write; stale if it isn't the node's min
	elements map[int]*node
	appends  []appended // in order of their keys, and so of their elements
	touches  []key
	object   key // the first that needs an object here
	list     key // the first that needs a list here
	last     key
}

type named struct {
	name string
	n    *node
}

// appended is a run of elements behind the end of a list.
type appended struct {
	at    key
	first int // index of the first element
	count int
	form  appendForm
	raw   []byte
}

type appendForm uint8

const (
	one  appendForm = iota // raw is the element
	many                   // raw is a list of them
	slot                   // an element that writes to its index made
)

func newNode() *node { return &node{min: never} }

func (n *node) mark(k key) {
	n.min = min(n.min, k)
	n.last = max(n.last, k)
}

// on returns the content that what lands at k belongs to.
func (n *node) on(k key) *content {
	in := &n.under
	if c := n.covers.before(k); c != nil {
		in = &c.value.in
	}
	if *in == nil {
		*in = &content{object: never, list: never}
	}
	return *in
}

// cover lands a value, in the item given, if any. It reports whether it came too late:
// something of a later place landed on the value that it replaces, or depends on it.
func (n *node) cover(fresh *item[cover], k key, raw []byte, firm bool) (late bool) {
	in := n.under
	if c := n.covers.before(k); c != nil {
		in = c.value.in
	}
	next := n.covers.from(k)
	if fresh == nil {
		fresh = new(item[cover])
	}
	n.covers.add(fresh, k, cover{raw: raw})
	fresh.firm = firm
	n.mark(k)
	return in != nil && in.last > k || next != nil && !next.firm
}

// member returns the node of a member for what lands at k: the one that there is, or one that is
// made. With one that is made for a value comes the room for it.
func (in *content) member(there *node, name string, k key, value bool) (n *node, fresh *item[cover]) {
	in.object, in.last = min(in.object, k), max(in.last, k)
	if n = there; n == nil {
		n, fresh = in.make(name, k, value)
	} else if k < n.min {
		in.fresh.insert(k, named{name, n})
	}
	n.mark(k)
	return n, fresh
}

// make makes the node of a member, and all that comes with it at once: there are many.
func (in *content) make(name string, k key, value bool) (n *node, fresh *item[cover]) {
	var born *item[named]
	if value {
		made := &struct {
			node
			born  item[named]
			cover item[cover]
		}{node: node{min: never}}
		n, born, fresh = &made.node, &made.born, &made.cover
	} else {
		made := &struct {
			node
			born item[named]
		}{node: node{min: never}}
		n, born = &made.node, &made.born
	}
	if in.members == nil {
		in.members = make(map[string]*node)
	}
	in.members[name] = n
	in.fresh.add(born, k, named{name, n})
	return n, fresh
}

// element returns the node of an element, made if need be, for what lands at k.
func (in *content) element(i int, k key) *node {
	in.list, in.last = min(in.list, k), max(in.last, k)
	n := in.elements[i]
	if n == nil {
		if in.elements == nil {
			in.elements = make(map[int]*node)
		}
		n = newNode()
		in.elements[i] = n
	}
	n.mark(k)
	return n
}

// slot makes an element right behind the end, if it isn't made yet or by a later
// place only.
func (in *content) slot(i int, k key) {
	j := sort.Search(len(in.appends), func(j int) bool { return in.appends[j].first >= i })
	for ; j < len(in.appends) && in.appends[j].first == i; j++ {
		if a := &in.appends[j]; a.form == slot {
			a.at = min(a.at, k)
			return
		}
	}
	in.append(appended{at: k, first: i, count: 1, form: slot})
}

func (in *content) append(a appended) {
	in.list, in.last = min(in.list, a.at), max(in.last, a.at)
	i := in.appendsBefore(a.at)
	in.appends = slices.Insert(in.appends, i, a)
}

func (in *content) touch(k key) {
	in.object, in.last = min(in.object, k), max(in.last, k)
	in.touches = append(in.touches, k)
}

// appendsBefore returns the number of appends with a key less than bound.
func (in *content) appendsBefore(bound key) int {
	if n := len(in.appends); n == 0 || in.appends[n-1].at < bound { // nearly always
		return n
	}
	i, _ := slices.BinarySearchFunc(in.appends, bound, func(a appended, k key) int { return cmp.Compare(a.at, k) })
	return i
}

// first returns the first key from since on of what made n be there.
func (n *node) first(since key) key {
	if n.min >= since {
		return n.min
	}
	f, in := never, n.under
	if c := n.covers.before(since); c != nil {
		in = c.value.in
	}
	if c := n.covers.from(since); c != nil {
		f = c.key
	}
	if in != nil && in.last >= since {
		f = min(f, in.first(since))
	}
	return f
}

// first leaves out the writes to elements: an element is there by its append.
func (in *content) first(since key) key {
	f := never
	for _, n := range in.members {
		f = min(f, n.first(since))
	}
	if i := in.appendsBefore(since); i < len(in.appends) {
		f = min(f, in.appends[i].at)
	}
	for _, k := range in.touches {
		if k >= since {
			f = min(f, k)
		}
	}
	return f
}
