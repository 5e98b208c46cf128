package compile

import (
	"slices"

	"github.com/plc-lang/plc/state"
)

// chunks allocates memory for the calls of a program. Each call has one or two values of several
// types, so many of them are allocated at once. Allocated values are never moved.
type chunks struct {
	text     []byte // JSON of templates
	segments []state.Segment
	exprs    []Expr
	writes   []Write
	outcomes []Alternative
	refs     []ref
	holes    []hole

	ref  []ref  // scratch: the references of the current call
	json []byte // scratch: the text of the current template
	hole []hole // scratch: its holes
}

// Each chunk has twice as many values as the one before it, within these bounds, so that small
// plans need little memory.
const (
	leastChunk = 16
	mostChunk  = 256
)

// room makes sure that n more values fit on a chunk. A new chunk has the size that the allocator
// rounds up to, of which make would waste up to an eighth.
func room[T any](chunk *[]T, n int) {
	if cap(*chunk)-len(*chunk) < n {
		*chunk = slices.Grow([]T(nil), max(n, min(max(2*cap(*chunk), leastChunk), mostChunk)))
	}
}

// one returns a new value on a chunk.
func one[T any](chunk *[]T) *T {
	room(chunk, 1)
	n := len(*chunk)
	*chunk = (*chunk)[:n+1]
	return &(*chunk)[n]
}

// push appends to a list. Most lists have only one value, which is on the chunk.
func push[T any](chunk *[]T, list []T, v T) []T {
	if cap(list) > 0 {
		return append(list, v)
	}
	room(chunk, 1)
	*chunk = append(*chunk, v)
	n := len(*chunk)
	return (*chunk)[n-1 : n : n]
}

// keep copies values to a chunk. It returns nil for an empty list.
func keep[T any](chunk *[]T, values []T) []T {
	if len(values) == 0 {
		return nil
	}
	room(chunk, len(values))
	start := len(*chunk)
	*chunk = append(*chunk, values...)
	return (*chunk)[start:len(*chunk):len(*chunk)]
}

// keepText copies text to a chunk.
func keepText(chunk *[]byte, text []byte) []byte {
	if cap(*chunk)-len(*chunk) < len(text) {
		*chunk = make([]byte, 0, max(len(text), min(2*cap(*chunk), 1<<15), 256))
	}
	start := len(*chunk)
	*chunk = append(*chunk, text...)
	return (*chunk)[start:len(*chunk):len(*chunk)]
}
