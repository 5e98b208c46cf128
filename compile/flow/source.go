package flow

import (
	"slices"
	"strings"

	"github.com/plc-lang/plc/tool/label"
)

// A Source is where values come from, as the policy tells them apart: a tool, a part of what it
// gives, a part of what the whiteboard holds at the start, the plan itself.
type Source struct {
	Name  string // "readMail", "readMail.id", "†input.iban", "the plan"
	Label label.Label
	// As is the name under which a tool endorsed or declassified what came from there; "" is that
	// none did.
	As string

	lab
	number int
}

// sources are those of an analysis, by number.
type sources struct {
	list  []*Source
	byKey map[string]int
}

// maxSources is the maximum number of sources that are told apart: of a plan that calls more tools,
// those beyond are one.
const maxSources = 4096

// source returns the set of the source of a name with a label.
func (a *analysis) source(name string, l lab) set {
	return a.sourceAs(name, "", l)
}

// derived returns the set of a source of which a tool drops a part of the label.
func (a *analysis) derived(src *Source, r *toolRules, l lab) set {
	names := []string{}
	if src.As != "" {
		names = strings.Split(src.As, also)
	}
	for _, name := range []string{r.endorses, r.declassifies} {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names) // each once, or there would be another source in each round of a loop
	return a.sourceAs(src.Name, strings.Join(slices.Compact(names), also), l)
}

// also stands between the names of Source.As.
const also = " + "

func (a *analysis) sourceAs(name, as string, l lab) set {
	if len(a.sources.list) >= maxSources {
		name, as = "other tools", ""
	}
	key := name + "\x00" + as
	i, ok := a.sources.byKey[key]
	if !ok {
		i = len(a.sources.list)
		a.sources.byKey[key] = i
		a.sources.list = append(a.sources.list, &Source{Name: name, As: as, lab: l, number: i})
	}
	src := a.sources.list[i]
	src.lab = a.policy.worst(src.lab, l)
	return set{}.with(i)
}

// of returns the sources of a set, in the order of their names.
func (s *sources) of(numbers set) (all []*Source) {
	numbers.all(func(i int) { all = append(all, s.list[i]) })
	slices.SortFunc(all, func(a, b *Source) int { return compareNames(a, b) })
	return all
}
