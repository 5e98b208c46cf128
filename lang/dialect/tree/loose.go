package tree

import (
	"slices"

	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// The types of a data set's tools are hints: nothing there checks them, and sound plans give
// the text "40.7" where a number is asked for, a number for text, a matrix for an "object".
// So a param takes all that can be meant for its type, and a result may be that. What is
// known for sure is the members of a result that are described.

// LooseSchema writes the schema of a param whose type is a hint, in the words of other
// notations, like Schema.
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
		b.String("[0-9]", m.Value.All()) // text that may be a number has a digit
	}
	if items := v.Get("items"); items.Is(lang.Object) {
		b.Member("items", v.Member("items").Key)
		LooseSchema(b, items)
	}
	b.Close()
}

// typeMember returns the type of a schema, which may be nothing but that.
func typeMember(v Value) Member {
	if v.Is(lang.Object) {
		return v.Member("type")
	}
	return Member{"type", v.All(), v}
}

// loosened returns the types of what may be meant for one of the types; nil is any.
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

// meantFor returns the types of what a param of a type takes, from a literal and from a result
// alike. A text and an object take anything: what is no text can be written as one, and objects of
// Python are text, lists and numbers too. A number takes what Python counts with.
func meantFor() map[string][]string {
	return map[string][]string{
		"integer": {"number", "string", "boolean"},
		"number":  {"number", "string", "boolean"},
		"boolean": {"boolean", "string", "number"},
		"array":   {"array", "string", "object"},
		"null":    {"null"},
	}
}

// meantBy returns the types of what a result of a type may be.
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

// isNumeric reports whether some of the types are those of numbers, and all of those that
// text is taken for.
func isNumeric(types []string) bool {
	numeric := func(t string) bool { return t == "integer" || t == "number" }
	return len(loosened(types, meantFor())) > 0 && slices.ContainsFunc(types, numeric) &&
		!slices.Contains(types, "array") && !slices.Contains(types, "boolean")
}

// looseResult writes the schema of a part of a result whose type is a hint.
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
