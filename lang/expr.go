package lang

import (
	"encoding/json"
	"time"

	"github.com/plc-lang/plc/diag"
)

// Duration is a time.Duration, in a document a string like "1.5s" or a number of
// seconds.
type Duration = time.Duration

// Text is what a string value says (plan-language §3): one expression as a
// whole, or text with expressions in it. A string without any expression in it
// and without an escaped dagger has no Text.
type Text struct {
	Whole bool   // the string is one expression: Parts has one element
	Parts []Part // in order
}

// Part is a piece of a text: literal text, or an expression.
type Part struct {
	Literal string // when Expr is nil
	Expr    *Expr
}

// Op tells the nodes of an expression apart.
type Op uint8

// The nodes of an expression.
const (
	OpRef     Op = iota // †kind.path
	OpLiteral           // 'en', 5, true, null
	OpOr                // a || b: the first that is present
	OpAnd               // a && b: a gate; the value of the last
)

// Expr is a read expression (plan-language §3). Its spans point into the file,
// whatever escapes the string is written with.
type Expr struct {
	Op    Op
	Angle bool // an operator spelled <|> or *>
	Span  diag.Span
	Kind  string          // OpRef: input, state, …
	Path  []Segment       // OpRef: below the kind
	Value json.RawMessage // OpLiteral: as JSON
	Args  []*Expr         // OpOr, OpAnd: two or more
}

// SegmentKind tells the segments of a path apart.
type SegmentKind uint8

// The kinds of segments.
const (
	Named  SegmentKind = iota // .name or ["name"]
	Number                    // .1: an index of an array, a member of an object
	Index                     // [1], [-1]
	Star                      // [*]
)

// Segment is one step of a path.
type Segment struct {
	Kind  SegmentKind
	Index int    // Number and Index; negative counts from the end
	Name  string // Name, and Number as spelled
	Span  diag.Span
}

// Write is a write expression (plan-language §4): alternatives, of which one
// happens, each a list of paths that all get the value.
type Write struct {
	Span         diag.Span
	Angle        bool
	Alternatives []Alternative
}

// Alternative is one outcome of a write expression.
type Alternative struct {
	Span  diag.Span
	Paths []*Expr // OpRefs
}

// ParseRead parses a read expression such as "†state.a || 'x'", the whole of s.
// Spans are offsets into s. The error is an *ExprError.
func ParseRead(s string) (*Expr, error) { panic("todo") }

// ParseWrite parses a write expression such as "†state.ok || †state.error", the
// whole of s. Spans are offsets into s. The error is an *ExprError.
func ParseWrite(s string) (*Write, error) { panic("todo") }

// ExprError says where an expression does not parse, and why.
type ExprError struct {
	Code    diag.Code // diag.BadExpression or diag.MixedOperators
	Span    diag.Span // in the expression's own text
	Message string
}

func (e *ExprError) Error() string { return e.Message }
