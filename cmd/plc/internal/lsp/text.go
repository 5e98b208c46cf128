package lsp

import (
	"bytes"
	"fmt"
	"sort"
	"sync"
	"unicode/utf8"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/diag"
)

// An encoding says in which units a position counts characters.
type encoding string

// The encodings.
const (
	utf8Units  encoding = "utf-8"  // bytes
	utf16Units encoding = "utf-16" // code units of UTF-16, the default of the protocol
	utf32Units encoding = "utf-32" // code points
)

// width returns how many units a character has.
func (e encoding) width(r rune, size int) int {
	switch {
	case e == utf8Units:
		return size
	case e == utf16Units && r > 0xFFFF:
		return 2
	}
	return 1
}

// A text is the content of a document. It is immutable.
type text struct {
	bytes    []byte
	encoding encoding
	lines    []int32 // offset of the first byte of each line

	once  sync.Once
	units []int32 // before each checkpoint, from the start of the text
}

// newText returns the text of a document.
func newText(b []byte, e encoding) *text {
	return &text{bytes: b, encoding: e, lines: append([]int32{0}, lineStarts(b, 0)...)}
}

// fileText returns the text of a file without its byte order mark, which editors don't count.
func fileText(b []byte, e encoding) *text {
	t := newText(b, e)
	if bytes.HasPrefix(b, []byte("\uFEFF")) {
		t.lines[0] = int32(len("\uFEFF"))
	}
	return t
}

// lineStarts returns the offsets after the line ends of b. As in the protocol, line ends are \n,
// \r\n and \r.
func lineStarts(b []byte, base int) (starts []int32) {
	for i := 0; i < len(b); i++ {
		n := bytes.IndexAny(b[i:], "\r\n")
		if n < 0 {
			break
		}
		if i += n; b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
			i++
		}
		starts = append(starts, int32(base+i+1))
	}
	return starts
}

// stride is the number of bytes between two checkpoints.
const stride = 1024

// index counts the units before each checkpoint, since a plan may be one line of many megabytes.
func (t *text) index() {
	t.units = make([]int32, 1, len(t.bytes)/stride+2)
	n := 0
	for i := 0; i < len(t.bytes); {
		if i >= len(t.units)*stride {
			t.units = append(t.units, int32(n))
		}
		if t.bytes[i] < utf8.RuneSelf {
			n++
			i++
			continue
		}
		r, size := utf8.DecodeRune(t.bytes[i:])
		n += t.encoding.width(r, size)
		i += size
	}
	t.units = append(t.units, int32(n))
}

// unitsBefore counts the units before the start of a character.
func (t *text) unitsBefore(offset int) int {
	t.once.Do(t.index)
	i := min(offset/stride, len(t.units)-1)
	from := checkpoint(t.bytes, i)
	if from > offset {
		i--
		from = checkpoint(t.bytes, i)
	}
	return int(t.units[i]) + t.count(t.bytes[from:offset])
}

// checkpoint returns the offset of a checkpoint: that of the first character at or after i.
func checkpoint(b []byte, i int) int {
	at := min(i*stride, len(b))
	for end := min(at+utf8.UTFMax-1, len(b)); at < end && !utf8.RuneStart(b[at]); {
		at++
	}
	return at
}

// count counts the units of a part of the text.
func (t *text) count(b []byte) (n int) {
	if t.encoding == utf8Units {
		return len(b)
	}
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		n += t.encoding.width(r, size)
		i += size
	}
	return n
}

// position returns the position of an offset. An offset within a character counts as its start.
func (t *text) position(offset int) protocol.Position {
	offset = max(int(t.lines[0]), min(offset, len(t.bytes)))
	for offset < len(t.bytes) && offset > 0 && !utf8.RuneStart(t.bytes[offset]) {
		offset--
	}
	line := sort.Search(len(t.lines), func(i int) bool { return int(t.lines[i]) > offset }) - 1
	start := int(t.lines[line])
	if offset = min(offset, t.lineEnd(line)); t.encoding == utf8Units || offset-start < stride {
		return protocol.Position{Line: line, Character: t.count(t.bytes[start:offset])}
	}
	return protocol.Position{Line: line, Character: t.unitsBefore(offset) - t.unitsBefore(start)}
}

// lineEnd returns the offset of the end of a line, before its line end.
func (t *text) lineEnd(line int) int {
	if line+1 == len(t.lines) {
		return len(t.bytes)
	}
	start, end := int(t.lines[line]), int(t.lines[line+1])
	if end > start && t.bytes[end-1] == '\n' {
		end--
	}
	if end > start && t.bytes[end-1] == '\r' {
		end--
	}
	return end
}

// offset returns the offset of a position. A position after the end of its line is the end of the
// line, as the protocol says; a position within a character is its start.
func (t *text) offset(p protocol.Position) int {
	switch {
	case p.Line < 0:
		return int(t.lines[0])
	case p.Line >= len(t.lines):
		return len(t.bytes)
	}
	start, end := int(t.lines[p.Line]), t.lineEnd(p.Line)
	if p.Character <= 0 {
		return start
	}
	at, left := start, p.Character
	if end-start > stride { // go to the last checkpoint before the position
		want := t.unitsBefore(start) + p.Character
		i := sort.Search(len(t.units), func(i int) bool { return int(t.units[i]) > want }) - 1
		if from := checkpoint(t.bytes, i); from > start {
			at, left = min(from, end), want-int(t.units[i])
		}
	}
	for at < end {
		r, size := utf8.DecodeRune(t.bytes[at:end])
		if left -= t.encoding.width(r, size); left < 0 {
			break
		}
		at += size
	}
	return at
}

// rangeOf returns the range of a span.
func (t *text) rangeOf(s diag.Span) protocol.Range {
	return protocol.Range{Start: t.position(int(s.Start)), End: t.position(int(s.End))}
}

// spanOf returns the span of a range.
func (t *text) spanOf(r protocol.Range) diag.Span {
	start := t.offset(r.Start)
	return diag.Span{Start: int32(start), End: int32(max(start, t.offset(r.End)))}
}

// apply returns the text after a change.
func (t *text) apply(c protocol.ContentChange) (*text, error) {
	if c.Range == nil {
		return newText([]byte(c.Text), t.encoding), nil
	}
	if len(t.bytes)+len(c.Text) > maxText {
		return nil, fmt.Errorf("the document has more than %d MiB", maxText>>20)
	}
	s := t.spanOf(*c.Range)
	b := make([]byte, 0, len(t.bytes)-s.Len()+len(c.Text))
	b = append(append(append(b, t.bytes[:s.Start]...), c.Text...), t.bytes[s.End:]...)

	// Lines that end before the change or begin after it stay; lines at its edges may appear or
	// disappear with a \r or a \n there.
	first := sort.Search(len(t.lines), func(i int) bool { return t.lines[i] >= s.Start })
	first = max(first, 1)
	next := sort.Search(len(t.lines), func(i int) bool { return t.lines[i] > s.End+1 })
	next = max(next, first)
	by := int32(len(c.Text) - s.Len())
	from := int(t.lines[first-1])
	to := len(b)
	if next < len(t.lines) {
		to = int(t.lines[next] + by)
	}
	lines := make([]int32, 0, len(t.lines)+1)
	lines = append(append(lines, t.lines[:first]...), lineStarts(b[from:to], from)...)
	for _, start := range t.lines[min(next, len(t.lines)):] {
		if start += by; start > lines[len(lines)-1] {
			lines = append(lines, start)
		}
	}
	return &text{bytes: b, encoding: t.encoding, lines: lines}, nil
}

// maxText is the maximum size of a document in bytes: more than the limit for plans, so that a plan
// that is too large is reported as such.
const maxText = 256 << 20
