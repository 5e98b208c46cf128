package lang

import "github.com/plc-lang/plc/diag"

// Options say how a document is read. The zero value is the default.
type Options struct {
	// Answer reads a model's raw answer (--from llm): the first JSON value inside
	// prose or a code fence. What is mended is reported as diag.Mended.
	Answer bool

	MaxBytes int // the size of the text; 0 is 64 MiB
	MaxDepth int // of nesting; 0 is 256
	MaxCalls int // of the plan; 0 is 1,000,000
}

// Parse reads a document. It never returns nil: what could be read is there
// beside the findings. A nil Options is the default.
func Parse(file *diag.File, opts *Options) (*Document, diag.List) { panic("todo") }

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
