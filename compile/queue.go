package compile

import "slices"

// queues holds many lists of numbers, most of which are empty or short. Its zero value is ready to
// use. It is for one goroutine.
type queues struct {
	cells pages[cell]
	free  queue
	taken []int32
}

// queue is a list in queues: the index of its last cell, plus 1; 0 is empty.
type queue int32

// cell is a number of a list, with a link to the one before it.
type cell struct {
	n      int32
	before queue
}

// push appends a number.
func (q *queues) push(l *queue, n int32) {
	if q.free == 0 {
		q.cells.add(cell{n, *l})
		*l = queue(q.cells.n)
		return
	}
	own := q.free
	c := q.cells.at(int32(own - 1))
	q.free = c.before
	*c = cell{n, *l}
	*l = own
}

// take empties a list and returns its numbers in order. The slice is valid until the next list is
// emptied.
func (q *queues) take(l *queue) []int32 {
	q.taken = q.taken[:0]
	for *l != 0 {
		own := *l
		c := q.cells.at(int32(own - 1))
		q.taken = append(q.taken, c.n)
		*l, c.before, q.free = c.before, q.free, own
	}
	slices.Reverse(q.taken)
	return q.taken
}
