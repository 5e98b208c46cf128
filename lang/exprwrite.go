package lang

import (
	"slices"

	"github.com/plc-lang/plc/diag"
)

// write parses text[from:to] as one write expression.
func (s source) write(from, to int) (*Write, *fault) {
	e, f := s.read(from, to, false)
	if f != nil {
		return nil, f
	}
	if e.Op == OpRef {
		return s.memory.writeOne(e)
	}
	return toWrite(e)
}

// toWrite reads an expression as outcomes (plan-language §4). The operators nest
// in one way only: alternatives of paths. The other way, a && (b || c), would have outcomes whose
// names show only some of the paths that they write.
func toWrite(e *Expr) (*Write, *fault) {
	w := &Write{Span: e.Span}
	alternatives := []*Expr{e}
	if e.Op == OpOr {
		w.Angle = e.Angle
		alternatives = e.Args
	}
	for _, a := range alternatives {
		paths := []*Expr{a}
		if a.Op == OpAnd {
			w.Angle = w.Angle || a.Angle
			paths = a.Args
		}
		for _, p := range paths {
			if f := writable(p); f != nil {
				return nil, f
			}
		}
		w.Alternatives = append(w.Alternatives, Alternative{Span: a.Span, Paths: paths})
	}
	return w, nil
}

// singleWrite is a write expression of one path.
type singleWrite struct {
	Write
	alternative [1]Alternative
	path        [1]*Expr
}

// writeOne does the same as toWrite for a single reference, which is the usual case.
func (m *memory) writeOne(e *Expr) (*Write, *fault) {
	if f := writable(e); f != nil {
		return nil, f
	}
	if m == nil {
		m = new(memory)
	}
	w := one(&m.writes)
	w.path[0] = e
	w.alternative[0] = Alternative{Span: e.Span, Paths: w.path[:]}
	w.Span, w.Alternatives = e.Span, w.alternative[:]
	return &w.Write, nil
}

// writable returns the fault of an operand that is not a single place.
func writable(e *Expr) *fault {
	switch e.Op {
	case OpLiteral:
		return badExpression(e.Span, "a literal can't be written to; an output path is made of references only")
	case OpRef:
		return oneplace(e, "[*] can't be written to; an output path names one place")
	}
	return badExpression(e.Span, "alternatives can't stand inside &&; name each outcome with all of its paths, as in (†a && †b) || (†a && †c)")
}

// oneplace returns the fault of a reference that names several places.
func oneplace(e *Expr, message string) *fault {
	i := slices.IndexFunc(e.Path, func(s Segment) bool { return s.Kind == Star })
	if i < 0 {
		return nil
	}
	return badExpression(e.Path[i].Span, message)
}

// readExpr parses the JSON string at span, quotes included, as one read
// expression, as _when holds it.
func readExpr(src []byte, span diag.Span, m *memory) (*Expr, []fault) {
	s := newSource(src, span, m)
	e, f := s.read(0, len(s.text), false)
	return e, s.faults(span, f)
}

// readWrite parses the JSON string at span, quotes included, as one write
// expression, as _outputPath and _errorPath hold it.
func readWrite(src []byte, span diag.Span, m *memory) (*Write, []fault) {
	s := newSource(src, span, m)
	w, f := s.write(0, len(s.text))
	return w, s.faults(span, f)
}

// fromEnd returns the fault of a scope with an index from the end, since a copied element needs a
// fixed index.
func fromEnd(e *Expr) *fault {
	for _, step := range e.Path {
		if step.Kind == Index && step.Index < 0 {
			return badExpression(e.Span, "a scope names one place, without an index from the end")
		}
	}
	return nil
}

// readRef parses the JSON string at span, quotes included, as an entry of
// _scopes: a kind or a path, with or without its dagger.
func readRef(src []byte, span diag.Span, m *memory) (*Expr, []fault) {
	s := newSource(src, span, m)
	e, f := s.read(0, len(s.text), true)
	switch {
	case f != nil:
	case e.Op != OpRef:
		f = badExpression(e.Span, "a scope is one kind or one path, such as state or †state.user")
	default:
		if f = oneplace(e, "a scope names one place, without [*]"); f == nil {
			f = fromEnd(e)
		}
	}
	if f != nil {
		return nil, s.faults(span, f)
	}
	return e, nil
}

// faults returns f as a list, empty if f is nil. A fault of an empty text is moved to the
// string that has it.
func (s source) faults(span diag.Span, f *fault) []fault {
	if f == nil {
		return nil
	}
	if f.Span.Len() == 0 {
		f.Span = span
	}
	return []fault{*f}
}
