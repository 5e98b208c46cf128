package lsp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
)

// A frame is an object or a list that is open at the cursor.
type frame struct {
	object bool
	start  int      // the offset of its bracket
	key    string   // object: the name of the member that the cursor is in
	index  int      // list: the number of elements before the cursor
	names  []string // object: all its names, as far as it could be read
	indent int      // in YAML: the column of its members or dashes
	full   bool     // in YAML: the value of the last member or element has begun
}

// A cursor is a place in a text of JSON or YAML, which may have errors: what is open there, and
// what is being typed.
type cursor struct {
	frames []frame
	inName bool // the name of a member is being typed, or could be
	quoted bool // in a string, or in YAML where a string may be
	open   int  // the length of its opening quote
	closed bool // it has a closing quote, or needs none
	token  diag.Span
	offset int
	text   []byte
	yaml   *yamlPlace // nil in JSON
}

// cursorAt finds the cursor at an offset. It costs one pass over the text before it.
func cursorAt(text []byte, offset int) *cursor {
	c := &cursor{offset: offset, text: text, token: diag.Span{Start: int32(offset), End: int32(offset)}}
	s := &scanner{text: text}
	for {
		before := s.at
		s.next()
		if s.end && before <= offset || s.start >= offset || s.start < offset && offset < s.at || s.bare() && offset == s.at || s.quoted && !s.closed && offset <= s.at {
			break
		}
		c.take(s)
	}
	c.inName = c.wantsName()
	if s.start < offset && (s.quoted || s.bare()) {
		if c.quoted, c.closed = s.quoted, s.closed; s.quoted {
			c.open = 1
		}
		c.token = diag.Span{Start: int32(s.start), End: int32(s.at)}
	}
	c.rest(offset)
	return c
}

// scanner splits a text into brackets, commas, colons, strings and words.
type scanner struct {
	text   []byte
	at     int // the end of the token
	start  int
	quoted bool
	closed bool
	end    bool
}

func (s *scanner) next() {
	s.quoted, s.closed = false, false
	for s.at < len(s.text) {
		c := s.text[s.at]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			s.at++
			continue
		case c == '/' && s.at+1 < len(s.text) && (s.text[s.at+1] == '/' || s.text[s.at+1] == '*'):
			s.at = commentEnd(s.text, s.at)
			continue
		}
		s.start = s.at
		switch {
		case c == '"':
			s.at, s.closed = stringEnd(s.text, s.at)
			s.quoted = true
		case isBracket(c):
			s.at++
		default:
			for s.at < len(s.text) && !isBracket(s.text[s.at]) && !strings.ContainsRune(" \t\r\n\"", rune(s.text[s.at])) {
				s.at++
			}
		}
		return
	}
	s.start, s.end = len(s.text), true
}

func isBracket(c byte) bool { return strings.IndexByte("{}[],:", c) >= 0 }

// bare reports whether the token is a word without quotes.
func (s *scanner) bare() bool { return !s.quoted && s.start < s.at && !isBracket(s.text[s.start]) }

// wantsName reports whether the next token is the name of a member.
func (c *cursor) wantsName() bool {
	f := c.inner()
	return f != nil && f.object && f.key == ""
}

// inner returns the innermost object or list; nil at the top.
func (c *cursor) inner() *frame {
	if len(c.frames) == 0 {
		return nil
	}
	return &c.frames[len(c.frames)-1]
}

// take processes a token before the cursor.
func (c *cursor) take(s *scanner) {
	f := c.inner()
	switch b := s.text[s.start]; {
	case s.quoted:
		if f != nil && f.object && f.key == "" {
			f.key = unquote(s.text[s.start:s.at])
			f.names = append(f.names, f.key)
		}
	case b == '{' || b == '[':
		c.frames = append(c.frames, frame{object: b == '{', start: s.start})
	case b == '}' || b == ']':
		if f != nil {
			c.frames = c.frames[:len(c.frames)-1]
		}
	case b == ',' && f != nil:
		f.key = ""
		f.index++
	}
}

// rest reads the names of the innermost object that come after the cursor.
func (c *cursor) rest(offset int) {
	f := c.inner()
	if f == nil || !f.object {
		return
	}
	s := &scanner{text: c.text, at: max(offset, int(c.token.End))}
	depth, name := 0, c.inName
	for s.next(); !s.end && depth >= 0 && s.start < offset+maxLook; s.next() {
		switch b := c.text[s.start]; {
		case s.quoted && depth == 0 && name:
			f.names, name = append(f.names, unquote(c.text[s.start:s.at])), false
		case s.quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		case (b == ',' || b == ':') && depth == 0:
			name = b == ','
		}
	}
}

// maxLook is the number of bytes after the cursor that are searched for names.
const maxLook = 1 << 16

// unquote returns the value of a JSON string; if the string is incomplete, its raw content.
func unquote(b []byte) string {
	var s string
	if json.Unmarshal(b, &s) != nil {
		s = strings.Trim(string(b), `"`)
	}
	return s
}

// start returns the start of the typed text: after the quote of a string.
func (c *cursor) start() int { return int(c.token.Start) + c.open }

// typed returns the text before the cursor in the string or word that it is in.
func (c *cursor) typed() string {
	from := c.start()
	if from >= c.offset {
		return ""
	}
	return string(c.text[from:c.offset])
}

// way returns the names and indexes that lead from a frame to the cursor.
func (c *cursor) way(from int) (steps []any) {
	for _, f := range c.frames[from:] {
		if f.object {
			steps = append(steps, f.key)
		} else {
			steps = append(steps, f.index)
		}
	}
	return steps
}

// call returns the index of the frame of the call that the cursor is in, which is an object in the
// list of calls; false if it is not in a call.
func (c *cursor) call() (int, bool) {
	for i := len(c.frames) - 1; i > 0; i-- {
		if c.frames[i].object && c.inList(i-1) && !slices.Contains(c.frames[i].names, "type") {
			return i, true
		}
	}
	return 0, false
}

// inList reports whether a frame is a list of calls: the document itself, or the value of calls or
// plan outside any call.
func (c *cursor) inList(i int) bool {
	if c.frames[i].object {
		return false
	}
	return i == 0 || c.frames[i-1].object && (c.frames[i-1].key == "calls" || c.frames[i-1].key == "plan") &&
		!slices.Contains(c.frames[i-1].names, "_tool")
}
