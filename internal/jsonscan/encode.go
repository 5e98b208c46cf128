package jsonscan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Marshal does what json.Marshal does, but doesn't escape <, > and &.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Encode does what Marshal does, for values that always have a JSON form: strings, finite numbers,
// checked JSON. It panics for others.
func Encode(v any) json.RawMessage {
	text, err := Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// LosesBytes reports whether text, which encoding/json wrote, has the character U+FFFD in place of
// bytes that are not UTF-8, as names of files may have.
func LosesBytes(text []byte) bool { return bytes.Contains(text, []byte(`\ufffd`)) }

// Exact returns v as JSON, for a digest: values of one type that differ in bytes that are not UTF-8
// differ in it. It panics where Encode does.
func Exact(v any) []byte {
	text := []byte(Encode(v))
	if LosesBytes(text) {
		text = fmt.Appendf(text, "%q", v)
	}
	return text
}

// OrNull returns v, or null if v is nil.
func OrNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// Text returns the text of a JSON string, and the JSON of any other value.
func Text(v json.RawMessage) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// AppendQuoted appends a JSON string without escaping what needs no escape.
func AppendQuoted(dst []byte, s string) []byte {
	start := 0
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, c)
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// Quote returns a string in the form of AppendQuoted.
func Quote(s string) string { return string(AppendQuoted(nil, s)) }

// EscapePointer returns a name in the form of a token of a JSON Pointer (RFC 6901).
func EscapePointer(name string) string { return escapes.Replace(name) }

// UnescapePointer returns the name that a token of a JSON Pointer stands for.
func UnescapePointer(token string) string { return unescapes.Replace(token) }

var (
	escapes   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapes = strings.NewReplacer("~1", "/", "~0", "~")
)
