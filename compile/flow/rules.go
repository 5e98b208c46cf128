package flow

import (
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/label"
)

// toolRules holds what a policy says about a target: all entries that match it hold.
type toolRules struct {
	name  string // of the tool
	gives *tree
	// endorses and declassifies are the names under which results carry nothing of the trust, or of
	// the secrecy, of the params.
	endorses, declassifies string
	leaves                 bool // others than the tool may see the params
	entries                []*label.Tool
	lists                  []*list // that the tool gives
}

// rulesOf returns what the policy says of a target, by any of its names.
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
	if name == "" || more == "" || name == more {
		return name + strings.TrimPrefix(more, name)
	}
	return name + ", " + more
}

func (p *Policy) rulesFor(t *compile.Target) *toolRules {
	names := namesOf(t)
	r := &toolRules{name: t.Tool.Definition.Name, leaves: reachesOut(t)}
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
	for _, entry := range r.entries { // what leaves by one entry, leaves
		if entry.Leaves != nil {
			r.leaves = *entry.Leaves
		}
	}
	r.leaves = r.leaves || slices.ContainsFunc(r.entries, func(e *label.Tool) bool { return e.Leaves != nil && *e.Leaves })
	if r.gives == nil {
		r.gives = &tree{own: p.givesOf(t)}
	}
	if !isItself(t) { // what a policy says in favour of a tool is not said of what runs in its place
		r.endorses, r.declassifies = "", ""
		r.gives = r.gives.either(p, &tree{own: p.givesOf(t)})
	}
	for _, l := range p.lists {
		if !l.ofInput && selects(l.tool, names, t.Effects) {
			r.lists = append(r.lists, l)
		}
	}
	return r
}

// give adds what an entry says of results.
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

// givesOf returns the label of the results of a target of which the policy says nothing.
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

// isItself reports whether a target is what its tool is declared to be: no document, and no
// activity that the plan picked.
func isItself(t *compile.Target) bool { return !t.Picked && t.Delegate == nil }

// givesNothing reports whether a result holds nothing but what the params hold.
func givesNothing(t *compile.Target) bool {
	return t.Effects.Pure == tool.Yes || t.Driver == tool.BuiltIn || t.Driver == "delegate"
}

// reachesOut reports whether others than the tool may see its params, by its effects.
func reachesOut(t *compile.Target) bool {
	return t.Effects.OpenWorld != tool.No && !givesNothing(t)
}

// namesOf returns all names of a target.
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

// wants returns what a param has to be, by each entry.
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

// wantOf returns what an entry wants of a param; nil is nothing.
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

// result returns how bad what a target gives is, when its params are so.
func (a *analysis) result(r *toolRules, s step, carried *mark) *val {
	v := a.marked(r.gives, r.name, s)
	return a.carrying(v, a.dropped(r, carried))
}

// dropped returns what results carry of the params.
func (a *analysis) dropped(r *toolRules, m *mark) *mark {
	if m == nil || r.endorses == "" && r.declassifies == "" {
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
	n := &mark{lab: after(m.lab), step: m.step, before: m.before}
	m.from.all(func(i int) {
		src := a.sources.list[i]
		n.from = n.from.union(a.derived(src, r, after(src.lab)))
	})
	return n
}

func meant(name string, names []string) string {
	if best, ok := spell.Nearest(name, slices.Values(names)); ok {
		return "; did you mean \"" + best + "\"?"
	}
	return ""
}
