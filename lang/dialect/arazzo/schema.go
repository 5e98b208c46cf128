package arazzo

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// inputs returns the schema of a workflow's inputs; the zero Value if there is none.
func (r *reader) inputs(w *workflow) tree.Value { return r.schemaWriter().follow(w.Get("inputs")) }

// follow returns a schema, or what it refers to in its document.
func follow(v tree.Value, lookup func(ref string) tree.Value) tree.Value {
	for range 100 {
		ref := v.Get("$ref").Str()
		if !strings.HasPrefix(ref, "#/") {
			return v
		}
		v = lookup(ref)
	}
	return tree.Value{}
}

// lookup returns what a reference leads to in its document.
func lookup(root tree.Value, ref string) tree.Value {
	v := root
	for _, token := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		if plain, err := url.PathUnescape(token); err == nil {
			token = plain
		}
		if v.Is(lang.Array) {
			v = element(v, token)
		} else {
			v = v.Get(jsonscan.UnescapePointer(token))
		}
	}
	return v
}

// element returns the element of a list with this index; the zero Value if there is none.
func element(list tree.Value, index string) tree.Value {
	for i, e := range list.Elements() {
		if strconv.Itoa(i) == index {
			return e
		}
	}
	return tree.Value{}
}

// context writes the schema of the input, and the workflows that are called as tools.
func (r *reader) context(w *workflow) {
	var called []*workflow
	seen := map[string]bool{}
	for _, s := range w.steps {
		if c := r.byID[s.calls]; c != nil && !seen[s.calls] {
			seen[s.calls] = true
			called = append(called, c)
		}
	}
	inputs := r.inputs(w)
	if !inputs.Is(lang.Object) && len(called) == 0 {
		return
	}
	r.Member("context", w.At())
	r.List(w.At())
	if inputs.Is(lang.Object) {
		r.Object(inputs.At())
		r.Member("type", inputs.At())
		r.String("input", inputs.At())
		r.Member("schema", inputs.At())
		r.inputSchema(inputs)
		r.Close()
	}
	if len(called) > 0 {
		r.Object(w.At())
		r.Member("type", w.At())
		r.String("tool", w.At())
		r.Member("tool", w.At())
		r.Object(w.At())
		for _, c := range called {
			r.workflowTool(c)
		}
		r.Close()
		r.Close()
	}
	r.Close()
}

// inputSchema writes the schema of the inputs. An input that the workflow refers to has to be
// given, unless it has a default: hardly any document says so with required, and there is no
// way to say what to take instead.
func (r *reader) inputSchema(v tree.Value) {
	var required []string
	for _, e := range v.Get("required").Elements() {
		required = append(required, e.Str())
	}
	for m := range v.Get("properties").Members() {
		if r.used[m.Name] && !slices.Contains(required, m.Name) && !r.schemaWriter().follow(m.Value).Has("default") {
			required = append(required, m.Name)
		}
	}
	w := r.schemaWriter()
	r.Object(v.At())
	for m := range v.Members() {
		if m.Name != "required" {
			w.keyword(v, m, 0)
		}
	}
	if len(required) > 0 {
		r.Member("required", v.At())
		r.List(v.At())
		for _, name := range required {
			r.String(name, v.At())
		}
		r.Close()
	}
	r.Close()
}

// workflowTool writes a workflow as a tool: its inputs are the params, its outputs the
// members of the result.
func (r *reader) workflowTool(c *workflow) {
	r.Member(c.id, c.Get("workflowId").All())
	r.Object(c.At())
	tree.Prose(r.Builder, "description", c.First("summary", "description"))
	inputs := r.inputs(c)
	r.Member("properties", c.At())
	r.Object(c.At())
	params := &paramNames{taken: map[string]bool{}}
	called := map[string]string{} // the params of the inputs
	for m := range inputs.Get("properties").Members() {
		called[m.Name] = params.free(m.Name, "")
		r.Member(called[m.Name], m.Key)
		r.schema(m.Value, 0)
	}
	r.Member("_output", c.At())
	r.Object(c.At())
	r.Member("type", c.At())
	r.String("object", c.At())
	r.Member("properties", c.At())
	r.Object(c.At())
	var names []string
	for m := range c.Get("outputs").Members() {
		names = append(names, m.Name)
		r.Member(m.Name, m.Key)
		r.JSON("{}", m.Key)
	}
	r.Close()
	if len(names) > 0 {
		r.Member("required", c.At())
		r.List(c.At())
		for _, name := range names {
			r.String(name, c.At())
		}
		r.Close()
	}
	r.Close()
	r.Close()
	if req := inputs.Get("required"); req.Is(lang.Array) {
		r.Member("required", req.At())
		r.List(req.At())
		for _, e := range req.Elements() {
			r.String(cmp.Or(called[e.Str()], e.Str()), e.All())
		}
		r.Close()
	}
	r.Close()
}

// schema writes a schema, with what it refers to put in its place.
func (r *reader) schema(v tree.Value, depth int) { r.schemaWriter().write(v, depth) }

func (r *reader) schemaWriter() *schemaWriter {
	if r.schemas == nil {
		r.schemas = &schemaWriter{Builder: r.Builder, root: r.root}
	}
	return r.schemas
}
