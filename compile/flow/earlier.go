package flow

import (
	"iter"
	"maps"
	"slices"
	"strconv"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool/label"
)

// Earlier holds what the runs of earlier programs of a loop have left on the whiteboard, with the
// labels that it had when it was written. The zero value holds nothing.
type Earlier struct {
	writes map[firstName][]*Write
}

// firstName is where writes begin: a kind and the name below it; "" if that is not known, or all of
// the kind was written.
type firstName struct {
	policy     *Policy
	kind, name string
}

func firstNameOf(p *Policy, path state.Path) firstName {
	at := firstName{policy: p, kind: path[0].Name}
	if len(path) > 1 && path[1].Kind == state.Name {
		at.name = path[1].Name
	}
	return at
}

// Add adds the writes of a program from a report made with Options.Writes. If the report is about a
// run (Options.Ran), ran is true, and each write that sets a path replaces the earlier ones.
func (e *Earlier) Add(r *Report, ran bool) {
	if e.writes == nil {
		e.writes = map[firstName][]*Write{}
	}
	for _, x := range r.Writes {
		at := firstNameOf(r.Policy, x.Path)
		if ran && x.Call.Method == state.Set {
			e.forget(at, x.Path)
		}
		e.writes[at] = append(e.writes[at], x)
	}
}

// forget forgets the writes at and below a path.
func (e *Earlier) forget(at firstName, path state.Path) {
	covered := func(x *Write) bool { return path.Covers(x.Path) }
	if len(path) > 1 {
		e.writes[at] = slices.DeleteFunc(e.writes[at], covered)
		return
	}
	for other := range e.writes {
		if other.policy == at.policy && other.kind == at.kind {
			delete(e.writes, other)
		}
	}
}

// at returns the writes that overlap with a path, in no order.
func (e *Earlier) at(p *Policy, path state.Path) iter.Seq[*Write] {
	return func(yield func(*Write) bool) {
		if e == nil {
			return
		}
		first := firstNameOf(p, path)
		those := []firstName{first, {p, first.kind, ""}}
		if first.name == "" { // of the whole kind
			those = slices.Collect(maps.Keys(e.writes))
		}
		for _, at := range those {
			if at.policy != p || at.kind != first.kind {
				continue
			}
			for _, x := range e.writes[at] {
				if x.Path.Overlaps(path) && !yield(x) {
					return
				}
			}
		}
	}
}

// writtenEarlier returns the value that earlier programs of the loop left at a path, and the mark
// of the values that decided about it.
func (w *walk) writtenEarlier(path state.Path) (v *val, decided *mark) {
	v = nothing
	for x := range w.earlier.at(w.policy, path) {
		mark := func(l label.Label) *mark {
			lab := w.policy.lab(l)
			o := &origin{lab, w.source("the call "+strconv.Quote(x.Call.ID)+" of an earlier turn", lab)}
			return w.marked(o, &step{loc: diag.Loc{File: w.prog.File()}, verb: isGiven, what: path}, nil)
		}
		v, decided = w.either(v, w.leaf(mark(x.Label))), w.join(decided, mark(x.Decides))
	}
	return v, decided
}
