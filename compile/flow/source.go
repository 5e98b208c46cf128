package flow

import (
	"slices"
	"strings"
	"sync"

	"github.com/plc-lang/plc/tool/label"
)

// A Source is an origin of values: a tool, a part of its results, a part of the whiteboard at the
// start, or the plan itself.
type Source struct {
	Name  string // "readMail", "readMail.id", "†input.iban", "the plan"
	Label label.Label
	// As is the name under which tools have endorsed or declassified the value; "" if none has.
	As string

	lab
	number int
}

// sources holds the sources of an analysis, by number.
type sources struct {
	list  []*Source
	byKey map[string]int

	mu   sync.Mutex
	sets map[*uint64][]*Source // of sets by their memory, which they share
}

// maxSources is the maximum number of sources; all others count as one.
const maxSources = 4096

// source returns the set of one source, with this name and label.
func (a *analysis) source(name string, l lab) set {
	return a.sourceAs(name, "", l)
}

// derived returns the set of a source whose label a tool has changed to l.
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

// finish sets the labels of the sources.
func (s *sources) finish(p *Policy) {
	for _, src := range s.list {
		src.Label = p.label(src.lab)
	}
}

// of returns the sources of a set, by name. Several goroutines may call it at once.
func (s *sources) of(numbers set) []*Source {
	if len(numbers) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all, ok := s.sets[&numbers[0]]
	if ok {
		return all
	}
	numbers.all(func(i int) { all = append(all, s.list[i]) })
	slices.SortFunc(all, func(a, b *Source) int { return compareNames(a, b) })
	if s.sets == nil {
		s.sets = map[*uint64][]*Source{}
	}
	s.sets[&numbers[0]] = all
	return all
}
