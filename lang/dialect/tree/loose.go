package tree

import (
	"slices"

	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// In data sets the types of tools are only hints: nothing checks them, and correct plans give the
// text "40.7" for a number, a number for text, a matrix for an "object". So a param accepts every
// value that may be meant for its type, and so may be a result. Only the described members of a
// result are certain.

// LooseSchema writes the schema of a param whose type is only a hint. Otherwise it is like Schema.
func LooseSchema(b *dialect.Builder, v Value) {
	b.Object(v.At())
	for k := range v.Members() {
		if k.Name != "type" && k.Name != "items" && k.Name != "properties" {
			keyword(b, k, nil)
		}
	}
	m := typeMember(v)
	types := typesIn(m.Value)
	writeTypes(b, m, loosened(types, meantFor()))
	if isNumeric(types) && !slices.Contains(types, "string") {
		b.Member("pattern", m.Value.All())
		b.String("[0-9]", m.Value.All()) // text that is meant as a number has a digit
	}
	if items := v.Get("items"); items.Is(lang.Object) {
		b.Member("items", v.Member("items").Key)
		LooseSchema(b, items)
	}
	b.Close()
}

// typeMember returns the type of a schema, which may be only the type.
func typeMember(v Value) Member {
	if v.Is(lang.Object) {
		return v.Member("type")
	}
	return Member{"type", v.All(), v}
}

// loosened returns the types of values that may be meant for one of the types; nil is any.
func loosened(types []string, meant map[string][]string) (list []string) {
	for _, t := range types {
		more := meant[t]
		if more == nil {
			return nil
		}
		list = append(list, more...)
	}
	return list
}

// meantFor returns, by type, the types of values that a param accepts. A text and an object accept
// anything: other values can be written as text, and in Python text, lists and numbers are objects
// too. A number accepts everything that Python can calculate with.
func meantFor() map[string][]string {
	return map[string][]string{
		"integer": {"number", "string", "boolean"},
		"number":  {"number", "string", "boolean"},
		"boolean": {"boolean", "string", "number"},
		"array":   {"array", "string", "object"},
		"null":    {"null"},
	}
}

// meantBy returns, by type, the types of values that a result may have.
func meantBy() map[string][]string {
	return map[string][]string{
		"string":  {"string", "number", "boolean"},
		"integer": {"number", "string"},
		"number":  {"number", "string"},
		"boolean": {"boolean", "string"},
		"array":   {"array", "string"},
		"null":    {"null"},
	}
}

// isNumeric reports whether some of the types are numbers, and text is accepted for all of them.
func isNumeric(types []string) bool {
	numeric := func(t string) bool { return t == "integer" || t == "number" }
	return len(loosened(types, meantFor())) > 0 && slices.ContainsFunc(types, numeric) &&
		!slices.Contains(types, "array") && !slices.Contains(types, "boolean")
}

// looseResult writes the schema of a part of a result whose type is only a hint.
func looseResult(b *dialect.Builder, v Value) {
	var list []Member
	for m := range v.Get("properties").Members() {
		list = append(list, m)
	}
	if len(list) > 0 {
		writeMembers(b, v.At(), list, looseResult)
		return
	}
	b.Object(v.At())
	if d := v.Get("description"); d.Is(lang.String) {
		b.Member("description", d.All())
		b.String(d.Str(), d.All())
	}
	m, items := typeMember(v), v.Get("items")
	if items.Get("properties").Is(lang.Object) {
		writeTypes(b, m, []string{"array"})
		b.Member("items", v.Member("items").Key)
		looseResult(b, items)
	} else {
		writeTypes(b, m, loosened(typesIn(m.Value), meantBy()))
	}
	b.Close()
}
