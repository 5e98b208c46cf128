// Package yamlpos finds where in a text the nodes of the YAML library stand, as offsets of
// bytes, and where the library found a fault.
package yamlpos

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Text is a text of YAML. The library's nodes have lines and columns in characters, from 1;
// since they come in the order of the text, offsets are found by going on from the last one,
// so that all of them cost one pass. It is for one goroutine.
type Text struct {
	text  []byte
	lines []int // offset of the first byte of each line
	line  int   // of the last place, from 1
	col   int   // from 1
	pos   int   // its offset
}

// New is a text that the library reads from a byte on: from behind a byte order mark.
func New(text []byte, start int) *Text {
	return &Text{text: text, lines: lineStarts(text, start)}
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

// Offset is the place of a line and column; the end of the text for a line that is not there.
func (t *Text) Offset(line, col int) int {
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

// ScalarEnd is where a scalar of this value that starts at a byte ends, as far as one can say:
// behind its text or its closing quote, else at the end of its first line.
func (t *Text) ScalarEnd(value string, start int) int {
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

// Fault is what the library says of a text that it can't read, the first of its faults, and
// where it is: the offset is -1 when it does not say. A tab that indents is told as that.
func (t *Text) Fault(err error) (message string, offset int) {
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
	offset = t.Offset(one.Mark.Line, one.Mark.Column)
	if t.indentedByTab(one.Mark.Line, offset) {
		message = "a tab: YAML is indented by spaces"
	}
	return message, offset
}

// indentedByTab reports whether a fault is a tab before everything else on its line.
func (t *Text) indentedByTab(line, offset int) bool {
	if offset >= len(t.text) || t.text[offset] != '\t' {
		return false
	}
	return len(bytes.Trim(t.text[t.lines[line-1]:offset], " \t")) == 0
}
