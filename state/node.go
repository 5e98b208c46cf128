package state

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// How the log is stored.
//
// Each write is entered once, on arrival, into a trie of path segments. It lands as one of three
// things: a cover (it replaces the whole value of a node), an append to a list, or a touch (there
// is an object here, even if it is empty). set is a cover; merge and assign are one cover for each
// member that they replace, or a single cover if there was no object; push and concat are an
// append.
//
// A node keeps its covers in order of their keys, which is the order of their places in the plan.
// Writes below a node are kept with the cover that was in force. A reader finds the latest cover
// first, so the writes under earlier covers are hidden and cost nothing:
//
//	node ─┬─ under:        content      on the value inherited from above
//	      ├─ cover @ 3 …   content      on the value of place 3
//	      └─ cover @ 8 …   content      on the value of place 8
//
//	content: members and elements (nodes), and appends in order
//
// A reader walks down from the root. At each node it takes the last cover before its own place, and
// at the end it joins that value with the content on it. Values are slices of the JSON text that
// was written; a child that nobody wrote to is found in the text of its parent. So a document is
// stored only once, whatever its size. A node takes about 210 bytes, so a merge of many small
// members into an object takes that much for each. Each further value of a node takes about 120
// bytes, including its entry in the log.

// key orders writes: the place in its high half, the order of arrival in its low half.
type key uint64

const never key = math.MaxUint64

func keyOf(p Place, arrival uint32) key { return key(max(p, 0))<<32 | key(arrival) }

// node is a place on the whiteboard at or below which something was written.
type node struct {
	covers    tree[cover]
	under     *content // writes before the first cover
	min, last key      // of the writes here or below
}

// cover is a value that replaces the whole earlier value of a node.
type cover struct {
	raw []byte
	in  *content // writes on it; nil if there are none
}

// content holds the writes below a value.
type content struct {
	members  map[string]*node
	fresh    tree[named] // the members by their first write; an item is stale if its key isn't the node's min
	elements map[int]*node
	appends  []appended // in order of their keys, which is also that of their elements
	touches  []key
	object   key // the first write that needs an object here
	list     key // the first write that needs a list here
	last     key
}

type named struct {
	name string
	n    *node
}

// appended is a run of elements added at the end of a list.
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
	slot                   // an element made by a write to its index
)

func newNode() *node { return &node{min: never} }

func (n *node) mark(k key) {
	n.min = min(n.min, k)
	n.last = max(n.last, k)
}

// on returns the content to which a write at k belongs.
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

// cover adds a cover, in the given item if there is one. It reports whether it came too late: a
// write of a later place already landed on the value that it replaces, or depends on it.
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

// member returns the node of a member for a write at k: the existing one, or a new one. A new node
// for a value comes with an item for that value.
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

// make allocates the node of a member together with all that belongs to it: there are many of
// these.
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

// element returns the node of an element for a write at k, and makes it if necessary.
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

// slot makes an element right after the end, unless an earlier place already made it.
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

// first returns the first key, from since on, of a write because of which n exists.
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

// first ignores writes to elements: an element exists because of its append.
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
