package exec

import "github.com/plc-lang/plc/dag"

// countdown counts, for each node of a graph, the predecessors that have not come: calls that have
// not settled, and junctions that still wait. The first nodes of the graph are the calls, the
// others junctions, which pass on at once that all they waited for has come. The zero countdown is
// that of no graph, in which no call waits.
type countdown struct {
	g     *dag.Graph
	left  []int32
	calls int
	stack []int32 // of junctions that pass it on; kept for its room
}

// newCountdown counts the predecessors of the first nodes of a graph, of which some have settled.
// Linear in the graph.
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

// settle notes that a call has come. It appends the calls that wait for nothing more now.
func (c *countdown) settle(i int32, free []int32) []int32 {
	if c.left == nil {
		return free
	}
	c.stack = append(c.stack, i)
	return c.passOn(free)
}

// passOn lets come what is on the stack, and the junctions that follow.
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
