package diag

import (
	"bytes"
	"encoding/json"
	"sort"
	"strings"
)

// A plan in another notation is translated into plan JSON, and this derived text is read and
// checked. The map below leads back to the user's text, the origin: a finding is made about the
// derived text and shown in the origin. The pieces of the map are constructs of the derived text,
// which are nested or follow one another:
//
//	origin    1. search("Ada's $1")
//	derived   {"_tool": "search", "query": "Ada's †{state.1}"}
//	pieces    ───────────────────── call ────────────────────
//	                     word               ──── string ────
//	                                         word  ─ ref ──

// Piece maps a part of a derived text to its source.
type Piece struct {
	At   Span // in the derived text
	From Span // in its origin
	Kind PieceKind
}

// PieceKind is the relation between a piece and its source.
type PieceKind uint8

// The kinds of pieces.
const (
	Construct  PieceKind = iota // the same in other words: every place inside it maps to the whole of From
	Words                       // the same bytes in another syntax: an edit has to be a plain word
	Scalar                      // the same bytes in a scalar of YAML that has no double quotes: an edit of words and references
	FlowScalar                  // as Scalar, without quotes and inside of brackets: an edit without brackets
	Verbatim                    // the same bytes in the same syntax: any edit
	InString                    // the same bytes inside a JSON string: any edit, which is escaped as in a string
	Escape                      // one character from an escape in a JSON string: otherwise like InString
)

// sourceMap maps places in a derived file to its origin.
type sourceMap struct {
	origin  *File
	pieces  []Piece
	parents []int32 // for each piece, the piece around it, or -1
}

// NewDerived makes a file from a text that was derived from another file. Its positions, lines and
// findings are shown in the origin, as exactly as the pieces allow. The pieces must be in the order
// of the derived text, an outer piece before those inside it, and must not overlap otherwise.
// NewDerived keeps text and pieces.
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

// Part returns a part of a file in the form of a new file, whose places are shown in f.
func (f *File) Part(s Span) *File {
	return NewDerived(f.Text[s.Start:s.End], f, []Piece{{At: Span{0, int32(s.Len())}, From: s, Kind: Verbatim}})
}

// Origin returns the user's file: f itself, unless it was derived.
func (f *File) Origin() *File {
	for f.source != nil {
		f = f.source.origin
	}
	return f
}

// Origin returns the place in the user's file: l itself if its file was not derived, and otherwise
// the source of l or of the smallest construct around it that has one. A place without a source
// becomes the whole file. It takes a binary search and a walk over the constructs around l.
func (l Loc) Origin() Loc {
	for l.File != nil && l.File.source != nil {
		m := l.File.source
		l = Loc{m.origin, m.from(l.clip().Span)}
	}
	return l
}

// inside returns the innermost piece that contains s, or -1. An empty span between two pieces is in
// the one with bytes from the origin.
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

// shift maps a span inside a piece that has the same bytes as its source.
func (p *Piece) shift(s Span) Span {
	by := p.From.Start - p.At.Start
	return Span{s.Start + by, s.End + by}
}

// unquoted returns an edit of the origin that replaces a string by a number or a truth value, if
// the string has double quotes in the origin as well.
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

// edit returns the edit of the origin for an edit of the derived text; false if it has no exact
// place there, or would have another meaning there.
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

// inString returns the edit of the origin for an edit of the text of a JSON string.
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

// withinString returns the span in the origin of a part of the text of a JSON string.
func (m *sourceMap) withinString(s Span) (Span, bool) {
	start, first, ok := m.edge(s.Start, false)
	end, last, ok2 := m.edge(s.End, s.Len() > 0)
	if !ok || !ok2 || m.parents[first] != m.parents[last] || end < start {
		return Span{}, false
	}
	return Span{start, end}, true
}

// edge returns the offset in the origin of a place between two characters of a JSON string: before
// the next character or, if the place is the end of a span, after the previous one.
func (m *sourceMap) edge(at int32, end bool) (origin, piece int32, ok bool) {
	c := Span{at, at + 1}
	if i := m.inside(c); !end && (i < 0 || m.pieces[i].Kind < InString) {
		end = true // there is no next character
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

// isScalar reports whether a text can replace a part of a scalar that has no double quotes. The
// text may have letters, digits, punctuation that is harmless in YAML or that the part also has,
// and spaces that don't change the meaning. It must not be a number, true, false or null.
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

// isWord reports whether a text has the same meaning in any notation.
func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// Origin returns the finding with places in the user's file; see Loc.Origin. It keeps the fix only
// if every edit has an exact place there.
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
