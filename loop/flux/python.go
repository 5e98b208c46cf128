package flux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// list is a list of names as Flux prints it.
func list(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = repr(n)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// repr is a text in quotes as Python prints it: in double ones when there are single ones in it
// and no double ones.
func repr(s string) string {
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

// words is a result as Python prints it: a string as it is, other values as Python writes them,
// with the digits that numbers have. Nil is None.
func words(v json.RawMessage) string {
	if v == nil {
		return "None"
	}
	var s string
	if v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	var b strings.Builder
	if err := writeValue(&b, d); err != nil {
		return string(v)
	}
	return b.String()
}

// writeValue writes the next value of d as Python does.
func writeValue(b *strings.Builder, d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		return writeAll(b, d, t)
	case string:
		b.WriteString(repr(t))
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[t])
	case nil:
		b.WriteString("None")
	default:
		fmt.Fprint(b, t)
	}
	return nil
}

// writeAll writes the rest of an array or object that has begun.
func writeAll(b *strings.Builder, d *json.Decoder, open json.Delim) error {
	b.WriteString(open.String())
	for i := 0; d.More(); i++ {
		if i > 0 {
			b.WriteString(", ")
		}
		if open == '{' {
			if err := writeValue(b, d); err != nil {
				return err
			}
			b.WriteString(": ")
		}
		if err := writeValue(b, d); err != nil {
			return err
		}
	}
	end, err := d.Token()
	fmt.Fprint(b, end)
	return err
}
