package dag

import "slices"

// Cycle returns the first cycle that a walk meets which goes depth first from each node in turn,
// along the nodes that next returns; nil when there is none. Its last node leads to its first.
// Nodes are numbered from 0. Linear in nodes and edges.
//
// It is for systems whose messages name that cycle; Builder.Build returns a shortest one.
func Cycle(nodes int, next func(int32) []int32) []int32 {
	const onPath, done = 1, 2
	state := make([]byte, nodes)
	for start := range int32(nodes) {
		if state[start] != 0 {
			continue
		}
		path, taken := []int32{start}, []int{0} // of each node of the path, how many edges were followed
		state[start] = onPath
		for len(path) > 0 { // no recursion, since a path may be as long as the graph
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
