package state

import "iter"

// writeLog holds writes in the order in which they came. It grows by blocks and never copies
// what it holds.
type writeLog struct {
	blocks [][]record
	len    int
}

// The sizes of blocks.
const (
	leastBlock = 2
	mostBlock  = 512
)

func (l *writeLog) append(r record) {
	last := len(l.blocks) - 1
	if last < 0 || len(l.blocks[last]) == cap(l.blocks[last]) {
		l.blocks = append(l.blocks, make([]record, 0, min(max(l.len, leastBlock), mostBlock)))
		last++
	}
	l.blocks[last] = append(l.blocks[last], r)
	l.len++
}

// all are the writes.
func (l *writeLog) all() iter.Seq[record] {
	return func(yield func(record) bool) {
		for _, b := range l.blocks {
			for i := range b {
				if !yield(b[i]) {
					return
				}
			}
		}
	}
}

// drop takes the last write off and returns it.
func (l *writeLog) drop() record {
	last := len(l.blocks) - 1
	b := l.blocks[last]
	r := b[len(b)-1]
	b[len(b)-1] = record{}
	if l.blocks[last] = b[:len(b)-1]; len(b) == 1 {
		l.blocks[last] = nil
		l.blocks = l.blocks[:last]
	}
	l.len--
	return r
}
