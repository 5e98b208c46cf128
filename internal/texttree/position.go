package texttree

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// positions finds the byte offsets of the library's nodes in a YAML text. The nodes have lines and
// columns in characters, from 1. They come in the order of the text, so each search starts at the
// last place, and all of them together take one pass.
type positions struct {
	text  []byte
	lines []int // offset of the first byte of each line
	line  int   // of the last place, from 1
	col   int   // from 1
	pos   int   // its offset
}

// newPositions returns the positions of a text that the library reads from start on, which is after
// a byte order mark.
func newPositions(text []byte, start int) *positions {
	return &positions{text: text, lines: lineStarts(text, start)}
}

// lineStarts finds the lines as YAML counts them.
func lineStarts(text []byte, start int) []int {
	starts := []int{start}
	for i := start; i < len(text); {
		c, n := utf8.DecodeRune(text[i:])
		i += n
		switch c {
		case '\r':
			if i < len(text) && text[i] == '\n' {
				continue
			}
			fallthrough
		case '\n', '\u0085', '\u2028', '\u2029':
			starts = append(starts, i)
		}
	}
	return starts
}

// offset returns the offset of a line and column; the end of the text if there is no such line.
func (t *positions) offset(line, col int) int {
	if line < 1 || line > len(t.lines) {
		return len(t.text)
	}
	if line != t.line || col < t.col {
		t.line, t.col, t.pos = line, 1, t.lines[line-1]
	}
	for ; t.col < col && t.pos < len(t.text); t.col++ {
		_, n := utf8.DecodeRune(t.text[t.pos:])
		t.pos += n
	}
	return t.pos
}

// scalarEnd returns the end of the scalar that starts at a byte and has this value: after its text
// or its closing quote, or else at the end of its first line.
func (t *positions) scalarEnd(value string, start int) int {
	rest := t.text[start:]
	if bytes.HasPrefix(rest, []byte(value)) {
		return start + len(value)
	}
	if len(rest) > 0 && (rest[0] == '"' || rest[0] == '\'') {
		for i := 1; i < len(rest); i++ {
			switch {
			case rest[i] == '\\' && rest[0] == '"', bytes.HasPrefix(rest[i:], []byte("''")) && rest[0] == '\'':
				i++ // an escape, or two quotes that are one
			case rest[i] == rest[0]:
				return start + i + 1
			}
		}
	}
	if end := bytes.IndexAny(rest, "\r\n"); end >= 0 {
		rest = rest[:end]
	}
	return start + len(bytes.TrimRight(rest, " \t"))
}

// fault returns the library's first message about a text that it can't read, and the offset of that
// fault, -1 if it is unknown. For a tab used as indentation it has its own message.
func (t *positions) fault(err error) (message string, offset int) {
	var one *yaml.LoadError
	var many *yaml.LoadErrors
	if errors.As(err, &many) && len(many.Errors) > 0 {
		one = many.Errors[0]
	} else if !errors.As(err, &one) {
		return strings.TrimPrefix(err.Error(), "yaml: "), -1
	}
	message = strings.TrimPrefix(one.Message, "yaml: ")
	if one.Mark.Line <= 0 {
		return message, -1
	}
	offset = t.offset(one.Mark.Line, one.Mark.Column)
	if t.indentedByTab(one.Mark.Line, offset) {
		message = "a tab: YAML is indented by spaces"
	}
	return message, offset
}

// indentedByTab reports whether a fault is a tab before everything else on its line.
func (t *positions) indentedByTab(line, offset int) bool {
	if offset >= len(t.text) || t.text[offset] != '\t' {
		return false
	}
	return len(bytes.Trim(t.text[t.lines[line-1]:offset], " \t")) == 0
}
