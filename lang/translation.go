package lang

import (
	"slices"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// Translation describes a text that a reader (lang/dialect) made from a plan in another notation.
// Its file is a derived one (diag.NewDerived), so that findings point into the user's text.
type Translation struct {
	// Findings are the faults of the original, which Parse returns with its own. Parts that could
	// not be translated because of them are expressions in the text that do not parse; Parse does
	// not report these again.
	Findings diag.List
	Profile  Profile
	// Envelopes has the ids of calls that stand for agents: see Document.
	Envelopes map[string]bool
}

// Profile says how the system of another notation runs its plans differently from plc. The zero
// Profile has no differences.
type Profile struct {
	// LenientRefs says that a reference that finds nothing is an empty string (plan-language §3).
	LenientRefs bool
	// ErrorsAreResults says that the result of a failed call is an error object, and that the calls
	// which need it run with that.
	ErrorsAreResults bool
	// SkippedSatisfies says that a call runs even if one that it depends on was skipped.
	SkippedSatisfies bool
	// ResultsStand says that a call with a result was already made, and is not made again
	// (plan-language §2).
	ResultsStand bool
}

// translated adds the findings of the other notation's reader, and drops findings about the
// translated text: its daggers are intended, and expressions that do not parse were reported.
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

// ReadValue reads a text that is a JSON value but not a plan, for the readers of other notations;
// comments and trailing commas are allowed. The node is zero if nothing could be read. A nil
// Options is the default. Only its limits are used, and Answer, with which small faults are mended.
func ReadValue(file *diag.File, opts *Options) (Node, diag.List) {
	return ReadValueIn(file, diag.Span{End: int32(len(file.Text))}, opts)
}

// ReadValueIn does what ReadValue does, for a part of a text.
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

// Inside returns the span in the file of the bytes from..to of a string's Str; the zero Span for
// other kinds. For a string with escapes it costs a pass over the string.
func (n Node) Inside(from, to int) diag.Span {
	if !n.is(String) {
		return diag.Span{}
	}
	return newSource(n.tree.file.Text, n.tree.token(n.i), nil).span(from, to)
}

// Inner returns the value of a string as a derived file, whose places lead back to the string. It
// is for a plan in a string. It returns nil for other kinds.
func (n Node) Inner() *diag.File {
	if !n.is(String) {
		return nil
	}
	var in inner
	in.add(n)
	return diag.NewDerived(in.text, n.tree.file, in.pieces)
}

// InnerLines returns a list of strings as a derived file with a line for each, and the spans of the
// strings in it. The span of an empty string is the end of its line, unless it is the last. The
// file is nil for other kinds, for an empty list, and for a list with other values in it.
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

// inner is the text of strings, with the places of its pieces.
type inner struct {
	text   []byte
	pieces []diag.Piece
}

// add adds the value of a string.
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

// Insides returns a function like Inside for many places of one string; all calls together cost one
// pass over it.
func (n Node) Insides() func(from, to int) diag.Span {
	if !n.is(String) {
		return func(int, int) diag.Span { return diag.Span{} }
	}
	return newSource(n.tree.file.Text, n.tree.token(n.i), nil).span
}
