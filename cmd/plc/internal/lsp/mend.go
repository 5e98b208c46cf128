package lsp

import (
	"bytes"
	"slices"

	"github.com/plc-lang/plc/diag"
)

// mended is a text that somebody is typing as one that can be read: strings that are not closed on
// their lines are closed, and so are calls before the next one begins.
type mended struct {
	file *diag.File // derived from the one that is typed, so that its places lead there
	from *diag.File
	put  []insertion
}

// mend returns what was mended of a file; nil when there is nothing to mend.
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
	return &mended{diag.NewDerived(out, f, pieces), f, m.put}
}

// origin returns where a span of the mended text stands in the one that is typed.
func (m *mended) origin(s diag.Span) diag.Span {
	offset := func(at int32) int32 {
		by := int32(0) // of the insertions before
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

// broken reports whether a place of the file is on a line that was mended, of which nothing should
// be said.
func (m *mended) broken(s diag.Span) bool {
	line := m.from.Position(int(s.Start)).Line
	return slices.ContainsFunc(m.put, func(p insertion) bool { return m.from.Position(p.at).Line == line })
}

// mender goes through a text of JSON and notes what to put in.
type mender struct {
	text []byte
	at   int
	open []byte // the brackets that are open
	put  []insertion
}

// insertion is a text that is put in at an offset.
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

// closing returns what closes a call that was left open: with a value when it ends in a colon.
func (m *mender) closing() string {
	if before := bytes.TrimRight(m.text[:m.at], " \t\r\n"); bytes.HasSuffix(before, []byte(":")) {
		return "null},"
	}
	return "},"
}

// lastToken returns the end of what stands before the place, without a comma.
func (m *mender) lastToken() int {
	return len(bytes.TrimRight(m.text[:m.at], " \t\r\n"))
}

// beginsCall reports whether a text begins as a call does.
func beginsCall(b []byte) bool {
	b = bytes.TrimLeft(b[1:], " \t\r\n")
	return bytes.HasPrefix(b, []byte(`"_`))
}

// string goes over a string. One that is not closed on its line is closed there, before the
// brackets and commas at its end, which editors put in by themselves.
func (m *mender) string() {
	end, closed := stringEnd(m.text, m.at)
	if !closed {
		inside := bytes.TrimRight(m.text[m.at+1:end], " \t,]}")
		m.put = append(m.put, insertion{m.at + 1 + len(inside), `"`})
		end = m.at + 1 + len(inside)
	}
	m.at = end
}

// stringEnd returns the end of the string that starts at an offset: behind its closing quote, or
// the end of its line when it has none there.
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
