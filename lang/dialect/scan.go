package dialect

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
)

// Span returns text[from:to] as a span.
func Span(from, to int) diag.Span { return diag.Span{Start: int32(from), End: int32(to)} }

// Trim returns a span without the white space at its ends.
func (b *Builder) Trim(s diag.Span) diag.Span {
	text := b.Text(s)
	left := strings.TrimLeftFunc(text, unicode.IsSpace)
	start := s.Start + int32(len(text)-len(left))
	return diag.Span{Start: start, End: start + int32(len(strings.TrimRightFunc(left, unicode.IsSpace)))}
}

// LineEnd returns the end of the line that text[i] is on, without the line's ending.
func (b *Builder) LineEnd(i int) int {
	text := b.File.Text
	n := bytes.IndexByte(text[i:], '\n')
	if n < 0 {
		return len(text)
	}
	if n > 0 && text[i+n-1] == '\r' {
		n--
	}
	return i + n
}

// Lines yields the lines of a span, without their endings.
func (b *Builder) Lines(s diag.Span) func(yield func(diag.Span) bool) {
	return func(yield func(diag.Span) bool) {
		for at := int(s.Start); at < int(s.End); {
			end := min(b.LineEnd(at), int(s.End))
			if !yield(Span(at, end)) {
				return
			}
			n := bytes.IndexByte(b.File.Text[end:], '\n')
			if n < 0 {
				return
			}
			at = end + n + 1
		}
	}
}

// PassOver reports text that is not part of the plan, unless it is white space.
func (b *Builder) PassOver(s diag.Span) {
	if s = b.Trim(s); s.Len() > 0 {
		b.Warnf(s, diag.PassedOver, "this is no part of the plan").
			Fix = &diag.Fix{Message: "cut it out", Edits: []diag.Edit{{Span: s}}}
	}
}

// NoPlan reports a text without steps, unless there is already an error about that. It drops the
// findings about skipped text, which is all of it.
func (b *Builder) NoPlan(how string) {
	if b.Found() {
		return
	}
	b.report = report{file: b.File}
	all := b.Trim(Span(0, len(b.File.Text)))
	if all.Len() == 0 {
		all = diag.Span{}
	}
	b.Errorf(all, diag.BadNotation, "there is no step; %s", how)
}

// Number reads the digits of a number; -1 if it is too large.
func Number(digits string) int {
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n == math.MaxInt32 {
		return -1
	}
	return int(n)
}

// Digits returns how many digits s starts with.
func Digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// Word returns the length in bytes of the name at the start of s: letters, digits and _.
func Word(s string) int {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return len(s)
}

// InWord reports whether text[i] is within a word: there is a letter, a digit or a _ on both sides.
func (b *Builder) InWord(i int) bool {
	before, _ := utf8.DecodeLastRune(b.File.Text[:i])
	after, _ := utf8.DecodeRune(b.File.Text[i:])
	return Word(string(before)) > 0 && Word(string(after)) > 0
}

// IsReferred reports whether the text before a # suggests that a value follows, as in "the speed of
// #1?" and "2 + #1", rather than a part of a name or a rank, as in "Computer Geek #1" and "the #1
// song": it is empty, or ends with a sign or a word such as of.
func IsReferred(before string) bool {
	before = strings.TrimRight(before, " \t")
	last := strings.LastIndexFunc(before, func(r rune) bool { return Word(string(r)) == 0 })
	switch strings.ToLower(before[last+1:]) {
	case "", "of", "in", "from", "to", "for", "with", "by", "on", "at", "as", "into", "about", "using", "given", "between", "than", "via", "over",
		"and", "or", "is", "was", "are", "were", "has", "have", "had", "does", "did", "do", "that", "which", "if", "when", "where",
		"plus", "minus", "times", "context", "evidence", "result", "answer", "output", "step":
		return true
	}
	return false
}
