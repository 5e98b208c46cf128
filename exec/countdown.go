package exec

import "github.com/plc-lang/plc/dag"

// countdown counts, for each node of a graph, the predecessors that it still waits for. The first
// nodes of the graph are the calls, which count when they settle; the others are junctions, which
// count as soon as they wait for nothing. In the zero countdown no call waits.
type countdown struct {
	g     *dag.Graph
	left  []int32
	calls int
	stack []int32 // nodes to pass on; kept for its room
}

// newCountdown returns the countdown of a graph whose first nodes are these calls, some of which
// may have settled. It takes time linear in the graph.
func newCountdown(g *dag.Graph, calls []*call) countdown {
	c := countdown{g: g, left: make([]int32, g.Len()), calls: len(calls)}
	for n := range c.left {
		if c.left[n] = int32(len(g.Pred(int32(n)))); c.left[n] == 0 && n >= c.calls {
			c.stack = append(c.stack, int32(n))
		}
	}
	for i, call := range calls {
		if call.settled {
			c.stack = append(c.stack, int32(i))
		}
	}
	c.passOn(nil)
	return c
}

// free reports whether a call waits for nothing more.
func (c *countdown) free(i int32) bool { return c.left == nil || c.left[i] == 0 }

// settle notes that a call has settled. It appends to free the calls that wait for nothing more
// now.
func (c *countdown) settle(i int32, free []int32) []int32 {
	if c.left == nil {
		return free
	}
	c.stack = append(c.stack, i)
	return c.passOn(free)
}

// passOn counts down the successors of the nodes on the stack, and of the junctions that then wait
// for nothing. It appends to free the calls that wait for nothing more now.
func (c *countdown) passOn(free []int32) []int32 {
	for len(c.stack) > 0 {
		n := c.stack[len(c.stack)-1]
		c.stack = c.stack[:len(c.stack)-1]
		for _, next := range c.g.Succ(n) {
			if c.left[next]--; c.left[next] > 0 {
				continue
			}
			if int(next) < c.calls {
				free = append(free, next)
			} else {
				c.stack = append(c.stack, next)
			}
		}
	}
	return free
}
