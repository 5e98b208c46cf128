package state

import (
	"cmp"
	"hash/maphash"
	"iter"
	"math"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"github.com/tidwall/gjson"
)

// Only this file works with JSON text. The text is valid, compact and without duplicate names, and
// it never changes. gjson walks over the children of one container at a time and never gets a path:
// its paths are a language of their own, and names come from users.

// shape is the type of a value.
type shape uint8

const (
	nothing shape = iota
	object
	list
	text
	number
	boolean
	null
)

func (s shape) String() string {
	return [...]string{"nothing", "an object", "a list", "a string", "a number", "a boolean", "null"}[s]
}

// shapeOf returns the shape of a value; nil is nothing.
func shapeOf(raw []byte) shape {
	if len(raw) == 0 {
		return nothing
	}
	switch raw[0] {
	case '{':
		return object
	case '[':
		return list
	case '"':
		return text
	case 't', 'f':
		return boolean
	case 'n':
		return null
	}
	return number
}

// parsed returns a container for gjson. It doesn't copy the bytes: they never change, and copying
// 100 MB to look at one member would be too slow.
func parsed(raw []byte) gjson.Result {
	return gjson.Parse(unsafe.String(unsafe.SliceData(raw), len(raw)))
}

// cut returns the text of a child, with its capacity limited so that no append writes into the
// parent.
func cut(raw []byte, child gjson.Result) []byte {
	end := child.Index + len(child.Raw)
	return raw[child.Index:end:end]
}

// member is a member of an object: its name, its name as spelled, and its value.
type member struct {
	name       string
	key, value []byte
}

// members returns the members of an object, in order.
func members(raw []byte) iter.Seq[member] {
	return func(yield func(member) bool) {
		parsed(raw).ForEach(func(k, v gjson.Result) bool {
			return yield(member{k.Str, cut(raw, k), cut(raw, v)})
		})
	}
}

// elements returns the elements of a list, in order.
func elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		parsed(raw).ForEach(func(_, v gjson.Result) bool { return yield(cut(raw, v)) })
	}
}

// tables find children of containers. They walk over small containers. A container of tableFrom
// bytes or more gets a table of its children on first use, so that later lookups are fast. The zero
// value is empty. Several goroutines may use it.
type tables struct {
	of sync.Map // address of the first byte of a container (a *byte) → *table
}

const tableFrom = 4 << 10

// table holds the positions of the children of a container: 12 bytes for a member, 4 for an
// element. The text is compact, so each child starts one byte after the end of the previous one.
type table struct {
	once sync.Once
	seed maphash.Seed
	rows []row    // of an object, by hash of the name
	ends []uint32 // of a list, in order
}

type row struct{ hash, key, end uint32 }

func tabled(raw []byte) bool { return len(raw) >= tableFrom && len(raw) <= math.MaxUint32 }

// table returns the table of a container. When it makes one, it adds the number of children to
// work.
func (t *tables) table(raw []byte, work *int) *table {
	id := unsafe.SliceData(raw)
	made, ok := t.of.Load(id)
	if !ok {
		made, _ = t.of.LoadOrStore(id, new(table))
	}
	tb := made.(*table)
	tb.once.Do(func() {
		tb.fill(raw)
		*work += len(tb.rows) + len(tb.ends)
	})
	return tb
}

func (t *table) fill(raw []byte) {
	at := uint32(1)
	if shapeOf(raw) == list {
		for e := range elements(raw) {
			at += uint32(len(e))
			t.ends = append(t.ends, at)
			at++
		}
		return
	}
	t.seed = maphash.MakeSeed()
	for m := range members(raw) {
		end := at + uint32(len(m.key)+1+len(m.value))
		t.rows = append(t.rows, row{t.hash(m.name), at, end})
		at = end + 1
	}
	slices.SortFunc(t.rows, func(a, b row) int { return cmp.Compare(a.hash, b.hash) })
}

func (t *table) hash(name string) uint32 { return uint32(maphash.String(t.seed, name)) }

// member returns the value of the member with a name, nil if the object has none.
func (t *tables) member(raw []byte, name string, work *int) []byte {
	if len(raw) <= len("{}") {
		return nil
	}
	return t.search(raw, name, work)
}

// search does the work of member for an object that is not empty. (It needs much stack, and would
// make the stack of a new goroutine grow.)
func (t *tables) search(raw []byte, name string, work *int) []byte {
	if tabled(raw) {
		return t.table(raw, work).member(raw, name, work)
	}
	for m := range members(raw) {
		*work++
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (t *table) member(raw []byte, name string, work *int) []byte {
	hash := t.hash(name)
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].hash >= hash })
	for ; i < len(t.rows) && t.rows[i].hash == hash; i++ {
		*work++
		r := t.rows[i]
		if key := parsed(raw[r.key:r.end]); key.Str == name {
			start := r.key + uint32(len(key.Raw)) + 1
			return raw[start:r.end:r.end]
		}
	}
	return nil
}

// element returns an element of a list, nil if there is none.
func (t *tables) element(raw []byte, i int, work *int) []byte {
	if tabled(raw) {
		*work++
		return t.table(raw, work).element(raw, i)
	}
	for e := range elements(raw) {
		*work++
		if i == 0 {
			return e
		}
		i--
	}
	return nil
}

func (t *table) element(raw []byte, i int) []byte {
	if i >= len(t.ends) {
		return nil
	}
	start, end := uint32(1), t.ends[i]
	if i > 0 {
		start = t.ends[i-1] + 1
	}
	return raw[start:end:end]
}

// count returns the length of a list.
func (t *tables) count(raw []byte, work *int) int {
	if tabled(raw) {
		return len(t.table(raw, work).ends)
	}
	n := 0
	for range elements(raw) {
		n++
	}
	*work += n
	return n
}
