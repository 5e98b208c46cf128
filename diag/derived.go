package diag

import (
	"bytes"
	"encoding/json"
	"sort"
	"strings"
)

// A plan in another notation is translated into a text of our own, and that is what
// is read and checked. The map below leads back: a finding is made about the derived
// text and shown in the one that the user has. Its pieces are the constructs of the
// derived text, one inside the other or one after the other:
//
//	origin    1. search("Ada's $1")
//	derived   {"_tool": "search", "query": "Ada's †{state.1}"}
//	pieces    ───────────────────── call ────────────────────
//	                     word               ──── string ────
//	                                         word  ─ ref ──

// Piece says where a part of a derived text comes from.
type Piece struct {
	At   Span // in the derived text
	From Span // in its origin
	Kind PieceKind
}

// PieceKind says how a piece is like what it comes from.
type PieceKind uint8

// The kinds of pieces.
const (
	Construct  PieceKind = iota // says the same in other words: places inside it are the whole of From
	Words                       // the same bytes in another syntax: an edit has to be a plain word
	Scalar                      // the same bytes in a scalar of YAML that has no double quotes: an edit of words and references
	FlowScalar                  // as Scalar, without quotes and inside of brackets: an edit without brackets
	Verbatim                    // the same bytes in the same syntax: any edit
	InString                    // the same bytes inside a JSON string: any edit, which is written as there
	Escape                      // one character, which an escape of a JSON string stands for: as InString
)

// sourceMap leads from a derived file to its origin.
type sourceMap struct {
	origin  *File
	pieces  []Piece
	parents []int32 // of each piece the one it is in, or -1
}

// NewDerived makes a file of a text that was made of another one: positions, lines
// and findings are those of the origin, as exact as the pieces tell. They are in the
// order of the derived text, outer ones before those in them, and do not overlap
// otherwise. It keeps text and pieces.
func NewDerived(text []byte, origin *File, pieces []Piece) *File {
	m := &sourceMap{origin: origin, pieces: pieces, parents: make([]int32, len(pieces))}
	last := int32(-1)
	for i, p := range pieces {
		for last >= 0 && pieces[last].At.End < p.At.End {
			last = m.parents[last]
		}
		m.parents[i] = last
		last = int32(i)
	}
	return &File{Name: origin.Name, Text: text, source: m}
}

// Part returns a part of a file as a file of its own, with its places in f.
func (f *File) Part(s Span) *File {
	return NewDerived(f.Text[s.Start:s.End], f, []Piece{{At: Span{0, int32(s.Len())}, From: s, Kind: Verbatim}})
}

// Origin returns the file that the user has: f itself, unless it was derived.
func (f *File) Origin() *File {
	for f.source != nil {
		f = f.source.origin
	}
	return f
}

// Origin returns the place in the file that the user has: l itself in a file that was not
// derived; else what it comes from, or the smallest construct around it that comes
// from somewhere. A place that comes from nowhere is the file as a whole. It costs a
// binary search and the depth of the constructs.
func (l Loc) Origin() Loc {
	for l.File != nil && l.File.source != nil {
		m := l.File.source
		l = Loc{m.origin, m.from(l.clip().Span)}
	}
	return l
}

// inside returns the innermost piece that s is in, or -1. A span of no bytes between two
// pieces is in the one with bytes of the origin.
func (m *sourceMap) inside(s Span) int32 {
	i := int32(sort.Search(len(m.pieces), func(i int) bool { return m.pieces[i].At.Start > s.Start })) - 1
	outer := int32(-1)
	for ; i >= 0; i = m.parents[i] {
		p := &m.pieces[i]
		switch {
		case s.End > p.At.End:
		case s.Len() > 0 || p.Kind != Construct && p.Kind != Escape || s.Start < p.At.End:
			return i
		case outer < 0:
			outer = i
		}
	}
	return outer
}

func (m *sourceMap) from(s Span) Span {
	if span, ok := m.withinString(s); ok {
		return span
	}
	i := m.inside(s)
	if i < 0 {
		return Span{}
	}
	p := &m.pieces[i]
	if p.Kind == Construct || p.Kind == Escape {
		return p.From
	}
	return p.shift(s)
}

// shift moves a span inside a piece of the same bytes.
func (p *Piece) shift(s Span) Span {
	by := p.From.Start - p.At.Start
	return Span{s.Start + by, s.End + by}
}

// unquoted returns an edit of the origin that puts a number or a truth value in the place of a
// string which stands in double quotes there, too.
func (m *sourceMap) unquoted(e Edit) (Edit, bool) {
	i := int(m.inside(e.Span))
	if i < 0 || i+1 >= len(m.pieces) || e.Text == "" || !strings.ContainsRune("-0123456789tf", rune(e.Text[0])) || !json.Valid([]byte(e.Text)) {
		return Edit{}, false
	}
	inner := func(s Span) Span { return Span{s.Start + 1, s.End - 1} }
	p, words := &m.pieces[i], &m.pieces[i+1]
	quoted := p.Kind == Construct && p.At == e.Span && words.Kind == Words && words.At == inner(p.At) && words.From == inner(p.From)
	if !quoted || m.origin.Text[p.From.Start] != '"' || m.origin.Text[p.From.End-1] != '"' {
		return Edit{}, false
	}
	return Edit{p.From, e.Text}, true
}

// edit returns an edit as one of the origin; false when it has no exact place there, or
// would say something else there.
func (m *sourceMap) edit(e Edit) (Edit, bool) {
	if e, ok := m.inString(e); ok {
		return e, true
	}
	if e, ok := m.unquoted(e); ok {
		return e, true
	}
	inner := e
	if n := len(e.Text); n > 2 && e.Text[0] == '"' && e.Text[n-1] == '"' && e.Span.Len() > 2 {
		inner = Edit{Span{e.Span.Start + 1, e.Span.End - 1}, e.Text[1 : n-1]} // a whole JSON string
	}
	for _, e := range []Edit{e, inner} {
		i := m.inside(e.Span)
		if i < 0 {
			continue
		}
		switch p := &m.pieces[i]; {
		case p.Kind == Verbatim, p.Kind == Words && isWord(e.Text), (p.Kind == Scalar || p.Kind == FlowScalar) && m.isScalar(e.Text, p.Kind, p.shift(e.Span)):
			return Edit{p.shift(e.Span), e.Text}, true
		}
	}
	return Edit{}, false
}

// inString returns an edit of what a JSON string says as one of the string.
func (m *sourceMap) inString(e Edit) (Edit, bool) {
	span, ok := m.withinString(e.Span)
	if !ok {
		return Edit{}, false
	}
	var quoted bytes.Buffer
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e.Text); err != nil {
		return Edit{}, false
	}
	text := bytes.TrimSpace(quoted.Bytes())
	return Edit{span, string(text[1 : len(text)-1])}, true
}

// withinString returns where a part of what a JSON string says stands in the string.
func (m *sourceMap) withinString(s Span) (Span, bool) {
	start, first, ok := m.edge(s.Start, false)
	end, last, ok2 := m.edge(s.End, s.Len() > 0)
	if !ok || !ok2 || m.parents[first] != m.parents[last] || end < start {
		return Span{}, false
	}
	return Span{start, end}, true
}

// edge returns where a place between two characters of a JSON string stands: before the one behind
// it, or, at the end of something, behind the one before it.
func (m *sourceMap) edge(at int32, end bool) (origin, piece int32, ok bool) {
	c := Span{at, at + 1}
	if i := m.inside(c); !end && (i < 0 || m.pieces[i].Kind < InString) {
		end = true // nothing is behind it
	}
	if end {
		c = Span{at - 1, at}
	}
	i := m.inside(c)
	if i < 0 {
		return 0, 0, false
	}
	switch p := &m.pieces[i]; {
	case p.Kind == InString:
		return p.From.Start + at - p.At.Start, i, true
	case p.Kind == Escape && end:
		return p.From.End, i, true
	case p.Kind == Escape:
		return p.From.Start, i, true
	}
	return 0, 0, false
}

// isScalar reports whether a text can take the place of a part of a scalar without double quotes.
// The text may have letters, digits, signs that are harmless in YAML or that the part also has, and
// spaces that separate nothing. It must not be a number, true, false or null.
func (m *sourceMap) isScalar(s string, kind PieceKind, part Span) bool {
	safe := "†_." + string(m.origin.Text[part.Start:part.End])
	if kind == Scalar && !strings.ContainsAny(s[:min(1, len(s))], "{}[]") {
		safe += "{}[]"
	}
	other := func(r rune) bool { return !strings.ContainsRune(safe, r) && !isWord(string(r)) }
	switch strings.ToLower(s) {
	case "", "true", "false", "null":
		return false
	}
	if strings.TrimSpace(s) == s && !strings.Contains(s, ": ") && !strings.Contains(s, " #") && !strings.HasSuffix(s, ":") {
		safe += " "
	}
	return strings.IndexFunc(s, other) < 0 && !strings.Contains("0123456789.", s[:1])
}

// isWord reports whether a text means the same in any notation.
func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// Origin returns the finding in the file that the user has; see Loc.Origin. Its fix is
// kept only if every edit has an exact place there.
func (f Finding) Origin() Finding {
	if f.Loc.File == nil || f.Loc.File.source == nil && !f.relatesToDerived() {
		return f
	}
	related := make([]Related, len(f.Related))
	for i, r := range f.Related {
		related[i] = Related{r.Loc.Origin(), r.Message}
	}
	f.Related = related
	for at := f.Loc.File; at.source != nil && f.Fix != nil; at = at.source.origin {
		f.Fix = at.source.fix(f.Fix)
	}
	f.Loc = f.Loc.Origin()
	return f
}

func (f *Finding) relatesToDerived() bool {
	for _, r := range f.Related {
		if r.Loc.File != nil && r.Loc.File.source != nil {
			return true
		}
	}
	return false
}

func (m *sourceMap) fix(f *Fix) *Fix {
	edits := make([]Edit, len(f.Edits))
	for i, e := range f.Edits {
		var ok bool
		if edits[i], ok = m.edit(e); !ok {
			return nil
		}
	}
	return &Fix{f.Message, edits}
}
