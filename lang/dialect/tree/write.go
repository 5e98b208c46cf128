package tree

import (
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// Found is a reference that was found in a string.
type Found struct {
	From, To int // in the string's Str
	Part     func(at diag.Span) dialect.Part
}

// Parts returns the literal parts and the references of a string, which are in order.
func Parts(v Value, found []Found) (parts []dialect.Part) {
	inside := v.Insides()
	text, at := v.Str(), 0
	literal := func(to int) {
		if to > at {
			parts = append(parts, dialect.Literal(text[at:to], inside(at, to)))
		}
	}
	for _, f := range found {
		literal(f.From)
		parts = append(parts, f.Part(inside(f.From, f.To)))
		at = f.To
	}
	literal(len(text))
	return parts
}

// Write writes a value; find finds the references in its strings, and may be nil.
func Write(b *dialect.Builder, v Value, find func(Value) []Found) {
	switch v.Kind() {
	case lang.Object:
		b.Object(v.At())
		for m := range v.Members() {
			b.Member(m.Name, m.Key)
			Write(b, m.Value, find)
		}
		b.Close()
	case lang.Array:
		b.List(v.At())
		for _, e := range v.Elements() {
			Write(b, e, find)
		}
		b.Close()
	case lang.String:
		var found []Found
		if find != nil {
			found = find(v)
		}
		b.Parts(v.At(), Parts(v, found)...)
	default:
		Scalar(b, v)
	}
}

// Scalar writes a number, true, false or null.
func Scalar(b *dialect.Builder, v Value) {
	text := string(v.AppendJSON(nil))
	if at := v.At(); b.Text(at) == text {
		b.Copy(at)
	} else {
		b.JSON(text, at)
	}
}

// Words writes a value outside the params of calls, for example one for people. There, strings are
// not read for references, so daggers need no escapes.
func Words(b *dialect.Builder, v Value) {
	switch v.Kind() {
	case lang.Object:
		b.Object(v.At())
		for m := range v.Members() {
			b.Member(m.Name, m.Key)
			Words(b, m.Value)
		}
		b.Close()
	case lang.Array:
		b.List(v.At())
		for _, e := range v.Elements() {
			Words(b, e)
		}
		b.Close()
	case lang.String:
		b.String(v.Str(), v.All())
	default:
		Scalar(b, v)
	}
}

// Params writes the members of an object as params.
func Params(b *dialect.Builder, v Value, find func(Value) []Found) {
	for m := range v.Members() {
		if Param(b, m.Name, m.Key) {
			Write(b, m.Value, find)
		}
	}
}

// Param writes the name of a param. If no param can have this name, it reports that and returns
// false.
func Param(b *dialect.Builder, name string, at diag.Span) bool {
	if strings.HasPrefix(name, "_") {
		b.Errorf(at, diag.BadNotation, "the name of a param does not begin with _, and %q does", name)
		return false
	}
	b.Member(name, at)
	return true
}

// Strings returns the strings in a value, at any depth, but not the names of members.
func Strings(v Value, yield func(Value)) {
	switch v.Kind() {
	case lang.Object:
		for m := range v.Members() {
			Strings(m.Value, yield)
		}
	case lang.Array:
		for _, e := range v.Elements() {
			Strings(e, yield)
		}
	case lang.String:
		yield(v)
	}
}

// Names writes a list of strings.
func Names(b *dialect.Builder, names []Value) {
	b.List(Join(names))
	for _, n := range names {
		b.String(n.Str(), n.All())
	}
	b.Close()
}

// Join returns the span around values.
func Join(values []Value) (span diag.Span) {
	for _, v := range values {
		span = span.Join(v.At())
	}
	return span
}
