package yaml

import (
	"bytes"
	"errors"
	"strings"

	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/internal/texttree"
)

// ErrNotFormattable is the error of Format for a text that can't be read, or that Format can't
// format.
var ErrNotFormattable = errors.New("the YAML can't be formatted")

// Format returns a text in YAML with its lines indented by two spaces for each member and element
// that they are in, one space after dashes and colons, and at most one blank line in a row. It does
// not change line breaks, comments, the style of scalars or the value of the text. Formatting twice
// changes nothing.
func Format(text []byte) ([]byte, error) {
	text = bytes.ReplaceAll(text[texttree.BOM(text):], []byte("\r\n"), []byte("\n"))
	before, fault := values(text)
	if fault || bytes.IndexByte(text, '\r') >= 0 {
		return nil, ErrNotFormattable
	}
	l := &layout{}
	for line := range bytes.Lines(text) {
		l.line(bytes.TrimSuffix(line, []byte("\n")))
	}
	l.flush(-1, 0)
	if after, fault := values(l.out); fault || !bytes.Equal(before, after) {
		return nil, ErrNotFormattable
	}
	return l.out, nil
}

// values returns the value of a text, as JSON.
func values(text []byte) (json []byte, fault bool) {
	root, err := texttree.YAML{What: "plans", MaxDepth: maxDepth}.Parse(text)
	if err != nil {
		return nil, true
	}
	return root.JSON(), false
}

// maxDepth is the maximum depth of values in a text that is formatted.
const maxDepth = 256

// layout writes lines with another indentation.
type layout struct {
	out    []byte
	levels []level
	held   []held // the comments and blank lines before the next line

	in     scalar // the scalar that continues on the next line
	parent level  // of it
	shift  int    // of lines in brackets
	text   block
}

// A level is an object or a list, with the old and the new column of its members or dashes.
type level struct {
	old, now int
	list     bool
}

// held is a comment, or a blank line if it has no text, with its old indentation and the new one if
// it belongs to the lines above.
type held struct {
	text     []byte
	old, now int
}

// A scalar describes what is still open at the end of a line.
type scalar struct {
	quote    byte
	brackets int
}

// block is a block scalar, on lines of its own.
type block struct {
	open   bool
	indent int // of its lines, -1 before the first one
	now    int
	keeps  bool // the line ends after it are part of the text
}

// header matches the header of a block scalar.
var header = lazyregexp.New(`^[|>]([-+]?)([1-9]?)([-+]?)[ \t]*(?:#.*)?$`)

func (l *layout) line(line []byte) {
	content := bytes.TrimLeft(line, " ")
	indent := len(line) - len(content)
	switch {
	case l.text.open && (len(content) == 0 || indent > l.parent.old):
		l.inText(line, indent)
		return
	case l.in.quote != 0:
		l.open(content)
		l.emit(l.parent.now+2, content, l.in.quote != 0)
		return
	case l.in.brackets > 0:
		l.open(content)
		l.emit(max(0, indent+l.shift), content, l.in.quote != 0)
		return
	}
	l.text.open = false
	switch {
	case len(bytes.TrimSpace(content)) == 0:
		l.held = append(l.held, held{})
	case content[0] == '#':
		l.held = append(l.held, held{content, indent, l.column(indent)})
	case bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("...")) || bytes.HasPrefix(line, []byte("%")):
		l.flush(0, 0)
		l.levels = nil
		l.emit(0, line, false)
	default:
		l.content(content, indent)
	}
}

// content writes a line that begins with a dash, a name or a scalar.
func (l *layout) content(rest []byte, column int) {
	first := -1 // the column at which the line begins
	var out []byte
	at := func(now int) {
		if first < 0 {
			first = now
		}
	}
	start := column
	for len(rest) > 0 && rest[0] == '-' && (len(rest) == 1 || rest[1] == ' ') {
		at(l.enter(column, true))
		after := bytes.TrimLeft(rest[1:], " ")
		column += len(rest) - len(after)
		if rest = after; len(rest) > 0 {
			out = append(out, "- "...)
		} else {
			out = append(out, '-')
		}
	}
	if name, n := texttree.NameAt(rest); name != nil {
		at(l.enter(column, false))
		out = append(append(out, name...), ':')
		if rest = rest[n:]; len(rest) > 0 {
			out = append(out, ' ')
		}
	}
	if first < 0 { // a value on a line of its own, or the next line of one
		l.pop(column - 1)
		first = 0
		if top := l.top(); top != nil {
			first = top.now + 2
		}
	}
	if l.parent = (level{old: -1, now: -2}); l.top() != nil {
		l.parent = *l.top()
	}
	l.flush(start, first)
	if m := header.FindSubmatch(rest); m != nil {
		l.text = block{open: true, indent: -1, now: l.parent.now + 2, keeps: string(m[1])+string(m[3]) == "+"}
		if len(m[2]) > 0 {
			n := int(m[2][0] - '0')
			l.text.indent, l.text.now = max(0, l.parent.old)+n, max(0, l.parent.now)+n
		}
	} else if l.shift = first - start; len(rest) > 0 {
		l.open(rest)
	}
	l.emit(first, append(out, rest...), l.in.quote != 0)
}

// top returns the innermost level; nil at the top.
func (l *layout) top() *level {
	if len(l.levels) == 0 {
		return nil
	}
	return &l.levels[len(l.levels)-1]
}

// pop leaves the levels that are indented further than a column.
func (l *layout) pop(column int) {
	for top := l.top(); top != nil && top.old > column; top = l.top() {
		l.levels = l.levels[:len(l.levels)-1]
	}
}

// enter returns the new column of a dash or a name at a column.
func (l *layout) enter(column int, list bool) int {
	l.pop(column)
	top := l.top()
	if top != nil && top.old == column && top.list && !list { // a list that was not indented ends
		l.levels = l.levels[:len(l.levels)-1]
		top = l.top()
	}
	if top != nil && top.old == column && top.list == list {
		return top.now
	}
	now := 0
	if top != nil {
		now = top.now + 2
	}
	l.levels = append(l.levels, level{column, now, list})
	return now
}

// open processes a value, or the rest of one, and notes what is still open at its end.
func (l *layout) open(text []byte) {
	s := &l.in
	fresh := s.quote == 0 && s.brackets == 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case s.quote == '"' && c == '\\', s.quote == '\'' && c == '\'' && i+1 < len(text) && text[i+1] == '\'':
			i++
		case s.quote != 0:
			if c == s.quote {
				s.quote = 0
			}
		case c == '#' && (i == 0 || text[i-1] == ' ' || text[i-1] == '\t'):
			return
		case (c == '"' || c == '\'') && (fresh && i == 0 || s.brackets > 0 && opensHere(text[:i])):
			s.quote = c
		case (c == '[' || c == '{') && (i == 0 && fresh || s.brackets > 0):
			s.brackets++
		case (c == ']' || c == '}') && s.brackets > 0:
			s.brackets--
		}
	}
}

// opensHere reports whether a quote after a text in brackets begins a string.
func opensHere(before []byte) bool {
	before = bytes.TrimRight(before, " \t")
	return len(before) == 0 || strings.IndexByte("[{,:", before[len(before)-1]) >= 0
}

// inText writes a line of a block scalar.
func (l *layout) inText(line []byte, indent int) {
	if len(line) == indent && (l.text.indent < 0 || indent <= l.text.indent) {
		l.held = append(l.held, held{})
		return
	}
	if l.text.indent < 0 {
		l.text.indent = indent
	}
	l.blank()
	if indent < l.text.indent { // invalid YAML
		l.text.indent = indent
	}
	l.out = append(l.out, strings.Repeat(" ", l.text.now)...)
	l.out = append(append(l.out, line[l.text.indent:]...), '\n')
}

// blank writes the held blank lines, which are part of a text.
func (l *layout) blank() {
	for range l.held {
		l.out = append(l.out, '\n')
	}
	l.held = nil
}

// column returns the new column of a comment if it belongs to the lines above.
func (l *layout) column(old int) int {
	for i := len(l.levels) - 1; i >= 0; i-- {
		switch level := l.levels[i]; {
		case level.old == old:
			return level.now
		case level.old < old:
			return level.now + 2
		}
	}
	return 0
}

// flush writes the held comments and blank lines before a line whose indentation changes from old
// to now; old is -1 at the end. It writes at most one blank line in a row.
func (l *layout) flush(old, now int) {
	if l.text.keeps {
		n := 0
		for n < len(l.held) && l.held[n].text == nil {
			n++
		}
		l.out = append(l.out, strings.Repeat("\n", n)...)
		l.held, l.text.keeps = l.held[n:], false
	}
	blank := false
	space := func() {
		if blank && len(l.out) > 0 {
			l.out = append(l.out, '\n')
		}
		blank = false
	}
	for _, h := range l.held {
		switch {
		case h.text == nil:
			blank = true
		case h.old <= old:
			space()
			l.emit(now, h.text, false)
		default:
			space()
			l.emit(h.now, h.text, false)
		}
	}
	if l.held = nil; old >= 0 {
		space()
	}
}

// emit writes a line.
func (l *layout) emit(column int, content []byte, open bool) {
	if !open { // spaces at its end may be part of a string
		content = bytes.TrimRight(content, " \t")
	}
	if len(content) > 0 {
		l.out = append(l.out, strings.Repeat(" ", column)...)
	}
	l.out = append(append(l.out, content...), '\n')
}
