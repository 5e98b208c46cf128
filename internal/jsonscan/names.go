package jsonscan

import (
	"bytes"
	"hash/maphash"
)

// fewNames is the number of names above which an object gets a hash table. Up to it, each new name
// is compared with all earlier ones.
const fewNames = 16

// Names finds names that appear twice in one object. It compares decoded names: "a" and "\u0061"
// are the same. Any number of objects may be open within one another. The zero value is ready to
// use. Time and memory are linear in the size of the names of the open objects. Hashes are seeded,
// so that nobody can write a text whose names collide.
type Names struct {
	small  [32]name // the first ones, to save an allocation
	more   []name   // those after them
	n      int
	base   int     // the first name of the innermost open object
	tables []table // of open objects with more than fewNames names, innermost last
	seed   maphash.Seed
	seeded bool
}

type name struct {
	start, end int32 // without its quotes
	escaped    bool
}

// table finds the names of one object by hash. It uses open addressing and is at most half full.
type table struct {
	base  int
	slots []slot
}

type slot struct {
	hash uint32
	name int32 // 1 + its index; 0 is free
}

// Open begins an object. Pass its result to Close at the end of that object.
func (s *Names) Open() (outer int32) {
	outer, s.base = int32(s.base), s.n
	return outer
}

// Close ends the innermost object.
func (s *Names) Close(outer int32) {
	if t := s.table(); t != nil {
		s.tables = s.tables[:len(s.tables)-1]
	}
	s.n, s.base = s.base, int(outer)
}

// Add adds the name text[start:end], without its quotes, to the innermost object. If the object
// already has that name, Add returns its first position. escaped is whether the name may have
// escapes.
func (s *Names) Add(text []byte, start, end int, escaped bool) (firstStart, firstEnd int, twice bool) {
	n := name{int32(start), int32(end), escaped}
	old := s.add(text, n)
	if old == nil {
		return 0, 0, false
	}
	return int(old.start), int(old.end), true
}

// add returns the earlier name that equals n, nil if there is none.
func (s *Names) add(text []byte, n name) (first *name) {
	if s.n-s.base >= fewNames {
		return s.addHashed(text, n)
	}
	for i := s.base; i < s.n; i++ {
		if old := s.at(i); same(text, old, &n) {
			return old
		}
	}
	s.push(n)
	return nil
}

func (s *Names) at(i int) *name {
	if i < len(s.small) {
		return &s.small[i]
	}
	return &s.more[i-len(s.small)]
}

func (s *Names) push(n name) {
	if s.n < len(s.small) {
		s.small[s.n] = n
	} else {
		s.more = append(s.more[:s.n-len(s.small)], n)
	}
	s.n++
}

func same(text []byte, a, b *name) bool {
	if !a.escaped && !b.escaped {
		return bytes.Equal(text[a.start:a.end], text[b.start:b.end])
	}
	return bytes.Equal(a.decoded(text), b.decoded(text))
}

// decoded returns the name with its escapes decoded.
func (n *name) decoded(text []byte) []byte {
	if !n.escaped {
		return text[n.start:n.end]
	}
	return AppendString(nil, text[n.start:n.end])
}

// table returns the table of the innermost object, nil if it has none. The last table may belong to
// an outer object; then it was made for a lower base.
func (s *Names) table() *table {
	if k := len(s.tables); k > 0 && s.tables[k-1].base == s.base {
		return &s.tables[k-1]
	}
	return nil
}

func (s *Names) addHashed(text []byte, n name) (first *name) {
	t := s.table()
	if t == nil || 2*(s.n-s.base) >= len(t.slots) {
		t = s.grow(text, t)
	}
	hash := s.hash(text, &n)
	for i := int(hash) & (len(t.slots) - 1); ; i = (i + 1) & (len(t.slots) - 1) {
		switch sl := &t.slots[i]; {
		case sl.name == 0:
			s.push(n)
			*sl = slot{hash, int32(s.n)}
			return nil
		case sl.hash == hash:
			if old := s.at(int(sl.name) - 1); same(text, old, &n) {
				return old
			}
		}
	}
}

func (s *Names) hash(text []byte, n *name) uint32 {
	return uint32(maphash.Bytes(s.seed, n.decoded(text)))
}

// grow gives the innermost object a table twice as large, or its first one.
func (s *Names) grow(text []byte, t *table) *table {
	if !s.seeded {
		s.seed, s.seeded = maphash.MakeSeed(), true
	}
	if t != nil {
		old := t.slots
		t.slots = make([]slot, 2*len(old))
		for _, sl := range old {
			if sl.name != 0 {
				t.put(sl)
			}
		}
		return t
	}
	t = s.pushTable()
	for i := s.base; i < s.n; i++ {
		t.put(slot{s.hash(text, s.at(i)), int32(i + 1)})
	}
	return t
}

// pushTable adds a small table, and reuses the memory of an earlier one if possible.
func (s *Names) pushTable() *table {
	const size = 4 * fewNames
	if k := len(s.tables); k < cap(s.tables) {
		s.tables = s.tables[:k+1]
	} else {
		s.tables = append(s.tables, table{})
	}
	t := &s.tables[len(s.tables)-1]
	t.base = s.base
	if cap(t.slots) < size {
		t.slots = make([]slot, size)
	}
	t.slots = t.slots[:size]
	clear(t.slots)
	return t
}

// put adds a name that is not there yet.
func (t *table) put(sl slot) {
	i := int(sl.hash) & (len(t.slots) - 1)
	for t.slots[i].name != 0 {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = sl
}
