package flow_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
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
		prog := p.compiled(cat)
		if prog == nil || p.sinks == 0 {
			continue
		}
		r := rand.New(rand.NewPCG(s, 5))
		strategy := strategies[r.IntN(len(strategies))]
		c := check(prog, newTestPolicy(r), strategy)
		for i := range 2 {
			done++
			a := &interpreter{choose: chooser(s*1000 + uint64(i)), strategy: strategy}
			b := &interpreter{choose: c.choosesOther(s*1000 + uint64(i)), strategy: strategy}
			ended := a.run(p, inputNode()).ended
			ended = b.run(p, inputNode()).ended || ended
			x, y := c.observed(a), c.observed(b)
			seen += len(x)
			if !slices.EqualFunc(a.events, b.events, func(e, f event) bool { return e.params == f.params && e.call == f.call }) {
				differ++
			}
			n := min(len(x), len(y))
			if !slices.Equal(x[:n], y[:n]) || !ended && len(x) != len(y) {
				t.Fatalf("strategy %s: an observer sees\n%s\nand then\n%s\n%s%s", strategy, strings.Join(x, "\n"), strings.Join(y, "\n"), describe(c), p)
			}
		}
	}
	t.Logf("%d pairs, of which %d differ in what sinks are given; %d calls observed", done, differ, seen)
	if seen < done/10 || differ < done/10 {
		t.Errorf("too few: %d pairs differ, %d calls observed", differ, seen)
	}
}

func isPublic(l label.Label) bool { return l.Secrecy == 0 && len(l.Categories) == 0 }

// choosesOther returns the results of chooser, but others for tools whose results are not public.
func (c *checked) choosesOther(seed uint64) func(tool, params string, n int) int {
	same, other := chooser(seed), chooser(seed+500)
	return func(tool, params string, n int) int {
		if c.givesSecrets(tool) {
			return other(tool, params, n)
		}
		return same(tool, params, n)
	}
}

// givesSecrets reports whether no part of the results of a tool is public.
func (c *checked) givesSecrets(tool string) bool {
	if i, err := strconv.Atoi(strings.TrimPrefix(tool, "src")); err == nil {
		parts := c.labels[int(ofSource)+i*partsOfSource:][:partsOfSource]
		return !slices.ContainsFunc(parts, isPublic)
	}
	own := map[string]atom{"wrap": ofWrap, "picky": ofPicky, "pick": ofPick, "redact": ofRedact, "vouch": ofVouch, "sink": ofSink, "out": ofOut}
	a, ok := own[tool]
	return ok && !isPublic(c.labels[a])
}

// observed returns the calls of a run that, by the report, only public values reach and decide.
func (c *checked) observed(in *interpreter) (all []string) {
	public := true
	for i := range in.events {
		e := &in.events[i]
		if e.params == "" {
			s, ok := c.sinks[place{e.call.id, e.param, e.fallback}]
			public = public && ok && isPublic(s.Label) && isPublic(s.Decides)
			continue
		}
		if public {
			all = append(all, e.call.id+" "+e.params)
		}
		public = true
	}
	return all
}
