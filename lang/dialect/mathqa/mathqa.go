// Package mathqa reads linear formulas of MathQA: operations, each of which ends with a bar.
//
//	multiply(n0,const_1000)|divide(#0,const_3600)|
//
// #0 is the result of the first operation, n0 the first number of the problem, which the
// plan takes from its input (--input n0=72), and const_3_6 is 3.6. The operations are the
// tools of tool/math, and the result of the last one is the output of the plan. In a record
// with the problem, its numbers are the input.
package mathqa

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// Notation returns the notation of MathQA.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "mathqa", What: "a MathQA formula", Read: read, Tools: true, Fields: []string{"linear_formula"}}
}

// operation is an operation as it is written.
type operation struct {
	Name word    `parser:"@@ '('"`
	Args []*word `parser:"( @@ ( ',' @@ )* )? ')'"`
}

// word is a name, a number or a reference, and its place.
type word struct {
	Pos  lexer.Position
	Text string `parser:"@(Word|Number|Ref)"`
}

// grammar is made when a text is first read.
var grammar = sync.OnceValue(func() *participle.Parser[operation] {
	return participle.MustBuild[operation](
		participle.Lexer(lexer.MustSimple([]lexer.SimpleRule{
			{Name: "Number", Pattern: `-?\d+(\.\d+)?([eE][-+]?\d+)?`},
			{Name: "Word", Pattern: `[a-zA-Z_][a-zA-Z0-9_.]*`},
			{Name: "Ref", Pattern: `#\d+`},
			{Name: "Sign", Pattern: `[(),]`},
			{Name: "space", Pattern: `\s+`},
		})),
		participle.UseLookahead(1),
	)
})

// step is an operation with its place.
type step struct {
	span diag.Span
	name diag.Span
	args []arg
	bad  bool
}

// arg is an argument of an operation.
type arg struct {
	span diag.Span
	ref  *dialect.NumberRef // #k
}

type reader struct {
	*dialect.Builder
	steps   []step
	numbers dialect.Numbering
	problem []string // the numbers of the problem
	lacking bool     // there is a reference to a number that the problem does not have
}

func read(b *dialect.Builder) {
	r := &reader{Builder: b, numbers: dialect.Numbering{Noun: "operation", Spell: "#%d"}}
	text := string(b.File.Text)
	for at := b.Start(); at < len(text); {
		end := at + strings.IndexByte(text[at:], '|')
		if end < at {
			end = len(text)
		}
		r.operation(b.Trim(dialect.Span(at, end)), end == len(text))
		at = end + 1
	}
	if len(r.steps) == 0 {
		r.NoPlan("an operation is written add(n0,n1)|")
	}
	r.numbers.Judge(b)
	r.ofProblem()
	r.write()
}

// operation reads one operation. last says that no bar follows.
func (r *reader) operation(at diag.Span, last bool) {
	if at.Len() == 0 {
		if !last {
			bar := r.bar(at)
			r.Errorf(bar, diag.BadNotation, "there is no operation before this bar").
				Fix = &diag.Fix{Message: "cut it out", Edits: []diag.Edit{{Span: bar}}}
		}
		return
	}
	s := step{span: at}
	op, err := grammar().ParseString("", r.Text(at))
	if err != nil {
		r.wrong(at, err, last)
		s.bad = true
	} else {
		s.name = r.place(at, &op.Name)
		for _, a := range op.Args {
			s.args = append(s.args, r.arg(r.place(at, a)))
		}
	}
	r.numbers.Step(len(r.steps))
	r.steps = append(r.steps, s)
}

// bar returns the bar after an empty operation.
func (r *reader) bar(at diag.Span) diag.Span {
	i := int(at.Start) + bytes.IndexByte(r.File.Text[at.Start:], '|')
	return dialect.Span(i, i+1)
}

func (r *reader) place(op diag.Span, w *word) diag.Span {
	start := int(op.Start) + w.Pos.Offset
	return dialect.Span(start, start+len(w.Text))
}

var (
	nested = lazyregexp.New(`\w+\([^()]*\w+\(`)
	begun  = lazyregexp.New(`^\w+(\([^)]*)?$`)
)

// wrong reports an invalid operation.
func (r *reader) wrong(op diag.Span, err error, last bool) {
	text := r.Text(op)
	switch at := r.errorAt(op, err); {
	case last && begun.MatchString(text):
		r.Errorf(op, diag.BadNotation, "the formula was cut off inside this operation")
	case nested.MatchString(text):
		r.Errorf(op, diag.BadNotation, "this formula is nested; a linear one has an operation for each step, with #0 for the result of the first")
	case strings.Contains(string(r.File.Text[op.Start:at]), "("):
		r.Errorf(dialect.Span(at, int(op.End)), diag.BadNotation, "this is no operation; one is written add(n0,n1)")
	default:
		r.Errorf(op, diag.BadNotation, "this is no operation; one is written add(n0,n1)")
	}
}

// errorAt returns the place of the error in an operation.
func (r *reader) errorAt(op diag.Span, err error) int {
	var at participle.Error
	if !errors.As(err, &at) {
		return int(op.Start)
	}
	return min(int(op.Start)+at.Position().Offset, int(op.End))
}

// arg reads an argument.
func (r *reader) arg(at diag.Span) arg {
	a := arg{span: at}
	if digits, ok := strings.CutPrefix(r.Text(at), "#"); ok {
		a.ref = &dialect.NumberRef{
			At: at, Digits: dialect.Span(int(at.Start)+1, int(at.End)),
			Number: dialect.Number(digits), User: len(r.steps),
		}
		r.numbers.Ref(a.ref)
	}
	return a
}

// quantity matches a number in a problem, as MathQA counts them.
var quantity = lazyregexp.New(`[-+]?(?:\d{1,3}(?:,\d{2,3})*,\d{3}|\d+)?(?:\.?\d+)?`)

// ofProblem finds the numbers of the problem, and warns about references to numbers that it does
// not have.
func (r *reader) ofProblem() {
	problem, ok := r.Record.Member("Problem")
	if !ok {
		return
	}
	for _, n := range quantity.FindAllString(problem.Value.Str(), -1) {
		if n, ok := new(big.Rat).SetString(strings.ReplaceAll(n, ",", "")); ok {
			r.problem = append(r.problem, plain(n))
		}
	}
	for i := range r.steps {
		for _, a := range r.steps[i].args {
			if text := r.Text(a.span); input.MatchString(text) && dialect.Number(text[1:]) >= len(r.problem) {
				r.lacking = true
				r.Warnf(a.span, diag.NothingThere, "the problem has %s, counted from n0, and no %s", dialect.Count(len(r.problem), "number"), text)
			}
		}
	}
}

// plain returns a decimal fraction in JSON.
func plain(n *big.Rat) string {
	digits, _ := n.FloatPrec()
	return n.FloatString(digits)
}

// context writes the numbers of the problem as the input.
func (r *reader) context(all diag.Span) {
	if len(r.problem) == 0 || r.lacking {
		return
	}
	r.Member("context", all)
	r.List(all)
	r.Object(all)
	r.Member("type", all)
	r.String("input", all)
	r.Member("input", all)
	r.Object(all)
	for i, n := range r.problem {
		r.Member(fmt.Sprintf("n%d", i), all)
		r.JSON(n, all)
	}
	r.Close()
	r.Close()
	r.Close()
}

func (r *reader) write() {
	all := dialect.Span(0, len(r.File.Text))
	r.Object(all)
	r.context(all)
	r.Member("calls", all)
	r.List(all)
	for i := range r.steps {
		if s := &r.steps[i]; !s.bad {
			r.call(s, dialect.Label(i))
		}
	}
	r.Close()
	if n := len(r.steps); n > 0 && !r.steps[n-1].bad {
		last := r.steps[n-1].span
		r.Member("output", last)
		r.Parts(last, dialect.Ref(dialect.StateRef(dialect.Label(n-1)), last))
	}
	r.Close()
}

func (r *reader) call(s *step, label string) {
	r.Object(s.span)
	r.Member("_tool", s.name)
	r.String(r.tool(s), s.name)
	r.Member("_id", s.span)
	r.String(label, s.span)
	r.params(s)
	r.Member("_outputPath", s.span)
	r.Path(label, s.span)
	r.Close()
}

// tool returns the name of the tool of an operation. MathQA has two names for one operation, of
// which choose is a tool of the language (plan-language §9).
func (r *reader) tool(s *step) string {
	if name := r.Text(s.name); name != "choose" {
		return name
	}
	return "combination"
}

func (r *reader) params(s *step) {
	var names []string
	known := false
	if r.Options.Params != nil {
		names, known = r.Options.Params(r.tool(s))
	}
	for i, a := range s.args {
		switch {
		case i < len(names):
			r.Member(names[i], a.span)
		case known:
			r.Errorf(a.span, diag.UnknownParam, "%s takes %s, and this is one more", r.Text(s.name), dialect.Count(len(names), "number"))
			continue
		default:
			r.Member("arg"+dialect.Label(i+1), a.span)
		}
		r.value(a)
	}
}

var (
	input = lazyregexp.New(`^n\d+$`)
	// constant matches a constant: the digits after its first _ are the integer part, and those
	// after the second the fraction.
	constant = lazyregexp.New(`^const_(\d+)(?:[_.](\d+))?$`)
)

// value writes an argument: a result, a number of the problem, a constant or a number.
func (r *reader) value(a arg) {
	text := r.Text(a.span)
	switch {
	case a.ref != nil && a.ref.Faulty:
		r.Parts(a.span, dialect.Fault(a.span))
	case a.ref != nil:
		r.Parts(a.span, dialect.Ref(dialect.StateRef(dialect.Label(a.ref.Number)), a.span))
	case input.MatchString(text):
		r.Parts(a.span, dialect.Ref(&lang.Expr{Kind: "input", Path: []lang.Segment{dialect.Member(text)}}, a.span))
	default:
		number, ok := numberOf(text)
		if !ok {
			r.Errorf(a.span, diag.BadNotation, "%q is neither a number of the problem (n0), a result (#0) nor a constant (const_3_6)", text)
			r.Parts(a.span, dialect.Fault(a.span))
			return
		}
		r.JSON(number, a.span)
	}
}

// numberOf returns the value of a constant or a number.
func numberOf(text string) (string, bool) {
	switch text {
	case "const_pi":
		return "3.141592653589793", true
	case "const_deg_to_rad":
		return "0.017453292519943295", true
	}
	if m := constant.FindStringSubmatch(text); m != nil {
		n, _ := new(big.Int).SetString(m[1], 10)
		if m[2] == "" {
			return n.String(), true
		}
		return fmt.Sprintf("%s.%s", n, m[2]), true
	}
	if strings.HasPrefix(text, "const") {
		return "", false
	}
	if n, ok := new(big.Int).SetString(text, 10); ok {
		return n.String(), true
	}
	return text, text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9')
}
