package state

import (
	"encoding/json"
	"iter"
)

// writeLog holds writes in order of arrival. It grows by blocks and never copies what it holds.
type writeLog struct {
	blocks [][]logged
	len    int
}

// logged is an entry without padding: with many small writes, entries take most of the memory.
type logged struct {
	path   Path
	value  json.RawMessage
	place  Place
	method Method
}

func (l *logged) entry() Entry { return Entry{l.place, l.path, l.method, l.value} }

// next returns the record that e would have as the next write. It doesn't append it.
func (l *writeLog) next(e Entry) record { return numbered(e, l.len+1) }

// numbered returns the n-th write of a log, from 1.
func numbered(e Entry, n int) record { return record{e, keyOf(e.Place, uint32(n))} }

// The sizes of blocks.
const (
	leastBlock = 2
	mostBlock  = 512
)

func (l *writeLog) append(e Entry) {
	last := len(l.blocks) - 1
	if last < 0 || len(l.blocks[last]) == cap(l.blocks[last]) {
		l.blocks = append(l.blocks, make([]logged, 0, min(max(l.len, leastBlock), mostBlock)))
		last++
	}
	l.blocks[last] = append(l.blocks[last], logged{e.Path, e.Value, e.Place, e.Method})
	l.len++
}

// all returns the writes in order of arrival.
func (l *writeLog) all() iter.Seq[record] {
	return func(yield func(record) bool) {
		n := 0
		for _, b := range l.blocks {
			for i := range b {
				if n++; !yield(numbered(b[i].entry(), n)) {
					return
				}
			}
		}
	}
}

// drop removes the last write and returns it.
func (l *writeLog) drop() Entry {
	last := len(l.blocks) - 1
	b := l.blocks[last]
	e := b[len(b)-1].entry()
	b[len(b)-1] = logged{}
	if l.blocks[last] = b[:len(b)-1]; len(b) == 1 {
		l.blocks[last] = nil
		l.blocks = l.blocks[:last]
	}
	l.len--
	return e
}
