package schemas

import (
	"encoding/json"

	"github.com/plc-lang/plc/schemas/internal/tree"
)

// Schema is a compiled schema. It is immutable and may be shared by goroutines.
type Schema tree.Ref

// schemaOf returns the Schema of a node, always the same one.
func schemaOf(n *tree.Node) *Schema { return (*Schema)(n.Self()) }

// node returns what the schema says.
func (s *Schema) node() *tree.Node { return (*tree.Ref)(s).Node() }

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
	n, fault := tree.Compile(doc, pointer)
	if fault != nil {
		return nil, (*SchemaError)(fault)
	}
	return schemaOf(n), nil
}

// JSON returns the document that the schema was compiled from, with its Pointer. For a
// schema that At, Union, ArrayOf or Object made of several it is a rendering for
// people.
func (s *Schema) JSON() (doc json.RawMessage, pointer string) {
	if s.node().Doc == nil {
		return render(s.node()), ""
	}
	return s.node().Doc.Raw, s.node().Pointer
}

// Warnings say what in the schema is not enforced: patterns that RE2 cannot read.
func (s *Schema) Warnings() []SchemaError {
	if s.node().Doc == nil {
		return nil
	}
	warnings := make([]SchemaError, len(s.node().Doc.Warnings))
	for i, w := range s.node().Doc.Warnings {
		warnings[i] = SchemaError(w)
	}
	return warnings
}

// SchemaError says what is wrong with a schema.
type SchemaError struct {
	Pointer string // into the schema document
	Message string
}

func (e *SchemaError) Error() string { return (*tree.Fault)(e).Error() }
