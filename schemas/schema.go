package schemas

import (
	"encoding/json"
)

// Schema is a compiled schema. It is immutable and may be shared by goroutines.
type Schema ref

// schemaOf returns the Schema of a node, always the same one.
func schemaOf(n *node) *Schema { return (*Schema)(n.self()) }

// node returns what the schema says.
func (s *Schema) node() *node { return (*ref)(s).node() }

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
	n, fault := compile(doc, pointer)
	if fault != nil {
		return nil, (*SchemaError)(fault)
	}
	return schemaOf(n), nil
}

// JSON returns the document that the schema was compiled from, with its Pointer. For a
// schema that At, Union, ArrayOf or Object made of several it is a rendering for
// people.
func (s *Schema) JSON() (doc json.RawMessage, pointer string) {
	if s.node().doc == nil {
		return s.node().render(), ""
	}
	return s.node().doc.raw, s.node().pointer
}

// Warnings say what in the schema is not enforced: patterns that RE2 cannot read.
func (s *Schema) Warnings() []SchemaError {
	if s.node().doc == nil {
		return nil
	}
	warnings := make([]SchemaError, len(s.node().doc.warnings))
	for i, w := range s.node().doc.warnings {
		warnings[i] = SchemaError(w)
	}
	return warnings
}

// SchemaError says what is wrong with a schema.
type SchemaError struct {
	Pointer string // into the schema document
	Message string
}

func (e *SchemaError) Error() string { return (*Fault)(e).Error() }
