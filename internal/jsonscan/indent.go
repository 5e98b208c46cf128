package jsonscan

import (
	"bytes"
	"encoding/json"
)

// maxIndented is the maximum size of a text over several lines, in bytes.
const maxIndented = 64 << 20

// Indent returns JSON over several lines, with the prefix before each line except the first. If
// deep nesting would make that very long, it returns the JSON on one line. It reports false if the
// text is not JSON.
func Indent(text []byte, prefix string) ([]byte, bool) {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return nil, false
	}
	compact := b.Bytes()
	if indented(compact, len(prefix)) > maxIndented {
		return compact, true
	}
	var lines bytes.Buffer
	_ = json.Indent(&lines, compact, prefix, "  ") // it is JSON
	return lines.Bytes(), true
}

// indented estimates the size of compact JSON when it is written over several lines, each of which
// begins with a prefix of this size.
func indented(compact []byte, prefix int) int {
	size, depth, quoted := len(compact), 0, false
	for i := 0; i < len(compact); i++ {
		switch c := compact[i]; {
		case quoted:
			if c == '\\' {
				i++
			}
			quoted = c != '"'
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
			size += 1 + prefix + 2*depth
		case c == '}' || c == ']':
			depth--
			size += 1 + prefix + 2*depth
		case c == ',':
			size += 1 + prefix + 2*depth
		case c == ':':
			size++
		}
	}
	return size
}
