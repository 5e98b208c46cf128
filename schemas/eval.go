package schemas

import (
	"unicode/utf8"

	"github.com/plc-lang/plc/schemas/internal/pattern"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// evaluator decides whether values meet schemas, in one pass over a value. It is in doubt if only
// the library can decide, or if it has no steps left.
type evaluator struct {
	steps int
	poll  int            // when fewer steps are left, check the meter's context
	meter *Meter         // nil if there is none
	given int            // the steps that it got from the meter
	doc   *tree.Document // of the schema being evaluated; nil if that was made from others
}

// A hostile schema that applies itself twice to each member needs 2^depth steps. An evaluation may
// take evalSteps, or evalStepsPerByte for each byte of a long text.
const (
	evalSteps        = 1 << 20
	evalStepsPerByte = 64
)

// evaluateWithin decides whether a value meets a schema. left is the number of steps left for
// several evaluations.
func evaluateWithin(left *int, n *tree.Node, v *value.Value) value.Verdict {
	e := &evaluator{steps: min(*left, evalSteps), doc: n.Doc}
	before := e.steps
	out := e.valid(n, v)
	*left = max(0, *left-(before-e.steps))
	return out
}

// newEvaluator returns an evaluator for values whose text has this many bytes.
func newEvaluator(n *tree.Node, bytes int) *evaluator {
	return &evaluator{steps: evalSteps + evalStepsPerByte*bytes, doc: n.Doc}
}

// enter evaluates a schema of a document inside a schema made from others. If it is in doubt, it
// asks the library now, since the library can't be asked about the outer schema.
func (e *evaluator) enter(n *tree.Node, v *value.Value) value.Verdict {
	e.doc = n.Doc
	out := e.valid(n, v)
	e.doc = nil
	if out == value.Doubt && !tooMuchWork(e.meter, n, v, 0) {
		out = value.VerdictOf(n.Ask(v) == nil)
	}
	return out
}

// within makes an evaluation take its steps from a meter, and stop soon after its context is done.
// The caller must call done at the end.
func (e *evaluator) within(m *Meter) *evaluator {
	if m != nil {
		e.steps = m.most(e.steps)
		e.meter, e.given, e.poll = m, e.steps, e.steps+1
	}
	return e
}

// done subtracts the steps of the evaluation from its meter.
func (e *evaluator) done() {
	e.meter.Take(e.given - max(0, e.steps))
	e.given = max(0, e.steps)
}

// pollSteps is the number of steps between two checks of the context.
const pollSteps = 4096

// hasSteps reports whether there are steps left. If the context is done, it leaves none.
func (e *evaluator) hasSteps() bool {
	if e.steps >= 0 && e.meter != nil {
		if e.meter.ctx.Err() != nil {
			e.steps = -1
		}
		e.poll = max(0, e.steps-pollSteps)
	}
	return e.steps >= 0
}

// spend takes steps for work that is not the evaluation of a schema; it reports false if there are
// none left or the context is done.
func (e *evaluator) spend(n int) bool {
	e.steps -= n
	return e.steps >= e.poll || e.hasSteps()
}

// matchSteps is the cost of matching a pattern.
const matchSteps = 4

// match matches a pattern. The steps that it takes depend on the lengths of its program and of the
// text.
func (e *evaluator) match(p *pattern.Pattern, text string) value.Verdict {
	if p.Slow(len(text)) {
		if !e.spend(1) || !e.hasSteps() {
			return value.Doubt
		}
		out, steps := p.MatchSlowly(text)
		e.spend(steps)
		return out
	}
	if work := p.Work(len(text)); work > 0 && !e.spend(work) {
		return value.Doubt
	}
	return p.Match(text)
}

func (e *evaluator) valid(n *tree.Node, v *value.Value) value.Verdict {
	if n.Full.Has(v.Kind) {
		return value.Yes
	}
	if n.May.Excludes(v.Kind) {
		return value.No
	}
	if !e.spend(1) {
		return value.Doubt
	}
	if e.doc == nil && n.Doc != nil {
		return e.enter(n, v)
	}
	out := e.own(n, v)
	if out == value.No {
		return value.No
	}
	if n.Opaque != "" {
		out = value.Doubt
	}
	return min(out, e.inPlace(n, v))
}

// The work done in about the time of a step: bytes of values compared with others, and bytes of
// counted texts.
const (
	comparedPerStep = 2
	countedPerStep  = 256
)

// own decides with the keywords about the value itself and its content.
func (e *evaluator) own(n *tree.Node, v *value.Value) value.Verdict {
	if n.HasEnum || n.Const != nil {
		if len(v.Kids) > 0 && !e.spend(v.Bytes()/comparedPerStep) {
			return value.Doubt
		}
		if n.HasEnum && !n.Among(v) || n.Const != nil && !n.Const.Equal(v) {
			return value.No
		}
	}
	switch v.Kind {
	case value.Number:
		return value.VerdictOf(n.ValidNumber(v.Text))
	case value.String:
		return e.validString(n, v.Text)
	case value.Array:
		return e.array(n, v)
	case value.Object:
		return e.object(n, v)
	}
	return value.Yes
}

func (e *evaluator) validString(n *tree.Node, s string) value.Verdict {
	if n.MinLength > 0 || n.MaxLength >= 0 {
		if len(s) >= countedPerStep && !e.spend(len(s)/countedPerStep) {
			return value.Doubt
		}
		length := utf8.RuneCountInString(s)
		if length < n.MinLength || n.MaxLength >= 0 && length > n.MaxLength {
			return value.No
		}
	}
	if n.Pattern != nil {
		return e.match(n.Pattern, s)
	}
	return value.Yes
}

func (e *evaluator) array(n *tree.Node, v *value.Value) value.Verdict {
	if len(v.Kids) < n.MinItems || n.MaxItems >= 0 && len(v.Kids) > n.MaxItems {
		return value.No
	}
	if n.Unique {
		if !e.spend(v.Bytes() / comparedPerStep) {
			return value.Doubt
		}
		if !value.AllDistinct(v.Kids) {
			return value.No
		}
	}
	out := value.Yes
	for i := range v.Kids {
		item := n.Rest
		if i < len(n.Prefix) {
			item = n.Prefix[i]
		}
		if item == nil {
			break
		}
		if out = min(out, e.valid(item, &v.Kids[i])); out == value.No {
			return value.No
		}
	}
	if n.Contains != nil {
		out = min(out, e.containsEnough(n, v))
	}
	return out
}

func (e *evaluator) containsEnough(n *tree.Node, v *value.Value) value.Verdict {
	sure, perhaps := 0, 0
	for i := range v.Kids {
		switch e.valid(n.Contains, &v.Kids[i]) {
		case value.Yes:
			sure++
		case value.Doubt:
			perhaps++
		}
	}
	switch {
	case sure+perhaps < n.MinContains, n.MaxContains >= 0 && sure > n.MaxContains:
		return value.No
	case sure >= n.MinContains && (n.MaxContains < 0 || sure+perhaps <= n.MaxContains):
		return value.Yes
	}
	return value.Doubt
}

func (e *evaluator) object(n *tree.Node, v *value.Value) value.Verdict {
	if len(v.Kids) < n.MinProps || n.MaxProps >= 0 && len(v.Kids) > n.MaxProps {
		return value.No
	}
	if n := len(n.Required); n*len(v.Kids) > value.FewNames && !e.spend(n+len(v.Kids)) {
		return value.Doubt
	}
	if !v.HasAll(n.Required) {
		return value.No
	}
	out := value.Yes
	if len(n.Props) > 0 || len(n.Patterns) > 0 || n.Additional != nil || n.Names != nil {
		for i := range v.Kids {
			if out = min(out, e.member(n, &v.Kids[i])); out == value.No {
				return value.No
			}
		}
	}
	for i := range n.Dependents {
		if !e.spend(1 + (len(v.Kids)+len(n.Dependents[i].Names))/8) {
			return value.Doubt
		}
		if out = min(out, e.dependent(&n.Dependents[i], v)); out == value.No {
			return value.No
		}
	}
	return out
}

func (e *evaluator) member(n *tree.Node, m *value.Value) value.Verdict {
	out, declared := value.Yes, false
	if p := n.Property(m.Name); p != nil {
		declared = true
		out = e.valid(p, m)
	}
	for i := range n.Patterns {
		p := n.Patterns[i].Pattern
		if p.Unread() {
			continue
		}
		if !e.spend(matchSteps) {
			return value.Doubt
		}
		switch e.match(p, m.Name) {
		case value.Yes:
			declared = true
			out = min(out, e.valid(n.Patterns[i].Node, m))
		case value.Doubt:
			return value.Doubt
		}
	}
	if !declared && n.Additional != nil {
		out = min(out, e.valid(n.Additional, m))
	}
	if n.Names != nil {
		out = min(out, e.valid(n.Names, &value.Value{Kind: value.String, Text: m.Name}))
	}
	return out
}

func (e *evaluator) dependent(d *tree.Dependent, v *value.Value) value.Verdict {
	if v.Member(d.Name) == nil {
		return value.Yes
	}
	if !v.HasAll(d.Names) {
		return value.No
	}
	if d.Node != nil {
		return e.valid(d.Node, v)
	}
	return value.Yes
}

// inPlace decides with the schemas that n applies to the same value.
func (e *evaluator) inPlace(n *tree.Node, v *value.Value) value.Verdict {
	out := value.Yes
	if n.Ref != nil {
		out = e.valid(n.Ref, v)
	}
	for _, c := range n.AllOf {
		if out == value.No {
			return value.No
		}
		out = min(out, e.valid(c, v))
	}
	if len(n.AnyOf) > 0 && out != value.No {
		out = min(out, e.any(n.AnyOf, v))
	}
	if len(n.OneOf) > 0 && out != value.No {
		out = min(out, e.one(n.OneOf, v))
	}
	if n.Not != nil && out != value.No {
		out = min(out, e.valid(n.Not, v).Not())
	}
	if n.If != nil && out != value.No {
		out = min(out, e.conditional(n, v))
	}
	if out != value.No && (n.RestProps != nil && v.Kind == value.Object || n.RestItems != nil && v.Kind == value.Array) {
		out = min(out, e.unevaluated(n, v))
	}
	return out
}

func (e *evaluator) any(list []*tree.Node, v *value.Value) value.Verdict {
	out := value.No
	for _, c := range list {
		if out = max(out, e.valid(c, v)); out == value.Yes {
			break
		}
	}
	return out
}

func (e *evaluator) one(list []*tree.Node, v *value.Value) value.Verdict {
	sure, perhaps := 0, 0
	for _, c := range list {
		switch e.valid(c, v) {
		case value.Yes:
			sure++
		case value.Doubt:
			perhaps++
		}
		if sure > 1 {
			return value.No
		}
	}
	switch {
	case perhaps > 0:
		return value.Doubt
	case sure == 1:
		return value.Yes
	}
	return value.No
}

func (e *evaluator) conditional(n *tree.Node, v *value.Value) value.Verdict {
	branch := func(c *tree.Node) value.Verdict {
		if c == nil {
			return value.Yes
		}
		return e.valid(c, v)
	}
	switch e.valid(n.If, v) {
	case value.Yes:
		return branch(n.Then)
	case value.No:
		return branch(n.Else)
	}
	if a := branch(n.Then); a == branch(n.Else) {
		return a
	}
	return value.Doubt
}

// unevaluated decides with unevaluatedProperties and unevaluatedItems, given that all other
// keywords of n hold.
func (e *evaluator) unevaluated(n *tree.Node, v *value.Value) value.Verdict {
	rest := n.RestProps
	if v.Kind == value.Array {
		rest = n.RestItems
	}
	seen := make([]bool, len(v.Kids))
	if !e.mark(n, v, seen, true) {
		return value.Doubt
	}
	out := value.Yes
	for i := range v.Kids {
		if !seen[i] {
			out = min(out, e.valid(rest, &v.Kids[i]))
		}
	}
	return out
}

// mark marks the members or elements of v that n evaluates; v must meet n. It reports false if it
// is in doubt. With top, n's own unevaluated* is ignored.
func (e *evaluator) mark(n *tree.Node, v *value.Value, seen []bool, top bool) bool {
	if n.Opaque != "" || !e.spend(len(v.Kids)*(1+matchSteps*len(n.Patterns))) {
		return false
	}
	for i := range v.Kids {
		if v.Kind == value.Object {
			seen[i] = seen[i] || !top && n.RestProps != nil || evaluatesName(n, v.Kids[i].Name)
			continue
		}
		seen[i] = seen[i] || !top && n.RestItems != nil || i < len(n.Prefix) || n.Rest != nil
		if !seen[i] && n.Contains != nil && n.Draft >= 2020 {
			switch e.valid(n.Contains, &v.Kids[i]) {
			case value.Yes:
				seen[i] = true
			case value.Doubt:
				return false
			}
		}
	}
	sure := true
	e.applied(n, v, func(c *tree.Node) {
		switch e.valid(c, v) {
		case value.Yes:
			sure = e.mark(c, v, seen, false) && sure
		case value.Doubt:
			sure = false
		}
	})
	return sure
}

func evaluatesName(n *tree.Node, name string) bool {
	if n.Additional != nil || n.Property(name) != nil {
		return true
	}
	for i := range n.Patterns {
		if p := n.Patterns[i].Pattern; !p.Unread() && p.Match(name) == value.Yes {
			return true
		}
	}
	return false
}

// applied calls f for the schemas in place whose evaluated parts count for n if they hold.
func (e *evaluator) applied(n *tree.Node, v *value.Value, f func(c *tree.Node)) {
	if n.Ref != nil {
		f(n.Ref)
	}
	for _, list := range [...][]*tree.Node{n.AllOf, n.AnyOf, n.OneOf} {
		for _, c := range list {
			f(c)
		}
	}
	for i := range n.Dependents {
		if d := &n.Dependents[i]; d.Node != nil && v.Kind == value.Object && v.Member(d.Name) != nil {
			f(d.Node)
		}
	}
	if n.If == nil {
		return
	}
	f(n.If)
	switch {
	case e.valid(n.If, v) == value.Yes && n.Then != nil:
		f(n.Then)
	case e.valid(n.If, v) == value.No && n.Else != nil:
		f(n.Else)
	}
}
