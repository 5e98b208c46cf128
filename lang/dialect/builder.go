package dialect

import (
	"strconv"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// Builder writes the text of a plan in our notation, piece by piece, each with the span of the
// original that it comes from. The text is JSON: callers open and close objects and lists, and
// write a member's name before its value; the Builder adds commas.
type Builder struct {
	File    *diag.File // the original
	Options *Options
	// Record is the record that File was in (Notation.Fields); the zero Node if it was in none.
	Record lang.Node
	// Items has the strings if File was a list of strings, each of which is one or more lines; else
	// it is nil.
	Items []diag.Span
	// Profile says how the notation's system runs its plans.
	Profile lang.Profile
	// Envelopes has the ids of calls that stand for agents: see lang.Document.
	Envelopes map[string]bool

	report
	out    []byte
	pieces []diag.Piece
	open   []int // the pieces that are still open
	owners []owner
	beside []*diag.File
}

func newBuilder(file *diag.File, opts *Options) *Builder {
	return &Builder{File: file, Options: opts, report: report{file: file}}
}

// Beside adds another plan of the original, which write writes. It is checked, but is not part of
// the plan.
func (b *Builder) Beside(write func()) {
	out, pieces, open := b.out, b.pieces, b.open
	b.out, b.pieces, b.open = nil, nil, nil
	write()
	b.beside = append(b.beside, diag.NewDerived(b.out, b.File, b.pieces))
	b.out, b.pieces, b.open = out, pieces, open
}

// Text returns the part of the original at a span.
func (b *Builder) Text(s diag.Span) string { return string(b.File.Text[s.Start:s.End]) }

// Object opens an object that comes from a span of the original; Close ends it.
func (b *Builder) Object(from diag.Span) { b.container('{', from) }

// List opens a list that comes from a span of the original; Close ends it.
func (b *Builder) List(from diag.Span) { b.container('[', from) }

func (b *Builder) container(bracket byte, from diag.Span) {
	b.begin(from)
	b.out = append(b.out, bracket)
}

// Close ends the object or list that was opened last.
func (b *Builder) Close() {
	p := &b.pieces[b.open[len(b.open)-1]]
	b.out = append(b.out, b.out[p.At.Start]+2) // { and }, [ and ] are two apart
	b.end()
}

// begin starts a value that comes from a span.
func (b *Builder) begin(from diag.Span) {
	b.comma()
	b.piece(from, diag.Construct)
}

// piece starts a piece; end ends it.
func (b *Builder) piece(from diag.Span, kind diag.PieceKind) {
	b.open = append(b.open, len(b.pieces))
	b.pieces = append(b.pieces, diag.Piece{At: diag.Span{Start: int32(len(b.out))}, From: from, Kind: kind})
}

func (b *Builder) end() {
	last := len(b.open) - 1
	b.pieces[b.open[last]].At.End = int32(len(b.out))
	b.open = b.open[:last]
}

// comma separates a value or a name from what is before it.
func (b *Builder) comma() {
	if len(b.out) == 0 {
		return
	}
	switch b.out[len(b.out)-1] {
	case '{', '[', ':':
	default:
		b.out = append(b.out, ',')
	}
}

// Member writes the name of a member; its value follows. The name comes from a span of the
// original. If the span is the same text, fixes can change it there.
func (b *Builder) Member(name string, from diag.Span) {
	b.quoted(name, from)
	b.out = append(b.out, ':')
}

// String writes a string without references: the name of a tool, an id, a description. If the span
// of the original is the same text, fixes can change it there.
func (b *Builder) String(s string, from diag.Span) { b.quoted(s, from) }

func (b *Builder) quoted(s string, from diag.Span) {
	b.begin(from)
	b.out = append(b.out, '"')
	if int(from.End-from.Start) == len(s) && b.Text(from) == s && plain(s) {
		b.piece(from, diag.Words)
		b.out = append(b.out, s...)
		b.end()
	} else {
		b.out = appendEscaped(b.out, s)
	}
	b.out = append(b.out, '"')
	b.end()
}

// plain reports whether a string needs no escapes in JSON.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return true
}

// JSON writes a value that is given as JSON: a number, true, false, null.
func (b *Builder) JSON(value string, from diag.Span) {
	b.begin(from)
	b.out = append(b.out, value...)
	b.end()
}

// Copy writes the JSON that stands at a span of the original: a number, true, false,
// null, or a string without a dagger.
func (b *Builder) Copy(from diag.Span) {
	b.comma()
	b.piece(from, diag.Verbatim)
	b.out = append(b.out, b.Text(from)...)
	b.end()
}

// Path writes the path of a label on the whiteboard, for _outputPath.
func (b *Builder) Path(label string, from diag.Span) {
	b.quoted(StateRef(label).String(), from)
}

// StateRef returns a reference to the result with this label, or to what is below it.
func StateRef(label string, below ...lang.Segment) *lang.Expr {
	return &lang.Expr{Kind: "state", Path: append([]lang.Segment{Member(label)}, below...)}
}

// Member returns the segment of a path for a name of another notation: .1 and .name, or ["…"] for a
// name with special characters. A number is an index if the value is a list.
func Member(name string) lang.Segment {
	s := lang.Segment{Kind: lang.Named, Name: name}
	if n, err := strconv.ParseInt(name, 10, 32); err == nil && strconv.FormatInt(n, 10) == name && n >= 0 {
		s.Kind, s.Index = lang.Number, int(n)
	}
	return s
}

// appendEscaped appends s as it is written between the quotes of a JSON string.
func appendEscaped(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}
