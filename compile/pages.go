package compile

// pages is a list that grows without moving its elements and with little unused memory. The zero
// list is empty.
type pages[T any] struct {
	pages [][]T // all but the last are full
	n     int
}

// The size of a page is one that the allocator does not round up.
const (
	pageBits = 9
	pageSize = 1 << pageBits
)

// add appends a value.
func (p *pages[T]) add(v T) {
	switch last := len(p.pages) - 1; {
	case last < 0:
		p.pages = append(p.pages, []T{v})
	case len(p.pages[last]) < pageSize:
		p.pages[last] = append(p.pages[last], v)
	default:
		p.pages = append(p.pages, append(make([]T, 0, pageSize), v))
	}
	p.n++
}

// at returns a pointer to the ith value. It stays valid; for values of the first page, only until
// that is full.
func (p *pages[T]) at(i int32) *T { return &p.pages[i>>pageBits][i&(pageSize-1)] }
