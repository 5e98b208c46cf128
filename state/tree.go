package state

import "math/rand/v2"

// tree holds items in order of their keys, and items with the same key in order of arrival. It is a
// treap: places come in any order, and an insert costs the logarithm of the size wherever it lands.
// The zero value is empty.
type tree[T any] struct{ root *item[T] }

type item[T any] struct {
	key         key
	left, right *item[T]
	value       T
	priority    uint32 // the heap order, which keeps it flat
	firm        bool   // of a cover, kept here to save memory: it replaces whatever was there, unlike a merge that found no object
}

// insert adds an item after those with the same key.
func (t *tree[T]) insert(k key, value T) { t.add(new(item[T]), k, value) }

// add inserts a value in the given item. The item goes above the first item of lower priority on
// the way to its place, and the subtree there is split between its two sides.
func (t *tree[T]) add(it *item[T], k key, value T) {
	it.key, it.priority, it.value = k, rand.Uint32(), value
	at := &t.root
	for *at != nil && (*at).priority >= it.priority {
		if k < (*at).key {
			at = &(*at).left
		} else {
			at = &(*at).right
		}
	}
	below := *at
	*at = it
	left, right := &it.left, &it.right
	for below != nil {
		if k < below.key {
			*right, right, below = below, &below.left, below.left
		} else {
			*left, left, below = below, &below.right, below.right
		}
	}
	*left, *right = nil, nil
}

// before returns the last item with a key less than bound, nil if there is none.
func (t *tree[T]) before(bound key) *item[T] {
	var found *item[T]
	for n := t.root; n != nil; {
		if n.key < bound {
			found, n = n, n.right
		} else {
			n = n.left
		}
	}
	return found
}

// from returns the first item with a key of at least bound, nil if there is none.
func (t *tree[T]) from(bound key) *item[T] {
	var found *item[T]
	for n := t.root; n != nil; {
		if n.key >= bound {
			found, n = n, n.left
		} else {
			n = n.right
		}
	}
	return found
}

// ascend calls f for the items with a key less than bound, in order.
func (n *item[T]) ascend(bound key, f func(*item[T])) {
	for n != nil {
		n.left.ascend(bound, f)
		if n.key >= bound {
			return
		}
		f(n)
		n = n.right
	}
}
