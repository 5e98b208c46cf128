package compile

// pages is a list that grows without being moved: what is in it stays in its place, and next to
// nothing is left over. The zero list is empty.
type pages[T any] struct {
	pages [][]T // all but the last are full
	n     int
}

// A page is so large that the allocator gives it as it is.
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

// at returns the ith value. It stays good, but for those of the first page, until it is full.
func (p *pages[T]) at(i int32) *T { return &p.pages[i>>pageBits][i&(pageSize-1)] }
