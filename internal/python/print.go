package python

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Str returns a JSON value in the form of Python's str: a string unchanged, other values with True,
// None and single quotes. Numbers keep their digits. Nil is None.
func Str(v json.RawMessage) string {
	if v == nil {
		return "None"
	}
	var s string
	if v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return printed(v, printer{str: true})
}

// Dumps returns a JSON value in the form of Python's json.dumps. indent puts elements on lines of
// their own, indented by two spaces; ascii escapes all characters outside ASCII. Numbers keep their
// digits.
func Dumps(v json.RawMessage, indent, ascii bool) string {
	return printed(v, printer{indent: indent, ascii: ascii})
}

// printer writes a value.
type printer struct {
	bytes.Buffer
	d      *json.Decoder
	str    bool // in the form of str, not of json.dumps
	indent bool
	ascii  bool
}

// printed returns a value in the form that p writes. A text that is not JSON is returned unchanged.
func printed(v json.RawMessage, p printer) string {
	p.d = json.NewDecoder(bytes.NewReader(v))
	p.d.UseNumber()
	if p.value(0) != nil {
		return string(v)
	}
	return p.String()
}

// value writes the next value.
func (p *printer) value(depth int) error {
	t, err := p.d.Token()
	switch t := t.(type) {
	case json.Delim:
		return p.list(t, depth)
	case string:
		p.text(t)
	case bool, nil:
		p.WriteString(p.word(t))
	default:
		fmt.Fprint(p, t)
	}
	return err
}

func (p *printer) word(v any) string {
	switch {
	case v == nil && p.str:
		return "None"
	case v == nil:
		return "null"
	case p.str:
		return map[bool]string{true: "True", false: "False"}[v.(bool)]
	}
	return fmt.Sprint(v)
}

// list writes the rest of an array or object whose opening bracket was read.
func (p *printer) list(open json.Delim, depth int) error {
	p.WriteString(open.String())
	first := true
	for ; p.d.More(); first = false {
		if !first {
			p.WriteByte(',')
		}
		p.separate(first, depth+1)
		if open == '{' {
			if err := p.value(depth + 1); err != nil {
				return err
			}
			p.WriteString(": ")
		}
		if err := p.value(depth + 1); err != nil {
			return err
		}
	}
	end, err := p.d.Token()
	if !first && p.indent {
		p.separate(first, depth)
	}
	fmt.Fprint(p, end)
	return err
}

// separate writes the separator before an element.
func (p *printer) separate(first bool, depth int) {
	switch {
	case p.indent:
		p.WriteByte('\n')
		for range depth {
			p.WriteString("  ")
		}
	case !first:
		p.WriteByte(' ')
	}
}

func (p *printer) text(s string) {
	if p.str {
		p.WriteString(Repr(s))
		return
	}
	p.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			p.WriteByte('\\')
			p.WriteRune(r)
		case r == '\n':
			p.WriteString(`\n`)
		case r == '\r':
			p.WriteString(`\r`)
		case r == '\t':
			p.WriteString(`\t`)
		case r == '\f':
			p.WriteString(`\f`)
		case r == '\b':
			p.WriteString(`\b`)
		case r < ' ' || p.ascii && r >= 0x7f && r < 0x10000:
			fmt.Fprintf(p, `\u%04x`, r)
		case p.ascii && r >= 0x10000:
			r -= 0x10000
			fmt.Fprintf(p, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			p.WriteRune(r)
		}
	}
	p.WriteByte('"')
}
