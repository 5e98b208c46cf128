package flow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool/label"
)

// condition is a compiled condition.
type condition struct {
	any   compile.Predicate            // over params of any type
	typed map[string]compile.Predicate // by the name of the tool: over its params
}

func (c *condition) of(t *compile.Target) compile.Predicate {
	if t != nil {
		if p := c.typed[t.Tool.Definition.Name]; p != nil {
			return p
		}
	}
	return c.any
}

// rule is a rule with its compiled condition.
type rule struct {
	*label.Rule
	when *condition // nil if it has none
}

// condition returns the condition of the rule for a target; nil returns that for any target.
func (r *rule) condition(t *compile.Target) compile.Predicate { return r.when.of(t) }

// conditionOf returns the condition that stands in for the trust of a param.
func (p *Policy) conditionOf(w *label.Want, t *compile.Target) compile.Predicate {
	return p.conditions[w].of(t)
}

// list is a list that a param has to be an element of.
type list struct {
	want    *label.Want
	ofInput bool
	tool    label.Selector // the tool that returns it, unless it is in the input
	names   []string       // its path, without elements of lists
}

// vouch is a list that a call returns.
type vouch struct {
	list *list
	call *compile.Call
}

// never stands for a condition that can't be compiled. It never holds.
type never struct{}

func (never) Holds(context.Context, map[string]json.RawMessage) (bool, error) {
	return false, errors.New("the policy is faulty")
}

// condition compiles a condition, also against the params of each of these tools.
func (c *preparer) condition(said *label.Condition, variables []string, tools []*named) *condition {
	x := &condition{any: never{}, typed: map[string]compile.Predicate{}}
	if c.predicates == nil {
		c.errorf(diag.BadPolicy, said.Loc, "this program can't evaluate conditions: %s", said.Text)
		return x
	}
	vars := map[string]*schemas.Schema{}
	for _, name := range variables {
		vars[name] = nil
	}
	check := func() (compile.Predicate, bool) {
		p, err := c.predicates.Check(said.Text, vars, nil)
		if err != nil {
			c.errorf(diag.BadPolicy, said.Loc, "the condition %q: %s", said.Text, err)
		}
		return p, err == nil
	}
	p, ok := check()
	if !ok {
		return x
	}
	x.any = p
	for _, t := range tools {
		if t.Tool == nil || t.Definition.Params == nil {
			continue
		}
		vars["params"] = t.Definition.Params
		if p, ok := check(); ok {
			x.typed[t.Definition.Name] = p
			c.declared(said, vars, map[string]*named{"params": t})
		}
	}
	pairs := slices.Contains(variables, "now") // it says which pairs of calls are forbidden
	switch yes, err := p.Holds(context.Background(), nil); {
	case err != nil: // it depends on something
	case pairs && yes:
	case pairs:
		c.idle(said.Loc, "the condition %q never holds, so it protects nothing", said.Text)
	case yes:
		c.idle(said.Loc, "the condition %q always holds, so it protects nothing", said.Text)
	default:
		c.errorf(diag.BadPolicy, said.Loc, "the condition %q never holds", said.Text)
	}
	return x
}

// declared reports a condition that does not fit the params which tools declare, though they may
// allow others: such a condition can't be decided. vars are the types of its variables, and those
// in tools are the params of these.
func (c *preparer) declared(said *label.Condition, vars map[string]*schemas.Schema, tools map[string]*named) {
	only := maps.Clone(vars)
	for variable, t := range tools {
		if t.Tool == nil || len(t.Definition.Param) == 0 {
			continue
		}
		s := c.only[t]
		if s == nil {
			s = declaredParams(t)
			c.only[t] = s
		}
		only[variable] = s
	}
	if _, err := c.predicates.Check(said.Text, only, nil); err != nil {
		c.errorf(diag.BadPolicy, said.Loc, "the condition %q does not fit the params that are declared: %s", said.Text, err)
	}
}

// declaredParams returns the schema of params that has those which a tool declares and no others.
func declaredParams(t *named) *schemas.Schema {
	var fields []schemas.Field
	for _, name := range slices.Sorted(maps.Keys(t.Definition.Param)) {
		fields = append(fields, schemas.Field{Name: name, Schema: t.Definition.Param[name], Optional: true})
	}
	return schemas.Object(fields...)
}

// pairs does the same for a condition about two calls.
func (c *preparer) pairs(said *label.Condition, now, before []*named) {
	for _, t := range now {
		for _, u := range before {
			c.declared(said, map[string]*schemas.Schema{"now": nil, "before": nil, "input": nil}, map[string]*named{"now": t, "before": u})
		}
	}
}

// exact returns the tools if the selector is a name. Tools that a pattern or an annotation selects
// may have different params, so conditions are not checked against them.
func exact(s label.Selector, tools []*named) []*named {
	if _, ok := s.Annotation(); ok || strings.Contains(s.Text, "*") {
		return nil
	}
	return tools
}

// rule compiles a rule, and reports what does not fit the tools.
func (c *preparer) rule(r *label.Rule) {
	x := &rule{Rule: r}
	c.policy.rules = append(c.policy.rules, x)
	tools := c.matching(r.Tools, "a rule")
	var others []*named
	if r.Other.Text != "" {
		others = c.matching(r.Other, "a rule")
	}
	if r.Kind == label.Sum || r.Kind == label.Distinct {
		for _, t := range exact(r.Tools, tools) {
			if t.Tool != nil {
				c.param(t, r.Param, r.Loc)
			}
		}
	}
	if n, ok := amountIn(r.Most, nil); ok && n.negative() {
		c.errorf(diag.BadPolicy, r.Loc, "the limit is below 0, so no call could comply: %s", r.Text)
	}
	switch {
	case r.If == nil:
	case r.Kind == label.Never:
		x.when = c.condition(r.If, []string{"now", "before", "input"}, nil)
		if _, faulty := x.when.any.(never); !faulty {
			c.pairs(r.If, exact(r.Tools, tools), exact(r.Other, others))
		}
	default:
		x.when = c.condition(r.If, []string{"params", "input"}, exact(r.Tools, tools))
	}
}

// want compiles the condition of a requirement and finds its list.
func (c *preparer) want(t *label.Tool, w *label.Want) {
	if w.Or != nil {
		c.policy.conditions[w] = c.condition(w.Or, []string{"params", "input"}, exact(t.Selector, c.selected(t.Selector)))
	}
	if w.In != nil {
		c.policy.lists = append(c.policy.lists, c.list(w))
	}
}

// selected returns the tools that a selector means.
func (c *preparer) selected(s label.Selector) (all []*named) {
	if _, ok := s.Annotation(); !ok && !strings.Contains(s.Text, "*") {
		return c.byName[s.Text]
	}
	for _, t := range c.tools {
		if selects(s, t.names, effectsOf(t)) {
			all = append(all, t)
		}
	}
	return all
}

// list finds the list of a requirement.
func (c *preparer) list(w *label.Want) *list {
	p := c.policy
	if names, ok := w.In.OfInput(); ok {
		at := p.given.member("input")
		for _, name := range names {
			at = at.member(name)
		}
		if l := p.label(at.worst(p)); !p.said.AdmitsTrust(w.Bound, l) {
			c.errorf(diag.BadPolicy, w.In.Loc, "%s may be %s, so its elements are not trusted enough: the param must be %s",
				w.In.Text, p.said.Words(l), p.said.BoundWords(label.Bound{HasTrust: true, Trust: w.Trust}))
		}
		return &list{want: w, ofInput: true, names: names}
	}
	name, path, _ := strings.Cut(w.In.Text, ".")
	var giver *named
	var names []string
	for _, t := range c.tools { // the longest name counts
		for _, n := range t.names {
			names = append(names, n)
			if rest, ok := strings.CutPrefix(w.In.Text, n); ok && (rest == "" || rest[0] == '.') && (giver == nil || len(n) > len(name)) {
				giver, name, path = t, n, strings.TrimPrefix(rest, ".")
			}
		}
	}
	l := &list{want: w, tool: label.Selector{Text: name, Loc: w.In.Loc}}
	if path != "" {
		l.names = strings.Split(path, ".")
	}
	switch {
	case giver == nil && c.cat != nil:
		c.errorf(diag.UnknownTool, w.In.Loc, "%q begins with no tool, and is no path of the input%s", w.In.Text, meant(name, names))
	case giver != nil && giver.Tool != nil:
		c.output(giver, l.names, w.In.Loc)
	}
	return l
}

// contradictions reports rules that forbid a tool altogether.
func (c *preparer) contradictions() {
	order := &circles{before: map[string][]string{}, visits: map[string]int{}, circle: map[string]int{}}
	first := map[[2]string]*rule{} // the first "before" rule for two tools
	for _, r := range c.policy.rules {
		if r.Kind != label.Before {
			continue
		}
		pair := [2]string{r.Tools.Text, r.Other.Text}
		if first[pair] == nil {
			first[pair] = r
			order.before[r.Other.Text] = append(order.before[r.Other.Text], r.Tools.Text)
		}
	}
	for _, r := range c.policy.rules {
		switch {
		case r.Kind == label.Before && order.of(r.Tools.Text) == order.of(r.Other.Text):
			c.errorf(diag.BadPolicy, r.Loc, "%q would have to come before itself, so it could never be called: %s", r.Other.Text, r.Text)
		case r.Kind == label.Never && r.If == nil:
			if b := first[[2]string{r.Other.Text, r.Tools.Text}]; b != nil {
				c.errorf(diag.BadPolicy, r.Loc, "%q must come after %q and also never after it, so it could never be called: %s", r.Tools.Text, r.Other.Text, r.Text)
				c.findings[len(c.findings)-1].Related = []diag.Related{{Loc: b.Loc, Message: fmt.Sprintf("%s is here", b.Text)}}
			}
		}
	}
}

// circles finds the tools that would have to come before each other: these are in one circle. It is
// Tarjan's algorithm, and takes time linear in the rules.
type circles struct {
	before map[string][]string // the tools that have to come before a tool
	visits map[string]int      // in which order tools were visited, from 1
	circle map[string]int      // the number of the circle of a tool
	open   []string            // the tools whose circles are not known yet
}

// of returns the number of the circle of a tool.
func (c *circles) of(tool string) int {
	if c.visits[tool] == 0 {
		c.visit(tool)
	}
	return c.circle[tool]
}

// visit returns the first visit to a tool in the same circle that is known so far.
func (c *circles) visit(tool string) (first int) {
	own := len(c.visits) + 1
	first, c.visits[tool] = own, own
	c.open = append(c.open, tool)
	for _, b := range c.before[tool] {
		v := c.visits[b]
		if v == 0 {
			v = c.visit(b)
		} else if c.circle[b] > 0 {
			continue
		}
		first = min(first, v)
	}
	if first < own {
		return first
	}
	at := len(c.open) - 1
	for c.open[at] != tool {
		at--
	}
	for _, t := range c.open[at:] {
		c.circle[t] = own
	}
	c.open = c.open[:at]
	return maxVisit
}

// maxVisit is later than any visit.
const maxVisit = math.MaxInt
