package flow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
)

// A Reach describes all that an approval of a plan lets happen, without the names of its calls. So
// another plan can be compared: if its reach is within what was approved, nobody has to be asked
// again. The zero value is that of a plan that does nothing.
type Reach struct {
	// flows has a line for each source and bounded param, each tool that endorses or declassifies,
	// and each rule, with its verdict.
	flows map[string]bool
	// calls has a line for each call that may change the world, with what it is given: literals, or
	// sources. It says how often there is such a call.
	calls map[reachCall]int
	order []reachCall // these calls, in plan order
}

// reachCall is a call that may change the world. Of a call in a document, likeness is that of the
// call of the plan which runs the document.
type reachCall struct{ tool, words, likeness string }

// ReachOf returns the reach of a program under some policies. o is that of Check.
func ReachOf(prog *compile.Program, policies []*Policy, o *Options) *Reach {
	x := &Reach{flows: map[string]bool{}, calls: map[reachCall]int{}}
	all := &sites{docs: map[*compile.Program][]*site{}}
	all.add(prog, true, prog.Template)
	own := Options{}
	if o != nil {
		own = *o
	}
	own.all = true
	given := map[sinkKey][]string{} // the sources of params
	for _, p := range policies {
		r, _ := Check(prog, p, &own)
		for _, s := range r.Sinks() {
			key := sinkKey{call: s.Call, param: s.Param, fallback: s.Fallback}
			for _, src := range s.Sources() {
				given[key] = append(given[key], src.Words(p.said))
			}
			if len(s.Wants) > 0 {
				x.flow(p, s)
			}
		}
		for _, u := range r.Uses {
			x.flows[u.Words()] = true
		}
		for _, d := range r.Duties {
			x.flows[fmt.Sprintf("%s: %s", d.Rule.Text, d.Verdict)] = true
		}
	}
	like := likenessOf(prog)
	add := func(s *site, likeness string) {
		if readsOnly(s.target.Effects) || givesNothing(s.target) || s.call.Rare != nil && s.call.Delegate != nil && s.call.Delegate.Program != nil {
			return
		}
		c := reachCall{s.target.Tool.Definition.Name, s.words(given), likeness}
		x.calls[c]++
		x.order = append(x.order, c)
	}
	documents := map[*compile.Call]bool{}
	for _, s := range all.all {
		if s.prog != prog {
			continue
		}
		likeness := like(s.call)
		add(s, likeness)
		if documents[s.call] || s.call.Rare == nil || s.call.Delegate == nil {
			continue // it runs no document, or this is its fallback, which comes second
		}
		documents[s.call] = true
		for _, inner := range all.docs[s.call.Delegate.Program] {
			add(inner, likeness)
		}
	}
	return x
}

// flow adds the flows to a sink.
func (x *Reach) flow(p *Policy, s *Sink) {
	to := "the output"
	if s.Call != nil {
		to = fmt.Sprintf("%q, param %q", s.Tool, s.Param)
	}
	if s.Undoes {
		to += ", when it is undone"
	}
	for _, src := range s.Sources() {
		x.flows[fmt.Sprintf("%s -> %s: %s", src.Words(p.said), to, s.Verdict())] = true
	}
	if s.Verdict() == Allowed {
		return
	}
	for _, src := range s.Deciding() {
		x.flows[fmt.Sprintf("%s decides about %s: %s", src.Words(p.said), to, s.Verdict())] = true
	}
}

// words returns the call with what it is given.
func (s *site) words(given map[sinkKey][]string) string {
	if s.target.Tool.Definition.Name == "step" { // it is all in words
		return string(s.call.Source.Node.AppendJSON(nil))
	}
	names := namesOf(s.target)
	slices.Sort(names)
	all := []string{strings.Join(slices.Compact(names), ", ")}
	fallback := s.target != s.call.Target
	for _, m := range s.params {
		words := ""
		if v, ok := s.literal(m.Name); ok {
			words = string(v)
		} else {
			from := slices.Clone(given[sinkKey{call: s.call, param: m.Name, fallback: fallback}])
			slices.Sort(from)
			words = "of " + strings.Join(slices.Compact(from), "; ")
		}
		all = append(all, fmt.Sprintf("%q: %s", m.Name, words))
	}
	slices.Sort(all[1:])
	if from := given[sinkKey{call: s.call, param: "*", fallback: fallback}]; len(from) > 0 {
		all = append(all, "and sees "+strings.Join(slices.Compact(slices.Sorted(slices.Values(from))), "; "))
	}
	return strings.Join(all, ", ")
}

// Beyond returns what of the reach is not in what was approved, a line each, sorted.
func (x *Reach) Beyond(approved *Reach) (more []string) {
	for line := range x.flows {
		if !approved.flows[line] {
			more = append(more, line)
		}
	}
	for c, n := range x.calls {
		if n <= approved.calls[c] && c.likeness != "" {
			continue
		}
		line := "a call of " + c.words
		for was := range approved.calls {
			if was.words == c.words && was.likeness != c.likeness {
				line += "; what decides about it or what it is made of is not the same"
				break
			}
		}
		more = append(more, line)
	}
	if len(more) == 0 && !x.inOrderOf(approved) {
		more = append(more, "the calls that may change the world come in another order")
	}
	slices.Sort(more)
	return more
}

// inOrderOf reports whether the calls come in the order in which they were approved.
func (x *Reach) inOrderOf(approved *Reach) bool {
	at := 0
	for _, c := range x.order {
		n := slices.Index(approved.order[at:], c)
		if n < 0 {
			return false
		}
		at += n + 1
	}
	return true
}

// Allow adds the reach of a plan that was approved. Of calls that change the world, the approval
// covers those of that plan alone.
func (x *Reach) Allow(plan *Reach) {
	if x.flows == nil {
		x.flows = map[string]bool{}
	}
	maps.Copy(x.flows, plan.flows)
	x.calls, x.order = maps.Clone(plan.calls), plan.order
}

// Spend takes away one call of each kind that calls a tool, since the tool was called: an approval
// lets it happen once. That holds for a call in a loop too: what is left of the loop is not known.
func (x *Reach) Spend(tool string) {
	for c, n := range x.calls {
		if c.tool == tool && n > 0 {
			x.calls[c]--
		}
	}
}
