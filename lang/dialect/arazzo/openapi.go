package arazzo

import (
	"bytes"
	"mime"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// catalogue reads the operations of an OpenAPI document as tools, which take and give the same as
// those that tool/openapi makes: the params are the parameters, and body; the result is what all
// good responses say. References lead within the document. The $defs, which are there in any case,
// have each definition read once it is used: see tool/file.
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
	defs := &definitions{
		names: map[definition]string{}, taken: map[string]bool{}, at: map[string]tree.Value{},
		directed: bytes.Contains(b.File.Text, []byte("readOnly")) || bytes.Contains(b.File.Text, []byte("writeOnly")),
	}
	for kind := range root.Get("components").Members() {
		for m := range kind.Value.Members() {
			defs.at["#/components/"+kind.Name+"/"+m.Name] = m.Value
		}
	}
	schemas := &schemaWriter{Builder: b, root: root, defs: defs}
	for path := range root.Get("paths").Members() {
		item := schemas.follow(path.Value)
		for m := range item.Members() {
			if isMethod(m.Name) && m.Value.Is(lang.Object) {
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
	case "get", "put", "post", "delete", "options", "head", "patch":
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
	if seen[name] {
		t.Warnf(at, diag.DuplicateMember, "two operations have the operationId %q; this one is called by its path, %q", name, path)
	}
	if name == "" || seen[name] {
		name, at = path, m.Key
	}
	if seen[name] {
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
	t.effects(m.Key)
	t.properties(m.Key)
	t.Close()
}

// effects writes what the method says, and the document in x-effects, whose word counts.
func (t *operationTool) effects(at diag.Span) {
	said := t.op.Get("x-effects")
	t.Member("effects", at)
	t.Object(at)
	hint := func(name, value string) {
		if said.Get(name).IsZero() {
			t.Member(name, at)
			t.JSON(value, at)
		}
	}
	hint("openWorld", "true")
	if said.Get("readOnly").IsZero() && said.Get("pure").IsZero() {
		if t.method == "get" || t.method == "head" || t.method == "options" {
			hint("readOnly", "true")
		} else {
			hint("readOnly", "false")
		}
		if t.method == "delete" {
			hint("destructive", "true")
		}
	}
	if t.method != "post" && t.method != "patch" {
		hint("idempotent", "true")
	}
	for m := range said.Members() {
		t.Member(m.Name, m.Key)
		tree.Words(t.Builder, m.Value)
	}
	t.Close()
}

// params are the params of an operation while they are written.
type params struct {
	*operationTool
	names    *paramNames
	required []string
	declared map[string]bool // parameters, by their place and name
	open     bool            // it takes more: the fields of a form of OpenAPI 2
	lost     []tree.Value    // references to nothing
}

// properties writes the params and the result.
func (t *operationTool) properties(at diag.Span) {
	p := &params{operationTool: t, names: &paramNames{taken: map[string]bool{}}, declared: map[string]bool{}}
	t.Member("properties", t.op.At())
	t.Object(t.op.At())
	t.schemas.only = "readOnly"
	for _, list := range []tree.Value{t.op.Get("parameters"), t.item.Get("parameters")} {
		for _, v := range list.Elements() {
			p.parameter(v)
		}
	}
	p.placeholders(at)
	p.body(t.op.Get("requestBody"))
	t.schemas.only = "writeOnly"
	p.result()
	t.Close()
	if !p.open {
		tree.Closed(t.Builder, at)
	}
	if len(p.required) > 0 {
		t.Member("required", at)
		t.List(at)
		for _, name := range p.required {
			t.String(name, at)
		}
		t.Close()
	}
	if len(p.lost) > 0 { // so that the definition is one of a schema that refers to nothing
		t.Member("allOf", at)
		t.List(at)
		for _, v := range p.lost {
			t.Object(v.At())
			t.Member("$ref", v.Member("$ref").Key)
			t.String(v.Get("$ref").Str(), v.Get("$ref").All())
			t.Close()
		}
		t.Close()
	}
}

// follow returns a part of the operation, or what it refers to. It notes references to nothing.
func (p *params) follow(v tree.Value) tree.Value {
	found := p.schemas.follow(v)
	if !v.IsZero() && (found.IsZero() || found.Get("$ref").Is(lang.String)) {
		p.lost = append(p.lost, v)
	}
	return found
}

// parameter writes a parameter. The body of OpenAPI 2 is one, too.
func (p *params) parameter(v tree.Value) {
	v = p.follow(v)
	name, in := v.Get("name"), v.Get("in").Str()
	key := in + " " + name.Str()
	if name.Str() == "" || p.declared[key] || describedElsewhere(in, name.Str()) {
		return
	}
	p.declared[key] = true
	param := ""
	switch in {
	case "path", "query", "header", "cookie":
		param = p.names.free(name.Str(), in)
	case "formData":
		param, p.open = p.names.free(name.Str(), in), true
	case "body":
		param = p.names.body()
	default:
		return
	}
	p.Member(param, name.All())
	p.schema(v, in)
	if v.Get("required").Kind() == lang.True || in == "path" {
		p.required = append(p.required, param)
	}
}

// describedElsewhere reports a parameter that OpenAPI says is described elsewhere.
func describedElsewhere(in, name string) bool {
	return in == "header" && slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(name))
}

// schema writes the schema of a parameter; in OpenAPI 2 that is the parameter itself.
func (p *params) schema(v tree.Value, in string) {
	w := p.schemas
	switch s := v.Get("schema"); {
	case v.Get("content").Is(lang.Object):
		_, s = content(v)
		w.write(s, 0)
	case s.IsZero():
		p.Object(v.At())
		if m := v.Member("type"); m.Value.Is(lang.String) && m.Value.Str() != "file" {
			w.markText(v)
			p.Member("type", m.Key)
			p.String(m.Value.Str(), m.Value.All())
		}
		p.Close()
	case in == "body":
		w.write(s, 0)
	default:
		w.onWire(s)
	}
}

// placeholders writes the params for what is in braces in the path and not declared.
func (p *params) placeholders(at diag.Span) {
	for _, part := range strings.Split(p.path, "{")[1:] {
		name, _, ok := strings.Cut(part, "}")
		if key := "path " + name; ok && name != "" && !p.declared[key] {
			p.declared[key] = true
			param := p.names.free(name, "path")
			p.Member(param, at)
			p.types(at, "string", "number", "boolean")
			p.required = append(p.required, param)
		}
	}
}

// types writes the schema of values of these types.
func (p *params) types(at diag.Span, names ...string) {
	p.Object(at)
	p.Member("type", at)
	if len(names) == 1 {
		p.String(names[0], at)
	} else {
		p.List(at)
		for _, name := range names {
			p.String(name, at)
		}
		p.Close()
	}
	p.Close()
}

// body writes the param that is the body of the request.
func (p *params) body(v tree.Value) {
	if v = p.follow(v); !v.Is(lang.Object) {
		return
	}
	kind, s := content(v)
	param := p.names.body()
	p.Member(param, v.At())
	switch base, _, _ := mime.ParseMediaType(kind); {
	case !isJSON(kind) && !isForm(base):
		p.types(v.At(), "string")
	case s.IsZero():
		p.JSON("true", v.At())
	default:
		p.schemas.write(s, 0)
	}
	if v.Get("required").Kind() == lang.True {
		p.required = append(p.required, param)
	}
}

// result writes the schema of the result: of all good responses together.
func (p *params) result() {
	var all []func()
	said, last := true, ""
	add := func(what string, write func()) {
		if what != last {
			all, last = append(all, write), what
		}
	}
	for m := range p.op.Get("responses").Members() {
		if !strings.HasPrefix(m.Name, "2") {
			continue
		}
		r := p.follow(m.Value)
		kind, s := content(r)
		if old := r.Get("schema"); !old.IsZero() && !r.Has("content") { // of OpenAPI 2
			add(p.Text(old.At()), func() { p.schemas.write(old, 0) })
			continue
		}
		switch {
		case p.method == "head", m.Name == "204", m.Name == "205":
			add("null", func() { p.types(m.Key, "null") })
		case r.Get("content").Len() != 1:
			said = false // nothing, or the server chooses
		case !isJSON(kind):
			add("string", func() { p.types(m.Key, "string") })
		case s.IsZero():
			add("true", func() { p.JSON("true", m.Key) })
		default:
			add(p.Text(s.At()), func() { p.schemas.write(s, 0) })
		}
	}
	if !said || len(all) == 0 {
		return
	}
	at := p.op.Member("responses").Key
	p.Member("_output", at)
	if len(all) == 1 {
		all[0]()
		return
	}
	p.Object(at)
	p.Member("anyOf", at)
	p.List(at)
	for _, write := range all {
		write()
	}
	p.Close()
	p.Close()
}

// content returns the media type of a body and its schema: that of JSON, else of a form, else the
// first.
func content(v tree.Value) (kind string, schema tree.Value) {
	rank := 4
	for m := range v.Get("content").Members() {
		r := 3
		switch base, _, _ := mime.ParseMediaType(m.Name); {
		case base == jsonType:
			r = 0
		case isJSON(m.Name):
			r = 1
		case isForm(base):
			r = 2
		}
		if r < rank {
			rank, kind, schema = r, m.Name, m.Value.Get("schema")
		}
	}
	if strings.Contains(kind, "*") || kind == "" {
		kind = jsonType
	}
	return kind, schema
}

const jsonType = "application/json"

func isJSON(kind string) bool {
	base, _, _ := mime.ParseMediaType(kind)
	return base == jsonType || strings.HasSuffix(base, "+json")
}

func isForm(base string) bool {
	return base == "application/x-www-form-urlencoded" || base == "multipart/form-data"
}

const (
	// maxSchema is the maximum depth at which references in schemas are replaced by what they refer
	// to. What refers to itself is any value, from there on.
	maxSchema = 8

	// maxSchemas is the maximum number of values of all schemas of a document, references replaced:
	// beyond it, any value is accepted.
	maxSchemas = 2_000_000
)

// schemaWriter writes the schemas of a document.
type schemaWriter struct {
	*dialect.Builder
	root    tree.Value
	written int          // values
	defs    *definitions // where what is referred to goes; nil puts it in the place of the reference
	only    string       // "readOnly" or "writeOnly": members that are that are not asked for
}

// definition is a schema that operations refer to, as it is for params or for results.
type definition struct{ ref, only string }

// definitions are the schemas that the operations refer to.
type definitions struct {
	list     []definition          // in the order in which they were found
	names    map[definition]string // in $defs
	taken    map[string]bool
	at       map[string]tree.Value // the components of the document, by reference
	directed bool                  // members may be of params or of results only
}

// lookup returns what a reference leads to.
func (w *schemaWriter) lookup(ref string) tree.Value {
	if w.defs != nil {
		if v, ok := w.defs.at[ref]; ok { // documents have thousands of them
			return v
		}
	}
	return lookup(w.root, ref)
}

// follow returns a value of the document, or what it refers to.
func (w *schemaWriter) follow(v tree.Value) tree.Value { return follow(v, w.lookup) }

// name returns the name of a definition.
func (d *definitions) name(of definition) string {
	if !d.directed {
		of.only = ""
	}
	if name, ok := d.names[of]; ok {
		return name
	}
	name := of.ref[strings.LastIndexByte(of.ref, '/')+1:]
	for d.taken[name] {
		name += "_"
	}
	d.names[of], d.taken[name] = name, true
	d.list = append(d.list, of)
	return name
}

// writeDefinitions writes what was referred to, and what that refers to, once for all operations.
func (w *schemaWriter) writeDefinitions(at diag.Span) {
	d := w.defs
	w.Member("$defs", at)
	w.Object(at)
	for i := 0; i < len(d.list); i++ {
		of := d.list[i]
		w.only = of.only
		w.Member(d.names[of], at)
		w.write(w.lookup(of.ref), 0)
	}
	w.Close()
	w.defs = nil
}

// reference writes a reference to what stands in $defs. One that leads nowhere is written as it is,
// and is an error of the definition once that is used.
func (w *schemaWriter) reference(m tree.Member) {
	ref := m.Value.Str()
	switch {
	case strings.HasPrefix(ref, "#/") && !w.lookup(ref).IsZero():
		name := w.defs.name(definition{ref, w.only})
		ref = "#/$defs/" + strings.NewReplacer("~", "~0", "/", "~1", "%", "%25").Replace(name)
	case strings.HasPrefix(ref, "#") && !strings.HasPrefix(ref, "#/"): // an anchor, or the document
		return
	}
	w.Member("$ref", m.Key)
	w.String(ref, m.Value.All())
}

// onWire writes the schema of a parameter. It is marked when a number or a truth value is sent as
// text: then a string that says one is sent as the same.
func (w *schemaWriter) onWire(v tree.Value) {
	followed := w.follow(v)
	if !v.Is(lang.Object) || !followed.Get("type").Is(lang.String) {
		w.write(v, 0)
		return
	}
	w.written++
	w.Object(v.At())
	w.markText(followed)
	for m := range v.Members() {
		w.keyword(v, m, 0)
	}
	w.Close()
}

// markText writes the mark of what is sent as text, if the type of a schema is one of numbers or
// truth values. It is tool.WireMember.
func (w *schemaWriter) markText(schema tree.Value) {
	if t := schema.Member("type"); slices.Contains([]string{"integer", "number", "boolean"}, t.Value.Str()) {
		w.Member("x-wire", t.Key)
		w.String("text", t.Key)
	}
}

// write writes a schema of a document. What it refers to is a definition, or put in its place.
func (w *schemaWriter) write(v tree.Value, depth int) {
	b := w.Builder
	w.written++
	if w.defs == nil && v.Get("$ref").Is(lang.String) {
		depth++
		v = w.follow(v)
	}
	if depth > maxSchema || w.written > maxSchemas || v.IsZero() {
		b.JSON("{}", v.At())
		return
	}
	switch v.Kind() {
	case lang.Object:
		orNull := v.Get("nullable").Kind() == lang.True && v.Get("type").IsZero() && v.First(referring()...).Name != ""
		if orNull { // is meant, though OpenAPI has nullable count beside a type alone
			b.Object(v.At())
			b.Member("anyOf", v.At())
			b.List(v.At())
			b.Object(v.At())
			b.Member("type", v.At())
			b.String("null", v.At())
			b.Close()
		}
		b.Object(v.At())
		for m := range v.Members() {
			w.keyword(v, m, depth)
		}
		b.Close()
		if orNull {
			b.Close()
			b.Close()
		}
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

// referring returns the keywords that refer to other schemas.
func referring() []string { return []string{"$ref", "allOf", "anyOf", "oneOf"} }

// keyword writes a member of a schema, unless it says nothing of values.
func (w *schemaWriter) keyword(schema tree.Value, m tree.Member, depth int) {
	b := w.Builder
	switch m.Name {
	case "$ref":
		if w.defs != nil && m.Value.Is(lang.String) {
			w.reference(m)
			return
		}
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
	case "example", "examples", "xml", "externalDocs", "discriminator", "deprecated", "readOnly", "writeOnly",
		"$schema", "$id", "$anchor", "$dynamicAnchor":
		return
	case "enum", "const", "default":
		b.Member(m.Name, m.Key)
		tree.Words(b, m.Value)
		return
	case "required":
		w.required(schema, m)
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
	if strings.HasPrefix(m.Name, "x-") {
		return
	}
	b.Member(m.Name, m.Key)
	w.write(m.Value, depth)
}

// required writes the names of the members that must be there in this direction. In OpenAPI 2 a
// parameter has required: true.
func (w *schemaWriter) required(schema tree.Value, m tree.Member) {
	if !m.Value.Is(lang.Array) {
		return
	}
	w.Member(m.Name, m.Key)
	w.List(m.Value.At())
	for _, name := range m.Value.Elements() {
		if w.only == "" || w.follow(schema.Get("properties").Get(name.Str())).Get(w.only).Kind() != lang.True {
			tree.Words(w.Builder, name)
		}
	}
	w.Close()
}
