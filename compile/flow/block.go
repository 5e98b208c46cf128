package flow

// memory hands out the values of an analysis.
type memory struct {
	marks block[mark]
	vals  block[val]
	parts block[part]
	steps block[step]
	given block[param]
	reads block[seen]
}

// A block hands out values of one type from memory that is made for many at once. What it hands
// out is never given back.
type block[T any] struct {
	free []T
	made int // how many were made the last time
}

// The number of values that a block makes memory for at once. Small plans need few.
const (
	minBlock = 16
	maxBlock = 512
)

// next returns a pointer to a zero value.
func (b *block[T]) next() *T { return &b.list(1)[0] }

// list returns a list of n zero values; nil for none.
func (b *block[T]) list(n int) []T {
	if n == 0 {
		return nil
	}
	if len(b.free) < n {
		b.made = min(max(2*b.made, minBlock), maxBlock)
		b.free = make([]T, max(n, b.made))
	}
	all := b.free[:n:n]
	b.free = b.free[n:]
	return all
}
