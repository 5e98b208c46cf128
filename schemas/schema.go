package schemas

import (
	"encoding/json"

	"github.com/plc-lang/plc/schemas/internal/tree"
)

// Schema is a compiled schema. It is immutable and may be shared by goroutines.
type Schema tree.Ref

// schemaOf returns the Schema of a node, always the same one.
func schemaOf(n *tree.Node) *Schema { return (*Schema)(n.Self()) }

// node returns the node of the schema.
func (s *Schema) node() *tree.Node { return (*tree.Ref)(s).Node() }

// Options are the options of Compile. The zero value stands for the defaults.
type Options struct {
	// Pointer is a JSON Pointer to a schema inside the document. A "$ref" is still resolved in the
	// whole document.
	Pointer string
}

// Compile compiles a schema document: a JSON object or boolean. The error is a
// *SchemaError.
//
// Some keywords are never enforced: format and content*, which are annotations, and patterns that
// RE2 can't read (see Warnings). OpenAPI's nullable adds null to a type. A $ref that leads out of
// the document is an error. plan-language §7
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

// JSON returns the document from which the schema was compiled, and the pointer to the schema in
// it. For a schema that At, Union, ArrayOf or Object made from several, the document is a rendering
// for people.
func (s *Schema) JSON() (doc json.RawMessage, pointer string) {
	if s.node().Doc == nil {
		return render(s.node()), ""
	}
	return s.node().Doc.Raw, s.node().Pointer
}

// Warnings lists the parts of the schema that are not enforced: patterns that RE2 can't read.
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

// SchemaError is a fault in a schema.
type SchemaError struct {
	Pointer string // into the schema document
	Message string
}

func (e *SchemaError) Error() string { return (*tree.Fault)(e).Error() }
