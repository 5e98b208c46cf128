package loop

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/spell"
)

// ReadOptions decodes the options of a style, a JSON object, into a struct. It returns an error for
// an unknown option, which lists the known ones, for an unknown member of an object at any depth,
// and for a value of the wrong kind.
func ReadOptions(raw []byte, into any) error { return readStrictly("option", raw, into) }

// ReadObject decodes an object that isn't options, with the same checks as ReadOptions.
func ReadObject(raw []byte, into any) error { return readStrictly("member", raw, into) }

func readStrictly(member string, raw []byte, into any) error {
	if err := jsonscan.Check(raw, jsonscan.Limits{}); err != nil {
		return err
	}
	if v := gjson.ParseBytes(raw); !v.IsObject() {
		return fmt.Errorf("this is %s, and has to be an object", kindOf(v))
	} else if err := (strict{member}).fits("", v, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

// NoOption returns the error for an unknown option.
func NoOption(name string, known []string) error { return unknown("option", name, "", known) }

// NoMember returns the error for an unknown member of an object. at says where the object is.
func NoMember(name, at string, known []string) error { return unknown("member", name, at, known) }

func unknown(what, name, at string, known []string) error {
	said := fmt.Sprintf("there is no %s %q", what, name)
	if at != "" {
		said += fmt.Sprintf(" in %q", at)
	}
	near, ok := spell.Nearest(name, slices.Values(known))
	if !ok {
		return fmt.Errorf("%s; there are %s", said, strings.Join(known, ", "))
	}
	return fmt.Errorf("%s; did you mean %q? There are %s", said, near, strings.Join(known, ", "))
}

// strict checks JSON against Go types.
type strict struct {
	member string // what messages call the top-level members
}

// fits returns an error if a part of a JSON value can't be decoded into a Go type. at is the path
// of the value; "" means the whole.
func (s strict) fits(at string, v gjson.Result, t reflect.Type) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case v.Type == gjson.Null || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return nil
	case v.IsObject() && t.Kind() == reflect.Struct:
		return s.object(at, v, t)
	case v.IsObject() && t.Kind() == reflect.Map, v.IsArray() && t.Kind() == reflect.Slice:
		return s.elements(at, v, t.Elem())
	case v.IsObject() || v.IsArray() || json.Unmarshal([]byte(v.Raw), reflect.New(t).Interface()) != nil:
		return fmt.Errorf("%q is %s, and has to be %s", at, kindOf(v), wanted(t))
	}
	return nil
}

// object returns an error if a member of an object has no field in a struct or doesn't fit its
// field.
func (s strict) object(at string, v gjson.Result, t reflect.Type) (err error) {
	fields := fieldsOf(t)
	v.ForEach(func(key, value gjson.Result) bool {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key.Str })
		switch {
		case i >= 0:
			err = s.fits(join(at, key.Str), value, fields[i].typ)
		case at == "":
			err = unknown(s.member, key.Str, "", namesOf(fields))
		default:
			err = NoMember(key.Str, at, namesOf(fields))
		}
		return err == nil
	})
	return err
}

// elements returns an error if an element of a list, or a member of an object, does not fit the
// element type of a slice or map.
func (s strict) elements(at string, v gjson.Result, t reflect.Type) (err error) {
	i := -1
	v.ForEach(func(key, value gjson.Result) bool {
		if i++; v.IsArray() {
			err = s.fits(fmt.Sprintf("%s[%d]", at, i), value, t)
		} else {
			err = s.fits(join(at, key.Str), value, t)
		}
		return err == nil
	})
	return err
}

func join(at, name string) string { return strings.TrimPrefix(at+"."+name, ".") }

// kindOf names the kind of a value.
func kindOf(v gjson.Result) string {
	switch {
	case v.IsObject():
		return "an object"
	case v.IsArray():
		return "a list"
	case v.Type == gjson.String:
		return "a string"
	case v.Type == gjson.Null:
		return "null"
	}
	return v.Raw
}

// wanted describes the JSON form of a type for errors: "an object with a, b".
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct:
		return "an object with " + strings.Join(namesOf(fieldsOf(t)), ", ")
	case reflect.Map:
		return "an object"
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return "an integer"
}

// field describes a member of a struct's JSON form.
type field struct {
	name string
	typ  reflect.Type
}

// fieldsOf returns the members of a struct's JSON form, sorted by name.
func fieldsOf(t reflect.Type) (all []field) {
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			all = append(all, field{name, f.Type})
		}
	}
	slices.SortFunc(all, func(a, b field) int { return strings.Compare(a.name, b.name) })
	return all
}

func namesOf(fields []field) (names []string) {
	for _, f := range fields {
		names = append(names, f.name)
	}
	return names
}
