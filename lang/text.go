package lang

import (
	"bytes"
	"fmt"
	"iter"
	"strings"
	"unicode"

	"github.com/plc-lang/plc/diag"
)

// readText parses the JSON string at span, quotes included (plan-language §3). It returns nil if
// the string is only text.
func readText(src []byte, span diag.Span, m *memory) (*Text, []fault) {
	if inside := src[span.Start+1 : span.End-1]; !mayHoldDagger(inside) {
		return nil, nil
	}
	s := newSource(src, span, m)
	from, to := s.trim(0, len(s.text))
	switch t := s.text[from:to]; {
	case isWhole(t):
		return s.whole(from, to)
	case strings.HasPrefix(t, "(") && strings.Contains(t, dagger):
		if text, faults, ok := s.group(from, to); ok {
			return text, faults
		}
	}
	r := &textReader{source: s}
	for m := range marks(s.text) {
		r.mark(m)
	}
	return r.result(), r.faults
}

func mayHoldDagger(inside []byte) bool {
	return bytes.HasPrefix(inside, []byte(dagger)) || bytes.Contains(inside, []byte(dagger)) || bytes.Contains(inside, []byte(`\u2020`))
}

// isWhole reports whether a trimmed text is one expression.
func isWhole(t string) bool {
	rest, ok := strings.CutPrefix(t, dagger)
	return ok && !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, dagger)
}

func (s source) whole(from, to int) (*Text, []fault) {
	e, f := s.read(from, to, false)
	if f != nil {
		return &Text{}, []fault{*f}
	}
	return s.memory.whole(e), nil
}

// group reads a text that begins with a parenthesis. ok is false if it is not an expression with a
// reference in it, so that it is text.
func (s source) group(from, to int) (text *Text, faults []fault, ok bool) {
	switch e, f := s.read(from, to, false); {
	case f != nil && f.Code == diag.MixedOperators:
		return &Text{}, []fault{*f}, true
	case f != nil || !e.refers():
		return nil, nil, false
	default:
		return s.memory.whole(e), nil, true
	}
}

// mark is a dagger in a text that is not an expression as a whole.
type mark struct {
	kind     markKind
	from, to int
}

type markKind uint8

const (
	escapeMark   markKind = iota // ††, of which the first is left out
	templateMark                 // †{ to }
	openMark                     // †{ without a closing }
	bareMark                     // † that is just text
)

// marks returns the daggers of a text, in order.
func marks(text string) iter.Seq[mark] {
	return func(yield func(mark) bool) {
		first := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
		for i := 0; ; {
			n := strings.Index(text[i:], dagger)
			if n < 0 {
				return
			}
			m := markAt(text, i+n, i+n == first)
			if !yield(m) {
				return
			}
			i = m.to
		}
	}
}

// markAt returns the meaning of the dagger at text[i]. A doubled dagger is an escape at the start
// of a text, and before a template anywhere. Daggers are paired from the left: at the start †††{a}
// is a † and a template, elsewhere a † and a literal †{a}.
func markAt(text string, i int, first bool) mark {
	after := i + len(dagger)
	switch rest := text[after:]; {
	case strings.HasPrefix(rest, "{"):
		if end := templateEnd(text, after+1); end > 0 {
			return mark{templateMark, i, end}
		}
		return mark{openMark, i, len(text)}
	case strings.HasPrefix(rest, dagger+"{"), first && strings.HasPrefix(rest, dagger):
		return mark{escapeMark, i, after + len(dagger)}
	}
	return mark{bareMark, i, after}
}

// templateEnd returns the end of the template whose inside starts at text[i], after the first
// closing brace that is not in quotes; 0 if there is none. If a quote is not closed, any closing
// brace counts, so that the quote is reported.
func templateEnd(text string, i int) int {
	for j := i; j < len(text); j++ {
		switch c := text[j]; c {
		case '}':
			return j + 1
		case '"', '\'':
			end := quoteEnd(text, j)
			if end == 0 {
				return indexFrom(text, '}', i) + 1
			}
			j = end - 1
		}
	}
	return 0
}

// quoteEnd returns the place after the quote that closes the one at text[i], or 0 if none does.
func quoteEnd(text string, i int) int {
	for j := i + 1; j < len(text); j++ {
		switch text[j] {
		case '\\':
			j++
		case text[i]:
			return j + 1
		}
	}
	return 0
}

// textReader puts the parts of a text together.
type textReader struct {
	source
	parts   []Part
	literal []byte // literal text before done that is not yet a part, if it is not contiguous
	done    int    // the offset up to which the text is processed
	marked  bool   // the text has an expression or an escape
	faults  []fault
}

func (r *textReader) mark(m mark) {
	switch m.kind {
	case escapeMark:
		r.leaveOut(m.from, m.from+len(dagger))
	case openMark:
		r.leaveOut(m.from, m.to)
		r.fail(badExpression(r.span(m.from, m.from+len("†{")), `"†{" is not closed by a "}"; a literal †{ is written ††{`))
	case templateMark:
		r.template(m)
	case bareMark:
		r.bare(m)
	}
}

func (r *textReader) fail(f *fault) { r.faults = append(r.faults, *f) }

// leaveOut continues at text[to:], and leaves text[from:to] out of the literal.
func (r *textReader) leaveOut(from, to int) {
	r.literal = append(r.literal, r.text[r.done:from]...)
	r.done = to
	r.marked = true
}

// flush makes the literal text up to text[to] a part.
func (r *textReader) flush(to int) {
	s := r.text[r.done:to]
	if len(r.literal) > 0 {
		s = string(append(r.literal, s...))
		r.literal = r.literal[:0]
	}
	if s != "" {
		r.parts = append(r.parts, Part{Literal: s})
	}
	r.done = to
}

func (r *textReader) template(m mark) {
	e, f := r.inside(m)
	if f != nil {
		r.fail(f)
		r.leaveOut(m.from, m.to)
		return
	}
	r.flush(m.from)
	r.parts = append(r.parts, Part{Expr: e})
	r.done = m.to
	r.marked = true
}

// inside parses the expression of a template.
func (s source) inside(m mark) (*Expr, *fault) {
	from, to := m.from+len("†{"), m.to-len("}")
	if strings.TrimSpace(s.text[from:to]) == "" {
		return nil, badExpression(s.span(m.from, m.to), `"†{}" wants an expression inside; a literal †{ is written ††{`)
	}
	return s.read(from, to, true)
}

// bare warns about a reference that is only text. It does not warn about a kind alone, which may be
// the mark of a footnote, or about a doubled dagger.
func (r *textReader) bare(m mark) {
	if strings.HasSuffix(r.text[:m.from], dagger) {
		return
	}
	e, end := r.scan(r.text, m.from)
	if e == nil || len(e.Path) == 0 {
		return
	}
	ref := r.text[m.to:end]
	if t := strings.TrimRight(ref, ":;!?"); !strings.HasSuffix(t, ".") {
		ref = t // the punctuation belongs to the sentence, not to the name
	}
	place := func(i int) diag.Span { return r.span(i, i) }
	r.fail(&fault{
		Code:     diag.BareDagger,
		Severity: diag.Warning,
		Span:     r.span(m.from, m.to+len(ref)),
		Message:  fmt.Sprintf("†%s inside longer text is just text; did you mean †{%[1]s}?", clip(ref)),
		Fix: &diag.Fix{
			Message: fmt.Sprintf("write †{%s}", clip(ref)),
			Edits:   []diag.Edit{{Span: place(m.to), Text: "{"}, {Span: place(m.to + len(ref)), Text: "}"}},
		},
	})
}

// result returns the text; nil if all of it is literal.
func (r *textReader) result() *Text {
	if !r.marked {
		return nil
	}
	r.flush(len(r.text))
	return &Text{Parts: r.parts}
}

// formatText returns the JSON string at span, quotes included, with its expressions in canonical
// form, without daggers in †{…}. All other text stays as it is written, including escapes. t is the
// result of readText for it.
func formatText(src []byte, span diag.Span, t *Text) []byte {
	token := src[span.Start:span.End]
	switch {
	case t == nil || len(t.Parts) == 0:
		return token
	case t.Whole:
		expr := t.Parts[0].Expr.String()
		if !strings.HasPrefix(expr, dagger) && !strings.HasPrefix(expr, "(") {
			expr = "(" + expr + ")" // or it would be text
		}
		return appendQuoted(nil, expr, '"')
	}
	s := newSource(src, span, nil)
	out := make([]byte, 0, len(token))
	done := span.Start
	for m := range marks(s.text) {
		if m.kind != templateMark {
			continue
		}
		e, f := s.inside(m)
		if f != nil {
			continue
		}
		at := s.span(m.from, m.to)
		out = append(out, src[done:at.Start]...)
		out = append(out, "†{"...)
		quoted := appendQuoted(nil, string(e.append(nil, true)), '"')
		out = append(out, quoted[1:len(quoted)-1]...)
		out = append(out, '}')
		done = at.End
	}
	return append(out, src[done:span.End]...)
}
