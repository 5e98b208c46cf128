package compile

import "hash/maphash"

// stepTable finds the children of nodes of a path index by their steps: a hash table with open
// addressing, whose keys are in the nodes themselves. A plan has as many steps as writes, and a map
// would take several times the memory, and add pointers for the garbage collector.
type stepTable struct {
	slots []int32 // nodes; 0 is free; at most three quarters are in use
	shift uint    // a slot is the bits of the hash above it
	seed  maphash.Seed
	odd   uint64 // random, so that nobody can construct a plan whose steps collide
}

const fewSteps = 16

func newStepTable() stepTable {
	seed := maphash.MakeSeed()
	return stepTable{slots: make([]int32, fewSteps), shift: 64 - 4, seed: seed, odd: maphash.String(seed, "odd") | 1}
}

// slot returns where the search for a step starts.
func (t *stepTable) slot(k *pathStep) int {
	x := uint64(uint32(k.from))<<32 | uint64(uint32(k.index))<<2 | uint64(k.kind)
	if k.name != "" {
		x ^= maphash.String(t.seed, k.name)
	}
	return int(x * t.odd >> t.shift)
}

// child returns the node that a step leads to.
func (t *pathIndex) child(k pathStep) (int32, bool) {
	if k.from == 0 && k.name == "state" {
		return t.state, t.state != 0 // nearly all paths begin with state
	}
	n := t.steps.slots[t.find(&k)]
	return n, n != 0
}

// find returns the slot of the node that a step leads to, or the one where it belongs.
func (t *pathIndex) find(k *pathStep) int {
	slots := t.steps.slots
	i := t.steps.slot(k)
	for ; slots[i] != 0; i = (i + 1) & (len(slots) - 1) {
		if n := t.nodes.at(slots[i]); n.parent == k.from && n.index == k.index && n.kind == k.kind && n.name == k.name {
			break
		}
	}
	return i
}

func (n *pathNode) step() pathStep { return pathStep{n.parent, n.kind, n.index, n.name} }

// add adds the last node. Its step was not there, and belongs in this slot.
func (t *stepTable) add(nodes *pages[pathNode], slot int) {
	last := int32(nodes.n - 1)
	if t.slots[slot] = last; 4*nodes.n <= 3*len(t.slots) {
		return
	}
	t.slots = make([]int32, 2*len(t.slots))
	t.shift--
	for n := range last {
		t.put(nodes, n+1)
	}
}

func (t *stepTable) put(nodes *pages[pathNode], n int32) {
	step := nodes.at(n).step()
	i := t.slot(&step)
	for t.slots[i] != 0 {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = n
}
