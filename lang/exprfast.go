package lang

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const dagger = "†"

// maxSimple is the longest text, in bytes, that simple reads. Longer ones may exceed the limits of
// the grammar.
const maxSimple = 1 << 20

// simple reads text[from:to] if it is a reference or a literal without escapes, or several of them
// joined by one operator, like nearly every expression of nearly every plan. It returns the same
// result as the grammar, at a hundredth of the cost, or nil if the grammar has to decide. (A cache
// would not help: the spans differ each time, and finding an entry costs as much as reading the
// reference.)
func (s source) simple(from, to int, bare bool) *Expr {
	t := s.text[:to]
	if to-from > maxSimple {
		return nil
	}
	first, end := s.operand(t, from, bare)
	if first == nil || end == to {
		return first
	}
	e := &Expr{Args: []*Expr{first}}
	for end < to {
		op, angle, next := operator(t, spaceEnd(t, end))
		if op == OpRef || e.Op != OpRef && op != e.Op {
			return nil
		}
		var arg *Expr
		if arg, end = s.operand(t, spaceEnd(t, next), bare); arg == nil {
			return nil
		}
		e.Op, e.Angle, e.Args = op, e.Angle || angle, append(e.Args, arg)
	}
	e.Span = s.span(from, to)
	return e
}

// operand reads the reference or literal at t[i:]; it returns nil if the grammar has to decide.
func (s source) operand(t string, i int, bare bool) (e *Expr, end int) {
	if i < len(t) && (t[i] == '"' || t[i] == '\'') {
		n := strings.IndexByte(t[i+1:], t[i])
		if n < 0 || strings.IndexByte(t[i+1:i+1+n], '\\') >= 0 {
			return nil, i
		}
		end = i + n + len(`""`)
		return &Expr{Op: OpLiteral, Span: s.span(i, end), Value: appendQuoted(nil, t[i+1:end-1], '"')}, end
	}
	if e, end = s.scan(t, i); e == nil || strings.HasPrefix(t[i:], dagger) {
		return e, end
	}
	if word := t[i:end]; isLiteral(word) {
		return &Expr{Op: OpLiteral, Span: s.span(i, end), Value: json.RawMessage(word)}, end
	} else if !bare {
		return nil, i
	}
	return e, end
}

// operator reads the operator at t[i:]; it returns OpRef if there is none.
func operator(t string, i int) (op Op, angle bool, end int) {
	for _, o := range [...]struct {
		text  string
		op    Op
		angle bool
	}{{"||", OpOr, false}, {"&&", OpAnd, false}, {"<|>", OpOr, true}, {"*>", OpAnd, true}} {
		if strings.HasPrefix(t[i:], o.text) {
			return o.op, o.angle, i + len(o.text)
		}
	}
	return OpRef, false, i
}

// spaceEnd returns the end of the white space at t[i:].
func spaceEnd(t string, i int) int {
	return len(t) - len(strings.TrimLeftFunc(t[i:], unicode.IsSpace))
}

// scan reads the longest reference at t[from:], with or without a dagger. It returns nil if there
// is none.
func (s source) scan(t string, from int) (e *Expr, end int) {
	i := from
	if strings.HasPrefix(t[i:], dagger) {
		i += len(dagger)
	}
	end = nameEnd(t, i)
	if end == i {
		return nil, from
	}
	e = s.memory.newRef(maxSegments(t[end:]))
	e.Kind, e.KindSpan = t[i:end], s.span(i, end)
	for end < len(t) {
		seg, next, ok := s.segment(t, end)
		if !ok {
			break
		}
		e.Path, end = append(e.Path, seg), next
	}
	if len(e.Path) == 0 {
		e.Path = nil
	}
	e.Span = s.span(from, end)
	return e, end
}

// maxSegments returns an upper bound, up to a few, for the number of segments of the reference that
// continues with t, so that its path is allocated once.
func maxSegments(t string) int {
	n := 0
	for i := 0; i < len(t) && n < 16 && t[i] != ' ' && t[i] != '|' && t[i] != dagger[0]; i++ {
		if t[i] == '.' || t[i] == '[' {
			n++
		}
	}
	return n
}

// segment reads one segment at t[i:].
func (s source) segment(t string, i int) (seg Segment, end int, ok bool) {
	switch t[i] {
	case '.':
		if end = nameEnd(t, i+1); end == i+1 {
			return seg, i, false
		}
		seg = named(t[i+1 : end])
		seg.Span = s.span(i+1, end)
		return seg, end, true
	case '[':
		if seg, end, ok = bracket(t, i); ok {
			seg.Span = s.span(i, end)
		}
		return seg, end, ok
	}
	return seg, i, false
}

// bracket reads a segment in brackets whose name has no escapes. It does not look past the segment,
// since text may be full of brackets.
func bracket(t string, i int) (seg Segment, end int, ok bool) {
	inside := t[i+1:]
	switch {
	case strings.HasPrefix(inside, "*]"):
		return Segment{Kind: Star}, i + len("[*]"), true
	case strings.HasPrefix(inside, `"`), strings.HasPrefix(inside, "'"):
		return quotedSegment(t, i)
	}
	n := 0
	for n < len(inside) && strings.IndexByte("-0123456789", inside[n]) >= 0 {
		n++
	}
	index, ok := parseIndex(inside[:n])
	return Segment{Kind: Index, Index: index}, i + n + len("[]"), ok && strings.HasPrefix(inside[n:], "]")
}

func quotedSegment(t string, i int) (seg Segment, end int, ok bool) {
	name := t[i+2:]
	n := strings.IndexByte(name, t[i+1])
	if n < 0 || strings.IndexByte(name[:n], '\\') >= 0 || !strings.HasPrefix(name[n+1:], "]") {
		return seg, i, false
	}
	return Segment{Name: name[:n]}, i + len(`["`) + n + len(`"]`), true
}

// named returns the segment of a name after a dot.
func named(name string) Segment {
	if c := name[0]; c == '0' && len(name) > 1 || c < '0' || c > '9' {
		return Segment{Name: name}
	}
	n, ok := parseIndex(name)
	if !ok {
		return Segment{Name: name}
	}
	return Segment{Kind: Number, Index: n, Name: name}
}

// parseIndex reads digits with or without a minus sign, of at most 32 bits.
func parseIndex(s string) (int, bool) {
	n, err := strconv.ParseInt(s, 10, 32)
	return int(n), err == nil
}

// isLiteral reports whether a word (a run of names, dots and brackets) is a number, true, false or
// null, rather than a reference without its dagger.
func isLiteral(word string) bool {
	return word != "" && strings.IndexByte("-0123456789tfn", word[0]) >= 0 && json.Valid([]byte(word))
}

// The ASCII characters that are not part of a name, as bits.
const (
	notName0 uint64 = 1<<'\t' | 1<<'\n' | 1<<'\v' | 1<<'\f' | 1<<'\r' | 1<<' ' | 1<<'.' | 1<<'"' | 1<<'\'' |
		1<<'&' | 1<<'(' | 1<<')' | 1<<'<' | 1<<'>' | 1<<'*' | 1<<','
	notName1 uint64 = 1<<('['-64) | 1<<(']'-64) | 1<<('|'-64) | 1<<('{'-64) | 1<<('}'-64)
)

// nameEnd returns the end of the name at t[i:].
func nameEnd(t string, i int) int {
	for i < len(t) {
		c := t[i]
		switch {
		case c < 64 && notName0>>c&1 != 0, c >= 64 && c < utf8.RuneSelf && notName1>>(c-64)&1 != 0:
			return i
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(t[i:])
			if r == '†' || unicode.IsSpace(r) {
				return i
			}
			i += n
		}
	}
	return i
}
