package dialect

import (
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// Part is a part of a text of the original: literal text, or a reference.
type Part struct {
	from    diag.Span
	literal string
	ref     *lang.Expr
	kind    partKind
}

type partKind uint8

const (
	literalPart partKind = iota
	refPart
	faultPart
)

// Literal returns literal text s of the original: the bytes at the span, or the value of an escape
// there.
func Literal(s string, from diag.Span) Part { return Part{from: from, literal: s} }

// Ref returns a reference of the original.
func Ref(to *lang.Expr, from diag.Span) Part { return Part{from: from, ref: to, kind: refPart} }

// Fault returns a reference of the original that was already reported, so that there are no more
// findings about it.
func Fault(from diag.Span) Part { return Part{from: from, kind: faultPart} }

const dagger = "†"

// Parts writes a string of literal text and references. A single reference becomes its value, of
// any type; otherwise references are inserted into the text. Literal text is kept byte for byte,
// including daggers.
func (b *Builder) Parts(from diag.Span, parts ...Part) { b.text(from, compact(parts), true) }

// Words writes like Parts, but the value is always a text: a single reference is inserted like
// any other.
func (b *Builder) Words(from diag.Span, parts ...Part) { b.text(from, compact(parts), false) }

func (b *Builder) text(from diag.Span, parts []Part, mayBeWhole bool) {
	b.begin(from)
	b.out = append(b.out, '"')
	w := textWriter{Builder: b, first: true}
	for _, p := range parts {
		if said := strings.TrimSpace(p.literal); said != "" || p.kind != literalPart {
			w.group = strings.HasPrefix(said, "(")
			break
		}
	}
	whole := mayBeWhole && len(parts) == 1 && parts[0].kind == refPart
	for i, p := range parts {
		switch {
		case whole:
			b.sure(p.from, p.ref.String())
		case p.kind == refPart:
			b.sure(p.from, "†{"+strings.TrimPrefix(p.ref.String(), dagger)+"}")
			w.first = false
		case p.kind == faultPart:
			b.sure(p.from, "†{}")
			w.first = false
		default:
			w.text(p, parts[i+1:])
		}
	}
	b.out = append(b.out, '"')
	b.end()
}

// compact removes empty parts.
func compact(parts []Part) []Part {
	out := parts[:0:0]
	for _, p := range parts {
		if p.kind != literalPart || p.literal != "" {
			out = append(out, p)
		}
	}
	return out
}

// sure writes an expression in a string.
func (b *Builder) sure(from diag.Span, expr string) {
	b.piece(from, diag.Construct)
	b.out = appendEscaped(b.out, expr)
	b.end()
}

// textWriter writes the literal text of a string.
type textWriter struct {
	*Builder
	first bool // there was only white space before
	group bool // the string begins with a parenthesis, and may be an expression as a whole
}

// text writes a literal part; rest are the parts after it.
func (w *textWriter) text(p Part, rest []Part) {
	same := w.Text(p.from) == p.literal
	for at := 0; at < len(p.literal); {
		text := p.literal[at:]
		n := strings.Index(text, dagger)
		if n < 0 {
			n = len(text)
		}
		if n > 0 {
			w.run(p, at, at+n, same)
			w.first = w.first && strings.TrimSpace(text[:n]) == ""
			at += n
			continue
		}
		n = len(text) - len(strings.TrimLeft(text, dagger))
		w.sure(w.part(p, at, at+n, same), w.daggers(n/len(dagger), text[n:], rest))
		w.first = false
		at += n
	}
}

// daggers returns the text for n literal daggers in a row; behind is the text after them in their
// part, and rest are the parts after it. How they have to be escaped depends on their place
// (plan-language §3): at the start of their string, before a brace, before a reference, in a string
// that begins with a parenthesis. If doubling a dagger is not enough, each is written as a literal
// in braces.
func (w *textWriter) daggers(n int, behind string, rest []Part) string {
	brace := strings.HasPrefix(behind, "{")
	switch {
	case behind == "" && len(rest) > 0, brace && w.first && n > 1, w.group:
		return strings.Repeat("†{'†'}", n)
	case brace, w.first:
		return strings.Repeat(dagger, n+1)
	}
	return strings.Repeat(dagger, n)
}

// part returns the place of literal[from:to].
func (w *textWriter) part(p Part, from, to int, same bool) diag.Span {
	if !same {
		return p.from
	}
	return diag.Span{Start: p.from.Start + int32(from), End: p.from.Start + int32(to)}
}

// run writes text without daggers. Bytes that need no escapes in JSON become one piece.
func (w *textWriter) run(p Part, from, to int, same bool) {
	for i := from; i < to; {
		j := i
		for j < to && plain(p.literal[j:j+1]) {
			j++
		}
		if j > i {
			kind := diag.Words
			if !same {
				kind = diag.Construct
			}
			w.piece(w.part(p, i, j, same), kind)
			w.out = append(w.out, p.literal[i:j]...)
			w.end()
		}
		if i = j; i < to {
			w.piece(w.part(p, i, i+1, same), diag.Construct)
			w.out = appendEscaped(w.out, p.literal[i:i+1])
			w.end()
			i++
		}
	}
}
