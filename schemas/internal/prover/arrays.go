package prover

import (
	"encoding/binary"
	"slices"

	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// solveArray looks for an array that meets the facts.
//
// The facts treat the first few elements individually, and all later ones alike. Each later element
// must be there for a reason: for a fact "some element …", for a count, or for the minimum length.
// An array with more elements could lose one. The search goes from element to element and chooses
// which of those facts the element meets. The rest of the search depends only on the index and on
// how many of each are met, so each such state is visited once.
func (b *branch) solveArray() Result {
	a := &arraySolver{branch: b, limits: limits{high: -1}, seen: make(map[string]bool), same: [2]int{-1, -1}}
	for i := range b.facts {
		a.add(&b.facts[i])
	}
	if a.high >= 0 && a.low > a.high {
		return Result{}
	}
	if !a.unique && !a.twins && len(a.somes)+len(a.counts) == 0 {
		return a.uniform()
	}
	a.limit = max(a.low, a.lone) + len(a.somes)
	for _, c := range a.counts {
		a.limit += max(c.low, 0)
	}
	if a.high >= 0 {
		a.limit = min(a.limit, a.high)
	}
	if a.limit > MaxSearched || len(a.somes) > 16 {
		return a.tooLong()
	}
	if a.twins {
		return a.withTwins()
	}
	return a.next(nil, 0, make([]int, len(a.counts)), Found)
}

type arraySolver struct {
	*branch
	limits
	lone   int // the facts treat elements before this one individually
	eaches []*literal
	somes  []*literal
	counts []counted
	unique bool
	twins  bool // two elements must be equal
	same   [2]int
	limit  int // maximum length
	seen   map[string]bool
}

// counted is a schema with bounds on the number of elements that meet it.
type counted struct {
	node *tree.Node
	limits
}

// element is an element of the array under construction.
type element struct {
	goal []Part
	value.Value
}

func (a *arraySolver) add(f *literal) {
	switch f.op {
	case opMinItems:
		a.atLeast(f.count)
	case opMaxItems:
		a.atMost(f.count)
	case opEach:
		a.eaches = append(a.eaches, f)
		a.spread(f)
	case opSome:
		a.somes = append(a.somes, f)
		a.spread(f)
	case opCountMin:
		a.counted(f.node).atLeast(f.count)
	case opCountMax:
		a.counted(f.node).atMost(f.count)
	case opUnique:
		a.unique, a.twins = a.unique || !f.neg, a.twins || f.neg
	}
}

func (a *arraySolver) spread(f *literal) {
	a.lone = max(a.lone, f.count)
	if f.to != noEnd {
		a.lone = max(a.lone, f.to)
	}
}

func (a *arraySolver) counted(n *tree.Node) *counted {
	for i := range a.counts {
		if a.counts[i].node == n {
			return &a.counts[i]
		}
	}
	a.counts = append(a.counts, counted{n, limits{high: -1}})
	return &a.counts[len(a.counts)-1]
}

// MaxSearched is the maximum length of arrays that are searched for.
const MaxSearched = 256

// uniform returns the shortest array if there is nothing to choose: it has only the required
// elements, and each is any possible value at its index.
func (a *arraySolver) uniform() Result {
	v, sure, size := value.Value{Kind: value.Array}, Found, 0
	for i := range a.low {
		e := value.Value{}
		if i > a.lone && len(v.Kids) > 0 && i <= MaxWitnessLength { // as the one before
			e = v.Kids[len(v.Kids)-1]
		} else {
			r := a.element(i, nil)
			if r.Status <= Unknown {
				return r
			}
			sure, e = min(sure, r.Status), *r.Witness
		}
		size += e.Bytes()
		switch huge := size > MaxMade || i > MaxWitnessLength; {
		case huge && i > a.lone: // the others are as this one
			return a.hugeOne(sure, value.Array)
		case i > MaxWitnessLength:
			return a.tooLarge()
		case !huge:
			v.Kids = append(v.Kids, e)
		}
	}
	if size > MaxMade {
		return a.hugeOne(sure, value.Array)
	}
	return a.made(sure, v)
}

// tooLong returns the answer if arrays are too long to search for. It may still find that no
// element is possible at a low index.
func (a *arraySolver) tooLong() Result {
	for i := range min(a.low, a.lone+1, 64) {
		if r := a.element(i, nil); r.Status == Empty {
			return Result{}
		}
	}
	return a.tooLarge()
}

// goalAt returns the goal that each element at an index must meet.
func (a *arraySolver) goalAt(i int) (goal []Part) {
	for _, f := range a.eaches {
		if f.count <= i && i < f.to {
			goal = append(goal, Part{f.node, f.neg})
		}
	}
	return slices.Clip(goal)
}

// element answers whether there can be an element at an index that also meets more.
func (a *arraySolver) element(i int, more []Part) Result {
	goal := append(a.goalAt(i), more...)
	if len(goal) == 0 {
		return Result{Found, &value.Value{Kind: value.Null}}
	}
	return a.Solve(goal...)
}

// withTwins tries all pairs of indexes for two equal elements.
func (a *arraySolver) withTwins() Result {
	if a.unique {
		return Result{}
	}
	a.limit = max(a.limit, a.low, a.lone) + 2
	if a.high >= 0 {
		a.limit = min(a.limit, a.high)
	}
	out := Result{}
	last := min(a.limit, a.lone+2+len(a.somes))
	for j := 1; j < last; j++ {
		for i := range j {
			if !a.spend(1) {
				return out.or(Result{Status: Unknown})
			}
			a.same = [2]int{i, j}
			clear(a.seen)
			low := a.low
			a.low = max(a.low, j+1)
			out = out.or(a.next(nil, 0, make([]int, len(a.counts)), Found))
			if a.low = low; out.Status == Found {
				return out
			}
		}
	}
	return out
}

// next continues the search after these elements. met has a bit for each fact "some element" that
// is met.
func (a *arraySolver) next(elements []element, met uint64, counts []int, sure Status) Result {
	if !a.spend(1 + len(elements)/16) {
		return Result{Status: Unknown}
	}
	if !a.visit(elements, met, counts, sure) {
		return Result{}
	}
	out := Result{}
	if len(elements) >= a.low && met == 1<<len(a.somes)-1 && a.enough(counts) {
		if out = a.finish(elements, sure); out.Status == Found {
			return out
		}
	}
	if len(elements) >= a.limit {
		return out
	}
	i := len(elements)
	var open []int
	for s, f := range a.somes {
		if met&(1<<s) == 0 && f.count <= i && i < f.to {
			open = append(open, s)
		}
	}
	// First try the way that meets none: it is the most common and the cheapest.
	for ways := range 1 << (len(open) + len(a.counts)) {
		step, now, counted := a.step(ways, open, met, counts)
		if counted == nil {
			continue
		}
		r := a.elementOrTwin(elements, i, step)
		if r.Status == Empty {
			continue
		}
		if r.Witness == nil {
			out = out.or(Result{Status: Unknown})
			continue
		}
		e := element{append(a.goalAt(i), step...), *r.Witness}
		out = out.or(a.next(append(slices.Clip(elements), e), now, counted, min(sure, r.Status)))
		if out.Status == Found {
			break
		}
	}
	return out
}

// step returns the goal of the next element for one way to choose from the open facts and the
// counted schemas; counted is nil if a count would exceed its limit.
func (a *arraySolver) step(ways int, open []int, met uint64, counts []int) (goal []Part, now uint64, counted []int) {
	now = met
	for bit, s := range open {
		if ways&(1<<bit) != 0 {
			now |= 1 << s
			goal = append(goal, Part{a.somes[s].node, a.somes[s].neg})
		}
	}
	counted = append(make([]int, 0, len(counts)), counts...)
	for c := range a.counts {
		meets := ways&(1<<(len(open)+c)) != 0
		goal = append(goal, Part{a.counts[c].node, !meets})
		if meets {
			counted[c]++
			if high := a.counts[c].high; high >= 0 && counted[c] > high {
				return nil, 0, nil
			}
		}
	}
	return goal, now, counted
}

// elementOrTwin does what element does; but at the second of two indexes that must be equal, it
// answers for both.
func (a *arraySolver) elementOrTwin(elements []element, i int, goal []Part) Result {
	if i == a.same[1] {
		goal = append(slices.Clip(goal), elements[a.same[0]].goal...)
	}
	return a.element(i, goal)
}

func (a *arraySolver) enough(counts []int) bool {
	for i, c := range a.counts {
		if counts[i] < c.low {
			return false
		}
	}
	return true
}

// visit reports whether a state is new. If elements must be different or equal, the state includes
// all previous elements.
func (a *arraySolver) visit(elements []element, met uint64, counts []int, sure Status) bool {
	if a.unique || a.same[1] >= 0 {
		return true
	}
	key := binary.AppendUvarint(nil, uint64(len(elements)))
	key = binary.AppendUvarint(key, met)
	for i, c := range a.counts {
		// Above both limits, one more makes no difference.
		key = binary.AppendUvarint(key, uint64(min(counts[i], max(c.low, c.high+1))))
	}
	key = append(key, byte(sure))
	if a.seen[string(key)] {
		return false
	}
	a.seen[string(key)] = true
	return true
}

func (a *arraySolver) finish(elements []element, sure Status) Result {
	v := value.Value{Kind: value.Array}
	for i := range elements {
		v.Kids = append(v.Kids, elements[i].Value)
	}
	if i, j := a.same[0], a.same[1]; j >= 0 {
		v.Kids[i] = v.Kids[j]
	}
	if v = v.Made(); a.unique && Huge(&v) {
		return a.tooLarge()
	}
	if !a.unique || value.AllDistinct(v.Kids) {
		return a.made(sure, v)
	}
	return a.different(elements, sure)
}

const maxDifferent = 24

// different looks for elements that meet their goals and are all different. An element with at
// least as many possible values as there are elements can get its value last; for an element with
// fewer, all possible values are known.
func (a *arraySolver) different(elements []element, sure Status) Result {
	if len(elements) > maxDifferent {
		return a.tooLarge()
	}
	lists := make([][]value.Value, len(elements))
	for i := range elements {
		list, status := a.several(elements[i].goal, len(elements))
		if status == Unknown {
			return Result{Status: Unknown}
		}
		lists[i], sure = list, min(sure, status)
	}
	chosen := make([]*value.Value, len(elements))
	for i := range lists {
		if !assign(lists, chosen, i, make(map[string]bool)) {
			return Result{}
		}
	}
	v := value.Value{Kind: value.Array}
	for _, c := range chosen {
		v.Kids = append(v.Kids, *c)
	}
	return a.made(sure, v)
}

// assign gives the i-th element a value, and gives other elements different values if necessary. It
// is a step of the search for a matching.
func assign(lists [][]value.Value, chosen []*value.Value, i int, tried map[string]bool) bool {
	for j := range lists[i] {
		v := &lists[i][j]
		key := string(v.AppendCanonical(nil))
		if tried[key] {
			continue
		}
		tried[key] = true
		holder := slices.IndexFunc(chosen, func(c *value.Value) bool { return c != nil && c.Equal(v) })
		if holder < 0 || assign(lists, chosen, holder, tried) {
			chosen[i] = v
			return true
		}
	}
	return false
}

// several returns n different values that meet a goal, or fewer if there are no more.
func (a *arraySolver) several(goal []Part, n int) (list []value.Value, status Status) {
	status = Found
	goal = slices.Clip(goal)
	for len(list) < n {
		r := Result{Found, &value.Value{Kind: value.Null}}
		if len(goal) > 0 {
			r = a.Solve(goal...)
		}
		if r.Status == Empty {
			break
		}
		if r.Witness == nil || Huge(r.Witness) {
			return nil, Unknown
		}
		status = min(status, r.Status)
		list = append(list, *r.Witness)
		goal = append(goal, Part{a.constOf(r.Witness), true})
	}
	return list, status
}
