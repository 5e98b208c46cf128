package exec

// inOrder is implemented by types with an order.
type inOrder[T any] interface{ before(T) bool }

// heap is a binary heap whose first item in order is on top. (That of the standard library
// allocates for each item that goes in or out.)
type heap[T inOrder[T]] []T

func (h *heap[T]) push(e T) {
	*h = append(*h, e)
	a := *h
	i := len(a) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(a[up]) {
			break
		}
		a[i] = a[up]
		i = up
	}
	a[i] = e
}

func (h *heap[T]) pop() T {
	var none T
	a := *h
	first, last := a[0], a[len(a)-1]
	a[len(a)-1] = none
	a = a[:len(a)-1]
	*h = a
	if len(a) > 0 {
		a[0] = last
		a.sink(0)
	}
	return first
}

// sink moves an item down to its place.
func (h heap[T]) sink(i int) {
	e := h[i]
	for {
		next := 2*i + 1
		if next >= len(h) {
			break
		}
		if right := next + 1; right < len(h) && h[right].before(h[next]) {
			next = right
		}
		if !h[next].before(e) {
			break
		}
		h[i] = h[next]
		i = next
	}
	h[i] = e
}

// order makes a heap of items in any order.
func (h heap[T]) order() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i)
	}
}
