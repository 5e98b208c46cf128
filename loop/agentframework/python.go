package agentframework

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/python"
)

// Messages and reminders are contract as Python writes them: its quotes, its lists, its names
// of types and its JSON.

// reprs is a list of texts, sorted.
func reprs(list []string) string {
	return python.List(slices.Sorted(slices.Values(list)))
}

// typeName is Python's name of the type of a value.
func typeName(v gjson.Result) string {
	switch {
	case v.Type == gjson.String:
		return "str"
	case v.Type == gjson.True || v.Type == gjson.False:
		return "bool"
	case v.IsObject():
		return "dict"
	case v.IsArray():
		return "list"
	case v.Type == gjson.Number && strings.ContainsAny(v.Raw, ".eE"):
		return "float"
	case v.Type == gjson.Number:
		return "int"
	}
	return "NoneType"
}

// str is a value as text, without white space around it: a name that should have been a text.
func str(v gjson.Result) string {
	switch {
	case !v.Exists():
		return ""
	case v.Type == gjson.String:
		return strings.TrimSpace(v.Str)
	case v.Type == gjson.True:
		return "True"
	case v.Type == gjson.False:
		return "False"
	case v.Type == gjson.Null:
		return "None"
	}
	return v.Raw
}

// optional is a value as text; "" for null as well.
func optional(v gjson.Result) string {
	if v.Type == gjson.Null {
		return ""
	}
	return str(v)
}

// isEmpty reports whether Python takes a value for nothing.
func isEmpty(v gjson.Result) bool {
	switch {
	case v.IsObject() || v.IsArray():
		return len(bytes.TrimSpace([]byte(v.Raw[1:len(v.Raw)-1]))) == 0
	case v.Type == gjson.Number:
		return v.Num == 0
	case v.Type == gjson.String:
		return v.Str == ""
	}
	return v.Type != gjson.True
}

// dumper writes values as Python's json.dumps does. Numbers keep their digits.
type dumper struct {
	bytes.Buffer
	indent bool // by two spaces; else on one line
	ascii  bool // everything else is escaped
}

// dumps is a value by indent=2 or, without, on one line.
func dumps(v json.RawMessage, indent, ascii bool) string {
	d := &dumper{indent: indent, ascii: ascii}
	d.value(gjson.ParseBytes(v), 0)
	return d.String()
}

func (d *dumper) value(v gjson.Result, depth int) {
	switch {
	case v.IsObject():
		d.list('{', '}', v, depth)
	case v.IsArray():
		d.list('[', ']', v, depth)
	case v.Type == gjson.String:
		d.text(v.Str)
	default:
		d.WriteString(v.Raw)
	}
}

func (d *dumper) list(open, end byte, v gjson.Result, depth int) {
	d.WriteByte(open)
	first := true
	v.ForEach(func(key, value gjson.Result) bool {
		d.separate(first, depth+1)
		first = false
		if open == '{' {
			d.text(key.Str)
			d.WriteString(": ")
		}
		d.value(value, depth+1)
		return true
	})
	if !first && d.indent {
		d.newLine(depth)
	}
	d.WriteByte(end)
}

func (d *dumper) separate(first bool, depth int) {
	if !first {
		d.WriteByte(',')
	}
	switch {
	case d.indent:
		d.newLine(depth)
	case !first:
		d.WriteByte(' ')
	}
}

func (d *dumper) newLine(depth int) {
	d.WriteByte('\n')
	for range depth {
		d.WriteString("  ")
	}
}

func (d *dumper) text(s string) {
	d.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			d.WriteByte('\\')
			d.WriteRune(r)
		case r == '\n':
			d.WriteString(`\n`)
		case r == '\r':
			d.WriteString(`\r`)
		case r == '\t':
			d.WriteString(`\t`)
		case r == '\f':
			d.WriteString(`\f`)
		case r == '\b':
			d.WriteString(`\b`)
		case r < ' ' || d.ascii && r >= 0x7f && r < 0x10000:
			fmt.Fprintf(d, `\u%04x`, r)
		case d.ascii && r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(d, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			d.WriteRune(r)
		}
	}
	d.WriteByte('"')
}

// cut is the first n characters of a text.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}
