package lang

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/plc-lang/plc/diag"
)

// misfit is the place where a text stops being an expression: the first token that can't follow the
// one before it. The grammar finds out that there is one; this code finds its place and the
// message. (The place that the parser returns is not always the first, since it backtracks.)
type misfit struct {
	before []exprToken // without white space
	prev   exprToken   // the last of them
	found  exprToken
	rest   string // the text from found on
	spaced bool   // there is white space before found
	bare   bool   // in the braces of †{…}
	reason string // why found is Bad, if the guard decided that
}

type exprToken struct {
	name  string // the name of its rule; "" if none
	value string
	from  int
}

func newMisfit(g *guard, text string, tokens []lexer.Token) *misfit {
	m := &misfit{}
	for _, t := range tokens {
		m.found = exprToken{g.names[t.Type], t.Value, t.Pos.Offset}
		if m.found.name == "Space" {
			m.spaced = true
			continue
		}
		if !m.fits() {
			break
		}
		m.before = append(m.before, m.found)
		m.prev, m.spaced = m.found, false
	}
	m.rest = text[m.found.from:]
	if m.found.name == "Bad" {
		m.reason = g.reason
	}
	return m
}

// fits reports whether found can follow prev.
func (m *misfit) fits() bool {
	var wanted []string
	switch m.prev.name {
	case "", "Open", "Or", "And":
		wanted = []string{"Dagger", "Word", "String", "Open"}
	case "Dagger", "Dot":
		wanted = []string{"Name"}
	case "String", "Close":
		wanted = []string{"Or", "And", "Close"}
	default:
		wanted = []string{"Dot", "Index", "Star", "Quoted", "Or", "And", "Close"}
	}
	return slices.Contains(wanted, m.found.name)
}

// explain returns the place of the mistake in the text, and a message.
func (m *misfit) explain() (from, to int, message string) {
	if m.found.name == "Dagger" && m.prev.name == "Word" && (m.prev.value == "!" || m.prev.value == "not") {
		return m.prev.from, m.prev.from + len(m.prev.value), m.choose(m.prev.value)
	}
	if sign := m.comparison(); sign != "" {
		return m.found.from, m.found.from + len(sign), m.choose(sign)
	}
	at, message := m.found, m.stray()
	if message == "" {
		at, message = m.misplaced()
	}
	return at.from, at.from + len(at.value), message
}

// comparison returns the sign of a comparison at the place of the mistake; "" if there is none.
func (m *misfit) comparison() string {
	operand := m.endsPath() || m.prev.name == "String" || m.prev.name == "Close"
	for _, sign := range []string{"===", "!==", "==", "!=", "<=", ">=", "=", "<", ">"} {
		behind, ok := strings.CutPrefix(m.rest, sign)
		if behind = strings.TrimSpace(behind); !ok || !operand || m.reason != "" {
			continue
		}
		if behind == "" || len(sign) == 1 && sign != "=" && strings.ContainsAny(behind[:1], "<|>&*") || sign[0] != '=' && strings.HasPrefix(behind, dagger) && len(sign) == 1 {
			return "" // perhaps an operator that was cut short
		}
		return sign
	}
	return ""
}

// choose returns how to write a condition; if it is about one reference, the complete condition.
func (m *misfit) choose(sign string) string {
	const cure = "an expression has no %q; the tool choose tests conditions"
	value := m.value()
	right := strings.TrimSpace(strings.TrimPrefix(m.rest, sign))
	if value == "" || sign == "!" || sign == "not" || strings.ContainsAny(right, "†|&()") {
		return fmt.Sprintf(cure+", and _when its outcome", sign)
	}
	if sign == "=" || sign == "===" {
		sign = "=="
	}
	if sign == "!==" {
		sign = "!="
	}
	if _, literal := simpleLiteral(right); !literal {
		return fmt.Sprintf(cure+", and _when its outcome", sign)
	}
	when := appendQuoted(nil, "value "+sign+" "+right, '"')
	return fmt.Sprintf(cure+`: {"_tool": "choose", "value": %s, "when": {"yes": %s}, "_outputPath": "†state.yes || †state.no"}, and here †state.yes`,
		sign, appendQuoted(nil, value, '"'), when)
}

// simpleLiteral returns a number, true, false, null or a string in quotes.
func simpleLiteral(s string) (string, bool) {
	e, err := ParseRead(s)
	return s, err == nil && e.Op == OpLiteral
}

// value returns the text before the mistake if it is one reference.
func (m *misfit) value() string {
	text := ""
	for i, t := range m.before {
		if i > 0 && t.name == "Dagger" || t.name != "Dagger" && t.name != "Name" && t.name != "Word" && t.name != "Dot" && t.name != "Index" && t.name != "Quoted" {
			return ""
		}
		text += t.value
	}
	if !strings.HasPrefix(text, dagger) {
		return ""
	}
	return text
}

// misplaced returns the message for a token that would be right elsewhere.
func (m *misfit) misplaced() (exprToken, string) {
	switch m.prev.name {
	case "Dagger":
		return m.afterDagger()
	case "Dot":
		return m.afterDot()
	case "", "Open", "Or", "And":
		return m.noOperand()
	}
	return m.noOperator()
}

const oddName = `a name with a space or a sign goes in ["…"]`

func (m *misfit) afterDagger() (exprToken, string) {
	if m.found.value == "{" {
		return m.prev, `"†{" belongs inside longer text; an expression is written without it, as in †state.x`
	}
	s := `"†" wants a kind right after it, as in †state`
	if !m.bare {
		s += `; text that starts with † is written ††`
	}
	return m.prev, s
}

func (m *misfit) afterDot() (exprToken, string) {
	switch {
	case m.found.name == "Index" || m.found.name == "Star" || m.found.name == "Quoted":
		return m.prev, fmt.Sprintf(`a "." too many; did you mean %s without it?`, clip(m.found.value))
	case m.found.name == "Dot":
		return m.found, `a name is missing between the dots`
	case m.found.name == "String":
		return m.prev, fmt.Sprintf(`a quoted name goes in brackets; did you mean [%s] without the dot?`, clip(m.found.value))
	case m.found.value == "*":
		return m.found, `"*" is no name; did you mean [*] without the dot?`
	case m.spaced && m.found.name == "Word":
		return m.found, `white space inside a reference; ` + oddName
	}
	return m.prev, `"." wants a name right after it; ` + oddName
}

// noOperand returns the message for a missing operand. The place is that of the operator or
// parenthesis that needs one, unless there is another token instead.
func (m *misfit) noOperand() (exprToken, string) {
	const operand = "a reference or a literal"
	op := m.prev.name == "Or" || m.prev.name == "And"
	switch m.found.name {
	case "Or", "And":
		if !op {
			return m.found, fmt.Sprintf("%q wants %s before it", m.found.value, operand)
		}
	case "Close":
		if !op {
			return m.prev, `"()" wants an expression inside`
		}
	case "EOF":
		if m.prev.name == "" {
			return m.found, "an expression is missing"
		}
		if !op {
			return m.prev, `"(" is not closed`
		}
	}
	if op && m.found.name != "Bad" {
		return m.prev, fmt.Sprintf("%q wants %s after it", m.prev.value, operand)
	}
	return m.found, fmt.Sprintf("%q stands where %s should", clip(m.found.value), operand)
}

// noOperator returns the message for a token after an operand that is neither an operator nor the
// end.
func (m *misfit) noOperator() (exprToken, string) {
	switch m.found.name {
	case "EOF":
		return m.unclosed(), `"(" is not closed`
	case "Name":
		return m.found, fmt.Sprintf(`"." is missing before the name %q`, clip(m.found.value))
	case "Word":
		if op := map[string]string{"or": "||", "and": "&&"}[m.found.value]; op != "" {
			return m.found, fmt.Sprintf("%q is no operator; did you mean %q? %s", m.found.value, op, m.cure())
		}
		fallthrough
	case "Bad":
		return m.found, fmt.Sprintf("%q does not belong to the expression; %s", clip(m.found.value), m.cure())
	}
	return m.found, fmt.Sprintf(`an operator, "||" or "&&", is missing before %q; %s`, clip(m.found.value), m.cure())
}

// cure returns what text after a reference is most often meant to be.
func (m *misfit) cure() string {
	if m.bare {
		return oddName
	}
	return oddName + `, a reference inside text in †{…}`
}

// unclosed returns the innermost parenthesis that is not closed.
func (m *misfit) unclosed() exprToken {
	depth := 0
	for i := len(m.before) - 1; i >= 0; i-- {
		switch m.before[i].name {
		case "Close":
			depth++
		case "Open":
			if depth--; depth < 0 {
				return m.before[i]
			}
		}
	}
	return m.found
}

// stray returns the message for a character that is wrong anywhere in an expression; "" if a
// message about its place says more.
func (m *misfit) stray() string {
	switch {
	case m.reason != "":
		return m.reason
	case m.found.name != "Bad" || m.prev.name == "Dagger" || m.prev.name == "Dot":
		return ""
	}
	switch c := m.found.value; c {
	case "|", "&":
		return fmt.Sprintf("a lone %q; did you mean %q?", c, c+c)
	case "<", ">":
		return fmt.Sprintf(`a lone %q; did you mean "<|>"? (the tool choose tests conditions)`, c)
	case "*":
		return `a lone "*"; did you mean "*>"?`
	case `"`, "'":
		return fmt.Sprintf("the quote %s is not closed", c)
	case "[":
		return m.bracket()
	case "]":
		return `"]" closes nothing: there is no "[" before it`
	case ".":
		if m.spaced && m.endsPath() {
			return "white space inside a reference"
		}
	}
	return ""
}

// endsPath reports whether a path could have continued.
func (m *misfit) endsPath() bool {
	switch m.prev.name {
	case "Word", "Name", "Index", "Star", "Quoted":
		return true
	}
	return false
}

// bracket returns the message for a "[" that starts no segment.
func (m *misfit) bracket() string {
	inside, _, closed := strings.Cut(m.rest[1:], "]")
	trimmed := strings.TrimSpace(inside)
	quoted := strings.HasPrefix(trimmed, `"`) || strings.HasPrefix(trimmed, "'")
	switch {
	case !m.endsPath():
		return `"[" follows no reference`
	case m.spaced:
		return "white space inside a reference"
	case quoted && strings.Count(trimmed, trimmed[:1]) == 1:
		return fmt.Sprintf("the quote %s is not closed", trimmed[:1])
	case !closed:
		return `"[" is not closed`
	case trimmed == "":
		return `"[]" wants an index, a quoted name or * inside`
	case quoted || trimmed != inside:
		return fmt.Sprintf("there is more than a name or an index in [%s]", clip(inside))
	}
	return fmt.Sprintf(`[%s] is no index, no quoted name and no [*]; did you mean ["%[1]s"]?`, clip(inside))
}

// clip shortens a text that a message quotes.
func clip(s string) string { return clipTo(s, 40) }

func clipTo(s string, most int) string {
	n, end := 0, 0
	for i := range s {
		switch n++; {
		case n == most:
			end = i
		case n > most:
			return s[:end] + "…"
		}
	}
	return s
}

// mixed returns the fault of a chain with both operators in it.
func (b *builder) mixed(c *exprChain, args []*Expr) *fault {
	i := slices.IndexFunc(c.Rest, func(l *exprLink) bool { return opOf(l) != opOf(c.Rest[0]) })
	if i < 0 {
		return nil
	}
	at := c.Rest[i].Pos.Offset
	const most = 200
	return &fault{
		Code: diag.MixedOperators,
		Span: b.place(at, at+len(c.Rest[i].Op)),
		Message: fmt.Sprintf("the operators are mixed without parentheses; did you mean %s or %s?",
			clipTo(reading(c, args, OpAnd).String(), most), clipTo(reading(c, args, OpOr).String(), most)),
		Fix: b.parenthesize(c),
	}
}

// reading returns the meaning of a mixed chain if one of its operators binds tighter.
func reading(c *exprChain, args []*Expr, tight Op) *Expr {
	loose := OpOr + OpAnd - tight
	e := &Expr{Op: loose, Angle: spelledAngle(c, loose)}
	for from, to := range runs(c, tight) {
		arg := args[from]
		if to-from > 1 {
			arg = join(tight, args[from:to])
			arg.Angle = arg.Angle || spelledAngle(c, tight)
		}
		e.Args = append(e.Args, arg)
	}
	return e
}

func spelledAngle(c *exprChain, op Op) bool {
	return slices.ContainsFunc(c.Rest, func(l *exprLink) bool { return opOf(l) == op && isAngle(l) })
}

// runs returns the runs of operands of a chain that one operator joins.
func runs(c *exprChain, tight Op) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		from := 0
		for i, l := range c.Rest {
			if opOf(l) != tight {
				if !yield(from, i+1) {
					return
				}
				from = i + 1
			}
		}
		yield(from, len(c.Rest)+1)
	}
}

// parenthesize puts parentheses where most languages read them: && binds tighter.
func (b *builder) parenthesize(c *exprChain) *diag.Fix {
	fix := &diag.Fix{Message: "put parentheses around what && joins"}
	insert := func(at int, text string) {
		place := b.place(at, at)
		fix.Edits = append(fix.Edits, diag.Edit{Span: place, Text: text})
	}
	term := func(i int) *exprTerm {
		if i == 0 {
			return c.First
		}
		return c.Rest[i-1].Term
	}
	for from, to := range runs(c, OpAnd) {
		if to-from > 1 {
			insert(term(from).Pos.Offset, "(")
			insert(term(to-1).EndPos.Offset, ")")
		}
	}
	return fix
}

// noDagger returns the fault of a word that would be a reference in braces.
func (b *builder) noDagger(p *exprPath, word string) *fault {
	span := b.place(p.Pos.Offset, p.EndPos.Offset)
	if len(p.Steps) == 0 {
		return badExpression(span, fmt.Sprintf("%q is neither a reference nor a literal; did you mean '%[1]s' or †%[1]s?", clip(word)))
	}
	instead := diag.Span{Start: span.Start, End: span.Start}
	if after, ok := strings.CutPrefix(word, "$"); ok {
		word = after
		instead = b.place(p.Pos.Offset, p.Pos.Offset+len("$"))
	}
	f := badExpression(span, fmt.Sprintf("a reference starts with †; did you mean †%s?", clip(word)))
	f.Fix = &diag.Fix{Message: "write †" + clip(word), Edits: []diag.Edit{{Span: instead, Text: dagger}}}
	return f
}

func (b *builder) wrongEscape(at int, s string) *fault {
	_, n := utf8.DecodeRuneInString(s[1:])
	return badExpression(b.place(at, at+1+n), fmt.Sprintf("%q is no escape of a JSON string", s[:1+n]))
}
