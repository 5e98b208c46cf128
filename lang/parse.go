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
