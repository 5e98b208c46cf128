package flux

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/plc-lang/plc/internal/python"
)

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
		b.WriteString(python.Repr(t))
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
