package lang

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
)

// memory allocates the values that a reader makes in chunks, since they are many and small. A nil
// memory allocates each by itself.
type memory struct {
	strings  strings.Builder
	exprs    []Expr
	segments []Segment
	parts    []Part
	texts    []Text
	writes   []singleWrite
}

// The maximum size of a chunk, in values and in bytes; small documents need less.
const (
	largestChunk = 256
	largestText  = 1 << 14
)

// string returns a string in the memory. The Builder never moves its contents.
func (m *memory) string(b []byte) string {
	if m == nil || len(b) > largestText/4 {
		return string(b)
	}
	s := &m.strings
	if s.Cap()-s.Len() < len(b) {
		size := min(max(2*s.Cap(), 64), largestText)
		s.Reset()
		s.Grow(max(size, len(b)))
	}
	start := s.Len()
	s.Write(b)
	return s.String()[start:]
}

// take returns an empty slice with room for n values in a chunk.
func take[T any](chunk *[]T, n int) []T {
	if cap(*chunk)-len(*chunk) < n {
		*chunk = slices.Grow([]T(nil), max(n, min(2*cap(*chunk), largestChunk))) // use all that the allocator gives
	}
	k := len(*chunk)
	*chunk = (*chunk)[:k+n]
	return (*chunk)[k : k : k+n]
}

// one returns room for one value of a chunk.
func one[T any](chunk *[]T) *T { return &take(chunk, 1)[:1][0] }

// newRef returns a reference with room for a path of n segments.
func (m *memory) newRef(n int) *Expr {
	if m == nil {
		m = new(memory)
	}
	e := one(&m.exprs)
	if *e = (Expr{}); n > 0 {
		e.Path = take(&m.segments, n)
	}
	return e
}

// whole returns a text that is one expression.
func (m *memory) whole(e *Expr) *Text {
	if m == nil {
		return &Text{Whole: true, Parts: []Part{{Expr: e}}}
	}
	t := one(&m.texts)
	*t = Text{Whole: true, Parts: append(take(&m.parts, 1), Part{Expr: e})}
	return t
}

// forget reuses the memory of everything that was read before, except strings.
func (m *memory) forget() {
	m.exprs, m.segments, m.parts, m.texts = m.exprs[:0], m.segments[:0], m.parts[:0], m.texts[:0]
	m.writes = m.writes[:0]
}

// TextReader reads texts and output paths one after the other, reusing the same memory, so that it
// allocates much less than Node.Text and Call.OutputPath. The zero TextReader is ready for use. It
// is for one goroutine.
type TextReader struct{ memory memory }

// Text returns Node.Text. The result is valid until the reader is used again; its strings stay
// valid.
func (r *TextReader) Text(n Node) *Text {
	if !n.has(hasText) {
		return nil
	}
	r.memory.forget()
	if n.has(isRef) {
		return r.memory.whole(r.memory.reference(n))
	}
	text, _ := readText(n.tree.file.Text, n.tree.token(n.i), &r.memory)
	return text
}

// OutputPath returns c.OutputPath. Callers must not change it. It is valid until the reader is used
// again; its strings stay valid.
func (r *TextReader) OutputPath(c *Call) *Write {
	r.memory.forget()
	return c.outputPath(&r.memory)
}

// IsReference reports whether a string is a single reference, written plainly, as nearly all
// expressions are: its Text is Whole, and its expression an OpRef. It reports false for
// references with escapes, or with names in quotes or beyond ASCII.
func (n Node) IsReference() bool { return n.has(isRef) && n.has(hasText) }

// HasExprs reports whether n is a string with expressions.
func (n Node) HasExprs() bool { return n.has(hasExprs) }

// reference returns the text of a string that isReference.
func (m *memory) reference(n Node) *Expr {
	in := n.tree.inside(n.i)
	raw := n.tree.file.Text[in.Start:in.End]
	text := m.string(raw[len(dagger):])
	e := m.newRef(maxSegments(text))
	at := in.Start + int32(len(dagger)) // of text[0]
	end := plainName(raw, len(dagger)) - len(dagger)
	e.Kind, e.KindSpan = text[:end], diag.Span{Start: at, End: at + int32(end)}
	for i := end; i < len(text); i = end {
		var s Segment
		if text[i] == '.' {
			i++
			end = plainName(raw, i+len(dagger)) - len(dagger)
			s = named(text[i:end])
		} else {
			end = indexFrom(text, ']', i) + 1
			s.Kind = Index
			s.Index, _ = parseIndex(text[i+1 : end-1])
		}
		s.Span = diag.Span{Start: at + int32(i), End: at + int32(end)}
		e.Path = append(e.Path, s)
	}
	e.Span = diag.Span{Start: in.Start, End: in.End}
	return e
}

// isReference reports whether a value is a string that is only a reference, written plainly.
func (n Node) isReference() bool {
	if !n.is(String) || n.has(escaped|bad) {
		return false
	}
	s := n.tree.inside(n.i)
	return isReference(n.tree.file.Text[s.Start:s.End])
}

// isReference reports whether the inside of a string is a single reference that simple reads like
// the grammar. It returns false for rare forms.
func isReference(s []byte) bool {
	if !bytes.HasPrefix(s, []byte(dagger)) || len(s) > maxSimple {
		return false
	}
	i := plainName(s, len(dagger))
	if i == len(dagger) {
		return false
	}
	for i < len(s) {
		next := i + 1
		switch s[i] {
		case '.':
			if next = plainName(s, next); next == i+1 {
				return false
			}
		case '[':
			for next < len(s) && s[next]-'0' <= 9 {
				next++
			}
			if n := next - i - 1; n == 0 || n > 9 || next == len(s) || s[next] != ']' {
				return false
			}
			next++
		default:
			return false
		}
		i = next
	}
	return true
}

// plainName returns the end of the name at s[i:], which consists of ASCII without backslashes.
func plainName(s []byte, i int) int {
	for i < len(s) {
		c := s[i]
		if c < 64 && notName0>>c&1 != 0 || c >= 64 && notName1>>(c-64)&1 != 0 || c >= 128 || c == '\\' {
			break
		}
		i++
	}
	return i
}
