package tree

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/plc-lang/plc/schemas/internal/pattern"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// checkMeta validates a document against the meta-schema of its draft. For an ordinary root
// (isOrdinary) it doesn't need the library.
func (b *builder) checkMeta() (fault *Fault) {
	if b.draft == 2020 && isOrdinary(&b.Root) {
		return nil
	}
	defer func() {
		if r := recover(); r != nil {
			fault = unusable("", r)
		}
	}()
	v, err := value.Parse(b.library.doc)
	if err != nil {
		return &Fault{"", err.Error()}
	}
	meta, err := metaSchemas[b.draft]()
	if err == nil {
		err = meta.Validate(asAny(&v))
	}
	if err != nil {
		return compileError("", err)
	}
	return nil
}

// metaSchemas holds the meta-schema of each draft, which is compiled on first use.
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

// isOrdinary reports whether a schema certainly meets the meta-schema of draft 2020-12: it has only
// the keywords that nearly all schemas of params use, with correct values. All other schemas are
// validated against the meta-schema, which takes a millisecond for a few params.
func isOrdinary(v *value.Value) bool {
	if v.Kind == value.Boolean {
		return true
	}
	return v.Kind == value.Object && all(v, func(m *value.Value) bool { return isOrdinaryKeyword(m) })
}

func isOrdinaryKeyword(m *value.Value) bool {
	switch m.Name {
	case "title", "description", "$comment", "format":
		return m.Kind == value.String
	case "default", "const":
		return true
	case "readOnly", "writeOnly", "deprecated", "uniqueItems":
		return m.Kind == value.Boolean
	case "enum", "examples":
		return m.Kind == value.Array
	case "type":
		return isType(m) || m.Kind == value.Array && len(m.Kids) > 0 && all(m, isType) && allDifferent(m)
	case "required":
		return m.Kind == value.Array && all(m, func(name *value.Value) bool { return name.Kind == value.String }) && allDifferent(m)
	case "items", "additionalProperties":
		return isOrdinary(m)
	case "properties", "$defs":
		return m.Kind == value.Object && all(m, isOrdinary)
	case "$ref":
		return m.Kind == value.String && isLocalPointer(m.Text)
	case "pattern":
		return m.Kind == value.String && jsonschema.Formats["regex"](pattern.FromECMA(m.Text))
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		return m.Kind == value.Number && strings.Trim(m.Text, "0123456789") == ""
	case "anyOf", "oneOf", "allOf":
		return m.Kind == value.Array && len(m.Kids) > 0 && all(m, isOrdinary)
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return m.Kind == value.Number
	}
	return !slices.Contains(otherKeywords, m.Name)
}

// otherKeywords are the keywords of the meta-schema that make a schema not ordinary. The
// meta-schema accepts any value for other names.
var otherKeywords = []string{
	"$schema", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "$recursiveRef", "$recursiveAnchor",
	"definitions", "dependencies", "dependentSchemas", "dependentRequired",
	"prefixItems", "unevaluatedItems", "contains", "minContains", "maxContains",
	"patternProperties", "propertyNames", "unevaluatedProperties",
	"if", "then", "else", "not", "multipleOf", "contentEncoding", "contentMediaType", "contentSchema",
}

// isLocalPointer reports whether a reference is a plain pointer into the document. It was already
// checked that the target exists.
func isLocalPointer(ref string) bool {
	return strings.HasPrefix(ref, "#/") && !strings.ContainsFunc(ref[1:], func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '/' || r > '9') && !strings.ContainsRune("$._-~", r)
	})
}

func isType(v *value.Value) bool {
	switch v.Text {
	case "null", "boolean", "number", "integer", "string", "array", "object":
		return v.Kind == value.String
	}
	return false
}

// all reports whether is holds for each element or member of a value.
func all(v *value.Value, is func(*value.Value) bool) bool {
	for i := range v.Kids {
		if !is(&v.Kids[i]) {
			return false
		}
	}
	return true
}

// allDifferent reports whether the strings of a list are all different.
func allDifferent(v *value.Value) bool {
	seen := make(map[string]bool, len(v.Kids))
	for i := range v.Kids {
		seen[v.Kids[i].Text] = true
	}
	return len(seen) == len(v.Kids)
}
