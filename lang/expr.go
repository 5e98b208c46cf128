package lang

import (
	"encoding/json"
	"iter"
	"slices"
	"time"

	"github.com/plc-lang/plc/diag"
)

// Duration is a time.Duration, in a document a string like "1.5s" or a number of
// seconds.
type Duration = time.Duration

// Text is the parsed form of a string value (plan-language §3): one expression as a whole, or text
// with expressions in it. A string without expressions and without an escaped dagger has no Text.
// Expressions that do not parse were reported and are left out, so a Text without Parts has an
// unknown value.
type Text struct {
	Whole bool   // the string is one expression: Parts has one element
	Parts []Part // in order; no two literals in a row
}

// Part is a piece of a text: literal text, or an expression.
type Part struct {
	Literal string // if Expr is nil
	Expr    *Expr
}

// Op is the kind of a node of an expression.
type Op uint8

// The nodes of an expression.
const (
	OpRef     Op = iota // †kind.path
	OpLiteral           // 'en', 5, true, null
	OpOr                // a || b: the first that is present
	OpAnd               // a && b: a gate; the value of the last
)

// Expr is a read expression (plan-language §3). Its spans point into the file, even if the string
// has escapes. Nested operands with the same operator are merged: (a || b) || c has three Args.
type Expr struct {
	Op       Op
	Angle    bool            // an operator spelled <|> or *>
	Span     diag.Span       // without parentheses around it
	Kind     string          // OpRef: input, state, …
	KindSpan diag.Span       // OpRef: the kind, without the dagger
	Path     []Segment       // OpRef: below the kind
	Value    json.RawMessage // OpLiteral: as JSON, numbers as they are written
	Args     []*Expr         // OpOr, OpAnd: two or more
}

// SegmentKind is the kind of a segment of a path.
type SegmentKind uint8

// The kinds of segments.
const (
	Named  SegmentKind = iota // .name or ["name"]
	Number                    // .1: an index of an array, a member of an object
	Index                     // [1], [-1]
	Star                      // [*]
)

// Segment is one step of a path. Digits after a dot that can't be an index, because they start with
// a 0 or exceed 31 bits, are a name.
type Segment struct {
	Kind  SegmentKind
	Index int       // Number and Index; negative counts from the end
	Name  string    // Named, and Number as spelled
	Span  diag.Span // the name after the dot, or the brackets and what is in them
}

// Write is a write expression (plan-language §4): alternatives, one of which happens, each with a
// list of paths that all get the value.
type Write struct {
	Span         diag.Span
	Angle        bool // an operator spelled <|> or *>
	Alternatives []Alternative
}

// Alternative is one outcome of a write expression.
type Alternative struct {
	Span  diag.Span
	Paths []*Expr // OpRefs
}

// refers reports whether there is a reference in the expression.
func (e *Expr) refers() bool { return e.Op == OpRef || slices.ContainsFunc(e.Args, (*Expr).refers) }

// Refs yields the references in the expression, in order; none for nil.
func (e *Expr) Refs() iter.Seq[*Expr] {
	return func(yield func(*Expr) bool) { e.refs(yield) }
}

func (e *Expr) refs(yield func(*Expr) bool) bool {
	switch {
	case e == nil:
		return true
	case e.Op == OpRef:
		return yield(e)
	}
	for _, arg := range e.Args {
		if !arg.refs(yield) {
			return false
		}
	}
	return true
}

// ParseRead parses a read expression such as "†state.a || 'x'", which is all of s except white
// space around it. Spans are offsets into s. The error is an *ExprError.
func ParseRead(s string) (*Expr, error) {
	src := source{text: s}
	e, f := src.read(0, len(s), false)
	if f != nil {
		return nil, f.err()
	}
	return e, nil
}

// ParseBare parses a read expression in the form that it has within †{…}, where references need no
// dagger. Otherwise it is like ParseRead.
func ParseBare(s string) (*Expr, error) {
	src := source{text: s}
	e, f := src.read(0, len(s), true)
	if f != nil {
		return nil, f.err()
	}
	return e, nil
}

// ParseWrite parses a write expression such as "†state.ok || †state.error", which is all of s
// except white space around it. Spans are offsets into s. The error is an *ExprError.
func ParseWrite(s string) (*Write, error) {
	src := source{text: s}
	w, f := src.write(0, len(s))
	if f != nil {
		return nil, f.err()
	}
	return w, nil
}

// ExprError is the error of an expression that does not parse, with its place.
type ExprError struct {
	Code    diag.Code // diag.BadExpression or diag.MixedOperators
	Span    diag.Span // in the expression's own text
	Message string
}

func (e *ExprError) Error() string { return e.Message }

// fault is an error in a string with expressions: a finding without the file, the call and the
// pointer, which the caller adds.
type fault struct {
	Code     diag.Code
	Severity diag.Severity
	Span     diag.Span
	Message  string
	Fix      *diag.Fix
}

func (f *fault) err() *ExprError { return &ExprError{f.Code, f.Span, f.Message} }

// read parses text[from:to] as one read expression. With bare, as in the braces of †{…}, references
// need no daggers.
func (s source) read(from, to int, bare bool) (*Expr, *fault) {
	from, to = s.trim(from, to)
	if i := notUTF8(s.text[from:to]); i >= 0 {
		return nil, badExpression(s.span(from+i, from+i+1), "an expression is written in UTF-8, which this byte is not")
	}
	if e := s.simple(from, to, bare); e != nil {
		return e, nil
	}
	return s.parse(from, to, bare)
}
