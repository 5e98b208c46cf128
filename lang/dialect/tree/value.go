package tree

import (
	"iter"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// Value is a value of the original, or of JSON or YAML in it. The zero Value is no value.
type Value struct {
	lang.Node
	in *source
}

// Member is a member of an object.
type Member struct {
	Name  string
	Key   diag.Span // the name in the original, without quotes
	Value Value
}

// source is a text with values, and its place in the original.
type source struct {
	file   *diag.File
	origin *diag.File
	pieces []diag.Piece // one after the other; nil if file is the original
}

// depth returns the maximum depth of values, which is less than that of a plan, because they become
// part of one.
func depth(o *dialect.Options) int {
	if o.MaxDepth > 0 {
		return o.MaxDepth
	}
	return 240
}

// Read reads the original as JSON, with comments and trailing commas. If that is not possible, it
// reports why and returns false.
func Read(b *dialect.Builder) (Value, bool) {
	part := dialect.Span(b.Start(), len(b.File.Text))
	root, found := lang.ReadValueIn(b.File, part, &lang.Options{MaxBytes: b.Options.MaxBytes, MaxDepth: depth(b.Options)})
	b.Add(found)
	return Value{root, &source{file: b.File, origin: b.File}}, !root.IsZero() && !found.HasErrors()
}

// At returns the place of the value in the original.
func (v Value) At() diag.Span {
	if v.IsZero() {
		return diag.Span{}
	}
	return v.in.at(v.Span())
}

// at returns the place of a part of the source in the original.
func (s *source) at(span diag.Span) diag.Span {
	if s.pieces == nil {
		return span
	}
	if span.Len() == 0 {
		return diag.Span{Start: s.point(span.Start).Start, End: s.point(span.Start).Start}
	}
	first, last := s.point(span.Start), s.point(span.End-1)
	return diag.Span{Start: first.Start, End: max(first.End, last.End)}
}

// point returns the place of the byte at i in the original.
func (s *source) point(i int32) diag.Span {
	n := sort.Search(len(s.pieces), func(k int) bool { return s.pieces[k].At.Start > i }) - 1
	if n < 0 {
		return diag.Span{}
	}
	p := s.pieces[n]
	if p.Kind == diag.Construct || i >= p.At.End {
		return p.From
	}
	start := p.From.Start + i - p.At.Start
	return diag.Span{Start: start, End: start + 1}
}

// Inside returns the place of the bytes from..to of Str in the original.
func (v Value) Inside(from, to int) diag.Span { return v.in.at(v.Node.Inside(from, to)) }

// Insides returns a function like Inside for many places of one string, at the cost of one pass
// over it.
func (v Value) Insides() func(from, to int) diag.Span {
	inside := v.Node.Insides()
	return func(from, to int) diag.Span { return v.in.at(inside(from, to)) }
}

// All returns the place of the text of a string in the original, without its quotes; for
// another value it returns At.
func (v Value) All() diag.Span {
	if v.Kind() != lang.String {
		return v.At()
	}
	return v.Inside(0, len(v.Str()))
}

// Is reports whether v is a value of this kind.
func (v Value) Is(k lang.Kind) bool { return !v.IsZero() && v.Kind() == k }

// Elements returns the elements of a list; none for other kinds.
func (v Value) Elements() iter.Seq2[int, Value] {
	return func(yield func(int, Value) bool) {
		for i, e := range v.Node.Elements() {
			if !yield(i, Value{e, v.in}) {
				return
			}
		}
	}
}

// List returns the elements of a list.
func (v Value) List() (list []Value) {
	for _, e := range v.Elements() {
		list = append(list, e)
	}
	return list
}

// Members returns the members of an object; none for other kinds.
func (v Value) Members() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for m := range v.Node.Members() {
			if !yield(Member{m.Name, v.in.key(m.Key), Value{m.Value, v.in}}) {
				return
			}
		}
	}
}

// key returns the place of a name in the original, without its quotes.
func (s *source) key(key diag.Span) diag.Span {
	if text := s.file.Text[key.Start:key.End]; len(text) > 1 && (text[0] == '"' || text[0] == '\'') {
		key.Start, key.End = key.Start+1, key.End-1
	}
	return s.at(key)
}

// Get returns the value of the member with this name; the zero Value if there is none.
func (v Value) Get(name string) Value { return v.Member(name).Value }

// Member returns the member with this name; the zero Member if there is none.
func (v Value) Member(name string) Member {
	m, ok := v.Node.Member(name)
	if !ok {
		return Member{}
	}
	return Member{m.Name, v.in.key(m.Key), Value{m.Value, v.in}}
}

// First returns the first of the members with these names that exists and is not null.
func (v Value) First(names ...string) Member {
	for _, name := range names {
		if m := v.Member(name); !m.Value.IsZero() && m.Value.Kind() != lang.Null {
			return m
		}
	}
	return Member{}
}

// Has reports whether an object has all of these members.
func (v Value) Has(names ...string) bool {
	for _, name := range names {
		if v.Get(name).IsZero() {
			return false
		}
	}
	return true
}

// Word returns the text of a string, or a number or boolean as it is written; "" for other kinds.
func (v Value) Word() string {
	switch v.Kind() {
	case lang.String:
		return v.Str()
	case lang.NumberValue, lang.True, lang.False:
		return string(v.AppendJSON(nil))
	}
	return ""
}

// Describe returns the kind of the value in words.
func (v Value) Describe() string {
	if v.IsZero() {
		return "nothing"
	}
	return []string{"null", "a boolean", "a boolean", "a number", "a string", "a list", "an object"}[v.Kind()]
}

// Inner returns the JSON value in a string; it returns any other value unchanged. It also reads
// quotes and words of Python, since programs write such strings. If the string is not JSON, it
// reports why and returns false.
func (v Value) Inner(b *dialect.Builder) (Value, bool) {
	if !v.Is(lang.String) {
		return v, !v.IsZero()
	}
	in := v.decoded()
	outer := diag.Piece{At: dialect.Span(0, len(in.file.Text)), From: v.At()}
	in.file = diag.NewDerived(in.file.Text, b.File, slices.Insert(slices.Clone(in.pieces), 0, outer))
	root, found := lang.ReadValue(in.file, &lang.Options{MaxBytes: b.Options.MaxBytes, MaxDepth: depth(b.Options), Answer: true})
	found = slices.DeleteFunc(found, func(f diag.Finding) bool { return f.Code == diag.Mended && isPython(in.file.Text, f.Loc.Span) })
	b.Add(found)
	return Value{root, in}, !root.IsZero() && !found.HasErrors()
}

// isPython reports whether the mended text is a string or a word of Python.
func isPython(text []byte, at diag.Span) bool {
	word := string(text[at.Start:at.End])
	return strings.HasPrefix(word, "'") || word == "True" || word == "False" || word == "None"
}

// decoded returns the text of a string as a source.
func (v Value) decoded() *source {
	text := v.Str()
	in := &source{file: diag.NewFile("", []byte(text)), origin: v.in.origin}
	inside := v.Insides()
	for i, r := range text {
		size := utf8.RuneLen(r)
		in.append(dialect.Span(i, i+size), inside(i, i+size))
	}
	if in.pieces == nil {
		in.pieces = []diag.Piece{}
	}
	return in
}

// append adds a character and its place in the original.
func (s *source) append(at, from diag.Span) {
	kind := diag.Construct
	if string(s.file.Text[at.Start:at.End]) == string(s.origin.Text[from.Start:from.End]) {
		kind = diag.Words
	}
	if n := len(s.pieces); n > 0 {
		if last := &s.pieces[n-1]; kind == diag.Words && last.Kind == kind && last.At.End == at.Start && last.From.End == from.Start {
			last.At.End, last.From.End = at.End, from.End
			return
		}
	}
	s.pieces = append(s.pieces, diag.Piece{At: at, From: from, Kind: kind})
}

// Beside reports unknown members of an object with a plan, unless the object is a record, which has
// one of the members in record.
func Beside(b *dialect.Builder, v Value, record []string, names ...string) {
	if !slices.ContainsFunc(record, func(name string) bool { return v.Has(name) }) {
		Known(b, v, "the plan", names...)
	}
}

// Known reports the members of an object that its notation does not have. A condition is an error,
// since the step would be done in any case; other members are skipped.
func Known(b *dialect.Builder, v Value, what string, names ...string) {
	for m := range v.Members() {
		switch {
		case slices.Contains(names, m.Name) || strings.HasPrefix(m.Name, "x-"):
		case slices.Contains(conditions(), m.Name) && IsCondition(m.Value):
			b.Errorf(m.Key, diag.BadNotation, "%s has no %q, and would be done whether that holds or not", what, m.Name)
		default:
			b.Warnf(m.Key, diag.PassedOver, "%s has no %q; it is passed over", what, m.Name)
		}
	}
}

func conditions() []string {
	return []string{"condition", "conditions", "if", "only_if", "run_if", "skip_if", "unless", "when"}
}

// IsCondition reports whether a value is a condition: null, "" and true are not.
func IsCondition(v Value) bool {
	return !v.IsZero() && v.Kind() != lang.Null && v.Kind() != lang.True && !(v.Is(lang.String) && v.Str() == "")
}

// Records returns the values of a text with one value per line, or the only value of a text. It
// reports values that can't be read.
func Records(b *dialect.Builder) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		in := &source{file: b.File, origin: b.File}
		opts := &lang.Options{MaxBytes: b.Options.MaxBytes, MaxDepth: depth(b.Options)}
		all := dialect.Span(b.Start(), len(b.File.Text))
		if root, found := lang.ReadValueIn(b.File, all, opts); !root.IsZero() && !found.HasErrors() {
			b.Add(found)
			yield(Value{root, in})
			return
		}
		for line := range b.Lines(all) {
			if line = b.Trim(line); line.Len() == 0 {
				continue
			}
			root, found := lang.ReadValueIn(b.File, line, opts)
			b.Add(found)
			if !root.IsZero() && !found.HasErrors() && !yield(Value{root, in}) {
				return
			}
		}
	}
}
