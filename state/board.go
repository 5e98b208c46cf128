package state

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Method defines how a written value is combined with the present one (plan-language §6).
type Method uint8

// The methods.
const (
	Set    Method = iota
	Merge         // deep, RFC 7396 without deletion
	Assign        // shallow
	Push          // append one
	Concat        // append many
)

// String returns the method as a plan spells it.
func (m Method) String() string {
	return [...]string{"set", "merge", "assign", "push", "concat"}[m]
}

// Place is a position in plan order. The first call has place 1; place 0 is the initial whiteboard.
// A Place is never negative.
type Place int32

// maxSteps is the maximum number of steps in a written path. It exists because values are read by
// recursion.
const maxSteps = 1000

// End is the place after every call: a reader there sees all writes.
const End Place = math.MaxInt32

// Whiteboard is the log of writes of one run (plan-language §6). Make one with
// New. Its methods may be called by several goroutines. It keeps the values and paths that it is
// given and returns slices of them, so nobody may change either.
type Whiteboard struct {
	raws tables
	work atomic.Int64 // number of things that reads and writes looked at; tests assert its growth

	// The set of kinds doesn't change after New.
	input, state, data *kind
	others             map[string]*kind // nil if there are none

	mu  sync.RWMutex // guards log and the contents of the kinds
	log writeLog
}

// kind holds the writes of one kind as a trie, and its initial value.
type kind struct {
	initial []byte
	root    *node
	leftOut bool // a logged write can't be applied any more; a later write may change that
}

// record is a write that was applied, or is about to be.
type record struct {
	Entry
	key key // its place, and its number in the log
}

// New makes a whiteboard from one JSON object per kind. "input", "state" and "data" always exist,
// as {} if they aren't given. The values must be valid JSON objects. Its cost is linear in the size
// of the values.
func New(initial map[string]json.RawMessage) (*Whiteboard, error) {
	w := new(Whiteboard)
	if err := w.begin(initial); err != nil {
		return nil, err
	}
	for _, name := range usual {
		if w.kind(name) == nil {
			w.set(name, []byte("{}"))
		}
	}
	return w, nil
}

// Fork makes a whiteboard with the initial values of w, except that the given kinds replace w's. It
// shares the text of w's initial values, and none of w's writes. Its cost is linear in the size of
// the given values.
func (w *Whiteboard) Fork(initial map[string]json.RawMessage) (*Whiteboard, error) {
	f := new(Whiteboard)
	if err := f.begin(initial); err != nil {
		return f, err
	}
	for name, k := range w.all() {
		if f.kind(name) == nil {
			f.set(name, k.initial)
		}
	}
	return f, nil
}

// begin sets the initial values of kinds.
func (w *Whiteboard) begin(initial map[string]json.RawMessage) error {
	for name, value := range initial {
		raw := jsonscan.Compacted(value)
		if have := shapeOf(raw); have != object {
			return fmt.Errorf("†%s is %s; a kind as a whole is always an object", name, have)
		}
		w.set(name, raw)
	}
	return nil
}

// usual lists the kinds that always exist, in order of their names.
var usual = [...]string{"data", "input", "state"}

// kind returns the kind with a name, nil if there is none. Most lookups are for the usual kinds,
// and comparing their names is faster than hashing.
func (w *Whiteboard) kind(name string) *kind {
	switch name {
	case "state":
		return w.state
	case "data":
		return w.data
	case "input":
		return w.input
	}
	return w.others[name]
}

// set makes a kind with an initial value.
func (w *Whiteboard) set(name string, initial []byte) {
	k := newKind(initial)
	switch name {
	case "state":
		w.state = k
	case "data":
		w.data = k
	case "input":
		w.input = k
	default:
		if w.others == nil {
			w.others = make(map[string]*kind)
		}
		w.others[name] = k
	}
}

// all returns the kinds, in no particular order.
func (w *Whiteboard) all() iter.Seq2[string, *kind] {
	return func(yield func(string, *kind) bool) {
		for _, name := range usual {
			if !yield(name, w.kind(name)) {
				return
			}
		}
		for name, k := range w.others {
			if !yield(name, k) {
				return
			}
		}
	}
}

func newKind(initial []byte) *kind {
	made := &struct { // in one allocation: short runs make few others
		kind
		root  node
		cover item[cover]
	}{kind: kind{initial: initial}}
	made.kind.begin(&made.root, &made.cover)
	return &made.kind
}

// begin resets a kind to its state before all writes, with the given node and item.
func (k *kind) begin(root *node, first *item[cover]) {
	root.min = never
	root.cover(first, 0, k.initial, true)
	k.root, k.leftOut = root, false
}

// Write applies a write of the call at this place (plan-language §4 and §6).
// Writes to conflicting paths (Path.Conflicts) must come in the order of their places. Other writes
// may come in any order, and so may a set of a path with only one name below the kind. A write that
// can't be applied changes nothing and returns an *Error. The value must be valid JSON. The cost is
// linear in the size of the value and the path. The exception is a set that comes later than writes
// that build on it: then all writes to the kind are applied again.
func (w *Whiteboard) Write(at Place, path Path, method Method, value json.RawMessage) error {
	raw := jsonscan.Compacted(value)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write(at, path, method, raw)
}

// write applies and logs a write. The lock is held.
func (w *Whiteboard) write(at Place, path Path, method Method, raw []byte) error {
	k, err := w.writable(path)
	if err != nil {
		err.Method = method
		return err
	}
	r := w.log.next(Entry{at, path, method, raw})
	late, err := w.land(k, &r)
	if err != nil {
		return err
	}
	w.log.append(r.Entry)
	if late || k.leftOut {
		w.again(k)
	}
	return nil
}

// writable returns the kind of a path, or an error if the path may not be written.
func (w *Whiteboard) writable(path Path) (*kind, *Error) {
	if len(path) == 0 {
		return nil, &Error{Have: nothing.String(), Reason: "a path must start with a kind"}
	}
	if path[0].Name == "input" {
		return nil, &Error{Path: path[:1], Have: object.String(), Reason: "the input is read-only"}
	}
	if len(path) > maxSteps {
		return nil, tooLong(len(path)).at(path[:1])
	}
	k := w.kind(path[0].Name)
	if k == nil {
		return nil, &Error{Path: path[:1], Have: nothing.String(), Reason: "there is no such kind; only a data message makes one"}
	}
	return k, nil
}

func (w *Whiteboard) land(k *kind, r *record) (late bool, err *Error) {
	v := view{bound: r.key, raws: &w.raws}
	late, err = v.land(k.root, r)
	w.work.Add(int64(v.work))
	return late, err
}

// again rebuilds the trie of a kind from the log, without the writes that can't be applied any
// more.
func (w *Whiteboard) again(k *kind) {
	k.begin(new(node), nil)
	for _, r := range w.inOrder() {
		if w.kind(r.Path[0].Name) == k {
			_, err := w.land(k, &r)
			k.leftOut = k.leftOut || err != nil
		}
	}
}

// inOrder returns the log in order of places, and the writes of one place in order of arrival.
func (w *Whiteboard) inOrder() []record {
	return slices.SortedFunc(w.log.all(), func(a, b record) int { return cmp.Compare(a.key, b.key) })
}

// Read returns the value at path that results from the writes at places in [since, before)
// (plan-language §5 and §6), on top of the initial whiteboard only if since is 0. It reports false
// if there is no value.
//
// With since above 0 the reader sees only later writes: the members of an object that were written
// since then, the elements of a list that were appended since then, and, by its index, any element
// that was written since then.
//
// The result is compact, with numbers and strings as they were written. Members keep the order of
// the value that was set; new ones follow in order of place. The result may share memory with the
// whiteboard and must not be changed. The cost is linear in the size of the result and the number
// of writes in it; the first look into a large value costs the size of that value once.
func (w *Whiteboard) Read(path Path, since, before Place) (json.RawMessage, bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if since >= before || len(path) == 0 {
		return nil, false
	}
	k := w.kind(path[0].Name)
	if k == nil {
		return nil, false
	}
	v := view{since: keyOf(since, 0), bound: keyOf(before, 0), raws: &w.raws}
	raw, ok := v.value(spot{n: k.root}, path[1:])
	w.work.Add(int64(v.work + len(raw)/bytesPerStep))
	if !ok {
		return nil, false
	}
	return raw, true
}

// Held reports whether the initial whiteboard has a value at path.
func (w *Whiteboard) Held(path Path) bool {
	_, ok := w.Read(path, 0, 1)
	return ok
}

// Snapshot returns the current value of a whole kind; false if there is no such kind. Its cost is
// linear in the size of the kind.
func (w *Whiteboard) Snapshot(kind string) (json.RawMessage, bool) {
	return w.Read(Path{{Name: kind}}, 0, End)
}

// Kinds returns the kinds that exist, in order of their names.
func (w *Whiteboard) Kinds() []string {
	names := append(make([]string, 0, len(usual)+len(w.others)), usual[:]...)
	for name := range w.others {
		names = append(names, name)
	}
	if len(w.others) > 0 {
		slices.Sort(names)
	}
	return names
}

// Entry is a write in the log.
type Entry struct {
	Place  Place
	Path   Path
	Method Method
	Value  json.RawMessage // compact
}

// Log returns the writes in order of their places, and the writes of one place in order of arrival.
// Writes that come meanwhile are not included. It takes n log n time.
func (w *Whiteboard) Log() iter.Seq[Entry] {
	return func(yield func(Entry) bool) {
		w.mu.RLock()
		log := w.inOrder()
		w.mu.RUnlock()
		for _, r := range log {
			if !yield(r.Entry) {
				return
			}
		}
	}
}
