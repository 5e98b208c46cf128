package dag

import "slices"

// answers is what a graph's questions should be answered with, found by trying
// everything.
type answers struct {
	acyclic   bool
	order     []int32
	levels    []int32
	loopStart int32
	loopLen   int
	pairs     [][2]int32
	reduced   [][2]int32
	below     []float64
	path      []int32
	total     float64
}

// testWeight gives equal weights to some nodes, and none to some.
func testWeight(n int32) float64 { return float64(n * 7 % 3) }

type matrix [][]bool

func solve(d drawn) *answers {
	kinds := []rune(d.nodes)
	n := int32(len(kinds))
	virtual := func(i int32) bool { return kinds[i] == '◦' }
	edges := newMatrix(n)
	for _, e := range d.edges {
		edges[e.from][e.to] = true
	}
	reach := closure(edges, func(int32) bool { return true })
	direct := closure(edges, virtual)

	w := &answers{acyclic: true, loopStart: -1}
	ordered := make([]bool, n)
	for i := range n {
		ordered[i] = !reach[i][i]
		w.acyclic = w.acyclic && ordered[i]
	}
	for i := range n {
		for j := range n {
			ordered[j] = ordered[j] && !(reach[i][i] && reach[i][j])
		}
	}
	w.solveLoop(n, virtual, direct)
	w.solveOrder(n, virtual, ordered, reach)
	w.solvePairs(n, virtual, ordered, direct, reach)
	w.solvePaths(n, virtual, ordered, edges)
	return w
}

func newMatrix(n int32) matrix {
	m := make(matrix, n)
	for i := range m {
		m[i] = make([]bool, n)
	}
	return m
}

// closure returns the pairs with a path whose inner nodes may be passed.
func closure(edges matrix, pass func(int32) bool) matrix {
	m := newMatrix(int32(len(edges)))
	for i := range edges {
		copy(m[i], edges[i])
	}
	for k := range m {
		for i := range m {
			for j := range m {
				m[i][j] = m[i][j] || pass(int32(k)) && m[i][k] && m[k][j]
			}
		}
	}
	return m
}

// holds reports whether a loop is one.
func (w *answers) holds(loop []int32) bool {
	for i, from := range loop {
		if !slices.Contains(w.pairs, [2]int32{from, loop[(i+1)%len(loop)]}) {
			return false
		}
	}
	return true
}

func (w *answers) solveLoop(n int32, virtual func(int32) bool, direct matrix) {
	for start := range n {
		if virtual(start) {
			continue
		}
		at := map[int32]bool{start: true}
		for length := 1; length <= int(n); length++ {
			next := map[int32]bool{}
			for i := range at {
				for j := range n {
					if direct[i][j] && !virtual(j) {
						next[j] = true
					}
				}
			}
			if next[start] {
				w.loopStart, w.loopLen = start, length
				return
			}
			at = next
		}
	}
}

func (w *answers) solveOrder(n int32, virtual func(int32) bool, ordered []bool, reach matrix) {
	done := make([]bool, n)
	for {
		next := int32(-1)
		for i := n - 1; i >= 0; i-- {
			ready := ordered[i] && !done[i] && !virtual(i)
			for p := range n {
				ready = ready && (!reach[p][i] || done[p] || virtual(p))
			}
			if ready {
				next = i
			}
		}
		if next < 0 {
			return
		}
		done[next] = true
		w.order = append(w.order, next)
	}
}

func (w *answers) solvePairs(n int32, virtual func(int32) bool, ordered []bool, direct, reach matrix) {
	for i := range n {
		for j := range n {
			if virtual(i) || virtual(j) || !direct[i][j] {
				continue
			}
			w.pairs = append(w.pairs, [2]int32{i, j})
			needed := ordered[i] && ordered[j]
			for k := range n {
				needed = needed && !(!virtual(k) && reach[i][k] && reach[k][j])
			}
			if needed {
				w.reduced = append(w.reduced, [2]int32{i, j})
			}
		}
	}
}

// solvePaths walks every path.
func (w *answers) solvePaths(n int32, virtual func(int32) bool, ordered []bool, edges matrix) {
	w.levels, w.below = make([]int32, n), make([]float64, n)
	for i := range n {
		if !ordered[i] {
			w.levels[i] = -1
		}
	}
	var path []int32
	var walk func(first, at int32)
	walk = func(first, at int32) {
		w.levels[at] = max(w.levels[at], int32(len(path)))
		if !virtual(at) {
			path = append(path, at)
			defer func() { path = path[:len(path)-1] }()
		}
		w.weigh(first, path, !virtual(first))
		for to := range n {
			if edges[at][to] && ordered[to] {
				walk(first, to)
			}
		}
	}
	for i := range n {
		if ordered[i] {
			walk(i, i)
		}
	}
}

// weigh takes note of a path from first.
func (w *answers) weigh(first int32, path []int32, real bool) {
	total := 0.0
	for _, i := range path {
		total += testWeight(i)
	}
	w.below[first] = max(w.below[first], total)
	if !real {
		return
	}
	better := w.path == nil || total > w.total || total == w.total && slices.Compare(path, w.path) < 0
	if better {
		w.path, w.total = slices.Clone(path), total
	}
}
