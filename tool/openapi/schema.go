package openapi

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// schemaWriter writes a self-contained schema: the schemas that it refers to in the document are
// copied to $defs, as far as there is room. The furthest ones are replaced by a schema that allows
// anything.
type schemaWriter struct {
	doc     *Document
	only    string            // "readOnly" or "writeOnly": members marked so are left out
	names   map[string]string // reference → name in $defs
	taken   map[string]bool   // names in use
	refs    []string          // references, in the order of their names
	room    int               // the maximum number of schemas
	written int               // the number of schemas so far
	loose   bool              // write only keywords that allow more values if a schema below allows more
}

// newWriter returns a writer with room for this many schemas.
func newWriter(d *Document, only string, room int) *schemaWriter {
	return &schemaWriter{doc: d, only: only, names: map[string]string{}, taken: map[string]bool{}, room: room}
}

// whole returns the schema that write writes, with everything that it refers to. If there is not
// enough room, it calls write again with a loose writer.
func whole(d *Document, only string, room int, write func(w *schemaWriter) string) string {
	w := newWriter(d, only, room)
	text := write(w)
	if w.written <= room {
		return text
	}
	w = newWriter(d, only, room)
	w.loose = true
	return write(w)
}

// roomFor returns how many schemas the params of each of these operations may have, and its result:
// maxSchemas, or fewer if all operations together would have more than most. It estimates that from
// about twenty of them.
func roomFor(ops []*operation, most int) int {
	if len(ops)*2*maxSchemas <= most {
		return maxSchemas
	}
	all, step := 0, max(len(ops)/20, 1)
	for i := 0; i < len(ops); i += step {
		op := ops[i]
		in, out := newWriter(op.doc, "readOnly", maxSchemas), newWriter(op.doc, "writeOnly", maxSchemas)
		op.input(in)
		op.output(out)
		all += step * (min(in.written, maxSchemas) + min(out.written, maxSchemas))
	}
	if all <= most {
		return maxSchemas
	}
	return max(maxSchemas*most/all, 1)
}

// defs writes the schemas that those written so far refer to, as the members of $defs.
func (w *schemaWriter) defs() string {
	var all []string
	for i := 0; i < len(w.refs); i++ { // the loop adds more references
		all = append(all, quote(w.names[w.refs[i]])+":"+w.schema(w.doc.at(w.refs[i])))
	}
	return strings.Join(all, ",")
}

// ref returns the name in $defs of the schema that a reference leads to.
func (w *schemaWriter) ref(ref string) string {
	if name, ok := w.names[ref]; ok {
		return name
	}
	name := strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(ref, "#/components/schemas/"), "#/"), "/", ".")
	for w.taken[name] {
		name += "_"
	}
	w.names[ref], w.taken[name] = name, true
	w.refs = append(w.refs, ref)
	return name
}

// schema returns a schema of the document as JSON Schema.
func (w *schemaWriter) schema(v gjson.Result) string {
	if !v.Exists() {
		return "true"
	}
	if !v.IsObject() {
		return v.Raw
	}
	if w.written++; w.written > w.room {
		return "true"
	}
	text := object(v, func(key, value gjson.Result) string { return w.keyword(v, key.Str, value) })
	if one := v.Get("oneOf"); w.loose && one.IsArray() && !v.Get("anyOf").Exists() {
		text = strings.Replace(text[:len(text)-1]+`,"anyOf":`+list(one, w.schema)+"}", "{,", "{", 1)
	}
	if v.Get("nullable").Type == gjson.True && !v.Get("type").Exists() && slices.ContainsFunc(referring[:], func(k string) bool { return v.Get(k).Exists() }) {
		return `{"anyOf":[{"type":"null"},` + text + `]}`
	}
	return text
}

// referring lists keywords beside which authors mean nullable to count, although in OpenAPI it
// counts only beside a type.
var referring = [...]string{"$ref", "allOf", "anyOf", "oneOf"}

// strict lists keywords that may reject a value because a schema below allows more.
var strict = [...]string{"oneOf", "not", "if", "then", "else", "contains", "minContains", "maxContains", "unevaluatedProperties", "unevaluatedItems"}

// keyword returns a member of a schema; "" leaves it out.
func (w *schemaWriter) keyword(schema gjson.Result, name string, v gjson.Result) string {
	if w.loose && slices.Contains(strict[:], name) {
		return ""
	}
	switch name {
	case "$ref":
		switch {
		case w.doc.at(v.Str).Exists():
		case strings.HasPrefix(v.Str, "#") && !strings.HasPrefix(v.Str, "#/"): // an anchor, or the document
			return ""
		default: // it leads nowhere here, too, which is then an error of the definition
			return v.Raw
		}
		return quote("#/$defs/" + inFragment.Replace(w.ref(v.Str)))
	case "example", "examples", "xml", "externalDocs", "discriminator", "$schema", "$id", "$anchor", "$dynamicAnchor":
		return ""
	case "enum", "const", "default", "title", "description", "type":
		return v.Raw
	case "properties", "patternProperties", "$defs", "dependentSchemas":
		return object(v, func(_, s gjson.Result) string { return w.schema(s) })
	case "required":
		return w.required(schema, v)
	case "exclusiveMinimum", "exclusiveMaximum":
		if v.IsBool() { // in 3.0 it applies to the bound beside it
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

// required returns the names of the members that must be there in this direction.
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

// object returns an object whose values are the results of write; those that are "" are left out.
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

// inFragment escapes a name for a JSON Pointer in the fragment of a URL.
var inFragment = strings.NewReplacer("~", "~0", "/", "~1", "%", "%25")
