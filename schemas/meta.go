package schemas

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// checkMeta holds a document against the meta-schema of its draft. A root that isOrdinary
// needs no library for it.
func (b *builder) checkMeta() (fault *Fault) {
	if b.draft == 2020 && isOrdinary(&b.root) {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			fault = unusable("", r)
		}
	}()
	v, err := parseValue(b.library.doc)
	if err != nil {
		return &Fault{"", err.Error()}
	}
	meta, err := metaSchemas[b.draft]()
	if err == nil {
		err = meta.Validate(v.plain())
	}
	if err != nil {
		return compileError("", err)
	}
	return nil
}

// metaSchemas are those of the drafts, each compiled once, when it is first needed.
var metaSchemas = map[int]func() (*jsonschema.Schema, error){
	4: metaSchema(4), 6: metaSchema(6), 7: metaSchema(7), 2019: metaSchema(2019), 2020: metaSchema(2020),
}

func metaSchema(draft int) func() (*jsonschema.Schema, error) {
	return sync.OnceValues(func() (*jsonschema.Schema, error) {
		c, err := newCompiler([]byte(`{"$ref":"` + draftURL(draft) + `"}`))
		if err != nil {
			return nil, err
		}
		return c.Compile(baseURL)
	})
}

func newCompiler(doc []byte) (*jsonschema.Compiler, error) {
	c := jsonschema.NewCompiler()
	c.LoadURL = func(s string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%q leads out of the document, and nothing is ever fetched", s)
	}
	return c, c.AddResource(baseURL, bytes.NewReader(doc))
}

// isOrdinary reports whether a schema is sure to meet the meta-schema of draft 2020-12: it
// has no keywords but those that nearly all schemas of params are made of, and their values
// are right. The meta-schema, which takes a millisecond for a few params, is asked about
// all others.
func isOrdinary(v *value) bool {
	if v.kind == kindBoolean {
		return true
	}
	return v.kind == kindObject && all(v, func(m *value) bool { return isOrdinaryKeyword(m) })
}

func isOrdinaryKeyword(m *value) bool {
	switch m.name {
	case "title", "description", "$comment", "format":
		return m.kind == kindString
	case "default", "const":
		return true
	case "nullable", "readOnly", "writeOnly", "deprecated", "uniqueItems":
		return m.kind == kindBoolean
	case "enum", "examples":
		return m.kind == kindArray
	case "type":
		return isType(m) || m.kind == kindArray && len(m.kids) > 0 && all(m, isType) && allDifferent(m)
	case "required":
		return m.kind == kindArray && all(m, func(name *value) bool { return name.kind == kindString }) && allDifferent(m)
	case "items", "additionalProperties":
		return isOrdinary(m)
	case "properties", "$defs":
		return m.kind == kindObject && all(m, isOrdinary)
	case "$ref":
		return m.kind == kindString && isLocalPointer(m.text)
	case "pattern":
		return m.kind == kindString && jsonschema.Formats["regex"](fromECMA(m.text))
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return m.kind == kindNumber && strings.Trim(m.text, "0123456789") == ""
	case "anyOf", "oneOf", "allOf":
		return m.kind == kindArray && len(m.kids) > 0 && all(m, isOrdinary)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return m.kind == kindNumber
	}
	return false
}

// isLocalPointer reports whether a reference is a plain pointer into the document. That it leads
// somewhere was found out before.
func isLocalPointer(ref string) bool {
	return strings.HasPrefix(ref, "#/") && !strings.ContainsFunc(ref[1:], func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '/' || r > '9') && !strings.ContainsRune("$._-~", r)
	})
}

func isType(v *value) bool {
	switch v.text {
	case "null", "boolean", "number", "integer", "string", "array", "object":
		return v.kind == kindString
	}
	return false
}

// all reports whether each element or member of a value is so.
func all(v *value, is func(*value) bool) bool {
	for i := range v.kids {
		if !is(&v.kids[i]) {
			return false
		}
	}
	return true
}

// allDifferent reports whether the strings of a list are all different.
func allDifferent(v *value) bool {
	seen := make(map[string]bool, len(v.kids))
	for i := range v.kids {
		seen[v.kids[i].text] = true
	}
	return len(seen) == len(v.kids)
}
