package lsp

import (
	"bytes"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/texttree"
)

// A yamlPlace has the additional data of a cursor in YAML.
type yamlPlace struct {
	flow   bool // it is in brackets
	lines  bool // it is in a block text, on lines of its own
	quote  byte // of the string or name that is typed; 0 for none
	end    int  // the end of that string, after its quote
	dash   bool // an element of a list begins here, without its dash
	space  bool // a space has to be inserted, since the cursor is directly after a colon
	colon  bool // a colon follows already
	indent int  // the column of other members of the object
}

// yamlCursors returns the cursors at an offset of a text in YAML: for the name of a member, for a
// value, or for both if the text does not decide. It costs one pass over the text before it.
func yamlCursors(text []byte, offset int) []*cursor {
	s := &yamlScanner{text: text[:offset]}
	for at, more := 0, true; more; {
		end := offset
		if n := bytes.IndexByte(s.text[at:], '\n'); n >= 0 {
			end = at + n
		} else {
			more = false
		}
		s.line(at, at+len(bytes.TrimSuffix(s.text[at:end], []byte("\r"))), !more)
		at = end + 1
	}
	switch {
	case !s.found:
		return nil
	case s.flow > 0:
		f := s.top()
		return []*cursor{s.cursor(text, s.frames, f.object && f.key == "")}
	case s.scalar != 0 || s.behindKey:
		return []*cursor{s.cursor(text, s.frames, false)}
	}
	return s.either(text)
}

// yamlScanner goes through a text in YAML, line by line, up to the cursor.
type yamlScanner struct {
	text   []byte
	frames []frame
	flow   int  // the number of frames in brackets
	scalar byte // what is open at the end of a line: a quote, or | for a block text
	outer  int  // the indentation around that, or around brackets

	// Of the last line.
	found     bool // a token may be at the cursor
	behindKey bool // the token is the value after a key
	spaced    bool // a space is between the colon and the token
	token     int  // the start of the token
	column    int  // the column of the token, if it may be a member
	element   bool // it is after a dash
}

// top returns the innermost object or list; nil at the top.
func (s *yamlScanner) top() *frame {
	if len(s.frames) == 0 {
		return nil
	}
	return &s.frames[len(s.frames)-1]
}

// at notes that there may be a token at the end of the text, and where it begins.
func (s *yamlScanner) at(token int) { s.found, s.token = true, token }

// line processes a line.
func (s *yamlScanner) line(from, to int, last bool) {
	content := bytes.TrimLeft(s.text[from:to], " ")
	indent := to - from - len(content)
	s.found, s.behindKey, s.element = false, false, false
	begins := indent <= s.outer && (bytes.HasPrefix(content, []byte("- ")) || named(content))
	switch {
	case s.scalar == '|' && (len(content) == 0 || indent > s.outer):
		s.found = true
		return
	case s.scalar == '|':
		s.scalar = 0
	case s.scalar != 0 && !begins: // a string that has no end before a member begins is broken
		s.inString(from, to)
		return
	case s.scalar != 0:
		s.scalar = 0
		s.leaveBrackets()
	case s.flow > 0 && !begins:
		s.brackets(to-len(content), to)
		return
	}
	s.leaveBrackets()
	switch {
	case len(content) == 0 && last:
		s.open(to, indent)
	case len(content) == 0 || content[0] == '#':
	case bytes.HasPrefix(content, []byte("---")) || bytes.HasPrefix(content, []byte("...")):
		s.frames = nil
	default:
		s.content(from, to, indent, last)
	}
}

// named reports whether a line begins with the name of a member.
func named(line []byte) bool {
	name, _ := texttree.NameAt(line)
	return name != nil
}

// leaveBrackets leaves brackets that are still open.
func (s *yamlScanner) leaveBrackets() {
	s.frames, s.flow = s.frames[:len(s.frames)-s.flow], 0
}

// content processes a line from its first character on.
func (s *yamlScanner) content(from, to, column int, last bool) {
	for i := from + column; ; i = from + column {
		if s.text[i] != '-' || i+1 < to && s.text[i+1] != ' ' {
			break
		}
		s.dash(column)
		rest := bytes.TrimLeft(s.text[i+1:to], " ")
		column = to - len(rest) - from
		if s.element = true; len(rest) == 0 {
			if last && i+1 < to {
				s.open(to, column)
			}
			return
		}
	}
	i := from + column
	if name, n := texttree.NameAt(s.text[i:to]); name != nil {
		s.member(column, unquoteYAML(name))
		s.behindKey, s.element = true, false
		s.spaced = s.text[i+n-1] != ':'
		s.value(i+n, to)
		return
	}
	if last && strings.IndexByte("\"'[{|>#", s.text[i]) < 0 {
		s.open(i, column)
		return
	}
	s.pop(column)
	s.value(i, to)
}

// open notes that a name or a value may be at a column.
func (s *yamlScanner) open(token, column int) {
	s.pop(column)
	s.at(token)
	s.column = column
}

// pop leaves the frames that are indented further than a column.
func (s *yamlScanner) pop(column int) {
	for f := s.top(); f != nil && f.indent > column; f = s.top() {
		s.frames = s.frames[:len(s.frames)-1]
	}
}

// dash processes the dash of an element.
func (s *yamlScanner) dash(column int) {
	s.pop(column)
	f := s.top()
	if f != nil && !f.object && f.indent == column {
		f.index++
		f.full = false
		return
	}
	s.fill()
	s.frames = append(s.frames, frame{indent: column})
}

// fill notes that the innermost member or element has a value.
func (s *yamlScanner) fill() {
	if f := s.top(); f != nil {
		f.full = true
	}
}

// member processes the name of a member.
func (s *yamlScanner) member(column int, name string) {
	s.pop(column)
	if f := s.top(); f != nil && !f.object && f.indent == column { // a list that was not indented
		s.frames = s.frames[:len(s.frames)-1]
	}
	f := s.top()
	if f == nil || !f.object || f.indent < column {
		s.fill()
		s.frames = append(s.frames, frame{object: true, indent: column})
		f = s.top()
	}
	f.key, f.full = name, false
	f.names = append(f.names, name)
}

// value processes the value of a member or an element, as far as it is on the line.
func (s *yamlScanner) value(i, to int) {
	s.outer = 0
	if f := s.top(); f != nil {
		s.outer = f.indent
	}
	if i == to {
		s.at(i)
		return
	}
	switch c := s.text[i]; c {
	case '#':
		return
	case '&', '!': // in front of the value
		if n := bytes.IndexByte(s.text[i:to], ' '); n > 0 {
			s.value(to-len(bytes.TrimLeft(s.text[i+n:to], " ")), to)
		}
		return
	case '"', '\'':
		s.fill()
		s.token = i
		if closingQuote(s.text[:to], i+1, c) < 0 {
			s.scalar, s.found = c, true
		}
	case '|', '>':
		s.fill()
		s.scalar, s.token = '|', i
	case '[', '{':
		s.fill()
		s.brackets(i, to)
	default:
		s.fill()
		if !bytes.Contains(s.text[i:to], []byte(" #")) {
			s.at(i)
		}
	}
}

// inString processes a line that begins in a string.
func (s *yamlScanner) inString(from, to int) {
	end := closingQuote(s.text[:to], from, s.scalar)
	if end < 0 {
		s.found = true
		return
	}
	if s.scalar = 0; s.flow > 0 {
		s.brackets(s.word(s.token, end, to), to)
	}
}

// closingQuote returns the offset after the quote that closes a string, searching from a place in
// it; -1 if there is none.
func closingQuote(text []byte, i int, quote byte) int {
	for ; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"', text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return -1
}

// brackets processes the part of a line that is in brackets.
func (s *yamlScanner) brackets(i, to int) {
	s.at(to)
	for i < to {
		switch c := s.text[i]; {
		case c == ' ' || c == '\t':
			i++
			continue
		case c == '[' || c == '{':
			s.frames = append(s.frames, frame{object: c == '{', start: i, indent: s.outer})
			s.flow++
		case c == ']' || c == '}':
			s.frames = s.frames[:len(s.frames)-1]
			if s.flow--; s.flow == 0 {
				s.found = false
				return
			}
		case c == ',':
			f := s.top()
			f.key = ""
			f.index++
		case c == '#':
			s.found = false
			return
		case c == '"' || c == '\'':
			end := closingQuote(s.text[:to], i+1, c)
			if end < 0 {
				s.scalar, s.token = c, i
				return
			}
			i = s.word(i, end, to)
			continue
		default:
			i = s.word(i, plainEnd(s.text[:to], i), to)
			continue
		}
		i++
		s.at(to)
	}
}

// plainEnd returns the end of an unquoted text in brackets.
func plainEnd(text []byte, i int) int {
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case strings.IndexByte(",[]{}\n", c) >= 0, c == ':' && (i+1 == len(text) || strings.IndexByte(" \t,[]{}\r\n", text[i+1]) >= 0):
			return i
		case c == ' ' && i+1 < len(text) && text[i+1] == '#':
			return i
		}
	}
	return i
}

// word processes a string or a word in brackets, and the colon after it. It returns the offset
// after them.
func (s *yamlScanner) word(from, end, to int) int {
	s.at(from)
	rest := bytes.TrimLeft(s.text[end:to], " \t")
	quoted := s.text[from] == '"' || s.text[from] == '\''
	if quoted {
		s.found = false // nothing may follow it
	}
	if f := s.top(); f.object && f.key == "" && len(rest) > 0 && rest[0] == ':' {
		f.key = unquoteYAML(bytes.TrimRight(s.text[from:end], " "))
		f.names = append(f.names, f.key)
		s.at(to)
		s.spaced = len(rest) > 1
		return to - len(rest) + 1
	}
	if end == from { // a colon where none should be
		return from + 1
	}
	return end
}

// unquoteYAML returns the value of a name.
func unquoteYAML(b []byte) string {
	if len(b) > 1 && b[0] == '\'' {
		return strings.ReplaceAll(string(b[1:len(b)-1]), "''", "'")
	}
	if len(b) > 1 && b[0] == '"' {
		return unquote(b)
	}
	return string(b)
}

// either returns the cursors at a place where the text does not decide whether a member, a value or
// an element of a list begins.
func (s *yamlScanner) either(text []byte) (all []*cursor) {
	f, frames := s.top(), s.frames
	object := func(column int) []frame { return append(slices.Clip(frames), frame{object: true, indent: column}) }
	dashed := func(frames []frame) {
		c := s.cursor(text, frames, false)
		c.yaml.dash, c.yaml.indent = true, s.column+2
		all = append(all, c)
	}
	list := append(slices.Clip(frames), frame{indent: s.column})
	switch {
	case f == nil:
		all = append(all, s.cursor(text, object(s.column), true))
		dashed(list)
	case f.object && f.indent == s.column:
		pending := !f.full
		if all = append(all, s.cursor(text, frames, true)); pending && s.token == len(s.text) {
			dashed(list)
		}
	case !f.object && f.indent == s.column:
		next := slices.Clone(frames)
		next[len(next)-1].index++
		dashed(next)
	case !f.full:
		all = append(all, s.cursor(text, object(s.column), true), s.cursor(text, frames, false))
		if !s.element {
			dashed(list)
		}
	}
	return all
}

// cursor returns a cursor in these frames.
func (s *yamlScanner) cursor(text []byte, frames []frame, name bool) *cursor {
	y := &yamlPlace{flow: s.flow > 0, lines: s.scalar == '|', indent: s.column}
	c := &cursor{frames: slices.Clone(frames), inName: name, quoted: !name, closed: true, offset: len(s.text), text: text, yaml: y}
	c.token = diag.Span{Start: int32(s.token), End: int32(c.offset)}
	f := c.inner()
	if f != nil && f.object {
		y.indent = f.indent
	}
	y.space = !name && c.offset == s.token && (s.behindKey || y.flow && f.object) && !s.spaced
	if s.scalar != 0 && s.scalar != '|' {
		y.quote, c.quoted, c.open = s.scalar, true, 1
	}
	y.end = y.tokenEnd(text, c.offset)
	c.closed = y.quote == 0 || y.end > c.offset
	rest := bytes.TrimLeft(text[y.end:lineEndAt(text, y.end)], " \t")
	y.colon = len(rest) > 0 && rest[0] == ':'
	if name {
		f.key = ""
		f.names = slices.Clone(f.names)
		c.namesBehind(y)
	}
	return c
}

// tokenEnd returns the end of the token that the cursor is in.
func (y *yamlPlace) tokenEnd(text []byte, offset int) int {
	end := lineEndAt(text, offset)
	switch {
	case y.lines:
		return offset
	case y.quote != 0:
		if closing := closingQuote(text[:end], offset, y.quote); closing >= 0 {
			return closing
		}
		return offset
	case y.flow:
		end = plainEnd(text[:end], offset)
	default:
		for i := offset; i < end; i++ {
			if text[i] == ':' && (i+1 == end || text[i+1] == ' ') || text[i] == ' ' && i+1 < end && text[i+1] == '#' {
				end = i
			}
		}
	}
	return offset + len(bytes.TrimRight(text[offset:end], " \t"))
}

// lineEndAt returns the offset of the end of the line that an offset is on.
func lineEndAt(text []byte, offset int) int {
	if n := bytes.IndexAny(text[offset:], "\r\n"); n >= 0 {
		return offset + n
	}
	return len(text)
}

// namesBehind adds the names of the innermost object that come after the cursor.
func (c *cursor) namesBehind(y *yamlPlace) {
	f := c.inner()
	if y.flow {
		c.namesInBrackets(y.end)
		return
	}
	add := func(line []byte) {
		if name, _ := texttree.NameAt(line); name != nil {
			f.names = append(f.names, unquoteYAML(name))
		}
	}
	add(c.text[c.offset:lineEndAt(c.text, c.offset)])
	_, behind, _ := bytes.Cut(c.text[c.offset:min(len(c.text), c.offset+maxLook)], []byte("\n"))
	for line := range bytes.Lines(behind) {
		line = bytes.TrimRight(line, "\r\n")
		content := bytes.TrimLeft(line, " ")
		indent := len(line) - len(content)
		switch {
		case len(content) == 0 || content[0] == '#' || indent > f.indent:
			continue
		case indent < f.indent || bytes.HasPrefix(content, []byte("- ")):
			return
		}
		add(content)
	}
}

// namesInBrackets adds the names of the innermost object, which is in brackets, that come after an
// offset.
func (c *cursor) namesInBrackets(i int) {
	f := c.inner()
	text := c.text[:min(len(c.text), i+maxLook)]
	for depth, name := 0, false; i < len(text) && depth >= 0; {
		from := i
		switch b := text[i]; {
		case strings.IndexByte(" \t\r\n", b) >= 0:
			i++
			continue
		case strings.IndexByte("[]{},:", b) >= 0:
			i++
			name = b == ',' && depth == 0
			depth += strings.Count("[{", string(b)) - strings.Count("]}", string(b))
			continue
		case b == '#':
			i = lineEndAt(text, i)
			continue
		case b == '"' || b == '\'':
			if i = closingQuote(text, i+1, b); i < 0 {
				return
			}
		default:
			i = plainEnd(text, i)
		}
		if name {
			f.names, name = append(f.names, unquoteYAML(bytes.TrimRight(text[from:i], " "))), false
		}
	}
}

// plainYAML reports whether a string can be written in YAML without quotes.
func plainYAML(s string, flow bool) bool {
	text := "- " + s
	if flow {
		text = "[" + s + "]"
	}
	root, err := texttree.YAML{What: "files", MaxDepth: 4}.Parse([]byte(text))
	if err != nil || root.Kind != texttree.Array || len(root.Entries) != 1 {
		return false
	}
	v := root.Entries[0].Value
	return v.Kind == texttree.String && v.Str == s
}

// yamlText returns a string in YAML, in quotes if it needs them.
func yamlText(s string, flow bool) string {
	if plainYAML(s, flow) {
		return s
	}
	return quoted(s)
}
