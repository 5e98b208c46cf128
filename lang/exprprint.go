package lang

import (
	"strconv"
	"strings"
)

// String returns the expression in canonical form (plan-language §3): parentheses and quotes
// only where they are needed, one space around operators. It parses to an equal expression.
func (e *Expr) String() string { return string(e.append(make([]byte, 0, 64), false)) }

// append appends the canonical form. With bare, as in the braces of †{…}, references have no
// daggers.
func (e *Expr) append(dst []byte, bare bool) []byte {
	switch e.Op {
	case OpRef:
		return e.appendRef(dst, bare)
	case OpLiteral:
		return appendLiteral(dst, e.Value)
	}
	for i, a := range e.Args {
		if i > 0 {
			dst = append(dst, ' ')
			dst = append(dst, e.operator()...)
			dst = append(dst, ' ')
		}
		if a.Op == OpOr || a.Op == OpAnd {
			dst = append(dst, '(')
			dst = a.append(dst, bare)
			dst = append(dst, ')')
			continue
		}
		dst = a.append(dst, bare)
	}
	return dst
}

func (e *Expr) operator() string {
	switch {
	case e.Op == OpOr && e.Angle:
		return "<|>"
	case e.Op == OpOr:
		return "||"
	case e.Angle:
		return "*>"
	}
	return "&&"
}

// appendRef appends a reference. It keeps the dagger if the reference would be a literal without
// it, such as †true.
func (e *Expr) appendRef(dst []byte, bare bool) []byte {
	start := len(dst)
	dst = append(dst, dagger...)
	dst = append(dst, e.Kind...)
	for _, s := range e.Path {
		dst = s.append(dst)
	}
	if word := dst[start+len(dagger):]; bare && !isLiteral(string(word)) {
		dst = append(dst[:start], word...)
	}
	return dst
}

// appendLiteral appends a literal: a string in single quotes unless it contains one, anything else
// as it is written.
func appendLiteral(dst []byte, value []byte) []byte {
	if len(value) == 0 || value[0] != '"' {
		return append(dst, value...)
	}
	s, _ := unquote(string(value))
	quote := byte('\'')
	if strings.Contains(s, "'") {
		quote = '"'
	}
	return appendQuoted(dst, s, quote)
}

// String returns the segment as a path spells it: .name, ["odd name"], .1, [-1], [*].
func (s Segment) String() string { return string(s.append(nil)) }

func (s Segment) append(dst []byte) []byte {
	switch s.Kind {
	case Number:
		return append(append(dst, '.'), s.Name...)
	case Index:
		dst = append(dst, '[')
		dst = strconv.AppendInt(dst, int64(s.Index), 10)
		return append(dst, ']')
	case Star:
		return append(dst, "[*]"...)
	}
	if s.Name != "" && nameEnd(s.Name, 0) == len(s.Name) && named(s.Name).Kind == Named {
		return append(append(dst, '.'), s.Name...)
	}
	dst = appendQuoted(append(dst, '['), s.Name, '"')
	return append(dst, ']')
}

// String returns the write expression in canonical form (plan-language §4). It parses to an
// equal one.
func (w *Write) String() string {
	or := &Expr{Op: OpOr, Angle: w.Angle}
	for _, a := range w.Alternatives {
		or.Args = append(or.Args, a.expr(w.Angle))
	}
	if len(or.Args) == 1 {
		return or.Args[0].String()
	}
	return or.String()
}

func (a Alternative) expr(angle bool) *Expr {
	if len(a.Paths) == 1 {
		return a.Paths[0]
	}
	return &Expr{Op: OpAnd, Angle: angle, Args: a.Paths}
}
