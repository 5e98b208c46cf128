package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sync"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool/label"
)

// A Duty is a rule of the policy, applied to the calls of a plan. If it depends on values, a Guard
// checks it before each of these calls.
type Duty struct {
	Rule    *label.Rule
	Verdict Verdict
	Calls   []*compile.Call // the calls that it is about, in plan order; those of a document come after the call that runs it

	policy *Policy
	fault  *breach
}

// breach is a call that breaks a rule.
type breach struct {
	code    diag.Code
	at      *site
	message string
	others  []*site
	note    string // about each of the others
}

func (d *Duty) findings() diag.List {
	if d.fault == nil {
		return nil
	}
	f := diag.Finding{
		Code: d.fault.code, Severity: diag.Error, Loc: d.fault.at.loc(), Call: d.fault.at.call.ID,
		Message: fmt.Sprintf("%s: %s", d.fault.message, d.Rule.Text),
	}
	switch d.Verdict {
	case Warned:
		f.Severity = diag.Warning
	case Asks:
		f.Severity = diag.Warning
		f.Message += ": a person has to approve the call"
	}
	for i, s := range d.fault.others {
		if i == maxNotes {
			break
		}
		f.Related = append(f.Related, diag.Related{Loc: s.loc(), Message: d.fault.note})
	}
	return diag.List{f}
}

// maxNotes is the maximum number of other calls that a finding shows.
const maxNotes = 20

// site is a call, or its fallback, as rules see it.
type site struct {
	call   *compile.Call
	prog   *compile.Program
	target *compile.Target
	params []lang.Member
	always bool // it is made unless something fails
	many   bool // it may be made more than once

	kind   int        // the index of the target in sites.targets
	values []*written // of the params; nil if nobody has asked
	whole  *written   // all params; nil if nobody has asked
}

// written holds a param as rules look at it: its value, if the plan writes it out.
type written struct {
	literal   bool
	json      json.RawMessage
	canonical string
	number    number
}

func (s *site) loc() diag.Loc { return s.prog.Loc(s.call.Source.ToolNode.Span()) }

// literal returns the value of a param that is written out; nil if there is no such param, and
// false if it holds a reference.
func (s *site) literal(name string) (json.RawMessage, bool) {
	v := s.value(name)
	return v.json, v.literal
}

// absent is a param that is not there. Rules about values take it for null.
var absent = &written{literal: true, canonical: "null", number: number{not: true}}

// referring is a param that holds a reference.
var referring = &written{}

// value returns the value of a param, found once.
func (s *site) value(name string) *written {
	for i := range s.params {
		if s.params[i].Name == name {
			return s.valueAt(i)
		}
	}
	return absent
}

func (s *site) valueAt(i int) *written {
	if s.values == nil {
		s.values = make([]*written, len(s.params))
	}
	if s.values[i] == nil {
		s.values[i] = writtenAs(s.params[i].Value)
	}
	return s.values[i]
}

func writtenAs(value lang.Node) *written {
	for range value.TextNodes() {
		return referring
	}
	v := &written{literal: true, json: value.AppendJSON(nil)}
	v.number = numberIn(v.json)
	return v
}

// literals returns the params as an object, if all are written out.
func (s *site) literals() (json.RawMessage, bool) {
	if s.whole == nil {
		s.whole = s.object()
	}
	return s.whole.json, s.whole.literal
}

func (s *site) object() *written {
	out := []byte{'{'}
	for i := range s.params {
		v := s.valueAt(i)
		if !v.literal {
			return v
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(jsonscan.AppendQuoted(out, s.params[i].Name), ':'), v.json...)
	}
	return &written{literal: true, json: append(out, '}')}
}

// sites finds the calls of a program and of the documents that it delegates to.
type sites struct {
	all  []*site
	docs map[*compile.Program][]*site // the sites of each program, including its documents

	kinds   map[*compile.Target]int // the indexes of targets
	targets []*compile.Target
	some    map[string][]*site // the sites that selectors mean, by their text
	made    block[site]
}

// kind returns the index of a target.
func (x *sites) kind(t *compile.Target) int {
	i, ok := x.kinds[t]
	if !ok {
		if x.kinds == nil {
			x.kinds = map[*compile.Target]int{}
		}
		i = len(x.targets)
		x.kinds[t], x.targets = i, append(x.targets, t)
	}
	return i
}

func (x *sites) add(prog *compile.Program, always, many bool) (own []*site) {
	if seen, ok := x.docs[prog]; ok { // another caller
		for _, s := range seen {
			s.many = true
		}
		return seen
	}
	x.docs[prog] = nil // so that a document that runs itself would end the search
	for i := range prog.Calls {
		c := &prog.Calls[i]
		if c.Target == nil || c.Rare != nil && c.Result != nil {
			continue
		}
		s := x.made.next()
		*s = site{call: c, prog: prog, target: c.Target, kind: x.kind(c.Target), params: c.Source.Params, always: always && isAlways(prog, c), many: many}
		x.all, own = append(x.all, s), append(own, s)
		if c.Rare == nil {
			continue
		}
		if c.Delegate != nil && c.Delegate.Program != nil {
			once := c.Delegate.Loop == compile.Once
			own = append(own, x.add(c.Delegate.Program, s.always && once, many || !once)...)
		}
		if f := c.Fallback; f != nil && f.Target != nil {
			params := s.params
			if f.Params != nil && c.Source.Rest.Fallback != nil {
				params = c.Source.Rest.Fallback.Params
			}
			s := &site{call: c, prog: prog, target: f.Target, kind: x.kind(f.Target), params: params, many: many}
			x.all, own = append(x.all, s), append(own, s)
		}
	}
	x.docs[prog] = own
	return own
}

// isAlways reports whether a call is made whenever the program runs and nothing fails.
func isAlways(prog *compile.Program, c *compile.Call) bool {
	if prog.Template || c.When != nil || c.Rare != nil && (c.Instance != "" || len(c.DependsOn) > 0) {
		return false
	}
	for x := range c.Params.Exprs() {
		if !isThere(prog, x) {
			return false
		}
	}
	return true
}

// isThere reports whether an expression has a value unless something fails.
func isThere(prog *compile.Program, x *compile.Expr) bool {
	switch x.Op() {
	case lang.OpLiteral:
		return true
	case lang.OpOr:
		return slices.ContainsFunc(x.Args(), func(a *compile.Expr) bool { return isThere(prog, a) })
	case lang.OpAnd:
		return !slices.ContainsFunc(x.Args(), func(a *compile.Expr) bool { return !isThere(prog, a) })
	}
	r, void := x.Ref()
	return r != nil && !void && (r.Since > 0 || prog.Holds(r.Path))
}

// duties applies the rules of the policy to the calls of a program.
func (a *analysis) duties(prog *compile.Program) (all []*Duty) {
	if len(a.policy.rules) == 0 {
		return nil
	}
	x := &sites{docs: map[*compile.Program][]*site{}}
	x.add(prog, true, prog.Template) // a template runs once for each instance
	input := sync.OnceValue(func() json.RawMessage { return a.policy.inputOf(prog) })
	calls := map[string][]*compile.Call{} // of the sites that selectors mean, by their text
	for _, r := range a.policy.rules {
		d := &Duty{Rule: r.Rule, Verdict: Depends, policy: a.policy}
		about := x.matching(r.about())
		if len(about) == 0 {
			continue
		}
		own, ok := calls[r.about().Text]
		if !ok {
			own = callsOf(about)
			calls[r.about().Text] = own
		}
		d.Calls = own
		switch r.Kind {
		case label.Sum, label.Count, label.Distinct:
			d.quantity(about, input())
		case label.Never:
			d.never(about, x.matching(r.Other))
		case label.Before:
			d.before(about, x.matching(r.Tools))
		case label.OnlyIf:
			d.onlyIf(r, about, input())
		}
		if d.fault != nil {
			d.Verdict = violated(r.Violation)
		}
		all = append(all, d)
	}
	return all
}

// about returns the tools whose calls a rule may forbid.
func (r *rule) about() label.Selector {
	if r.Kind == label.Before {
		return r.Other
	}
	return r.Tools
}

// callsOf returns the calls of sites, each once, in the order of the sites.
func callsOf(about []*site) []*compile.Call {
	all, seen := make([]*compile.Call, 0, len(about)), map[*compile.Call]bool{}
	for _, s := range about {
		if s.call.Rare != nil && s.call.Fallback != nil { // which is another site
			if seen[s.call] {
				continue
			}
			seen[s.call] = true
		}
		all = append(all, s.call)
	}
	return slices.Clip(all)
}

// matching returns the sites of the tools that a selector means.
func (x *sites) matching(s label.Selector) []*site {
	some, ok := x.some[s.Text]
	if ok {
		return some
	}
	means := make([]bool, len(x.targets))
	for i, t := range x.targets {
		means[i] = selects(s, namesOf(t), t.Effects)
	}
	for _, s := range x.all {
		if means[s.kind] {
			some = append(some, s)
		}
	}
	if x.some == nil {
		x.some = map[string][]*site{}
	}
	x.some[s.Text] = some
	return some
}

// quantity decides a rule about a sum, a count or different values.
func (d *Duty) quantity(about []*site, input json.RawMessage) {
	most, known := amountIn(d.Rule.Most, input)
	if !known {
		return
	}
	var least, highest tally
	var sure []*site
	exact := true
	for _, s := range about {
		v := s.value(d.Rule.Param)
		exact = exact && !s.many && (v.literal || d.Rule.Kind != label.Sum)
		if !v.literal && d.Rule.Kind == label.Distinct { // at worst another one
			highest.addUnknown()
			continue
		}
		if fault := highest.addWritten(d.Rule, v); fault != "" {
			d.fault = &breach{code: diag.BeyondLimit, at: s, message: fmt.Sprintf("%q %s", s.target.Tool.Definition.Name, fault)}
			return
		}
		if s.always && (v.literal || d.Rule.Kind == label.Count) {
			_ = least.addWritten(d.Rule, v)
			sure = append(sure, s)
		}
	}
	switch {
	case least.over(d.Rule, most):
		last := sure[len(sure)-1]
		d.fault = &breach{
			code: diag.BeyondLimit, at: last, others: sure[:len(sure)-1], note: "this call counts as well",
			message: fmt.Sprintf("the calls of this plan come to %s, and the policy allows %s", least.words(d.Rule), numberWords(most.rat())),
		}
	case exact && !highest.over(d.Rule, most):
		d.Verdict = Allowed
	}
}

// never decides a "never after" rule.
func (d *Duty) never(about, before []*site) {
	if len(before) == 0 || len(before) == 1 && len(about) == 1 && before[0] == about[0] && !about[0].many {
		d.Verdict = Allowed
		return
	}
	if d.Rule.If != nil {
		return
	}
	for _, s := range about {
		for _, b := range before {
			if s.always && b.always && s.prog == b.prog && b.call.Place < s.call.Place {
				d.fault = &breach{
					code: diag.WrongOrder, at: s, others: []*site{b}, note: fmt.Sprintf("%q is called here", b.target.Tool.Definition.Name),
					message: fmt.Sprintf("%q comes after %q, and the policy forbids it", s.call.ID, b.call.ID),
				}
				return
			}
		}
	}
}

// before decides a "before" rule.
func (d *Duty) before(about, first []*site) {
	if len(first) > 0 {
		s := about[0]
		late := func(b *site) bool { return b.prog == s.prog && !b.many && b.call.Place >= s.call.Place }
		if s.many || slices.ContainsFunc(first, func(b *site) bool { return !late(b) }) {
			return
		}
	}
	d.fault = &breach{
		code: diag.WrongOrder, at: about[0], others: first, note: "this call comes too late",
		message: fmt.Sprintf("no call that matches %q comes before %q, as the policy requires", d.Rule.Tools.Text, about[0].call.ID),
	}
}

// onlyIf decides an "only if" rule.
func (d *Duty) onlyIf(r *rule, about []*site, input json.RawMessage) {
	holds := true
	vars := map[string]json.RawMessage{}
	if input != nil {
		vars["input"] = input
	}
	for _, s := range about {
		params, ok := s.literals()
		if !ok {
			holds = false
			continue
		}
		vars["params"] = params
		yes, err := r.condition(s.target).Holds(context.Background(), vars)
		switch {
		case err != nil: // the input is not known, or another run says more
			holds = false
		case !yes:
			d.fault = &breach{code: diag.AgainstRule, at: s, message: fmt.Sprintf("%q breaks a condition of the policy", s.call.ID)}
			return
		}
	}
	if holds {
		d.Verdict = Allowed
	}
}

// tally is the state of a rule about a quantity.
type tally struct {
	count     int
	sum       sum
	different int
	values    map[string]bool
}

// add adds a call whose param has this value. fault says why the value can't be counted.
func (t *tally) add(r *label.Rule, v json.RawMessage) (fault string) {
	w := &written{literal: true, json: v}
	if r.Kind == label.Sum {
		w.number = numberIn(v)
	}
	return t.addWritten(r, w)
}

// addWritten does what add does. A value that is not known only counts the call.
func (t *tally) addWritten(r *label.Rule, v *written) (fault string) {
	t.count++
	switch {
	case !v.literal || r.Kind == label.Count:
	case r.Kind == label.Distinct:
		if v.canonical == "" {
			v.canonical = string(jsonscan.Canonical(nil, v.json))
		}
		if t.values == nil {
			t.values = map[string]bool{}
		}
		if !t.values[v.canonical] {
			t.values[v.canonical] = true
			t.different++
		}
	case v.number.negative():
		return fmt.Sprintf("can't be counted: the param %q must be a number of at least 0", r.Param)
	default:
		t.sum.add(v.number)
	}
	return ""
}

// addUnknown adds a call whose param has another value than all others.
func (t *tally) addUnknown() {
	t.count++
	t.different++
}

// with returns the tally after another call. It does not have the values.
func (t *tally) with(r *label.Rule, v json.RawMessage) (next *tally, fault string) {
	next = &tally{count: t.count, different: t.different, sum: t.sum.clone()}
	if r.Kind == label.Distinct && t.values[string(jsonscan.Canonical(nil, v))] {
		next.count++
		return next, ""
	}
	return next, next.add(r, v)
}

// number is a number in JSON: a small one, or any other.
type number struct {
	small int64
	other *big.Rat // nil if it is small
	not   bool     // it is no number
}

// numberIn returns the number that a value is.
func numberIn(v json.RawMessage) number {
	n, small := int64(0), len(v) > 0 && len(v) <= 15 && (v[0] != '0' || len(v) == 1)
	for _, c := range v {
		small = small && '0' <= c && c <= '9'
		n = 10*n + int64(c-'0')
	}
	if small {
		return number{small: n}
	}
	other, ok := label.Number(v)
	return number{other: other, not: !ok}
}

// negative reports whether it is no number, or one below 0.
func (n number) negative() bool { return n.not || n.other != nil && n.other.Sign() < 0 }

// rat returns the number itself.
func (n number) rat() *big.Rat {
	if n.other != nil {
		return n.other
	}
	return new(big.Rat).SetInt64(n.small)
}

// sum is a sum of numbers.
type sum struct {
	small int64
	other *big.Rat // nil is 0
}

func (s *sum) add(n number) {
	switch {
	case n.other == nil && s.small < math.MaxInt64/2:
		s.small += n.small
		return
	case s.other == nil:
		s.other = new(big.Rat)
	}
	s.other.Add(s.other, n.rat())
}

// over reports whether the sum is above a number.
func (s *sum) over(n number) bool {
	if s.other == nil && n.other == nil {
		return s.small > n.small
	}
	return s.total().Cmp(n.rat()) > 0
}

func (s *sum) clone() sum {
	x := sum{small: s.small}
	if s.other != nil {
		x.other = new(big.Rat).Set(s.other)
	}
	return x
}

// total returns the sum.
func (s *sum) total() *big.Rat {
	all := new(big.Rat).SetInt64(s.small)
	if s.other != nil {
		all.Add(all, s.other)
	}
	return all
}

// over reports whether the tally exceeds the limit.
func (t *tally) over(r *label.Rule, most number) bool {
	s := t.sum
	switch r.Kind {
	case label.Count:
		s = sum{small: int64(t.count)}
	case label.Distinct:
		s = sum{small: int64(t.different)}
	}
	return s.over(most)
}

func (t *tally) words(r *label.Rule) string {
	switch r.Kind {
	case label.Sum:
		return numberWords(t.sum.total())
	case label.Count:
		return fmt.Sprint(t.count)
	}
	return fmt.Sprintf("%d different values", t.different)
}

// maxDigits is the maximum number of digits behind the point that are shown of a number.
const maxDigits = 20

// numberWords returns a number of at least 0 in decimal digits, with … in place of those that are
// too many.
func numberWords(n *big.Rat) string {
	if digits, exact := n.FloatPrec(); exact && digits <= maxDigits {
		return n.FloatString(digits)
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(maxDigits), nil)
	shown := new(big.Int).Mul(n.Num(), unit)
	return new(big.Rat).SetFrac(shown.Quo(shown, n.Denom()), unit).FloatString(maxDigits) + "…"
}

// amountIn returns the limit of a rule; false if it is not known.
func amountIn(a label.Amount, input json.RawMessage) (number, bool) {
	v := json.RawMessage(a.Number)
	if a.Number == "" {
		v, _ = memberAt(input, a.Input)
	}
	n := numberIn(v)
	return n, !n.not
}

// memberAt returns the value at a path of members.
func memberAt(v json.RawMessage, names []string) (json.RawMessage, bool) {
	for _, name := range names {
		var members map[string]json.RawMessage
		if json.Unmarshal(v, &members) != nil || members[name] == nil {
			return nil, false
		}
		v = members[name]
	}
	return v, len(v) > 0
}
