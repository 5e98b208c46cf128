package label

import (
	"fmt"
	"slices"
	"strings"
)

// A Level is an element of an Order.
type Level int

// MaxLevels is the maximum number of levels of an Order.
const MaxLevels = 64

// An Order is a finite lattice of named levels: of any two levels there is one that is the lowest
// above both, and one that is the highest below both. It is immutable.
type Order struct {
	names       []string
	covers      [][2]Level // as declared: the first is directly below the second
	below       [][]bool   // below[a][b]: a is b or below b
	join, meet  [][]Level
	bottom, top Level
}

// NewOrder returns an order of levels, each below the next. It panics if a name is there twice.
func NewOrder(names ...string) *Order {
	o, err := new(Order).Extend(names)
	if err != nil {
		panic(err)
	}
	return o
}

// An OrderError says why levels do not form a lattice.
type OrderError struct {
	Levels  []string // the levels concerned
	Message string
}

func (e *OrderError) Error() string { return e.Message }

// Extend returns the order with more levels and relations. Each chain lists names of levels, from
// the lowest. Levels that are there already keep their numbers. The error is an *OrderError.
func (o *Order) Extend(chains ...[]string) (*Order, error) {
	x := &Order{names: slices.Clone(o.names), covers: slices.Clone(o.covers)}
	for _, chain := range chains {
		last := Level(-1)
		for _, name := range chain {
			l, ok := x.Level(name)
			if !ok {
				l = Level(len(x.names))
				x.names = append(x.names, name)
			}
			if last >= 0 && !slices.Contains(x.covers, [2]Level{last, l}) {
				x.covers = append(x.covers, [2]Level{last, l})
			}
			last = l
		}
	}
	if len(x.names) > MaxLevels {
		return nil, &OrderError{x.names[:1], fmt.Sprintf("there are %d levels, more than %d", len(x.names), MaxLevels)}
	}
	if err := x.close(); err != nil {
		return nil, err
	}
	return x, x.bounds()
}

// close finds which levels are below which others. It costs n³ for n levels.
func (o *Order) close() error {
	n := len(o.names)
	o.below = square[bool](n)
	for i := range n {
		o.below[i][i] = true
	}
	for _, c := range o.covers {
		if c[0] == c[1] {
			return &OrderError{[]string{o.names[c[0]]}, fmt.Sprintf("%q is below itself", o.names[c[0]])}
		}
		o.below[c[0]][c[1]] = true
	}
	for k := range n {
		for i := range n {
			if !o.below[i][k] {
				continue
			}
			for j := range n {
				o.below[i][j] = o.below[i][j] || o.below[k][j]
			}
		}
	}
	for i := range n {
		for j := range i {
			if o.below[i][j] && o.below[j][i] {
				return o.circle(Level(j), Level(i))
			}
		}
	}
	return nil
}

// circle returns the error for two levels that are each below the other.
func (o *Order) circle(a, b Level) error {
	way := append(o.way(a, b), o.way(b, a)[1:]...)
	names := make([]string, len(way))
	for i, l := range way {
		names[i] = o.names[l]
	}
	return &OrderError{names, fmt.Sprintf("the levels form a cycle: %s", strings.Join(names, " < "))}
}

// way returns a shortest path upwards from one level to another.
func (o *Order) way(from, to Level) []Level {
	before := map[Level]Level{from: -1}
	for todo := []Level{from}; len(todo) > 0; todo = todo[1:] {
		for _, c := range o.covers {
			if _, seen := before[c[1]]; c[0] == todo[0] && !seen {
				before[c[1]] = c[0]
				todo = append(todo, c[1])
			}
		}
	}
	way := []Level{to}
	for l := before[to]; l >= 0; l = before[l] {
		way = append(way, l)
	}
	slices.Reverse(way)
	return way
}

// bounds finds the bounds of all pairs. It takes n³ comparisons for n levels.
func (o *Order) bounds() error {
	n := len(o.names)
	o.join, o.meet = square[Level](n), square[Level](n)
	above, below := make([]int, n), make([]int, n) // the numbers of levels above and below each
	for i := range n {
		for j := range n {
			if o.below[i][j] {
				above[i]++
				below[j]++
			}
		}
	}
	for i := range n {
		for j := range n {
			up, ok := o.bound(above, func(l int) bool { return o.below[i][l] && o.below[j][l] })
			if !ok {
				return o.unbounded(Level(i), Level(j), "lowest level above both")
			}
			down, ok := o.bound(below, func(l int) bool { return o.below[l][i] && o.below[l][j] })
			if !ok {
				return o.unbounded(Level(i), Level(j), "highest level below both")
			}
			o.join[i][j], o.meet[i][j] = up, down
		}
	}
	for l := range o.names {
		o.top, o.bottom = o.join[o.top][l], o.meet[o.bottom][l]
	}
	return nil
}

func (o *Order) unbounded(a, b Level, what string) error {
	names := []string{o.names[a], o.names[b]}
	return &OrderError{names, fmt.Sprintf("%q and %q have no %s; declare which levels are above and below each", names[0], names[1], what)}
}

// bound returns the one level of a set that all levels of the set are beyond, if there is one. It
// is the level with as many levels beyond it as the set has.
func (o *Order) bound(beyond []int, among func(l int) bool) (Level, bool) {
	count := 0
	for l := range o.names {
		if among(l) {
			count++
		}
	}
	for l := range o.names {
		if among(l) && beyond[l] == count {
			return Level(l), true
		}
	}
	return 0, false
}

func square[T any](n int) [][]T {
	all := make([][]T, n)
	for i := range all {
		all[i] = make([]T, n)
	}
	return all
}

// Names returns the names of the levels, by number.
func (o *Order) Names() []string { return o.names }

// Name returns the name of a level.
func (o *Order) Name(l Level) string { return o.names[l] }

// Level returns the level of this name.
func (o *Order) Level(name string) (Level, bool) {
	i := slices.Index(o.names, name)
	return Level(i), i >= 0
}

// AtMost reports whether a level is another one or below it.
func (o *Order) AtMost(a, b Level) bool { return o.below[a][b] }

// Join returns the lowest level above two.
func (o *Order) Join(a, b Level) Level { return o.join[a][b] }

// Meet returns the highest level below two.
func (o *Order) Meet(a, b Level) Level { return o.meet[a][b] }

// Bottom returns the lowest level.
func (o *Order) Bottom() Level { return o.bottom }

// Top returns the highest level.
func (o *Order) Top() Level { return o.top }
