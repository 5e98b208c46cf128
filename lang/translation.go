package lang

import (
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// Translation says of a text that it was made of a plan in another notation, whose
// reader (lang/dialect) found this. Its file is a derived one (diag.NewDerived), so
// that findings point into the text that the user has.
type Translation struct {
	// Findings are the faults of the original, which Parse returns with its own. What
	// could not be translated for them stands in the text as an expression that does
	// not parse, and nothing more is said of it.
	Findings diag.List
	Profile  Profile
}

// Profile is how the system of another notation runs its plans, where that is not how
// ours are run. The zero Profile is no difference.
type Profile struct {
	// LenientRefs reports that a reference that finds nothing is an empty string
	// (plan-language §3).
	LenientRefs bool
	// ErrorsAreResults reports that a call that fails gives an error object as its
	// result, and that the calls which need it run with that.
	ErrorsAreResults bool
	// SkippedSatisfies reports that a call runs although one that it depends on was
	// skipped.
	SkippedSatisfies bool
}

// translated takes over what the reader of another notation found, and drops what is
// said of the text that was made: daggers in it are there on purpose, and what does
// not parse was reported.
func (p *parser) translated(t *Translation, found diag.List) diag.List {
	if t == nil {
		return found
	}
	p.doc.Profile = t.Profile
	found = slices.DeleteFunc(found, func(f diag.Finding) bool {
		return f.Code == diag.BareDagger || f.Code == diag.BadExpression
	})
	found = append(found, t.Findings...)
	found.Sort()
	return found
}

// ReadValue reads a text that is one JSON value and no plan, for the readers of other
// notations; comments and trailing commas are allowed. The node is zero when nothing
// could be read. A nil Options is the default; of it only the limits count.
func ReadValue(file *diag.File, opts *Options) (Node, diag.List) {
	return ReadValueIn(file, diag.Span{End: int32(len(file.Text))}, opts)
}

// ReadValueIn is ReadValue of a part of a text.
func ReadValueIn(file *diag.File, part diag.Span, opts *Options) (Node, diag.List) {
	if opts == nil {
		opts = &Options{}
	}
	limits := jsonscan.Limits{MaxBytes: opts.MaxBytes, MaxDepth: opts.MaxDepth}.OrDefault()
	r := newReader(file, int(part.Start), int(part.End), limits.MaxDepth, 0)
	if part.Len() > limits.MaxBytes {
		r.errorf(part, diag.OverLimit, "the text has %d bytes, more than %d", part.Len(), limits.MaxBytes)
		return Node{}, r.sorted(nil)
	}
	root := r.read()
	return root, r.sorted(nil)
}

// Inside is where the bytes from..to of a string's Str stand; nowhere for other kinds.
// In a string with escapes it costs a pass over the string.
func (n Node) Inside(from, to int) diag.Span {
	if !n.is(String) {
		return diag.Span{}
	}
	return newSource(n.tree.file.Text, n.tree.token(n.i)).span(from, to)
}
