package tree

import (
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// Definition is the definition of a tool in another notation.
type Definition struct {
	At          diag.Span
	Name        Value
	Description Value
	Params      []Value // each a map from names to schemas, or a schema of an object
	Required    Value   // the names of the params that must be given; zero if the params themselves say so
	Results     Value   // like one of Params
	Effects     string  // as JSON, "" for none
	// Needed says that a param must be given unless it says otherwise.
	Needed bool
	// Loose says that types are only hints: a param accepts every value that may be meant for its
	// type, and a result may have any of these types.
	Loose bool
}

// Write writes the definition as a member of the map of tools. If params are listed, the tool
// accepts no others.
func (d *Definition) Write(b *dialect.Builder) {
	b.Member(d.Name.Str(), d.Name.All())
	b.Object(d.At)
	if d.Description.Is(lang.String) {
		b.Member("description", d.Description.All())
		b.String(d.Description.Str(), d.Description.All())
	}
	if d.Effects != "" {
		b.Member("effects", d.At)
		b.JSON(d.Effects, d.At)
	}
	b.Member("properties", d.At)
	b.Object(d.At)
	params, required := d.params()
	for _, m := range params {
		switch {
		case !Param(b, m.Name, m.Key):
		case d.Loose:
			LooseSchema(b, m.Value)
		default:
			Schema(b, m.Value)
		}
	}
	if !d.Results.IsZero() {
		b.Member("_output", d.Results.At())
		Results(b, d.Results, d.Loose)
	}
	b.Close()
	writeRequired(b, required, d.At)
	if len(d.Params) > 0 && !slices.ContainsFunc(d.Params, isOpen) {
		Closed(b, d.Params[0].At())
	}
	b.Close()
}

// params returns the params, and the names of those that must be given. If two have the same name,
// the first counts.
func (d *Definition) params() (list []Member, required []string) {
	for _, v := range d.Params {
		more, names := fields(v)
		for _, m := range more {
			if !slices.ContainsFunc(list, func(o Member) bool { return o.Name == m.Name }) {
				list = append(list, m)
			}
		}
		required = append(required, names...)
	}
	switch {
	case d.Required.Is(lang.Array):
		required = d.Required.strings()
	case d.Needed && len(required) == 0 && !speaksOfDefault(d.Description.Str()):
		required = needed(list)
	}
	return list, required
}

// isOpen reports whether the schema of params allows others than it lists.
func isOpen(v Value) bool {
	return !v.Is(lang.Object) || v.Get("additionalProperties").Kind() == lang.True
}

// Closed writes that an object has only the members that its schema lists.
func Closed(b *dialect.Builder, at diag.Span) {
	b.Member("additionalProperties", at)
	b.JSON("false", at)
}

// writeRequired writes the names of members that have to be there.
func writeRequired(b *dialect.Builder, names []string, at diag.Span) {
	if len(names) == 0 {
		return
	}
	b.Member("required", at)
	b.List(at)
	for _, name := range names {
		b.String(name, at)
	}
	b.Close()
}

func (v Value) strings() (list []string) {
	for _, e := range v.Elements() {
		list = append(list, e.Str())
	}
	return list
}

// fields returns the members that a map of schemas, or the schema of an object, describes,
// and those of them that are required.
func fields(v Value) (list []Member, required []string) {
	properties := v
	if isSchema(v) {
		properties, required = v.Get("properties"), v.Get("required").strings()
	}
	for m := range properties.Members() {
		list = append(list, m)
		if m.Value.Get("required").Kind() == lang.True {
			required = append(required, m.Name)
		}
	}
	return list, required
}

// isSchema reports whether an object is the schema of an object, rather than a map of schemas, one
// of which is named properties: it has a type, or only properties that are not themselves the
// schema of one member.
func isSchema(v Value) bool {
	p := v.Get("properties")
	if !p.Is(lang.Object) {
		return false
	}
	return v.Get("type").Is(lang.String) || v.Len() == 1 && !p.Get("type").Is(lang.String) && !p.Get("description").Is(lang.String)
}

// needed returns the params that must be given, in a notation in which each param may say so: the
// params that say that they are required. If no param says whether it is required, it returns those
// that are not described as optional and have no default; and none if defaults are the only
// information.
func needed(list []Member) (names []string) {
	said, defaults := false, false
	for _, m := range list {
		if m.Value.Has("required") {
			return nil // the members say whether they are required
		}
		said = said || m.Value.Has("optional")
		defaults = defaults || m.Value.Has("default") || m.Value.Has("default_value")
	}
	for _, m := range list {
		if (said || !defaults) && m.Value.Get("optional").Kind() != lang.True && !isOptional(m.Value) {
			names = append(names, m.Name)
		}
	}
	return names
}

// isOptional reports whether a param has a default, or a type or description that says it may be
// left out.
func isOptional(v Value) bool {
	if v.Has("default") || v.Has("default_value") {
		return true
	}
	return speaksOfDefault(v.Get("type").Str() + " " + v.Get("description").Str())
}

// speaksOfDefault reports whether a description says that something may be left out.
func speaksOfDefault(words string) bool {
	words = strings.ToLower(words)
	return strings.Contains(words, "optional") || strings.Contains(words, "default")
}

// Results writes the schema of a tool's result: an object that has all described members, and
// perhaps others. With loose, types are only hints.
func Results(b *dialect.Builder, v Value, loose bool) {
	write := Schema
	if loose {
		write = looseResult
	}
	if list, ok := resultFields(v); ok {
		writeMembers(b, v.At(), list, write)
		return
	}
	write(b, v)
}

// writeMembers writes the schema of an object that has all of the members.
func writeMembers(b *dialect.Builder, at diag.Span, list []Member, write func(*dialect.Builder, Value)) {
	b.Object(at)
	b.Member("type", at)
	b.String("object", at)
	b.Member("properties", at)
	b.Object(at)
	names := make([]string, len(list))
	for i, m := range list {
		names[i] = m.Name
		b.Member(m.Name, m.Key)
		write(b, m.Value)
	}
	b.Close()
	writeRequired(b, names, at)
	b.Close()
}

// resultFields returns the members of a result; false if it is not an object with members, or they
// are not described.
func resultFields(v Value) (list []Member, ok bool) {
	list, _ = fields(v)
	return list, v.Is(lang.Object) && (!v.Has("type") || isSchema(v) || v.Get("type").Is(lang.Object))
}

// ResultNames returns the names of the members of a result that are described.
func ResultNames(v Value) (names []string) {
	list, ok := resultFields(v)
	for _, m := range list {
		if ok {
			names = append(names, m.Name)
		}
	}
	return names
}

// Schema writes a schema of another notation as JSON Schema. Its types may also be those of Python
// or words of prose; an unknown type allows anything.
func Schema(b *dialect.Builder, v Value) {
	if !v.Is(lang.Object) {
		b.Object(v.At())
		if v.Is(lang.String) {
			writeType(b, Member{"type", v.All(), v})
		}
		b.Close()
		return
	}
	b.Object(v.At())
	properties, required := fields(v)
	for m := range v.Members() {
		keyword(b, m, properties)
	}
	if !v.Get("properties").Is(lang.Object) {
		required = nil
	}
	writeRequired(b, required, v.At())
	b.Close()
}

// keyword writes a member of a schema if it affects values or is for people.
func keyword(b *dialect.Builder, m Member, properties []Member) {
	switch m.Name {
	case "type":
		writeType(b, m)
	case "description", "desc":
		if m.Value.Is(lang.String) {
			b.Member("description", m.Key)
			b.String(m.Value.Str(), m.Value.All())
		}
	case "enum", "allowed_values", "possible_values":
		if m.Value.Is(lang.Array) && m.Value.Len() > 0 {
			b.Member("enum", m.Key)
			Words(b, m.Value)
		}
	case "items":
		if m.Value.Is(lang.Object) {
			b.Member("items", m.Key)
			Schema(b, m.Value)
		}
	case "nullable":
		b.Member("nullable", m.Key)
		Words(b, m.Value)
	case "properties":
		if m.Value.Is(lang.Object) {
			b.Member("properties", m.Key)
			b.Object(m.Value.At())
			for _, p := range properties {
				b.Member(p.Name, p.Key)
				Schema(b, p.Value)
			}
			b.Close()
		}
	}
}

// writeType writes the type of a schema, unless it is any.
func writeType(b *dialect.Builder, m Member) {
	writeTypes(b, m, typesIn(m.Value))
}

// typesIn returns the JSON types for a word, or a list of words; nil is any.
func typesIn(v Value) (types []string) {
	words := []string{v.Str()}
	if v.Is(lang.Array) {
		words = v.strings()
	}
	for _, w := range words {
		t := typesOf(w)
		if t == nil {
			return nil
		}
		types = append(types, t...)
	}
	return types
}

// writeTypes writes the types of a schema, unless there are none.
func writeTypes(b *dialect.Builder, m Member, types []string) {
	slices.Sort(types)
	types = slices.Compact(types)
	if len(types) == 0 {
		return
	}
	b.Member("type", m.Key)
	if len(types) == 1 {
		b.String(types[0], m.Value.All())
		return
	}
	b.List(m.Value.At())
	for _, t := range types {
		b.String(t, m.Value.All())
	}
	b.Close()
}

// typesOf returns the JSON types for the name of a type; nil is any.
func typesOf(word string) (types []string) {
	word = strings.ToLower(word)
	for part := range strings.FieldsFuncSeq(word, func(r rune) bool { return r == '|' || r == ',' }) {
		for alternative := range strings.SplitSeq(part, " or ") {
			t := typeOf(strings.TrimSpace(alternative))
			if t == "" {
				return nil
			}
			types = append(types, t)
		}
	}
	return types
}

func typeOf(word string) string {
	word, _, _ = strings.Cut(word, "[")
	switch strings.TrimSpace(word) {
	case "string", "str", "text", "date", "time", "datetime", "url", "email":
		return "string"
	case "int", "integer", "long":
		return "integer"
	case "number", "float", "double", "decimal":
		return "number"
	case "bool", "boolean":
		return "boolean"
	case "list", "array", "tuple", "set":
		return "array"
	case "dict", "object", "map", "json":
		return "object"
	case "null", "none", "nonetype":
		return "null"
	}
	return ""
}
