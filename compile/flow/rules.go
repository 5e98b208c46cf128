package flow

import (
	"slices"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/label"
)

// toolRules combines all entries of a policy that match a target.
type toolRules struct {
	name  string // of the tool
	gives *tree
	// endorses and declassifies are the names under which results do not take over the trust, or
	// the secrecy and categories, of the params; "" if they do.
	endorses, declassifies string
	leaves                 bool   // others than the tool may see the params
	leavesBy               string // the entry that says so, or else the tool
	entries                []*label.Tool
	lists                  []*list // that the tool gives
	bounds                 bool    // a param may have a requirement
	wanted                 map[string][]*label.Want
}

// rulesOf returns the rules for a target, made once.
func (a *analysis) rulesOf(t *compile.Target) *toolRules {
	r, ok := a.rules[t]
	if !ok {
		r = a.policy.rulesFor(t)
		a.rules[t] = r
	}
	return r
}

// joined joins the names under which entries endorse or declassify.
func joined(name, more string) string {
	switch {
	case name == "":
		return more
	case more == "" || more == name:
		return name
	}
	return name + ", " + more
}

// rulesFor combines the entries that match a target by any of its names.
func (p *Policy) rulesFor(t *compile.Target) *toolRules {
	names := namesOf(t)
	r := &toolRules{name: t.Tool.Definition.Name, leaves: reachesOut(t)}
	r.leavesBy = r.name
	for i := range p.said.Tools {
		entry := &p.said.Tools[i]
		if !selects(entry.Selector, names, t.Effects) {
			continue
		}
		r.entries = append(r.entries, entry)
		r.give(p, entry)
		r.endorses = joined(r.endorses, entry.Endorses)
		r.declassifies = joined(r.declassifies, entry.Declassifies)
	}
	for _, says := range []bool{false, true} { // one entry that says true outweighs the others
		if i := slices.IndexFunc(r.entries, func(e *label.Tool) bool { return e.Leaves != nil && *e.Leaves == says }); i >= 0 {
			r.leaves, r.leavesBy = says, r.entries[i].Text
		}
	}
	r.bounds = r.leaves || slices.ContainsFunc(r.entries, func(e *label.Tool) bool { return len(e.Takes) > 0 })
	if r.gives == nil {
		r.gives = &tree{own: p.givesOf(t)}
	}
	if !isItself(t) { // entries in favor of the tool do not apply to what runs in its place
		r.endorses, r.declassifies = "", ""
		r.gives = r.gives.either(p, &tree{own: p.givesOf(t)})
	}
	r.gives.weigh()
	for _, l := range p.lists {
		if !l.ofInput && selects(l.tool, names, t.Effects) {
			r.lists = append(r.lists, l)
		}
	}
	return r
}

// give merges the labels that an entry gives to results.
func (r *toolRules) give(p *Policy, entry *label.Tool) {
	if entry.Gives == nil {
		return
	}
	t := &tree{own: p.lab(*entry.Gives)}
	parts := slices.Clone(entry.Parts)
	slices.SortStableFunc(parts, func(a, b label.Path) int { return len(a.Names) - len(b.Names) })
	set := map[*tree]bool{}
	for _, part := range parts {
		t.put(p, part.Names, p.lab(part.Label), set)
	}
	if r.gives == nil {
		r.gives = t
	} else {
		r.gives = r.gives.either(p, t)
	}
}

// givesOf returns the label of results of a target for which no entry has one.
func (p *Policy) givesOf(t *compile.Target) lab {
	switch {
	case t.Driver == "latent": // a model makes it, of what it is given
		return p.plan
	case givesNothing(t):
		return p.best
	}
	l := p.lab(p.said.OfUnknown())
	if hint, ok := annotated(t); ok && p.said.Default == nil {
		return p.lab(p.hinted(hint))
	}
	return l
}

// isItself reports whether a target runs the tool's own activity, and not a document or an activity
// that the plan picked.
func isItself(t *compile.Target) bool { return !t.Picked && t.Delegate == nil }

// givesNothing reports whether a result can hold nothing that is not in the params.
func givesNothing(t *compile.Target) bool {
	return t.Effects.Pure == tool.Yes || t.Driver == tool.BuiltIn || t.Driver == "delegate"
}

// reachesOut reports whether others than the tool may see its params, according to its effects.
func reachesOut(t *compile.Target) bool {
	return t.Effects.OpenWorld != tool.No && !givesNothing(t)
}

// namesOf returns all names by which a policy can mean a target.
func namesOf(t *compile.Target) []string {
	names := []string{t.Tool.Definition.Name}
	for _, o := range t.Owners {
		names = append(names, o.Definition.Name)
	}
	if t.Name != "" {
		names = append(names, t.Name)
	}
	if t.Place.Server != "" {
		names = append(names, t.Place.Server+"."+t.Place.Tool)
	}
	return names
}

// wantsOf returns the requirements on a param, made once.
func (r *toolRules) wantsOf(p *label.Policy, param string) []*label.Want {
	all, ok := r.wanted[param]
	if !ok {
		if r.wanted == nil {
			r.wanted = map[string][]*label.Want{}
		}
		all = r.wants(p, param)
		r.wanted[param] = all
	}
	return all
}

// wants returns the requirements on a param, one for each entry that has one.
func (r *toolRules) wants(p *label.Policy, param string) (all []*label.Want) {
	bounded := false
	for _, entry := range r.entries {
		w := wantOf(entry, param)
		if w == nil {
			continue
		}
		all = append(all, w)
		bounded = bounded || w.HasSecrecy
	}
	if r.leaves && !bounded && p.Labels {
		public, _ := p.Secrecy.Level("public")
		all = append(all, &label.Want{Param: param, Bound: label.Bound{HasSecrecy: true, Secrecy: public}})
	}
	return all
}

// wantOf returns the requirement of an entry on a param; nil if it has none.
func wantOf(entry *label.Tool, param string) (rest *label.Want) {
	for i := range entry.Takes {
		switch w := &entry.Takes[i]; w.Param {
		case param:
			return w
		case "*":
			rest = w
		}
	}
	return rest
}

// result returns the value that a target returns when its params have the mark carried.
func (a *analysis) result(r *toolRules, s *step, carried *mark) *val {
	return a.labelled(r.gives, r.name, s, a.dropped(r, carried))
}

// drops reports whether results do not take over all of the labels of the params.
func (r *toolRules) drops() bool { return r.endorses != "" || r.declassifies != "" }

// dropped returns the mark that results take over from params with the mark m: without the trust
// if the tool endorses, and without secrecy and categories if it declassifies.
func (a *analysis) dropped(r *toolRules, m *mark) *mark {
	if m == nil || !r.drops() {
		return m
	}
	after := func(l lab) lab {
		if r.endorses != "" {
			l.trust = a.policy.best.trust
		}
		if r.declassifies != "" {
			l.secrecy, l.cats = a.policy.best.secrecy, nil
		}
		return l
	}
	n := &mark{&origin{lab: after(m.lab)}, m.step, m.before}
	m.from.all(func(i int) {
		src := a.sources.list[i]
		n.from = n.from.union(a.derived(src, r, after(src.lab)))
	})
	return n
}

// meant returns the end of a message about an unknown name: the nearest known one.
func meant(name string, names []string) string {
	if best, ok := spell.Nearest(name, slices.Values(names)); ok {
		return "; did you mean \"" + best + "\"?"
	}
	return ""
}
