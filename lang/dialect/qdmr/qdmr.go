// Package qdmr reads decompositions of questions in the format of BREAK (QDMR): steps in words,
//
//	return flights ;return #1 from denver ;return the lowest price of #2
//
// and programs, in which each step is an operator.
//
//	SELECT['flights'] ;FILTER['#1', 'from denver'] ;AGGREGATE['min', '#2']
//
// It also reads a list of strings with these, as Python prints it. # and the number of an earlier
// step, counted from 1, is the result of that step; an empty step between two semicolons, or an
// empty string in a list, counts too. A step in words becomes a call of the tool step with its
// description; an operator becomes a call of the tool with its name.
package qdmr

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/lang/dialect"
)

// Notation returns the notation of BREAK.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "qdmr", What: "a QDMR decomposition", Read: read, Fields: []string{"decomposition", "program"}}
}

// operator is a step of a program as it is written.
type operator struct {
	Name word     `parser:"@@ '['"`
	Args []*quote `parser:"( @@ ( ',' @@ )* ','? )? ']'"`
}

// word is a name and its place.
type word struct {
	Pos  lexer.Position
	Text string `parser:"@Word"`
}

// quote is a string and its place, quotes included.
type quote struct {
	Pos  lexer.Position
	Text string `parser:"@String"`
}

// grammar is made when a text is first read.
var grammar = sync.OnceValue(func() *participle.Parser[operator] {
	return participle.MustBuild[operator](
		participle.Lexer(lexer.MustSimple([]lexer.SimpleRule{
			{Name: "String", Pattern: `'(\\.|[^'\\])*'|"(\\.|[^"\\])*"`},
			{Name: "Word", Pattern: `[A-Za-z_]+`},
			{Name: "Sign", Pattern: `[\[\],]`},
			{Name: "space", Pattern: `\s+`},
		})),
	)
})

// operators are those of BREAK's programs.
const operators = "SELECT PROJECT FILTER AGGREGATE GROUP SUPERLATIVE COMPARATIVE COMPARISON UNION INTERSECTION DISCARD SORT BOOLEAN ARITHMETIC"

var (
	returns   = lazyregexp.New(`^(?i:return)\s+`)
	isProgram = lazyregexp.New(`^\s*[A-Za-z_]+\s*\[`)
	listItem  = lazyregexp.New(`^(?:\d+[.)]|[-*+])\s+(?i:return\b)`)
	ref       = lazyregexp.New(`#(\d+)`)
	nearRef   = lazyregexp.New(`#[ \t]+(\d+)\b`)
)

// step is a step as it is written.
type step struct {
	span   diag.Span
	name   diag.Span // of an operator; zero for a step in words
	args   []diag.Span
	refs   [][]*dialect.NumberRef // of each argument
	empty  bool
	broken bool
}

type reader struct {
	*dialect.Builder
	steps   []step
	numbers dialect.Numbering
}

func read(b *dialect.Builder) {
	r := &reader{Builder: b, numbers: dialect.Numbering{Spell: "#%d"}}
	for s := range r.pieces() {
		r.step(s)
	}
	r.empties()
	if len(r.steps) == 0 {
		r.NoPlan("one is written return flights, with ; between steps")
	}
	for i := range r.steps {
		r.numbers.Step(i + 1)
	}
	for i := range r.steps {
		r.findRefs(i)
	}
	r.numbers.Judge(b)
	for i := range r.steps {
		r.near(i)
	}
	r.write()
}

// pieces returns the parts of the text that are steps: lines, or the parts between semicolons that
// are not in quotes of a program. An empty part before a semicolon includes the semicolon. In a
// list of strings, an empty string is a step, too.
func (r *reader) pieces() func(yield func(diag.Span) bool) {
	return func(yield func(diag.Span) bool) {
		if r.Items == nil {
			r.inLines(dialect.Span(r.Start(), len(r.File.Text)), yield)
		}
		for _, item := range r.Items {
			goesOn := false
			if r.Trim(item).Len() == 0 {
				goesOn = yield(item)
			} else {
				goesOn = r.inLines(item, yield)
			}
			if !goesOn {
				return
			}
		}
	}
}

// inLines yields the steps in the lines of a span. It returns false if it was stopped.
func (r *reader) inLines(all diag.Span, yield func(diag.Span) bool) bool {
	for line := range r.Lines(all) {
		for from := int(line.Start); from < int(line.End); {
			to := from + pieceEnd(r.File.Text[from:line.End])
			s := r.Trim(dialect.Span(from, to))
			if empty := s.Len() == 0 && to < int(line.End); empty {
				s = dialect.Span(from, to+1)
			}
			if s.Len() > 0 && !yield(s) {
				return false
			}
			from = to + 1
		}
	}
	return true
}

// pieceEnd returns the end of the step at the start of a line.
func pieceEnd(line []byte) int {
	if !isProgram.Match(line) {
		if i := bytes.IndexByte(line, ';'); i >= 0 {
			return i
		}
		return len(line)
	}
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ';':
			return i
		case '\'', '"':
			n := quoted(line[i:])
			if n == 0 {
				continue // the grammar reports it
			}
			i += n - 1
		}
	}
	return len(line)
}

// quoted returns the length of the string at the start of s; 0 if it is not closed.
func quoted(s []byte) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 0
}

func (r *reader) step(at diag.Span) {
	said := r.Text(at)
	switch m := returns.FindString(said); {
	case strings.TrimSpace(strings.TrimSuffix(said, ";")) == "", strings.EqualFold(said, "return"):
		r.steps = append(r.steps, step{span: at, empty: true})
	case m != "":
		r.steps = append(r.steps, step{span: at, args: []diag.Span{dialect.Span(int(at.Start)+len(m), int(at.End))}})
	case isProgram.MatchString(said):
		r.operator(at)
	case strings.HasPrefix(said, "```"):
		r.PassOver(at)
	case strings.HasPrefix(said, "[") && len(r.steps) == 0:
		r.Errorf(at, diag.BadNotation, "this is no list of operators, neither in JSON nor of Python; the plan may be cut off here")
		r.steps = append(r.steps, step{span: at, broken: true})
	case listItem.MatchString(said):
		n := strings.Index(strings.ToLower(said), "return")
		mark := dialect.Span(int(at.Start), int(at.Start)+n)
		r.Errorf(at, diag.BadNotation, "a step has no number and is no item of a list; it begins with return").
			Fix = &diag.Fix{Message: "cut out what is before it", Edits: []diag.Edit{{Span: mark}}}
		r.steps = append(r.steps, step{span: at, broken: true})
	default:
		r.Errorf(at, diag.BadNotation, "this is no step; one begins with return, or is an operator such as SELECT['flights']")
		r.steps = append(r.steps, step{span: at, broken: true})
	}
}

// empties judges the empty steps. BREAK counts them, so they keep their numbers. At the end of the
// plan they are ignored, except that a last return means that the plan was cut off.
func (r *reader) empties() {
	for len(r.steps) > 0 && r.steps[len(r.steps)-1].empty {
		last := r.steps[len(r.steps)-1]
		if strings.EqualFold(r.Text(last.span), "return") {
			r.Errorf(last.span, diag.BadNotation, "this step returns nothing; the plan may be cut off here")
		}
		r.steps = r.steps[:len(r.steps)-1]
	}
	for i := range r.steps {
		if s := &r.steps[i]; s.empty {
			s.args = []diag.Span{dialect.Span(int(s.span.Start), int(s.span.Start))}
			r.Infof(s.span, diag.PassedOver, "the step is empty; it counts as #%d, as in BREAK", i+1)
		}
	}
}

// operator reads a step of a program.
func (r *reader) operator(at diag.Span) {
	s := step{span: at}
	op, err := grammar().ParseString("", r.Text(at))
	if err != nil {
		message := "this is no operator; one is written FILTER['#1', 'from denver']"
		if !strings.HasSuffix(r.Text(at), "]") {
			message = "the bracket of this operator is not closed; the plan may be cut off here"
		}
		r.Errorf(at, diag.BadNotation, "%s", message)
		s.broken = true
		r.steps = append(r.steps, s)
		return
	}
	place := func(p lexer.Position, said string) diag.Span {
		start := int(at.Start) + p.Offset
		return dialect.Span(start, start+len(said))
	}
	s.name = place(op.Name.Pos, op.Name.Text)
	for _, a := range op.Args {
		in := place(a.Pos, a.Text)
		s.args = append(s.args, dialect.Span(int(in.Start)+1, int(in.End)-1))
	}
	r.steps = append(r.steps, s)
}

// findRefs finds the references of step i.
func (r *reader) findRefs(i int) {
	s := &r.steps[i]
	s.refs = make([][]*dialect.NumberRef, len(s.args))
	for k, a := range s.args {
		said, base := r.Text(a), int(a.Start)
		for _, m := range ref.FindAllStringSubmatchIndex(said, -1) {
			n := &dialect.NumberRef{
				At:     dialect.Span(base+m[0], base+m[1]),
				Digits: dialect.Span(base+m[2], base+m[3]),
				Number: dialect.Number(said[m[2]:m[3]]),
				User:   i,
			}
			if r.isText(n) {
				continue
			}
			if (n.Number == 0 || n.Number > i) && !dialect.IsReferred(said[:m[0]]) {
				r.Infof(n.At, diag.NearReference, "%s is part of a name here: it leads to no earlier step", r.Text(n.At))
				continue
			}
			s.refs[k] = append(s.refs[k], n)
			r.numbers.Ref(n)
		}
	}
}

// isText reports whether a # and a number are only text: part of a longer word, or with a number
// that is far from those of the steps.
func (r *reader) isText(n *dialect.NumberRef) bool {
	const near = 5
	return n.Number < 0 || n.Number > len(r.steps)+near ||
		r.InWord(int(n.At.End)) || n.At.Start > 0 && dialect.Word(string(r.File.Text[n.At.Start-1:n.At.Start])) > 0
}

// near warns about text that is nearly a reference to a step before step i.
func (r *reader) near(i int) {
	for _, a := range r.steps[i].args {
		said, base := r.Text(a), int(a.Start)
		for _, m := range nearRef.FindAllStringSubmatchIndex(said, -1) {
			digits := said[m[2]:m[3]]
			if !r.numbers.Reaches(dialect.Number(digits), i) || !dialect.IsReferred(said[:m[0]]) {
				continue
			}
			at := dialect.Span(base+m[0], base+m[1])
			r.Warnf(at, diag.NearReference, "%q is just text; did you mean #%s?", r.Text(at), digits).Fix = dialect.Replace(at, "#"+digits)
		}
	}
}

func (r *reader) write() {
	r.List(dialect.Span(0, len(r.File.Text)))
	for i := range r.steps {
		if !r.steps[i].broken {
			r.call(&r.steps[i], dialect.Label(i+1))
		}
	}
	r.Close()
}

func (r *reader) call(s *step, label string) {
	r.Object(s.span)
	if s.name.Len() > 0 {
		r.Member("_tool", s.name)
		r.String(r.Text(s.name), s.name)
	} else {
		r.Member("_tool", s.span)
		r.String(dialect.StepTool, s.span)
	}
	r.Member("_id", s.span)
	r.String(label, s.span)
	r.params(s)
	r.Member("_outputPath", s.span)
	r.Path(label, s.span)
	r.Close()
}

func (r *reader) params(s *step) {
	if s.name.Len() == 0 {
		r.Member("description", s.args[0])
		r.Words(s.args[0], r.parts(s, 0)...)
		return
	}
	var names []string
	known := false
	if r.Options.Params != nil {
		names, known = r.Options.Params(r.Text(s.name))
	}
	if name := strings.ToUpper(r.Text(s.name)); !known && !slices.Contains(strings.Fields(operators), name) {
		f := r.Errorf(s.name, diag.UnknownTool, "BREAK has no operator %q", r.Text(s.name))
		if near, ok := spell.Nearest(name, slices.Values(strings.Fields(operators))); ok {
			f.Message += fmt.Sprintf("; did you mean %q?", near)
			f.Fix = dialect.Replace(s.name, near)
		}
	}
	for i, a := range s.args {
		switch {
		case i < len(names):
			r.Member(names[i], a)
		case known:
			r.Errorf(a, diag.UnknownParam, "%s takes %s, and this is one more", r.Text(s.name), dialect.Count(len(names), "argument"))
			continue
		default:
			r.Member("arg"+dialect.Label(i+1), a)
		}
		r.Parts(a, r.parts(s, i)...)
	}
}

// parts returns the parts of an argument.
func (r *reader) parts(s *step, k int) (parts []dialect.Part) {
	at := int(s.args[k].Start)
	literal := func(to int) {
		for at < to {
			n := strings.IndexByte(string(r.File.Text[at:to]), '\\')
			if s.name.Len() == 0 || n < 0 || at+n+1 >= to {
				n = to - at
			}
			if n > 0 {
				parts = append(parts, dialect.Literal(string(r.File.Text[at:at+n]), dialect.Span(at, at+n)))
			}
			if at += n; at < to { // an escape of a quote
				parts = append(parts, dialect.Literal(string(r.File.Text[at+1:at+2]), dialect.Span(at, at+2)))
				at += 2
			}
		}
		at = to
	}
	for _, ref := range s.refs[k] {
		literal(int(ref.At.Start))
		at = int(ref.At.End)
		if ref.Faulty {
			parts = append(parts, dialect.Fault(ref.At))
		} else {
			parts = append(parts, dialect.Ref(dialect.StateRef(dialect.Label(ref.Number)), ref.At))
		}
	}
	literal(int(s.args[k].End))
	return parts
}
