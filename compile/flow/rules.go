package flow

import (
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/label"
)

// rules holds what the policy says about a target.
type rules struct {
	gives label.Label
	parts []label.Path
	takes map[string]label.Bound
	drops bool
}

// rulesOf returns what the policy says of a target by any of its names: all that matches holds.
func (a *analysis) rulesOf(t *compile.Target) *rules {
	if r, ok := a.rules[t]; ok {
		return r
	}
	names := namesOf(t)
	r := &rules{takes: map[string]label.Bound{}}
	said := false
	for i := range a.policy.Tools {
		entry := &a.policy.Tools[i]
		if !matches(entry.Pattern, names) {
			continue
		}
		if entry.Gives != nil && !said {
			r.gives, said = *entry.Gives, true
		} else if entry.Gives != nil {
			r.gives = r.gives.Join(*entry.Gives)
		}
		r.parts = append(r.parts, entry.Parts...)
		r.drops = r.drops || entry.Drops
		for name, b := range entry.Takes {
			r.takes[name] = r.takes[name].Meet(b)
		}
	}
	if !said {
		r.gives = a.policy.OfUnknown()
		if givesNothing(t) {
			r.gives = a.policy.Best()
		}
	}
	if _, ok := r.takes["*"]; !ok && reachesOut(t) {
		r.takes["*"] = label.Bound{HasSecrecy: true}
	}
	a.rules[t] = r
	return r
}

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

func matches(pattern string, names []string) bool {
	for _, name := range names {
		if tool.Matches(pattern, name) {
			return true
		}
	}
	return false
}

// givesNothing reports whether a result holds nothing but what the params hold.
func givesNothing(t *compile.Target) bool {
	return t.Effects.Pure == tool.Yes || t.Driver == tool.BuiltIn || t.Driver == "delegate"
}

// reachesOut reports whether others than the tool may see its params.
func reachesOut(t *compile.Target) bool {
	return t.Effects.OpenWorld != tool.No && !givesNothing(t)
}

// bound returns what a param must be.
func (r *rules) bound(param string) (label.Bound, bool) {
	b, ok := r.takes[param]
	if !ok {
		b, ok = r.takes["*"]
	}
	return b, ok
}

// labelAt returns the label at a path: that of the longest path above it which has one, or else the
// one of the whole, joined with those of all paths below it.
func labelAt(whole label.Label, paths []label.Path, at []string) label.Label {
	l, longest := whole, 0
	for _, p := range paths {
		switch n := len(p.Names); {
		case n > len(at) || n < longest || !prefix(p.Names, at):
		case n == longest:
			l = l.Join(p.Label)
		default:
			l, longest = p.Label, n
		}
	}
	for _, p := range paths {
		if len(p.Names) > len(at) && prefix(at, p.Names) {
			l = l.Join(p.Label)
		}
	}
	return l
}

func prefix(p, path []string) bool {
	for i, name := range p {
		if path[i] != name {
			return false
		}
	}
	return true
}

// members returns the names of members on a path, leaving out elements of lists. It ends where a
// name may be either.
func members(p state.Path) (names []string, exact bool) {
	for _, s := range p {
		switch s.Kind {
		case state.Name:
			names = append(names, s.Name)
		case state.Either:
			return names, false
		}
	}
	return names, true
}
