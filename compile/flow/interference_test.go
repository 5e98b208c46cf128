package flow_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool/label"
)

// Two runs that differ only in values that are not public make the same calls, in the same order
// and with the same params, as far as the report says that only public values reach and decide
// them. If a failure ends a run, only the calls before are compared: such an end is not followed
// (docs/flow.md).
func TestNonInterference(t *testing.T) {
	cat := catalogue(false)
	done, seen, differ := 0, 0, 0
	for s := *seed; done < *pairs; s++ {
		p := newPlan(s, false)
		if p.sinks == 0 {
			continue
		}
		prog := p.compiled(cat)
		if prog == nil {
			continue
		}
		r := rand.New(rand.NewPCG(s, 5))
		strategy, bound := strategies[r.IntN(len(strategies))], bindingsOf(prog, p.root)
		for i := range 4 {
			c := check(prog, newTestPolicy(r, i < 3), strategy)
			done++
			a := &interpreter{choose: chooser(s*1000 + uint64(i)), say: same, strategy: strategy, bound: bound}
			b := c.other(s*1000+uint64(i), strategy, bound)
			ended := a.run(p)
			ended = b.run(p) || ended
			if !slices.EqualFunc(a.events, b.events, func(e, f event) bool { return e.params == f.params && e.call == f.call }) {
				differ++
			}
			seen += c.sameObserved(t, p, a, b, ended)
		}
	}
	t.Logf("from seed %d: %d pairs, of which %d differ in what sinks are given; %d calls observed", *seed, done, differ, seen)
	if seen < done/5 || differ < done/10 {
		t.Errorf("too few: %d pairs differ, %d calls observed", differ, seen)
	}
}

// sameObserved reports what is observed in one run and not in the other, and returns how many calls
// are. ended says that a failure ended one of the runs.
func (c *checked) sameObserved(t *testing.T, p *gplan, a, b *interpreter, ended bool) (seen int) {
	for _, name := range append([]string{""}, p.instances...) {
		for _, undo := range []bool{false, true} {
			x, y := c.observed(a, name, undo), c.observed(b, name, undo)
			seen += len(x)
			n := min(len(x), len(y))
			if !slices.Equal(x[:n], y[:n]) || !ended && len(x) != len(y) {
				t.Fatalf("strategy %s: an observer sees\n%s\nand then\n%s\n%s%s", a.strategy, strings.Join(x, "\n"), strings.Join(y, "\n"), c.describe(), p)
			}
		}
	}
	return seen
}

func isPublic(l label.Label) bool { return l.Secrecy == 0 && len(l.Categories) == 0 }

// other returns an interpreter whose tools decide and say other things where that is not public, and
// whose input says other things there.
func (c *checked) other(seed uint64, strategy string, bound bindings) *interpreter {
	usual, other := chooser(seed), chooser(seed+500)
	return &interpreter{
		strategy: strategy, bound: bound,
		choose: func(tool, params string, own atoms, n int) int {
			if isPublic(c.label(own)) {
				return usual(tool, params, own, n)
			}
			return other(tool, params, own, n)
		},
		say: func(text string, own atoms) string {
			if isPublic(c.label(own)) {
				return text
			}
			return "other " + text
		},
	}
}

// observed returns the calls of a run, or of an instance in it, that, by the report, only public
// values reach and decide: those of the plan or, with undo, those that take these back.
func (c *checked) observed(in *interpreter, instance string, undo bool) (all []string) {
	public := true
	for i := range in.events {
		e := &in.events[i]
		if e.instance != instance || undo != (e.undo != nil) {
			continue
		}
		if e.params == "" {
			s, ok := c.sinks[place{e.call.id, e.param, e.fallback, undo}]
			public = public && ok && isPublic(s.Label()) && isPublic(s.Decides())
			continue
		}
		if public {
			all = append(all, e.call.id+" "+e.params)
		}
		public = true
	}
	return all
}
