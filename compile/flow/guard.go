package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool/label"
)

// A Guard checks the calls of one run, with their actual params: rules, params that have to be
// elements of a list, and conditions that stand in for trust, as far as they could not be decided
// before the run. Package exec asks it before a tool is called. Its methods may be called by
// several goroutines at once.
//
// Calls count in the order in which they start; calls that change the world start in plan order.
type Guard struct {
	// Broken, if not nil, is called with everything that a call breaks, perhaps more than once. It
	// must be set before the run starts, and is not called by two goroutines at once.
	Broken func(*Reason)

	mu    *sync.Mutex
	parts []*guardPart
}

// guardPart checks one policy.
type guardPart struct {
	policy *Policy
	input  json.RawMessage // what its rules read as the input; nil if there is none
	report *Report
	sinks  map[sinkKey]*Sink
	asks   map[*compile.Call][]asking
	rules  map[*compile.Target]*toolRules
	*sofar
}

// sofar holds what rules need to know of the calls so far.
type sofar struct {
	tally  []tally                    // by rule
	before []past                     // by rule: the calls so far
	lists  map[string]map[string]bool // the elements of the lists of tools, in canonical form
}

// asking is a flow that a person has to approve before the call.
type asking struct {
	fallback bool
	what     string
	rule     string
	code     diag.Code
}

// past holds what a rule needs to know about earlier calls.
type past struct {
	done   bool              // Before: one has completed
	params []json.RawMessage // Never: those of each call that started; of the first only if the rule has no condition
}

// NewGuard returns a guard for a run of a program; nil if nothing is left to check.
func NewGuard(prog *compile.Program, reports ...*Report) *Guard {
	g := &Guard{mu: &sync.Mutex{}}
	for _, r := range reports {
		p := &guardPart{
			policy: r.Policy, input: r.Policy.inputOf(prog), report: r, sinks: map[sinkKey]*Sink{}, asks: map[*compile.Call][]asking{}, rules: map[*compile.Target]*toolRules{},
			sofar: &sofar{make([]tally, len(r.Policy.rules)), make([]past, len(r.Policy.rules)), map[string]map[string]bool{}},
		}
		for _, s := range r.Sinks() {
			if s.Undoes { // another run does that
				continue
			}
			p.sinks[sinkKey{call: s.Call, param: s.Param, fallback: s.Fallback}] = s
			for _, f := range r.Policy.faults(s) {
				if s.verdictOf(&f) == Asks {
					p.asks[s.Call] = append(p.asks[s.Call], asking{s.Fallback, s.message(&f), s.rule(f.want), f.code})
				}
			}
		}
		if len(p.asks) > 0 || r.Policy.checksCalls() {
			g.parts = append(g.parts, p)
		}
	}
	if len(g.parts) == 0 {
		return nil
	}
	return g
}

// Join makes the guard count together with another one, under policies that they both check: the
// runs of a loop are one run to rules. It must be called before the run starts.
func (g *Guard) Join(other *Guard) {
	g.mu = other.mu
	for _, p := range g.parts {
		if i := slices.IndexFunc(other.parts, func(q *guardPart) bool { return q.policy == p.policy }); i >= 0 {
			p.sofar = other.parts[i].sofar
		}
	}
}

// checksCalls reports whether a policy has something that has to be checked while a plan runs.
func (p *Policy) checksCalls() bool {
	return len(p.rules) > 0 || slices.ContainsFunc(p.said.Tools, func(t label.Tool) bool {
		return slices.ContainsFunc(t.Takes, func(w label.Want) bool { return w.StandsIn() })
	})
}

// Check checks a call with these params. asks are the reasons why a person has to approve it, if
// any; the error says why it may not be made. target is that of the call or of its fallback.
func (g *Guard) Check(ctx context.Context, c *compile.Call, target *compile.Target, params json.RawMessage) (asks []string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	asks, _, err = g.check(ctx, &start{c, target, params})
	return asks, err
}

// Admit does what Check does, and counts the call unless it returns reasons or an error. It counts
// the call as well if a person who was shown all of these reasons (allowed) has approved it. warn
// names what the call breaks that the policy only warns of.
func (g *Guard) Admit(ctx context.Context, c *compile.Call, target *compile.Target, params json.RawMessage, allowed []string) (asks []string, warn string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := &start{c, target, params}
	asks, warn, err = g.check(ctx, s)
	news := func(why string) bool { return !slices.Contains(allowed, why) }
	if err != nil || slices.ContainsFunc(asks, news) {
		return asks, "", err
	}
	g.count(s)
	return nil, warn, nil
}

// Made counts a call that was made before this process ran the plan.
func (g *Guard) Made(c *compile.Call, target *compile.Target, params json.RawMessage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count(&start{c, target, params})
}

// start is a call that is about to be made.
type start struct {
	call   *compile.Call
	target *compile.Target
	params json.RawMessage
}

// Violated is the error for a call that may not be made.
type Violated struct {
	Policy string // its name
	What   string // what is wrong, and with which rule
}

func (v *Violated) Error() string { return v.What + " (" + v.Policy + ")" }

func (g *Guard) check(ctx context.Context, s *start) (asks []string, warn string, err error) {
	var warns []string
	for _, p := range g.parts {
		for _, b := range p.breaches(ctx, s) {
			if g.Broken != nil {
				g.Broken(b.reason(p.policy, s))
			}
			switch b.violation {
			case label.Reject:
				return nil, "", &Violated{p.policy.Name(), b.what}
			case label.Approve:
				asks = append(asks, b.what+" ("+p.policy.Name()+")")
			case label.Warn:
				warns = append(warns, b.what+" ("+p.policy.Name()+")")
			}
		}
	}
	return asks, strings.Join(warns, "; "), nil
}

// broken is something that a call breaks.
type broken struct {
	what      string
	violation label.Violation
	rule      string // as Reason.Rule
	code      diag.Code
}

// reason returns what a call breaks as a Reason.
func (b *broken) reason(p *Policy, s *start) *Reason {
	return &Reason{
		Policy: p.Name(), Rule: b.rule, Code: b.code, Verdict: violated(b.violation),
		Loc: s.call.Source.ToolNode.Loc(), Message: fmt.Sprintf("%q: %s", s.call.ID, b.what),
	}
}

// breaches returns everything in the policy that a call breaks.
func (p *guardPart) breaches(ctx context.Context, s *start) (all []broken) {
	add := func(v label.Violation, rule string, code diag.Code, format string, args ...any) {
		all = append(all, broken{fmt.Sprintf(format, args...), v, rule, code})
	}
	names := namesOf(s.target)
	for i, r := range p.policy.rules {
		if !selects(r.about(), names, s.target.Effects) {
			continue
		}
		if what := p.breaks(ctx, i, r, s); what != "" {
			add(r.Violation, r.Text, codeOf(r.Kind), "%s: %s", what, r.Text)
		}
	}
	for _, a := range p.asks[s.call] {
		if a.fallback == (s.target != s.call.Target) || s.call.Rare != nil && s.call.Fallback != nil && s.call.Fallback.Target == s.call.Target {
			add(label.Approve, a.rule, a.code, "%s", a.what)
		}
	}
	if p.report.undoes {
		return all
	}
	rules := p.rulesOf(s.target)
	var members map[string]json.RawMessage
	if len(rules.entries) > 0 {
		_ = json.Unmarshal(s.params, &members) // they are an object, or have no members
	}
	for name, v := range members {
		for _, w := range rules.wants(p.policy.said, name) {
			if w.In != nil && !p.isElement(w, v) {
				add(w.Violation, p.policy.names[w], diag.NotTrusted, "the param %q of %q is not an element of %s", name, rules.name, w.In.Text)
			}
			if w.Or != nil && !p.trusted(w, s, name) {
				if yes, err := p.policy.conditionOf(w, s.target).Holds(ctx, p.variables(s, nil)); err != nil {
					add(w.Violation, p.policy.names[w], diag.NotTrusted, "the condition for the param %q of %q can't be evaluated (%s): %s", name, rules.name, err, w.Or.Text)
				} else if !yes {
					add(w.Violation, p.policy.names[w], diag.NotTrusted, "the param %q of %q may not be trusted enough, and this condition does not hold: %s", name, rules.name, w.Or.Text)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b broken) int { return strings.Compare(a.what, b.what) })
	return all
}

// rulesOf returns the rules for a target, made once.
func (p *guardPart) rulesOf(t *compile.Target) *toolRules {
	r := p.rules[t]
	if r == nil {
		r = p.policy.rulesFor(t)
		p.rules[t] = r
	}
	return r
}

// trusted reports whether the report shows that a param is trusted enough.
func (p *guardPart) trusted(w *label.Want, s *start, param string) bool {
	shown := false
	for _, fallback := range []bool{false, true} { // which may be of one target
		x := p.sinks[sinkKey{call: s.call, param: param, fallback: fallback}]
		if x != nil && p.policy.distrusts(w, p.policy.labelOf(x.value)) {
			return false
		}
		shown = shown || x != nil
	}
	return shown
}

// variables returns the variables of conditions.
func (p *guardPart) variables(s *start, before json.RawMessage) map[string]json.RawMessage {
	vars := map[string]json.RawMessage{"params": s.params, "now": s.params}
	if p.input != nil {
		vars["input"] = p.input
	}
	if before != nil {
		vars["before"] = before
	}
	return vars
}

// breaks returns how a call breaks a rule; "" if it does not.
func (p *guardPart) breaks(ctx context.Context, i int, r *rule, s *start) string {
	switch r.Kind {
	case label.Before:
		if !p.before[i].done {
			return fmt.Sprintf("no call that matches %q has completed yet", r.Tools.Text)
		}
	case label.OnlyIf:
		switch yes, err := r.condition(s.target).Holds(ctx, p.variables(s, nil)); {
		case err != nil:
			return fmt.Sprintf("its condition can't be evaluated (%s)", err)
		case !yes:
			return "its condition does not hold"
		}
	case label.Never:
		return p.follows(ctx, i, r, s)
	default:
		most, ok := amountIn(r.Most, p.input)
		if !ok {
			return "the input has no number at the path of the limit"
		}
		next, fault := p.tally[i].with(r.Rule, valueOfParam(s.params, r.Param))
		if fault != "" {
			return "it " + fault
		}
		if next.over(r.Rule, most) {
			return fmt.Sprintf("this call would make it %s, and the limit is %s", next.words(r.Rule), numberWords(most.rat()))
		}
	}
	return ""
}

// follows returns whether a call comes after one that it may not follow.
func (p *guardPart) follows(ctx context.Context, i int, r *rule, s *start) string {
	for _, before := range p.before[i].params {
		if r.If == nil {
			return "it comes after such a call"
		}
		switch yes, err := r.condition(nil).Holds(ctx, p.variables(s, before)); {
		case err != nil:
			return fmt.Sprintf("its condition can't be evaluated (%s)", err)
		case yes:
			return "it comes after such a call"
		}
	}
	return ""
}

// valueOfParam returns a param, and null for one that is not there.
func valueOfParam(params json.RawMessage, name string) json.RawMessage {
	if v, ok := memberAt(params, []string{name}); ok {
		return v
	}
	return json.RawMessage("null")
}

// count counts a call that is made.
func (g *Guard) count(s *start) {
	names := namesOf(s.target)
	for _, p := range g.parts {
		for i, r := range p.policy.rules {
			switch r.Kind {
			case label.Never:
				if selects(r.Other, names, s.target.Effects) && (r.If != nil || len(p.before[i].params) == 0) {
					p.before[i].params = append(p.before[i].params, s.params)
				}
			case label.Sum, label.Count, label.Distinct:
				if selects(r.Tools, names, s.target.Effects) {
					_ = p.tally[i].add(r.Rule, valueOfParam(s.params, r.Param)) // what can't be counted breaks the rule anyway
				}
			}
		}
	}
}

// Ended notes the result of a tool: rules may require that it comes before others, and params may
// have to be elements of it. A document that runs under the name of a tool, or an activity that a
// plan picked for it, is not the tool.
func (g *Guard) Ended(c *compile.Call, target *compile.Target, result json.RawMessage) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if target == nil || !isItself(target) {
		return
	}
	names := namesOf(target)
	hasFallback := c.Rare != nil && c.Fallback != nil && c.Fallback.Target == target // of which the list may be
	for _, p := range g.parts {
		for i, r := range p.policy.rules {
			if r.Kind == label.Before && selects(r.Tools, names, target.Effects) {
				p.before[i].done = true
			}
		}
		for _, l := range p.rulesOf(target).lists {
			if target != c.Target || hasFallback || !p.report.vouches(l, c) {
				continue
			}
			set := p.lists[l.want.In.Text]
			if set == nil {
				set = map[string]bool{}
				p.lists[l.want.In.Text] = set
			}
			elements(result, l.names, func(v json.RawMessage) { set[string(jsonscan.Canonical(nil, v))] = true })
		}
	}
}

// isElement reports whether a param is an element of its list, or is a list that has only elements
// of it.
func (p *guardPart) isElement(w *label.Want, v json.RawMessage) bool {
	set := p.lists[w.In.Text]
	if names, ok := w.In.OfInput(); ok {
		set = map[string]bool{}
		elements(p.input, names, func(v json.RawMessage) { set[string(jsonscan.Canonical(nil, v))] = true })
	}
	if set[string(jsonscan.Canonical(nil, v))] {
		return true
	}
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil || len(list) == 0 {
		return false
	}
	return !slices.ContainsFunc(list, func(v json.RawMessage) bool { return !set[string(jsonscan.Canonical(nil, v))] })
}

// elements calls f with each value at a path of members, going through the elements of lists.
func elements(v json.RawMessage, names []string, f func(json.RawMessage)) {
	var list []json.RawMessage
	if json.Unmarshal(v, &list) == nil && list != nil {
		for _, e := range list {
			elements(e, names, f)
		}
		return
	}
	if len(names) == 0 {
		if len(v) > 0 {
			f(v)
		}
		return
	}
	if sub, ok := memberAt(v, names[:1]); ok {
		elements(sub, names[1:], f)
	}
}
