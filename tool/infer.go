package tool

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaOf returns the schema of the JSON that encoding/json makes of values of t. The library
// infers it from kinds. For types that encoding/json treats differently we give it the schema:
// types that marshal themselves, bytes, maps (nil is null), structs whose fields it would read
// differently, and types that JSON does not have (channels). A type that contains itself may be
// anything there.
func schemaOf(t reflect.Type) (json.RawMessage, error) {
	in := &inferrer{known: known(), entered: map[reflect.Type]bool{}, cyclic: map[reflect.Type]bool{}}
	in.visit(t)
	root := t
	for root.Kind() == reflect.Pointer {
		root = root.Elem()
	}
	if in.cyclic[root] && root.Kind() == reflect.Struct && in.regular(root) {
		t = unnamed(root) // its own fields are described, although root within it may be anything
	}
	s, err := in.schema(t)
	if err != nil {
		return nil, err
	}
	return json.Marshal(s)
}

// inferrer finds the types whose schema has to be given to the library.
type inferrer struct {
	known   map[reflect.Type]*jsonschema.Schema
	entered map[reflect.Type]bool // false once it is left
	cyclic  map[reflect.Type]bool
}

func (in *inferrer) schema(t reflect.Type) (*jsonschema.Schema, error) {
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: in.known})
}

// known returns the schemas of types that can't be inferred from their methods and kinds.
func known() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[time.Time]():     {Type: "string", Format: "date-time"},
		reflect.TypeFor[time.Duration](): {Type: "integer", Description: "nanoseconds"},
		reflect.TypeFor[json.Number]():   {Type: "number"},
	}
}

// anything returns a schema that allows all values. It lists the types, because the library reads a
// pointer to a type without them as null.
func anything() *jsonschema.Schema {
	return &jsonschema.Schema{Types: []string{"null", "boolean", "number", "string", "array", "object"}}
}

func (in *inferrer) visit(t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if in.entered[t] {
		in.cyclic[t] = true
		in.known[t] = anything()
	}
	if _, left := in.entered[t]; left || in.known[t] != nil {
		return
	}
	if s := writesItself(t); s != nil {
		in.known[t] = s
		return
	}
	in.entered[t] = true
	in.parts(t)
	in.entered[t] = false
}

// parts visits what a type is made of.
func (in *inferrer) parts(t reflect.Type) {
	switch t.Kind() {
	case reflect.Map:
		in.visit(t.Elem())
		if elem, err := in.schema(t.Elem()); err == nil {
			in.known[t] = &jsonschema.Schema{Types: []string{"null", "object"}, AdditionalProperties: elem}
		}
	case reflect.Slice:
		if e := t.Elem(); e.Kind() == reflect.Uint8 && writesItself(e) == nil {
			in.known[t] = &jsonschema.Schema{Types: []string{"null", "string"}, ContentEncoding: "base64"}
			return
		}
		in.visit(t.Elem())
	case reflect.Array:
		in.visit(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			in.visit(f.Type)
		}
		if !in.regular(t) {
			in.known[t] = &jsonschema.Schema{Type: "object"}
		}
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		in.known[t] = anything()
	}
}

// writesItself returns the schema of a type with methods that marshal or unmarshal it, else nil.
// With text methods it is a string. With JSON methods it may be anything, and so may a type that
// has a method for one direction only, or has its methods on the pointer, since then it depends on
// the place of a value whether they are used.
func writesItself(t reflect.Type) *jsonschema.Schema {
	p := reflect.PointerTo(t)
	switch {
	case t.Kind() == reflect.Interface:
		return nil
	case p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[json.Unmarshaler]()):
		return anything()
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) && p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return &jsonschema.Schema{Type: "string"}
	case p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return anything()
	}
	return nil
}

// regular reports whether the library reads the fields of a struct like encoding/json. The library
// treats every embedded field as a struct whose fields are promoted and always present, ignores the
// option "string", and does not know which of two fields of the same name wins.
func (in *inferrer) regular(t reflect.Type) bool {
	names := map[string]bool{}
	for _, f := range reflect.VisibleFields(t) {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous:
			if tag != "" || f.Type.Kind() != reflect.Struct || in.known[f.Type] != nil {
				return false
			}
		case !f.IsExported() || tag == "-" && options == "":
		default:
			if tag == "" {
				tag = f.Name
			}
			if names[tag] || strings.Contains(options, "string") || strings.ContainsAny(tag, "\"'`\\") {
				return false
			}
			names[tag] = true
		}
	}
	return true
}

// unnamed returns a struct type with the fields of t and no name.
func unnamed(t reflect.Type) reflect.Type {
	var fields []reflect.StructField
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous {
			fields = append(fields, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
		}
	}
	return reflect.StructOf(fields)
}
