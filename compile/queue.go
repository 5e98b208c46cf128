package compile

import "slices"

// queues is the memory of many lists of numbers, most of which are empty or short. The zero
// queues are ready. They are for one goroutine.
type queues struct {
	cells pages[cell]
	free  queue
	taken []int32
}

// queue is a list in queues: its last cell, and 1; 0 is empty.
type queue int32

// cell is a number of a list, and those before it.
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

// take empties a list. What was in it is given in order, and is good until the next list is
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
