package schemas

import (
	"unicode/utf8"
)

// evaluator decides whether values meet schemas in one pass over a value. It is in
// doubt about what only the library knows, and when it has no steps left.
type evaluator struct {
	steps int
	poll  int       // below so many steps the context of the meter is looked at
	meter *Meter    // nil is none
	given int       // the steps that it had of the meter
	doc   *document // whose schema is being evaluated; nil: one made of others
}

// A hostile schema that applies itself twice to each member needs 2^depth steps. An
// evaluation may take evalSteps, and of a long text evalStepsPerByte.
const (
	evalSteps        = 1 << 20
	evalStepsPerByte = 64
)

func evaluate(n *node, v *value) verdict { return newEvaluator(n, 0).valid(n, v) }

// evaluateWithin does what evaluate does with the steps that are left for several evaluations.
func evaluateWithin(left *int, n *node, v *value) verdict {
	e := &evaluator{steps: min(*left, evalSteps), doc: n.doc}
	before := e.steps
	out := e.valid(n, v)
	*left = max(0, *left-(before-e.steps))
	return out
}

// newEvaluator returns one for values of a text of some bytes.
func newEvaluator(n *node, bytes int) *evaluator {
	return &evaluator{steps: evalSteps + evalStepsPerByte*bytes, doc: n.doc}
}

// enter evaluates a schema of a document inside one made of others. Of what is in
// doubt the library is asked then, as it cannot be asked about the whole.
func (e *evaluator) enter(n *node, v *value) verdict {
	e.doc = n.doc
	out := e.valid(n, v)
	e.doc = nil
	if out == doubt && !tooMuchWork(e.meter, n, v, 0) {
		out = verdictOf(n.ask(v) == nil)
	}
	return out
}

// within makes an evaluation take its steps from a meter, and stop soon after its context is done.
// Whoever calls it calls done at the end.
func (e *evaluator) within(m *Meter) *evaluator {
	if m != nil {
		e.steps = m.most(e.steps)
		e.meter, e.given, e.poll = m, e.steps, e.steps+1
	}
	return e
}

// done takes the steps of the evaluation from its meter.
func (e *evaluator) done() {
	e.meter.Take(e.given - max(0, e.steps))
	e.given = max(0, e.steps)
}

// pollSteps are the steps after which the context is looked at again.
const pollSteps = 4096

// hasSteps reports whether there are steps left, and leaves none when the context is done.
func (e *evaluator) hasSteps() bool {
	if e.steps >= 0 && e.meter != nil {
		if e.meter.ctx.Err() != nil {
			e.steps = -1
		}
		e.poll = max(0, e.steps-pollSteps)
	}
	return e.steps >= 0
}

// spend takes steps for work that is not the evaluation of a schema; it reports false when there
// are none left, or the context is done.
func (e *evaluator) spend(n int) bool {
	e.steps -= n
	return e.steps >= e.poll || e.hasSteps()
}

// matchSteps is the cost of matching a pattern.
const matchSteps = 4

// match matches a pattern. That costs steps by the lengths of its program and of the text.
func (e *evaluator) match(p *pattern, text string) verdict {
	if p.slow(len(text)) {
		if !e.spend(1) || !e.hasSteps() {
			return doubt
		}
		out, steps := p.matchSlowly(text)
		e.spend(steps)
		return out
	}
	if work := p.work(len(text)); work > 0 && !e.spend(work) {
		return doubt
	}
	return p.match(text)
}

func (e *evaluator) valid(n *node, v *value) verdict {
	if n.full.has(v.kind) {
		return yes
	}
	if n.may.excludes(v.kind) {
		return no
	}
	if !e.spend(1) {
		return doubt
	}
	if e.doc == nil && n.doc != nil {
		return e.enter(n, v)
	}
	out := e.own(n, v)
	if out == no {
		return no
	}
	if n.opaque != "" {
		out = doubt
	}
	return min(out, e.inPlace(n, v))
}

// What is done in about the time of a step: bytes of values that are compared with others, and
// bytes of texts that are counted.
const (
	comparedPerStep = 2
	countedPerStep  = 256
)

// own decides by the keywords that are about the value itself and what is in it.
func (e *evaluator) own(n *node, v *value) verdict {
	if n.hasEnum || n.konst != nil {
		if len(v.kids) > 0 && !e.spend(v.bytes()/comparedPerStep) {
			return doubt
		}
		if n.hasEnum && !n.among(v) || n.konst != nil && !n.konst.equal(v) {
			return no
		}
	}
	switch v.kind {
	case kindNumber:
		return verdictOf(n.validNumber(v.text))
	case kindString:
		return e.validString(n, v.text)
	case kindArray:
		return e.array(n, v)
	case kindObject:
		return e.object(n, v)
	}
	return yes
}

func (e *evaluator) validString(n *node, s string) verdict {
	if n.minLength > 0 || n.maxLength >= 0 {
		if len(s) >= countedPerStep && !e.spend(len(s)/countedPerStep) {
			return doubt
		}
		length := utf8.RuneCountInString(s)
		if length < n.minLength || n.maxLength >= 0 && length > n.maxLength {
			return no
		}
	}
	if n.pattern != nil {
		return e.match(n.pattern, s)
	}
	return yes
}

func (e *evaluator) array(n *node, v *value) verdict {
	if len(v.kids) < n.minItems || n.maxItems >= 0 && len(v.kids) > n.maxItems {
		return no
	}
	if n.unique {
		if !e.spend(v.bytes() / comparedPerStep) {
			return doubt
		}
		if !allDistinct(v.kids) {
			return no
		}
	}
	out := yes
	for i := range v.kids {
		item := n.rest
		if i < len(n.prefix) {
			item = n.prefix[i]
		}
		if item == nil {
			break
		}
		if out = min(out, e.valid(item, &v.kids[i])); out == no {
			return no
		}
	}
	if n.contains != nil {
		out = min(out, e.containsEnough(n, v))
	}
	return out
}

func (e *evaluator) containsEnough(n *node, v *value) verdict {
	sure, perhaps := 0, 0
	for i := range v.kids {
		switch e.valid(n.contains, &v.kids[i]) {
		case yes:
			sure++
		case doubt:
			perhaps++
		}
	}
	switch {
	case sure+perhaps < n.minContains, n.maxContains >= 0 && sure > n.maxContains:
		return no
	case sure >= n.minContains && (n.maxContains < 0 || sure+perhaps <= n.maxContains):
		return yes
	}
	return doubt
}

func (e *evaluator) object(n *node, v *value) verdict {
	if len(v.kids) < n.minProps || n.maxProps >= 0 && len(v.kids) > n.maxProps {
		return no
	}
	if n := len(n.required); n*len(v.kids) > fewNames && !e.spend(n+len(v.kids)) {
		return doubt
	}
	if !v.hasAll(n.required) {
		return no
	}
	out := yes
	if len(n.props) > 0 || len(n.patterns) > 0 || n.additional != nil || n.names != nil {
		for i := range v.kids {
			if out = min(out, e.member(n, &v.kids[i])); out == no {
				return no
			}
		}
	}
	for i := range n.dependents {
		if !e.spend(1 + (len(v.kids)+len(n.dependents[i].names))/8) {
			return doubt
		}
		if out = min(out, e.dependent(&n.dependents[i], v)); out == no {
			return no
		}
	}
	return out
}

func (e *evaluator) member(n *node, m *value) verdict {
	out, declared := yes, false
	if p := n.property(m.name); p != nil {
		declared = true
		out = e.valid(p, m)
	}
	for i := range n.patterns {
		p := n.patterns[i].pattern
		if p.unread() {
			continue
		}
		if !e.spend(matchSteps) {
			return doubt
		}
		switch e.match(p, m.name) {
		case yes:
			declared = true
			out = min(out, e.valid(n.patterns[i].node, m))
		case doubt:
			return doubt
		}
	}
	if !declared && n.additional != nil {
		out = min(out, e.valid(n.additional, m))
	}
	if n.names != nil {
		out = min(out, e.valid(n.names, &value{kind: kindString, text: m.name}))
	}
	return out
}

func (e *evaluator) dependent(d *dependent, v *value) verdict {
	if v.member(d.name) == nil {
		return yes
	}
	if !v.hasAll(d.names) {
		return no
	}
	if d.node != nil {
		return e.valid(d.node, v)
	}
	return yes
}

// inPlace decides by the schemas that n applies to the same value.
func (e *evaluator) inPlace(n *node, v *value) verdict {
	out := yes
	if n.ref != nil {
		out = e.valid(n.ref, v)
	}
	for _, c := range n.allOf {
		if out == no {
			return no
		}
		out = min(out, e.valid(c, v))
	}
	if len(n.anyOf) > 0 && out != no {
		out = min(out, e.any(n.anyOf, v))
	}
	if len(n.oneOf) > 0 && out != no {
		out = min(out, e.one(n.oneOf, v))
	}
	if n.not != nil && out != no {
		out = min(out, e.valid(n.not, v).not())
	}
	if n.cond != nil && out != no {
		out = min(out, e.conditional(n, v))
	}
	if out != no && (n.restProps != nil && v.kind == kindObject || n.restItems != nil && v.kind == kindArray) {
		out = min(out, e.unevaluated(n, v))
	}
	return out
}

func (e *evaluator) any(list []*node, v *value) verdict {
	out := no
	for _, c := range list {
		if out = max(out, e.valid(c, v)); out == yes {
			break
		}
	}
	return out
}

func (e *evaluator) one(list []*node, v *value) verdict {
	sure, perhaps := 0, 0
	for _, c := range list {
		switch e.valid(c, v) {
		case yes:
			sure++
		case doubt:
			perhaps++
		}
		if sure > 1 {
			return no
		}
	}
	switch {
	case perhaps > 0:
		return doubt
	case sure == 1:
		return yes
	}
	return no
}

func (e *evaluator) conditional(n *node, v *value) verdict {
	branch := func(c *node) verdict {
		if c == nil {
			return yes
		}
		return e.valid(c, v)
	}
	switch e.valid(n.cond, v) {
	case yes:
		return branch(n.then)
	case no:
		return branch(n.els)
	}
	if a := branch(n.then); a == branch(n.els) {
		return a
	}
	return doubt
}

// unevaluated decides by unevaluatedProperties and unevaluatedItems, given that all
// the rest of n holds.
func (e *evaluator) unevaluated(n *node, v *value) verdict {
	rest := n.restProps
	if v.kind == kindArray {
		rest = n.restItems
	}
	seen := make([]bool, len(v.kids))
	if !e.mark(n, v, seen, true) {
		return doubt
	}
	out := yes
	for i := range v.kids {
		if !seen[i] {
			out = min(out, e.valid(rest, &v.kids[i]))
		}
	}
	return out
}

// mark marks the members or elements that n, which v meets, evaluates. It reports
// false when it is in doubt. At the top, unevaluated* itself does not count.
func (e *evaluator) mark(n *node, v *value, seen []bool, top bool) bool {
	if n.opaque != "" || !e.spend(len(v.kids)*(1+matchSteps*len(n.patterns))) {
		return false
	}
	for i := range v.kids {
		if v.kind == kindObject {
			seen[i] = seen[i] || !top && n.restProps != nil || n.evaluatesName(v.kids[i].name)
			continue
		}
		seen[i] = seen[i] || !top && n.restItems != nil || i < len(n.prefix) || n.rest != nil
		if !seen[i] && n.contains != nil && n.draft >= 2020 {
			switch e.valid(n.contains, &v.kids[i]) {
			case yes:
				seen[i] = true
			case doubt:
				return false
			}
		}
	}
	sure := true
	e.applied(n, v, func(c *node) {
		switch e.valid(c, v) {
		case yes:
			sure = e.mark(c, v, seen, false) && sure
		case doubt:
			sure = false
		}
	})
	return sure
}

func (n *node) evaluatesName(name string) bool {
	if n.additional != nil || n.property(name) != nil {
		return true
	}
	for i := range n.patterns {
		if p := n.patterns[i].pattern; !p.unread() && p.match(name) == yes {
			return true
		}
	}
	return false
}

// applied calls f for the schemas in place whose evaluations count for n if they hold.
func (e *evaluator) applied(n *node, v *value, f func(c *node)) {
	if n.ref != nil {
		f(n.ref)
	}
	for _, list := range [...][]*node{n.allOf, n.anyOf, n.oneOf} {
		for _, c := range list {
			f(c)
		}
	}
	for i := range n.dependents {
		if d := &n.dependents[i]; d.node != nil && v.kind == kindObject && v.member(d.name) != nil {
			f(d.node)
		}
	}
	if n.cond == nil {
		return
	}
	f(n.cond)
	switch {
	case e.valid(n.cond, v) == yes && n.then != nil:
		f(n.then)
	case e.valid(n.cond, v) == no && n.els != nil:
		f(n.els)
	}
}
