package lang

import (
	"slices"
	"unicode/utf8"

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
	// Envelopes are the ids of calls that stand for agents: see Document.
	Envelopes map[string]bool
}

// Profile says how the system of another notation runs its plans, where that differs from ours. The
// zero Profile is no difference.
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
	// ResultsStand reports that a call which holds a result was made, and is not made again
	// (plan-language §2).
	ResultsStand bool
}

// translated takes over what the reader of another notation found, and drops what is
// said of the text that was made: daggers in it are there on purpose, and what does
// not parse was reported.
func (p *parser) translated(t *Translation, found diag.List) diag.List {
	if t == nil {
		return found
	}
	p.doc.Profile, p.doc.Envelopes = t.Profile, t.Envelopes
	found = slices.DeleteFunc(found, func(f diag.Finding) bool {
		return f.Code == diag.BareDagger || f.Code == diag.BadExpression
	})
	found = append(found, t.Findings...)
	found.Sort()
	return found
}

// ReadValue reads a text that is one JSON value and no plan, for the readers of other
// notations; comments and trailing commas are allowed. The node is zero when nothing
// could be read. A nil Options is the default; of it only the limits count, and Answer,
// with which small faults are mended.
func ReadValue(file *diag.File, opts *Options) (Node, diag.List) {
	return ReadValueIn(file, diag.Span{End: int32(len(file.Text))}, opts)
}

// ReadValueIn reads a value as ReadValue does, from a part of a text.
func ReadValueIn(file *diag.File, part diag.Span, opts *Options) (Node, diag.List) {
	if opts == nil {
		opts = &Options{}
	}
	limits := jsonscan.Limits{MaxBytes: opts.MaxBytes, MaxDepth: opts.MaxDepth}.OrDefault()
	r := newReader(file, int(part.Start), int(part.End), limits.MaxDepth, 0)
	r.mend = opts.Answer
	if part.Len() > limits.MaxBytes {
		r.errorf(part, diag.OverLimit, "the text has %d bytes, more than %d", part.Len(), limits.MaxBytes)
		return Node{}, r.sorted(nil)
	}
	root := r.read()
	return root, r.sorted(nil)
}

// Inside returns where the bytes from..to of a string's Str stand; nowhere for other kinds. In
// a string with escapes it costs a pass over the string.
func (n Node) Inside(from, to int) diag.Span {
	if !n.is(String) {
		return diag.Span{}
	}
	return newSource(n.tree.file.Text, n.tree.token(n.i), nil).span(from, to)
}

// Inner returns what a string says as a file of its own, whose places lead back to where they
// stand: for a plan inside a string. It is nil for other kinds.
func (n Node) Inner() *diag.File {
	if !n.is(String) {
		return nil
	}
	var in inner
	in.add(n)
	return diag.NewDerived(in.text, n.tree.file, in.pieces)
}

// InnerLines returns the Inner of a list of strings: a file with a line for each, and the spans of
// the strings in it. An empty string has the end of its line, unless it is the last. The file is
// nil for other kinds, for an empty list, and for one with anything else in it.
func (n Node) InnerLines() (lines *diag.File, items []diag.Span) {
	in := inner{pieces: []diag.Piece{{From: n.Span()}}}
	for i, e := range n.Elements() {
		if !e.is(String) {
			return nil, nil
		}
		if i > 0 {
			in.text = append(in.text, '\n')
			if last := &items[i-1]; last.Len() == 0 {
				last.End++
				in.pieces[len(in.pieces)-1].At = *last
			}
		}
		start := int32(len(in.text))
		in.add(e)
		items = append(items, diag.Span{Start: start, End: int32(len(in.text))})
	}
	if len(items) == 0 {
		return nil, nil
	}
	in.pieces[0].At.End = int32(len(in.text))
	return diag.NewDerived(in.text, n.tree.file, in.pieces), items
}

// inner is a text that strings hold, and where its pieces stand.
type inner struct {
	text   []byte
	pieces []diag.Piece
}

// add adds what a string says.
func (in *inner) add(n Node) {
	s := newSource(n.tree.file.Text, n.tree.token(n.i), nil)
	start := int32(len(in.text))
	in.text = append(in.text, s.text...)
	in.pieces = append(in.pieces, diag.Piece{At: diag.Span{Start: start, End: int32(len(in.text))}, From: n.Span()})
	first := len(in.pieces)
	for i := 0; i < len(s.text); {
		_, size := utf8.DecodeRuneInString(s.text[i:])
		at := diag.Span{Start: start + int32(i), End: start + int32(i+size)}
		from := s.span(i, i+size)
		last := len(in.pieces) - 1
		switch kind := pieceKind(at, from); {
		case kind == diag.InString && last >= first && in.pieces[last].Kind == kind && in.pieces[last].From.End == from.Start:
			in.pieces[last].At.End, in.pieces[last].From.End = at.End, from.End
		default:
			in.pieces = append(in.pieces, diag.Piece{At: at, From: from, Kind: kind})
		}
		i += size
	}
}

// pieceKind returns how a character of a string is written: as it is, or as an escape.
func pieceKind(at, from diag.Span) diag.PieceKind {
	if at.Len() == from.Len() {
		return diag.InString
	}
	return diag.Escape
}

// Insides returns a function like Inside for many places of one string, at the cost of one pass
// over it.
func (n Node) Insides() func(from, to int) diag.Span {
	if !n.is(String) {
		return func(int, int) diag.Span { return diag.Span{} }
	}
	return newSource(n.tree.file.Text, n.tree.token(n.i), nil).span
}
