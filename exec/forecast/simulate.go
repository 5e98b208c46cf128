package forecast

import (
	"container/heap"
	"math/rand/v2"
	"slices"
)

// The number of simulated calls in all rounds together, and the bounds of the number of rounds.
const (
	maxSimulated = 2_000_000
	mostRounds   = 1000
	leastRounds  = 20
)

// simulate runs the graph again and again, each time with other durations drawn from the known
// ones, in the order of the scheduler: the node with the longest way below it goes first. Without
// durations, one round is enough to find how many calls run at once.
func (t *timing) simulate(slots int, seed uint64, timed bool) (*Time, int) {
	rank := t.graph.Below(t.mean)
	rounds := 1
	if timed {
		rounds = min(mostRounds, max(leastRounds, maxSimulated/max(1, t.graph.Len())))
	}
	ends := make([]float64, rounds)
	peak := 0
	for i := range ends {
		r := &round{timing: t, rank: rank, free: slots, draw: rand.New(rand.NewPCG(seed, uint64(i)))}
		end, most := r.run()
		ends[i], peak = end, max(peak, most)
	}
	if !timed {
		return nil, peak
	}
	slices.Sort(ends)
	at := func(p float64) float64 { return ends[min(len(ends)-1, int(p*float64(len(ends))))] }
	return &Time{P50: at(0.5), P95: at(0.95), Rounds: rounds}, peak
}

// toolSlots bounds the calls of one tool.
type toolSlots struct {
	most, running int
	waiting       []int32
}

// round is one simulated run.
type round struct {
	*timing
	rank    []float64
	free    int
	now     float64
	draw    *rand.Rand
	left    []int32
	ready   byRank
	running byEnd
}

func (r *round) run() (end float64, peak int) {
	r.left = make([]int32, r.graph.Len())
	r.ready.rank = r.rank
	var sources []int32
	for n := range r.left {
		if r.left[n] = int32(len(r.graph.Pred(int32(n)))); r.left[n] == 0 {
			sources = append(sources, int32(n))
		}
	}
	r.makeReady(sources)
	for {
		r.start()
		peak = max(peak, len(r.running))
		if len(r.running) == 0 {
			return r.now, peak
		}
		job := heap.Pop(&r.running).(running)
		r.now = job.end
		r.free++
		if t := r.tools[job.node]; t != nil {
			t.running--
			if len(t.waiting) > 0 {
				heap.Push(&r.ready, t.waiting[0])
				t.waiting = t.waiting[1:]
			}
		}
		r.makeReady(r.settle(nil, job.node))
	}
}

// makeReady makes nodes ready that wait for nothing more. Virtual nodes are done at once.
func (r *round) makeReady(nodes []int32) {
	for len(nodes) > 0 {
		n := nodes[len(nodes)-1]
		nodes = nodes[:len(nodes)-1]
		if r.calls[n] >= 0 {
			heap.Push(&r.ready, n)
			continue
		}
		nodes = r.settle(nodes, n)
	}
}

// settle appends the nodes that wait for nothing more now that n is done.
func (r *round) settle(nodes []int32, n int32) []int32 {
	for _, next := range r.graph.Succ(n) {
		if r.left[next]--; r.left[next] == 0 {
			nodes = append(nodes, next)
		}
	}
	return nodes
}

// start starts ready nodes while there are slots.
func (r *round) start() {
	for r.free > 0 && r.ready.Len() > 0 {
		n := heap.Pop(&r.ready).(int32)
		if t := r.tools[n]; t != nil {
			if t.running == t.most {
				t.waiting = append(t.waiting, n)
				continue
			}
			t.running++
		}
		r.free--
		took := 1.0
		if s := r.seconds[n]; s != nil {
			took = s[r.draw.IntN(len(s))]
		}
		heap.Push(&r.running, running{r.now + took, n})
	}
}

// byRank orders the nodes that are ready: the longest way below first, then the earliest.
type byRank struct {
	nodes []int32
	rank  []float64
}

func (h *byRank) Len() int { return len(h.nodes) }
func (h *byRank) Less(i, j int) bool {
	a, b := h.nodes[i], h.nodes[j]
	if h.rank[a] != h.rank[b] {
		return h.rank[a] > h.rank[b]
	}
	return a < b
}
func (h *byRank) Swap(i, j int) { h.nodes[i], h.nodes[j] = h.nodes[j], h.nodes[i] }
func (h *byRank) Push(x any)    { h.nodes = append(h.nodes, x.(int32)) }
func (h *byRank) Pop() any {
	n := len(h.nodes) - 1
	x := h.nodes[n]
	h.nodes = h.nodes[:n]
	return x
}

// byEnd orders the running nodes by their end, the first on top.
type byEnd []running

type running struct {
	end  float64
	node int32
}

func (h byEnd) Len() int { return len(h) }
func (h byEnd) Less(i, j int) bool {
	if h[i].end != h[j].end {
		return h[i].end < h[j].end
	}
	return h[i].node < h[j].node
}
func (h byEnd) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *byEnd) Push(x any)   { *h = append(*h, x.(running)) }
func (h *byEnd) Pop() any {
	n := len(*h) - 1
	x := (*h)[n]
	*h = (*h)[:n]
	return x
}
