package law

import (
	"fmt"
	"slices"
	"strings"
)

// shrink leaves out what it can of a plan that still fails.
func shrink(p *plan, fails func(*plan) bool) *plan {
	for again := true; again; {
		again = false
		for _, q := range p.smaller() {
			if fails(q) {
				p, again = q, true
				break
			}
		}
	}
	return p
}

func (p *plan) clone() *plan {
	q := *p
	q.Kinds, q.Calls = slices.Clone(p.Kinds), slices.Clone(p.Calls)
	for i, c := range q.Calls {
		d := *c
		d.Params, d.Members = slices.Clone(c.Params), slices.Clone(c.Members)
		if c.Sub != nil {
			d.Sub = c.Sub.clone()
		}
		q.Calls[i] = &d
	}
	return &q
}

// smaller are the plans with one thing less.
func (p *plan) smaller() (qs []*plan) {
	change := func(f func(q *plan)) {
		q := p.clone()
		f(q)
		qs = append(qs, q)
	}
	for i := range p.Calls {
		if !strings.Contains(p.text(), fmt.Sprintf("[%q", p.Calls[i].ID)) && !strings.Contains(p.text(), fmt.Sprintf(",%q]", p.Calls[i].ID)) {
			change(func(q *plan) { q.Calls = slices.Delete(q.Calls, i, i+1) })
		}
	}
	for i, c := range p.Calls {
		for k, m := range c.Params {
			if m.Name == "items" || m.Name == "max" || m.Name == "value" || m.Name == "when" {
				continue
			}
			change(func(q *plan) { q.Calls[i].Params = slices.Delete(q.Calls[i].Params, k, k+1) })
		}
		for k, m := range c.Members {
			if m.Name != "_timeout" && m.Name != "_delegate" {
				change(func(q *plan) { q.Calls[i].Members = slices.Delete(q.Calls[i].Members, k, k+1) })
			}
		}
		if c.Does != (behavior{}) {
			change(func(q *plan) { q.Calls[i].Does = behavior{} })
			change(func(q *plan) { q.Calls[i].Does = behavior{Permanent: c.Does.Permanent, Code: "E1"} })
			change(func(q *plan) { q.Calls[i].Does.Choice = 0 })
		}
		if c.Sub != nil {
			for _, sub := range c.Sub.smaller() {
				change(func(q *plan) { q.Calls[i].Sub = sub })
			}
		} else if c.Tool != "plain" && c.Tool != "known" {
			change(func(q *plan) { q.Calls[i].Tool = "plain" })
		}
		for k, m := range c.Params {
			for _, v := range []string{`"†state"`, `1`} {
				if len(v) < len(m.JSON) && m.Name[0] == 'p' {
					change(func(q *plan) { q.Calls[i].Params[k].JSON = v })
				}
			}
		}
	}
	if p.Output != "" {
		change(func(q *plan) { q.Output = "" })
	}
	for i, k := range p.Kinds {
		if k.Name != "input" && k.JSON != "{}" {
			change(func(q *plan) { q.Kinds[i].JSON = "{}" })
		}
	}
	// A change that does not change anything would go on for ever.
	return slices.DeleteFunc(qs, func(q *plan) bool { return q.all() == p.all() })
}

// all is a plan with its documents and tools.
func (p *plan) all() string {
	s := p.text() + p.tools()
	for _, c := range p.Calls {
		if c.Sub != nil {
			s += c.Sub.all()
		}
	}
	return s
}

// tools says what the tools of a plan do.
func (p *plan) tools() string {
	s := "on failure: " + p.Strategy
	for _, c := range p.Calls {
		s += fmt.Sprintf("\n%s %s %+v", c.ID, c.Tool, c.Does)
		if c.Instead != (behavior{}) {
			s += fmt.Sprintf(" backup %+v", c.Instead)
		}
	}
	return s
}
