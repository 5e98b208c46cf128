package openapi

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// schemaWriter writes a schema that stands by itself: what it refers to in the document comes
// along, under $defs.
type schemaWriter struct {
	doc   *Document
	only  string            // "readOnly" or "writeOnly": members that are that are not asked for
	names map[string]string // reference → name in $defs
	refs  []string          // references, in the order of their names
}

func newSchemaWriter(d *Document, only string) *schemaWriter {
	return &schemaWriter{doc: d, only: only, names: map[string]string{}}
}

// defs writes what the schemas written so far refer to, as the members of $defs.
func (w *schemaWriter) defs() string {
	var all []string
	for i := 0; i < len(w.refs); i++ { // more come while they are written
		all = append(all, quote(w.names[w.refs[i]])+":"+w.schema(w.doc.at(w.refs[i])))
	}
	return strings.Join(all, ",")
}

// ref is the name in $defs of what a reference leads to.
func (w *schemaWriter) ref(ref string) string {
	if name, ok := w.names[ref]; ok {
		return name
	}
	name := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(ref, "#/components/schemas/"), "#/"), "/", ".")
	for slices.ContainsFunc(w.refs, func(r string) bool { return w.names[r] == name }) {
		name += "_"
	}
	w.names[ref] = name
	w.refs = append(w.refs, ref)
	return name
}

// schema is a schema as JSON Schema has it.
func (w *schemaWriter) schema(v gjson.Result) string {
	if len(w.refs) > maxSchemas || !v.Exists() {
		return "true"
	}
	if !v.IsObject() {
		return v.Raw
	}
	return object(v, func(key, value gjson.Result) string { return w.keyword(v, key.Str, value) })
}

// keyword is a member of a schema; "" leaves it out.
func (w *schemaWriter) keyword(schema gjson.Result, name string, v gjson.Result) string {
	switch name {
	case "$ref":
		if !w.doc.at(v.Str).Exists() {
			return ""
		}
		return quote("#/$defs/" + strings.NewReplacer("~", "~0", "/", "~1", "%", "%25").Replace(w.ref(v.Str)))
	case "example", "examples", "xml", "externalDocs", "discriminator", "$schema", "$id", "$anchor", "$dynamicAnchor":
		return ""
	case "enum", "const", "default", "title", "description", "type":
		return v.Raw
	case "properties", "patternProperties", "$defs", "dependentSchemas":
		return object(v, func(_, s gjson.Result) string { return w.schema(s) })
	case "required":
		return w.required(schema, v)
	case "exclusiveMinimum", "exclusiveMaximum":
		if v.IsBool() { // of 3.0: the bound that stands beside it
			bound := schema.Get(map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}[name])
			if !v.Bool() {
				return ""
			}
			return bound.Raw
		}
	}
	switch {
	case v.IsArray():
		return list(v, w.schema)
	case v.IsObject():
		return w.schema(v)
	}
	return v.Raw
}

// required are the names of the members that must be there in this direction.
func (w *schemaWriter) required(schema, v gjson.Result) string {
	var names []string
	v.ForEach(func(_, name gjson.Result) bool {
		if p := w.doc.follow(member(schema.Get("properties"), name.Str)); !p.Get(w.only).Bool() {
			names = append(names, name.Raw)
		}
		return true
	})
	return "[" + strings.Join(names, ",") + "]"
}

// object is an object with its values written anew; those that are "" are left out.
func object(v gjson.Result, write func(key, value gjson.Result) string) string {
	var members []string
	v.ForEach(func(key, value gjson.Result) bool {
		if text := write(key, value); text != "" {
			members = append(members, key.Raw+":"+text)
		}
		return true
	})
	return "{" + strings.Join(members, ",") + "}"
}

func list(v gjson.Result, write func(gjson.Result) string) string {
	var elements []string
	v.ForEach(func(_, e gjson.Result) bool {
		elements = append(elements, write(e))
		return true
	})
	return "[" + strings.Join(elements, ",") + "]"
}

func quote(s string) string { return string(gjson.AppendJSONString(nil, s)) }
