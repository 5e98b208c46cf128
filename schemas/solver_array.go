package schemas

import (
	"encoding/binary"
	"slices"
)

// solveArray looks for an array that meets the facts.
//
// The facts speak of the first few elements one by one, and of all after them alike.
// So beyond those only as many elements matter as there are facts "some element …",
// elements to be counted, and elements that must be there: a longer array could
// lose one. The search goes from element to element and chooses which of those facts
// the element meets; where it stands, and how many of each are met, is all that
// matters for the rest, so a state is visited once.
func (b *branch) solveArray() result {
	a := &arraySolver{branch: b, high: -1, seen: make(map[string]bool), same: [2]int{-1, -1}}
	for i := range b.facts {
		a.add(&b.facts[i])
	}
	if a.high >= 0 && a.low > a.high {
		return result{}
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
	if a.limit > maxSearched || len(a.somes) > 16 {
		return a.tooLong()
	}
	if a.twins {
		return a.withTwins()
	}
	return a.next(nil, 0, make([]int, len(a.counts)), found)
}

type arraySolver struct {
	*branch
	low, high int // high -1: no limit
	lone      int // the facts tell elements before this one apart
	eaches    []*literal
	somes     []*literal
	counts    []counted
	unique    bool
	twins     bool // two elements must be equal
	same      [2]int
	limit     int // of the length
	seen      map[string]bool
}

// counted is a schema of which the elements that meet it are counted.
type counted struct {
	node      *node
	low, high int // high -1: no limit
}

// element is one of the array in the making.
type element struct {
	goal []signed
	value
}

func (a *arraySolver) add(f *literal) {
	switch f.op {
	case opMinItems:
		a.low = max(a.low, f.count)
	case opMaxItems:
		if a.high < 0 || f.count < a.high {
			a.high = f.count
		}
	case opEach:
		a.eaches = append(a.eaches, f)
		a.spread(f)
	case opSome:
		a.somes = append(a.somes, f)
		a.spread(f)
	case opCountMin:
		c := a.counted(f.node)
		c.low = max(c.low, f.count)
	case opCountMax:
		c := a.counted(f.node)
		if c.high < 0 || f.count < c.high {
			c.high = f.count
		}
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

func (a *arraySolver) counted(n *node) *counted {
	for i := range a.counts {
		if a.counts[i].node == n {
			return &a.counts[i]
		}
	}
	a.counts = append(a.counts, counted{node: n, high: -1})
	return &a.counts[len(a.counts)-1]
}

// maxSearched is up to which length arrays are searched for.
const maxSearched = 256

// uniform returns the shortest array when there is nothing to choose: all elements that it
// must have are there, each as any at its place.
func (a *arraySolver) uniform() result {
	v, sure, size := value{kind: kindArray}, found, 0
	for i := range a.low {
		e := value{}
		if i > a.lone && len(v.kids) > 0 && i <= maxWitnessLength { // as the one before
			e = v.kids[len(v.kids)-1]
		} else {
			r := a.element(i, nil)
			if r.status <= unknown {
				return r
			}
			sure, e = min(sure, r.status), *r.witness
		}
		size += e.bytes()
		switch huge := size > maxMade || i > maxWitnessLength; {
		case huge && i > a.lone: // the others are as this one
			return a.hugeOne(sure, kindArray)
		case i > maxWitnessLength:
			return a.tooLarge()
		case !huge:
			v.kids = append(v.kids, e)
		}
	}
	if size > maxMade {
		return a.hugeOne(sure, kindArray)
	}
	return a.made(sure, v)
}

// tooLong returns the answer when arrays are too long to search for: it may still be that
// no element is possible early on.
func (a *arraySolver) tooLong() result {
	for i := range min(a.low, a.lone+1, 64) {
		if r := a.element(i, nil); r.status == empty {
			return result{}
		}
	}
	return a.tooLarge()
}

// goalAt returns what each element at an index meets.
func (a *arraySolver) goalAt(i int) (goal []signed) {
	for _, f := range a.eaches {
		if f.count <= i && i < f.to {
			goal = append(goal, signed{f.node, f.neg})
		}
	}
	return slices.Clip(goal)
}

// element answers whether there can be an element at an index that meets more.
func (a *arraySolver) element(i int, more []signed) result {
	goal := append(a.goalAt(i), more...)
	if len(goal) == 0 {
		return result{found, &value{kind: kindNull}}
	}
	return a.solve(goal...)
}

// withTwins tries all pairs of places for two elements that are equal.
func (a *arraySolver) withTwins() result {
	if a.unique {
		return result{}
	}
	a.limit = max(a.limit, a.low, a.lone) + 2
	if a.high >= 0 {
		a.limit = min(a.limit, a.high)
	}
	out := result{}
	last := min(a.limit, a.lone+2+len(a.somes))
	for j := 1; j < last; j++ {
		for i := range j {
			if !a.spend(1) {
				return out.or(result{status: unknown})
			}
			a.same = [2]int{i, j}
			clear(a.seen)
			low := a.low
			a.low = max(a.low, j+1)
			out = out.or(a.next(nil, 0, make([]int, len(a.counts)), found))
			if a.low = low; out.status == found {
				return out
			}
		}
	}
	return out
}

// next goes on with an array of some elements. met has a bit for each fact "some
// element" that is met.
func (a *arraySolver) next(elements []element, met uint64, counts []int, sure status) result {
	if !a.spend(1 + len(elements)/16) {
		return result{status: unknown}
	}
	if !a.visit(elements, met, counts, sure) {
		return result{}
	}
	out := result{}
	if len(elements) >= a.low && met == 1<<len(a.somes)-1 && a.enough(counts) {
		if out = a.finish(elements, sure); out.status == found {
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
	// With nothing to meet first: it is the most common, and the cheapest.
	for ways := range 1 << (len(open) + len(a.counts)) {
		step, now, counted := a.step(i, ways, open, met, counts)
		if counted == nil {
			continue
		}
		r := a.elementOrTwin(elements, i, step)
		if r.status == empty {
			continue
		}
		if r.witness == nil {
			out = out.or(result{status: unknown})
			continue
		}
		e := element{append(a.goalAt(i), step...), *r.witness}
		out = out.or(a.next(append(slices.Clip(elements), e), now, counted, min(sure, r.status)))
		if out.status == found {
			break
		}
	}
	return out
}

// step returns what the element at i meets in one of the ways to choose from the open facts
// and the counted schemas; counted is nil when too many would be counted.
func (a *arraySolver) step(i, ways int, open []int, met uint64, counts []int) (goal []signed, now uint64, counted []int) {
	now = met
	for bit, s := range open {
		if ways&(1<<bit) != 0 {
			now |= 1 << s
			goal = append(goal, signed{a.somes[s].node, a.somes[s].neg})
		}
	}
	counted = append(make([]int, 0, len(counts)), counts...)
	for c := range a.counts {
		meets := ways&(1<<(len(open)+c)) != 0
		goal = append(goal, signed{a.counts[c].node, !meets})
		if meets {
			counted[c]++
			if high := a.counts[c].high; high >= 0 && counted[c] > high {
				return nil, 0, nil
			}
		}
	}
	return goal, now, counted
}

// elementOrTwin does what element does, but at the second of two places that must be equal it
// answers for both.
func (a *arraySolver) elementOrTwin(elements []element, i int, goal []signed) result {
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

// visit reports whether a state is new. Where elements must be different, or equal,
// the state is the whole past.
func (a *arraySolver) visit(elements []element, met uint64, counts []int, sure status) bool {
	if a.unique || a.same[1] >= 0 {
		return true
	}
	key := binary.AppendUvarint(nil, uint64(len(elements)))
	key = binary.AppendUvarint(key, met)
	for i, c := range a.counts {
		// Beyond both limits one more makes no difference.
		key = binary.AppendUvarint(key, uint64(min(counts[i], max(c.low, c.high+1))))
	}
	key = append(key, byte(sure))
	if a.seen[string(key)] {
		return false
	}
	a.seen[string(key)] = true
	return true
}

func (a *arraySolver) finish(elements []element, sure status) result {
	v := value{kind: kindArray}
	for i := range elements {
		v.kids = append(v.kids, elements[i].value)
	}
	if i, j := a.same[0], a.same[1]; j >= 0 {
		v.kids[i] = v.kids[j]
	}
	if v = v.made(); a.unique && huge(&v) {
		return a.tooLarge()
	}
	if !a.unique || allDistinct(v.kids) {
		return a.made(sure, v)
	}
	return a.different(elements, sure)
}

const maxDifferent = 24

// different looks for elements that meet their goals and are all different. An element
// that has as many values to choose from as there are elements can wait until all
// others have theirs; of one that has fewer, all values are known.
func (a *arraySolver) different(elements []element, sure status) result {
	if len(elements) > maxDifferent {
		return a.tooLarge()
	}
	lists := make([][]value, len(elements))
	for i := range elements {
		list, status := a.several(elements[i].goal, len(elements))
		if status == unknown {
			return result{status: unknown}
		}
		lists[i], sure = list, min(sure, status)
	}
	chosen := make([]*value, len(elements))
	for i := range lists {
		if !assign(lists, chosen, i, make(map[string]bool)) {
			return result{}
		}
	}
	v := value{kind: kindArray}
	for _, c := range chosen {
		v.kids = append(v.kids, *c)
	}
	return a.made(sure, v)
}

// assign gives the i-th element a value, moving others to other values where that
// helps: a step of the search for a matching.
func assign(lists [][]value, chosen []*value, i int, tried map[string]bool) bool {
	for j := range lists[i] {
		v := &lists[i][j]
		key := string(v.appendCanonical(nil))
		if tried[key] {
			continue
		}
		tried[key] = true
		holder := slices.IndexFunc(chosen, func(c *value) bool { return c != nil && c.equal(v) })
		if holder < 0 || assign(lists, chosen, holder, tried) {
			chosen[i] = v
			return true
		}
	}
	return false
}

// several lists up to n different values that meet a goal; fewer only if there are no
// more.
func (a *arraySolver) several(goal []signed, n int) (list []value, status status) {
	status = found
	goal = slices.Clip(goal)
	for len(list) < n {
		r := result{found, &value{kind: kindNull}}
		if len(goal) > 0 {
			r = a.solve(goal...)
		}
		if r.status == empty {
			break
		}
		if r.witness == nil || huge(r.witness) {
			return nil, unknown
		}
		status = min(status, r.status)
		list = append(list, *r.witness)
		goal = append(goal, signed{a.constOf(r.witness), true})
	}
	return list, status
}
