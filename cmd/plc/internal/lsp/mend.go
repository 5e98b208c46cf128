package lsp

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/texttree"
)

// mended is a readable version of a text that somebody is typing. In JSON, strings that are not
// closed on their lines are closed, and so are calls that are still open when the next one begins.
// In YAML, unreadable parts are left out.
type mended struct {
	file *diag.File // derived from the typed file, so that its places lead there
	from *diag.File
	put  []insertion // the inserted texts in JSON
	at   []int       // the offsets at which it was mended
}

// mend returns the mended version of a JSON file; nil if there is nothing to mend.
func mend(f *diag.File) *mended {
	m := &mender{text: f.Text}
	for m.at < len(m.text) {
		m.step()
	}
	if len(m.put) == 0 {
		return nil
	}
	var out []byte
	var pieces []diag.Piece
	from := 0
	keep := func(to int) {
		if to > from {
			at := diag.Span{Start: int32(len(out)), End: int32(len(out) + to - from)}
			pieces = append(pieces, diag.Piece{At: at, From: diag.Span{Start: int32(from), End: int32(to)}, Kind: diag.Verbatim})
		}
		out, from = append(out, m.text[from:to]...), to
	}
	for _, p := range m.put {
		keep(p.at)
		out = append(out, p.text...)
	}
	keep(len(m.text))
	var at []int
	for _, p := range m.put {
		at = append(at, p.at)
	}
	return &mended{diag.NewDerived(out, f, pieces), f, m.put, at}
}

// origin returns the span in the typed text of a span of the mended text.
func (m *mended) origin(s diag.Span) diag.Span {
	offset := func(at int32) int32 {
		by := int32(0) // the length of the insertions before
		for _, p := range m.put {
			switch start := int32(p.at) + by; {
			case at <= start:
				return at - by
			case at < start+int32(len(p.text)):
				return int32(p.at)
			}
			by += int32(len(p.text))
		}
		return at - by
	}
	return diag.Span{Start: offset(s.Start), End: offset(s.End)}
}

// broken reports whether a place of the file is on a line that was mended, so that findings about
// it should be dropped.
func (m *mended) broken(s diag.Span) bool {
	line := m.from.Position(int(s.Start)).Line
	return slices.ContainsFunc(m.at, func(at int) bool { return m.from.Position(at).Line == line })
}

// mender goes through a JSON text and notes what to insert.
type mender struct {
	text []byte
	at   int
	open []byte // the brackets that are open
	put  []insertion
}

// insertion is a text that is inserted at an offset.
type insertion struct {
	at   int
	text string
}

func (m *mender) step() {
	c := m.text[m.at]
	switch {
	case c == '"':
		m.string()
		return
	case c == '/' && m.at+1 < len(m.text) && (m.text[m.at+1] == '/' || m.text[m.at+1] == '*'):
		m.at = commentEnd(m.text, m.at)
		return
	case c == '{' && len(m.open) > 1 && m.inObject() && m.open[len(m.open)-2] == '[' && beginsCall(m.text[m.at:]):
		m.put = append(m.put, insertion{m.lastToken(), m.closing()})
		m.open = append(m.open[:len(m.open)-1], '{')
	case c == '{' || c == '[':
		m.open = append(m.open, c)
	case c == '}' || c == ']':
		if len(m.open) > 0 {
			m.open = m.open[:len(m.open)-1]
		}
	}
	m.at++
}

func (m *mender) inObject() bool { return m.open[len(m.open)-1] == '{' }

// closing returns the text that closes an open call, with a value if the call ends in a colon.
func (m *mender) closing() string {
	if before := bytes.TrimRight(m.text[:m.at], " \t\r\n"); bytes.HasSuffix(before, []byte(":")) {
		return "null},"
	}
	return "},"
}

// lastToken returns the end of the last token before the place, without a comma.
func (m *mender) lastToken() int {
	return len(bytes.TrimRight(m.text[:m.at], " \t\r\n"))
}

// beginsCall reports whether a text begins like a call.
func beginsCall(b []byte) bool {
	b = bytes.TrimLeft(b[1:], " \t\r\n")
	return bytes.HasPrefix(b, []byte(`"_`))
}

// string skips a string. If it is not closed on its line, it is closed there, before the brackets
// and commas at its end, which editors insert automatically.
func (m *mender) string() {
	end, closed := stringEnd(m.text, m.at)
	if !closed {
		inside := bytes.TrimRight(m.text[m.at+1:end], " \t,]}")
		m.put = append(m.put, insertion{m.at + 1 + len(inside), `"`})
		end = m.at + 1 + len(inside)
	}
	m.at = end
}

// stringEnd returns the end of the string that starts at an offset: after its closing quote, or the
// end of its line if it has none there.
func stringEnd(text []byte, start int) (end int, closed bool) {
	for i := start + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1, true
		case '\n', '\r':
			return i, false
		}
	}
	return len(text), false
}

// commentEnd returns the end of the comment that starts at an offset.
func commentEnd(text []byte, start int) int {
	end, skip := []byte("\n"), 0
	if text[start+1] == '*' {
		end, skip = []byte("*/"), 2
	}
	if n := bytes.Index(text[start+2:], end); n >= 0 {
		return start + 2 + n + skip
	}
	return len(text)
}

// Bounds of mending in YAML, where each fault is found by reading the text again.
const (
	maxMendedYAML = 256 << 10 // bytes
	maxFaultsYAML = 4
)

// mendYAML returns the mended version of a YAML file; nil if there is nothing to mend, or too much.
// On each line with a fault it leaves out the value, or else the whole line, with or without its
// brackets. Everything else keeps its place.
func mendYAML(f *diag.File) *mended {
	if len(f.Text) > maxMendedYAML {
		return nil
	}
	m := &mended{from: f}
	text, fault := f.Text, yamlFault(f.Text)
	for fault <= len(text) {
		next, at, reached := withoutFault(text, fault)
		if reached <= fault || len(m.at) == maxFaultsYAML {
			return nil
		}
		text, fault, m.at = next, reached, append(m.at, at)
	}
	if len(m.at) == 0 {
		return nil
	}
	whole := diag.Span{End: int32(len(text))}
	m.file = diag.NewDerived(text, f, []diag.Piece{{At: whole, From: whole, Kind: diag.Verbatim}})
	return m
}

// withoutFault removes the part of a text after which the first fault, which is at an offset, is
// furthest behind or gone. It also returns the offset of the part, and that of the new first fault.
func withoutFault(text []byte, fault int) (best []byte, at, reached int) {
	for _, line := range faultyLines(text, fault) {
		for _, span := range leftOut(text, line) {
			for _, kept := range []string{"", "[]{}"} {
				next := slices.Clone(text)
				for i := span.Start; i < span.End; i++ {
					if strings.IndexByte(kept, next[i]) < 0 {
						next[i] = ' '
					}
				}
				if f := yamlFault(next); f > reached {
					best, at, reached = next, int(span.Start), f
				}
				if reached > len(text) {
					return best, at, reached
				}
			}
		}
	}
	return best, at, reached
}

// yamlFault returns the offset of the first fault of a YAML text; an offset after its end if it has
// none.
func yamlFault(text []byte) int {
	_, err := texttree.YAML{What: "plans", MaxDepth: maxDepthYAML}.Parse(text)
	if err == nil {
		return len(text) + 1
	}
	return err.Offset
}

// maxDepthYAML is the maximum depth of values, as in lang.
const maxDepthYAML = 256

// faultyLines returns the starts of the lines that may have caused a fault which was noticed at an
// offset: that line, the non-empty line before it, and the last line with a quote or a bracket that
// is not closed on it.
func faultyLines(text []byte, fault int) (lines []int) {
	add := func(from int) {
		if !slices.Contains(lines, from) {
			lines = append(lines, from)
		}
	}
	here := bytes.LastIndexByte(text[:fault], '\n') + 1
	before, open := -1, -1
	for from := 0; from < here; {
		end := from + bytes.IndexByte(text[from:], '\n')
		if content := bytes.TrimSpace(text[from:end]); len(content) > 0 {
			if before = from; opensOnly(content) {
				open = from
			}
		}
		from = end + 1
	}
	if open >= 0 {
		add(open)
	}
	add(here)
	if before >= 0 {
		add(before)
	}
	return lines
}

// opensOnly reports whether a line has a quote or a bracket that is not closed on it.
func opensOnly(line []byte) bool {
	s := &yamlScanner{text: line}
	s.line(0, len(line), true)
	return s.flow > 0 || s.scalar == '"' || s.scalar == '\''
}

// leftOut returns the parts that may be left out of the line that begins at an offset: its value,
// or the whole line.
func leftOut(text []byte, from int) (spans []diag.Span) {
	end := lineEndAt(text, from)
	start := from + len(text[from:end]) - len(bytes.TrimLeft(text[from:end], " \t"))
	content := start
	for bytes.HasPrefix(text[content:end], []byte("- ")) {
		content = end - len(bytes.TrimLeft(text[content+1:end], " "))
	}
	add := func(from int) {
		if from < end {
			spans = append(spans, diag.Span{Start: int32(from), End: int32(end)})
		}
	}
	if name, n := texttree.NameAt(text[content:end]); name != nil {
		add(content + n)
	}
	if add(content); content > start {
		add(start)
	}
	return spans
}
