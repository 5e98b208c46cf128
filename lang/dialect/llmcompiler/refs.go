package llmcompiler

import (
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang/dialect"
)

var ref = lazyregexp.New(`\$(?:(\d+)|\{(\d+)\})`)

// resolve finds the references of all steps and judges them.
func (r *reader) resolve() {
	for i := range r.steps {
		r.numbers.Step(r.steps[i].number)
		r.greatest = max(r.greatest, r.steps[i].number)
		if !r.isJoin(&r.steps[i]) {
			r.results = max(r.results, r.steps[i].number)
		}
	}
	for i := range r.steps {
		for k := range r.steps[i].args {
			r.refs(&r.steps[i].args[k].value, i, false)
		}
	}
	r.numbers.Judge(r.Builder)
	for _, n := range r.loose {
		if n.Plain && !n.inAmounts {
			r.Warnf(n.At, diag.NearReference, "%s is just text: only the results of earlier steps can be referred to", r.Text(n.At))
		}
	}
}

// loose is a dollar sign and a number that counts as text if it leads nowhere, as in LLMCompiler.
// In a text with amounts of money there is no finding about it.
type loose struct {
	*dialect.NumberRef
	inAmounts bool
}

// refs splits the texts of a value at its references; listed says that it is an element of a list,
// as in the lists of results that LLMCompiler's tools take.
func (r *reader) refs(v *value, user int, listed bool) {
	for i := range v.items {
		r.refs(&v.items[i], user, true)
	}
	for i := range v.keys {
		r.key(&v.keys[i])
	}
	if v.kind != textValue {
		return
	}
	var pieces []piece
	for _, p := range v.pieces {
		if r.Text(p.span) != p.text {
			pieces = append(pieces, p) // a piece with an escape
			continue
		}
		in := context{
			bare: p.span == v.span, alone: len(v.pieces) == 1, listed: listed,
			mentions: r.mentions(p.text), formula: formula.MatchString(p.text), amounts: r.amounts(p.text, user),
		}
		in.mentions = in.mentions || in.bare && in.formula && r.calculates(p.text, user)
		pieces = append(pieces, r.split(p, user, in)...)
	}
	v.pieces = pieces
}

// key warns about text in a key that would be a reference elsewhere.
func (r *reader) key(k *value) {
	m := ref.FindStringSubmatch(k.said())
	if m != nil && r.numbers.Has(dialect.Number(m[1]+m[2])) {
		r.Warnf(k.span, diag.NearReference, "%s in a key is just text", m[0])
	}
}

// context describes a piece of text. It may be without quotes (bare), the whole text (alone) or in
// a list (listed); it may mention a step of the plan, be a formula, or have amounts of money.
type context struct{ bare, alone, listed, mentions, formula, amounts bool }

// formula matches a text of only numbers, operators and functions, such as "max($1, $2) / 2".
var formula = lazyregexp.New(`^(?:\$\{\d+\}|\$?\d+(?:\.\d+)?|[A-Za-z_]+\(|[-+*/%^(),\s])+$`)

// mentions reports whether a text has a dollar sign and the number of a step.
func (r *reader) mentions(text string) bool {
	for _, m := range ref.FindAllStringSubmatchIndex(text, -1) {
		number := text[max(m[2], m[4]):max(m[3], m[5])]
		if r.numbers.Has(dialect.Number(number)) && !isAmount(text, m[0], m[1], false) {
			return true
		}
	}
	return false
}

// calculates reports whether all dollar signs and numbers of a formula are results of steps before
// user. Without quotes, $1-$2 is then a difference and not a range of amounts.
func (r *reader) calculates(text string, user int) bool {
	for _, m := range ref.FindAllStringSubmatchIndex(text, -1) {
		number := dialect.Number(text[max(m[2], m[4]):max(m[3], m[5])])
		if !r.numbers.Reaches(number, user) || number > r.results || isAmount(text, m[0], m[1], true) {
			return false
		}
	}
	return true
}

// amounts reports whether a text has several dollar signs with numbers, none of which refers to a
// step before user, and one of which refers to no step with a result.
func (r *reader) amounts(text string, user int) bool {
	found := ref.FindAllStringSubmatch(text, -1)
	none := false
	for _, m := range found {
		number := dialect.Number(m[1] + m[2])
		if m[2] != "" || r.numbers.Reaches(number, user) {
			return false
		}
		none = none || !r.numbers.Has(number) || number > r.results
	}
	return none && len(found) > 1
}

// split splits a piece at its references.
func (r *reader) split(p piece, user int, in context) (pieces []piece) {
	base, at := int(p.span.Start), 0
	literal := func(to int) {
		if to > at {
			pieces = append(pieces, piece{span: dialect.Span(base+at, base+to), text: p.text[at:to]})
		}
		at = to
	}
	for _, m := range ref.FindAllStringSubmatchIndex(p.text, -1) {
		from, to := max(m[2], m[4]), max(m[3], m[5])
		n := &dialect.NumberRef{
			At: dialect.Span(base+m[0], base+m[1]), Digits: dialect.Span(base+from, base+to),
			Number: dialect.Number(p.text[from:to]), User: user,
		}
		whole := in.alone && m[0] == 0 && m[1] == len(p.text)
		inFormula := in.formula && in.mentions
		isAmount := isAmount(p.text, m[0], m[1], inFormula)
		sure := m[4] >= 0 || whole && (in.bare || r.small(n.Number) || in.listed && twoDigits(n.Number)) ||
			inFormula && r.small(n.Number) && !isAmount
		n.Loose = !sure && !whole
		if !sure && !r.meant(n, isAmount, whole, in.amounts) {
			continue
		}
		if n.Loose {
			r.loose = append(r.loose, loose{n, in.amounts})
		}
		literal(m[0])
		r.numbers.Ref(n)
		pieces = append(pieces, piece{span: n.At, text: p.text[m[0]:m[1]], ref: n})
		at = m[1]
	}
	literal(len(p.text))
	return pieces
}

var (
	// amount matches text that makes the number before it an amount of money: more digits, a unit.
	amount = lazyregexp.New(`^(?:[.,]\d|[kKmMbB]\b|/[A-Za-z]| ?(?:million|billion|thousand|USD|dollars?)\b)`)
	// currency matches text that makes the number after it an amount of money.
	currency = lazyregexp.New(`\b(?:US|USD|AU?|CA?|NZ|HK|SG?) ?$`)
	// rangeTo and rangeFrom match text that makes the number one end of a range of amounts.
	rangeTo   = lazyregexp.New(`^[-–—][$\d]`)
	rangeFrom = lazyregexp.New(`\$\d[\d.,]*[kKmMbB]?[-–—]$`)
)

// isAmount reports whether text[from:to], a dollar sign and a number, is clearly an amount. In a
// formula, a minus sign between two numbers does not make a range.
func isAmount(text string, from, to int, inFormula bool) bool {
	before, behind := text[:from], text[to:]
	return text[to-1] != '}' && (amount.MatchString(behind) || currency.MatchString(before) ||
		!inFormula && (rangeTo.MatchString(behind) || rangeFrom.MatchString(before)))
}

// meant reports whether a dollar sign and a number is meant as a reference. The number of a step
// is, unless it is clearly an amount. Another number is an amount; if it is small, or the whole
// text and has two digits, there is a warning that it may be a reference.
func (r *reader) meant(n *dialect.NumberRef, isAmount, whole, amounts bool) bool {
	switch {
	case r.numbers.Has(n.Number) && !isAmount:
		return true
	case r.numbers.Has(n.Number):
		r.Infof(n.At, diag.NearReference, "%s is taken as an amount; the result of the step is written ${%d}", r.Text(n.At), n.Number)
	case !isAmount && !amounts && (r.small(n.Number) || whole && twoDigits(n.Number)):
		r.Warnf(n.At, diag.NearReference, "%s is just text: the plan has no step %d", r.Text(n.At), n.Number)
	}
	return false
}

// small reports whether a number is small enough to be that of a missing step.
func (r *reader) small(number int) bool {
	return number >= 0 && number <= r.greatest+5
}

// twoDigits reports whether a number has at most two digits, so that a plan could have such a step.
func twoDigits(number int) bool { return number >= 0 && number < 100 }

// parts returns the parts of a text.
func (v *value) parts() []dialect.Part {
	parts := make([]dialect.Part, len(v.pieces))
	for i, p := range v.pieces {
		switch {
		case p.ref == nil, p.ref.Plain:
			parts[i] = dialect.Literal(p.text, p.span)
		case p.ref.Faulty:
			parts[i] = dialect.Fault(p.span)
		default:
			parts[i] = dialect.Ref(dialect.StateRef(dialect.Label(p.ref.Number)), p.span)
		}
	}
	return parts
}
