package schemas

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Schema is a compiled schema. It is immutable and may be shared by goroutines.
type Schema struct{ node *node }

// Options say how a schema is compiled. The zero value is the default.
type Options struct {
	// Pointer picks a schema inside the document (JSON Pointer): "$ref"s are still
	// resolved against the whole.
	Pointer string
}

// Compile compiles a schema document: a JSON object or boolean. The error is a
// *SchemaError.
//
// What is never asserted: format and content*, which are annotations, and patterns
// that RE2 cannot read (Warnings says which). OpenAPI's nullable adds null to a
// type. A $ref out of the document is an error. plan-language §7
func Compile(doc json.RawMessage, opts *Options) (*Schema, error) {
	var pointer string
	if opts != nil {
		pointer = opts.Pointer
	}
	s, err := compile(doc, pointer)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func compile(raw json.RawMessage, pointer string) (*Schema, *SchemaError) {
	root, err := parseValue(raw)
	if err != nil {
		return nil, &SchemaError{"", err.Error()}
	}
	if root.kind != kindObject && root.kind != kindBoolean {
		return nil, &SchemaError{"", "a schema is an object or a boolean, not " + article(root.kind.String())}
	}
	b, fault := newBuilder(raw, root)
	if fault != nil {
		return nil, fault
	}
	v, at, base, _ := b.find(b.base(), "#"+urlPointer(pointer))
	if v == nil {
		return nil, &SchemaError{pointer, "the pointer leads to nothing in the document"}
	}
	n := b.schema(v, at, base)
	if b.err == nil {
		b.finish(n)
	}
	if b.err != nil {
		return nil, b.err
	}
	if b.library, fault = b.forLibrary(pointer == ""); fault == nil {
		fault = b.checkMeta()
	}
	if fault != nil {
		return nil, fault
	}
	b.release()
	return schemaOf(n), nil
}

func newBuilder(raw []byte, root value) (*builder, *SchemaError) {
	d := &document{
		raw: raw, root: root, draft: 2020, places: make(map[*value]*place),
		ids: make(map[string]*value), anchors: make(map[string]*value), dynamic: make(map[string][]*value),
	}
	if s := root.member("$schema"); s != nil {
		if d.draft = draftOf(s.text); s.kind != kindString || d.draft == 0 {
			return nil, &SchemaError{"/$schema", fmt.Sprintf("%s is no draft that is known here: these are 2020-12, 2019-09, draft-07, draft-06 and draft-04 of json-schema.org", s.appendJSON(nil))}
		}
	}
	d.ids[baseURL] = &d.root
	if err := d.scan(&d.root, "", baseURL); err != nil {
		return nil, err
	}
	return &builder{document: d, patterns: make(map[string]*pattern), weights: make(map[*node]int)}, nil
}

// base returns the URL of the root.
func (d *document) base() string {
	if p := d.places[&d.root]; p != nil {
		return p.base
	}
	return baseURL
}

// release lets go of what only compiling needs.
func (b *builder) release() {
	b.document.places, b.ids, b.anchors, b.dynamic = nil, nil, nil, nil
}

// draftOf returns the draft that a $schema names, 0 if none.
func draftOf(schema string) int {
	u := strings.TrimPrefix(strings.TrimPrefix(schema, "http://"), "https://")
	u = strings.TrimSuffix(strings.TrimSuffix(u, "/"), "#")
	for _, d := range [...]int{4, 6, 7, 2019, 2020} {
		if "https://"+u == draftURL(d) {
			return d
		}
	}
	if u == "json-schema.org/schema" {
		return 2020
	}
	return 0
}

func draftURL(draft int) string {
	switch draft {
	case 2019:
		return "https://json-schema.org/draft/2019-09/schema"
	case 2020:
		return "https://json-schema.org/draft/2020-12/schema"
	}
	return "https://json-schema.org/draft-0" + strconv.Itoa(draft) + "/schema"
}

// isMetaSchema reports whether a reference leads to a meta-schema, which the library
// has.
func isMetaSchema(base, ref string) bool {
	u, ok := resolveURL(base, ref)
	u, _, _ = strings.Cut(u, "#")
	return ok && draftOf(u) != 0
}

// JSON returns the document that the schema was compiled from, with its Pointer. For a
// schema that At, Union, ArrayOf or Object made of several it is a rendering for
// people.
func (s *Schema) JSON() (doc json.RawMessage, pointer string) {
	if s.node.doc == nil {
		return s.node.render(), ""
	}
	return s.node.doc.raw, s.node.pointer
}

// Warnings say what in the schema is not enforced: patterns that RE2 cannot read.
func (s *Schema) Warnings() []SchemaError {
	if s.node.doc == nil {
		return nil
	}
	return s.node.doc.warnings
}

// SchemaError says what is wrong with a schema.
type SchemaError struct {
	Pointer string // into the schema document
	Message string
}

func (e *SchemaError) Error() string {
	if e.Pointer == "" {
		return e.Message
	}
	return e.Pointer + ": " + e.Message
}
