package undo

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/plc-lang/plc/compile"
)

// A call is undone after everything that depended on it, according to the program's graph. Calls of
// a document follow the document's graph. Items of a parallel loop are undone in parallel, other
// rounds one after the other, the last one first. If the plan was replaced during the run, some
// calls are in no graph, and everything is undone one after the other.

// step is a step on the way to a call: a call, and in which run of its document the next step is.
type step struct {
	prog    *compile.Program
	call    int32 // its index in prog
	attempt int   // attempt of the call before it on the way; 0 is the first
	item    int
}

// A chain is a group of undo calls. first holds those that wait for no other call of the group, and
// last those that no other call of the group waits for.
type chain struct{ first, last []*undoing }

// inOrder sets what each call waits for, and returns the calls in reverse plan order.
func inOrder(prog *compile.Program, all []*undoing) []*undoing {
	o := &order{ways: map[*undoing][]step{}}
	known := true
	for _, u := range all {
		_, steps := callAt(prog, u.entry.path)
		o.ways[u], known = steps, known && steps != nil
	}
	if !known {
		o.sequence(slices.Backward(all))
		return o.list
	}
	for _, of := range byKey(all, func(u *undoing) string {
		if prog.Template {
			return u.Instance
		}
		return ""
	}) {
		o.level(of, 0)
	}
	return o.list
}

// order orders calls.
type order struct {
	ways map[*undoing][]step
	list []*undoing // in reverse plan order
}

// byKey groups calls by key, the largest key first. Each group keeps the order of its calls.
func byKey[K cmp.Ordered](all []*undoing, key func(*undoing) K) (groups [][]*undoing) {
	of := map[K][]*undoing{}
	for _, u := range all {
		of[key(u)] = append(of[key(u)], u)
	}
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(of))) {
		groups = append(groups, of[k])
	}
	return groups
}

// level orders the calls of a program, which is at this depth, and those of the documents that it
// runs.
func (o *order) level(all []*undoing, depth int) (c chain) {
	prog := o.ways[all[0]][depth].prog
	done := map[int32]chain{}
	waited := map[*undoing]bool{}
	for _, of := range byKey(all, func(u *undoing) int32 { return o.ways[u][depth].call }) {
		n := o.ways[of[0]][depth].call
		own := o.call(&prog.Calls[n], of, depth)
		var before []*undoing
		for _, next := range behind(prog, n, done) {
			before = append(before, done[next].last...)
		}
		if len(before) == 0 {
			c.first = append(c.first, own.first...)
		}
		for _, u := range o.link(before, own.first) {
			waited[u] = true
		}
		done[n] = own
	}
	for _, n := range slices.Sorted(maps.Keys(done)) {
		for _, u := range done[n].last {
			if !waited[u] {
				c.last = append(c.last, u)
			}
		}
	}
	return c
}

// call orders the undoing of what a call did, by itself and by the calls of the document that it
// runs.
func (o *order) call(p *compile.Call, all []*undoing, depth int) (c chain) {
	var own []*undoing
	below := slices.DeleteFunc(slices.Clone(all), func(u *undoing) bool {
		leaf := len(o.ways[u]) == depth+1
		if leaf {
			own = append(own, u)
		}
		return leaf
	})
	c = o.sequence(slices.Backward(own)) // a fallback ran after the document
	for _, attempt := range byKey(below, func(u *undoing) int { return o.ways[u][depth].attempt }) {
		var runs []chain
		for _, item := range byKey(attempt, func(u *undoing) int { return o.ways[u][depth].item }) {
			runs = append(runs, o.level(item, depth+1))
		}
		c = o.then(c, o.together(runs, p.Delegate.Loop == compile.ForEach && !p.Delegate.OneByOne))
	}
	return c
}

// sequence makes each call wait for the one before it.
func (o *order) sequence(all iter.Seq2[int, *undoing]) (c chain) {
	for _, u := range all {
		u.number = len(o.list)
		o.list = append(o.list, u)
		c = o.then(c, chain{[]*undoing{u}, []*undoing{u}})
	}
	return c
}

// together joins the runs of a document, side by side or one after the other.
func (o *order) together(runs []chain, parallel bool) (c chain) {
	for _, r := range runs {
		if !parallel {
			c = o.then(c, r)
			continue
		}
		c.first, c.last = append(c.first, r.first...), append(c.last, r.last...)
	}
	return c
}

// then makes the chain behind wait for the chain before.
func (o *order) then(before, behind chain) chain {
	switch {
	case len(before.first) == 0:
		return behind
	case len(behind.first) == 0:
		return before
	}
	o.link(before.last, behind.first)
	return chain{before.first, behind.last}
}

// maxLinks bounds the edges between two chains. If there would be more, calls of the first chain
// wait for each other, so that fewer of them are last.
const maxLinks = 10_000

// link makes the calls of behind wait for those of before, and returns the calls that they wait
// for.
func (o *order) link(before, behind []*undoing) []*undoing {
	lanes := len(before)
	if lanes > 1 && lanes*len(behind) > maxLinks {
		lanes = max(1, maxLinks/len(behind))
	}
	slices.SortFunc(before, func(a, b *undoing) int { return cmp.Compare(a.number, b.number) }) // this order prevents cycles
	for i, u := range before[lanes:] {
		u.after = append(u.after, before[i].ID)
	}
	last := before[len(before)-lanes:]
	for _, u := range behind {
		for _, b := range last {
			u.after = append(u.after, b.ID)
		}
	}
	return before
}

// behind returns the calls that waited, directly or not, for call n and have something to undo. It
// does not look beyond such calls.
func behind(prog *compile.Program, n int32, done map[int32]chain) (found []int32) {
	seen := map[int32]bool{n: true}
	todo := []int32{n}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, next := range prog.Starts.Succ(at) {
			if seen[next] {
				continue
			}
			seen[next] = true
			if _, ok := done[next]; ok {
				found = append(found, next)
				continue
			}
			todo = append(todo, next)
		}
	}
	slices.Sort(found)
	return found
}
