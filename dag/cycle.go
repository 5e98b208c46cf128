package dag

import "slices"

// Cycle returns the first cycle that a depth-first search finds, or nil if there is none. The
// search starts at nodes 0 to nodes-1 in turn and follows the successors that next returns, in
// order. The last node of the cycle has an edge to its first. The time is linear in nodes and
// edges.
//
// Use it if messages must name this cycle; Builder.Build returns a shortest one.
func Cycle(nodes int, next func(int32) []int32) []int32 {
	const onPath, done = 1, 2
	state := make([]byte, nodes)
	for start := range int32(nodes) {
		if state[start] != 0 {
			continue
		}
		path, taken := []int32{start}, []int{0} // number of edges followed from each node of the path
		state[start] = onPath
		for len(path) > 0 { // no recursion, as a path may include all nodes
			top := len(path) - 1
			edges := next(path[top])
			if taken[top] == len(edges) {
				state[path[top]] = done
				path, taken = path[:top], taken[:top]
				continue
			}
			to := edges[taken[top]]
			taken[top]++
			switch state[to] {
			case 0:
				state[to] = onPath
				path, taken = append(path, to), append(taken, 0)
			case onPath:
				return path[slices.Index(path, to):]
			}
		}
	}
	return nil
}
