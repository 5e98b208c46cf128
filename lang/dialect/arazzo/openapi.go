package arazzo

import (
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// catalogue reads the operations of an OpenAPI document as tools: the params are the
// parameters, and body; the result is the body of the first good response. A GET, HEAD
// or OPTIONS only reads. References lead within the document.
func catalogue(b *dialect.Builder) {
	root, ok := tree.ReadAny(b)
	if !ok {
		return
	}
	if !root.Get("paths").Is(lang.Object) {
		b.Errorf(root.At(), diag.BadNotation, "an OpenAPI document is an object with paths")
		return
	}
	b.Object(root.At())
	b.Member("tools", root.At())
	b.Object(root.At())
	seen := map[string]bool{}
	defs := &definitions{names: map[string]string{}, taken: map[string]bool{}, at: map[string]tree.Value{}}
	for kind := range root.Get("components").Members() {
		for m := range kind.Value.Members() {
			defs.at["#/components/"+kind.Name+"/"+m.Name] = m.Value
		}
	}
	schemas := &schemaWriter{Builder: b, root: root, defs: defs}
	for path := range root.Get("paths").Members() {
		item := follow(root, path.Value)
		for m := range item.Members() {
			if isMethod(m.Name) {
				op := operationTool{b, root, schemas, path.Name, m.Name, item, m.Value}
				op.write(m, seen)
			}
		}
	}
	b.Close()
	schemas.writeDefinitions(root.At())
	b.Close()
}

func isMethod(name string) bool {
	switch name {
	case "get", "put", "post", "delete", "options", "head", "patch", "trace":
		return true
	}
	return false
}

// operationTool is an operation of an API.
type operationTool struct {
	*dialect.Builder
	root         tree.Value
	schemas      *schemaWriter
	path, method string
	item, op     tree.Value
}

func (t *operationTool) write(m tree.Member, seen map[string]bool) {
	path := strings.ToUpper(t.method) + " " + t.path
	name, at := t.op.Get("operationId").Str(), t.op.Get("operationId").All()
	if name == "" {
		name, at = path, m.Key
	}
	if seen[name] {
		t.Errorf(at, diag.DuplicateMember, "two operations are named %q", name)
		return
	}
	seen[name] = true
	t.Member(name, at)
	t.Object(t.op.At())
	tree.Prose(t.Builder, "description", t.op.First("summary", "description"))
	if name != path {
		t.Member("x-operation", m.Key) // a name by which plans may call it as well
		t.String(path, m.Key)
	}
	if t.method == "get" || t.method == "head" || t.method == "options" {
		t.Member("effects", m.Key)
		t.JSON(`{"readOnly":true}`, m.Key)
	} else {
		t.Member("effects", m.Key)
		t.JSON(`{"readOnly":false}`, m.Key)
	}
	t.properties(m.Key)
	t.Close()
}

// properties writes the params and the result.
func (t *operationTool) properties(at diag.Span) {
	var required []string
	t.Member("properties", t.op.At())
	t.Object(t.op.At())
	names := &paramNames{taken: map[string]bool{}}
	seen := map[string]bool{}
	for _, list := range []tree.Value{t.op.Get("parameters"), t.item.Get("parameters")} {
		for _, p := range list.Elements() {
			p = follow(t.root, p)
			name, in := p.Get("name"), p.Get("in").Str()
			if key := in + " " + name.Str(); name.Str() == "" || seen[key] {
				continue
			} else {
				seen[key] = true
			}
			param := names.free(name.Str(), in)
			t.Member(param, name.All())
			t.parameter(p)
			if p.Get("required").Kind() == lang.True {
				required = append(required, param)
			}
		}
	}
	body := follow(t.root, t.op.Get("requestBody"))
	if s := content(body); !s.IsZero() {
		param := names.body()
		t.Member(param, body.At())
		t.schemas.write(s, 0)
		if body.Get("required").Kind() == lang.True {
			required = append(required, param)
		}
	}
	if s := t.result(); !s.IsZero() {
		t.Member("_output", s.At())
		t.schemas.write(s, 0)
	}
	t.Close()
	if len(required) > 0 {
		t.Member("required", at)
		t.List(at)
		for _, name := range required {
			t.String(name, at)
		}
		t.Close()
	}
}

// parameter writes the schema of a parameter; in OpenAPI 2 that is the parameter itself.
func (t *operationTool) parameter(p tree.Value) {
	switch s := p.Get("schema"); {
	case !s.IsZero():
		t.schemas.write(s, 0)
	case !content(p).IsZero():
		t.schemas.write(content(p), 0)
	default:
		t.Object(p.At())
		if m := p.Member("type"); m.Value.Is(lang.String) && m.Value.Str() != "file" {
			t.Member("type", m.Key)
			t.String(m.Value.Str(), m.Value.All())
		}
		t.Close()
	}
}

// result returns the schema of the first good response.
func (t *operationTool) result() tree.Value {
	for m := range t.op.Get("responses").Members() {
		if strings.HasPrefix(m.Name, "2") {
			r := follow(t.root, m.Value)
			if s := content(r); !s.IsZero() {
				return s
			}
			return r.Get("schema")
		}
	}
	return tree.Value{}
}

// content returns the schema of a body in JSON, else in the first form that it has.
func content(v tree.Value) (first tree.Value) {
	for m := range v.Get("content").Members() {
		s := m.Value.Get("schema")
		if strings.Contains(m.Name, "json") {
			return s
		}
		if first.IsZero() {
			first = s
		}
	}
	return first
}

// maxSchema is the maximum depth at which references in schemas are replaced by what they refer to.
// What refers to itself is any value, from there on.
const maxSchema = 8

// maxSchemas is the maximum number of values of all schemas of a document, references replaced:
// beyond it, any value is accepted.
const maxSchemas = 2_000_000

// schemaWriter writes the schemas of a document.
type schemaWriter struct {
	*dialect.Builder
	root    tree.Value
	written int          // values
	defs    *definitions // where what is referred to goes; nil puts it in the place of the reference
}

// definitions are the schemas that the operations refer to.
type definitions struct {
	refs  []string          // in the order in which they were found
	names map[string]string // in $defs, by reference
	taken map[string]bool
	at    map[string]tree.Value // the components of the document, by reference
}

// lookup returns what a reference leads to. Documents have thousands of them.
func (d *definitions) lookup(root tree.Value, ref string) tree.Value {
	if v, ok := d.at[ref]; ok {
		return v
	}
	return lookup(root, ref)
}

// name returns the name of what a reference leads to.
func (d *definitions) name(ref string) string {
	if name, ok := d.names[ref]; ok {
		return name
	}
	name := ref[strings.LastIndexByte(ref, '/')+1:]
	for d.taken[name] {
		name += "_"
	}
	d.names[ref], d.taken[name] = name, true
	d.refs = append(d.refs, ref)
	return name
}

// writeDefinitions writes what was referred to, and what that refers to, once for all operations.
func (w *schemaWriter) writeDefinitions(at diag.Span) {
	d := w.defs
	if len(d.refs) > 0 {
		w.Member("$defs", at)
		w.Object(at)
		for i := 0; i < len(d.refs); i++ {
			w.Member(d.names[d.refs[i]], at)
			w.write(d.lookup(w.root, d.refs[i]), 0)
		}
		w.Close()
	}
	w.defs = nil
}

// reference writes a reference to what stands in $defs; false if that is not possible.
func (w *schemaWriter) reference(v tree.Value) bool {
	ref := v.Get("$ref").Str()
	if w.defs == nil || !strings.HasPrefix(ref, "#/") || w.defs.lookup(w.root, ref).IsZero() {
		return false
	}
	name := w.defs.name(ref)
	w.Object(v.At())
	w.Member("$ref", v.At())
	w.String("#/$defs/"+strings.NewReplacer("~", "~0", "/", "~1", "%", "%25").Replace(name), v.At())
	w.Close()
	return true
}

// write writes a schema of a document. What it refers to is a definition, or put in its place.
func (w *schemaWriter) write(v tree.Value, depth int) {
	b := w.Builder
	w.written++
	if v.Get("$ref").Is(lang.String) {
		if w.reference(v) {
			return
		}
		depth++
		if v = follow(w.root, v); w.defs != nil {
			v = tree.Value{} // it leads to nothing
		}
	}
	if depth > maxSchema || w.written > maxSchemas || v.IsZero() {
		b.JSON("{}", v.At())
		return
	}
	switch v.Kind() {
	case lang.Object:
		b.Object(v.At())
		for m := range v.Members() {
			w.keyword(v, m, depth)
		}
		b.Close()
	case lang.Array:
		b.List(v.At())
		for _, e := range v.Elements() {
			w.write(e, depth)
		}
		b.Close()
	default:
		tree.Words(b, v)
	}
}

// keyword writes a member of a schema, unless it says nothing of values.
func (w *schemaWriter) keyword(schema tree.Value, m tree.Member, depth int) {
	b := w.Builder
	switch m.Name {
	case "exclusiveMinimum", "exclusiveMaximum":
		switch m.Value.Kind() {
		case lang.True: // of OpenAPI 3.0: the bound that stands beside it
			m.Value = schema.Get(strings.ToLower(strings.TrimPrefix(m.Name, "exclusive")))
			if !m.Value.Is(lang.NumberValue) {
				return
			}
		case lang.False:
			return
		}
	case "example", "examples", "xml", "externalDocs", "discriminator", "deprecated", "readOnly", "writeOnly":
		return
	case "enum", "const", "default":
		b.Member(m.Name, m.Key)
		tree.Words(b, m.Value)
		return
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		if m.Value.Is(lang.Object) {
			b.Member(m.Name, m.Key)
			b.Object(m.Value.At())
			for p := range m.Value.Members() {
				b.Member(p.Name, p.Key)
				w.write(p.Value, depth)
			}
			b.Close()
		}
		return
	}
	if strings.HasPrefix(m.Name, "x-") || m.Name == "required" && !m.Value.Is(lang.Array) {
		return
	}
	b.Member(m.Name, m.Key)
	w.write(m.Value, depth)
}
