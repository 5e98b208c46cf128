package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool"
)

// operation is an operation of a document.
type operation struct {
	doc        *Document
	name       string
	method     string // in capitals
	path       string
	item       gjson.Result // of the path
	raw        gjson.Result
	parameters []parameter
	body       *body
}

// parameter is a parameter of an operation.
type parameter struct {
	param    string // the name of the tool's param
	name     string
	in       string // "path", "query", "header", "cookie"
	style    string
	explode  bool
	asJSON   bool // it is written as JSON
	required bool
	schema   gjson.Result
	about    string
}

// body is the body of a request.
type body struct {
	param    string
	kind     string // the media type
	required bool
	schema   gjson.Result
}

// readOperations reads all operations. The error is about a path in another document.
func (d *Document) readOperations() (err error) {
	names := map[string]bool{}
	d.top["paths"].ForEach(func(path, item gjson.Result) bool {
		if ref := item.Get("$ref").Str; ref != "" && !strings.HasPrefix(ref, "#") {
			err = fmt.Errorf("the path %q is in an external document, %q; bundle them into one", path.Str, ref)
			return false
		}
		item = d.follow(item)
		item.ForEach(func(method, raw gjson.Result) bool {
			if slices.Contains([]string{"get", "put", "post", "delete", "options", "head", "patch"}, method.Str) && raw.IsObject() {
				op := d.operation(strings.ToUpper(method.Str), path.Str, item, raw)
				if names[op.name] { // a second operation of this name
					op.name = op.line()
				}
				if !names[op.name] {
					names[op.name] = true
					d.operations = append(d.operations, op)
				}
			}
			return true
		})
		return true
	})
	return err
}

// IsOperation reports whether a name is a method and a path, such as "GET /orders". Operations that
// have no other id are named so.
func IsOperation(name string) bool {
	method, path, ok := strings.Cut(name, " ")
	return ok && method != "" && strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && strings.HasPrefix(path, "/")
}

func (d *Document) operation(method, path string, item, raw gjson.Result) *operation {
	name := raw.Get("operationId").Str
	if name == "" || IsOperation(name) { // the id must not look like the name of another operation
		name = method + " " + path
	}
	op := &operation{doc: d, name: name, method: method, path: path, item: item, raw: raw}
	taken := map[string]bool{}
	seen := map[string]bool{}
	for _, list := range []gjson.Result{raw.Get("parameters"), item.Get("parameters")} { // parameters of the path count if the operation does not redefine them
		list.ForEach(func(_, v gjson.Result) bool {
			p := d.parameter(d.follow(v))
			if key := p.in + " " + p.name; p.name != "" && !seen[key] && !p.ignored() {
				seen[key] = true
				p.param = free(p.name, p.in+"_"+p.name, taken)
				op.parameters = append(op.parameters, p)
			}
			return true
		})
	}
	for _, name := range placeholders(path) { // that are not declared
		if key := "path " + name; !seen[key] {
			seen[key] = true
			op.parameters = append(op.parameters, parameter{param: free(name, "path_"+name, taken), name: name, in: "path", style: "simple", required: true, schema: anyText})
		}
	}
	if b := d.follow(raw.Get("requestBody")); b.IsObject() {
		op.body = &body{param: free("body", "requestBody", taken), required: b.Get("required").Bool()}
		op.body.kind, op.body.schema = content(b)
	}
	return op
}

// anyText is the schema of a placeholder that is not declared.
var anyText = gjson.Parse(`{"type":["string","number","boolean"]}`)

// placeholders returns the names in braces in a path.
func placeholders(path string) (names []string) {
	for _, part := range strings.Split(path, "{")[1:] {
		if name, _, ok := strings.Cut(part, "}"); ok && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// free returns a name that is not used yet. Names of params must not begin with an underscore,
// which the language reserves.
func free(name, other string, taken map[string]bool) string {
	if taken[name] || strings.HasPrefix(name, "_") {
		name = other
	}
	taken[name] = true
	return name
}

func (d *Document) parameter(v gjson.Result) parameter {
	p := parameter{
		name: v.Get("name").Str, in: v.Get("in").Str, style: v.Get("style").Str,
		required: v.Get("required").Bool(), schema: v.Get("schema"), about: v.Get("description").Str,
	}
	if p.style == "" {
		p.style = "simple"
		if p.in == "query" || p.in == "cookie" {
			p.style = "form"
		}
	}
	p.explode = p.style == "form"
	if e := v.Get("explode"); e.Exists() {
		p.explode = e.Bool()
	}
	if c := v.Get("content"); c.IsObject() {
		p.asJSON = true
		_, p.schema = content(v)
	}
	return p
}

// ignored reports a parameter that OpenAPI says is described elsewhere.
func (p parameter) ignored() bool {
	if p.in == "header" {
		return slices.Contains([]string{"accept", "content-type", "authorization"}, strings.ToLower(p.name))
	}
	return !slices.Contains([]string{"path", "query", "cookie"}, p.in)
}

// content returns the media type of a body and its schema: JSON if possible, else a form, else the
// first one.
func content(v gjson.Result) (kind string, schema gjson.Result) {
	rank := 4
	v.Get("content").ForEach(func(name, media gjson.Result) bool {
		r := 3
		switch base, _, _ := mime.ParseMediaType(name.Str); {
		case base == "application/json":
			r = 0
		case isJSON(name.Str):
			r = 1
		case base == formType || base == multipartType:
			r = 2
		}
		if r < rank {
			rank, kind, schema = r, name.Str, media.Get("schema")
		}
		return true
	})
	if strings.Contains(kind, "*") || kind == "" {
		kind = jsonType
	}
	return kind, schema
}

func isJSON(kind string) bool {
	base, _, _ := mime.ParseMediaType(kind)
	return base == jsonType || strings.HasSuffix(base, "+json")
}

// definition returns the tool's definition, with room for this many schemas for the params and for
// the result.
func (op *operation) definition(name string, effects json.RawMessage, room int) json.RawMessage {
	text := "{" + op.head(name, effects) + `,"inputSchema":` + whole(op.doc, "readOnly", room, op.input)
	if out := whole(op.doc, "writeOnly", room, op.output); out != "" {
		text += `,"outputSchema":` + out
	}
	return json.RawMessage(text + `}`)
}

// lost returns a reference of the operation, outside its schemas, that leads nowhere; "" if there
// is none. It ignores responses that are errors.
func (op *operation) lost() (ref string) {
	look := func(v gjson.Result) bool {
		ref = op.doc.lost(v)
		return ref == ""
	}
	for _, list := range []gjson.Result{op.raw.Get("parameters"), op.item.Get("parameters")} {
		if list.ForEach(func(_, v gjson.Result) bool { return look(v) }); ref != "" {
			return ref
		}
	}
	if look(op.raw.Get("requestBody")) {
		op.raw.Get("responses").ForEach(func(status, v gjson.Result) bool {
			return !strings.HasPrefix(status.Str, "2") || look(v)
		})
	}
	return ref
}

// line returns the method and the path of the operation.
func (op *operation) line() string { return op.method + " " + op.path }

// names returns the names that the document has for the operation. Other operations may have the
// same operationId.
func (op *operation) names() []string {
	names := []string{op.line()}
	if id := op.raw.Get("operationId").Str; id != "" && id != names[0] {
		names = append(names, id)
	}
	return names
}

// head returns the members of the definition other than the schemas of params and results.
func (op *operation) head(name string, effects json.RawMessage) string {
	about := strings.TrimSpace(cmp.Or(op.raw.Get("summary").Str, op.raw.Get("description").Str))
	text := `"name":` + quote(name) + `,"description":` + quote(about) + `,"effects":` + string(effects)
	if path := op.line(); name != path {
		text += `,"x-operation":` + quote(path)
	}
	return text
}

// input returns the schema of the params.
func (op *operation) input(w *schemaWriter) string {
	var props, required []string
	add := func(name string, schema string, must bool) {
		props = append(props, quote(name)+":"+schema)
		if must {
			required = append(required, quote(name))
		}
	}
	for _, p := range op.parameters {
		add(p.param, p.onWire(described(w.schema(p.schema), p.about), op.doc.follow(p.schema)), p.required || p.in == "path")
	}
	if op.body != nil {
		schema := w.schema(op.body.schema)
		if !op.body.written() {
			schema = `{"type":"string"}`
		}
		add(op.body.param, schema, op.body.required)
	}
	return `{"type":"object","properties":{` + strings.Join(props, ",") + `},"required":[` + strings.Join(required, ",") + `],"additionalProperties":false,"$defs":{` + w.defs() + `}}`
}

// onWire returns the schema of the parameter. If a number or a boolean is sent as text, it adds a
// mark, so that a string that spells one is accepted too. followed is the schema that schema refers
// to, which has the type.
func (p parameter) onWire(schema string, followed gjson.Result) string {
	if p.asJSON || !strings.HasPrefix(schema, "{") || !slices.Contains([]string{"integer", "number", "boolean"}, followed.Get("type").Str) {
		return schema
	}
	return `{"` + tool.WireMember + `":"text",` + schema[1:]
}

// described returns a schema with the description of a parameter.
func described(schema, about string) string {
	if about == "" || !strings.HasPrefix(schema, "{") || gjson.Get(schema, "description").Exists() {
		return schema
	}
	if schema == "{}" {
		return `{"description":` + quote(about) + `}`
	}
	return `{"description":` + quote(about) + "," + schema[1:]
}

// output returns the schema of the result, which covers all successful responses; "" if there is
// none.
func (op *operation) output(w *schemaWriter) string {
	var all []string
	said := true
	op.raw.Get("responses").ForEach(func(status, v gjson.Result) bool {
		if !strings.HasPrefix(status.Str, "2") {
			return true
		}
		v = op.doc.follow(v)
		kind, schema := content(v)
		switch {
		case op.method == "HEAD", status.Str == "204", status.Str == "205":
			all = append(all, `{"type":"null"}`)
		case !v.Get("content").IsObject() || len(v.Get("content").Map()) != 1:
			said = false // no content, or the server chooses its type
		case isJSON(kind):
			all = append(all, w.schema(schema))
		default:
			all = append(all, `{"type":"string"}`)
		}
		return true
	})
	all = slices.Compact(all)
	switch {
	case len(all) == 0 || !said:
		return ""
	case len(all) == 1 && len(w.refs) == 0:
		return all[0]
	}
	return `{"anyOf":[` + strings.Join(all, ",") + `],"$defs":{` + w.defs() + `}}`
}

// effects returns the effects of the method, of the document (x-effects) and of more; later ones
// take precedence.
func (op *operation) effects(more json.RawMessage) (json.RawMessage, error) {
	e := map[string]any{"openWorld": true}
	said := map[string]any{}
	for _, raw := range []string{op.raw.Get("x-effects").Raw, string(more)} {
		if raw == "" {
			continue
		}
		if err := json.Unmarshal([]byte(raw), &said); err != nil {
			return nil, fmt.Errorf("effects of %q: %w", op.name, err)
		}
	}
	if said["readOnly"] == nil && said["pure"] == nil {
		e["readOnly"] = op.method == "GET" || op.method == "HEAD" || op.method == "OPTIONS"
		if op.method == "DELETE" {
			e["destructive"] = true
		}
	}
	if op.method != "POST" && op.method != "PATCH" {
		e["idempotent"] = true
	}
	maps.Copy(e, said)
	return json.Marshal(e)
}
