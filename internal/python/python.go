// Package python writes texts in the form in which Python prints them, for messages of other
// systems that plc reproduces.
package python

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Repr returns a text in quotes. These are single quotes, unless the text contains single quotes
// and no double ones.
func Repr(s string) string {
	quote := '\''
	if strings.ContainsRune(s, '\'') && !strings.ContainsRune(s, '"') {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for _, r := range s {
		switch {
		case r == quote || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteRune(quote)
	return b.String()
}

// List returns a list of texts.
func List(texts []string) string {
	quoted := make([]string, len(texts))
	for i, t := range texts {
		quoted[i] = Repr(t)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// First returns the first n characters of a text.
func First(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Truthy reports whether Python's bool is true for a JSON value; it is false for nil.
func Truthy(v json.RawMessage) bool {
	switch v = bytes.TrimSpace(v); {
	case len(v) == 0:
		return false
	case v[0] == '{' || v[0] == '[':
		return len(bytes.TrimSpace(v[1:len(v)-1])) > 0
	case v[0] == '"':
		return len(v) > 2
	case v[0] == 't' || v[0] == 'f' || v[0] == 'n':
		return v[0] == 't'
	}
	n, err := strconv.ParseFloat(string(v), 64)
	return n != 0 || err != nil
}
